//! The heat kernel of a path: levels that stand in an order.

use std::f64::consts::PI;
use std::ops::Range;

/// The lowest correlation: less is rounding, and would make ratios of two of them mean nothing.
const LEAST: f64 = 1e-12;

/// The bits of a group, one for each of g levels in an order.
///
/// The Laplacian of a path with g nodes has the eigenvalues λⱼ = 2 − 2cos(πj/g) and the eigenvectors of the cosine
/// transform (DCT-II). Time is measured by the slowest of them: it decays to q = tanh(θ/2), as it does for a bit with this
/// θ, and the others to q^(λⱼ/λ₁). So θ says how different the ends are, however many levels lie between, and a path of
/// two levels is a bit.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    /// Whose θ it has.
    pub(crate) variable: usize,
    bits: Range<usize>,
    /// λⱼ/λ₁ for j from 1 on.
    rates: Vec<f64>,
    /// cos(πk/g) for k below 2g.
    cosines: Vec<f64>,
}

/// The correlations of levels at some θ. A level more than there are stands for bits that break the group, which a
/// solver without groups may ask for: it is as far from all others as the ends are from each other.
#[derive(Clone, Debug)]
pub(crate) struct PathKernel {
    size: usize,
    correlations: Vec<f64>,
    /// The derivatives of their logarithms by log θ.
    slopes: Vec<f64>,
}

impl Path {
    pub(crate) fn new(variable: usize, bits: Range<usize>) -> Self {
        let levels = bits.len();
        let cosines: Vec<f64> = (0..2 * levels).map(|k| libm::cos(PI * k as f64 / levels as f64)).collect();
        // 2 − 2cos x = 4 sin²(x/2), without the loss of digits.
        let eigenvalue = |j: usize| {
            let sine = libm::sin(0.5 * PI * j as f64 / levels as f64);
            4.0 * sine * sine
        };
        let rates = (1..levels).map(|j| eigenvalue(j) / eigenvalue(1)).collect();
        Self { variable, bits, rates, cosines }
    }

    /// Which level is set; one more than the last where not exactly one is.
    pub(crate) fn level(&self, bits: &[bool]) -> usize {
        let group = &bits[self.bits.clone()];
        match group.iter().filter(|&&bit| bit).count() {
            1 => group.iter().position(|&bit| bit).expect("one is set"),
            _ => group.len(),
        }
    }

    pub(crate) fn has(&self, bit: usize) -> bool {
        self.bits.contains(&bit)
    }

    pub(crate) fn levels(&self) -> usize {
        self.bits.len()
    }

    /// Of each of the eigenvectors but the first, what is left of it, and its logarithm's derivative by log θ.
    fn decays(&self, log_theta: f64) -> Vec<(f64, f64)> {
        let theta = libm::exp(log_theta);
        let (log_q, slope) = (libm::log(libm::tanh(0.5 * theta)), theta / libm::sinh(theta));
        self.rates.iter().map(|rate| (libm::exp(rate * log_q), rate * slope)).collect()
    }

    /// Numbers for each level whose mean product is the correlation, where one of these sets is drawn by its weight: the
    /// eigenvectors. They are 0 for bits that break the group.
    pub(crate) fn vectors(&self, log_theta: f64) -> Vec<(f64, Vec<f64>)> {
        let weights: Vec<f64> =
            [1.0].into_iter().chain(self.decays(log_theta).iter().map(|decay| decay.0)).collect();
        let whole: f64 = weights.iter().sum();
        let variance = |level: usize| -> f64 {
            let square = |j: usize| self.vector(j, level) * self.vector(j, level);
            weights.iter().enumerate().map(|(j, weight)| weight * square(j)).sum()
        };
        let scales: Vec<f64> = (0..self.levels()).map(|level| (whole / variance(level)).sqrt()).collect();
        let vector = |j: usize| {
            scales
                .iter()
                .enumerate()
                .map(|(level, scale)| scale * self.vector(j, level))
                .chain([0.0])
                .collect()
        };
        weights.iter().enumerate().map(|(j, weight)| (weight / whole, vector(j))).collect()
    }

    /// The value of eigenvector j at a level.
    fn vector(&self, j: usize, level: usize) -> f64 {
        let norm = if j == 0 { 1.0 } else { 2.0 } / self.levels() as f64;
        // cos(πj(level + ½)/g)
        norm.sqrt() * libm::cos(PI * j as f64 * (level as f64 + 0.5) / self.levels() as f64)
    }

    pub(crate) fn kernel(&self, log_theta: f64) -> PathKernel {
        let levels = self.levels();
        let decays = self.decays(log_theta);
        // vⱼ(a)vⱼ(b) = (cos(πj(a − b)/g) + cos(πj(a + b + 1)/g))/g: sums for each distance do.
        let sums: Vec<(f64, f64)> = (0..2 * levels)
            .map(|distance| {
                let mut sums = (0.0, 0.0);
                for (j, (decay, slope)) in decays.iter().enumerate() {
                    let term = decay * self.cosines[(j + 1) * distance % (2 * levels)];
                    sums = (sums.0 + term, sums.1 + slope * term);
                }
                sums
            })
            .collect();
        let entry = |a: usize, b: usize| {
            let (one, other) = (sums[a.abs_diff(b)], sums[a + b + 1]);
            (1.0 + one.0 + other.0, one.1 + other.1)
        };
        let diagonal: Vec<(f64, f64)> = (0..levels).map(|a| entry(a, a)).collect();
        let (size, last) = (levels + 1, levels - 1);
        let mut kernel =
            PathKernel { size, correlations: vec![1.0; size * size], slopes: vec![0.0; size * size] };
        for a in 0..size {
            for b in 0..size {
                let (from, to) = if a.max(b) == levels { (0, last) } else { (a, b) };
                if a == b || from == to {
                    continue;
                }
                let ((k, slope), (own, its)) = (entry(from, to), (diagonal[from], diagonal[to]));
                let correlation = k / (own.0 * its.0).sqrt();
                if correlation > LEAST {
                    kernel.correlations[a * size + b] = correlation;
                    kernel.slopes[a * size + b] = slope / k - 0.5 * (own.1 / own.0 + its.1 / its.0);
                } else {
                    kernel.correlations[a * size + b] = LEAST;
                }
            }
        }
        kernel
    }
}

impl PathKernel {
    /// The correlations of a level with all.
    pub(crate) fn of(&self, level: usize) -> &[f64] {
        &self.correlations[level * self.size..][..self.size]
    }

    /// The derivatives of their logarithms by log θ.
    pub(crate) fn slopes_of(&self, level: usize) -> &[f64] {
        &self.slopes[level * self.size..][..self.size]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// exp(−tL) of the path with g nodes, by the power series of exp(−tL/2^k), squared k times.
    fn heat(g: usize, t: f64) -> Vec<Vec<f64>> {
        let laplacian = |i: usize, j: usize| match i.abs_diff(j) {
            0 => f64::from(u8::from(i > 0)) + f64::from(u8::from(i + 1 < g)),
            1 => -1.0,
            _ => 0.0,
        };
        let product = |a: &[Vec<f64>], b: &dyn Fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
            (0..g).map(|i| (0..g).map(|j| (0..g).map(|l| a[i][l] * b(l, j)).sum()).collect()).collect()
        };
        let squarings = 12;
        let small = t / f64::from(1 << squarings);
        let mut term: Vec<Vec<f64>> =
            (0..g).map(|i| (0..g).map(|j| f64::from(u8::from(i == j))).collect()).collect();
        let mut sum = term.clone();
        for k in 1..40 {
            term = product(&term, &laplacian);
            term.iter_mut().flatten().for_each(|x| *x *= -small / f64::from(k));
            (0..g * g).for_each(|ij| sum[ij / g][ij % g] += term[ij / g][ij % g]);
        }
        for _ in 0..squarings {
            let last = sum.clone();
            sum = product(&sum, &|i, j| last[i][j]);
        }
        sum
    }

    #[test]
    fn it_is_the_exponential_of_the_paths_laplacian() {
        for (g, log_theta) in [(2, -0.5), (3, 0.3), (5, -2.0), (8, -4.0), (12, 1.0)] {
            let path = Path::new(0, 4..4 + g);
            let kernel = path.kernel(log_theta);
            let slowest = 2.0 - 2.0 * libm::cos(PI / g as f64);
            let heat = heat(g, -libm::log(libm::tanh(0.5 * libm::exp(log_theta))) / slowest);
            for a in 0..g {
                for b in 0..g {
                    let expected = heat[a][b] / (heat[a][a] * heat[b][b]).sqrt();
                    assert!((kernel.of(a)[b] - expected).abs() < 1e-11, "{g} levels, {a} and {b}");
                    let vectors = |a: usize, b: usize| -> f64 {
                        let decay = |j: usize| if j == 0 { 1.0 } else { path.decays(log_theta)[j - 1].0 };
                        (0..g).map(|j| decay(j) * path.vector(j, a) * path.vector(j, b)).sum()
                    };
                    assert!((vectors(a, b) - heat[a][b]).abs() < 1e-11);
                }
            }
        }
    }

    #[test]
    fn a_path_of_two_levels_is_a_bit() {
        for log_theta in [-12.0, -3.0, 0.0, 2.9] {
            let kernel = Path::new(0, 0..2).kernel(log_theta);
            let expected = libm::exp(-libm::exp(log_theta));
            assert!((kernel.of(0)[1] - expected).abs() < 1e-10 * expected.max(1e-6), "{log_theta}");
        }
    }

    #[test]
    fn neighbours_are_more_alike_than_the_ends_and_slopes_are_derivatives() {
        for log_theta in [-3.0, -0.7, 1.2] {
            let (path, step) = (Path::new(0, 0..7), 1e-6);
            let [here, below, above] = [0.0, -step, step].map(|d| path.kernel(log_theta + d));
            assert!(here.of(0)[1] > here.of(0)[3] && here.of(0)[3] > here.of(0)[6]);
            assert_eq!((here.of(7)[3], here.of(7)[7]), (here.of(0)[6], 1.0));
            for ab in 0..64 {
                let (a, b) = (ab / 8, ab % 8);
                let slope = (libm::log(above.of(a)[b]) - libm::log(below.of(a)[b])) / (2.0 * step);
                let found = here.slopes_of(a)[b];
                assert!((found - slope).abs() < 1e-6 * (1.0 + slope.abs()), "{a} {b}: {found} {slope}");
            }
        }
    }

    #[test]
    fn extreme_lengthscales_have_finite_kernels() {
        for log_theta in [-14.0, 3.0] {
            for g in [1, 2, 30] {
                let kernel = Path::new(0, 0..g).kernel(log_theta);
                assert!(
                    kernel.correlations.iter().all(|c| (LEAST..=1.0 + 1e-9).contains(c)),
                    "{g} {log_theta}"
                );
                assert!(kernel.slopes.iter().all(|s| s.is_finite()));
            }
        }
        let path = Path::new(0, 1..4);
        let level = |bits: &str| path.level(&bits.bytes().map(|b| b == b'1').collect::<Vec<_>>());
        assert_eq!((level("0010"), level("1001"), level("1000"), level("0110")), (1, 2, 3, 3));
    }
}
