//! [`Surrogate`] across the boundary.

use abi_stable::sabi_trait;
use abi_stable::sabi_trait::TD_Opaque;
use abi_stable::std_types::{RBox, ROption, RSlice, RString, RVec};
use serde::{Deserialize, Serialize};

use super::function::WireAcquisition;
use super::{close, closed, from_json, report_close, to_json};
use crate::abi::guard::{WireResult, guard, unwire};
use crate::{Acquisition, AcquisitionKind, Bits, Result, Surrogate};

#[sabi_trait]
pub trait SurrogateWire: Send {
    /// [`Properties`] as JSON.
    fn properties(&self) -> WireResult<RString>;
    fn observe(&mut self, bits: RSlice<'_, bool>, value: f64) -> WireResult<()>;
    fn draw(&mut self, seed: u64) -> WireResult<WireAcquisition>;
    fn save(&self) -> WireResult<ROption<RVec<u8>>>;
    fn restore(&mut self, state: RSlice<'_, u8>) -> WireResult<()>;
    #[sabi(last_prefix_field)]
    fn close(&mut self) -> WireResult<()>;
}

pub(crate) type SurrogateObject = SurrogateWire_TO<'static, RBox<()>>;

#[derive(Serialize, Deserialize)]
struct Properties {
    draws_general: bool,
}

pub(crate) struct PluginSurrogate(Option<Box<dyn Surrogate>>);

impl PluginSurrogate {
    pub(crate) fn object(inner: Box<dyn Surrogate>) -> SurrogateObject {
        SurrogateWire_TO::from_value(Self(Some(inner)), TD_Opaque)
    }
}

impl SurrogateWire for PluginSurrogate {
    fn properties(&self) -> WireResult<RString> {
        guard(|| {
            let inner = self.0.as_ref().ok_or_else(closed)?;
            to_json(&Properties { draws_general: inner.draws() == AcquisitionKind::General })
        })
    }
    fn observe(&mut self, bits: RSlice<'_, bool>, value: f64) -> WireResult<()> {
        let bits = Bits::from(bits.to_vec());
        guard(|| self.0.as_mut().ok_or_else(closed)?.observe(&bits, value))
    }
    fn draw(&mut self, seed: u64) -> WireResult<WireAcquisition> {
        guard(|| Ok(WireAcquisition::new(self.0.as_mut().ok_or_else(closed)?.draw(seed)?)))
    }
    fn save(&self) -> WireResult<ROption<RVec<u8>>> {
        guard(|| Ok(self.0.as_ref().ok_or_else(closed)?.save()?.map(RVec::from).into()))
    }
    fn restore(&mut self, state: RSlice<'_, u8>) -> WireResult<()> {
        guard(|| self.0.as_mut().ok_or_else(closed)?.restore(&state))
    }
    fn close(&mut self) -> WireResult<()> {
        close(&mut self.0)
    }
}

impl Drop for PluginSurrogate {
    fn drop(&mut self) {
        report_close(unwire(close(&mut self.0)));
    }
}

/// A surrogate from a dylib.
pub struct LoadedSurrogate {
    object: SurrogateObject,
    properties: Properties,
}

impl LoadedSurrogate {
    pub(crate) fn new(object: SurrogateObject) -> Result<Self> {
        let properties = from_json(&unwire(object.properties())?)?;
        Ok(Self { object, properties })
    }

    /// Ends the surrogate; an error where its destructor panicked. Dropping it instead logs that error.
    pub fn close(mut self) -> Result<()> {
        unwire(self.object.close())
    }
}

impl Surrogate for LoadedSurrogate {
    fn observe(&mut self, bits: &Bits, value: f64) -> Result<()> {
        unwire(self.object.observe(RSlice::from_slice(bits), value))
    }
    fn draw(&mut self, seed: u64) -> Result<Acquisition> {
        unwire(self.object.draw(seed))?.into_acquisition()
    }
    fn draws(&self) -> AcquisitionKind {
        if self.properties.draws_general { AcquisitionKind::General } else { AcquisitionKind::Quadratic }
    }
    fn save(&self) -> Result<Option<Vec<u8>>> {
        Ok(unwire(self.object.save())?.into_option().map(RVec::into_vec))
    }
    fn restore(&mut self, state: &[u8]) -> Result<()> {
        unwire(self.object.restore(RSlice::from_slice(state)))
    }
}
