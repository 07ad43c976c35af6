//! A quadratic function of bits: c + Σ bᵢ xᵢ + Σ_{i<j} aᵢⱼ xᵢ xⱼ.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// A constant, a linear term for each bit, and a term for each pair of bits.
///
/// Pairs stand in the order (0,1), (0,2), …, (1,2), …: the upper triangle by rows.
///
/// ```
/// use plugin_api::Quadratic;
///
/// let mut f = Quadratic::zero(3);
/// f.add_linear(0, -1.0);
/// f.add_pair(0, 2, 4.0);
/// assert_eq!(f.value(&[true, false, true]), 3.0);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quadratic {
    constant: f64,
    linear: Vec<f64>,
    pairs: Vec<f64>,
}

impl Quadratic {
    /// The function of `n` bits that is 0 everywhere.
    pub fn zero(n: usize) -> Self {
        Self { constant: 0.0, linear: vec![0.0; n], pairs: vec![0.0; pair_count(n)] }
    }

    /// A function of `linear.len()` bits; refuses a wrong number of pairs and values that are not finite.
    pub fn new(constant: f64, linear: Vec<f64>, pairs: Vec<f64>) -> Result<Self> {
        let n = linear.len();
        if pairs.len() != pair_count(n) {
            let (found, expected) = (pairs.len(), pair_count(n));
            return Err(Error::new(format!("{found} pairs for {n} bits, which have {expected}")));
        }
        let all = std::iter::once(&constant).chain(&linear).chain(&pairs);
        if let Some(bad) = all.into_iter().find(|value| !value.is_finite()) {
            return Err(Error::new(format!("a coefficient is {bad}")));
        }
        Ok(Self { constant, linear, pairs })
    }

    /// Constant, linear coefficients and pairs, as [`new`](Self::new) takes them.
    pub fn into_parts(self) -> (f64, Vec<f64>, Vec<f64>) {
        (self.constant, self.linear, self.pairs)
    }

    /// How many bits the function takes.
    pub fn dimension(&self) -> usize {
        self.linear.len()
    }

    /// The value where no bit is set.
    pub fn constant(&self) -> f64 {
        self.constant
    }

    /// One coefficient a bit.
    pub fn linear(&self) -> &[f64] {
        &self.linear
    }

    /// One coefficient a pair, the upper triangle by rows.
    pub fn pairs(&self) -> &[f64] {
        &self.pairs
    }

    /// The coefficients of the pairs (i, i+1), (i, i+2), ….
    pub fn row(&self, i: usize) -> &[f64] {
        let start = self.pair_index(i, i + 1);
        &self.pairs[start..start + self.dimension() - i - 1]
    }

    /// The coefficient of the pair of `i` and `j`, which differ, in either order.
    pub fn pair(&self, i: usize, j: usize) -> f64 {
        self.pairs[self.pair_index(i.min(j), i.max(j))]
    }

    /// Adds to the constant.
    pub fn add_constant(&mut self, value: f64) {
        self.constant += value;
    }

    /// Adds to the coefficient of bit `i`.
    pub fn add_linear(&mut self, i: usize, value: f64) {
        self.linear[i] += value;
    }

    /// Adds to the coefficient of the pair of `i` and `j`, which differ, in either order.
    pub fn add_pair(&mut self, i: usize, j: usize, value: f64) {
        let index = self.pair_index(i.min(j), i.max(j));
        self.pairs[index] += value;
    }

    /// The value at `bits`.
    ///
    /// # Panics
    /// Where `bits` has another length than the function's dimension.
    pub fn value(&self, bits: &[bool]) -> f64 {
        assert_eq!(bits.len(), self.dimension(), "bits for a function of another dimension");
        let mut total = self.constant;
        let mut start = 0;
        for (i, &bit) in bits.iter().enumerate() {
            let length = bits.len() - i - 1;
            if bit {
                let row = &self.pairs[start..start + length];
                let set = row.iter().zip(&bits[i + 1..]).filter(|&(_, &other)| other);
                total += self.linear[i] + set.map(|(a, _)| a).sum::<f64>();
            }
            start += length;
        }
        total
    }

    /// What the value gains when bit `i` is turned over: value(after) − value(before).
    pub fn flip_gain(&self, bits: &[bool], i: usize) -> f64 {
        let others = (0..bits.len()).filter(|&j| j != i && bits[j]);
        let slope = self.linear[i] + others.map(|j| self.pair(i, j)).sum::<f64>();
        if bits[i] { -slope } else { slope }
    }

    /// The pairs as a full symmetric matrix by rows, with zeros on the diagonal.
    pub fn symmetric(&self) -> Vec<f64> {
        let n = self.dimension();
        let mut matrix = vec![0.0; n * n];
        for i in 0..n {
            for (offset, &a) in self.row(i).iter().enumerate() {
                let j = i + 1 + offset;
                matrix[i * n + j] = a;
                matrix[j * n + i] = a;
            }
        }
        matrix
    }

    fn pair_index(&self, i: usize, j: usize) -> usize {
        let n = self.dimension();
        assert!(i < j && j <= n, "a pair of ({i}, {j}) among {n} bits");
        i * (2 * n - i - 1) / 2 + (j - i - 1)
    }
}

fn pair_count(n: usize) -> usize {
    n * n.saturating_sub(1) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    /// f(x) = 1 + 2x₀ − x₁ + 3x₂ + 5x₀x₁ − 7x₀x₂ + 11x₁x₂
    fn example() -> Quadratic {
        Quadratic::new(1.0, vec![2.0, -1.0, 3.0], vec![5.0, -7.0, 11.0]).unwrap()
    }

    #[test]
    fn the_value_is_the_formula() {
        let expected = [1.0, 3.0, 0.0, 7.0, 4.0, -1.0, 14.0, 14.0];
        for (mask, expected) in expected.into_iter().enumerate() {
            let bits: Vec<bool> = (0..3).map(|i| mask >> i & 1 == 1).collect();
            assert_eq!(example().value(&bits), expected, "{bits:?}");
        }
    }

    #[test]
    fn a_flip_gain_is_a_difference_of_values() {
        let f = example();
        for mask in 0..8 {
            let bits: Vec<bool> = (0..3).map(|i| mask >> i & 1 == 1).collect();
            for i in 0..3 {
                let mut flipped = bits.clone();
                flipped[i] = !flipped[i];
                assert_eq!(f.flip_gain(&bits, i), f.value(&flipped) - f.value(&bits));
            }
        }
    }

    #[test]
    fn pairs_are_found_in_either_order() {
        let f = example();
        assert_eq!((f.pair(0, 1), f.pair(2, 0), f.pair(1, 2)), (5.0, -7.0, 11.0));
        assert_eq!(f.row(0), [5.0, -7.0]);
        assert!(f.row(2).is_empty());
        assert_eq!(f.symmetric(), [0.0, 5.0, -7.0, 5.0, 0.0, 11.0, -7.0, 11.0, 0.0]);
    }

    #[test]
    fn wrong_parts_are_refused() {
        assert!(Quadratic::new(0.0, vec![0.0; 3], vec![0.0; 2]).is_err());
        assert!(Quadratic::new(f64::NAN, vec![], vec![]).is_err());
    }

    #[test]
    fn no_bits_are_a_constant() {
        assert_eq!(Quadratic::zero(0).value(&[]), 0.0);
    }
}
