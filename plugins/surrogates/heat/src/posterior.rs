//! The Gaussian process: the posterior of its hyperparameters, and of values at points.

use plugin_api::Rng;
use plugin_api::random::normal;

use crate::covariance::{Factored, Points};
use crate::minimise::{Limits, Smooth, minimise};
use crate::prior::{Lengthscales, Prior};

const STEPS: usize = 20;
/// A difference of log posteriors that makes no difference.
const LEAST_GAIN: f64 = 5e-3;

/// Points with their values, on the scale that the model learns.
pub(crate) struct Data<'d> {
    pub(crate) points: Points<'d>,
    pub(crate) values: Vec<f64>,
    pub(crate) prior: Prior,
}

/// The process given its hyperparameters and the data.
#[derive(Debug)]
pub(crate) struct Posterior {
    pub(crate) factored: Factored,
    /// The constant mean that fits best.
    pub(crate) mean: f64,
    /// K⁻¹(y − mean)
    pub(crate) weights: Vec<f64>,
    /// The variance of the process.
    pub(crate) amplitude: f64,
    /// −log of the posterior of the hyperparameters, up to a constant.
    pub(crate) energy: f64,
}

/// The posterior at the best hyperparameters that a short search from `start` finds; `None` where the numbers fail.
pub(crate) fn fit(data: &Data<'_>, start: Factored) -> Option<Posterior> {
    let parameters = start.parameters.clone();
    let bounds = data.prior.bounds();
    let limits = Limits { bounds: &bounds, steps: STEPS, least_gain: LEAST_GAIN };
    Some(minimise(data, parameters, data.posterior(start)?, &limits))
}

impl Smooth for Data<'_> {
    type Place = Posterior;

    fn at(&self, parameters: &[f64]) -> Option<Posterior> {
        self.posterior(Factored::new(&self.points, parameters)?)
    }

    fn value(&self, posterior: &Posterior) -> f64 {
        posterior.energy
    }

    /// ½⟨K⁻¹ − aaᵀ/v, ∂K⟩ with a = K⁻¹r and the amplitude v, and the prior's part.
    fn gradient(&self, posterior: &Posterior) -> Vec<f64> {
        let Posterior { factored, weights, amplitude, .. } = posterior;
        let (of_variables, trace) = factored.contract(self.points.packed, weights, 1.0 / amplitude);
        let mut gradient = match self.prior.lengthscales {
            Lengthscales::Common => vec![of_variables.iter().sum::<f64>()],
            Lengthscales::Pooled { .. } | Lengthscales::Independent => of_variables,
        };
        gradient.push(0.5 * factored.noise * trace);
        let prior = self.prior.energy(&factored.parameters).1;
        gradient.iter_mut().zip(prior).for_each(|(gradient, prior)| *gradient += prior);
        gradient
    }

    fn precondition(&self, vector: &mut [f64]) {
        self.prior.precondition(vector, self.values.len());
    }
}

impl Data<'_> {
    /// The posterior of the values; `None` where the numbers fail.
    fn posterior(&self, factored: Factored) -> Option<Posterior> {
        let explained = factored.explain(&self.values);
        let (mean, misfit, degrees) = (explained.mean, explained.misfit, factored.degrees());
        let fit = factored.half_log_determinant() + 0.5 * degrees * libm::log(misfit + 1.0);
        let energy = fit + self.prior.energy(&factored.parameters).0;
        let weights = factored.weights(explained);
        let amplitude = (misfit + 1.0) / degrees;
        energy.is_finite().then_some(Posterior { factored, mean, weights, amplitude, energy })
    }
}

impl Posterior {
    /// Weights w with which φ(x) + mean + k(x, X)w is a function drawn from the posterior, φ being drawn from the prior with
    /// these values at the points (Matheron's rule): K⁻¹(y − mean − φ(X) − ε).
    pub(crate) fn correction(&self, values: &[f64], prior: &[f64], rng: &mut Rng) -> Vec<f64> {
        let noise = (self.amplitude * self.factored.nugget()).sqrt();
        let left = |(value, prior): (&f64, &f64)| value - self.mean - prior - noise * normal(rng);
        self.factored.solved(values.iter().zip(prior).map(left).collect())
    }

    /// The mean of the process, without noise, at each observed point.
    pub(crate) fn means<'a>(&'a self, values: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        // (K − ηI)a = r − ηa for a = K⁻¹r.
        let nugget = self.factored.nugget();
        values.iter().zip(&self.weights).map(move |(value, weight)| value - nugget * weight)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use plugin_api::{Bits, Layout, rng};

    use super::*;
    use crate::buffers::Buffers;
    use crate::dictionary::Dictionary;
    use crate::kernel::Kernel;
    use crate::points::{Packed, Variables};

    pub(crate) fn points(layout: &Layout, count: usize, seed: u64) -> (Vec<Bits>, Packed) {
        let mut rng = rng(seed);
        let points: Vec<Bits> = (0..count).map(|_| layout.random(&mut rng)).collect();
        let mut packed = Packed::new(&Variables::new(layout));
        points.iter().for_each(|bits| packed.push(bits));
        (points, packed)
    }

    pub(crate) fn described<'p>(
        variables: &'p Variables,
        packed: &'p Packed,
        buffers: &'p Buffers,
    ) -> Points<'p> {
        Points { variables, packed, kernel: Kernel::available()[0], buffers }
    }

    /// Gradients beside finite differences, for all priors.
    fn check_gradients(layout: &Layout, variables: &Variables) {
        let (points, _) = points(layout, 21, 1);
        let mut packed = Packed::new(variables);
        points.iter().for_each(|x| packed.push(x));
        let value = |x: &Bits| x.count_ones() as f64 * 0.3 - f64::from(x[4]) + f64::from(x[12]);
        let values: Vec<f64> = points.iter().map(value).collect();
        for lengthscales in
            [Lengthscales::Pooled { spread: 0.5 }, Lengthscales::Independent, Lengthscales::Common]
        {
            let prior = Prior { lengthscales, variables: variables.count(), centre: -1.0 };
            let buffers = Buffers::default();
            let points = described(variables, &packed, &buffers);
            let data = Data { points, values: values.clone(), prior };
            let mut rng = rng(2);
            let at: Vec<f64> = prior.mean().into_iter().map(|x| 0.7 * x + 0.3 * normal(&mut rng)).collect();
            let gradient = data.gradient(&data.at(&at).unwrap());
            for i in 0..at.len() {
                let energy = |step: f64| {
                    let mut there = at.clone();
                    there[i] += step;
                    data.at(&there).unwrap().energy
                };
                let difference = (energy(1e-5) - energy(-1e-5)) / 2e-5;
                assert!(
                    (gradient[i] - difference).abs() < 1e-5 * (1.0 + difference.abs()),
                    "{lengthscales:?}, parameter {i}: {} and {difference}",
                    gradient[i]
                );
            }
        }
    }

    #[test]
    fn the_gradient_is_that_of_the_log_posterior() {
        let plain = Layout::with_groups(16, vec![0..3, 5..9, 11..15]).unwrap();
        let ordered = plain.clone().with_ordered_groups(vec![2]).unwrap();
        check_gradients(&plain, &Variables::new(&plain));
        check_gradients(&ordered, &Variables::new(&ordered));
        let dictionary = Dictionary::draw(&plain, 13, &mut rng(4));
        check_gradients(&plain, &Variables::new(&plain).with_dictionary(dictionary));
    }

    #[test]
    fn a_fit_is_no_worse_than_its_start_and_hardly_moves_when_repeated() {
        let layout = Layout::free(10);
        let variables = Variables::new(&layout);
        let (points, packed) = points(&layout, 60, 3);
        // Bits 0 to 2 matter, the others do not.
        let values = points.iter().map(|x| f64::from(x[0]) + f64::from(x[1] ^ x[2])).collect();
        let lengthscales = Lengthscales::Pooled { spread: 1.0 };
        let prior = Prior { lengthscales, variables: 10, centre: -1.6 };
        let buffers = Buffers::default();
        let points = described(&variables, &packed, &buffers);
        let data = Data { points, values, prior };
        let start = || Factored::new(&points, &prior.mean()).unwrap();
        let one = fit(&data, start()).unwrap();
        assert!(one.energy < data.posterior(start()).unwrap().energy - 1.0);
        let energy = one.energy;
        let two = fit(&data, one.factored).unwrap();
        assert!((two.energy - energy).abs() < 0.05, "{energy} then {}", two.energy);
        let parameters = &two.factored.parameters;
        let matter = parameters[..3].iter().copied().fold(f64::INFINITY, f64::min);
        let others = parameters[3..10].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert!(matter > others, "{parameters:?}");
    }
}
