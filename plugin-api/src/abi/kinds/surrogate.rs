//! [`Surrogate`] across the boundary, with requests behind accessors and what it answers behind objects that it writes
//! to.

use abi_stable::sabi_trait;
use abi_stable::sabi_trait::TD_Opaque;
use abi_stable::sabi_types::{RMut, RRef};
use abi_stable::std_types::{RBox, ROption, RSlice, RStr, RString, RVec};
use ndarray::ArrayView2;
use serde::{Deserialize, Serialize};

use super::function::{FunctionObject, object, received};
use super::{close, closed, from_json, report_close, to_json};
use crate::abi::guard::{WireResult, guard, unwire};
use crate::abi::shared::{SharedQuadratic, SharedRows};
use crate::{
    Acquisition, AcquisitionKind, BitMatrix, Bits, DrawRequest, Effect, Error, Evaluation, Penalty,
    Predictions, Quadratic, Result, Surrogate,
};

#[sabi_trait]
pub trait SurrogateWire: Send {
    /// [`Properties`] as JSON.
    fn properties(&self) -> WireResult<RString>;
    fn observe(&mut self, bits: RSlice<'_, bool>, value: f64) -> WireResult<()>;
    fn observe_infeasible(&mut self, bits: RSlice<'_, bool>, reason: RStr<'_>) -> WireResult<()>;
    fn draw(&mut self, request: &DrawRequestRef<'_>, drawn: &mut AcquisitionMut<'_>) -> WireResult<()>;
    /// Points are bits row after row; this many rows.
    fn predict(
        &mut self,
        points: RSlice<'_, bool>,
        rows: usize,
        predictions: &mut PredictionsMut<'_>,
    ) -> WireResult<()>;
    fn effects(&mut self, effects: &mut EffectsMut<'_>) -> WireResult<()>;
    /// Names and words, in turn.
    fn notes(&self) -> WireResult<RVec<RString>>;
    fn save(&self) -> WireResult<ROption<RVec<u8>>>;
    fn restore(&mut self, state: RSlice<'_, u8>) -> WireResult<()>;
    #[sabi(last_prefix_field)]
    fn close(&mut self) -> WireResult<()>;
}

pub(crate) type SurrogateObject = SurrogateWire_TO<'static, RBox<()>>;

/// A [`DrawRequest`] as a plugin reads it.
#[sabi_trait]
pub trait DrawRequestWire {
    fn seed(&self) -> u64;
    fn iteration(&self) -> usize;
    fn l1(&self) -> f64;
    fn best_total(&self) -> ROption<f64>;
    /// Absent where there are none, as below.
    fn best_points(&self) -> ROption<SharedRows>;
    #[sabi(last_prefix_field)]
    fn pending(&self) -> ROption<SharedRows>;
    /// The point that costs nothing; empty where that is the one without a bit set.
    fn penalty_origin(&self) -> RSlice<'_, bool> {
        RSlice::EMPTY
    }
    fn noisy(&self) -> bool {
        false
    }
}

pub(crate) type DrawRequestRef<'a> = DrawRequestWire_TO<'a, RRef<'a, ()>>;

/// An [`Acquisition`] as a plugin writes it: one call.
#[sabi_trait]
pub trait AcquisitionWire {
    fn quadratic(&mut self, function: SharedQuadratic);
    #[sabi(last_prefix_field)]
    fn general(&mut self, function: FunctionObject);
}

pub(crate) type AcquisitionMut<'a> = AcquisitionWire_TO<'a, RMut<'a, ()>>;

/// [`Predictions`] as a plugin writes them: one call, or none from a model that cannot tell.
#[sabi_trait]
pub trait PredictionsWire {
    #[sabi(last_prefix_field)]
    fn predictions(&mut self, means: RSlice<'_, f64>, deviations: RSlice<'_, f64>);
}

pub(crate) type PredictionsMut<'a> = PredictionsWire_TO<'a, RMut<'a, ()>>;

/// [`Effect`]s as a plugin writes them: one call to begin, or none from a model without terms, then one for each.
#[sabi_trait]
pub trait EffectsWire {
    fn begin(&mut self);
    #[sabi(last_prefix_field)]
    fn effect(&mut self, bits: RSlice<'_, usize>, size: f64, deviation: f64);
}

pub(crate) type EffectsMut<'a> = EffectsWire_TO<'a, RMut<'a, ()>>;

#[derive(Serialize, Deserialize)]
struct Properties {
    /// The name of an [`AcquisitionKind`].
    draws: String,
}

pub(crate) struct PluginSurrogate {
    inner: Option<Box<dyn Surrogate>>,
    dimension: usize,
}

impl PluginSurrogate {
    /// A surrogate for layouts of this many bits.
    pub(crate) fn object(inner: Box<dyn Surrogate>, dimension: usize) -> SurrogateObject {
        SurrogateWire_TO::from_value(Self { inner: Some(inner), dimension }, TD_Opaque)
    }
}

impl SurrogateWire for PluginSurrogate {
    fn properties(&self) -> WireResult<RString> {
        guard(|| {
            let inner = self.inner.as_ref().ok_or_else(closed)?;
            to_json(&Properties { draws: inner.draws().to_string() })
        })
    }
    fn observe(&mut self, bits: RSlice<'_, bool>, value: f64) -> WireResult<()> {
        guard(|| {
            let inner = self.inner.as_mut().ok_or_else(closed)?;
            inner.observe(&Bits::from(bits.as_slice()), &Evaluation::Value(value))
        })
    }
    fn observe_infeasible(&mut self, bits: RSlice<'_, bool>, reason: RStr<'_>) -> WireResult<()> {
        guard(|| {
            let inner = self.inner.as_mut().ok_or_else(closed)?;
            inner.observe(&Bits::from(bits.as_slice()), &Evaluation::infeasible(reason.as_str()))
        })
    }
    fn draw(&mut self, request: &DrawRequestRef<'_>, drawn: &mut AcquisitionMut<'_>) -> WireResult<()> {
        guard(|| {
            let request = read_request(request, self.dimension)?;
            match self.inner.as_mut().ok_or_else(closed)?.draw(&request)? {
                Acquisition::Quadratic(f) => drawn.quadratic(f.shared()),
                Acquisition::General(f) => drawn.general(object(f)),
            }
            Ok(())
        })
    }
    fn predict(
        &mut self,
        points: RSlice<'_, bool>,
        rows: usize,
        predictions: &mut PredictionsMut<'_>,
    ) -> WireResult<()> {
        guard(|| {
            let points =
                ArrayView2::from_shape((rows, self.dimension), points.as_slice()).map_err(Error::wrap)?;
            if let Some(found) = self.inner.as_mut().ok_or_else(closed)?.predict(points)? {
                let slice = RSlice::from_slice;
                predictions.predictions(slice(found.means()), slice(found.deviations()));
            }
            Ok(())
        })
    }
    fn effects(&mut self, effects: &mut EffectsMut<'_>) -> WireResult<()> {
        guard(|| {
            if let Some(found) = self.inner.as_mut().ok_or_else(closed)?.effects()? {
                effects.begin();
                for effect in &found {
                    effects.effect(RSlice::from_slice(effect.bits()), effect.size(), effect.deviation());
                }
            }
            Ok(())
        })
    }
    fn notes(&self) -> WireResult<RVec<RString>> {
        guard(|| {
            let notes = self.inner.as_ref().ok_or_else(closed)?.notes()?;
            Ok(notes.into_iter().flat_map(|(name, words)| [name.into(), words.into()]).collect())
        })
    }
    fn save(&self) -> WireResult<ROption<RVec<u8>>> {
        guard(|| Ok(self.inner.as_ref().ok_or_else(closed)?.save()?.map(RVec::from).into()))
    }
    fn restore(&mut self, state: RSlice<'_, u8>) -> WireResult<()> {
        guard(|| self.inner.as_mut().ok_or_else(closed)?.restore(&state))
    }
    fn close(&mut self) -> WireResult<()> {
        close(&mut self.inner)
    }
}

impl Drop for PluginSurrogate {
    fn drop(&mut self) {
        report_close(unwire(close(&mut self.inner)));
    }
}

fn read_request(wire: &DrawRequestRef<'_>, dimension: usize) -> Result<DrawRequest> {
    let matrix = |rows: ROption<SharedRows>| BitMatrix::received(dimension, rows.into_option());
    let (mut penalty, origin) = (Penalty::l1(wire.l1()), wire.penalty_origin());
    if !origin.is_empty() {
        if origin.len() != dimension {
            return Err(Error::new(format!("a penalty of {} bits for a model of {dimension}", origin.len())));
        }
        penalty = penalty.from_point(Bits::from(origin.as_slice()));
    }
    let request = DrawRequest::new(wire.seed())
        .with_iteration(wire.iteration())
        .with_penalty(penalty)
        .with_noisy(wire.noisy())
        .with_best_points(matrix(wire.best_points())?)
        .with_pending(matrix(wire.pending())?);
    Ok(match wire.best_total() {
        ROption::RSome(total) => request.with_best_total(total),
        ROption::RNone => request,
    })
}

/// A surrogate from a dylib.
pub struct LoadedSurrogate {
    object: SurrogateObject,
    draws: AcquisitionKind,
    dimension: usize,
}

impl LoadedSurrogate {
    pub(crate) fn new(object: SurrogateObject, dimension: usize) -> Result<Self> {
        let Properties { draws } = from_json(&unwire(object.properties())?)?;
        Ok(Self { object, draws: draws.parse()?, dimension })
    }

    /// Ends the surrogate; an error where its destructor panicked. Dropping it instead logs that error.
    pub fn close(mut self) -> Result<()> {
        unwire(self.object.close())
    }
}

impl Surrogate for LoadedSurrogate {
    fn observe(&mut self, bits: &Bits, evaluation: &Evaluation) -> Result<()> {
        let bits = RSlice::from_slice(bits);
        unwire(match evaluation {
            Evaluation::Value(value) => self.object.observe(bits, *value),
            Evaluation::Infeasible(reason) => self.object.observe_infeasible(bits, reason.as_str().into()),
        })
    }
    fn draw(&mut self, request: &DrawRequest) -> Result<Acquisition> {
        let mut drawn = Drawn(None);
        {
            let request = DrawRequestWire_TO::from_ptr(RRef::new(request), TD_Opaque);
            let mut drawn = AcquisitionWire_TO::from_ptr(RMut::new(&mut drawn), TD_Opaque);
            unwire(self.object.draw(&request, &mut drawn))?;
        }
        match drawn.0.ok_or_else(|| Error::new("the surrogate drew nothing"))? {
            DrawnFunction::Quadratic(f) => Quadratic::received(f).map(Acquisition::Quadratic),
            DrawnFunction::General(f) => Ok(Acquisition::General(received(f))),
        }
    }
    fn draws(&self) -> AcquisitionKind {
        self.draws
    }
    fn predict(&mut self, points: ArrayView2<'_, bool>) -> Result<Option<Predictions>> {
        if points.ncols() != self.dimension {
            let (found, expected) = (points.ncols(), self.dimension);
            return Err(Error::new(format!("points of {found} bits for a model of {expected}")));
        }
        let rows = points.nrows();
        let points = points.as_standard_layout();
        let bits = RSlice::from_slice(points.as_slice().expect("rows in order"));
        let mut written = WrittenPredictions(None);
        {
            let mut predictions = PredictionsWire_TO::from_ptr(RMut::new(&mut written), TD_Opaque);
            unwire(self.object.predict(bits, rows, &mut predictions))?;
        }
        let Some((means, deviations)) = written.0 else { return Ok(None) };
        if means.len() != rows {
            return Err(Error::new(format!("{} predictions for {rows} points", means.len())));
        }
        Predictions::new(means, deviations).map(Some)
    }
    fn effects(&mut self) -> Result<Option<Vec<Effect>>> {
        let mut written = WrittenEffects(None);
        {
            let mut effects = EffectsWire_TO::from_ptr(RMut::new(&mut written), TD_Opaque);
            unwire(self.object.effects(&mut effects))?;
        }
        Ok(written.0)
    }
    fn notes(&self) -> Result<Vec<(String, String)>> {
        let notes = unwire(self.object.notes())?;
        let pair = |pair: &[RString]| (pair[0].to_string(), pair[1].to_string());
        Ok(notes.chunks_exact(2).map(pair).collect())
    }
    fn save(&self) -> Result<Option<Vec<u8>>> {
        Ok(unwire(self.object.save())?.into_option().map(RVec::into_vec))
    }
    fn restore(&mut self, state: &[u8]) -> Result<()> {
        unwire(self.object.restore(RSlice::from_slice(state)))
    }
}

impl DrawRequestWire for DrawRequest {
    fn seed(&self) -> u64 {
        self.seed()
    }
    fn iteration(&self) -> usize {
        self.iteration()
    }
    fn l1(&self) -> f64 {
        self.penalty().lambda()
    }
    fn best_total(&self) -> ROption<f64> {
        self.best_total().into()
    }
    fn best_points(&self) -> ROption<SharedRows> {
        self.best_points().shared().into()
    }
    fn pending(&self) -> ROption<SharedRows> {
        self.pending().shared().into()
    }
    fn penalty_origin(&self) -> RSlice<'_, bool> {
        self.penalty().origin().map_or(RSlice::EMPTY, |origin| RSlice::from_slice(origin))
    }
    fn noisy(&self) -> bool {
        self.noisy()
    }
}

struct Drawn(Option<DrawnFunction>);

enum DrawnFunction {
    Quadratic(SharedQuadratic),
    General(FunctionObject),
}

impl AcquisitionWire for Drawn {
    fn quadratic(&mut self, function: SharedQuadratic) {
        self.0 = Some(DrawnFunction::Quadratic(function));
    }
    fn general(&mut self, function: FunctionObject) {
        self.0 = Some(DrawnFunction::General(function));
    }
}

struct WrittenPredictions(Option<(Vec<f64>, Vec<f64>)>);

impl PredictionsWire for WrittenPredictions {
    fn predictions(&mut self, means: RSlice<'_, f64>, deviations: RSlice<'_, f64>) {
        self.0 = Some((means.to_vec(), deviations.to_vec()));
    }
}

struct WrittenEffects(Option<Vec<Effect>>);

impl EffectsWire for WrittenEffects {
    fn begin(&mut self) {
        self.0 = Some(Vec::new());
    }
    fn effect(&mut self, bits: RSlice<'_, usize>, size: f64, deviation: f64) {
        self.0.get_or_insert_default().push(Effect::new(bits.to_vec(), size, deviation));
    }
}
