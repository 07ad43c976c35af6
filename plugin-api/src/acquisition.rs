//! What a surrogate draws and a solver minimizes.

use std::sync::Arc;

use crate::Quadratic;

/// A function of bits, drawn from a surrogate; cheap to share.
#[derive(Clone)]
pub enum Acquisition {
    /// One that every solver takes.
    Quadratic(Quadratic),
    /// Any other; only solvers that [take](crate::Solver::takes) general functions see it.
    General(Arc<dyn Function>),
}

/// Which acquisitions a surrogate draws, or a solver takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcquisitionKind {
    /// [`Acquisition::Quadratic`] only.
    Quadratic,
    /// Both: a surrogate may draw, or a solver takes, any function.
    General,
}

/// A function of bits that is not a [`Quadratic`].
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

    /// Which kind it is.
    pub fn kind(&self) -> AcquisitionKind {
        match self {
            Self::Quadratic(_) => AcquisitionKind::Quadratic,
            Self::General(_) => AcquisitionKind::General,
        }
    }
}

impl From<Quadratic> for Acquisition {
    fn from(f: Quadratic) -> Self {
        Self::Quadratic(f)
    }
}
