//! [`Benchmark`] across the boundary.

use abi_stable::sabi_trait;
use abi_stable::sabi_trait::TD_Opaque;
use abi_stable::std_types::{RBox, ROption, RSlice, RString};
use serde::{Deserialize, Serialize};

use super::{close, closed, from_json, report_close, to_json};
use crate::abi::guard::{WireResult, guard, unwire};
use crate::{Benchmark, Point, Result, Sense, Space};

#[sabi_trait]
pub trait BenchmarkWire: Send {
    /// [`Properties`] as JSON.
    fn properties(&self) -> WireResult<RString>;
    fn evaluate(&mut self, point: RSlice<'_, u32>, seed: u64) -> WireResult<f64>;
    fn optimum(&mut self, l1: f64) -> WireResult<ROption<f64>>;
    #[sabi(last_prefix_field)]
    fn close(&mut self) -> WireResult<()>;
}

pub(crate) type BenchmarkObject = BenchmarkWire_TO<'static, RBox<()>>;

#[derive(Serialize, Deserialize)]
struct Properties {
    space: Space,
    maximize: bool,
    deterministic: bool,
}

pub(crate) struct PluginBenchmark(Option<Box<dyn Benchmark>>);

impl PluginBenchmark {
    pub(crate) fn object(inner: Box<dyn Benchmark>) -> BenchmarkObject {
        BenchmarkWire_TO::from_value(Self(Some(inner)), TD_Opaque)
    }
}

impl BenchmarkWire for PluginBenchmark {
    fn properties(&self) -> WireResult<RString> {
        guard(|| {
            let inner = self.0.as_ref().ok_or_else(closed)?;
            to_json(&Properties {
                space: inner.space(),
                maximize: inner.sense() == Sense::Maximize,
                deterministic: inner.deterministic(),
            })
        })
    }
    fn evaluate(&mut self, point: RSlice<'_, u32>, seed: u64) -> WireResult<f64> {
        guard(|| self.0.as_mut().ok_or_else(closed)?.evaluate(&Point::from(point.to_vec()), seed))
    }
    fn optimum(&mut self, l1: f64) -> WireResult<ROption<f64>> {
        guard(|| Ok(self.0.as_mut().ok_or_else(closed)?.optimum(l1)?.into()))
    }
    fn close(&mut self) -> WireResult<()> {
        close(&mut self.0)
    }
}

impl Drop for PluginBenchmark {
    fn drop(&mut self) {
        report_close(unwire(close(&mut self.0)));
    }
}

/// A benchmark from a dylib.
pub struct LoadedBenchmark {
    object: BenchmarkObject,
    properties: Properties,
}

impl LoadedBenchmark {
    pub(crate) fn new(object: BenchmarkObject) -> Result<Self> {
        let properties = from_json(&unwire(object.properties())?)?;
        Ok(Self { object, properties })
    }

    /// Ends the benchmark; an error where its destructor panicked. Dropping it instead logs that error.
    pub fn close(mut self) -> Result<()> {
        unwire(self.object.close())
    }
}

impl Benchmark for LoadedBenchmark {
    fn space(&self) -> Space {
        self.properties.space.clone()
    }
    fn evaluate(&mut self, point: &Point, seed: u64) -> Result<f64> {
        unwire(self.object.evaluate(RSlice::from_slice(point), seed))
    }
    fn sense(&self) -> Sense {
        if self.properties.maximize { Sense::Maximize } else { Sense::Minimize }
    }
    fn deterministic(&self) -> bool {
        self.properties.deterministic
    }
    fn optimum(&mut self, l1: f64) -> Result<Option<f64>> {
        Ok(unwire(self.object.optimum(l1))?.into())
    }
}
