//! Products of numbers from tables, and sums of squares.

use super::WIDTH;

/// `R` is not used: a row is one point.
#[inline(always)]
pub(super) fn products<const R: usize>(
    tables: &[[f64; 256]],
    row: &[u8],
    columns: &[[u8; WIDTH]],
) -> [f64; WIDTH] {
    let mut products = [1.0; WIDTH];
    for ((table, a), b) in tables.iter().zip(row).zip(columns) {
        let factors: [f64; WIDTH] = std::array::from_fn(|w| table[usize::from(a ^ b[w])]);
        products.iter_mut().zip(factors).for_each(|(product, factor)| *product *= factor);
    }
    products
}

/// `R` is not used, as above.
#[inline(always)]
pub(super) fn distances<const R: usize>(
    scales: &[f64],
    row: &[f64],
    columns: &[[f64; WIDTH]],
) -> [f64; WIDTH] {
    let mut sums = [0.0; WIDTH];
    for ((scale, a), b) in scales.iter().zip(row).zip(columns) {
        for (sum, b) in sums.iter_mut().zip(b) {
            let off = a - b;
            *sum += scale * (off * off);
        }
    }
    sums
}
