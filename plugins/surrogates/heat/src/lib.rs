//! A Gaussian process with the heat kernel: k(x, x') = exp(−Σ θᵢ [xᵢ ≠ x'ᵢ]) over variables.
//!
//! The model of COMBO (Oh et al. 2019) and Casmopolitan (Wan et al. 2021) on complete graphs: a one-hot group is one
//! variable, a free bit another; levels in an order are a path. Constant mean and amplitude are profiled out, lengthscales are
//! pooled around a common one, and hyperparameters are those of the highest posterior density. A draw is the negative
//! logarithm of the expected improvement, with the penalty inside. Options have other kernels (BODi's dictionary), sampled
//! hyperparameters, transformed values, confidence bounds and Thompson draws, and two models of which the one that has
//! predicted better draws. README.md has the formulas.
//!
//! Draws are the same on every machine; the environment variable `HEAT_KERNEL` forces an instruction set.

use std::sync::Arc;

use plugin_api::ndarray::ArrayView2;
use plugin_api::{
    Acquisition, AcquisitionKind, Bits, DrawRequest, Effect, Error, Evaluation, Layout, Penalty, Predictions,
    Quadratic, Result, Surrogate, export_surrogate, rng,
};

mod buffers;
mod contest; // several models, of which one draws
mod covariance;
mod dictionary; // distances to random points
mod drawn; // the acquisition function
mod effects;
mod features; // functions drawn from the prior
mod improvement;
mod kernel; // where the time goes
mod minimise;
mod options; // what a manifest may set, and its limits
mod path; // levels in an order
mod points; // as the kernel reads them
mod posterior; // the mathematics, unaware of plugins
mod predictor; // mean and variance anywhere
mod prior; // of the hyperparameters
mod sampled; // hyperparameters by slice sampling
mod similarity; // the heat kernel
mod state; // what is saved of it
mod values;

use buffers::Buffers;
use contest::Contest;
use covariance::{Factored, Points};
use dictionary::Dictionary;
use drawn::{Drawn, Merit};
use features::Features;
use kernel::Kernel;
use options::{AcquisitionFunction, Family, Hyperparameters, Options};
use points::{Packed, Variables};
use posterior::{Data, Posterior};
use predictor::Predictor;
use prior::{Lengthscales, Prior};
use shared_values::Shift;
use values::Learned;

export_surrogate!("heat", |options: Options, layout: &Layout| Contest::new(options, layout));

/// Eight matrices of as many rows and columns: 1 GB.
const MOST_OBSERVATIONS: usize = 4096;
/// Makes the randomness of hyperparameters another one than that of functions.
const SAMPLING: u64 = 0x5eed_0f7e;
/// Likewise that of the dictionary.
const DICTIONARY: u64 = 0xd1c7_104a;

struct Heat {
    options: Options,
    layout: Layout,
    kernel: Kernel,
    buffers: Buffers,
    variables: Variables,
    prior: Prior,
    /// Without a value where a point is infeasible.
    observations: Vec<(Bits, Option<f64>)>,
    points: Packed,
    /// The hyperparameters of the last draw, from which the search for the next ones starts.
    parameters: Vec<f64>,
    /// What `auto` chose for the last draw.
    shift: Option<Shift>,
    /// The seed of the dictionary.
    dictionary: u64,
    /// What that search found, since the last observation and draw, with what was learned.
    fitted: Option<(Learned, Posterior)>,
}

impl Heat {
    fn new(options: Options, layout: &Layout) -> Result<Self> {
        let variables = variables(&options, layout, 0)?;
        let prior = prior(&options, layout, &variables);
        Ok(Self {
            options,
            layout: layout.clone(),
            kernel: Kernel::from_environment()?,
            buffers: Buffers::default(),
            points: Packed::new(&variables),
            variables,
            observations: Vec::new(),
            parameters: prior.mean(),
            prior,
            shift: None,
            dictionary: 0,
            fitted: None,
        })
    }

    /// Measures distances to other points from now on: those that this seed draws. What was learned of the distances to
    /// each of the last ones says nothing of those to the next.
    fn draw_dictionary(&mut self, seed: u64) -> Result<()> {
        self.dictionary = seed;
        self.variables = variables(&self.options, &self.layout, seed)?;
        self.points = Packed::new(&self.variables);
        self.observations.iter().for_each(|(bits, _)| self.points.push(bits));
        self.fitted = None;
        let (_, thetas) = self.parameters.split_last_mut().expect("the noise is one of them");
        let mean = thetas.iter().sum::<f64>() / thetas.len().max(1) as f64;
        thetas.fill(mean);
        Ok(())
    }

    /// Whether these are bits and a value, if there is one, that the model can use.
    fn check(&self, bits: &Bits, value: Option<f64>) -> Result<()> {
        if !self.layout.keeps_groups(bits) {
            return Err(Error::new(format!("the bits {bits} are not in the layout")));
        }
        value.map_or(Ok(()), |value| shared_values::check_value(bits, value))
    }

    fn learn(&mut self, bits: &Bits, value: Option<f64>) -> Result<()> {
        self.check(bits, value)?;
        if self.observations.len() == MOST_OBSERVATIONS {
            return Err(Error::new(format!("more than {MOST_OBSERVATIONS} observations")));
        }
        self.points.push(bits);
        self.observations.push((bits.clone(), value));
        self.fitted = None;
        Ok(())
    }

    /// Whether any point has a value. Before the first one all points are alike: those that are infeasible say nothing of
    /// how bad they are.
    fn has_values(&self) -> bool {
        self.observations.iter().any(|(_, value)| value.is_some())
    }

    /// What is learned under this penalty, and its posterior at the hyperparameters that follow from the last draw's
    /// and all observations.
    fn fit(&mut self, penalty: &Penalty) -> Result<(Learned, Posterior)> {
        let kept = self.fitted.take();
        let points = self.described();
        let factored = |parameters: &[f64]| Factored::new(&points, parameters);
        // Where the last hyperparameters make the matrix singular, those of the prior do not.
        let start = || factored(&self.parameters).or_else(|| factored(&self.prior.mean()));
        let fail = || Error::new("the covariance of the observations is not positive definite");
        let factored = start().ok_or_else(fail)?;
        let (kind, score) = (self.options.values, |values: &[f64]| factored.score(values));
        let learned = Learned::new(kind, &self.observations, penalty, self.shift, score);
        if let Some(kept) = kept.filter(|(last, _)| last.values == learned.values) {
            return Ok(kept);
        }
        let data = Data { points, values: learned.values.clone(), prior: self.prior };
        let posterior = posterior::fit(&data, factored).ok_or_else(fail)?;
        Ok((learned, posterior))
    }

    /// Mean and deviation of the value of one point, before it is known. The search for hyperparameters goes on from what
    /// is found here, so that a model that does not draw keeps up.
    fn forecast(&mut self, point: ArrayView2<'_, bool>) -> Result<(f64, f64)> {
        let predictions = self.predict(point)?;
        if let Some((learned, fitted)) = &self.fitted {
            self.parameters.clone_from(&fitted.factored.parameters);
            self.shift = learned.shift;
        }
        Ok(predictions.map_or((0.0, f64::INFINITY), |told| (told.means()[0], told.deviations()[0])))
    }

    fn described(&self) -> Points<'_> {
        let Self { variables, points: packed, kernel, buffers, .. } = self;
        Points { variables, packed, kernel: *kernel, buffers }
    }

    /// What is drawn, of the best hyperparameters or of some drawn from their posterior.
    fn parts(&self, learned: &Learned, fitted: &Posterior, request: &DrawRequest) -> Vec<(Predictor, Merit)> {
        if self.options.hyperparameters == Hyperparameters::Map {
            return vec![self.part(learned, fitted, request)];
        }
        let data = Data { points: self.described(), values: learned.values.clone(), prior: self.prior };
        let mut rng = rng(request.seed() ^ SAMPLING);
        // Of a function that is drawn itself, one is enough.
        let count =
            if self.options.acquisition == AcquisitionFunction::Thompson { 1 } else { sampled::SAMPLES };
        let samples = sampled::samples(&data, &fitted.factored.parameters, count, &mut rng);
        if samples.is_empty() {
            return vec![self.part(learned, fitted, request)];
        }
        samples.iter().map(|sample| self.part(learned, sample, request)).collect()
    }

    /// What is drawn of one posterior.
    fn part(&self, learned: &Learned, fitted: &Posterior, request: &DrawRequest) -> (Predictor, Merit) {
        let conditioned = || Predictor::new(fitted, &self.points, request.pending().view());
        match self.options.acquisition {
            AcquisitionFunction::Improvement => {
                let best = self.incumbent(learned, fitted, request);
                (conditioned(), Merit::Improvement { best })
            }
            AcquisitionFunction::Bound => (conditioned(), Merit::Bound { kappa: self.options.kappa }),
            AcquisitionFunction::Thompson => {
                let mut rng = rng(request.seed());
                let similarity = &fitted.factored.similarity;
                let prior = Features::draw(similarity, self.kernel, fitted.amplitude, &mut rng);
                let at_points: Vec<f64> = self.observations.iter().map(|(bits, _)| prior.at(bits)).collect();
                let weights = fitted.correction(&learned.values, &at_points, &mut rng);
                (Predictor::of_weights(fitted, &self.points, weights), Merit::Sample { prior })
            }
        }
    }

    /// What is to be improved on, on the scale of the draw: the lowest of the totals where values are raw, else of
    /// the transformed ones. Where the objective is noisy, the lowest value was lucky, and what counts are the means of
    /// the model at the evaluated points. What counts for the value of an infeasible point is no value to improve on.
    fn incumbent(&self, learned: &Learned, fitted: &Posterior, request: &DrawRequest) -> f64 {
        let (scale, penalty) = (learned.drawn_scale(), learned.drawn_penalty(request.penalty()));
        let total = |(value, (bits, known)): (f64, &(Bits, Option<f64>))| {
            known.map(|_| scale.from(value) + penalty.of(bits))
        };
        let lowest = |values: &mut dyn Iterator<Item = f64>| {
            values.zip(&self.observations).filter_map(total).fold(f64::INFINITY, f64::min)
        };
        match request.best_total() {
            _ if request.noisy() => lowest(&mut fitted.means(&learned.values)),
            Some(told) if self.options.values.is_raw() => told,
            _ => lowest(&mut learned.values.iter().copied()),
        }
    }
}

/// What the kernel compares.
fn variables(options: &Options, layout: &Layout, seed: u64) -> Result<Variables> {
    if options.kernel == Family::Heat {
        return Ok(Variables::new(layout));
    }
    let plain = Layout::with_groups(layout.dimension(), layout.groups().to_vec())?;
    let variables = Variables::new(&plain);
    Ok(match options.kernel {
        Family::Dictionary => {
            let mut rng = rng(seed ^ DICTIONARY);
            variables.with_dictionary(Dictionary::draw(&plain, options.dictionary_size, &mut rng))
        }
        _ => variables,
    })
}

fn prior(options: &Options, layout: &Layout, variables: &Variables) -> Prior {
    let lengthscales = match options.lengthscales {
        options::Lengthscales::Common => Lengthscales::Common,
        options::Lengthscales::Pooled if options.kernel == Family::Overlap => Lengthscales::Independent,
        options::Lengthscales::Pooled => Lengthscales::Pooled { spread: options.spread },
    };
    let (count, all) = (variables.count().max(1) as f64, Variables::new(layout).count().max(1) as f64);
    // Random points differ in half of n variables, and in their distance to another by about 1/√(2n): in both cases
    // the exponent of the kernel is about 1 then.
    let centre =
        libm::log(if options.kernel == Family::Dictionary { 2.0 * all / count } else { 2.0 / count });
    Prior { lengthscales, variables: variables.count(), centre }
}

impl Surrogate for Heat {
    fn observe(&mut self, bits: &Bits, evaluation: &Evaluation) -> Result<()> {
        self.learn(bits, evaluation.value())
    }

    fn draw(&mut self, request: &DrawRequest) -> Result<Acquisition> {
        let penalty = request.penalty();
        if !self.has_values() {
            return Ok(Acquisition::from(Quadratic::zero(self.layout.dimension())).with_penalty(penalty));
        }
        if self.options.kernel == Family::Dictionary {
            self.draw_dictionary(request.seed())?;
        }
        let (learned, fitted) = self.fit(penalty)?;
        self.parameters.clone_from(&fitted.factored.parameters);
        self.shift = learned.shift;
        let parts = self.parts(&learned, &fitted, request);
        let (scale, penalty) = (learned.drawn_scale(), learned.drawn_penalty(penalty));
        Ok(Acquisition::General(Arc::new(Drawn { parts, scale, penalty })))
    }

    fn draws(&self) -> AcquisitionKind {
        AcquisitionKind::General
    }

    fn predict(&mut self, points: ArrayView2<'_, bool>) -> Result<Option<Predictions>> {
        if !self.has_values() {
            return Ok(None);
        }
        // The values are asked for, so no penalty is learned with them.
        let (learned, fitted) = self.fit(&Penalty::default())?;
        let none = ArrayView2::from_shape((0, self.layout.dimension()), &[]).expect("no rows");
        let predictions = Predictor::new(&fitted, &self.points, none).predict(points);
        let noise = fitted.amplitude * fitted.factored.noise;
        let observed = predictions.into_iter().map(|(mean, variance)| (mean, (variance + noise).sqrt()));
        let (means, deviations) = learned.to_values(observed);
        // Kept for the next draw, which finds the same where it learns the same.
        self.fitted = Some((learned, fitted));
        Predictions::new(means, deviations).map(Some)
    }

    /// Of raw values alone: what is learned of transformed ones is no sum of effects on values. A dictionary's kernel is
    /// no product over variables.
    fn effects(&mut self) -> Result<Option<Vec<Effect>>> {
        let has_effects = self.options.values.is_raw() && self.options.kernel != Family::Dictionary;
        if !self.has_values() || !has_effects {
            return Ok(None);
        }
        let (learned, fitted) = self.fit(&Penalty::default())?;
        let effects = effects::effects(&fitted, &self.points, learned.scale.unit);
        self.fitted = Some((learned, fitted));
        Ok(Some(effects))
    }

    fn notes(&self) -> Result<Vec<(String, String)>> {
        Ok(Vec::from_iter(self.shift.map(Shift::note)))
    }

    fn save(&self) -> Result<Option<Vec<u8>>> {
        state::save(self).map(Some)
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        *self = state::restored(self, state)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
