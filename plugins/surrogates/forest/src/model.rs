//! The forest: what is learned of values, trees, and the improvement to expect.

use plugin_api::{Rng, rng};
use shared_values::{Shift, Values, standardise};

use crate::split::Splits;
use crate::tree::{Data, Tree};

/// The least variance between trees: SMAC's.
const VERY_SMALL: f64 = 1e-10;

/// What a forest is grown with, besides the observations.
#[derive(Clone)]
pub(crate) struct Recipe {
    /// How many levels each variable has.
    pub(crate) levels: Vec<usize>,
    pub(crate) splits: Splits,
    pub(crate) values: Values,
    pub(crate) trees: usize,
}

pub(crate) struct Forest {
    trees: Vec<Tree>,
    /// Whether targets are logarithms.
    logs: bool,
    /// η, the lowest mean at any of the feasible points that the forest was grown on.
    lowest: f64,
    /// What `values: auto` chose.
    shift: Option<Shift>,
}

impl Recipe {
    /// Grows a forest on rows of levels and what was observed there, or counts for it where they are not feasible; at least one
    /// is.
    pub(crate) fn grow(&self, rows: Vec<Vec<u32>>, values: &[f64], feasible: &[bool], seed: u64) -> Forest {
        let logs = self.values == Values::Log;
        let (transformed, shift) = self.values.transform_by(values, None, |_| 0.0);
        // In units of their own spread: SMAC's small constants are made for its own logarithms.
        let targets = if logs { transformed } else { standardise(&transformed).values };
        let data = Data { levels: self.levels.clone(), rows, targets, logs, values: values.to_vec() };
        let rng: &mut Rng = &mut rng(seed);
        let trees = (0..self.trees).map(|_| Tree::grow(&data, self.splits, rng)).collect();
        let mut forest = Forest { trees, logs, lowest: f64::INFINITY, shift };
        let feasible = data.rows.iter().zip(feasible).filter(|(_, feasible)| **feasible);
        let means = feasible.map(|(row, _)| forest.mean_and_variance(row).0);
        forest.lowest = means.fold(f64::INFINITY, f64::min);
        forest
    }
}

impl Forest {
    /// Mean and variance of what is learned, over the trees.
    fn mean_and_variance(&self, levels: &[u32]) -> (f64, f64) {
        let (mean, variance) = moments(self.trees.iter().map(|tree| tree.leaf(levels).target));
        (mean, variance.max(VERY_SMALL))
    }

    /// The mean of what is learned.
    pub(crate) fn mean(&self, levels: &[u32]) -> f64 {
        self.mean_and_variance(levels).0
    }

    /// How much lower than the lowest mean a value here is expected to be: of what is learned, or where these are logarithms,
    /// of what they are logarithms of.
    pub(crate) fn improvement(&self, levels: &[u32]) -> f64 {
        let (mean, variance) = self.mean_and_variance(levels);
        let improvement = if self.logs { log_improvement } else { plain_improvement };
        improvement(self.lowest, mean, variance.sqrt())
    }

    /// Mean and standard deviation of the value, over the trees.
    pub(crate) fn predict(&self, levels: &[u32]) -> (f64, f64) {
        let (mean, variance) = moments(self.trees.iter().map(|tree| tree.leaf(levels).value));
        (mean, variance.sqrt())
    }

    pub(crate) fn trees(&self) -> &[Tree] {
        &self.trees
    }

    pub(crate) fn shift(&self) -> Option<Shift> {
        self.shift
    }
}

/// Mean and population variance of at least one value, from differences to the first: one pass, because each value is a walk down a tree.
pub(crate) fn moments(mut values: impl Iterator<Item = f64>) -> (f64, f64) {
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
fn log_improvement(eta: f64, m: f64, s: f64) -> f64 {
    let v = (eta - m) / s;
    if s < 30.0 && v - s > -30.0 {
        return (libm::exp(eta) * normal_cdf(v) - libm::exp(m + 0.5 * s * s) * normal_cdf(v - s)).max(0.0);
    }
    // Logarithms are added before they are exponentiated: e^{s²/2} alone may be infinite.
    let gain = libm::exp(eta + log_normal_cdf(v));
    let cost = libm::exp(m + 0.5 * s * s + log_normal_cdf(v - s));
    (gain - cost).max(0.0)
}

/// E max(η − Y, 0) for Y ~ N(m, s²): with v = (η − m)/s, it is (η − m) Φ(v) + s φ(v).
fn plain_improvement(eta: f64, m: f64, s: f64) -> f64 {
    let v = (eta - m) / s;
    let density = libm::exp(-0.5 * v * v - HALF_LOG_TAU);
    ((eta - m) * normal_cdf(v) + s * density).max(0.0)
}

/// ln √2π.
const HALF_LOG_TAU: f64 = 0.918_938_533_204_672_8;

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
    let square = x * x;
    -0.5 * square - HALF_LOG_TAU - libm::log(-x)
        + libm::log1p((-1.0 + (3.0 - 15.0 / square) / square) / square)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simpson's rule.
    fn integral(low: f64, high: f64, f: impl Fn(f64) -> f64) -> f64 {
        let steps = 200_000;
        let width = (high - low) / f64::from(steps);
        let weight = |k: i32| match k {
            _ if k == 0 || k == steps => 1.0,
            _ if k % 2 == 1 => 4.0,
            _ => 2.0,
        };
        (0..=steps).map(|k| weight(k) * f(low + width * f64::from(k))).sum::<f64>() * width / 3.0
    }

    const CASES: [(f64, f64, f64); 6] = [
        (-1.0, -0.5, 0.3),
        (-2.0, -2.0, 1.0),
        (-0.3, -1.5, 0.2),
        (-4.0, -1.0, 0.9),
        (-1.0, -1.1, 1e-2),
        (0.0, 0.5, 3.0),
    ];

    #[test]
    fn the_improvements_are_those_of_numerical_integration() {
        for (eta, m, s) in CASES {
            let low = f64::min(m, eta) - 12.0 * s;
            let density = |y: f64| {
                libm::exp(-0.5 * (y - m) * (y - m) / (s * s)) / (s * (2.0 * std::f64::consts::PI).sqrt())
            };
            let log = integral(low, eta, |y| (libm::exp(eta) - libm::exp(y)) * density(y));
            let plain = integral(low, eta, |y| (eta - y) * density(y));
            for (found, expected) in
                [(log_improvement(eta, m, s), log), (plain_improvement(eta, m, s), plain)]
            {
                assert!((found - expected).abs() < 1e-9 * (expected.abs() + 1e-3), "{found} for {expected}");
            }
        }
    }

    #[test]
    fn the_improvements_are_finite_and_not_negative_at_all_extremes() {
        for eta in [-400.0, -30.0, -1.0, 0.0] {
            for m in [-400.0, -30.0, -1.0, 0.0] {
                for s in [1e-5, 1e-2, 1.0, 30.0, 200.0] {
                    let (log, plain) = (log_improvement(eta, m, s), plain_improvement(eta, m, s));
                    assert!(log.is_finite() && log >= 0.0, "{eta} {m} {s}: {log}");
                    assert!(log <= libm::exp(eta), "{eta} {m} {s}: {log}");
                    assert!(plain.is_finite() && plain >= 0.0 && plain >= eta - m, "{eta} {m} {s}: {plain}");
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
    fn the_lowest_mean_is_that_of_a_point_that_was_seen() {
        let rows: Vec<Vec<u32>> = (0..16).map(|k| (0..4).map(|i| k >> i & 1).collect()).collect();
        let values: Vec<f64> = (0..16).map(|k| f64::from((k * 7 + 3) % 16)).collect();
        for transformation in [Values::Log, Values::Raw, Values::Copula, Values::Auto] {
            let recipe =
                Recipe { levels: vec![2; 4], splits: Splits::Numbers, values: transformation, trees: 10 };
            let forest = recipe.grow(rows.clone(), &values, &[true; 16], 3);
            let means = rows.iter().map(|row| forest.mean(row));
            assert_eq!(forest.lowest, means.fold(f64::INFINITY, f64::min));
            assert_eq!(forest.shift().is_some(), transformation == Values::Auto);
        }
    }

    #[test]
    fn values_that_are_all_equal_or_huge_grow_a_forest() {
        for values in [vec![7.5; 4], vec![1e150, -1e150, 0.0], vec![1e9, 1e9, 1e9 + 1.0], vec![5e-324, 0.0]] {
            for transformation in [Values::Log, Values::Raw, Values::Vizier] {
                let recipe =
                    Recipe { levels: vec![2; 2], splits: Splits::Numbers, values: transformation, trees: 3 };
                let rows: Vec<Vec<u32>> = (0..values.len() as u32).map(|k| vec![k & 1, k >> 1]).collect();
                let forest = recipe.grow(rows.clone(), &values, &vec![true; values.len()], 1);
                for row in &rows {
                    let (mean, deviation) = forest.predict(row);
                    assert!(forest.improvement(row).is_finite() && mean.is_finite() && deviation.is_finite());
                }
            }
        }
    }
}
