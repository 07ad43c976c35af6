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

use crate::kernel::{Kernel, WIDTH};
use crate::points::{Packed, Variables};
use crate::similarity::Similarity;

/// How many products are added.
const COUNT: usize = 1024;

/// A function drawn from the prior.
#[derive(Clone, Debug)]
pub(crate) enum Features {
    Signs(Signs),
    Waves(Waves),
}

impl Features {
    /// A function whose variance is `amplitude`.
    pub(crate) fn draw(similarity: &Similarity, kernel: Kernel, amplitude: f64, rng: &mut Rng) -> Self {
        let scale = (amplitude / COUNT as f64).sqrt();
        match similarity.variables().dictionary() {
            Some(_) => Self::Waves(Waves::draw(similarity, scale, rng)),
            None => Self::Signs(Signs::draw(similarity, kernel, scale, rng)),
        }
    }

    pub(crate) fn at(&self, bits: &[bool]) -> f64 {
        match self {
            Self::Signs(signs) => signs.at(bits),
            Self::Waves(waves) => waves.at(bits),
        }
    }
}

/// Products of signs, and of eigenvectors of paths.
#[derive(Clone, Debug)]
pub(crate) struct Signs {
    variables: Variables,
    kernel: Kernel,
    /// For each [`WIDTH`] features as many words of each as the bits need.
    masks: Vec<[u64; WIDTH]>,
    weights: Vec<[f64; WIDTH]>,
    /// For each path its eigenvectors, and for each feature which of them it has.
    paths: Vec<(Vec<Vec<f64>>, Vec<usize>)>,
}

impl Signs {
    fn draw(similarity: &Similarity, kernel: Kernel, scale: f64, rng: &mut Rng) -> Self {
        let variables = similarity.variables().clone();
        let words = words(variables.bits());
        let (mut masks, mut weights) =
            (vec![[0; WIDTH]; COUNT / WIDTH * words], vec![[0.0; WIDTH]; COUNT / WIDTH]);
        let vectors = similarity.path_vectors();
        let mut chosen = vec![Vec::with_capacity(COUNT); vectors.len()];
        for feature in 0..COUNT {
            let (block, lane) = (feature / WIDTH, feature % WIDTH);
            weights[block][lane] = scale * normal(rng);
            similarity.draw_signs(rng, |bit| masks[block * words + bit / 64][lane] |= 1 << (bit % 64));
            chosen.iter_mut().zip(&vectors).for_each(|(chosen, vectors)| chosen.push(choose(vectors, rng)));
        }
        let vectors =
            vectors.into_iter().map(|vectors| vectors.into_iter().map(|(_, vector)| vector).collect());
        Self { variables, kernel, masks, weights, paths: vectors.zip(chosen).collect() }
    }

    fn at(&self, bits: &[bool]) -> f64 {
        let mut point = vec![0_u64; words(bits.len())];
        for (i, _) in bits.iter().enumerate().filter(|(_, bit)| **bit) {
            point[i / 64] |= 1 << (i % 64);
        }
        if self.paths.is_empty() {
            return self.kernel.signed_sum(&self.masks, &self.weights, &point);
        }
        let mut weights = self.weights.clone();
        for (path, (vectors, chosen)) in self.variables.paths().iter().zip(&self.paths) {
            let level = path.level(bits);
            for (weight, &j) in weights.as_flattened_mut().iter_mut().zip(chosen) {
                *weight *= vectors[j][level];
            }
        }
        self.kernel.signed_sum(&self.masks, &weights, &point)
    }
}

/// Cosines √2 cos(ωᵀz + phase) of the features z that a dictionary gives.
#[derive(Clone, Debug)]
pub(crate) struct Waves {
    variables: Variables,
    /// ω, the phase and the weight of each.
    waves: Vec<(Vec<f64>, f64, f64)>,
}

impl Waves {
    fn draw(similarity: &Similarity, scale: f64, rng: &mut Rng) -> Self {
        let mut wave = || {
            // The spectrum of a Matérn-5/2 kernel is Student's distribution with 5 degrees of freedom.
            let spread = (2.5 / gamma(rng, 2.5)).sqrt();
            let omega = similarity.thetas().iter().map(|theta| spread * theta.sqrt() * normal(rng)).collect();
            let phase = 2.0 * std::f64::consts::PI * rng.random::<f64>();
            (omega, phase, std::f64::consts::SQRT_2 * scale * normal(rng))
        };
        let waves = (0..COUNT).map(|_| wave()).collect();
        Self { variables: similarity.variables().clone(), waves }
    }

    fn at(&self, bits: &[bool]) -> f64 {
        let mut one = Packed::new(&self.variables);
        one.push(bits);
        let wave = |(omega, phase, weight): &(Vec<f64>, f64, f64)| {
            let product: f64 = omega.iter().zip(one.features(0)).map(|(omega, z)| omega * z).sum();
            weight * libm::cos(product + phase)
        };
        self.waves.iter().map(wave).sum()
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

/// At least one, so that features without bits are constants.
fn words(bits: usize) -> usize {
    bits.div_ceil(64).max(1)
}

#[cfg(test)]
mod tests {
    use plugin_api::{Bits, Layout, rng};

    use super::*;
    use crate::dictionary::Dictionary;

    fn check(similarity: &Similarity, layout: &Layout) {
        let mut rng = rng(5);
        let points: Vec<Bits> = (0..6).map(|_| layout.random(&mut rng)).collect();
        let mut packed = Packed::new(similarity.variables());
        points.iter().for_each(|x| packed.push(x));
        let draws = 2000;
        let mut sums = vec![0.0; 36];
        for _ in 0..draws {
            let drawn = Features::draw(similarity, Kernel::available()[0], 2.5, &mut rng);
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
