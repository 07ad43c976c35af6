//! Parzen estimators over levels, as in Optuna's `_ParzenEstimator` for categorical parameters.

use plugin_api::rand::RngExt;
use plugin_api::{Bits, Rng};
use shared_variables::{Variable, Variables};

/// A mixture: a kernel for each observation, and a uniform one. A kernel is a product over the variables.
pub(crate) struct Parzen {
    variables: Variables,
    /// The levels of each observation's variables.
    centres: Vec<Vec<u32>>,
    /// The weight of each observation's kernel, then the prior's; their sum is 1.
    weights: Vec<f64>,
    log_weights: Vec<f64>,
    /// For each variable, the probability of an observation's own level, and of each other one.
    kernels: Vec<(f64, f64)>,
    log_kernels: Vec<(f64, f64)>,
    /// The logarithm of the uniform density.
    log_uniform: f64,
}

impl Parzen {
    /// The estimator for these points, the oldest first.
    pub(crate) fn new<'p>(
        variables: &Variables,
        points: impl Iterator<Item = &'p [bool]>,
        prior_weight: f64,
    ) -> Self {
        let centres: Vec<Vec<u32>> = points.map(|point| variables.of_bits(point)).collect();
        let mut weights: Vec<f64> = (0..centres.len()).map(|i| age_weight(i, centres.len())).collect();
        weights.push(prior_weight);
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= sum);
        // Each level has the prior's weight over the number of kernels, the observed one 1 more.
        let each = prior_weight / weights.len() as f64;
        let kernel = |variable: &Variable| {
            let sum = 1.0 + each * variable.levels() as f64;
            ((1.0 + each) / sum, each / sum)
        };
        let kernels: Vec<(f64, f64)> = variables.iter().map(kernel).collect();
        Self {
            log_weights: weights.iter().map(|&weight| libm::log(weight)).collect(),
            log_kernels: kernels.iter().map(|&(own, other)| (libm::log(own), libm::log(other))).collect(),
            log_uniform: -variables.iter().map(|v| libm::log(v.levels() as f64)).sum::<f64>(),
            variables: variables.clone(),
            centres,
            weights,
            kernels,
        }
    }

    /// The logarithm of the density. A group of bits without exactly one set is, for each observation, at the
    /// observation's level where that level's bit is set.
    pub(crate) fn log_density(&self, bits: &[bool]) -> f64 {
        let mut terms: Vec<f64> = Vec::with_capacity(self.log_weights.len());
        for (centre, log_weight) in self.centres.iter().zip(&self.log_weights) {
            let mut term = *log_weight;
            for ((variable, &level), &(own, other)) in
                self.variables.iter().zip(centre).zip(&self.log_kernels)
            {
                term += if variable.has(level, bits) { own } else { other };
            }
            terms.push(term);
        }
        terms.push(self.log_weights[self.centres.len()] + self.log_uniform);
        let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        largest + libm::log(terms.iter().map(|term| libm::exp(term - largest)).sum::<f64>())
    }

    pub(crate) fn dimension(&self) -> usize {
        self.variables.dimension()
    }

    /// A point of this density.
    pub(crate) fn sample(&self, rng: &mut Rng) -> Bits {
        let kernel = choose(&self.weights, rng);
        let mut bits = Bits::zeros(self.variables.dimension());
        for (i, variable) in self.variables.iter().enumerate() {
            let levels = variable.levels() as u32;
            let level = match self.centres.get(kernel) {
                None => rng.random_range(0..levels),
                Some(centre) => {
                    let (own, other) = self.kernels[i];
                    let density: Vec<f64> =
                        (0..levels).map(|level| if level == centre[i] { own } else { other }).collect();
                    choose(&density, rng) as u32
                }
            };
            variable.set(level, &mut bits);
        }
        bits
    }
}

/// The 25 newest observations count fully, older ones the less the older they are.
fn age_weight(i: usize, count: usize) -> f64 {
    const FULL: usize = 25;
    if i + FULL >= count {
        return 1.0;
    }
    // Evenly from 1/count to 1, both ends included, over all but the newest.
    let (first, steps) = (1.0 / count as f64, count - FULL - 1);
    if steps == 0 { first } else { first + (1.0 - first) * i as f64 / steps as f64 }
}

/// An index with these probabilities.
fn choose(probabilities: &[f64], rng: &mut Rng) -> usize {
    let mut left: f64 = rng.random();
    for (i, probability) in probabilities.iter().enumerate() {
        left -= probability;
        if left < 0.0 {
            return i;
        }
    }
    probabilities.len() - 1
}

#[cfg(test)]
mod tests {
    use plugin_api::{Layout, rng};

    use super::*;

    /// Variables with 2, 3 and 2 levels, the last two as groups, and the observations of the numbers below.
    fn estimator(count: usize) -> Parzen {
        let variables = Variables::of(&Layout::with_groups(6, vec![1..4, 4..6]).unwrap());
        let point = |k: usize| bits(k * 7 / 3 % 2, k * k % 3, k / 4 % 2);
        let points: Vec<Bits> = (0..count).map(point).collect();
        Parzen::new(&variables, points.iter().map(|point| &point[..]), 1.0)
    }

    fn bits(a: usize, b: usize, c: usize) -> Bits {
        (0..6)
            .map(|i| match i {
                0 => a == 1,
                1..4 => i == b + 1,
                _ => i == c + 4,
            })
            .collect()
    }

    fn every() -> impl Iterator<Item = Bits> {
        (0..12).map(|k| bits(k / 6, k / 2 % 3, k % 2))
    }

    /// What `_ParzenEstimator.log_pdf` of Optuna 5.0.0 answers at all twelve points.
    #[rustfmt::skip]
    const OPTUNA: [(usize, [f64; 12]); 4] = [
        (0, [-2.4849066497880004; 12]),
        (1, [
            -1.5586655870606774, -2.323638502191878, -2.323638502191878, -2.806490273915463,
            -2.323638502191878, -2.806490273915463, -2.323638502191878, -2.806490273915463,
            -2.8064902739154625, -3.038291887972787, -2.8064902739154625, -3.038291887972787,
        ]),
        (3, [
            -1.6376087894007967, -2.8903717578961645, -1.2253639943072532, -2.5849901083449827,
            -2.3513752571634776, -3.332204510175204, -2.8903717578961645, -3.58351893845611,
            -2.5849901083449827, -3.449987545831587, -3.332204510175204, -3.737669618283368,
        ]),
        (30, [
            -2.5846830122028384, -2.616941259216865, -1.8244238691856944, -1.9705075779627688,
            -4.613967725294428, -4.691220086420579, -2.338393175932194, -2.5828689873286614,
            -1.965262436436178, -1.6161890399985708, -4.614361807707244, -4.5054887155744145,
        ]),
    ];

    #[test]
    fn densities_are_those_of_optuna() {
        for (count, expected) in OPTUNA {
            let estimator = estimator(count);
            for (bits, expected) in every().zip(expected) {
                let found = estimator.log_density(&bits);
                assert!((found - expected).abs() < 1e-12, "{count} at {bits}: {found} for {expected}");
            }
        }
    }

    #[test]
    fn samples_have_the_density() {
        for count in [0, 3, 30] {
            let (estimator, rng) = (estimator(count), &mut rng(1));
            let draws = 20_000;
            let mut counts = [0.0; 12];
            for _ in 0..draws {
                let sample = estimator.sample(rng);
                counts[every().position(|bits| bits == sample).unwrap()] += 1.0;
            }
            let square = |(bits, count): (Bits, f64)| {
                let expected = f64::from(draws) * libm::exp(estimator.log_density(&bits));
                (count - expected) * (count - expected) / expected
            };
            // χ² with 11 degrees of freedom is above 31.3 once in a thousand times.
            let chi2: f64 = every().zip(counts).map(square).sum();
            assert!(chi2 < 31.3, "χ² of {chi2}: {counts:?}");
        }
    }

    #[test]
    fn older_observations_weigh_less() {
        let weights = |count: usize| (0..count).map(|i| age_weight(i, count)).collect::<Vec<f64>>();
        assert_eq!(weights(25), [1.0; 25]);
        assert_eq!(weights(26)[..2], [1.0 / 26.0, 1.0]);
        let many = weights(45);
        assert!((many[0] - 1.0 / 45.0).abs() < 1e-15 && (many[19] - 1.0).abs() < 1e-15);
        assert!(many[..20].is_sorted_by(|a, b| a < b));
    }
}
