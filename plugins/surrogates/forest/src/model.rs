//! The forest: values as logarithms, trees, and the improvement to expect.

use plugin_api::{Rng, rng};

use crate::tree::{Categories, Data, Tree};

/// The least variance between trees, and what a logarithm needs above 0: SMAC's constant for both.
const VERY_SMALL: f64 = 1e-10;

/// Maps values to logarithms: ln((y − lo)/(max − lo)), lo = min − (P₅ − min) − 1e-10.
#[derive(Clone, Copy)]
pub(crate) struct LogScale {
    min: f64,
    /// min − lo.
    below: f64,
    /// max − lo.
    range: f64,
}

impl LogScale {
    /// The scale of these values, at least one.
    pub(crate) fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (sorted[0], sorted[sorted.len() - 1]);
        let below = percentile(&sorted, 0.05) - min + VERY_SMALL;
        Self { min, below, range: max - min + below }
    }

    /// Differences first: they are above 0 whatever the size of the values.
    pub(crate) fn log(&self, value: f64) -> f64 {
        libm::log((value - self.min + self.below) / self.range)
    }

    pub(crate) fn exp(&self, log: f64) -> f64 {
        self.min - self.below + libm::exp(log) * self.range
    }
}

/// The value below which this share of them lies, between two of them in proportion.
fn percentile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let low = place as usize;
    let high = (low + 1).min(sorted.len() - 1);
    sorted[low] + (place - low as f64) * (sorted[high] - sorted[low])
}

pub(crate) struct Forest {
    trees: Vec<Tree>,
    scale: LogScale,
    /// η, the lowest mean at any of the points that the forest was grown on.
    lowest: f64,
}

impl Forest {
    /// Grows a forest on rows of levels and their values, at least one.
    pub(crate) fn grow(
        levels: Vec<usize>,
        rows: Vec<Vec<u32>>,
        values: &[f64],
        categories: Categories,
        trees: usize,
        seed: u64,
    ) -> Self {
        let scale = LogScale::of(values);
        let targets = values.iter().map(|&value| scale.log(value)).collect();
        let data = Data { levels, rows, targets };
        let rng: &mut Rng = &mut rng(seed);
        let trees = (0..trees).map(|_| Tree::grow(&data, categories, rng)).collect();
        let mut forest = Self { trees, scale, lowest: f64::INFINITY };
        let means = data.rows.iter().map(|row| forest.mean_and_variance(row).0);
        forest.lowest = means.fold(f64::INFINITY, f64::min);
        forest
    }

    /// Mean and variance of the logarithm over the trees.
    fn mean_and_variance(&self, levels: &[u32]) -> (f64, f64) {
        let values = self.trees.iter().map(|tree| tree.value(levels));
        let (mean, variance) = moments(values);
        (mean, variance.max(VERY_SMALL))
    }

    /// How much lower than the lowest a value here is expected to be, on the scale of the logarithm's argument.
    pub(crate) fn improvement(&self, levels: &[u32]) -> f64 {
        let (mean, variance) = self.mean_and_variance(levels);
        expected_improvement(self.lowest, mean, variance.sqrt())
    }

    /// Mean and standard deviation of the value, over the trees.
    pub(crate) fn predict(&self, levels: &[u32]) -> (f64, f64) {
        let (mean, variance) = moments(self.trees.iter().map(|tree| self.scale.exp(tree.value(levels))));
        (mean, variance.sqrt())
    }
}

/// Mean and population variance, from differences to the first: one pass, because each value is a walk down a tree.
fn moments(mut values: impl Iterator<Item = f64>) -> (f64, f64) {
    let first = values.next().expect("a forest has trees");
    let (mut count, mut sum, mut squares) = (1.0, 0.0, 0.0);
    for value in values {
        let difference = value - first;
        count += 1.0;
        sum += difference;
        squares += difference * difference;
    }
    (first + sum / count, ((squares - sum * sum / count) / count).max(0.0))
}

/// E max(e^η − e^Y, 0) for Y ~ N(m, s²): with v = (η − m)/s, it is e^η Φ(v) − e^{m + s²/2} Φ(v − s).
fn expected_improvement(eta: f64, m: f64, s: f64) -> f64 {
    let v = (eta - m) / s;
    if s < 30.0 && v - s > -30.0 {
        return (libm::exp(eta) * normal_cdf(v) - libm::exp(m + 0.5 * s * s) * normal_cdf(v - s)).max(0.0);
    }
    // Logarithms are added before they are exponentiated: e^{s²/2} alone may be infinite.
    let gain = libm::exp(eta + log_normal_cdf(v));
    let cost = libm::exp(m + 0.5 * s * s + log_normal_cdf(v - s));
    (gain - cost).max(0.0)
}

/// Φ(x).
fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// ln Φ(x).
fn log_normal_cdf(x: f64) -> f64 {
    if x > -30.0 {
        return libm::log(normal_cdf(x));
    }
    // Φ(x) = φ(x)/(−x)·(1 − 1/x² + 3/x⁴ − …); what is left out is below 1e-10 here.
    let (square, half_log_tau) = (x * x, 0.918_938_533_204_672_8);
    -0.5 * square - half_log_tau - libm::log(-x)
        + libm::log1p((-1.0 + (3.0 - 15.0 / square) / square) / square)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_improvement_is_that_of_numerical_integration() {
        for (eta, m, s) in [
            (-1.0, -0.5, 0.3),
            (-2.0, -2.0, 1.0),
            (-0.3, -1.5, 0.2),
            (-4.0, -1.0, 0.9),
            (-1.0, -1.1, 1e-2),
            (0.0, 0.5, 3.0),
        ] {
            // Simpson's rule from ten deviations below the mean to η.
            let (low, steps) = (f64::min(m, eta) - 12.0 * s, 200_000);
            let width = (eta - low) / f64::from(steps);
            let density = |y: f64| {
                libm::exp(-0.5 * (y - m) * (y - m) / (s * s)) / (s * (2.0 * std::f64::consts::PI).sqrt())
            };
            let integrand = |k: i32| {
                let y = low + width * f64::from(k);
                (libm::exp(eta) - libm::exp(y)) * density(y)
            };
            let weight = |k: i32| {
                if k == 0 || k == steps {
                    1.0
                } else if k % 2 == 1 {
                    4.0
                } else {
                    2.0
                }
            };
            let integral = (0..=steps).map(|k| weight(k) * integrand(k)).sum::<f64>() * width / 3.0;
            let found = expected_improvement(eta, m, s);
            assert!((found - integral).abs() < 1e-9 * (integral.abs() + 1e-3), "{found} for {integral}");
        }
    }

    #[test]
    fn the_improvement_is_finite_and_not_negative_at_all_extremes() {
        for eta in [-400.0, -30.0, -1.0, 0.0] {
            for m in [-400.0, -30.0, -1.0, 0.0] {
                for s in [1e-5, 1e-2, 1.0, 30.0, 200.0] {
                    let found = expected_improvement(eta, m, s);
                    assert!(found.is_finite() && found >= 0.0, "{eta} {m} {s}: {found}");
                    assert!(found <= libm::exp(eta), "{eta} {m} {s}: {found}");
                }
            }
        }
    }

    #[test]
    fn the_tail_of_the_normal_distribution_goes_on_where_erfc_ends() {
        let by_erfc = |x: f64| libm::log(normal_cdf(x));
        for x in [-30.0, -32.5, -36.0] {
            assert!((log_normal_cdf(x) - by_erfc(x)).abs() < 1e-9, "{x}");
        }
        assert!((log_normal_cdf(0.0) - libm::log(0.5)).abs() < 1e-15);
    }

    #[test]
    fn the_scale_is_smacs() {
        // numpy.percentile(range(21), 5) is 1, so lo is −1 − 1e-10.
        let values: Vec<f64> = (0..21).map(f64::from).collect();
        let scale = LogScale::of(&values);
        for value in [0.0, 3.0, 20.0] {
            let expected = libm::log((value + 1.0 + 1e-10) / (21.0 + 1e-10));
            assert!((scale.log(value) - expected).abs() < 1e-12);
            assert!((scale.exp(scale.log(value)) - value).abs() < 1e-12);
        }
    }

    #[test]
    fn values_that_are_all_equal_or_huge_have_logarithms() {
        for values in [vec![7.5; 4], vec![1e150, -1e150, 0.0], vec![1e9, 1e9, 1e9 + 1.0], vec![5e-324, 0.0]] {
            let scale = LogScale::of(&values);
            assert!(values.iter().all(|&value| scale.log(value).is_finite()), "{values:?}");
        }
    }
}
