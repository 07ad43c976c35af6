//! The Bayesian optimization loop. It does no I/O: it tells a recorder what happens.

use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use plugin_api::{
    Acquisition, Benchmark, BitMatrix, Bits, DrawRequest, Encoder, Evaluation, Layout, Penalty, Point, Sense,
    Space,
};

use serde_json::{Map, Value as Json};

use super::TrialError;
use super::ask::{Asker, bit_names};
use super::attempt::{Awaits, Task, Workers, attempt};
use super::best::{Best, BestPoints};
use super::initial_design::initial_design;
use super::problem::Afo;
use super::recommend::{Candidates, Chosen, expected};
use super::repeat::Singles;
use super::turns::Turns;
use super::unseen::unseen;
use crate::manifest::Settings;
use crate::manifest::keys::evaluation::OnFailure;
use crate::plan::{GivenPoint, Seeds, repetition};
use crate::record::Step;
use crate::record::asked::{Effects, Prediction};
use crate::record::event::{
    Answered, Choice, Evaluated, Evaluating, Event, Finished, Outcome, Phase, Proposed, Recommended,
};
use crate::record::incident::{self, Incident};
use crate::text::cut;

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

/// An evaluation that has begun.
pub(super) struct Begun {
    pub(super) evaluation: usize,
    pub(super) point: Point,
    pub(super) bits: Bits,
}

/// The evaluations of a round, until all have ended.
struct Awaiting<'a> {
    recorder: &'a mut dyn Recorder,
    ended: Vec<Option<(Outcome, Option<Duration>)>>,
    /// Whether there is but one, which is recorded at once.
    alone: bool,
}

impl Awaits for Awaiting<'_> {
    fn stop(&self) -> bool {
        self.recorder.stop()
    }

    fn ended(&mut self, task: &Task, outcome: Outcome, took: Duration) -> Result<(), TrialError> {
        if !self.alone {
            self.recorder.keep_outcome(task.evaluation, &task.point, &outcome)?;
        }
        self.ended[task.place] = Some((outcome, Some(took)));
        Ok(())
    }
}

fn no_result(begun: &Begun) -> TrialError {
    TrialError::Recorded(format!("no result of evaluation {} is recorded", begun.evaluation))
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

    /// Goes through a proposal that is recorded: asks surrogate and solver again, so that they learn what they learned then,
    /// unless their states have it.
    pub(super) fn go_through(&mut self, proposed: &Proposed) -> Result<(), TrialError> {
        match self.known.observed > 0 || self.known.trusted {
            true => self.recorder.record(Event::Proposed(proposed.clone())),
            false => self.propose(proposed.iteration).map(|_| ()),
        }
    }

    /// An evaluation under way, which is none any more.
    pub(super) fn take_pending(&mut self, evaluation: usize) -> Option<Begun> {
        let at = self.pending.iter().position(|begun| begun.evaluation == evaluation)?;
        Some(self.pending.remove(at))
    }

    /// Records how an evaluation ended, and tells the surrogates.
    pub(super) fn tell(&mut self, begun: &Begun, outcome: Outcome) -> Result<Outcome, TrialError> {
        let outcome = self.record(begun, outcome)?;
        self.observe(begun, outcome.clone())?;
        Ok(outcome)
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

    /// A point is to be evaluated, with the others that are under way.
    pub(super) fn begin(&mut self, phase: Phase, point: Point, bits: Bits) -> Result<(), TrialError> {
        if self.recorder.stop() {
            return Err(TrialError::Stopped);
        }
        self.evaluations += 1;
        let evaluation = self.evaluations;
        self.recorder.record(Event::Evaluating(Evaluating { evaluation, phase, point: point.clone() }))?;
        self.pending.push(Begun { evaluation, point, bits });
        Ok(())
    }

    /// Evaluates the points under way, or takes from the record how that ended; then the surrogates are told.
    fn conclude(&mut self) -> Result<(), TrialError> {
        let round = std::mem::take(&mut self.pending);
        let (mut made, mut ended) = (VecDeque::new(), Vec::new());
        for (i, begun) in round.iter().enumerate() {
            let recorded = match self.recorder.recorded() {
                Some(Event::Evaluated(evaluated)) => Some(evaluated.outcome()),
                Some(_) => return Err(no_result(begun)),
                None => None,
            };
            let is_new = recorded.is_none();
            let (outcome, took) = match recorded {
                Some(outcome) => (outcome, None),
                None => {
                    if made.is_empty() {
                        made = self.outcomes(&round[i..])?.into();
                    }
                    made.pop_front().expect("every evaluation has ended")
                }
            };
            // The value is on disk before anything else is done with it.
            let outcome = self.record(begun, outcome)?;
            if let Some(took) = took {
                self.recorder.took(&Step::Evaluate { evaluation: begun.evaluation }, took);
            }
            ended.push((outcome, is_new));
        }
        let mut observed = false;
        for (begun, (outcome, is_new)) in round.iter().zip(ended) {
            self.judge(begun.evaluation, &outcome, is_new)?;
            observed |= self.observe(begun, outcome)?;
        }
        self.keep(observed);
        Ok(())
    }

    /// Takes a point whose evaluation somebody else made.
    pub(super) fn take(&mut self, point: &Point, outcome: Outcome) -> Result<(), TrialError> {
        let bits = self.encode(point)?;
        self.begin(Phase::Given, point.clone(), bits)?;
        let begun = self.pending.pop().expect("it has begun");
        let outcome = self.record(&begun, outcome)?;
        let observed = self.observe(&begun, outcome)?;
        self.keep(observed);
        Ok(())
    }

    /// Records how an evaluation ended, and where that leaves the trial.
    pub(super) fn record(&mut self, begun: &Begun, outcome: Outcome) -> Result<Outcome, TrialError> {
        let Begun { evaluation, point, bits } = begun;
        let penalty = self.parts.penalty.of(bits);
        let outcome = match outcome {
            Outcome::Value(value) if !(value + self.sign * penalty).is_finite() => {
                Outcome::Failed(format!("the value {value} overflows with the penalty {penalty}"))
            }
            outcome => outcome,
        };
        let total = outcome.value().map(|value| value + self.sign * penalty);
        if let Some(value) = outcome.value().filter(|_| !self.parts.benchmark.deterministic()) {
            self.candidates.add(bits, point, self.sign * value);
        }
        let repeats = self.repeats(*evaluation, &outcome);
        if let Some(total) = total {
            self.best.add(Best { total: self.sign * total, bits: bits.clone(), point: point.clone() });
        }
        let best = self.best.first().map(|best| self.sign * best.total);
        let (status, value, reason) =
            (outcome.status(), outcome.value(), outcome.reason().map(str::to_owned));
        self.recorder.record(Event::Evaluated(Evaluated {
            evaluation: *evaluation,
            status,
            value,
            reason,
            penalty,
            total,
            best,
            repeats,
        }))?;
        if (self.once() || value.is_none()) && self.unwanted.0.insert(bits.clone()) {
            self.unwanted.1.push(bits);
        }
        Ok(outcome)
    }

    /// Whether the trial goes on after this.
    fn judge(&mut self, evaluation: usize, outcome: &Outcome, is_new: bool) -> Result<(), TrialError> {
        let failed = outcome.status().is_failure();
        let reason = || outcome.reason().unwrap_or_default().to_owned();
        self.failures = if failed { self.failures + 1 } else { 0 };
        if self.failures == self.keys.evaluation.give_up_after {
            let count = std::mem::take(&mut self.failures);
            // A resume asks to try further: what was given up in an earlier run is passed over.
            if is_new {
                return Err(TrialError::GaveUp { count, reason: reason() });
            }
        }
        if failed && self.keys.evaluation.on_failure == OnFailure::Stop {
            return Err(TrialError::Evaluation { evaluation, reason: reason() });
        }
        Ok(())
    }

    /// The values that the value of an evaluation is the mean of, where there are several.
    fn repeats(&self, evaluation: usize, outcome: &Outcome) -> Vec<f64> {
        let count = self.keys.evaluation.repeat;
        match (self.recorder.recorded(), &self.parts.singles, outcome) {
            (Some(Event::Evaluated(recorded)), ..) => recorded.repeats.clone(),
            (_, Some(singles), Outcome::Value(_)) if count > 1 => {
                singles.take(self.seeds.evaluation(evaluation), count)
            }
            _ => Vec::new(),
        }
    }

    /// How the evaluations of these points end, and how long each takes. What is known of them before the last one has ended
    /// is kept.
    fn outcomes(&mut self, round: &[Begun]) -> Result<Vec<(Outcome, Option<Duration>)>, TrialError> {
        let (mut ended, mut tasks) = (Vec::new(), Vec::new());
        for (place, begun) in round.iter().enumerate() {
            let kept = self.recorder.kept(begun.evaluation, &begun.point);
            if kept.is_none() {
                tasks.push(self.task(place, begun));
            }
            ended.push(kept.map(|outcome| (outcome, None)));
        }
        let retries = self.keys.evaluation.retries;
        let mut awaiting = Awaiting { recorder: &mut *self.recorder, ended, alone: round.len() == 1 };
        match &mut self.parts.workers {
            Some(workers) => {
                awaiting.recorder.begins(&Step::Await { evaluation: round[0].evaluation });
                workers.evaluate(tasks, retries, &mut awaiting)?;
            }
            None => {
                for task in tasks {
                    let started = Instant::now();
                    let benchmark = self.parts.benchmark.as_mut();
                    let outcome = attempt(&task, retries, awaiting.recorder, benchmark)?;
                    awaiting.ended(&task, outcome, started.elapsed())?;
                }
            }
        }
        Ok(awaiting.ended.into_iter().map(|ended| ended.expect("every evaluation has ended")).collect())
    }

    fn task(&self, place: usize, begun: &Begun) -> Task {
        let evaluation = begun.evaluation;
        Task {
            place,
            evaluation,
            point: begun.point.clone(),
            words: cut(&self.parts.space.describe(&begun.point)),
            seed: self.seeds.evaluation(evaluation),
            failures: incident::deaths(&self.known.incidents, evaluation).collect(),
        }
    }

    /// Tells the surrogates what was found, unless their states have it already; answers whether they were told. Failures
    /// tell nothing of the objective.
    pub(super) fn observe(&mut self, begun: &Begun, outcome: Outcome) -> Result<bool, TrialError> {
        let evaluation = begun.evaluation;
        if evaluation <= self.known.observed {
            return Ok(false);
        }
        let observed = match outcome {
            // The model learns the bare value; it is told the penalty when it draws.
            Outcome::Value(value) => Evaluation::Value(self.sign * value),
            Outcome::Infeasible(reason) => Evaluation::Infeasible(reason),
            Outcome::Failed(_) | Outcome::TimedOut(_) => return Ok(false),
        };
        let step = Step::Observe { evaluation };
        self.recorder.begins(&step);
        let started = Instant::now();
        self.parts.turns.observe(&begun.bits, &observed).map_err(failed("observing a value"))?;
        self.recorder.took(&step, started.elapsed());
        Ok(true)
    }

    /// May keep the states of surrogates and solvers, where they have seen all that was evaluated.
    fn keep(&mut self, observed: bool) {
        if observed {
            let turns = &self.parts.turns;
            self.recorder.keep(self.evaluations, &mut || turns.save());
        }
    }

    /// The next point: as an earlier run had it, or by asking surrogate and solver; `None` where all has been seen.
    pub(super) fn propose(&mut self, iteration: usize) -> Result<Option<(Point, Bits)>, TrialError> {
        let recorded = matches!(self.recorder.recorded(), Some(Event::Proposed(_)));
        if self.evaluations < self.known.recalled || self.known.trusted && recorded {
            let point = self.recall(iteration)?;
            let bits = self.encode(&point)?;
            return Ok(Some((point, bits)));
        }
        let (f, notes) = self.draw(iteration)?;
        let answers = self.solve(iteration, &f)?;
        let Some(bits) = self.choose(iteration, &f, notes, answers)? else { return Ok(None) };
        self.ask(iteration, &bits);
        Ok(Some((self.decode(&bits)?, bits)))
    }

    /// The point that was proposed and evaluated next in an earlier run.
    fn recall(&mut self, iteration: usize) -> Result<Point, TrialError> {
        let missing =
            |what: &str| TrialError::Recorded(format!("no {what} of iteration {iteration} is recorded"));
        let Some(proposed @ Event::Proposed(_)) = self.recorder.recorded().cloned() else {
            return Err(missing("proposal"));
        };
        self.recorder.record(proposed)?;
        let Some(Event::Evaluating(evaluating)) = self.recorder.recorded() else {
            return Err(missing("point"));
        };
        let point = evaluating.point.clone();
        self.parts.space.check(&point).map_err(failed("recalling a point"))?;
        Ok(point)
    }

    /// What is to be minimized, complete with the penalty; and what the surrogate has to say of it.
    fn draw(&mut self, iteration: usize) -> Result<(Acquisition, Map<String, Json>), TrialError> {
        let step = Step::Fit { iteration };
        self.recorder.begins(&step);
        let started = Instant::now();
        let mut request = DrawRequest::new(self.seeds.draw(iteration))
            .with_iteration(iteration)
            .with_penalty(self.parts.penalty.clone())
            .with_noisy(!self.parts.benchmark.deterministic());
        if let Some(best) = self.best.first() {
            let points = self.best.matrix(self.layout.dimension());
            request = request.with_best_total(best.total).with_best_points(points);
        }
        if !self.pending.is_empty() {
            request = request.with_pending(self.under_way());
        }
        let surrogate = self.parts.turns.surrogate(iteration);
        let drawn = surrogate.draw(&request).and_then(|drawn| Ok((drawn, surrogate.notes()?)));
        let (drawn, notes) =
            drawn.map_err(failed(format!("drawing an acquisition function in iteration {iteration}")))?;
        self.recorder.took(&step, started.elapsed());
        Ok((drawn, notes.into_iter().map(|(name, words)| (name, words.into())).collect()))
    }

    /// What each solver answers; the first is followed. A shadow that fails is recorded so, and costs nothing.
    fn solve(&mut self, iteration: usize, f: &Acquisition) -> Result<Vec<Answered>, TrialError> {
        let seed = self.seeds.solve(iteration);
        let starts = self.best.matrix(self.layout.dimension());
        let mut unwanted = self.unwanted.1.clone();
        self.pending.iter().for_each(|begun| unwanted.push(&begun.bits));
        let afo = Afo::new(f, &self.layout, starts, unwanted);
        let mut answers = Vec::new();
        for (i, (name, solver)) in self.parts.turns.solvers(iteration).enumerate() {
            let followed = i == 0;
            let died = incident::shadow_death(&self.known.incidents, iteration, name);
            if let Some(reason) = died.filter(|_| !followed) {
                answers.push(Answered::failed(name, reason.to_owned()));
                continue;
            }
            let problem = afo.problem(solver.as_ref());
            let step = Step::Solve { iteration, solver: name.clone(), followed };
            self.recorder.begins(&step);
            let started = Instant::now();
            let answer = solver.minimize(&problem, seed);
            let took = started.elapsed();
            match answer.and_then(|answer| afo.answered(name, &problem, &answer)) {
                Ok(answered) => {
                    for flaw in &answered.flaws {
                        tracing::warn!("solver `{name}` in iteration {iteration}: {flaw}");
                    }
                    answers.push(answered);
                }
                Err(error) if followed => {
                    return Err(failed(format!("solver `{name}` in iteration {iteration}"))(error));
                }
                Err(error) => answers.push(Answered::failed(name, error.to_string())),
            }
            self.recorder.took(&step, took);
        }
        Ok(answers)
    }

    /// The next point: the answer, or one not seen before where evaluating it again would tell nothing.
    fn choose(
        &mut self,
        iteration: usize,
        f: &Acquisition,
        notes: Map<String, Json>,
        answers: Vec<Answered>,
    ) -> Result<Option<Bits>, TrialError> {
        let followed =
            answers.first().and_then(|answer| answer.bits.clone()).expect("the followed solver answered");
        let chosen = self.unseen(iteration, followed, f);
        let Some((bits, choice)) = chosen else { return Ok(None) };
        let surrogate = self.parts.turns.name(iteration);
        self.recorder.record(Event::Proposed(Proposed { iteration, surrogate, notes, answers, choice }))?;
        Ok(Some(bits))
    }

    /// The answer, or a point that is neither known nor under way; where points are evaluated again, also one that is under way,
    /// where there is no other.
    fn unseen(&self, iteration: usize, answer: Bits, f: &Acquisition) -> Option<(Bits, Choice)> {
        let (unwanted, seed) = (&self.unwanted.0, self.seeds.unseen(iteration));
        if self.pending.is_empty() {
            return unseen(answer, f, &self.layout, unwanted, seed);
        }
        let mut all = unwanted.clone();
        all.extend(self.pending.iter().map(|begun| begun.bits.clone()));
        let any =
            || (!self.once()).then(|| unseen(answer.clone(), f, &self.layout, unwanted, seed)).flatten();
        unseen(answer.clone(), f, &self.layout, &all, seed).or_else(any)
    }

    /// The points that are being evaluated.
    fn under_way(&self) -> BitMatrix {
        let mut points = BitMatrix::new(self.layout.dimension());
        self.pending.iter().for_each(|begun| points.push(&begun.bits));
        points
    }

    /// Asks, where it is time to, what is expected of the next point and what is known so far. What is replayed was
    /// asked when it happened.
    fn ask(&mut self, iteration: usize, bits: &Bits) {
        if self.recorder.recorded().is_some() {
            return;
        }
        if self.asker.wants_prediction() {
            let evaluation = self.evaluations + 1;
            let sign = self.sign;
            self.timed_ask(evaluation, |asker, parts, recorder| {
                let told = asker.predict(&mut parts.turns, iteration, bits, sign, evaluation);
                told.iter().for_each(|prediction| recorder.predicted(prediction));
            });
        }
        if self.asker.wants_effects(self.evaluations) {
            self.explain();
        }
    }

    /// Asks what the surrogates have learned.
    fn explain(&mut self) {
        let (evaluations, sign) = (self.evaluations, self.sign);
        let names = bit_names(self.parts.encoder.as_ref(), &self.parts.space, &self.layout);
        self.timed_ask(evaluations, |asker, parts, recorder| {
            let told = asker.effects(&mut parts.turns, &names, sign, evaluations);
            told.iter().for_each(|effects| recorder.explained(effects));
        });
    }

    fn timed_ask(&mut self, evaluation: usize, ask: impl FnOnce(&mut Asker, &mut Parts, &mut dyn Recorder)) {
        let step = Step::Ask { evaluation };
        self.recorder.begins(&step);
        let started = Instant::now();
        ask(&mut self.asker, &mut self.parts, self.recorder);
        self.recorder.took(&step, started.elapsed());
    }

    /// Recommends a point where the objective is noisy, and evaluates it again as often as the experiment says.
    fn recommend(&mut self) -> Result<(), TrialError> {
        if let Some(recorded @ Event::Recommended(_)) = self.recorder.recorded().cloned() {
            return self.recorder.record(recorded);
        }
        if self.parts.benchmark.deterministic() {
            return Ok(());
        }
        let (candidates, penalty) = (std::mem::take(&mut self.candidates), self.parts.penalty.clone());
        let chosen = candidates.choose(&penalty, |points| {
            let mut answers = None;
            // Who took the process with it when it was asked is not asked again.
            if !incident::died_asked(&self.known.incidents) {
                let ask = |_: &mut Asker, parts: &mut Parts, _: &mut dyn Recorder| {
                    answers = expected(&mut parts.turns, points);
                };
                self.timed_ask(self.evaluations, ask);
            }
            answers
        });
        let Some(Chosen { point, bits, mean, deviation, by }) = chosen else { return Ok(()) };
        let (values, failures) = self.evaluate_again(&point)?;
        self.recorder.record(Event::Recommended(Recommended {
            evaluations: self.evaluations,
            description: self.parts.space.describe(&point),
            point,
            by,
            mean: self.sign * mean,
            deviation,
            penalty: penalty.of(&bits),
            values,
            failures,
        }))
    }

    /// The values that the recommended point gives when it is evaluated again, and how often it gives none. Each value is on
    /// disk before the next is asked for.
    fn evaluate_again(&mut self, point: &Point) -> Result<(Vec<f64>, usize), TrialError> {
        let count = self.keys.recommend.repeat;
        let Some(singles) = self.parts.singles.clone().filter(|_| count > 0) else {
            return Ok((Vec::new(), 0));
        };
        singles.average(1);
        let seed = self.seeds.recommended(self.evaluations);
        let mut values = Vec::new();
        for i in 0..count {
            if self.recorder.stop() {
                return Err(TrialError::Stopped);
            }
            let seed = repetition(seed, i);
            let known = singles.get(seed).map_err(failed("evaluating the recommended point"))?;
            let outcome = match known {
                Some(value) => Outcome::Value(value),
                None => {
                    let evaluation = self.evaluations + 1 + i;
                    let begun = Begun { evaluation, point: point.clone(), bits: Bits::zeros(0) };
                    let task = Task { seed, ..self.task(0, &begun) };
                    let retries = self.keys.evaluation.retries;
                    attempt(&task, retries, self.recorder, self.parts.benchmark.as_mut())?
                }
            };
            if let Outcome::Value(value) = outcome {
                if known.is_none() {
                    singles.keep(seed, value).map_err(failed("evaluating the recommended point"))?;
                }
                values.push(value);
            }
        }
        let failures = count - values.len();
        Ok((values, failures))
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
#[path = "optimize_tests.rs"]
mod tests;
