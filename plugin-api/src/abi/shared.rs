//! Numbers and bits that both sides read in place: handed over by a reference count, never copied.
//!
//! What has several owners never changes: a change makes a copy first, unless there is no other owner. These are the
//! only types whose fields cross as they are. They are frozen: what is to grow goes behind an accessor instead.

use abi_stable::StableAbi;
use abi_stable::std_types::{RArc, RVec};

use crate::{Error, Result};

/// The coefficients of a [`Quadratic`](crate::Quadratic).
#[repr(transparent)]
#[derive(StableAbi, Clone)]
pub struct SharedQuadratic(RArc<Coefficients>);

/// Frozen: these three parts.
#[repr(C)]
#[derive(StableAbi, Clone)]
pub struct Coefficients {
    constant: f64,
    linear: RVec<f64>,
    pairs: RVec<f64>,
}

impl SharedQuadratic {
    pub(crate) fn new(constant: f64, linear: Vec<f64>, pairs: Vec<f64>) -> Self {
        Self(RArc::new(Coefficients { constant, linear: linear.into(), pairs: pairs.into() }))
    }

    pub(crate) fn into_parts(self) -> (f64, Vec<f64>, Vec<f64>) {
        let Coefficients { constant, linear, pairs } =
            RArc::try_unwrap(self.0).unwrap_or_else(|shared| Coefficients::clone(&shared));
        (constant, linear.into_vec(), pairs.into_vec())
    }

    #[inline]
    pub(crate) fn constant(&self) -> f64 {
        self.0.constant
    }

    #[inline]
    pub(crate) fn linear(&self) -> &[f64] {
        &self.0.linear
    }

    #[inline]
    pub(crate) fn pairs(&self) -> &[f64] {
        &self.0.pairs
    }

    /// Constant, linear coefficients and pairs to change, after a copy where somebody else holds them too.
    pub(crate) fn edit(&mut self) -> (&mut f64, &mut [f64], &mut [f64]) {
        let Coefficients { constant, linear, pairs } = RArc::make_mut(&mut self.0);
        (constant, linear, pairs)
    }
}

/// The rows of a [`BitMatrix`](crate::BitMatrix).
#[repr(transparent)]
#[derive(StableAbi, Clone)]
pub struct SharedRows(RArc<Rows>);

/// Frozen: these three parts. The bits stand row after row.
#[repr(C)]
#[derive(StableAbi, Clone)]
pub struct Rows {
    count: usize,
    dimension: usize,
    bits: RVec<bool>,
}

impl SharedRows {
    /// No rows of this many bits each.
    pub(crate) fn new(dimension: usize) -> Self {
        Self(RArc::new(Rows { count: 0, dimension, bits: RVec::new() }))
    }

    /// Refuses what came from the other side where its numbers contradict each other.
    pub(crate) fn check(&self) -> Result<()> {
        let Rows { count, dimension, bits } = &*self.0;
        match count.checked_mul(*dimension) {
            Some(expected) if expected == bits.len() => Ok(()),
            _ => Err(Error::new(format!("{} bits in {count} rows of {dimension}", bits.len()))),
        }
    }

    #[inline]
    pub(crate) fn count(&self) -> usize {
        self.0.count
    }

    #[inline]
    pub(crate) fn dimension(&self) -> usize {
        self.0.dimension
    }

    /// All bits, row after row.
    #[inline]
    pub(crate) fn bits(&self) -> &[bool] {
        &self.0.bits
    }

    /// Adds a row, after a copy where somebody else holds the others too.
    pub(crate) fn push(&mut self, row: &[bool]) {
        let rows = RArc::make_mut(&mut self.0);
        rows.bits.extend_from_slice(row);
        rows.count += 1;
    }
}
