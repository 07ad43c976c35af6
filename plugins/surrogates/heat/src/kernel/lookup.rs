//! Products of numbers from tables.

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
