//! Products of numbers from tables, sums of squares, sums with signs.

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

/// `R` is not used, as above.
#[inline(always)]
pub(super) fn signed_sum<const R: usize>(
    masks: &[[u64; WIDTH]],
    weights: &[[f64; WIDTH]],
    point: &[u64],
) -> f64 {
    let mut sums = [0.0; WIDTH];
    for (masks, weights) in masks.chunks_exact(point.len().max(1)).zip(weights) {
        let mut odd = [0; WIDTH];
        for (mask, bits) in masks.iter().zip(point) {
            odd.iter_mut().zip(mask).for_each(|(odd, mask)| *odd ^= mask & bits);
        }
        // The lowest bit becomes the parity of all, and then the sign of the weight.
        for shift in [32, 16, 8, 4, 2, 1] {
            odd.iter_mut().for_each(|odd| *odd ^= *odd >> shift);
        }
        for ((sum, weight), odd) in sums.iter_mut().zip(weights).zip(odd) {
            *sum += f64::from_bits(weight.to_bits() ^ odd << 63);
        }
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::super::Kernel;
    use super::*;

    #[test]
    fn signs_are_the_parities_of_bits_in_masks() {
        let masks: Vec<[u64; WIDTH]> = (0..6)
            .map(|i| std::array::from_fn(|w| 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(8 * i + w as u64 + 1)))
            .collect();
        let weights: Vec<[f64; WIDTH]> =
            (0..3).map(|i| std::array::from_fn(|w| (i * 8 + w) as f64 + 0.5)).collect();
        let point = [0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210];
        let mut expected = 0.0;
        for (i, weights) in weights.iter().enumerate() {
            for (w, weight) in weights.iter().enumerate() {
                let ones: u32 = (0..2).map(|word| (masks[2 * i + word][w] & point[word]).count_ones()).sum();
                expected += if ones.is_multiple_of(2) { *weight } else { -weight };
            }
        }
        for kernel in Kernel::available() {
            assert_eq!(kernel.signed_sum(&masks, &weights, &point), expected, "{}", kernel.name());
        }
    }
}
