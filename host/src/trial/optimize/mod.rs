//! The Bayesian optimization loop. It does no I/O: it tells a recorder what happens.

mod again;
mod evaluate;
mod propose;

use std::collections::BTreeSet;
use std::time::Duration;

use plugin_api::{Benchmark, BitMatrix, Bits, Encoder, Layout, Penalty, Point, Sense, Space};

pub(super) use self::evaluate::Begun;
use super::TrialError;
use super::ask::Asker;
use super::attempt::Workers;
use super::best::BestPoints;
use super::initial_design::initial_design;
use super::recommend::Candidates;
use super::repeat::Singles;
use super::turns::Turns;
use crate::manifest::Settings;
use crate::plan::{GivenPoint, Seeds};
use crate::record::Step;
use crate::record::asked::{Effects, Prediction};
use crate::record::event::{Event, Finished, Outcome, Phase};
use crate::record::incident::Incident;

/// The plugins of a trial.
pub(super) struct Parts {
    pub(super) benchmark: Box<dyn Benchmark>,
    /// The benchmark's.
    pub(super) space: Space,
    /// Between its points and the model's bits.
    pub(super) encoder: Box<dyn Encoder>,
    /// What bits cost.
    pub(super) penalty: Penalty,
    /// The surrogates, each with the solver that is followed, and the shadows.
    pub(super) turns: Turns,
    /// Who evaluates several points at a time; without, they are evaluated here, one after the other.
    pub(super) workers: Option<Box<dyn Workers>>,
    /// Single values of points that are evaluated several times.
    pub(super) singles: Option<Singles>,
}

/// What is known from an earlier run when a trial begins.
#[derive(Default)]
pub(super) struct Known {
    /// How many evaluations the surrogates have in their states already.
    pub(super) observed: usize,
    /// How many evaluations are taken from the record, without asking what would be proposed now: surrogates and
    /// solvers have in their states what they learned from these proposals, or have changed since.
    pub(super) recalled: usize,
    /// Whether all that is recorded is taken from the record, because plugins have changed since.
    pub(super) trusted: bool,
    /// How the trial's process died.
    pub(super) incidents: Vec<Incident>,
}

/// Who is told what happens, and remembers what happened in an earlier run.
pub(super) trait Recorder {
    /// Takes an event; it is kept before anything that depends on it happens.
    fn record(&mut self, event: Event) -> Result<(), TrialError>;

    /// What an earlier run recorded next; `None` where it recorded no more.
    fn recorded(&self) -> Option<&Event>;

    /// How an evaluation ended that an earlier run had made and not recorded: others of its round were under way.
    fn kept(&mut self, evaluation: usize, point: &Point) -> Option<Outcome>;

    /// Keeps how an evaluation ended until its turn to be recorded has come.
    fn keep_outcome(&mut self, evaluation: usize, point: &Point, outcome: &Outcome)
    -> Result<(), TrialError>;

    /// May keep the state of surrogates and solvers, which have seen this many evaluations.
    fn keep(&mut self, evaluations: usize, save: &mut dyn FnMut() -> plugin_api::Result<Option<Vec<u8>>>);

    /// Hears that a step begins.
    fn begins(&mut self, step: &Step);

    /// Takes how long a step took.
    fn took(&mut self, step: &Step, time: Duration);

    /// Hears where the trial is when it is in no step.
    fn at(&mut self, _place: &str) {}

    /// Takes what a surrogate expects of a point.
    fn predicted(&mut self, prediction: &Prediction);

    /// Takes what the surrogates have learned.
    fn explained(&mut self, effects: &Effects);

    /// Whether somebody asked to stop.
    fn stop(&self) -> bool;
}

/// Runs a trial to its end.
pub(super) fn optimize(
    parts: Parts,
    keys: &Settings,
    given: &[GivenPoint],
    known: Known,
    seeds: &Seeds,
    recorder: &mut dyn Recorder,
) -> Result<Finished, TrialError> {
    let batch = keys.budget.batch;
    let mut trial = Optimization::new(parts, keys, known, seeds, recorder);
    for given in given {
        if let Some(known) = &given.known {
            trial.take(&given.point, known.into())?;
        }
    }
    let design = initial_design(&trial.parts.space, keys, given, seeds)?;
    for round in design.chunks(batch) {
        for point in round {
            let bits = trial.encode(point)?;
            trial.begin(Phase::Initial, point.clone(), bits)?;
        }
        trial.conclude()?;
    }
    for first in (1..=keys.budget.evaluations).step_by(batch) {
        for iteration in first..(first + batch).min(keys.budget.evaluations + 1) {
            let Some((point, bits)) = trial.propose(iteration)? else { break };
            trial.begin(Phase::Search, point, bits)?;
        }
        if trial.pending.is_empty() {
            break;
        }
        trial.conclude()?;
    }
    trial.finish()
}

/// A trial on its way.
pub(super) struct Optimization<'r> {
    parts: Parts,
    keys: &'r Settings,
    known: Known,
    seeds: &'r Seeds,
    recorder: &'r mut dyn Recorder,
    layout: Layout,
    /// 1 where low values are good, −1 where high ones are: the model always minimizes.
    sign: f64,
    /// Points that are not proposed again: all that were evaluated, or, where the objective is noisy and may be asked
    /// again, those without a value. The matrix is for solvers.
    unwanted: (BTreeSet<Bits>, BitMatrix),
    evaluations: usize,
    /// The points that are being evaluated.
    pub(super) pending: Vec<Begun>,
    /// How many of the last evaluations failed, without a value or a clear no between them.
    failures: usize,
    best: BestPoints,
    /// Where the objective is noisy.
    candidates: Candidates,
    asker: Asker,
}

fn failed(what: impl Into<String>) -> impl FnOnce(plugin_api::Error) -> TrialError {
    let what = what.into();
    |source| TrialError::Plugin { what, source }
}

impl<'r> Optimization<'r> {
    pub(super) fn new(
        parts: Parts,
        keys: &'r Settings,
        known: Known,
        seeds: &'r Seeds,
        recorder: &'r mut dyn Recorder,
    ) -> Self {
        let layout = parts.encoder.layout();
        Self {
            sign: if parts.benchmark.sense() == Sense::Maximize { -1.0 } else { 1.0 },
            unwanted: (BTreeSet::new(), BitMatrix::new(layout.dimension())),
            asker: Asker::new(&known.incidents),
            parts,
            keys,
            known,
            seeds,
            recorder,
            layout,
            evaluations: 0,
            pending: Vec::new(),
            failures: 0,
            best: BestPoints::default(),
            candidates: Candidates::default(),
        }
    }

    pub(super) fn space(&self) -> &Space {
        &self.parts.space
    }

    /// Whether no point is evaluated twice.
    fn once(&self) -> bool {
        self.deterministic() || !self.keys.evaluation.again
    }

    pub(super) fn deterministic(&self) -> bool {
        self.parts.benchmark.deterministic()
    }

    /// The best total so far in the objective's own terms, and its point.
    pub(super) fn best_so_far(&self) -> Option<(f64, &Point)> {
        self.best.first().map(|best| (self.sign * best.total, &best.point))
    }

    /// What an earlier run recorded next.
    pub(super) fn next_recorded(&self) -> Option<Event> {
        self.recorder.recorded().cloned()
    }

    /// Whether what comes next is in the states of surrogates and solvers already.
    pub(super) fn restores(&mut self, restored: bool) {
        self.known.observed = if restored { usize::MAX } else { 0 };
    }

    /// The states of surrogates and solvers.
    pub(super) fn save(&self) -> plugin_api::Result<Option<Vec<u8>>> {
        self.parts.turns.save()
    }

    pub(super) fn encode(&self, point: &Point) -> Result<Bits, TrialError> {
        let bits = self.parts.encoder.encode(point).and_then(|bits| match self.layout.admits(&bits) {
            true => Ok(bits),
            false => Err(format!("{bits} is outside its own layout").into()),
        });
        bits.map_err(failed("encoding a point"))
    }

    fn decode(&self, bits: &Bits) -> Result<Point, TrialError> {
        let point = self.parts.encoder.decode(bits);
        let point = point.and_then(|point| self.parts.space.check(&point).map(|()| point));
        point.map_err(failed("decoding a point"))
    }

    fn finish(mut self) -> Result<Finished, TrialError> {
        if self.recorder.recorded().is_none() && self.asker.wants_last_effects() {
            self.explain();
        }
        self.recommend()?;
        self.recorder.at("where the benchmark is asked for the optimum");
        // The objective knows its own constraints, and not those of the manifest.
        let optimum = match self.keys.constraints.0.is_empty() {
            true => self.parts.benchmark.optimum(self.parts.penalty.lambda()),
            false => Ok(None),
        };
        let optimum = optimum.map_err(failed("asking for the optimum"))?;
        let best = self.best.first();
        let finished = Finished {
            evaluations: self.evaluations,
            best: best.map(|best| self.sign * best.total),
            point: best.map(|best| best.point.clone()),
            description: best.map(|best| self.parts.space.describe(&best.point)),
            optimum,
        };
        self.recorder.record(Event::Finished(finished.clone()))?;
        Ok(finished)
    }
}

/// A recorder that remembers events and nothing else.
#[cfg(test)]
pub(super) mod testing {
    use super::*;

    #[derive(Default)]
    pub(crate) struct Events(pub(crate) Vec<Event>);

    impl Recorder for Events {
        fn record(&mut self, event: Event) -> Result<(), TrialError> {
            self.0.push(event);
            Ok(())
        }
        fn recorded(&self) -> Option<&Event> {
            None
        }
        fn kept(&mut self, _: usize, _: &Point) -> Option<Outcome> {
            None
        }
        fn keep_outcome(&mut self, _: usize, _: &Point, _: &Outcome) -> Result<(), TrialError> {
            Ok(())
        }
        fn keep(&mut self, _: usize, _: &mut dyn FnMut() -> plugin_api::Result<Option<Vec<u8>>>) {}
        fn begins(&mut self, _: &Step) {}
        fn took(&mut self, _: &Step, _: Duration) {}
        fn predicted(&mut self, _: &Prediction) {}
        fn explained(&mut self, _: &Effects) {}
        fn stop(&self) -> bool {
            false
        }
    }
}

#[cfg(test)]
mod tests;
