//! Cholesky factors and triangular solves, the same to the bit on every machine.
//!
//! Rounding differences grow: two correct samplers that add in different orders part ways within some hundred
//! steps, and the experiments that follow them too. So every number here is added up in one fixed order, with
//! plain multiplications and additions that no compiler fuses. Where speed asks for lanes, they are outputs
//! (each keeps its own order however many are computed at once), or a fixed number of partial sums ([`dot`]).
//!
//! A [`DenseFactor`] takes a whole matrix, a [`GrowingFactor`] one row at a time. Both are A = LLᵀ, both refuse what is
//! [`NotPositiveDefinite`], and both solve Lx = b by `solve` and Lᵀx = b by `solve_transposed`. They add in different orders,
//! so their last digits differ.
//!
//! Matrices are slices by rows and a size: with `ndarray` the kernels would still need slices, small factors took 6 % longer,
//! and a clean build took ten seconds more.

mod dense;
mod growing;

pub use dense::{DenseFactor, factor_in_place, factor_while};
pub use growing::GrowingFactor;

/// The matrix is not positive definite, or so nearly not that rounding decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotPositiveDefinite {
    /// The first row without a positive pivot, counted from 0.
    pub row: usize,
}

impl std::fmt::Display for NotPositiveDefinite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the matrix is not positive definite at row {}", self.row + 1)
    }
}

impl std::error::Error for NotPositiveDefinite {}

/// The square root of a pivot, where there is one.
fn root(pivot: f64, row: usize) -> Result<f64, NotPositiveDefinite> {
    if pivot > 0.0 && pivot.is_finite() { Ok(pivot.sqrt()) } else { Err(NotPositiveDefinite { row }) }
}

/// Σ aᵢbᵢ, as eight partial sums (i modulo 8) that are then added in pairs.
///
/// # Panics
/// Where the slices differ in length.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len(), "a dot product of vectors of two lengths");
    let mut sums = [0.0; 8];
    let (mut a_chunks, mut b_chunks) = (a.chunks_exact(8), b.chunks_exact(8));
    for (x, y) in (&mut a_chunks).zip(&mut b_chunks) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    for (sum, (x, y)) in sums.iter_mut().zip(a_chunks.remainder().iter().zip(b_chunks.remainder())) {
        *sum += x * y;
    }
    let [s0, s1, s2, s3, s4, s5, s6, s7] = sums;
    ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7))
}

/// y ← y + a·x.
///
/// # Panics
/// Where the slices differ in length.
pub fn add_scaled(y: &mut [f64], a: f64, x: &[f64]) {
    assert_eq!(y.len(), x.len(), "a sum of vectors of two lengths");
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dot_product_adds_every_product_once() {
        for n in [0, 1, 7, 8, 9, 31] {
            let a: Vec<f64> = (0..n).map(|i| f64::from(i) + 1.0).collect();
            let b: Vec<f64> = (0..n).map(|i| f64::from(i % 3) - 1.0).collect();
            let expected: f64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            assert_eq!(dot(&a, &b), expected, "whole numbers add without rounding, n = {n}");
        }
    }

    #[test]
    fn a_dot_product_keeps_its_order_of_addition() {
        // 1 is lost beside 1e16, so the result tells which numbers met: 1e16 and 1 in lane 0, −1e16 in lane 1.
        let mut a = [0.0; 16];
        (a[0], a[1], a[8]) = (1e16, -1e16, 1.0);
        assert_eq!(dot(&a, &[1.0; 16]), 0.0);
        // In a lane of its own the 1 meets the sum of its neighbours first: (1e16 + 1) − 1e16.
        let mut a = [0.0; 16];
        (a[0], a[4], a[2], a[6]) = (1e16, -1e16, 1.0, 1.0);
        assert_eq!(dot(&a, &[1.0; 16]), 2.0);
    }
}
