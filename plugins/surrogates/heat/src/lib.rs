//! A Gaussian process with the heat kernel: k(x, x') = exp(−Σ θᵢ [xᵢ ≠ x'ᵢ]) over variables.
//!
//! The model of COMBO (Oh et al. 2019) and Casmopolitan (Wan et al. 2021) on complete graphs: a one-hot group is one
//! variable, a free bit another. Constant mean and amplitude are profiled out, lengthscales are pooled around a common
//! one, and hyperparameters are those of the highest posterior density. A draw is the negative logarithm of the expected
//! improvement, with the penalty inside. README.md has the formulas.

use std::sync::Arc;

use plugin_api::ndarray::ArrayView2;
use plugin_api::serde::{Deserialize, Serialize};
use plugin_api::{
    Acquisition, AcquisitionKind, Bits, DrawRequest, Error, Evaluation, Layout, Predictions, Quadratic,
    Result, Surrogate, export_surrogate, serde_json,
};

mod drawn; // the acquisition function
mod improvement;
mod kernel; // where the time goes
mod minimise;
mod options; // what a manifest may set, and its limits
mod posterior; // the mathematics, unaware of plugins
mod similarity; // the heat kernel
mod values;

use drawn::{Drawn, Merit, Predictor};
use options::{AcquisitionFunction, Lengthscales, Options};
use posterior::{Data, Posterior, Prior};
use similarity::{Packed, Variables};
use values::Scale;

export_surrogate!("heat", |options: Options, layout: &Layout| Heat::new(options, layout));

/// Three matrices of as many rows and columns: 400 MB.
const MOST_OBSERVATIONS: usize = 4096;
/// The squares of larger values, and sums of them, are not finite.
const LARGEST_VALUE: f64 = 1e150;

struct Heat {
    options: Options,
    layout: Layout,
    variables: Variables,
    observations: Vec<(Bits, f64)>,
    points: Packed,
    /// The hyperparameters of the last draw, from which the search for the next ones starts.
    parameters: Vec<f64>,
    /// What that search found, since the last observation and draw.
    fitted: Option<Posterior>,
}

impl Heat {
    fn new(options: Options, layout: &Layout) -> Result<Self> {
        let variables = Variables::new(layout.dimension(), layout.groups());
        let parameters = posterior::initial(&variables, prior(&options));
        Ok(Self {
            options,
            layout: layout.clone(),
            variables,
            observations: Vec::new(),
            points: Packed::new(layout.dimension()),
            parameters,
            fitted: None,
        })
    }

    fn learn(&mut self, bits: &Bits, value: f64) -> Result<()> {
        if !self.layout.keeps_groups(bits) {
            return Err(Error::new(format!("the bits {bits} are not in the layout")));
        }
        // A value that is not a number is not within either.
        if !(-LARGEST_VALUE..=LARGEST_VALUE).contains(&value) {
            return Err(Error::new(format!(
                "the value of {bits} is {value:e}, not within ±{LARGEST_VALUE:e}"
            )));
        }
        if self.observations.len() == MOST_OBSERVATIONS {
            return Err(Error::new(format!("more than {MOST_OBSERVATIONS} observations")));
        }
        self.points.push(bits.iter().copied());
        self.observations.push((bits.clone(), value));
        self.fitted = None;
        Ok(())
    }

    fn scale(&self) -> Scale {
        Scale::of(self.observations.iter().map(|(_, value)| *value))
    }

    /// The posterior at the hyperparameters that follow from the last draw's and all observations.
    fn fit(&self) -> Result<Posterior> {
        let scale = self.scale();
        let data = Data {
            variables: &self.variables,
            bits: self.layout.dimension(),
            points: &self.points,
            values: self.observations.iter().map(|(_, value)| scale.to(*value)).collect(),
            prior: prior(&self.options),
        };
        // Where the last hyperparameters make the matrix singular, those of the prior do not.
        posterior::fit(&data, &self.parameters)
            .or_else(|| posterior::fit(&data, &posterior::initial(&self.variables, data.prior)))
            .ok_or_else(|| Error::new("the covariance of the observations is not positive definite"))
    }
}

fn prior(options: &Options) -> Prior {
    match options.lengthscales {
        Lengthscales::Pooled => Prior::Pooled { spread: options.spread },
        Lengthscales::Common => Prior::Common,
    }
}

impl Surrogate for Heat {
    /// A point without a value is ignored.
    fn observe(&mut self, bits: &Bits, evaluation: &Evaluation) -> Result<()> {
        evaluation.value().map_or(Ok(()), |value| self.learn(bits, value))
    }

    fn draw(&mut self, request: &DrawRequest) -> Result<Acquisition> {
        let penalty = request.penalty();
        let total = |(bits, value): &(Bits, f64)| value + penalty.of(bits);
        let lowest = self.observations.iter().map(total).min_by(f64::total_cmp);
        // Before the first value all points are alike.
        let Some(lowest) = lowest else {
            return Ok(Acquisition::from(Quadratic::zero(self.layout.dimension())).with_penalty(penalty));
        };
        let fitted = match self.fitted.take() {
            Some(fitted) => fitted,
            None => self.fit()?,
        };
        self.parameters.clone_from(&fitted.parameters);
        let bits = self.layout.dimension();
        let merit = match self.options.acquisition {
            AcquisitionFunction::Improvement => {
                Merit::Improvement { best: request.best_total().unwrap_or(lowest) }
            }
            AcquisitionFunction::Bound => Merit::Bound { kappa: self.options.kappa },
        };
        let predictor = Predictor::new(&fitted, bits, &self.points, request.pending().view());
        Ok(Acquisition::General(Arc::new(Drawn {
            predictor,
            scale: self.scale(),
            merit,
            penalty: penalty.clone(),
        })))
    }

    fn draws(&self) -> AcquisitionKind {
        AcquisitionKind::General
    }

    fn predict(&mut self, points: ArrayView2<'_, bool>) -> Result<Option<Predictions>> {
        if self.observations.is_empty() {
            return Ok(None);
        }
        // Kept for the next draw, which would find the same.
        let fitted = match self.fitted.take() {
            Some(fitted) => fitted,
            None => self.fit()?,
        };
        let (scale, bits) = (self.scale(), self.layout.dimension());
        let none = ArrayView2::from_shape((0, bits), &[]).expect("no rows");
        let predictions = Predictor::new(&fitted, bits, &self.points, none).predict(points);
        let noise = fitted.amplitude * fitted.noise;
        self.fitted = Some(fitted);
        let means = predictions.iter().map(|(mean, _)| scale.from(*mean)).collect();
        let deviations = predictions.iter().map(|(_, variance)| scale.unit() * (variance + noise).sqrt());
        Predictions::new(means, deviations.collect()).map(Some)
    }

    fn save(&self) -> Result<Option<Vec<u8>>> {
        let (observations, parameters) = (self.observations.clone(), self.parameters.clone());
        serde_json::to_vec(&Saved { heat: VERSION, observations, parameters }).map(Some).map_err(Error::wrap)
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let refuse = |why: String| Error::new(format!("not a state of this surrogate: {why}"));
        let saved: Saved = serde_json::from_slice(state).map_err(|error| refuse(error.to_string()))?;
        if saved.heat != VERSION {
            return Err(refuse(format!("its version is {}, not {VERSION}", saved.heat)));
        }
        let mut restored = Self::new(self.options.clone(), &self.layout)?;
        for (bits, value) in &saved.observations {
            restored.learn(bits, *value).map_err(|error| refuse(error.to_string()))?;
        }
        let (found, expected) = (saved.parameters.len(), restored.parameters.len());
        if found != expected {
            return Err(refuse(format!("it has {found} hyperparameters, not {expected}")));
        }
        let bounds = posterior::bounds(expected);
        if !saved.parameters.iter().zip(bounds).all(|(x, (low, high))| (low..=high).contains(x)) {
            return Err(refuse("a hyperparameter is beyond its bounds".to_owned()));
        }
        restored.parameters = saved.parameters;
        *self = restored;
        Ok(())
    }
}

const VERSION: u32 = 1;

/// A draw depends on nothing but the observations and the hyperparameters of the last draw.
#[derive(Serialize, Deserialize)]
#[serde(crate = "plugin_api::serde", deny_unknown_fields)]
struct Saved {
    heat: u32,
    observations: Vec<(Bits, f64)>,
    parameters: Vec<f64>,
}

#[cfg(test)]
mod tests;
