//! The heat kernel of bits cut at second order, as a regression on spins and their pairs; drawn from exactly.
//!
//! A Gaussian process with the kernel Π (1 + t s_i s'_i), a product over bits as spins ±1, is a linear model on all products
//! of spins, with the prior variance t^k for a product of k. Cut after pairs its draws are quadratic functions, so solvers with
//! certificates minimise them. Unlike in a regression on bits 0 and 1, no level is special: turning a bit round is
//! turning a sign. There is no chain: t and the noise are chosen by their evidence on a grid, and given them a draw is one
//! exact sample, so it costs a hundredth of the horseshoe's.
//!
//! The amplitude and the intercept are integrated out. Pairs of bits inside a one-hot group have no feature. With the
//! option `values` it learns transformed totals: predictions are then those of the inverse transformation, and there are no
//! effects, because what is a sum on one scale is none on another.

use plugin_api::ndarray::ArrayView2;
use plugin_api::serde::{Deserialize, Serialize};
use plugin_api::{
    Acquisition, Bits, DrawRequest, Effect, Error, Evaluation, Layout, Penalty, Predictions, Quadratic,
    Result, Surrogate, export_surrogate, rng,
};
use shared_saved::States;
use shared_values::{Inverse, Shift, Standardised, Values, standardise};

mod grid; // the hyperparameters
mod options; // what a manifest may set
mod posterior; // the mathematics for one choice of them
mod spins; // bits as spins, and their features

use grid::{Grid, Place};
use options::Options;
use posterior::Fit;
use spins::Spins;

export_surrogate!("mercer", |options: Options, layout: &Layout| Mercer::new(options, layout));

/// 1000 bits have 500,500 features.
const MOST_BITS: usize = 1000;
/// Rows of the largest factors, of which there are up to five: 320 MiB.
const MOST_OBSERVATIONS: usize = 4096;

struct Mercer {
    values: Values,
    layout: Layout,
    /// Without a value where a point is infeasible.
    observations: Vec<(Bits, Option<f64>)>,
    grid: Grid,
    chosen: Chosen,
}

/// What was chosen for the last draw.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Chosen {
    place: Option<Place>,
    shift: Option<Shift>,
}

impl Mercer {
    fn new(options: Options, layout: &Layout) -> Result<Self> {
        let bits = layout.dimension();
        if bits > MOST_BITS {
            return Err(Error::new(format!(
                "{bits} bits, more than the {MOST_BITS} of a regression on pairs"
            )));
        }
        let grid = Grid::new(Spins::new(bits, layout.groups()));
        let (layout, chosen) = (layout.clone(), Chosen::default());
        Ok(Self { values: options.values, layout, observations: Vec::new(), grid, chosen })
    }

    /// The same value again at the same point is not counted: it is what an objective without noise answers, and would
    /// speak for no noise, which here also stands for all that pairs can't express.
    fn learn(&mut self, bits: &Bits, value: Option<f64>) -> Result<()> {
        if !self.layout.admits(bits) {
            return Err(Error::new(format!("the bits {bits} are not in the layout")));
        }
        value.map_or(Ok(()), |value| shared_values::check_value(bits, value))?;
        if self.observations.iter().any(|(other, known)| known == &value && other == bits) {
            return Ok(());
        }
        if self.observations.len() == MOST_OBSERVATIONS {
            return Err(Error::new(format!("more than {MOST_OBSERVATIONS} observations")));
        }
        self.grid.push(bits);
        self.observations.push((bits.clone(), value));
        Ok(())
    }

    /// What the model learns under the penalty, before the transformation.
    fn totals(&self, penalty: &Penalty) -> Vec<f64> {
        self.values.totals(self.observations.iter().map(|(bits, value)| (bits, *value)), penalty)
    }

    /// What the model learns under the penalty, standardised.
    fn learned(&mut self, penalty: &Penalty) -> Result<(Standardised, Option<Shift>)> {
        let totals = self.totals(penalty);
        if self.values != Values::Auto {
            return Ok((standardise(&self.values.transform(&totals)), None));
        }
        let place = self.chosen.place.unwrap_or(Place::START);
        let posterior = self.grid.at(place).map_err(Error::wrap)?;
        let score = |values: &[f64]| posterior.fit(values).score();
        let (transformed, shift) = self.values.transform_by(&totals, self.chosen.shift, score);
        Ok((standardise(&transformed), shift))
    }

    /// The model of the values without a penalty, for questions; `None` where it knows none.
    fn asked(&mut self) -> Result<Option<(Standardised, Place, Fit)>> {
        if self.observations.iter().all(|(_, value)| value.is_none()) {
            return Ok(None);
        }
        let (learned, _) = self.learned(&Penalty::default())?;
        let place = self.grid.choose(&learned.values, self.chosen.place).map_err(Error::wrap)?;
        let fit = self.grid.chosen(place).fit(&learned.values);
        Ok(Some((learned, place, fit)))
    }
}

impl Surrogate for Mercer {
    fn observe(&mut self, bits: &Bits, evaluation: &Evaluation) -> Result<()> {
        self.learn(bits, evaluation.value())
    }

    fn draw(&mut self, request: &DrawRequest) -> Result<Acquisition> {
        let (Standardised { mean, scale, values }, shift) = self.learned(request.penalty())?;
        let place = self.grid.choose(&values, self.chosen.place).map_err(Error::wrap)?;
        self.chosen = Chosen { place: Some(place), shift };
        let posterior = self.grid.chosen(place);
        let (spins, points) = (self.grid.spins(), self.grid.points());
        let fit = posterior.fit(&values);
        let (intercept, mut features) = posterior.sample(&fit, spins, points, &mut rng(request.seed()));
        features.iter_mut().for_each(|feature| *feature *= scale);
        let (constant, linear, pairs) = spins.to_bits(mean + scale * intercept, features);
        let drawn = Acquisition::from(Quadratic::new(constant, linear, pairs)?);
        Ok(self.values.complete(drawn, request.penalty()))
    }

    fn predict(&mut self, points: ArrayView2<'_, bool>) -> Result<Option<Predictions>> {
        let Some((learned, place, fit)) = self.asked()? else { return Ok(None) };
        let posterior = self.grid.chosen(place);
        let spins = self.grid.spins();
        let coefficients = posterior.mean(&fit, spins, self.grid.points());
        let prior = posterior.prior();
        let inverse =
            (!self.values.is_raw()).then(|| Inverse::new(&learned.values, &self.totals(&Penalty::default())));
        let to_value = |mean: f64, deviation: f64| match &inverse {
            Some(inverse) => inverse.moments(mean, deviation),
            None => (learned.mean + learned.scale * mean, learned.scale * deviation),
        };
        let (mut means, mut deviations) = (Vec::new(), Vec::new());
        for bits in points.rows() {
            let point = spins.of(&bits.iter().copied().collect::<Vec<_>>());
            let covariance = |other: &Vec<f64>| prior.covariance(spins.overlap(other, &point));
            let covariances = self.grid.points().iter().map(covariance).collect();
            let own = prior.covariance(spins.own_overlap());
            let variance = prior.noise + posterior.variance(&fit, 1.0, own, covariances);
            let mean = fit.mean + spins.sum(&coefficients, &point);
            let (mean, deviation) = to_value(mean, (fit.amplitude() * variance).sqrt());
            means.push(mean);
            deviations.push(deviation);
        }
        Predictions::new(means, deviations).map(Some)
    }

    /// Of raw values alone: what is learned of transformed ones is no sum of effects on values.
    fn effects(&mut self) -> Result<Option<Vec<Effect>>> {
        if !self.values.is_raw() {
            return Ok(None);
        }
        let Some((learned, place, fit)) = self.asked()? else { return Ok(None) };
        let posterior = self.grid.chosen(place);
        let (spins, points, prior) = (self.grid.spins(), self.grid.points(), posterior.prior());
        let coefficients = posterior.mean(&fit, spins, points);
        let (_, linear, pairs) = spins.to_bits(0.0, coefficients);
        let deviation = |own: f64, covariances: Vec<f64>| {
            let variance = posterior.variance(&fit, 0.0, own, covariances);
            learned.scale * (fit.amplitude() * variance).sqrt()
        };
        // The coefficient of x_i is 2b_i − 2 Σ_j b_ij, that of x_i x_j is 4b_ij.
        let partners = |i: usize| spins.pairs().filter_map(move |(a, b, _)| other(i, a, b)).collect();
        let mut effects = Vec::new();
        for (i, size) in linear.iter().enumerate() {
            let partners: Vec<usize> = partners(i);
            let own = 4.0 * (prior.bit + prior.pair * partners.len() as f64);
            let covariance = |point: &Vec<f64>| {
                let sum: f64 = partners.iter().map(|&j| point[j]).sum();
                2.0 * point[i] * (prior.bit - prior.pair * sum)
            };
            let deviation = deviation(own, points.iter().map(covariance).collect());
            effects.push(Effect::new([i], learned.scale * size, deviation));
        }
        for (i, j, k) in spins.pairs() {
            let covariances = points.iter().map(|point| 4.0 * prior.pair * point[i] * point[j]).collect();
            let size = learned.scale * pairs[k - spins.bits()];
            effects.push(Effect::new([i, j], size, deviation(16.0 * prior.pair, covariances)));
        }
        Ok(Some(effects))
    }

    fn notes(&self) -> Result<Vec<(String, String)>> {
        Ok(Vec::from_iter(self.chosen.shift.map(Shift::note)))
    }

    fn save(&self) -> Result<Option<Vec<u8>>> {
        STATES.write(&Saved {
            observations: self.observations.clone(),
            place: self.chosen.place.map(|Place(i, j)| [i, j]),
            shift: self.chosen.shift.map(Shift::index),
        })
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let saved: Saved = STATES.read(state)?;
        let place = saved.place.map(|[i, j]| Place(i, j));
        let shift = saved.shift.and_then(Shift::from_index);
        if place.is_some_and(|place| !place.is_valid()) || shift.is_none() && saved.shift.is_some() {
            return Err(STATES.refused("its hyperparameters are not in the grid"));
        }
        let mut restored = Self::new(Options { values: self.values }, &self.layout)?;
        STATES.replay(&saved.observations, |bits, value| restored.learn(bits, value))?;
        restored.chosen = Chosen { place, shift };
        *self = restored;
        Ok(())
    }
}

/// The one of `a` and `b` that is not `i`, where one of them is.
fn other(i: usize, a: usize, b: usize) -> Option<usize> {
    match i {
        _ if i == a => Some(b),
        _ if i == b => Some(a),
        _ => None,
    }
}

const STATES: States = States::of_surrogate("mercer", 1);

/// A draw depends on the observations, its request, and what was chosen for the last one.
#[derive(Serialize, Deserialize)]
#[serde(crate = "plugin_api::serde", deny_unknown_fields)]
struct Saved {
    observations: Vec<(Bits, Option<f64>)>,
    place: Option<[u8; 2]>,
    shift: Option<u8>,
}

#[cfg(test)]
mod tests;
