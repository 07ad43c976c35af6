//! The terms of a polynomial of bits, in the order of a quadratic's coefficients.
//!
//! A model that is linear in its coefficients sees a string of bits as the values of its terms: x₀, x₁, … and,
//! to second order, x₀x₁, x₀x₂, …, x₁x₂, …; to third, x₀x₁x₂, x₀x₁x₃, …, x₁x₂x₃, …. They are 0 or 1, so the list of
//! those that are 1 says it all.

use plugin_api::Layout;

/// Which terms there are for strings of `bits` bits.
#[derive(Clone, Debug)]
pub struct Terms {
    bits: usize,
    order: usize,
    /// For each pair of bits, whether the rules keep the two from being set at once.
    exclusive: Vec<bool>,
}

impl Terms {
    /// The terms of up to `order` bits of a layout.
    ///
    /// # Panics
    /// For another order than 1, 2 or 3, or more terms than a `u32` counts.
    pub fn new(layout: &Layout, order: usize) -> Self {
        let bits = layout.dimension();
        assert!((1..=3).contains(&order), "terms of order {order}");
        assert!(bits < [1 << 31, 1 << 16, 1 << 11][order - 1], "terms of {bits} bits");
        let exclusive = if order >= 2 { layout.exclusive_pairs() } else { Vec::new() };
        Self { bits, order, exclusive }
    }

    /// How many bits there are.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// The most bits in one term.
    pub fn order(&self) -> usize {
        self.order
    }

    /// How many terms there are.
    pub fn count(&self) -> usize {
        (1..=self.order).map(|size| choose(self.bits, size)).sum()
    }

    /// The terms that are 1 at `bits`, in ascending order.
    ///
    /// # Panics
    /// Where `bits` has another length than the terms were made for.
    pub fn of(&self, bits: &[bool]) -> Vec<u32> {
        assert_eq!(bits.len(), self.bits, "terms of a string of another length");
        let set: Vec<u32> = (0..self.bits as u32).filter(|&i| bits[i as usize]).collect();
        self.of_set(&set)
    }

    /// The terms that are 1 where these bits are set and no others, in ascending order; as the bits are.
    pub fn of_set(&self, set: &[u32]) -> Vec<u32> {
        let mut terms = set.to_vec();
        let after = |rank: usize| set[rank + 1..].iter().map(|&bit| bit as usize);
        if self.order >= 2 {
            for (rank, &i) in set.iter().enumerate() {
                terms.extend(after(rank).map(|j| self.pair(i as usize, j) as u32));
            }
        }
        if self.order >= 3 {
            for (rank, &i) in set.iter().enumerate() {
                for (other, j) in (rank + 1..).zip(after(rank)) {
                    terms.extend(after(other).map(|m| self.triple(i as usize, j, m) as u32));
                }
            }
        }
        terms
    }

    /// Which terms are 0 whatever the point: those of two bits that the rules keep from being set at once, such as two of
    /// one group. They need no coefficient.
    pub fn impossible(&self) -> Vec<bool> {
        let mut impossible = vec![false; self.bits];
        impossible.extend(&self.exclusive);
        impossible.resize(self.count(), false);
        if self.order >= 3 {
            let pairs = (0..self.bits).flat_map(|i| (i + 1..self.bits).map(move |j| (i, j)));
            for ((i, j), _) in pairs.zip(&self.exclusive).filter(|(_, exclusive)| **exclusive) {
                for m in (0..self.bits).filter(|&m| m != i && m != j) {
                    let (first, last) = (m.min(i), m.max(j));
                    impossible[self.triple(first, i + j + m - first - last, last)] = true;
                }
            }
        }
        impossible
    }

    /// The terms that are not [impossible](Self::impossible), each with its bits, in ascending order.
    pub fn possible(&self) -> impl Iterator<Item = (usize, Vec<usize>)> {
        let (n, order) = (self.bits, self.order);
        let impossible = self.impossible();
        let pairs =
            (0..if order >= 2 { n } else { 0 }).flat_map(move |i| (i + 1..n).map(move |j| vec![i, j]));
        let triples = (0..if order >= 3 { n } else { 0 })
            .flat_map(move |i| (i + 1..n).flat_map(move |j| (j + 1..n).map(move |m| vec![i, j, m])));
        let all = (0..n).map(|i| vec![i]).chain(pairs).chain(triples);
        all.enumerate().filter(move |(term, _)| !impossible[*term])
    }

    /// One number a term, as one a bit and one a pair of bits.
    ///
    /// # Panics
    /// Where there are not as many numbers as terms, or terms of three bits.
    pub fn bits_and_pairs(&self, mut coefficients: Vec<f64>) -> (Vec<f64>, Vec<f64>) {
        assert_eq!(coefficients.len(), self.count(), "coefficients of other terms");
        assert!(self.order <= 2, "terms of three bits among bits and pairs");
        coefficients.resize(self.bits + choose(self.bits, 2), 0.0);
        let pairs = coefficients.split_off(self.bits);
        (coefficients, pairs)
    }

    fn pair(&self, i: usize, j: usize) -> usize {
        let n = self.bits;
        n + i * (2 * n - i - 1) / 2 + (j - i - 1)
    }

    fn triple(&self, i: usize, j: usize, m: usize) -> usize {
        // Those of a smaller first bit, those of a smaller second one, and those before.
        let (n, after) = (self.bits, self.bits - i - 1);
        let first = n + choose(n, 2) + choose(n, 3) - choose(n - i, 3);
        first + choose(after, 2) - choose(n - j, 2) + (m - j - 1)
    }
}

/// How many sets of `size` there are, of `n`.
fn choose(n: usize, size: usize) -> usize {
    (0..size).fold(1, |sets, taken| sets * n.saturating_sub(taken) / (taken + 1))
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
    use plugin_api::{Constraint, Literal};

    use super::*;

    #[test]
    fn each_term_has_the_bits_that_make_it_1() {
        for (order, groups) in
            [(1, vec![]), (2, vec![]), (3, vec![]), (3, vec![1..3, 4..6]), (2, vec![0..2, 2..6])]
        {
            let terms = Terms::new(&Layout::with_groups(6, groups).unwrap(), order);
            let impossible = terms.impossible();
            let mut found = 0;
            for (term, bits) in terms.possible() {
                let set: Vec<u32> = bits.iter().map(|&bit| bit as u32).collect();
                // It is the last of the terms that these bits make 1, and its bits are all of them.
                assert_eq!(terms.of_set(&set).last(), Some(&(term as u32)), "{bits:?}");
                assert!(!impossible[term]);
                found += 1;
            }
            assert_eq!(found, impossible.iter().filter(|&&impossible| !impossible).count());
        }
    }

    #[test]
    fn a_linear_form_in_the_terms_is_the_quadratic_function() {
        // f(x) = 2x₀ − x₁ + 3x₂ + 5x₀x₁ − 7x₀x₂ + 11x₁x₂
        let coefficients = [2.0, -1.0, 3.0, 5.0, -7.0, 11.0];
        let terms = Terms::new(&Layout::free(3), 2);
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
        let terms = Terms::new(&Layout::free(4), 1);
        assert_eq!((terms.count(), terms.of(&[true, false, false, true])), (4, vec![0, 3]));
        assert_eq!(terms.bits_and_pairs(vec![1.0; 4]), (vec![1.0; 4], vec![0.0; 6]));
        assert_eq!(Terms::new(&Layout::free(0), 2).count(), 0);
    }

    #[test]
    fn pairs_inside_a_group_are_impossible_and_those_that_a_rule_excludes() {
        let layout = Layout::with_groups(4, vec![0..2, 2..4]).unwrap();
        let impossible = Terms::new(&layout, 2).impossible();
        let expected: Vec<usize> = vec![4, 9]; // x₀x₁ and x₂x₃
        assert_eq!((0..10).filter(|&k| impossible[k]).collect::<Vec<_>>(), expected);
        let of = (0..3).map(|bit| Literal::new(bit, 1)).collect();
        let layout = Layout::free(4).with_constraints(vec![Constraint::AtMost { count: 1, of }]).unwrap();
        let impossible = Terms::new(&layout, 2).impossible();
        // x₀x₁, x₀x₂ and x₁x₂
        assert_eq!((0..10).filter(|&k| impossible[k]).collect::<Vec<_>>(), [4, 5, 7]);
    }

    #[test]
    fn third_order_terms_come_after_the_pairs_in_ascending_order() {
        for n in [3, 4, 7] {
            let terms = Terms::new(&Layout::free(n), 3);
            assert_eq!(terms.of(&vec![true; n]), (0..terms.count() as u32).collect::<Vec<_>>());
        }
        // 5 bits and 10 pairs; the triples 012, 013, 014, 023, 024, 034, 123, 124, …
        let terms = Terms::new(&Layout::with_groups(5, vec![0..2, 3..5]).unwrap(), 3);
        assert_eq!(
            (terms.count(), terms.of(&[false, true, true, false, true])),
            (25, vec![1, 2, 4, 9, 11, 13, 22])
        );
        let impossible = terms.impossible();
        let triples: Vec<usize> = (15..25).filter(|&k| impossible[k]).collect();
        // 012, 013, 014, 034, 134, 234: those with both of 0 and 1, or both of 3 and 4.
        assert_eq!(triples, [15, 16, 17, 20, 23, 24]);
        assert_eq!((0..15).filter(|&k| impossible[k]).collect::<Vec<_>>(), [5, 14]);
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
