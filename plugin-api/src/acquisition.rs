//! What a surrogate draws and a solver minimizes.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

use ndarray::{ArrayView2, ArrayViewMut2};

use crate::{Error, Quadratic, Result};

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

    /// With the penalty `l1` for each bit set: f + λ‖x‖₁.
    pub fn with_l1(self, l1: f64) -> Self {
        match self {
            f if l1 == 0.0 => f,
            Self::Quadratic(mut f) => {
                f.add_to_each_linear(l1);
                Self::Quadratic(f)
            }
            Self::General(f) => Self::General(Arc::new(Penalised { f, l1 })),
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

/// A general function with a penalty for each bit set.
struct Penalised {
    f: Arc<dyn Function>,
    l1: f64,
}

impl Penalised {
    fn penalty(&self, bits: impl Iterator<Item = bool>) -> f64 {
        self.l1 * bits.filter(|&bit| bit).count() as f64
    }
}

impl Function for Penalised {
    fn dimension(&self) -> usize {
        self.f.dimension()
    }

    fn value(&self, bits: &[bool]) -> f64 {
        self.f.value(bits) + self.penalty(bits.iter().copied())
    }

    fn flip_gain(&self, bits: &[bool], i: usize) -> f64 {
        self.f.flip_gain(bits, i) + if bits[i] { -self.l1 } else { self.l1 }
    }

    fn values(&self, points: ArrayView2<'_, bool>, values: &mut [f64]) {
        self.f.values(points, values);
        for (value, bits) in values.iter_mut().zip(points.rows()) {
            *value += self.penalty(bits.iter().copied());
        }
    }

    fn move_gains(
        &self,
        points: ArrayView2<'_, bool>,
        groups: &[Range<usize>],
        mut gains: ArrayViewMut2<'_, f64>,
    ) {
        self.f.move_gains(points, groups, gains.view_mut());
        for ((row, i), &bit) in points.indexed_iter() {
            // A move within a group leaves the number of bits set as it is.
            if !groups.iter().any(|group| group.contains(&i)) {
                gains[(row, i)] += if bit { -self.l1 } else { self.l1 };
            }
        }
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

    #[test]
    fn the_penalty_is_that_of_the_bits_set_in_every_method() {
        let layout = Layout::with_groups(8, vec![1..4, 6..8]).unwrap();
        let points = points(&layout);
        for plain in both() {
            let penalised = plain.clone().with_l1(0.25);
            let mut values = vec![0.0; 30];
            let mut gains = [Array2::zeros((30, 8)), Array2::zeros((30, 8))];
            penalised.values(points.view(), &mut values);
            plain.move_gains(points.view(), layout.groups(), gains[0].view_mut());
            penalised.move_gains(points.view(), layout.groups(), gains[1].view_mut());
            for (row, bits) in points.rows().enumerate() {
                let ones = bits.iter().filter(|&&bit| bit).count() as f64;
                assert!((penalised.value(bits) - plain.value(bits) - 0.25 * ones).abs() < 1e-12);
                assert_eq!(values[row].to_bits(), penalised.value(bits).to_bits());
                for (i, bit) in bits.iter().enumerate() {
                    let sign = if *bit { -0.25 } else { 0.25 };
                    let single = penalised.flip_gain(bits, i) - plain.flip_gain(bits, i);
                    assert!((single - sign).abs() < 1e-12);
                    let free = layout.groups().iter().all(|group| !group.contains(&i));
                    let all = gains[1][(row, i)] - gains[0][(row, i)];
                    assert!((all - if free { sign } else { 0.0 }).abs() < 1e-12);
                }
            }
            let same = plain.clone().with_l1(0.0);
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
                    let mut there = bits.to_vec();
                    match layout.groups().iter().find(|group| group.contains(&i)) {
                        Some(group) => {
                            there[group.clone()].fill(false);
                            there[i] = true;
                        }
                        None => there[i] = !there[i],
                    }
                    let change = f.value(&there) - f.value(bits);
                    assert!((gains[(row, i)] - change).abs() < 1e-12, "move {i} of {bits:?}");
                }
            }
        }
    }

    #[test]
    fn points_and_gains_may_stand_in_any_order_in_memory() {
        let points = points(&Layout::free(8));
        for f in both().into_iter().chain(both().map(|f| f.with_l1(0.5))) {
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
