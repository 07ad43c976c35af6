//! Acquisition functions across the boundary, in both directions.

use std::sync::Arc;

use abi_stable::StableAbi;
use abi_stable::sabi_trait;
use abi_stable::sabi_trait::TD_Opaque;
use abi_stable::std_types::{RBox, RSlice, RVec};

use super::{close, report_close};
use crate::abi::guard::{WireResult, guard, pass_on, unwire};
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

impl Function for Received {
    fn dimension(&self) -> usize {
        self.dimension
    }
    fn value(&self, bits: &[bool]) -> f64 {
        unwire(self.object.value(RSlice::from_slice(bits))).unwrap_or_else(|error| pass_on(error))
    }
    fn flip_gain(&self, bits: &[bool], i: usize) -> f64 {
        unwire(self.object.flip_gain(RSlice::from_slice(bits), i)).unwrap_or_else(|error| pass_on(error))
    }
}
