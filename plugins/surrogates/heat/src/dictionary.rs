//! Points by their distances to those of a dictionary, as BODi has it: a space of numbers, in which a Matérn kernel counts.
//!
//! Feature k of a point is 1 − Hamming/n to vector k of the dictionary, over variables. The kernel is Matérn-5/2 with
//! r² = Σ θₖ Δₖ². A dictionary has vectors of all densities: each has a probability of ones of its own.

use plugin_api::rand::RngExt;
use plugin_api::{Layout, Rng};

use crate::kernel::{Kernel, WIDTH};
use crate::points::{Packed, Variables};

/// √5
const ROOT_FIVE: f64 = 2.236_067_977_499_79;

/// Vectors of bits, packed as points are.
#[derive(Clone, Debug)]
pub(crate) struct Dictionary {
    rows: Vec<Vec<u8>>,
    /// The bits that are a variable each; of the others, two differ for one variable.
    free: Vec<u8>,
    variables: f64,
}

impl Dictionary {
    pub(crate) fn draw(layout: &Layout, count: usize, rng: &mut Rng) -> Self {
        let variables = Variables::new(layout);
        let mut points = Packed::new(&variables);
        for _ in 0..count {
            let density = rng.random::<f64>();
            let mut bits: Vec<bool> =
                (0..layout.dimension()).map(|_| rng.random::<f64>() < density).collect();
            for group in layout.groups() {
                // One level more often than the others, by the density.
                let favourite = rng.random_range(group.clone());
                let other = rng.random_range(group.clone());
                bits[group.clone()].fill(false);
                bits[if rng.random::<f64>() < density { favourite } else { other }] = true;
            }
            points.push(&bits);
        }
        let free: Vec<bool> = variables.share.iter().map(|share| *share == 1.0).collect();
        points.push(&free);
        let rows = (0..count).map(|i| points.row(i).to_vec()).collect();
        Self { rows, free: points.row(count).to_vec(), variables: variables.count().max(1) as f64 }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// 1 − Hamming/n to each vector.
    pub(crate) fn features(&self, point: &[u8]) -> Vec<f64> {
        let feature = |row: &Vec<u8>| {
            let mut halves = 0;
            for ((a, b), free) in row.iter().zip(point).zip(&self.free) {
                halves += 2 * ((a ^ b) & free).count_ones() + ((a ^ b) & !free).count_ones();
            }
            1.0 - 0.5 * f64::from(halves) / self.variables
        };
        self.rows.iter().map(feature).collect()
    }
}

/// The kernel of a point and each of a block of others, by their features.
pub(crate) fn kernels(kernel: Kernel, thetas: &[f64], row: &[f64], block: &[[f64; WIDTH]]) -> [f64; WIDTH] {
    kernel.distances(thetas, row, block).map(matern)
}

/// (1 + √5 r + 5r²/3) exp(−√5 r)
fn matern(squared: f64) -> f64 {
    let r = ROOT_FIVE * squared.sqrt();
    (1.0 + r + r * r / 3.0) * libm::exp(-r)
}

/// d ln k/d r² = −5/6 · (1 + √5 r)/(1 + √5 r + 5r²/3)
fn slope(squared: f64) -> f64 {
    let r = ROOT_FIVE * squared.sqrt();
    -5.0 / 6.0 * (1.0 + r) / (1.0 + r + r * r / 3.0)
}

/// For each feature Σ Mᵢⱼ ∂ log k/∂ log θ over the pairs i < j of points.
pub(crate) fn slopes(
    kernel: Kernel,
    thetas: &[f64],
    upper: &[f64],
    size: usize,
    points: &Packed,
) -> Vec<f64> {
    let count = points.len();
    // Gᵢⱼ = Mᵢⱼ d ln k/d r², and its sums over the pairs of each point.
    let (mut weights, mut sums) = (vec![0.0; size * size], vec![0.0; count]);
    for i in 0..count {
        for first in (i / WIDTH * WIDTH..count).step_by(WIDTH) {
            let distances = kernel.distances(thetas, points.features(i), points.feature_block(first));
            for (j, squared) in (first..count).zip(distances).filter(|(j, _)| *j > i) {
                let weight = upper[i * size + j] * slope(squared);
                weights[i * size + j] = weight;
                sums[i] += weight;
                sums[j] += weight;
            }
        }
    }
    // Σ G (z − z')² = Σ z² (sums of G) − 2 Σ z G z'
    let mut slopes = Vec::with_capacity(thetas.len());
    for first in (0..thetas.len()).step_by(WIDTH) {
        let feature = |i: usize, w: usize| points.features(i).get(first + w).copied().unwrap_or(0.0);
        let mut columns: Vec<[f64; WIDTH]> =
            (0..count).map(|i| std::array::from_fn(|w| feature(i, w))).collect();
        columns.resize(size, [0.0; WIDTH]);
        let forms = kernel.quadratic_forms(&weights, size, &columns);
        for (w, theta) in thetas[first..].iter().enumerate().take(WIDTH) {
            let squares: f64 = columns.iter().zip(&sums).map(|(z, sum)| z[w] * z[w] * sum).sum();
            slopes.push(theta * (squares - 2.0 * forms[w]));
        }
    }
    slopes
}

#[cfg(test)]
mod tests {
    use plugin_api::{Bits, rng};

    use super::*;
    use crate::similarity::Similarity;

    #[test]
    fn it_is_the_matern_kernel_of_distances_to_the_dictionary() {
        let layout = Layout::with_groups(13, vec![2..5, 8..12]).unwrap();
        let mut rng = rng(3);
        let dictionary = Dictionary::draw(&layout, 11, &mut rng);
        let vectors: Vec<Vec<bool>> = dictionary
            .rows
            .iter()
            .map(|row| (0..13).map(|i| row[i / 8] >> (i % 8) & 1 == 1).collect())
            .collect();
        assert!(vectors.iter().all(|vector| layout.keeps_groups(vector)));
        let variables = Variables::new(&layout).with_dictionary(dictionary);
        let log_theta: Vec<f64> = (0..11).map(|k| 0.2 * f64::from(k) - 1.0).collect();
        let similarity = Similarity::new(&variables, &log_theta);
        let points: Vec<Bits> = (0..10).map(|_| layout.random(&mut rng)).collect();
        let mut packed = Packed::new(&variables);
        points.iter().for_each(|x| packed.push(x));
        // Eight variables: bits 0, 1, 5, 6, 7 and 12, and two groups.
        let differ = |a: &[bool], b: &[bool]| {
            let free = [0, 1, 5, 6, 7, 12].into_iter().filter(|&i: &usize| a[i] != b[i]).count();
            let groups =
                layout.groups().iter().filter(|group| a[(*group).clone()] != b[(*group).clone()]).count();
            (free + groups) as f64
        };
        let feature = |x: &[bool], k: usize| 1.0 - differ(x, &vectors[k]) / 8.0;
        for i in 0..10 {
            let found = similarity.with_all(Kernel::available()[0], &packed, i, &packed);
            for (j, found) in found.into_iter().enumerate() {
                let square = |k: usize| {
                    let off = feature(&points[i], k) - feature(&points[j], k);
                    off * off
                };
                let r = (0..11).map(|k| libm::exp(log_theta[k]) * square(k)).sum::<f64>().sqrt();
                let expected =
                    (1.0 + 5.0_f64.sqrt() * r + 5.0 * r * r / 3.0) * libm::exp(-5.0_f64.sqrt() * r);
                assert!((found - expected).abs() < 1e-12, "{found} and {expected}");
            }
        }
    }
}
