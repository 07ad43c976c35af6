//! The terms of a polynomial of bits, in the order of a quadratic's coefficients.
//!
//! A model that is linear in its coefficients sees a string of bits as the values of its terms: x₀, x₁, … and,
//! to second order, x₀x₁, x₀x₂, …, x₁x₂, …. They are 0 or 1, so the list of those that are 1 says it all.

use std::ops::Range;

/// Which terms there are for strings of `bits` bits.
#[derive(Clone, Debug)]
pub struct Terms {
    bits: usize,
    order: usize,
    groups: Vec<Range<usize>>,
}

impl Terms {
    /// The terms of one bit, and for `order` 2 those of two; of each group exactly one bit is set.
    ///
    /// # Panics
    /// For another order than 1 or 2, or more bits than have terms that a `u32` counts.
    pub fn new(bits: usize, order: usize, groups: &[Range<usize>]) -> Self {
        assert!(order == 1 || order == 2, "terms of order {order}");
        assert!(bits < 1 << 16, "terms of {bits} bits");
        Self { bits, order, groups: groups.to_vec() }
    }

    /// How many terms there are.
    pub fn count(&self) -> usize {
        match self.order {
            1 => self.bits,
            _ => self.bits + self.bits * self.bits.saturating_sub(1) / 2,
        }
    }

    /// The terms that are 1 at `bits`, in ascending order.
    ///
    /// # Panics
    /// Where `bits` has another length than the terms were made for.
    pub fn of(&self, bits: &[bool]) -> Vec<u32> {
        assert_eq!(bits.len(), self.bits, "terms of a string of another length");
        let set: Vec<usize> = (0..bits.len()).filter(|&i| bits[i]).collect();
        let mut terms: Vec<u32> = set.iter().map(|&i| i as u32).collect();
        if self.order == 2 {
            for (rank, &i) in set.iter().enumerate() {
                terms.extend(set[rank + 1..].iter().map(|&j| self.pair(i, j) as u32));
            }
        }
        terms
    }

    /// Which terms are 0 whatever the point: the pairs inside a group.
    pub fn impossible(&self) -> Vec<bool> {
        let mut impossible = vec![false; self.count()];
        if self.order == 2 {
            for group in &self.groups {
                for i in group.clone() {
                    (i + 1..group.end).for_each(|j| impossible[self.pair(i, j)] = true);
                }
            }
        }
        impossible
    }

    /// One number a term, as one a bit and one a pair of bits.
    ///
    /// # Panics
    /// Where there are not as many numbers as terms.
    pub fn bits_and_pairs(&self, mut coefficients: Vec<f64>) -> (Vec<f64>, Vec<f64>) {
        assert_eq!(coefficients.len(), self.count(), "coefficients of other terms");
        coefficients.resize(self.bits + self.bits * self.bits.saturating_sub(1) / 2, 0.0);
        let pairs = coefficients.split_off(self.bits);
        (coefficients, pairs)
    }

    fn pair(&self, i: usize, j: usize) -> usize {
        let n = self.bits;
        n + i * (2 * n - i - 1) / 2 + (j - i - 1)
    }
}

/// Σ `values[k]` over `terms`, as four partial sums (every fourth term) that are then added in pairs.
pub fn sum_at(values: &[f64], terms: &[u32]) -> f64 {
    let mut sums = [0.0; 4];
    let chunks = terms.chunks_exact(4);
    for (sum, &term) in sums.iter_mut().zip(chunks.remainder()) {
        *sum += values[term as usize];
    }
    for chunk in chunks {
        for (sum, &term) in sums.iter_mut().zip(chunk) {
            *sum += values[term as usize];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// Adds `value` to `values[k]` for each of `terms`.
pub fn add_at(values: &mut [f64], terms: &[u32], value: f64) {
    for &term in terms {
        values[term as usize] += value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_form_in_the_terms_is_the_quadratic_function() {
        // f(x) = 2x₀ − x₁ + 3x₂ + 5x₀x₁ − 7x₀x₂ + 11x₁x₂
        let coefficients = [2.0, -1.0, 3.0, 5.0, -7.0, 11.0];
        let terms = Terms::new(3, 2, &[]);
        for (mask, expected) in [0.0, 2.0, -1.0, 6.0, 3.0, -2.0, 13.0, 13.0].into_iter().enumerate() {
            let bits: Vec<bool> = (0..3).map(|i| mask >> i & 1 == 1).collect();
            assert_eq!(sum_at(&coefficients, &terms.of(&bits)), expected, "{bits:?}");
        }
        assert_eq!(
            terms.bits_and_pairs(coefficients.to_vec()),
            (vec![2.0, -1.0, 3.0], vec![5.0, -7.0, 11.0]),
            "the order of a quadratic function's coefficients"
        );
    }

    #[test]
    fn first_order_terms_are_the_bits() {
        let terms = Terms::new(4, 1, &[]);
        assert_eq!((terms.count(), terms.of(&[true, false, false, true])), (4, vec![0, 3]));
        assert_eq!(terms.bits_and_pairs(vec![1.0; 4]), (vec![1.0; 4], vec![0.0; 6]));
        assert_eq!(Terms::new(0, 2, &[]).count(), 0);
    }

    #[test]
    fn only_pairs_inside_a_group_are_impossible() {
        let impossible = Terms::new(4, 2, &[0..2, 2..4]).impossible();
        let expected: Vec<usize> = vec![4, 9]; // x₀x₁ and x₂x₃
        assert_eq!((0..10).filter(|&k| impossible[k]).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn sums_at_terms_and_additions_at_terms_agree() {
        let values: Vec<f64> = (0..20).map(f64::from).collect();
        for length in 0..12 {
            let terms: Vec<u32> = (0..length).map(|k| (k * 7) % 20).collect();
            let mut counts = vec![0.0; 20];
            add_at(&mut counts, &terms, 1.0);
            let expected: f64 = counts.iter().zip(&values).map(|(c, v)| c * v).sum();
            assert_eq!(sum_at(&values, &terms), expected);
        }
    }
}
