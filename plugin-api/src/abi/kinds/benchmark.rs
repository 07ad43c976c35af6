//! [`Benchmark`] across the boundary, with the evaluation behind an object that the plugin writes to.

use abi_stable::sabi_trait;
use abi_stable::sabi_trait::TD_Opaque;
use abi_stable::sabi_types::RMut;
use abi_stable::std_types::{RBox, ROption, RSlice, RStr, RString};
use serde::{Deserialize, Serialize};

use super::{close, closed, from_json, report_close, to_json};
use crate::abi::guard::{WireResult, guard, unwire};
use crate::{Benchmark, Error, Evaluation, Point, Result, Sense, Space};

#[sabi_trait]
pub trait BenchmarkWire: Send {
    /// [`Properties`] as JSON.
    fn properties(&self) -> WireResult<RString>;
    fn evaluate(
        &mut self,
        point: RSlice<'_, u32>,
        seed: u64,
        evaluation: &mut EvaluationMut<'_>,
    ) -> WireResult<()>;
    fn optimum(&mut self, l1: f64) -> WireResult<ROption<f64>>;
    #[sabi(last_prefix_field)]
    fn close(&mut self) -> WireResult<()>;
}

pub(crate) type BenchmarkObject = BenchmarkWire_TO<'static, RBox<()>>;

/// An [`Evaluation`] as a plugin writes it: one call.
#[sabi_trait]
pub trait EvaluationWire {
    fn value(&mut self, value: f64);
    #[sabi(last_prefix_field)]
    fn infeasible(&mut self, reason: RStr<'_>);
}

pub(crate) type EvaluationMut<'a> = EvaluationWire_TO<'a, RMut<'a, ()>>;

#[derive(Serialize, Deserialize)]
struct Properties {
    space: Space,
    maximize: bool,
    deterministic: bool,
}

pub(crate) struct PluginBenchmark {
    inner: Option<Box<dyn Benchmark>>,
    /// The point being evaluated: its room is used again and again.
    point: Point,
}

impl PluginBenchmark {
    pub(crate) fn object(inner: Box<dyn Benchmark>) -> BenchmarkObject {
        let plugin = Self { inner: Some(inner), point: Point::from(Vec::new()) };
        BenchmarkWire_TO::from_value(plugin, TD_Opaque)
    }
}

impl BenchmarkWire for PluginBenchmark {
    fn properties(&self) -> WireResult<RString> {
        guard(|| {
            let inner = self.inner.as_ref().ok_or_else(closed)?;
            to_json(&Properties {
                space: inner.space()?,
                maximize: inner.sense() == Sense::Maximize,
                deterministic: inner.deterministic(),
            })
        })
    }
    fn evaluate(
        &mut self,
        point: RSlice<'_, u32>,
        seed: u64,
        evaluation: &mut EvaluationMut<'_>,
    ) -> WireResult<()> {
        guard(|| {
            self.point.copy_from(&point);
            match self.inner.as_mut().ok_or_else(closed)?.evaluate(&self.point, seed)? {
                Evaluation::Value(value) => evaluation.value(value),
                Evaluation::Infeasible(reason) => evaluation.infeasible(reason.as_str().into()),
            }
            Ok(())
        })
    }
    fn optimum(&mut self, l1: f64) -> WireResult<ROption<f64>> {
        guard(|| Ok(self.inner.as_mut().ok_or_else(closed)?.optimum(l1)?.into()))
    }
    fn close(&mut self) -> WireResult<()> {
        close(&mut self.inner)
    }
}

impl Drop for PluginBenchmark {
    fn drop(&mut self) {
        report_close(unwire(close(&mut self.inner)));
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
    fn space(&self) -> Result<Space> {
        Ok(self.properties.space.clone())
    }
    fn evaluate(&mut self, point: &Point, seed: u64) -> Result<Evaluation> {
        let mut written = WrittenEvaluation(None);
        {
            let mut evaluation = EvaluationWire_TO::from_ptr(RMut::new(&mut written), TD_Opaque);
            unwire(self.object.evaluate(RSlice::from_slice(point), seed, &mut evaluation))?;
        }
        written.0.ok_or_else(|| Error::new("the benchmark gave no value"))
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

struct WrittenEvaluation(Option<Evaluation>);

impl EvaluationWire for WrittenEvaluation {
    fn value(&mut self, value: f64) {
        self.0 = Some(Evaluation::Value(value));
    }
    fn infeasible(&mut self, reason: RStr<'_>) {
        self.0 = Some(Evaluation::infeasible(reason.as_str()));
    }
}
