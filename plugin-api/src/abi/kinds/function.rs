//! Acquisition functions across the boundary, in both directions.

use std::sync::Arc;

use abi_stable::StableAbi;
use abi_stable::sabi_trait;
use abi_stable::sabi_trait::TD_Opaque;
use abi_stable::std_types::{RBox, RSlice, RVec};

use crate::abi::guard::{WireResult, guard, unwire};
use crate::{Acquisition, Function, Quadratic, Result};

#[sabi_trait]
pub trait FunctionWire: Send + Sync {
    fn dimension(&self) -> usize;
    fn value(&self, bits: RSlice<'_, bool>) -> WireResult<f64>;
    #[sabi(last_prefix_field)]
    fn flip_gain(&self, bits: RSlice<'_, bool>, i: usize) -> WireResult<f64>;
}

pub(crate) type FunctionObject = FunctionWire_TO<'static, RBox<()>>;

/// An acquisition function that changes hands.
#[repr(u8)]
#[derive(StableAbi)]
pub enum WireAcquisition {
    Quadratic { constant: f64, linear: RVec<f64>, pairs: RVec<f64> },
    General(FunctionObject),
}

impl WireAcquisition {
    pub(crate) fn new(acquisition: Acquisition) -> Self {
        match acquisition {
            Acquisition::Quadratic(f) => {
                let (constant, linear, pairs) = f.into_parts();
                Self::Quadratic { constant, linear: linear.into(), pairs: pairs.into() }
            }
            Acquisition::General(f) => Self::General(object(f)),
        }
    }

    pub(crate) fn into_acquisition(self) -> Result<Acquisition> {
        match self {
            Self::Quadratic { constant, linear, pairs } => {
                Quadratic::new(constant, linear.into_vec(), pairs.into_vec()).map(Acquisition::Quadratic)
            }
            Self::General(object) => Ok(Acquisition::General(received(object))),
        }
    }
}

/// A function of this side, for the other.
pub(crate) fn object(f: Arc<dyn Function>) -> FunctionObject {
    FunctionWire_TO::from_value(Sent(f), TD_Opaque)
}

/// A function of the other side, for this one.
pub(crate) fn received(object: FunctionObject) -> Arc<dyn Function> {
    Arc::new(Received { dimension: object.dimension(), object })
}

struct Sent(Arc<dyn Function>);

impl FunctionWire for Sent {
    fn dimension(&self) -> usize {
        unwire(guard(|| Ok(self.0.dimension()))).unwrap_or(0)
    }
    fn value(&self, bits: RSlice<'_, bool>) -> WireResult<f64> {
        guard(|| Ok(self.0.value(&bits)))
    }
    fn flip_gain(&self, bits: RSlice<'_, bool>, i: usize) -> WireResult<f64> {
        guard(|| Ok(self.0.flip_gain(&bits, i)))
    }
}

struct Received {
    dimension: usize,
    object: FunctionObject,
}

impl Function for Received {
    fn dimension(&self) -> usize {
        self.dimension
    }
    fn value(&self, bits: &[bool]) -> f64 {
        or_panic(self.object.value(RSlice::from_slice(bits)))
    }
    fn flip_gain(&self, bits: &[bool], i: usize) -> f64 {
        or_panic(self.object.flip_gain(RSlice::from_slice(bits), i))
    }
}

/// A function's value cannot be an error, so a panic on the other side goes on as one on this side; the
/// guard around the solver's call then reports it with the words of the first.
fn or_panic(result: WireResult<f64>) -> f64 {
    unwire(result).unwrap_or_else(|error| panic!("the acquisition function failed: {error}"))
}
