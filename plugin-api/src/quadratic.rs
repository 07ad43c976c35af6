//! A quadratic function of bits: c + Σ bᵢ xᵢ + Σ_{i<j} aᵢⱼ xᵢ xⱼ.

use std::fmt;
use std::ops::Range;

use ndarray::{ArrayView2, ArrayViewMut2};
use serde::{Deserialize, Serialize};

use crate::abi::shared::SharedQuadratic;
use crate::acquisition::{each_row, set_bit};
use crate::{Error, Result};

/// A constant, a linear term for each bit, and a term for each pair of bits.
///
/// Pairs stand in the order (0,1), (0,2), …, (1,2), …: the upper triangle by rows. Clones share the coefficients, and so
/// do the host and its plugins: handing one over copies nothing, and a change copies what others hold too.
///
/// ```
/// use plugin_api::Quadratic;
///
/// let mut f = Quadratic::zero(3);
/// f.add_linear(0, -1.0);
/// f.add_pair(0, 2, 4.0);
/// assert_eq!(f.value(&[true, false, true]), 3.0);
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Quadratic(SharedQuadratic);

/// A function as it is written.
#[derive(Serialize, Deserialize)]
struct Parts {
    constant: f64,
    linear: Vec<f64>,
    pairs: Vec<f64>,
}

impl TryFrom<Parts> for Quadratic {
    type Error = Error;
    fn try_from(Parts { constant, linear, pairs }: Parts) -> Result<Self> {
        Self::new(constant, linear, pairs)
    }
}

impl From<Quadratic> for Parts {
    fn from(f: Quadratic) -> Self {
        let (constant, linear, pairs) = f.into_parts();
        Self { constant, linear, pairs }
    }
}

impl Quadratic {
    /// The function of `n` bits that is 0 everywhere.
    pub fn zero(n: usize) -> Self {
        Self(SharedQuadratic::new(0.0, vec![0.0; n], vec![0.0; pair_count(n)]))
    }

    /// A function of `linear.len()` bits; refuses a wrong number of pairs and values that are not finite.
    pub fn new(constant: f64, linear: Vec<f64>, pairs: Vec<f64>) -> Result<Self> {
        Self::received(SharedQuadratic::new(constant, linear, pairs))
    }

    /// Coefficients from the other side of the boundary, checked where they lie.
    pub(crate) fn received(shared: SharedQuadratic) -> Result<Self> {
        let (n, found) = (shared.linear().len(), shared.pairs().len());
        if found != pair_count(n) {
            let expected = pair_count(n);
            return Err(Error::new(format!("{found} pairs for {n} bits, which have {expected}")));
        }
        let constant = [shared.constant()];
        for part in [&constant, shared.linear(), shared.pairs()] {
            if !all_finite(part) {
                let bad = part.iter().find(|value| !value.is_finite()).copied().unwrap_or(f64::NAN);
                return Err(Error::new(format!("a coefficient is {bad}")));
            }
        }
        Ok(Self(shared))
    }

    /// The coefficients, to be handed to the other side.
    pub(crate) fn shared(&self) -> SharedQuadratic {
        self.0.clone()
    }

    /// Constant, linear coefficients and pairs, as [`new`](Self::new) takes them; copied where others hold them too.
    pub fn into_parts(self) -> (f64, Vec<f64>, Vec<f64>) {
        self.0.into_parts()
    }

    /// How many bits the function takes.
    pub fn dimension(&self) -> usize {
        self.linear().len()
    }

    /// The value where no bit is set.
    pub fn constant(&self) -> f64 {
        self.0.constant()
    }

    /// One coefficient a bit.
    pub fn linear(&self) -> &[f64] {
        self.0.linear()
    }

    /// One coefficient a pair, the upper triangle by rows.
    pub fn pairs(&self) -> &[f64] {
        self.0.pairs()
    }

    /// The coefficients of the pairs (i, i+1), (i, i+2), ….
    pub fn row(&self, i: usize) -> &[f64] {
        let start = self.pair_index(i, i + 1);
        &self.pairs()[start..start + self.dimension() - i - 1]
    }

    /// The coefficient of the pair of `i` and `j`, which differ, in either order.
    pub fn pair(&self, i: usize, j: usize) -> f64 {
        self.pairs()[self.pair_index(i.min(j), i.max(j))]
    }

    /// Adds to the constant.
    pub fn add_constant(&mut self, value: f64) {
        *self.0.edit().0 += value;
    }

    /// Adds to the coefficient of bit `i`.
    pub fn add_linear(&mut self, i: usize, value: f64) {
        self.0.edit().1[i] += value;
    }

    /// Adds to the coefficients of all bits.
    pub(crate) fn add_to_each_linear(&mut self, value: f64) {
        self.0.edit().1.iter_mut().for_each(|linear| *linear += value);
    }

    /// Adds to the coefficient of the pair of `i` and `j`, which differ, in either order.
    pub fn add_pair(&mut self, i: usize, j: usize, value: f64) {
        let index = self.pair_index(i.min(j), i.max(j));
        self.0.edit().2[index] += value;
    }

    /// The value at `bits`.
    ///
    /// # Panics
    /// Where `bits` has another length than the function's dimension.
    pub fn value(&self, bits: &[bool]) -> f64 {
        assert_eq!(bits.len(), self.dimension(), "bits for a function of another dimension");
        let (linear, pairs) = (self.linear(), self.pairs());
        let mut total = self.constant();
        let mut start = 0;
        for (i, &bit) in bits.iter().enumerate() {
            let length = bits.len() - i - 1;
            if bit {
                let row = &pairs[start..start + length];
                let set = row.iter().zip(&bits[i + 1..]).filter(|&(_, &other)| other);
                total += linear[i] + set.map(|(a, _)| a).sum::<f64>();
            }
            start += length;
        }
        total
    }

    /// What the value gains when bit `i` is turned over: value(after) − value(before).
    pub fn flip_gain(&self, bits: &[bool], i: usize) -> f64 {
        let others = (0..bits.len()).filter(|&j| j != i && bits[j]);
        let slope = self.linear()[i] + others.map(|j| self.pair(i, j)).sum::<f64>();
        if bits[i] { -slope } else { slope }
    }

    /// The value at each of `points`, a row each.
    ///
    /// # Panics
    /// Where a row has another length than the function's dimension, or there are not as many values as rows.
    pub fn values(&self, points: ArrayView2<'_, bool>, values: &mut [f64]) {
        assert_eq!(points.nrows(), values.len(), "values for another number of points");
        each_row(points, |row, bits| values[row] = self.value(bits));
    }

    /// What each move from each of `points` gains; see [`Function::move_gains`](crate::Function::move_gains). All
    /// gains of a point take as long as its value.
    ///
    /// # Panics
    /// Where a row has another length than the function's dimension, `gains` another shape than `points`, or a group
    /// not exactly one bit set.
    pub fn move_gains(
        &self,
        points: ArrayView2<'_, bool>,
        groups: &[Range<usize>],
        mut gains: ArrayViewMut2<'_, f64>,
    ) {
        assert_eq!(points.dim(), gains.dim(), "gains for other points");
        let mut slopes = vec![0.0; self.dimension()];
        each_row(points, |row, bits| {
            self.slopes(bits, &mut slopes);
            let mut gains = gains.row_mut(row);
            for (i, &slope) in slopes.iter().enumerate() {
                gains[i] = if bits[i] { -slope } else { slope };
            }
            for group in groups {
                let set = set_bit(bits, group);
                for i in group.clone() {
                    // With the other bit cleared first, the pair of the two has no part in it.
                    gains[i] = if i == set { 0.0 } else { slopes[i] - self.pair(i, set) - slopes[set] };
                }
            }
        });
    }

    /// What setting each bit adds, given the others. Added up in the order of [`flip_gain`](Self::flip_gain), so that
    /// both have the same digits.
    fn slopes(&self, bits: &[bool], slopes: &mut [f64]) {
        assert_eq!(bits.len(), self.dimension(), "bits for a function of another dimension");
        slopes.fill(-0.0); // what an empty sum is
        let mut rest = self.pairs();
        for i in 0..bits.len() {
            let (row, others) = rest.split_at(bits.len() - i - 1);
            rest = others;
            if bits[i] {
                slopes[i + 1..].iter_mut().zip(row).for_each(|(slope, a)| *slope += a);
            }
            let set = row.iter().zip(&bits[i + 1..]).filter(|&(_, &other)| other);
            slopes[i] = self.linear()[i] + set.fold(slopes[i], |sum, (a, _)| sum + a);
        }
    }

    /// The sum of all coefficients without their signs: no value is further from 0.
    pub fn magnitude(&self) -> f64 {
        self.constant().abs() + self.linear().iter().chain(self.pairs()).map(|value| value.abs()).sum::<f64>()
    }

    /// The pairs as a full symmetric matrix by rows, with zeros on the diagonal.
    pub fn symmetric(&self) -> Vec<f64> {
        self.symmetric_by(self.dimension())
    }

    /// [`symmetric`](Self::symmetric) with rows of `width` numbers, at least as many as there are bits; the rest are 0.
    ///
    /// # Panics
    /// Where the width is less than the dimension.
    pub fn symmetric_by(&self, width: usize) -> Vec<f64> {
        /// Rows and columns of a square that is copied at a time: a whole column of a large matrix does not fit into
        /// the nearest cache.
        const SQUARE: usize = 32;
        let n = self.dimension();
        assert!(width >= n, "rows of {width} numbers for {n} bits");
        let mut matrix = vec![0.0; n * width];
        for i in 0..n {
            matrix[i * width + i + 1..i * width + n].copy_from_slice(self.row(i));
        }
        for top in (0..n).step_by(SQUARE) {
            for left in (top..n).step_by(SQUARE) {
                for i in top..n.min(top + SQUARE) {
                    for j in left.max(i + 1)..n.min(left + SQUARE) {
                        matrix[j * width + i] = matrix[i * width + j];
                    }
                }
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

/// In lanes and without a branch for each number: this is all that handing a function over costs.
fn all_finite(values: &[f64]) -> bool {
    let (chunks, rest) = values.as_chunks::<16>();
    // 0·x is 0 for every finite number, and not a number for any other.
    let mut sums = [0.0; 16];
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, x)| *sum += 0.0 * x);
    }
    sums.iter().all(|&sum| sum == 0.0) && rest.iter().all(|x| x.is_finite())
}

impl PartialEq for Quadratic {
    fn eq(&self, other: &Self) -> bool {
        (self.constant(), self.linear(), self.pairs()) == (other.constant(), other.linear(), other.pairs())
    }
}

impl fmt::Debug for Quadratic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Quadratic")
            .field("constant", &self.constant())
            .field("linear", &self.linear())
            .field("pairs", &self.pairs())
            .finish()
    }
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
    fn values_and_gains_of_many_points_are_those_of_each() {
        use crate::testing::random_quadratic;
        let layout = crate::Layout::with_groups(9, vec![1..4, 4..5, 6..9]).unwrap();
        let f = random_quadratic(&mut crate::rng(3), 9);
        let mut points = crate::BitMatrix::new(9);
        let mut rng = crate::rng(4);
        (0..20).for_each(|_| points.push(&layout.random(&mut rng)));
        let mut values = vec![f64::NAN; 20];
        let mut gains = ndarray::Array2::from_elem((20, 9), f64::NAN);
        f.values(points.view(), &mut values);
        f.move_gains(points.view(), layout.groups(), gains.view_mut());
        let grouped = |i: usize| layout.groups().iter().find(|group| group.contains(&i));
        for (row, bits) in points.rows().enumerate() {
            assert_eq!(values[row].to_bits(), f.value(bits).to_bits());
            for i in 0..9 {
                let mut there = bits.to_vec();
                if let Some(group) = grouped(i) {
                    there[group.clone()].fill(false);
                    there[i] = true;
                    assert!((gains[(row, i)] - (f.value(&there) - f.value(bits))).abs() < 1e-12);
                    assert!(!bits[i] || gains[(row, i)] == 0.0);
                } else {
                    assert_eq!(gains[(row, i)].to_bits(), f.flip_gain(bits, i).to_bits());
                }
            }
        }
    }

    #[test]
    fn a_change_to_a_clone_leaves_the_original() {
        let f = example();
        let mut g = f.clone();
        assert!(std::ptr::eq(f.pairs(), g.pairs()), "a clone was copied");
        g.add_pair(0, 1, 1.0);
        g.add_linear(2, 1.0);
        g.add_constant(1.0);
        assert_eq!(f, example());
        assert_eq!((g.constant(), g.linear()[2], g.pair(1, 0)), (2.0, 4.0, 6.0));
    }

    #[test]
    fn a_function_survives_json() {
        let text = serde_json::to_string(&example()).unwrap();
        assert_eq!(text, r#"{"constant":1.0,"linear":[2.0,-1.0,3.0],"pairs":[5.0,-7.0,11.0]}"#);
        assert_eq!(serde_json::from_str::<Quadratic>(&text).unwrap(), example());
        assert!(serde_json::from_str::<Quadratic>(&text.replace(",11.0", "")).is_err());
    }

    #[test]
    fn no_value_is_further_from_zero_than_the_magnitude() {
        assert_eq!(example().magnitude(), 30.0);
    }

    #[test]
    fn the_symmetric_matrix_has_each_pair_twice_whatever_its_width() {
        for n in [0, 1, 5, 31, 32, 33, 64, 101] {
            let f = crate::testing::random_quadratic(&mut crate::rng(n as u64), n);
            for width in [n, n + 3] {
                let matrix = f.symmetric_by(width);
                assert_eq!(matrix.len(), n * width);
                for (i, row) in matrix.chunks(width.max(1)).enumerate() {
                    let expected = |j| if i == j || j >= n { 0.0 } else { f.pair(i, j) };
                    assert!(row.iter().enumerate().all(|(j, &a)| a == expected(j)), "{n} bits, row {i}");
                }
            }
            assert_eq!(f.symmetric(), f.symmetric_by(n));
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
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for place in [0, 7, 8, 40, 44] {
                let mut pairs = vec![f64::MAX; 45];
                pairs[place] = bad;
                let error = Quadratic::new(0.0, vec![f64::MIN; 10], pairs).unwrap_err();
                assert_eq!(error.to_string(), format!("a coefficient is {bad}"));
            }
        }
        assert!(Quadratic::new(f64::MAX, vec![f64::MIN; 10], vec![f64::MAX; 45]).is_ok());
    }

    #[test]
    fn no_bits_are_a_constant() {
        assert_eq!(Quadratic::zero(0).value(&[]), 0.0);
    }
}
