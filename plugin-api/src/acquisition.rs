//! What a surrogate draws and a solver minimizes.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

use ndarray::{ArrayView2, ArrayViewMut2};

use crate::{Error, Penalty, Quadratic, Result};

/// A function of bits, drawn from a surrogate; cheap to clone.
#[derive(Clone)]
#[non_exhaustive]
pub enum Acquisition {
    /// One that every solver takes.
    Quadratic(Quadratic),
    /// Any other; only solvers that [take](crate::Solver::takes) general functions see it.
    General(Arc<dyn Function>),
}

/// The kinds of acquisitions: which of them a surrogate draws, or a solver takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AcquisitionKind {
    /// [`Acquisition::Quadratic`].
    Quadratic,
    /// [`Acquisition::General`]. A surrogate that draws it may draw quadratic functions as well.
    General,
}

/// A function of bits that is not a [`Quadratic`].
///
/// It may live in another dylib. A call of [`values`](Self::values) or [`move_gains`](Self::move_gains) crosses to it
/// once for all points; a solver that has several points or moves to try asks for them together.
///
/// ```
/// use std::sync::Arc;
/// use plugin_api::{Acquisition, Function};
///
/// /// How far the number of ones is from half of the bits.
/// struct Imbalance(usize);
///
/// impl Function for Imbalance {
///     fn dimension(&self) -> usize {
///         self.0
///     }
///
///     fn value(&self, bits: &[bool]) -> f64 {
///         let ones = bits.iter().filter(|&&bit| bit).count();
///         (ones as f64 - self.0 as f64 / 2.0).abs()
///     }
/// }
///
/// let drawn = Acquisition::General(Arc::new(Imbalance(4)));
/// assert_eq!(drawn.value(&[true, true, true, false]), 1.0);
/// assert_eq!(drawn.flip_gain(&[true, true, true, false], 0), -1.0);
/// ```
pub trait Function: Send + Sync {
    /// How many bits it takes.
    fn dimension(&self) -> usize;

    /// Its value at `bits`, which has that many.
    fn value(&self, bits: &[bool]) -> f64;

    /// What the value gains when bit `i` is turned over; override it where that is cheaper than two values.
    fn flip_gain(&self, bits: &[bool], i: usize) -> f64 {
        let mut flipped = bits.to_vec();
        flipped[i] = !flipped[i];
        self.value(&flipped) - self.value(bits)
    }

    /// Writes its value at each of `points`, a row each, to `values`, which has as many.
    fn values(&self, points: ArrayView2<'_, bool>, values: &mut [f64]) {
        each_row(points, |row, bits| values[row] = self.value(bits));
    }

    /// Writes what each single move from each of `points` gains to `gains`, which has their shape.
    ///
    /// For a bit that is in none of the groups, the move turns it over. For a bit of a group, which has exactly one
    /// bit set, the move is to choose it instead of the one that is set; for that one the gain is 0. Groups stand in
    /// order and do not overlap.
    fn move_gains(
        &self,
        points: ArrayView2<'_, bool>,
        groups: &[Range<usize>],
        mut gains: ArrayViewMut2<'_, f64>,
    ) {
        each_row(points, |row, bits| {
            let mut next = 0;
            for group in groups {
                (next..group.start).for_each(|i| gains[(row, i)] = self.flip_gain(bits, i));
                next = group.end;
                let set = set_bit(bits, group);
                let clearing = self.flip_gain(bits, set);
                let mut cleared = bits.to_vec();
                cleared[set] = false;
                for i in group.clone() {
                    gains[(row, i)] = if i == set { 0.0 } else { clearing + self.flip_gain(&cleared, i) };
                }
            }
            (next..bits.len()).for_each(|i| gains[(row, i)] = self.flip_gain(bits, i));
        });
    }
}

/// Calls `visit` with the number and the bits of each row, which are copied only where they are not in order already.
pub(crate) fn each_row(points: ArrayView2<'_, bool>, mut visit: impl FnMut(usize, &[bool])) {
    let points = points.as_standard_layout();
    for (row, bits) in points.rows().into_iter().enumerate() {
        visit(row, bits.to_slice().expect("rows in order"));
    }
}

/// The one bit of `group` that is set.
///
/// # Panics
/// Where none is, or more than one.
pub(crate) fn set_bit(bits: &[bool], group: &Range<usize>) -> usize {
    let mut set = group.clone().filter(|&i| bits[i]);
    match (set.next(), set.next()) {
        (Some(one), None) => one,
        _ => panic!("moves of a point without exactly one bit set in the group {group:?}"),
    }
}

impl Acquisition {
    /// How many bits it takes.
    pub fn dimension(&self) -> usize {
        match self {
            Self::Quadratic(f) => f.dimension(),
            Self::General(f) => f.dimension(),
        }
    }

    /// Its value at `bits`.
    pub fn value(&self, bits: &[bool]) -> f64 {
        match self {
            Self::Quadratic(f) => f.value(bits),
            Self::General(f) => f.value(bits),
        }
    }

    /// What the value gains when bit `i` is turned over.
    pub fn flip_gain(&self, bits: &[bool], i: usize) -> f64 {
        match self {
            Self::Quadratic(f) => f.flip_gain(bits, i),
            Self::General(f) => f.flip_gain(bits, i),
        }
    }

    /// Writes its value at each of `points`, a row each, to `values`, which has as many.
    pub fn values(&self, points: ArrayView2<'_, bool>, values: &mut [f64]) {
        match self {
            Self::Quadratic(f) => f.values(points, values),
            Self::General(f) => f.values(points, values),
        }
    }

    /// Writes what each move from each of `points` gains to `gains`; see [`Function::move_gains`].
    pub fn move_gains(
        &self,
        points: ArrayView2<'_, bool>,
        groups: &[Range<usize>],
        gains: ArrayViewMut2<'_, f64>,
    ) {
        match self {
            Self::Quadratic(f) => f.move_gains(points, groups, gains),
            Self::General(f) => f.move_gains(points, groups, gains),
        }
    }

    /// Which kind it is.
    pub fn kind(&self) -> AcquisitionKind {
        match self {
            Self::Quadratic(_) => AcquisitionKind::Quadratic,
            Self::General(_) => AcquisitionKind::General,
        }
    }

    /// With `penalty` added at each point.
    ///
    /// # Panics
    /// Where the penalty is for another number of bits.
    pub fn with_penalty(self, penalty: &Penalty) -> Self {
        match self {
            f if penalty.is_zero() => f,
            Self::Quadratic(mut f) => {
                match penalty.origin() {
                    None => f.add_to_each_linear(penalty.lambda()),
                    Some(origin) => {
                        f.add_constant(penalty.of(&vec![false; origin.len()]));
                        (0..origin.len()).for_each(|i| f.add_linear(i, penalty.weight(i)));
                    }
                }
                Self::Quadratic(f)
            }
            Self::General(f) => Self::General(Arc::new(Penalised { f, penalty: penalty.clone() })),
        }
    }
}

impl From<Quadratic> for Acquisition {
    fn from(f: Quadratic) -> Self {
        Self::Quadratic(f)
    }
}

impl AcquisitionKind {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::Quadratic, Self::General];

    /// The kind in a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quadratic => "quadratic",
            Self::General => "general",
        }
    }
}

impl fmt::Display for AcquisitionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for AcquisitionKind {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let known = Self::ALL.into_iter().find(|kind| kind.name() == text);
        known.ok_or_else(|| Error::new(format!("`{text}` is no kind of acquisition function")))
    }
}

/// A general function with a penalty.
struct Penalised {
    f: Arc<dyn Function>,
    penalty: Penalty,
}

impl Penalised {
    fn flip_cost(&self, i: usize, bit: bool) -> f64 {
        if self.penalty.costs(i, bit) { -self.penalty.lambda() } else { self.penalty.lambda() }
    }
}

impl Function for Penalised {
    fn dimension(&self) -> usize {
        self.f.dimension()
    }

    fn value(&self, bits: &[bool]) -> f64 {
        self.f.value(bits) + self.penalty.of(bits)
    }

    fn flip_gain(&self, bits: &[bool], i: usize) -> f64 {
        self.f.flip_gain(bits, i) + self.flip_cost(i, bits[i])
    }

    fn values(&self, points: ArrayView2<'_, bool>, values: &mut [f64]) {
        self.f.values(points, values);
        each_row(points, |row, bits| values[row] += self.penalty.of(bits));
    }

    fn move_gains(
        &self,
        points: ArrayView2<'_, bool>,
        groups: &[Range<usize>],
        mut gains: ArrayViewMut2<'_, f64>,
    ) {
        self.f.move_gains(points, groups, gains.view_mut());
        let mut next = 0;
        let free = groups.iter().flat_map(|group| {
            let free = next..group.start;
            next = group.end;
            free
        });
        let free: Vec<usize> = free.collect();
        for i in free.into_iter().chain(next..points.ncols()) {
            for (gain, &bit) in gains.column_mut(i).iter_mut().zip(points.column(i)) {
                *gain += self.flip_cost(i, bit);
            }
        }
        // A move within a group clears one bit and sets another: with λ for each bit set that costs nothing.
        if self.penalty.origin().is_none() {
            return;
        }
        each_row(points, |row, bits| {
            for group in groups {
                let set = set_bit(bits, group);
                for i in group.clone().filter(|&i| i != set) {
                    gains[(row, i)] += self.penalty.weight(i) - self.penalty.weight(set);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, s};

    use super::*;
    use crate::{BitMatrix, Layout};

    /// x₀x₁x₂ and a quadratic rest.
    struct Cubic(Quadratic);

    impl Function for Cubic {
        fn dimension(&self) -> usize {
            self.0.dimension()
        }
        fn value(&self, bits: &[bool]) -> f64 {
            self.0.value(bits) + if bits[..3] == [true; 3] { 10.0 } else { 0.0 }
        }
    }

    fn quadratic() -> Quadratic {
        crate::testing::random_quadratic(&mut crate::rng(5), 8)
    }

    fn both() -> [Acquisition; 2] {
        [quadratic().into(), Acquisition::General(Arc::new(Cubic(quadratic())))]
    }

    fn points(layout: &Layout) -> BitMatrix {
        let (mut points, mut rng) = (BitMatrix::new(8), crate::rng(6));
        (0..30).for_each(|_| points.push(&layout.random(&mut rng)));
        points
    }

    fn after_move(bits: &[bool], groups: &[Range<usize>], i: usize) -> Vec<bool> {
        let mut there = bits.to_vec();
        match groups.iter().find(|group| group.contains(&i)) {
            Some(group) => {
                there[group.clone()].fill(false);
                there[i] = true;
            }
            None => there[i] = !there[i],
        }
        there
    }

    #[test]
    fn the_penalty_is_in_every_method() {
        let layout = Layout::with_groups(8, vec![1..4, 6..8]).unwrap();
        let points = points(&layout);
        let set = Penalty::l1(0.25);
        let turned = set.clone().from_point("10110001".parse().unwrap());
        for (plain, penalty) in both().into_iter().flat_map(|f| [(f.clone(), &set), (f, &turned)]) {
            let penalised = plain.clone().with_penalty(penalty);
            let mut values = vec![0.0; 30];
            let mut gains = [Array2::zeros((30, 8)), Array2::zeros((30, 8))];
            penalised.values(points.view(), &mut values);
            plain.move_gains(points.view(), layout.groups(), gains[0].view_mut());
            penalised.move_gains(points.view(), layout.groups(), gains[1].view_mut());
            for (row, bits) in points.rows().enumerate() {
                assert!((penalised.value(bits) - plain.value(bits) - penalty.of(bits)).abs() < 1e-12);
                assert_eq!(values[row].to_bits(), penalised.value(bits).to_bits());
                for i in 0..8 {
                    let mut turned = bits.to_vec();
                    turned[i] = !turned[i];
                    let single = penalised.flip_gain(bits, i) - plain.flip_gain(bits, i);
                    assert!((single - (penalty.of(&turned) - penalty.of(bits))).abs() < 1e-12);
                    let all = gains[1][(row, i)] - gains[0][(row, i)];
                    let moved = after_move(bits, layout.groups(), i);
                    assert!((all - (penalty.of(&moved) - penalty.of(bits))).abs() < 1e-12);
                }
            }
            let same = plain.clone().with_penalty(&Penalty::default());
            assert_eq!(same.value(points.row(0)).to_bits(), plain.value(points.row(0)).to_bits());
        }
    }

    #[test]
    fn a_gain_is_what_the_move_changes() {
        let layout = Layout::with_groups(8, vec![0..3, 5..6]).unwrap();
        let points = points(&layout);
        for f in both() {
            let mut gains = Array2::from_elem((30, 8), f64::NAN);
            f.move_gains(points.view(), layout.groups(), gains.view_mut());
            for (row, bits) in points.rows().enumerate() {
                for i in 0..8 {
                    let there = after_move(bits, layout.groups(), i);
                    let change = f.value(&there) - f.value(bits);
                    assert!((gains[(row, i)] - change).abs() < 1e-12, "move {i} of {bits:?}");
                }
            }
        }
    }

    #[test]
    fn points_and_gains_may_stand_in_any_order_in_memory() {
        let points = points(&Layout::free(8));
        for f in both().into_iter().chain(both().map(|f| f.with_penalty(&Penalty::l1(0.5)))) {
            let (mut values, mut backwards) = (vec![0.0; 30], vec![0.0; 30]);
            f.values(points.view(), &mut values);
            f.values(points.view().slice(s![..;-1, ..]), &mut backwards);
            backwards.reverse();
            assert_eq!(values, backwards);
            let (mut gains, mut columns) = (Array2::zeros((30, 8)), Array2::zeros((8, 30)));
            f.move_gains(points.view(), &[], gains.view_mut());
            f.move_gains(points.view(), &[], columns.view_mut().reversed_axes());
            assert_eq!(gains, columns.t());
        }
    }

    #[test]
    #[should_panic(expected = "without exactly one bit set in the group 1..3")]
    fn moves_within_a_broken_group_are_refused() {
        let mut gains = Array2::zeros((1, 4));
        let mut points = BitMatrix::new(4);
        points.push(&[true, false, false, true]);
        Quadratic::zero(4).move_gains(points.view(), &[1..3, 3..4], gains.view_mut());
    }
}
