//! Bits as spins, s = 2x − 1, and the features of a point: each s_i, and each s_i s_j of two bits that are not of one group.
//!
//! A vector of one number a feature has the order of a quadratic function: the bits, then the upper triangle of pairs by
//! rows. Pairs inside a group are there too, and are 0.

use std::ops::Range;

use shared_linalg::{add_scaled, dot};

/// Which features there are.
#[derive(Clone, Debug)]
pub(crate) struct Spins {
    bits: usize,
    groups: Vec<Range<usize>>,
}

/// What two points have in common: Σ s_i s'_i, and the same over pairs. Whole numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Overlap {
    pub(crate) bits: f64,
    pub(crate) pairs: f64,
}

impl Spins {
    pub(crate) fn new(bits: usize, groups: &[Range<usize>]) -> Self {
        Self { bits, groups: groups.to_vec() }
    }

    pub(crate) fn bits(&self) -> usize {
        self.bits
    }

    /// How many numbers a vector of features has.
    pub(crate) fn count(&self) -> usize {
        self.bits + self.bits * self.bits.saturating_sub(1) / 2
    }

    /// 1 for each bit set, −1 for the others.
    pub(crate) fn of(&self, bits: &[bool]) -> Vec<f64> {
        assert_eq!(bits.len(), self.bits, "spins of a string of another length");
        bits.iter().map(|&bit| if bit { 1.0 } else { -1.0 }).collect()
    }

    pub(crate) fn overlap(&self, one: &[f64], other: &[f64]) -> Overlap {
        // (Σ a_i)² = Σ a_i² + 2 Σ a_i a_j with a_i = s_i s'_i, whose squares are 1.
        let pairs = |range: Range<usize>| {
            let sum = dot(&one[range.clone()], &other[range.clone()]);
            0.5 * (sum * sum - range.len() as f64)
        };
        let inside: f64 = self.groups.iter().cloned().map(pairs).sum();
        Overlap { bits: dot(one, other), pairs: pairs(0..self.bits) - inside }
    }

    /// What a point has in common with itself: how many features of each kind there are.
    pub(crate) fn own_overlap(&self) -> Overlap {
        let ones = vec![1.0; self.bits];
        self.overlap(&ones, &ones)
    }

    /// Sets the pairs inside groups to 0.
    pub(crate) fn clear_impossible(&self, features: &mut [f64]) {
        for group in &self.groups {
            for i in group.clone() {
                let start = self.row(i);
                features[start..start + group.end - i - 1].fill(0.0);
            }
        }
    }

    /// The sum of the features of a point, each times a number.
    pub(crate) fn sum(&self, numbers: &[f64], spins: &[f64]) -> f64 {
        let sums = (0..self.bits).map(|i| {
            let row = &numbers[self.row(i)..][..self.bits - i - 1];
            spins[i] * (numbers[i] + dot(row, &spins[i + 1..]))
        });
        sums.sum()
    }

    /// Adds to each number a feature of a point, times `weight`.
    pub(crate) fn add(&self, numbers: &mut [f64], weight: f64, spins: &[f64]) {
        let (linear, mut pairs) = numbers.split_at_mut(self.bits);
        add_scaled(linear, weight, spins);
        for i in 0..self.bits {
            let (row, rest) = pairs.split_at_mut(self.bits - i - 1);
            add_scaled(row, weight * spins[i], &spins[i + 1..]);
            pairs = rest;
        }
    }

    /// A constant and a number a feature, as constant, linear terms and pairs of a function of bits:
    /// s_i = 2x_i − 1, s_i s_j = 4x_i x_j − 2x_i − 2x_j + 1.
    pub(crate) fn to_bits(&self, constant: f64, mut features: Vec<f64>) -> (f64, Vec<f64>, Vec<f64>) {
        let mut pairs = features.split_off(self.bits);
        let mut linear: Vec<f64> = features.iter().map(|b| 2.0 * b).collect();
        let constant = constant - features.iter().sum::<f64>() + pairs.iter().sum::<f64>();
        let mut k = 0;
        for i in 0..self.bits {
            for j in i + 1..self.bits {
                linear[i] -= 2.0 * pairs[k];
                linear[j] -= 2.0 * pairs[k];
                pairs[k] *= 4.0;
                k += 1;
            }
        }
        (constant, linear, pairs)
    }

    /// The pairs that are features, with their place among the numbers.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        let all = (0..self.bits).flat_map(move |i| (i + 1..self.bits).map(move |j| (i, j)));
        let apart = |i: usize, j: usize| !self.groups.iter().any(|g| g.contains(&i) && g.contains(&j));
        all.filter(move |&(i, j)| apart(i, j)).map(|(i, j)| (i, j, self.row(i) + j - i - 1))
    }

    /// Where the pairs (i, i+1), (i, i+2), … start.
    fn row(&self, i: usize) -> usize {
        self.bits + i * (2 * self.bits - i - 1) / 2
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::random::normal;
    use plugin_api::{Layout, Quadratic, rng};

    use super::*;

    fn layouts() -> Vec<Layout> {
        let groups = Layout::with_groups(7, vec![0..2, 3..6]).unwrap();
        vec![Layout::free(0), Layout::free(1), Layout::free(6), groups]
    }

    /// The features by their definition.
    fn features(layout: &Layout, spins: &[f64]) -> Vec<f64> {
        let mut features = spins.to_vec();
        for i in 0..spins.len() {
            for j in i + 1..spins.len() {
                let inside = layout.groups().iter().any(|g| g.contains(&i) && g.contains(&j));
                features.push(if inside { 0.0 } else { spins[i] * spins[j] });
            }
        }
        features
    }

    #[test]
    fn overlaps_sums_and_additions_are_those_of_the_features() {
        let mut rng = rng(2);
        for layout in layouts() {
            let spins = Spins::new(layout.dimension(), layout.groups());
            let (a, b) = (spins.of(&layout.random(&mut rng)), spins.of(&layout.random(&mut rng)));
            let (fa, fb) = (features(&layout, &a), features(&layout, &b));
            let product: Vec<f64> = fa.iter().zip(&fb).map(|(a, b)| a * b).collect();
            let (bits, pairs) = product.split_at(layout.dimension());
            assert_eq!(spins.overlap(&a, &b), Overlap { bits: bits.iter().sum(), pairs: pairs.iter().sum() });
            let own = fa.iter().filter(|f| **f != 0.0).count() as f64;
            assert_eq!(spins.own_overlap().bits + spins.own_overlap().pairs, own);

            let mut numbers: Vec<f64> = (0..spins.count()).map(|_| normal(&mut rng)).collect();
            spins.clear_impossible(&mut numbers);
            let expected: f64 = numbers.iter().zip(&fa).map(|(n, f)| n * f).sum();
            assert!((spins.sum(&numbers, &a) - expected).abs() < 1e-13);
            let before = numbers.clone();
            spins.add(&mut numbers, 0.5, &a);
            spins.clear_impossible(&mut numbers);
            for ((after, before), f) in numbers.iter().zip(&before).zip(&fa) {
                assert_eq!(*after, before + 0.5 * f);
            }
            assert_eq!(spins.pairs().count(), fa[layout.dimension()..].iter().filter(|f| **f != 0.0).count());
            assert!(spins.pairs().all(|(i, j, k)| fa[k] == a[i] * a[j]));
        }
    }

    #[test]
    fn a_function_of_spins_is_the_same_function_of_bits() {
        let mut rng = rng(3);
        for layout in layouts() {
            let spins = Spins::new(layout.dimension(), layout.groups());
            let mut numbers: Vec<f64> = (0..spins.count()).map(|_| normal(&mut rng)).collect();
            spins.clear_impossible(&mut numbers);
            let (constant, linear, pairs) = spins.to_bits(0.75, numbers.clone());
            let f = Quadratic::new(constant, linear, pairs).unwrap();
            for mask in 0..1u32 << layout.dimension() {
                let x: Vec<bool> = (0..layout.dimension()).map(|i| mask >> i & 1 == 1).collect();
                let expected = 0.75 + spins.sum(&numbers, &spins.of(&x));
                assert!((f.value(&x) - expected).abs() < 1e-12);
            }
        }
    }
}
