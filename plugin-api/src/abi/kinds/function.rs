//! Acquisition functions across the boundary, in both directions.

use std::ops::Range;
use std::sync::Arc;

use abi_stable::sabi_trait;
use abi_stable::sabi_trait::TD_Opaque;
use abi_stable::std_types::{RBox, RSlice, RSliceMut};
use ndarray::{Array2, ArrayView2, ArrayViewMut2};

use super::{close, flat, ranges, report_close};
use crate::abi::guard::{WireResult, guard, pass_on, unwire};
use crate::{Error, Function, Result};

/// Matrices cross as their entries, row after row; they have as many columns as the function has bits.
#[sabi_trait]
pub trait FunctionWire: Send + Sync {
    fn dimension(&self) -> usize;
    fn value(&self, bits: RSlice<'_, bool>) -> WireResult<f64>;
    fn flip_gain(&self, bits: RSlice<'_, bool>, i: usize) -> WireResult<f64>;
    fn values(&self, points: RSlice<'_, bool>, values: RSliceMut<'_, f64>) -> WireResult<()>;
    /// Groups are starts and ends, in turn.
    #[sabi(last_prefix_field)]
    fn move_gains(
        &self,
        points: RSlice<'_, bool>,
        groups: RSlice<'_, usize>,
        gains: RSliceMut<'_, f64>,
    ) -> WireResult<()>;
}

pub(crate) type FunctionObject = FunctionWire_TO<'static, RBox<()>>;

/// A function of this side, for the other.
pub(crate) fn object(f: Arc<dyn Function>) -> FunctionObject {
    FunctionWire_TO::from_value(Sent { dimension: f.dimension(), function: Some(f) }, TD_Opaque)
}

/// A function of the other side, for this one.
pub(crate) fn received(object: FunctionObject) -> Arc<dyn Function> {
    Arc::new(Received { dimension: object.dimension(), object })
}

struct Sent {
    dimension: usize,
    /// There until it is dropped.
    function: Option<Arc<dyn Function>>,
}

impl Sent {
    fn function(&self) -> &dyn Function {
        self.function.as_deref().expect("the function is there until it is dropped")
    }
}

impl FunctionWire for Sent {
    fn dimension(&self) -> usize {
        self.dimension
    }
    fn value(&self, bits: RSlice<'_, bool>) -> WireResult<f64> {
        guard(|| Ok(self.function().value(&bits)))
    }
    fn flip_gain(&self, bits: RSlice<'_, bool>, i: usize) -> WireResult<f64> {
        guard(|| Ok(self.function().flip_gain(&bits, i)))
    }
    fn values(&self, points: RSlice<'_, bool>, mut values: RSliceMut<'_, f64>) -> WireResult<()> {
        guard(|| {
            let shape = (values.len(), self.dimension);
            let points = ArrayView2::from_shape(shape, points.as_slice()).map_err(Error::wrap)?;
            self.function().values(points, values.as_mut_slice());
            Ok(())
        })
    }
    fn move_gains(
        &self,
        points: RSlice<'_, bool>,
        groups: RSlice<'_, usize>,
        mut gains: RSliceMut<'_, f64>,
    ) -> WireResult<()> {
        guard(|| {
            let shape = (points.len().checked_div(self.dimension).unwrap_or(0), self.dimension);
            let points = ArrayView2::from_shape(shape, points.as_slice()).map_err(Error::wrap)?;
            let gains = ArrayViewMut2::from_shape(shape, gains.as_mut_slice()).map_err(Error::wrap)?;
            self.function().move_gains(points, &ranges(&groups), gains);
            Ok(())
        })
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        report_close(unwire(close(&mut self.function)));
    }
}

/// Its values cannot be errors, so a panic on the other side goes on as one on this side.
struct Received {
    dimension: usize,
    object: FunctionObject,
}

impl Received {
    fn check_width(&self, points: &ArrayView2<'_, bool>) {
        assert_eq!(points.ncols(), self.dimension, "bits for a function of another dimension");
    }
}

impl Function for Received {
    fn dimension(&self) -> usize {
        self.dimension
    }
    fn value(&self, bits: &[bool]) -> f64 {
        ended(self.object.value(RSlice::from_slice(bits)))
    }
    fn flip_gain(&self, bits: &[bool], i: usize) -> f64 {
        ended(self.object.flip_gain(RSlice::from_slice(bits), i))
    }
    fn values(&self, points: ArrayView2<'_, bool>, values: &mut [f64]) {
        self.check_width(&points);
        assert_eq!(points.nrows(), values.len(), "values for another number of points");
        let points = points.as_standard_layout();
        let points = points.as_slice().expect("rows in order");
        ended(self.object.values(RSlice::from_slice(points), RSliceMut::from_mut_slice(values)));
    }
    fn move_gains(
        &self,
        points: ArrayView2<'_, bool>,
        groups: &[Range<usize>],
        mut gains: ArrayViewMut2<'_, f64>,
    ) {
        self.check_width(&points);
        assert_eq!(points.dim(), gains.dim(), "gains for other points");
        let points = points.as_standard_layout();
        let bits = points.as_slice().expect("rows in order");
        let groups = flat(groups);
        let cross = |gains: &mut [f64]| {
            let (bits, groups) = (RSlice::from_slice(bits), RSlice::from_slice(&groups));
            ended(self.object.move_gains(bits, groups, RSliceMut::from_mut_slice(gains)));
        };
        if let Some(gains) = gains.as_slice_mut() {
            return cross(gains);
        }
        let mut in_order = Array2::zeros(points.dim());
        cross(in_order.as_slice_mut().expect("a new matrix is in order"));
        gains.assign(&in_order);
    }
}

fn ended<T>(outcome: WireResult<T>) -> T {
    let outcome: Result<T> = unwire(outcome);
    outcome.unwrap_or_else(|error| pass_on(error))
}
