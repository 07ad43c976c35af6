//! The matrix of a binary quadratic program: M ∘ K with M gaussian, or one that was given.

use plugin_api::random::normal;
use plugin_api::{Error, Result, rng};

use crate::options::{Kernel, Options};

/// A square matrix, by rows.
pub(crate) struct Matrix {
    pub(crate) n: usize,
    entries: Vec<f64>,
}

impl Matrix {
    /// The matrix that the options give, or else a random one.
    pub(crate) fn new(options: &Options, seed: u64) -> Result<Self> {
        match &options.matrix {
            Some(rows) => Self::given(rows, options.n),
            None => Ok(Self::random(options, options.seed.unwrap_or(seed))),
        }
    }

    fn given(rows: &[Vec<f64>], n: usize) -> Result<Self> {
        if rows.len() != n {
            return Err(Error::option("matrix", format!("has {} rows, but `n` is {n}", rows.len())));
        }
        for (i, row) in rows.iter().enumerate() {
            let path = format!("matrix[{i}]");
            if row.len() != n {
                return Err(Error::option(path, format!("has {} numbers, but `n` is {n}", row.len())));
            }
            if let Some(j) = row.iter().position(|entry| !entry.is_finite()) {
                return Err(Error::option(format!("{path}[{j}]"), format!("is {}, not a number", row[j])));
            }
        }
        let entries = rows.concat();
        if !entries.iter().map(|entry| entry.abs()).sum::<f64>().is_finite() {
            return Err(Error::option("matrix", "adds up to more than a number can hold"));
        }
        Ok(Self { n, entries })
    }

    fn random(options: &Options, seed: u64) -> Self {
        let n = options.n;
        let mut rng = rng(seed);
        let pairs = (0..n).flat_map(|i| (0..n).map(move |j| i.abs_diff(j)));
        let entries = pairs.map(|distance| normal(&mut rng) * correlation(options, distance)).collect();
        Self { n, entries }
    }

    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.entries[i * self.n..(i + 1) * self.n]
    }

    /// xᵀQx.
    pub(crate) fn value(&self, x: &[bool]) -> f64 {
        let row_value =
            |i: usize| self.row(i).iter().zip(x).filter(|(_, set)| **set).map(|(q, _)| q).sum::<f64>();
        // From 0.0, because the sum of no rows is −0.0.
        (0..self.n).filter(|&i| x[i]).map(row_value).fold(0.0, |sum, value| sum + value)
    }
}

/// K_ij for |i − j| = `distance`.
fn correlation(options: &Options, distance: usize) -> f64 {
    let (distance, alpha) = (distance as f64, options.alpha);
    libm::exp(match options.kernel {
        // Divided before it is squared: α² is 0 for the smallest α.
        Kernel::Paper => -(distance / alpha) * (distance / alpha),
        Kernel::Code => -distance * distance / alpha,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::golden;

    #[test]
    fn both_kernels_are_those_of_the_reference() {
        for case in golden() {
            for reference in case.kernels {
                let options = Options { alpha: case.alpha, kernel: reference.kernel, ..Options::default() };
                for (distance, &expected) in reference.correlation.iter().enumerate() {
                    let found = correlation(&options, distance);
                    assert!((found - expected).abs() <= 1e-9 * expected, "{found} for {expected}");
                }
            }
        }
    }

    #[test]
    fn the_smallest_alpha_leaves_the_diagonal() {
        for kernel in [Kernel::Paper, Kernel::Code] {
            let options = Options { alpha: f64::MIN_POSITIVE, kernel, ..Options::default() };
            assert_eq!((correlation(&options, 0), correlation(&options, 1)), (1.0, 0.0));
        }
    }

    #[test]
    fn random_entries_have_the_variance_of_their_distance() {
        let options = Options { n: 500, alpha: 2.0, ..Options::default() };
        let matrix = Matrix::random(&options, 3);
        for distance in [0, 1, 2] {
            let entries: Vec<f64> = (0..500 - distance).map(|i| matrix.row(i)[i + distance]).collect();
            let expected = correlation(&options, distance) * correlation(&options, distance);
            let variance = entries.iter().map(|q| q * q).sum::<f64>() / entries.len() as f64;
            // The variance of 500 squared normal draws is 2/500: five of its standard deviations.
            assert!((variance / expected - 1.0).abs() < 5.0 * (2.0f64 / 500.0).sqrt(), "{variance}");
        }
    }
}
