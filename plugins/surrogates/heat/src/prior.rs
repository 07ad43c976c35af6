//! What is believed of the hyperparameters before any value is seen: logarithms of θ, one for each variable or one for
//! all, then that of the ratio of noise to amplitude.

use plugin_api::Rng;
use plugin_api::random::normal;

use crate::covariance::dot;

/// Variance of the common logarithm of θ.
const COMMON_VARIANCE: f64 = 1.5 * 1.5;
/// Mean and standard deviation of the logarithm of the ratio of noise to amplitude.
const LOG_NOISE: (f64, f64) = (-9.0, 2.0);
const LOG_THETA_BOUNDS: (f64, f64) = (-14.0, 3.0);
const LOG_NOISE_BOUNDS: (f64, f64) = (-14.0, 1.0);
/// What each observation adds to the curvature of the log likelihood, about: in the common logarithm of θ, in that of a
/// single one where these are independent, and in that of the noise. Measured values are within a factor of five.
const CURVATURES: (f64, f64, f64) = (0.1, 0.01, 0.002);

/// How the logarithms of θ belong together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Lengthscales {
    /// Spread by this much around a common one.
    Pooled { spread: f64 },
    /// Each for itself.
    Independent,
    /// One θ for all.
    Common,
}

/// The prior of the hyperparameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prior {
    pub(crate) lengthscales: Lengthscales,
    /// How many variables there are.
    pub(crate) variables: usize,
    /// The mean of log θ.
    pub(crate) centre: f64,
}

impl Prior {
    /// Its mean, where the search for hyperparameters starts.
    pub(crate) fn mean(&self) -> Vec<f64> {
        let count = if self.lengthscales == Lengthscales::Common { 1 } else { self.variables };
        let mut mean = vec![self.centre; count];
        mean.push(LOG_NOISE.0);
        mean
    }

    pub(crate) fn bounds(&self) -> Vec<(f64, f64)> {
        let mut bounds = vec![LOG_THETA_BOUNDS; self.mean().len() - 1];
        bounds.push(LOG_NOISE_BOUNDS);
        bounds
    }

    /// −log of the density up to a constant, and its gradient.
    ///
    /// Pooled, log θ ~ N(m·1, s²I) with m ~ N(centre, b) integrated out: the precision is I/s² − b/(s²(s² + nb))·11ᵀ.
    pub(crate) fn energy(&self, parameters: &[f64]) -> (f64, Vec<f64>) {
        let (log_theta, log_noise) = parameters.split_at(parameters.len() - 1);
        let off: Vec<f64> = log_theta.iter().map(|log| log - self.centre).collect();
        let (diagonal, common) = match self.lengthscales {
            Lengthscales::Common | Lengthscales::Independent => (1.0 / COMMON_VARIANCE, 0.0),
            Lengthscales::Pooled { spread } => {
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

    /// Divides by about the curvature of the posterior after `count` observations: that of the prior, to which the data
    /// adds much in the common logarithm of θ, and little in what each differs from it.
    pub(crate) fn precondition(&self, vector: &mut [f64], count: usize) {
        let count = count as f64;
        let (each, noise) = vector.split_at_mut(vector.len() - 1);
        let (sum, variables) = (each.iter().sum::<f64>(), each.len().max(1) as f64);
        let (single, common) = match self.lengthscales {
            Lengthscales::Pooled { spread } => (1.0 / (spread * spread), 1.0 / COMMON_VARIANCE),
            Lengthscales::Common => (f64::INFINITY, 1.0 / COMMON_VARIANCE),
            Lengthscales::Independent => {
                (1.0 / COMMON_VARIANCE + CURVATURES.1 * count, variables / COMMON_VARIANCE)
            }
        };
        let common = sum / (common + CURVATURES.0 * count);
        each.iter_mut().for_each(|v| *v = (*v - sum / variables) / single + common);
        noise[0] /= 1.0 / (LOG_NOISE.1 * LOG_NOISE.1) + CURVATURES.2 * count;
    }

    /// A direction in which to look for other hyperparameters, about as long as the prior is wide: all logarithms of θ
    /// together, the noise, or (with any other number) a random one.
    pub(crate) fn direction(&self, which: usize, rng: &mut Rng) -> Vec<f64> {
        let thetas = self.mean().len() - 1;
        let deviation = match self.lengthscales {
            Lengthscales::Pooled { spread } => spread,
            Lengthscales::Common | Lengthscales::Independent => COMMON_VARIANCE.sqrt(),
        };
        let mut direction = match which {
            0 => vec![COMMON_VARIANCE.sqrt(); thetas],
            1 => vec![0.0; thetas],
            _ => (0..thetas).map(|_| deviation * normal(rng)).collect(),
        };
        direction.push(if which == 1 { LOG_NOISE.1 } else { 0.0 });
        direction
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pooled_logarithms_have_the_density_of_a_common_one_integrated_out() {
        let prior = Prior { lengthscales: Lengthscales::Pooled { spread: 0.5 }, variables: 3, centre: -1.0 };
        // ∫ Π N(xᵢ; m, s²) N(m; centre, b) dm on a fine grid, up to a constant.
        let integrated = |x: &[f64]| -> f64 {
            let density = |m: f64| {
                let squares: f64 = x.iter().map(|x| (x - m) * (x - m)).sum();
                libm::exp(-0.5 * squares / 0.25 - 0.5 * (m + 1.0) * (m + 1.0) / COMMON_VARIANCE)
            };
            -libm::log((-4000..4000).map(|k| density(0.005 * f64::from(k)) * 0.005).sum::<f64>())
        };
        let points = [[-1.0, -1.0, -1.0], [-0.5, -2.0, 0.3], [1.0, 1.4, 0.9]];
        let energy = |x: &[f64]| prior.energy(&[x, &[LOG_NOISE.0]].concat()).0;
        for x in &points[1..] {
            let (found, expected) = (energy(x) - energy(&points[0]), integrated(x) - integrated(&points[0]));
            assert!((found - expected).abs() < 1e-9, "{found} and {expected}");
        }
    }

    #[test]
    fn gradients_of_all_priors_are_differences() {
        for lengthscales in
            [Lengthscales::Pooled { spread: 0.3 }, Lengthscales::Independent, Lengthscales::Common]
        {
            let prior = Prior { lengthscales, variables: 4, centre: -0.7 };
            let at: Vec<f64> =
                prior.mean().iter().enumerate().map(|(i, x)| x + 0.4 * i as f64 - 0.5).collect();
            let gradient = prior.energy(&at).1;
            for (i, gradient) in gradient.iter().enumerate() {
                let energy = |step: f64| {
                    let mut there = at.clone();
                    there[i] += step;
                    prior.energy(&there).0
                };
                assert!(
                    (gradient - (energy(1e-5) - energy(-1e-5)) / 2e-5).abs() < 1e-7,
                    "{lengthscales:?} {i}"
                );
            }
        }
    }
}
