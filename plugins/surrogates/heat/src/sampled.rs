//! Hyperparameters drawn from their posterior by slice sampling (Neal 2003).

use plugin_api::Rng;
use plugin_api::random::{exponential, open_uniform};

use crate::minimise::Smooth;
use crate::posterior::{Data, Posterior};

/// How many are drawn; COMBO's number.
pub(crate) const SAMPLES: usize = 10;
/// Slices for each: along all lengthscales together, along the noise, and along random directions.
const SLICES: usize = 5;
/// How often an interval is shrunk before the slice is given up.
const SHRINKS: usize = 20;
/// The width of an interval beside that of the prior.
const WIDTH: f64 = 2.0;

/// Posteriors at hyperparameters of a chain that starts at `parameters`.
pub(crate) fn samples(data: &Data<'_>, parameters: &[f64], count: usize, rng: &mut Rng) -> Vec<Posterior> {
    let mut chain = parameters.to_vec();
    let mut samples = Vec::with_capacity(count);
    for _ in 0..count {
        for slice in 0..SLICES {
            step(data, &mut chain, slice, rng);
        }
        samples.extend(data.at(&chain));
    }
    samples
}

/// Goes to a place on a line that is drawn uniformly from where the density is above a level.
fn step(data: &Data<'_>, chain: &mut Vec<f64>, slice: usize, rng: &mut Rng) {
    let direction = data.prior.direction(slice, rng);
    let bounds = data.prior.bounds();
    let Some(here) = data.at(chain) else { return };
    let level = here.energy + exponential(rng);
    // Without stepping out: an interval of fixed width that lies at random around the place.
    let mut low = -WIDTH * open_uniform(rng);
    let mut high = low + WIDTH;
    for _ in 0..SHRINKS {
        let at = low + (high - low) * open_uniform(rng);
        let there: Vec<f64> = chain.iter().zip(&direction).map(|(x, d)| x + at * d).collect();
        let within = there.iter().zip(&bounds).all(|(x, (low, high))| (*low..=*high).contains(x));
        if within && data.at(&there).is_some_and(|posterior| posterior.energy <= level) {
            *chain = there;
            return;
        }
        if at < 0.0 { low = at } else { high = at }
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::{Layout, rng};

    use super::*;
    use crate::buffers::Buffers;
    use crate::points::Variables;
    use crate::posterior::tests::{described, points};
    use crate::prior::{Lengthscales, Prior};

    #[test]
    fn samples_have_the_mean_and_spread_of_the_posterior() {
        let layout = Layout::free(5);
        let variables = Variables::new(&layout);
        let (points, packed) = points(&layout, 8, 1);
        let values = points.iter().map(|x| f64::from(x[0]) - 0.7 * f64::from(x[1] ^ x[2])).collect();
        let prior = Prior { lengthscales: Lengthscales::Common, variables: 5, centre: -0.9 };
        let buffers = Buffers::default();
        let data = Data { points: described(&variables, &packed, &buffers), values, prior };
        // Both moments of log θ on a grid.
        let mut sums = [0.0; 3];
        for i in 0..170 {
            for j in 0..60 {
                let (log_theta, log_noise) = (-13.95 + 0.1 * f64::from(i), -13.875 + 0.25 * f64::from(j));
                let weight = libm::exp(-data.at(&[log_theta, log_noise]).unwrap().energy);
                sums[0] += weight;
                sums[1] += weight * log_theta;
                sums[2] += weight * log_theta * log_theta;
            }
        }
        let mean = sums[1] / sums[0];
        let deviation = (sums[2] / sums[0] - mean * mean).sqrt();
        let drawn = samples(&data, &prior.mean(), 2000, &mut rng(3));
        let thetas: Vec<f64> = drawn.iter().map(|posterior| posterior.factored.parameters[0]).collect();
        let found = thetas.iter().sum::<f64>() / 2000.0;
        let spread = (thetas.iter().map(|x| (x - found) * (x - found)).sum::<f64>() / 2000.0).sqrt();
        assert!((found - mean).abs() < 0.1 * deviation, "{found} and {mean} ± {deviation}");
        assert!((spread / deviation - 1.0).abs() < 0.1, "{spread} and {deviation}");
    }
}
