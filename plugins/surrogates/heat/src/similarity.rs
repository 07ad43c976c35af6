//! The heat kernel between points, eight bits at a time.
//!
//! k(x, x') = exp(−Σ θᵢ [xᵢ ≠ x'ᵢ]) over variables. Two levels of a one-hot group differ in two bits, so a bit of a
//! group has half of its variable's θ, a free bit all of it, and the kernel is a product over the bits that differ. The
//! products of each eight bits stand in a table. Levels in an order have a kernel of their own, see [`Path`], and their
//! bits no part in that.

use plugin_api::Rng;
use plugin_api::rand::RngExt;

use crate::dictionary;
use crate::kernel::{Kernel, WIDTH};
use crate::path::{Path, PathKernel};
use crate::points::{Packed, Variables, spins};

/// The kernel at given θ.
#[derive(Clone, Debug)]
pub(crate) struct Similarity {
    variables: Variables,
    /// For each variable.
    thetas: Vec<f64>,
    /// For each eight bits, the factor of each set of them that differs.
    tables: Vec<[f64; 256]>,
    /// For each bit, what the kernel is multiplied by where the bit comes to differ, and where it comes to agree.
    factors: Vec<[f64; 2]>,
    paths: Vec<PathKernel>,
}

impl Similarity {
    /// With a logarithm of θ for each variable, or one for all.
    pub(crate) fn new(variables: &Variables, log_theta: &[f64]) -> Self {
        let log_theta = |variable: usize| log_theta[if log_theta.len() == 1 { 0 } else { variable }];
        let thetas: Vec<f64> =
            (0..variables.count()).map(|variable| libm::exp(log_theta(variable))).collect();
        if variables.dictionary().is_some() {
            let (tables, factors, paths) = (Vec::new(), Vec::new(), Vec::new());
            return Self { variables: variables.clone(), thetas, tables, factors, paths };
        }
        let factor = |(&variable, share): (&usize, &f64)| {
            let exponent = share * thetas[variable];
            [libm::exp(-exponent), libm::exp(exponent)]
        };
        let factors: Vec<[f64; 2]> = variables.of_bit.iter().zip(&variables.share).map(factor).collect();
        let tables = factors.chunks(8).map(|factors| {
            let mut table = [1.0; 256];
            for set in 1..256_usize {
                let highest = set.ilog2() as usize;
                let factor = factors.get(highest).map_or(1.0, |factor| factor[0]);
                table[set] = table[set ^ 1 << highest] * factor;
            }
            table
        });
        let tables = tables.collect();
        let paths = variables.paths().iter().map(|path| path.kernel(log_theta(path.variable))).collect();
        Self { variables: variables.clone(), thetas, tables, factors, paths }
    }

    /// θ of each variable.
    pub(crate) fn thetas(&self) -> &[f64] {
        &self.thetas
    }

    pub(crate) fn variables(&self) -> &Variables {
        &self.variables
    }

    /// k of point `i` of `a` and each of `b` from `first` on, which is a multiple of [`WIDTH`].
    pub(crate) fn with_block(
        &self,
        kernel: Kernel,
        a: &Packed,
        i: usize,
        b: &Packed,
        first: usize,
    ) -> [f64; WIDTH] {
        if self.variables.dictionary().is_some() {
            return dictionary::kernels(kernel, &self.thetas, a.features(i), b.feature_block(first));
        }
        let mut products = kernel.products(&self.tables, a.row(i), b.block(first));
        for (k, path) in self.paths.iter().enumerate() {
            let correlations = path.of(a.levels(k)[i] as usize);
            for (product, level) in products.iter_mut().zip(&b.levels(k)[first..]) {
                *product *= correlations[*level as usize];
            }
        }
        products
    }

    /// k of point `i` of `a` and each of `b`.
    pub(crate) fn with_all(&self, kernel: Kernel, a: &Packed, i: usize, b: &Packed) -> Vec<f64> {
        let firsts = (0..b.len()).step_by(WIDTH);
        let mut all: Vec<f64> = firsts.flat_map(|first| self.with_block(kernel, a, i, b, first)).collect();
        all.truncate(b.len());
        all
    }

    /// From k of `bits` and each of `points`, k of the bits with some of them turned over.
    pub(crate) fn after_move(
        &self,
        kernel: Kernel,
        (bits, here): (&[bool], &[f64]),
        turned: &[usize],
        points: &Packed,
    ) -> Vec<f64> {
        let moved = || {
            let mut moved = bits.to_vec();
            turned.iter().for_each(|&i| moved[i] = !moved[i]);
            moved
        };
        if self.variables.dictionary().is_some() {
            let mut one = Packed::new(&self.variables);
            one.push(&moved());
            return self.with_all(kernel, &one, 0, points);
        }
        let mut factors = here.to_vec();
        for &i in turned {
            if self.variables.share[i] == 0.0 {
                continue;
            }
            let [differ, agree] = self.factors[i];
            for (p, factor) in factors.iter_mut().enumerate() {
                *factor *= if points.bit(p, i) == bits[i] { differ } else { agree };
            }
        }
        for (k, path) in self.variables.paths().iter().enumerate() {
            if turned.iter().any(|&i| path.has(i)) {
                let [before, after] = [bits, &moved()].map(|bits| self.paths[k].of(path.level(bits)));
                for (factor, &level) in factors.iter_mut().zip(points.levels(k)) {
                    *factor *= after[level as usize] / before[level as usize];
                }
            }
        }
        factors
    }

    /// Draws a sign for each level of each variable that has no order, the same for all with probability ρ, and calls
    /// `negative` with the bits of the negative ones.
    pub(crate) fn draw_signs(&self, rng: &mut Rng, mut negative: impl FnMut(usize)) {
        let (mut last, mut constant) = (usize::MAX, false);
        for (i, &variable) in self.variables.of_bit.iter().enumerate() {
            if variable != last {
                (last, constant) = (variable, rng.random::<f64>() < libm::exp(-self.thetas[variable]));
            }
            // Which of two levels a free bit has is relative: the sign of the other is in the weight.
            if !constant && self.variables.share[i] > 0.0 && rng.random::<bool>() {
                negative(i);
            }
        }
    }

    /// For each path its eigenvectors and their weights.
    pub(crate) fn path_vectors(&self) -> Vec<Vec<(f64, Vec<f64>)>> {
        let vectors = |path: &Path| path.vectors(libm::log(self.thetas[path.variable]));
        self.variables.paths().iter().map(vectors).collect()
    }

    /// k of two levels of a variable, given by their bits or, for a free bit, by what it is.
    pub(crate) fn of_levels(&self, variable: usize, a: usize, b: usize) -> f64 {
        let path = self.variables.paths().iter().position(|path| path.variable == variable);
        match path {
            Some(k) => self.paths[k].of(a)[b],
            None if a == b => 1.0,
            None => libm::exp(-self.thetas[variable]),
        }
    }

    /// For each variable Σ Mᵢⱼ ∂ log k/∂ log θ over the pairs i < j of points.
    pub(crate) fn slopes(&self, kernel: Kernel, upper: &[f64], size: usize, points: &Packed) -> Vec<f64> {
        if self.variables.dictionary().is_some() {
            return dictionary::slopes(kernel, &self.thetas, upper, size, points);
        }
        let count = points.len();
        let mut all = 0.0;
        for i in 0..count {
            all += upper[i * size..][i + 1..count].iter().sum::<f64>();
        }
        let bits = self.variables.bits();
        let (mut columns, mut slopes) = (Vec::with_capacity(size), vec![0.0; self.variables.count()]);
        for first in (0..bits).step_by(WIDTH) {
            spins(points, first, size, &mut columns);
            let forms = kernel.quadratic_forms(upper, size, &columns);
            for (i, form) in (first..bits).zip(forms) {
                // Spins that differ have the product −1.
                let variable = self.variables.of_bit[i];
                slopes[variable] -= self.variables.share[i] * self.thetas[variable] * 0.5 * (all - form);
            }
        }
        for (k, (path, kernel)) in self.variables.paths().iter().zip(&self.paths).enumerate() {
            let levels = points.levels(k);
            for i in 0..count {
                let of_level = kernel.slopes_of(levels[i] as usize);
                let row = upper[i * size..][i + 1..count].iter().zip(&levels[i + 1..]);
                slopes[path.variable] += row.map(|(m, level)| m * of_level[*level as usize]).sum::<f64>();
            }
        }
        slopes
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::{Layout, rng};

    use super::*;

    fn between(similarity: &Similarity, a: &[bool], b: &[bool]) -> f64 {
        let mut points = Packed::new(&similarity.variables);
        (0..10).for_each(|_| points.push(b));
        points.push(a);
        let kernels = similarity.with_block(Kernel::available()[0], &points, 10, &points, 8);
        assert_eq!(kernels[2], 1.0, "k(a, a)");
        assert_eq!(kernels[0], kernels[1]);
        kernels[0]
    }

    /// exp(−βL) of the complete graph with g nodes, by its power series.
    fn heat(g: usize, beta: f64) -> Vec<Vec<f64>> {
        let laplacian = |i, j| if i == j { g as f64 - 1.0 } else { -1.0 };
        let identity: Vec<Vec<f64>> = (0..g).map(|i| (0..g).map(|j| f64::from(i == j)).collect()).collect();
        let (mut sum, mut term) = (identity.clone(), identity);
        for k in 1..200 {
            let entry = |i: usize, j: usize| {
                (0..g).map(|l| term[i][l] * laplacian(l, j)).sum::<f64>() * -beta / f64::from(k)
            };
            term = (0..g).map(|i| (0..g).map(|j| entry(i, j)).collect()).collect();
            (0..g * g).for_each(|ij| sum[ij / g][ij % g] += term[ij / g][ij % g]);
        }
        sum
    }

    #[test]
    fn it_is_the_heat_kernel_of_the_product_of_complete_graphs() {
        // A free bit is a graph of 2 nodes; the diagonal of the heat kernel is scaled to 1.
        let (layout, rates) = (Layout::with_groups(8, vec![1..4, 4..8]).unwrap(), [0.4, 0.2, 0.7]);
        let levels = [2, 3, 4];
        let kernels: Vec<_> = levels.iter().zip(rates).map(|(&g, beta)| heat(g, beta)).collect();
        let log_theta: Vec<f64> = kernels.iter().map(|k| libm::log(-libm::log(k[0][1] / k[0][0]))).collect();
        // The formula for θ: ρ = (1 − e^{−gβ})/(1 + (g−1)e^{−gβ}).
        for ((&g, beta), kernel) in levels.iter().zip(rates).zip(&kernels) {
            let e = libm::exp(-(g as f64) * beta);
            let rho = (1.0 - e) / (1.0 + (g as f64 - 1.0) * e);
            assert!((kernel[0][1] / kernel[0][0] - rho).abs() < 1e-12);
        }
        let similarity = Similarity::new(&Variables::new(&layout), &log_theta);
        let level = |x: &[bool], variable: usize| match variable {
            0 => usize::from(x[0]),
            1 => (1..4).position(|i| x[i]).unwrap(),
            _ => (4..8).position(|i| x[i]).unwrap(),
        };
        let mut rng = rng(1);
        for _ in 0..50 {
            let (a, b) = (layout.random(&mut rng), layout.random(&mut rng));
            let expected: f64 =
                (0..3).map(|v| kernels[v][level(&a, v)][level(&b, v)] / kernels[v][0][0]).product();
            assert!((between(&similarity, &a, &b) - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn factors_are_what_turned_bits_change() {
        let layout = Layout::with_groups(20, vec![3..7, 9..12, 14..18]).unwrap();
        let variables = Variables::new(&layout.with_ordered_groups(vec![0, 2]).unwrap());
        assert_eq!(variables.count(), 12);
        let log_theta: Vec<f64> = (0..12).map(|i| -0.2 * f64::from(i)).collect();
        let similarity = Similarity::new(&variables, &log_theta);
        let mut rng = rng(2);
        // Also of bits that break the groups.
        for turned in [vec![0], vec![5], vec![3, 6], vec![9], vec![10, 11], vec![15, 16], vec![2, 4]] {
            let (a, b) = (Layout::free(20).random(&mut rng), Layout::free(20).random(&mut rng));
            let mut moved = a.clone();
            turned.iter().for_each(|&i| moved.flip(i));
            let mut points = Packed::new(&variables);
            points.push(&b);
            let (before, after) = (between(&similarity, &a, &b), between(&similarity, &moved, &b));
            let found = similarity.after_move(Kernel::available()[0], (&a, &[before]), &turned, &points);
            assert!((found[0] / after - 1.0).abs() < 1e-12, "{turned:?}");
        }
    }

    #[test]
    fn ordered_levels_have_the_kernel_of_the_path() {
        let layout = Layout::with_groups(9, vec![0..5, 6..9]).unwrap().with_ordered_groups(vec![0]).unwrap();
        let similarity = Similarity::new(&Variables::new(&layout), &[-0.4, -1.0, 0.2]);
        let path = Path::new(0, 0..5).kernel(-0.4);
        for ab in 0..25 {
            let point = |level: usize, bit: bool| {
                (0..9).map(|i| i == level || i == 5 && bit || i == 7).collect::<Vec<_>>()
            };
            let expected = path.of(ab / 5)[ab % 5] * libm::exp(-libm::exp(-1.0));
            let found = between(&similarity, &point(ab / 5, true), &point(ab % 5, false));
            assert!((found - expected).abs() < 1e-14);
        }
    }
}
