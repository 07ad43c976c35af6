//! [`Encoder`] across the boundary.

use abi_stable::sabi_trait;
use abi_stable::sabi_trait::TD_Opaque;
use abi_stable::std_types::{RBox, RSlice, RString, RVec};
use serde::{Deserialize, Serialize};

use super::{close, closed, from_json, report_close, to_json};
use crate::abi::guard::{WireResult, guard, unwire};
use crate::{Bits, Encoder, Layout, Point, Result};

#[sabi_trait]
pub trait EncoderWire: Send {
    /// [`Properties`] as JSON.
    fn properties(&self) -> WireResult<RString>;
    fn encode(&self, point: RSlice<'_, u32>) -> WireResult<RVec<bool>>;
    fn decode(&self, bits: RSlice<'_, bool>) -> WireResult<RVec<u32>>;
    #[sabi(last_prefix_field)]
    fn close(&mut self) -> WireResult<()>;
}

pub(crate) type EncoderObject = EncoderWire_TO<'static, RBox<()>>;

#[derive(Serialize, Deserialize)]
struct Properties {
    layout: Layout,
}

pub(crate) struct PluginEncoder {
    inner: Option<Box<dyn Encoder>>,
}

impl PluginEncoder {
    pub(crate) fn object(inner: Box<dyn Encoder>) -> EncoderObject {
        EncoderWire_TO::from_value(Self { inner: Some(inner) }, TD_Opaque)
    }
}

impl EncoderWire for PluginEncoder {
    fn properties(&self) -> WireResult<RString> {
        guard(|| {
            let inner = self.inner.as_ref().ok_or_else(closed)?;
            to_json(&Properties { layout: inner.layout() })
        })
    }
    fn encode(&self, point: RSlice<'_, u32>) -> WireResult<RVec<bool>> {
        guard(|| {
            let inner = self.inner.as_ref().ok_or_else(closed)?;
            Ok(inner.encode(&Point::from(point.to_vec()))?.into_vec().into())
        })
    }
    fn decode(&self, bits: RSlice<'_, bool>) -> WireResult<RVec<u32>> {
        guard(|| {
            let inner = self.inner.as_ref().ok_or_else(closed)?;
            Ok(inner.decode(&Bits::from(bits.to_vec()))?.into_vec().into())
        })
    }
    fn close(&mut self) -> WireResult<()> {
        close(&mut self.inner)
    }
}

impl Drop for PluginEncoder {
    fn drop(&mut self) {
        report_close(unwire(close(&mut self.inner)));
    }
}

/// An encoder from a dylib.
pub struct LoadedEncoder {
    object: EncoderObject,
    properties: Properties,
}

impl LoadedEncoder {
    pub(crate) fn new(object: EncoderObject) -> Result<Self> {
        let properties = from_json(&unwire(object.properties())?)?;
        Ok(Self { object, properties })
    }

    /// Ends the encoder; an error where its destructor panicked. Dropping it instead logs that error.
    pub fn close(mut self) -> Result<()> {
        unwire(self.object.close())
    }
}

impl Encoder for LoadedEncoder {
    fn layout(&self) -> Layout {
        self.properties.layout.clone()
    }
    fn encode(&self, point: &Point) -> Result<Bits> {
        Ok(Bits::from(unwire(self.object.encode(RSlice::from_slice(point)))?.into_vec()))
    }
    fn decode(&self, bits: &Bits) -> Result<Point> {
        Ok(Point::from(unwire(self.object.decode(RSlice::from_slice(bits)))?.into_vec()))
    }
}
