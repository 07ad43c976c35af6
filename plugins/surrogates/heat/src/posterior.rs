//! The Gaussian process: the posterior of its hyperparameters, and of values at points.

use plugin_api::Rng;
use plugin_api::random::normal;

use crate::covariance::{Factored, Points, dot};
use crate::minimise::{Limits, Smooth, minimise};
use crate::similarity::Variables;

/// Variance of the common logarithm of θ, whose mean is ln(2/n).
const COMMON_VARIANCE: f64 = 1.5 * 1.5;
/// Mean and standard deviation of the logarithm of the ratio of noise to amplitude.
const LOG_NOISE: (f64, f64) = (-9.0, 2.0);
const LOG_THETA_BOUNDS: (f64, f64) = (-14.0, 3.0);
const LOG_NOISE_BOUNDS: (f64, f64) = (-14.0, 1.0);
const STEPS: usize = 20;
/// A difference of log posteriors that makes no difference.
const LEAST_GAIN: f64 = 5e-3;
/// What each observation adds to the curvature of the log likelihood, about: in the common logarithm of θ, and in that
/// of the noise. Measured values are within a factor of five.
const CURVATURES: (f64, f64) = (0.1, 0.002);

/// What is believed of the lengthscales before any value is seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Prior {
    /// Logarithms of θ spread by this much around a common one.
    Pooled { spread: f64 },
    /// One θ.
    Common,
}

/// Points with their values, on the scale that the model learns.
pub(crate) struct Data<'d> {
    pub(crate) points: Points<'d>,
    pub(crate) values: Vec<f64>,
    pub(crate) prior: Prior,
}

/// The hyperparameters where the search for them starts: the mean of the prior. The last is the logarithm of the noise.
pub(crate) fn initial(variables: &Variables, prior: Prior) -> Vec<f64> {
    let count = match prior {
        Prior::Pooled { .. } => variables.count(),
        Prior::Common => 1,
    };
    let mut parameters = vec![mean_log_theta(variables); count];
    parameters.push(LOG_NOISE.0);
    parameters
}

fn mean_log_theta(variables: &Variables) -> f64 {
    libm::log(2.0 / variables.count().max(1) as f64)
}

/// The bounds of as many hyperparameters.
pub(crate) fn bounds(count: usize) -> Vec<(f64, f64)> {
    let mut bounds = vec![LOG_THETA_BOUNDS; count.saturating_sub(1)];
    bounds.push(LOG_NOISE_BOUNDS);
    bounds
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
    let bounds = bounds(parameters.len());
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
        let mut gradient = match self.prior {
            Prior::Common => vec![of_variables.iter().sum::<f64>()],
            Prior::Pooled { .. } => of_variables,
        };
        gradient.push(0.5 * factored.noise * trace);
        let prior = self.prior_energy(&factored.parameters).1;
        gradient.iter_mut().zip(prior).for_each(|(gradient, prior)| *gradient += prior);
        gradient
    }

    /// The curvature of the prior, to which the data adds much in the common logarithm of θ, and little in what each
    /// differs from it.
    fn precondition(&self, vector: &mut [f64]) {
        let (each, noise) = vector.split_at_mut(vector.len() - 1);
        let count = self.values.len() as f64;
        let spread = match self.prior {
            Prior::Pooled { spread } => spread * spread,
            Prior::Common => 0.0,
        };
        let (sum, variables) = (each.iter().sum::<f64>(), each.len().max(1) as f64);
        let common = sum / (1.0 / COMMON_VARIANCE + CURVATURES.0 * count);
        each.iter_mut().for_each(|v| *v = spread * (*v - sum / variables) + common);
        noise[0] /= 1.0 / (LOG_NOISE.1 * LOG_NOISE.1) + CURVATURES.1 * count;
    }
}

impl Data<'_> {
    /// The posterior of the values; `None` where the numbers fail.
    fn posterior(&self, factored: Factored) -> Option<Posterior> {
        let explained = factored.explain(&self.values);
        let (mean, misfit, degrees) = (explained.mean, explained.misfit, factored.degrees());
        let fit = factored.half_log_determinant() + 0.5 * degrees * libm::log(misfit + 1.0);
        let energy = fit + self.prior_energy(&factored.parameters).0;
        let weights = factored.weights(explained);
        let amplitude = (misfit + 1.0) / degrees;
        energy.is_finite().then_some(Posterior { factored, mean, weights, amplitude, energy })
    }

    /// −log of the prior up to a constant, and its gradient.
    ///
    /// Pooled, log θ ~ N(m·1, s²I) with m ~ N(ln(2/n), b) integrated out: the precision is
    /// I/s² − b/(s²(s² + nb))·11ᵀ.
    fn prior_energy(&self, parameters: &[f64]) -> (f64, Vec<f64>) {
        let (log_theta, log_noise) = parameters.split_at(parameters.len() - 1);
        let centre = mean_log_theta(self.points.variables);
        let off: Vec<f64> = log_theta.iter().map(|log| log - centre).collect();
        let (diagonal, common) = match self.prior {
            Prior::Common => (1.0 / COMMON_VARIANCE, 0.0),
            Prior::Pooled { spread } => {
                let square = spread * spread;
                let pooled = square + off.len() as f64 * COMMON_VARIANCE;
                (1.0 / square, COMMON_VARIANCE / (square * pooled))
            }
        };
        let sum: f64 = off.iter().sum();
        let mut gradient: Vec<f64> = off.iter().map(|off| diagonal * off - common * sum).collect();
        let noise = (log_noise[0] - LOG_NOISE.0) / LOG_NOISE.1;
        let energy = 0.5 * (diagonal * dot(&off, &off) - common * sum * sum + noise * noise);
        gradient.push(noise / LOG_NOISE.1);
        (energy, gradient)
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
    use crate::kernel::Kernel;
    use crate::similarity::Packed;

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

    #[test]
    fn the_gradient_is_that_of_the_log_posterior() {
        let layout = Layout::with_groups(16, vec![0..3, 5..9, 11..15]).unwrap();
        let layout = layout.with_ordered_groups(vec![2]).unwrap();
        let variables = Variables::new(&layout);
        let (points, packed) = points(&layout, 21, 1);
        let values: Vec<f64> =
            points.iter().map(|x| x.count_ones() as f64 * 0.3 - f64::from(x[4]) + f64::from(x[12])).collect();
        for prior in [Prior::Pooled { spread: 0.5 }, Prior::Common] {
            let buffers = Buffers::default();
            let points = described(&variables, &packed, &buffers);
            let data = Data { points, values: values.clone(), prior };
            let mut rng = rng(2);
            let at: Vec<f64> =
                initial(&variables, prior).into_iter().map(|x| 0.7 * x + 0.3 * normal(&mut rng)).collect();
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
                    "{prior:?}, parameter {i}: {} and {difference}",
                    gradient[i]
                );
            }
        }
    }

    #[test]
    fn a_fit_is_no_worse_than_its_start_and_hardly_moves_when_repeated() {
        let layout = Layout::free(10);
        let variables = Variables::new(&layout);
        let (points, packed) = points(&layout, 60, 3);
        // Bits 0 to 2 matter, the others do not.
        let values = points.iter().map(|x| f64::from(x[0]) + f64::from(x[1] ^ x[2])).collect();
        let prior = Prior::Pooled { spread: 1.0 };
        let buffers = Buffers::default();
        let points = described(&variables, &packed, &buffers);
        let data = Data { points, values, prior };
        let start = || Factored::new(&points, &initial(&variables, prior)).unwrap();
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
