//! [`Solver`] across the boundary, with the problem and the answer behind accessors.

use std::ops::Range;
use std::time::Duration;

use abi_stable::StableAbi;
use abi_stable::sabi_trait;
use abi_stable::sabi_trait::TD_Opaque;
use abi_stable::sabi_types::{RMut, RRef};
use abi_stable::std_types::{RBox, ROption, RSlice, RStr, RString};
use serde::{Deserialize, Serialize};

use super::function::{FunctionObject, object, received};
use super::{close, closed, from_json, report_close, to_json};
use crate::abi::guard::{WireResult, guard, unwire};
use crate::{
    Acquisition, AcquisitionKind, Answer, Bits, Error, Layout, Problem, Quadratic, Result, Solver, Stop,
};

#[sabi_trait]
pub trait SolverWire: Send {
    /// [`Properties`] as JSON.
    fn properties(&self) -> WireResult<RString>;
    fn minimize(&mut self, problem: &ProblemRef<'_>, seed: u64, answer: &mut AnswerMut<'_>)
    -> WireResult<()>;
    #[sabi(last_prefix_field)]
    fn close(&mut self) -> WireResult<()>;
}

pub(crate) type SolverObject = SolverWire_TO<'static, RBox<()>>;

/// A [`Problem`] as a plugin reads it.
#[sabi_trait]
pub trait ProblemWire {
    /// Absent where the function is a general one.
    fn quadratic(&self) -> ROption<QuadraticView<'_>>;
    /// Absent where the function is quadratic.
    fn general(&self) -> ROption<FunctionObject>;
    /// Starts and ends of the groups, in turn.
    fn groups(&self) -> RSlice<'_, usize>;
    fn incumbent(&self) -> ROption<RSlice<'_, bool>>;
    fn work_limit(&self) -> ROption<u64>;
    #[sabi(last_prefix_field)]
    fn time_limit_nanoseconds(&self) -> ROption<u64>;
}

pub(crate) type ProblemRef<'a> = ProblemWire_TO<'a, RRef<'a, ()>>;

/// A [`Quadratic`] as a plugin reads it: three parts, for ever.
#[repr(C)]
#[derive(StableAbi)]
pub struct QuadraticView<'a> {
    constant: f64,
    linear: RSlice<'a, f64>,
    pairs: RSlice<'a, f64>,
}

/// An [`Answer`] as a plugin writes it.
#[sabi_trait]
pub trait AnswerWire {
    fn point(&mut self, bits: RSlice<'_, bool>, value: f64);
    fn bound(&mut self, bound: f64);
    fn count(&mut self, name: RStr<'_>, count: u64);
    /// 0 done, 1 work limit, 2 time limit.
    #[sabi(last_prefix_field)]
    fn stop(&mut self, stop: u8);
}

pub(crate) type AnswerMut<'a> = AnswerWire_TO<'a, RMut<'a, ()>>;

#[derive(Serialize, Deserialize)]
struct Properties {
    takes_general: bool,
    keeps_groups: bool,
}

pub(crate) struct PluginSolver(Option<Box<dyn Solver>>);

impl PluginSolver {
    pub(crate) fn object(inner: Box<dyn Solver>) -> SolverObject {
        SolverWire_TO::from_value(Self(Some(inner)), TD_Opaque)
    }
}

impl SolverWire for PluginSolver {
    fn properties(&self) -> WireResult<RString> {
        guard(|| {
            let inner = self.0.as_ref().ok_or_else(closed)?;
            to_json(&Properties {
                takes_general: inner.takes() == AcquisitionKind::General,
                keeps_groups: inner.keeps_groups(),
            })
        })
    }
    fn minimize(
        &mut self,
        problem: &ProblemRef<'_>,
        seed: u64,
        answer: &mut AnswerMut<'_>,
    ) -> WireResult<()> {
        guard(|| {
            let problem = read_problem(problem)?;
            let found = self.0.as_mut().ok_or_else(closed)?.minimize(&problem, seed)?;
            write_answer(&found, answer);
            Ok(())
        })
    }
    fn close(&mut self) -> WireResult<()> {
        close(&mut self.0)
    }
}

impl Drop for PluginSolver {
    fn drop(&mut self) {
        report_close(unwire(close(&mut self.0)));
    }
}

fn read_problem(wire: &ProblemRef<'_>) -> Result<Problem> {
    let objective = match (wire.quadratic(), wire.general()) {
        (ROption::RSome(view), _) => {
            Acquisition::Quadratic(Quadratic::new(view.constant, view.linear.to_vec(), view.pairs.to_vec())?)
        }
        (_, ROption::RSome(function)) => Acquisition::General(received(function)),
        _ => return Err(Error::new("a problem without a function")),
    };
    let groups: Vec<Range<usize>> = wire.groups().chunks_exact(2).map(|pair| pair[0]..pair[1]).collect();
    let layout = Layout::with_groups(objective.dimension(), groups)?;
    let mut problem = Problem::new(objective).with_groups(&layout);
    if let ROption::RSome(bits) = wire.incumbent() {
        problem = problem.with_incumbent(Bits::from(bits.to_vec()));
    }
    if let ROption::RSome(steps) = wire.work_limit() {
        problem = problem.with_work_limit(steps);
    }
    if let ROption::RSome(nanoseconds) = wire.time_limit_nanoseconds() {
        problem = problem.with_time_limit(Duration::from_nanos(nanoseconds));
    }
    Ok(problem)
}

fn write_answer(answer: &Answer, wire: &mut AnswerMut<'_>) {
    wire.point(RSlice::from_slice(answer.bits()), answer.value());
    if let Some(bound) = answer.bound() {
        wire.bound(bound);
    }
    for (name, count) in answer.counts() {
        wire.count(name.as_str().into(), *count);
    }
    wire.stop(match answer.stop() {
        Stop::Done => 0,
        Stop::Work => 1,
        Stop::Time => 2,
    });
}

/// A solver from a dylib.
pub struct LoadedSolver {
    object: SolverObject,
    properties: Properties,
}

impl LoadedSolver {
    pub(crate) fn new(object: SolverObject) -> Result<Self> {
        let properties = from_json(&unwire(object.properties())?)?;
        Ok(Self { object, properties })
    }

    /// Ends the solver; an error where its destructor panicked. Dropping it instead logs that error.
    pub fn close(mut self) -> Result<()> {
        unwire(self.object.close())
    }
}

impl Solver for LoadedSolver {
    fn minimize(&mut self, problem: &Problem, seed: u64) -> Result<Answer> {
        let groups = problem.groups().iter().flat_map(|group| [group.start, group.end]).collect();
        let sent = SentProblem { problem, groups };
        let mut written = WrittenAnswer::default();
        {
            let problem = ProblemWire_TO::from_ptr(RRef::new(&sent), TD_Opaque);
            let mut answer = AnswerWire_TO::from_ptr(RMut::new(&mut written), TD_Opaque);
            unwire(self.object.minimize(&problem, seed, &mut answer))?;
        }
        written.0.ok_or_else(|| Error::new("the solver gave no answer"))
    }
    fn takes(&self) -> AcquisitionKind {
        if self.properties.takes_general { AcquisitionKind::General } else { AcquisitionKind::Quadratic }
    }
    fn keeps_groups(&self) -> bool {
        self.properties.keeps_groups
    }
}

struct SentProblem<'a> {
    problem: &'a Problem,
    groups: Vec<usize>,
}

impl ProblemWire for SentProblem<'_> {
    fn quadratic(&self) -> ROption<QuadraticView<'_>> {
        match self.problem.objective() {
            Acquisition::Quadratic(f) => ROption::RSome(QuadraticView {
                constant: f.constant(),
                linear: RSlice::from_slice(f.linear()),
                pairs: RSlice::from_slice(f.pairs()),
            }),
            Acquisition::General(_) => ROption::RNone,
        }
    }
    fn general(&self) -> ROption<FunctionObject> {
        match self.problem.objective() {
            Acquisition::Quadratic(_) => ROption::RNone,
            Acquisition::General(f) => ROption::RSome(object(f.clone())),
        }
    }
    fn groups(&self) -> RSlice<'_, usize> {
        RSlice::from_slice(&self.groups)
    }
    fn incumbent(&self) -> ROption<RSlice<'_, bool>> {
        self.problem.incumbent().map(|bits| RSlice::from_slice(bits)).into()
    }
    fn work_limit(&self) -> ROption<u64> {
        self.problem.work_limit().into()
    }
    fn time_limit_nanoseconds(&self) -> ROption<u64> {
        let nanoseconds = |limit: Duration| u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        self.problem.time_limit().map(nanoseconds).into()
    }
}

#[derive(Default)]
struct WrittenAnswer(Option<Answer>);

impl WrittenAnswer {
    fn update(&mut self, change: impl FnOnce(Answer) -> Answer) {
        self.0 = self.0.take().map(change);
    }
}

impl AnswerWire for WrittenAnswer {
    fn point(&mut self, bits: RSlice<'_, bool>, value: f64) {
        self.0 = Some(Answer::new(Bits::from(bits.to_vec()), value));
    }
    fn bound(&mut self, bound: f64) {
        self.update(|answer| answer.with_bound(bound));
    }
    fn count(&mut self, name: RStr<'_>, count: u64) {
        self.update(|answer| answer.with_count(name.as_str(), count));
    }
    fn stop(&mut self, stop: u8) {
        let stop = match stop {
            1 => Stop::Work,
            2 => Stop::Time,
            _ => Stop::Done,
        };
        self.update(|answer| answer.with_stop(stop));
    }
}
