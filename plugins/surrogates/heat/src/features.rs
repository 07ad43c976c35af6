//! Functions drawn from the prior, by random features.
//!
//! A product of one random factor for each variable, whose mean square is the kernel: a variable with the correlation ρ
//! between levels is constant with probability ρ, else it has a random sign for each level, since
//! E[h(a)h(b)] = ρ + (1 − ρ)[a = b]. Such signs are the parity of the bits set in a mask. For levels in an order the factor is
//! one of the path's eigenvectors, drawn by its weight. For the distances to a dictionary a feature is a cosine of theirs, with
//! frequencies drawn from the spectrum of the kernel. A sum of many such products with normal weights is nearly a draw
//! from the Gaussian process: its covariance is right on average, and for one draw to about 1/√1024.

use plugin_api::Rng;
use plugin_api::rand::RngExt;
use plugin_api::random::{gamma, normal};

use crate::points::{Packed, Variables};
use crate::similarity::Similarity;

/// How many products are added.
const COUNT: usize = 1024;

/// A function drawn from the prior.
#[derive(Clone, Debug)]
pub(crate) struct Features {
    variables: Variables,
    /// For each feature as many words as the bits need.
    masks: Vec<u64>,
    weights: Vec<f64>,
    /// For each path its eigenvectors, and for each feature which of them it has.
    vectors: Vec<Vec<(f64, Vec<f64>)>>,
    chosen: Vec<usize>,
    waves: Vec<Wave>,
}

/// √2 cos(ωᵀz + phase) of the features z that a dictionary gives.
#[derive(Clone, Debug)]
struct Wave {
    omega: Vec<f64>,
    phase: f64,
}

impl Wave {
    /// The spectrum of a Matérn-5/2 kernel is Student's distribution with 5 degrees of freedom.
    fn draw(thetas: &[f64], rng: &mut Rng) -> Self {
        let scale = (2.5 / gamma(rng, 2.5)).sqrt();
        let omega = thetas.iter().map(|theta| scale * theta.sqrt() * normal(rng)).collect();
        Self { omega, phase: 2.0 * std::f64::consts::PI * rng.random::<f64>() }
    }

    fn at(&self, features: &[f64]) -> f64 {
        let product: f64 = self.omega.iter().zip(features).map(|(omega, z)| omega * z).sum();
        std::f64::consts::SQRT_2 * libm::cos(product + self.phase)
    }
}

impl Features {
    /// A function whose variance is `amplitude`.
    pub(crate) fn draw(similarity: &Similarity, amplitude: f64, rng: &mut Rng) -> Self {
        let variables = similarity.variables().clone();
        if variables.dictionary().is_some() {
            let scale = (amplitude / COUNT as f64).sqrt();
            let waves = (0..COUNT).map(|_| Wave::draw(similarity.thetas(), rng)).collect();
            let weights = (0..COUNT).map(|_| scale * normal(rng)).collect();
            let (masks, vectors, chosen) = (Vec::new(), Vec::new(), Vec::new());
            return Self { variables, masks, weights, vectors, chosen, waves };
        }
        let words = words(variables.bits());
        let mut masks = vec![0; COUNT * words];
        let (mut weights, mut chosen) = (Vec::with_capacity(COUNT), Vec::new());
        let vectors = similarity.path_vectors();
        let scale = (amplitude / COUNT as f64).sqrt();
        for mask in masks.chunks_exact_mut(words.max(1)).take(COUNT) {
            weights.push(scale * normal(rng));
            similarity.draw_signs(rng, |bit| mask[bit / 64] |= 1 << (bit % 64));
            chosen.extend(vectors.iter().map(|vectors| choose(vectors, rng)));
        }
        weights.resize_with(COUNT, || scale * normal(rng));
        Self { variables, masks, weights, vectors, chosen, waves: Vec::new() }
    }

    pub(crate) fn at(&self, bits: &[bool]) -> f64 {
        if !self.waves.is_empty() {
            let mut one = Packed::new(&self.variables);
            one.push(bits);
            return self
                .waves
                .iter()
                .zip(&self.weights)
                .map(|(wave, weight)| weight * wave.at(one.features(0)))
                .sum();
        }
        let mut point = vec![0_u64; words(bits.len())];
        for (i, _) in bits.iter().enumerate().filter(|(_, bit)| **bit) {
            point[i / 64] |= 1 << (i % 64);
        }
        let sign = |mask: &[u64]| {
            let ones: u32 = mask.iter().zip(&point).map(|(mask, bits)| (mask & bits).count_ones()).sum();
            if ones.is_multiple_of(2) { 1.0 } else { -1.0 }
        };
        let signs = self.masks.chunks_exact(point.len().max(1)).map(sign);
        let paths = self.variables.paths();
        if paths.is_empty() {
            return signs.zip(&self.weights).map(|(sign, weight)| sign * weight).sum();
        }
        let levels: Vec<usize> = paths.iter().map(|path| path.level(bits)).collect();
        let product = |chosen: &[usize]| -> f64 {
            let vectors = self.vectors.iter().zip(chosen).map(|(vectors, &j)| &vectors[j].1);
            vectors.zip(&levels).map(|(vector, &level)| vector[level]).product()
        };
        let chosen = self.chosen.chunks_exact(paths.len());
        signs
            .zip(&self.weights)
            .zip(chosen)
            .map(|((sign, weight), chosen)| sign * weight * product(chosen))
            .sum()
    }
}

/// One of the vectors, by its weight.
fn choose(vectors: &[(f64, Vec<f64>)], rng: &mut Rng) -> usize {
    let mut left = rng.random::<f64>();
    let passes = |(weight, _): &(f64, Vec<f64>)| {
        left -= weight;
        left < 0.0
    };
    vectors.iter().position(passes).unwrap_or(0)
}

fn words(bits: usize) -> usize {
    bits.div_ceil(64)
}

#[cfg(test)]
mod tests {
    use plugin_api::{Bits, Layout, rng};

    use super::*;
    use crate::dictionary::Dictionary;
    use crate::kernel::Kernel;

    fn check(similarity: &Similarity, layout: &Layout) {
        let mut rng = rng(5);
        let points: Vec<Bits> = (0..6).map(|_| layout.random(&mut rng)).collect();
        let mut packed = Packed::new(similarity.variables());
        points.iter().for_each(|x| packed.push(x));
        let draws = 2000;
        let mut sums = vec![0.0; 36];
        for _ in 0..draws {
            let drawn = Features::draw(similarity, 2.5, &mut rng);
            let values: Vec<f64> = points.iter().map(|x| drawn.at(x)).collect();
            (0..36).for_each(|ij| sums[ij] += values[ij / 6] * values[ij % 6] / f64::from(draws));
        }
        for i in 0..6 {
            let expected = similarity.with_all(Kernel::available()[0], &packed, i, &packed);
            for (j, expected) in expected.iter().enumerate() {
                // The deviation of such an average is at most 2.5·√(2/2000) = 0.08.
                let found = sums[i * 6 + j];
                assert!((found - 2.5 * expected).abs() < 0.32, "{i} {j}: {found} and {}", 2.5 * expected);
            }
        }
    }

    #[test]
    fn the_covariance_of_draws_is_the_kernel() {
        let layout =
            Layout::with_groups(12, vec![2..5, 6..10]).unwrap().with_ordered_groups(vec![1]).unwrap();
        let variables = Variables::new(&layout);
        let log_theta: Vec<f64> = (0..variables.count()).map(|v| -1.5 + 0.3 * v as f64).collect();
        check(&Similarity::new(&variables, &log_theta), &layout);
    }

    #[test]
    fn the_covariance_of_draws_is_the_kernel_of_a_dictionary() {
        let layout = Layout::with_groups(12, vec![2..5, 6..10]).unwrap();
        let dictionary = Dictionary::draw(&layout, 9, &mut rng(6));
        let variables = Variables::new(&layout).with_dictionary(dictionary);
        let log_theta: Vec<f64> = (0..9).map(|k| 0.1 * f64::from(k) + 0.5).collect();
        check(&Similarity::new(&variables, &log_theta), &layout);
    }
}
