//! [`Solver`] across the boundary, with the problem and the answer behind accessors.

use std::time::Duration;

use abi_stable::sabi_trait;
use abi_stable::sabi_trait::TD_Opaque;
use abi_stable::sabi_types::{RMut, RRef};
use abi_stable::std_types::{RBox, ROk, ROption, RSlice, RStr, RString, RVec};
use serde::{Deserialize, Serialize};

use super::function::{FunctionObject, object, received};
use super::{close, closed, flat, from_json, ranges, report_close, to_json};
use crate::abi::guard::{WireResult, guard, unwire};
use crate::abi::shared::{SharedQuadratic, SharedRows};
use crate::solver::no_state;
use crate::{
    Acquisition, AcquisitionKind, Answer, BitMatrix, Bits, Error, Layout, Problem, Quadratic, Result, Rule,
    Solver, Stop,
};

#[sabi_trait]
pub trait SolverWire: Send {
    /// [`Properties`] as JSON.
    fn properties(&self) -> WireResult<RString>;
    fn minimize(&mut self, problem: &ProblemRef<'_>, seed: u64, answer: &mut AnswerMut<'_>)
    -> WireResult<()>;
    #[sabi(last_prefix_field)]
    fn close(&mut self) -> WireResult<()>;
    // Since 1.1; the host takes these bodies for an older plugin.
    fn save(&self) -> WireResult<ROption<RVec<u8>>> {
        ROk(ROption::RNone)
    }
    fn restore(&mut self, _state: RSlice<'_, u8>) -> WireResult<()> {
        guard(|| Err(no_state()))
    }
}

pub(crate) type SolverObject = SolverWire_TO<'static, RBox<()>>;

/// A [`Problem`] as a plugin reads it.
#[sabi_trait]
pub trait ProblemWire {
    /// Absent where the function is a general one.
    fn quadratic(&self) -> ROption<SharedQuadratic>;
    /// Absent where the function is quadratic.
    fn general(&self) -> ROption<FunctionObject>;
    /// Starts and ends of the groups, in turn.
    fn groups(&self) -> RSlice<'_, usize>;
    /// As JSON; empty where there are none.
    fn constraints(&self) -> RStr<'_>;
    /// Absent where there are none, as below.
    fn starts(&self) -> ROption<SharedRows>;
    fn unwanted(&self) -> ROption<SharedRows>;
    fn work_limit(&self) -> ROption<u64>;
    #[sabi(last_prefix_field)]
    fn time_limit_nanoseconds(&self) -> ROption<u64>;
}

pub(crate) type ProblemRef<'a> = ProblemWire_TO<'a, RRef<'a, ()>>;

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
    /// Names of [`AcquisitionKind`]s.
    takes: Vec<String>,
    /// Names of [`Rule`]s. Either side may know more of both than the other.
    keeps: Vec<String>,
}

pub(crate) struct PluginSolver {
    inner: Option<Box<dyn Solver>>,
}

impl PluginSolver {
    pub(crate) fn object(inner: Box<dyn Solver>) -> SolverObject {
        SolverWire_TO::from_value(Self { inner: Some(inner) }, TD_Opaque)
    }
}

impl SolverWire for PluginSolver {
    fn properties(&self) -> WireResult<RString> {
        guard(|| {
            let inner = self.inner.as_ref().ok_or_else(closed)?;
            let takes = AcquisitionKind::ALL.into_iter().filter(|&kind| inner.takes(kind));
            let keeps = Rule::ALL.into_iter().filter(|&rule| inner.keeps(rule));
            to_json(&Properties {
                takes: takes.map(|kind| kind.to_string()).collect(),
                keeps: keeps.map(|rule| rule.to_string()).collect(),
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
            let found = self.inner.as_mut().ok_or_else(closed)?.minimize(&problem, seed)?;
            write_answer(&found, answer);
            Ok(())
        })
    }
    fn close(&mut self) -> WireResult<()> {
        close(&mut self.inner)
    }
    fn save(&self) -> WireResult<ROption<RVec<u8>>> {
        guard(|| Ok(self.inner.as_ref().ok_or_else(closed)?.save()?.map(RVec::from).into()))
    }
    fn restore(&mut self, state: RSlice<'_, u8>) -> WireResult<()> {
        guard(|| self.inner.as_mut().ok_or_else(closed)?.restore(&state))
    }
}

impl Drop for PluginSolver {
    fn drop(&mut self) {
        report_close(unwire(close(&mut self.inner)));
    }
}

fn read_problem(wire: &ProblemRef<'_>) -> Result<Problem> {
    let objective = if let ROption::RSome(f) = wire.quadratic() {
        Acquisition::Quadratic(Quadratic::received(f)?)
    } else if let ROption::RSome(f) = wire.general() {
        Acquisition::General(received(f))
    } else {
        return Err(Error::new(
            "a problem with a function that this solver's version of the api does not know",
        ));
    };
    let n = objective.dimension();
    let mut problem = Problem::new(objective);
    let (groups, constraints) = (wire.groups(), wire.constraints());
    if !groups.is_empty() || !constraints.is_empty() {
        let mut layout = Layout::with_groups(n, ranges(&groups))?;
        if !constraints.is_empty() {
            layout = layout.with_constraints(from_json(constraints.as_str())?)?;
        }
        problem = problem.with_layout(&layout);
    }
    if let ROption::RSome(rows) = wire.starts() {
        problem = problem.with_starts(BitMatrix::received(n, Some(rows))?);
    }
    if let ROption::RSome(rows) = wire.unwanted() {
        problem = problem.with_unwanted(BitMatrix::received(n, Some(rows))?);
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
        let constraints = match problem.constraints() {
            [] => RString::new(),
            constraints => to_json(&constraints)?,
        };
        let sent = SentProblem { problem, groups: flat(problem.groups()), constraints };
        let mut written = WrittenAnswer::default();
        {
            let problem = ProblemWire_TO::from_ptr(RRef::new(&sent), TD_Opaque);
            let mut answer = AnswerWire_TO::from_ptr(RMut::new(&mut written), TD_Opaque);
            unwire(self.object.minimize(&problem, seed, &mut answer))?;
        }
        written.0.ok_or_else(|| Error::new("the solver gave no answer"))
    }
    fn takes(&self, kind: AcquisitionKind) -> bool {
        self.properties.takes.iter().any(|name| name == kind.name())
    }
    fn keeps(&self, rule: Rule) -> bool {
        self.properties.keeps.iter().any(|name| name == rule.name())
    }
    fn save(&self) -> Result<Option<Vec<u8>>> {
        Ok(unwire(self.object.save())?.into_option().map(RVec::into_vec))
    }
    fn restore(&mut self, state: &[u8]) -> Result<()> {
        unwire(self.object.restore(RSlice::from_slice(state)))
    }
}

struct SentProblem<'a> {
    problem: &'a Problem,
    groups: Vec<usize>,
    constraints: RString,
}

impl ProblemWire for SentProblem<'_> {
    fn quadratic(&self) -> ROption<SharedQuadratic> {
        match self.problem.objective() {
            Acquisition::Quadratic(f) => ROption::RSome(f.shared()),
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
    fn constraints(&self) -> RStr<'_> {
        self.constraints.as_rstr()
    }
    fn starts(&self) -> ROption<SharedRows> {
        self.problem.starts().shared().into()
    }
    fn unwanted(&self) -> ROption<SharedRows> {
        self.problem.unwanted().shared().into()
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
