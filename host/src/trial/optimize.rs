//! The Bayesian optimization loop. It does no I/O: it tells a recorder what happens.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use plugin_api::{
    Acquisition, Benchmark, BitMatrix, Bits, DrawRequest, Encoder, Evaluation, Layout, Penalty, Point, Sense,
    Space,
};

use serde_json::{Map, Value as Json};

use super::TrialError;
use super::ask::{Asker, bit_names};
use super::attempt::attempt;
use super::best::{Best, BestPoints};
use super::initial_design::initial_design;
use super::problem::Afo;
use super::recommend::{Candidates, Chosen, expected};
use super::repeat::Singles;
use super::turns::Turns;
use super::unseen::unseen;
use crate::manifest::Settings;
use crate::manifest::keys::evaluation::OnFailure;
use crate::plan::{Seeds, repetition};
use crate::record::Step;
use crate::record::asked::{Effects, Prediction};
use crate::record::event::{
    Answered, Evaluated, Evaluating, Event, Finished, Outcome, Phase, Proposed, Recommended,
};
use crate::record::incident::{self, Incident};

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
    /// How the trial's process died.
    pub(super) incidents: Vec<Incident>,
}

/// Who is told what happens, and remembers what happened in an earlier run.
pub(super) trait Recorder {
    /// Takes an event; it is kept before anything that depends on it happens.
    fn record(&mut self, event: Event) -> Result<(), TrialError>;

    /// What an earlier run recorded next; `None` where it recorded no more.
    fn recorded(&self) -> Option<&Event>;

    /// May keep the state of surrogates and solvers, which have seen this many evaluations.
    fn keep(&mut self, evaluations: usize, save: &mut dyn FnMut() -> plugin_api::Result<Option<Vec<u8>>>);

    /// Hears that a step begins.
    fn begins(&mut self, step: &Step);

    /// Takes how long a step took.
    fn took(&mut self, step: &Step, time: Duration);

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
    known: Known,
    seeds: &Seeds,
    recorder: &mut dyn Recorder,
) -> Result<Finished, TrialError> {
    let mut trial = Optimization::new(parts, keys, known, seeds, recorder);
    for point in initial_design(&trial.parts.space, keys.budget.initial, seeds.initial_design())? {
        let bits = trial.encode(&point)?;
        trial.evaluate(Phase::Initial, point, bits)?;
    }
    for iteration in 1..=keys.budget.evaluations {
        let Some((point, bits)) = trial.propose(iteration)? else { break };
        trial.evaluate(Phase::Search, point, bits)?;
    }
    trial.finish()
}

struct Optimization<'r> {
    parts: Parts,
    keys: &'r Settings,
    known: Known,
    seeds: &'r Seeds,
    recorder: &'r mut dyn Recorder,
    layout: Layout,
    /// 1 where low values are good, −1 where high ones are: the model always minimizes.
    sign: f64,
    /// Points that are not proposed again: all that were evaluated, or, where the objective is noisy, those without a
    /// value. The matrix is for solvers.
    unwanted: (BTreeSet<Bits>, BitMatrix),
    evaluations: usize,
    /// How many of the last evaluations failed, without a value or a clear no between them.
    failures: usize,
    best: BestPoints,
    /// Where the objective is noisy.
    candidates: Candidates,
    asker: Asker,
}

/// As much of a point's description as fits on a line.
fn short(description: &str) -> String {
    const MOST: usize = 200;
    match description.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &description[..end]),
        None => description.to_owned(),
    }
}

fn failed(what: impl Into<String>) -> impl FnOnce(plugin_api::Error) -> TrialError {
    let what = what.into();
    |source| TrialError::Plugin { what, source }
}

impl<'r> Optimization<'r> {
    fn new(
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
            failures: 0,
            best: BestPoints::default(),
            candidates: Candidates::default(),
        }
    }

    fn encode(&self, point: &Point) -> Result<Bits, TrialError> {
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

    /// Evaluates a point, or takes from the record how that ended; then the surrogate is told.
    fn evaluate(&mut self, phase: Phase, point: Point, bits: Bits) -> Result<(), TrialError> {
        if self.recorder.stop() {
            return Err(TrialError::Stopped);
        }
        self.evaluations += 1;
        let evaluation = self.evaluations;
        self.recorder.record(Event::Evaluating(Evaluating { evaluation, phase, point: point.clone() }))?;
        let started = Instant::now();
        let (outcome, made) = match self.recorder.recorded() {
            Some(Event::Evaluated(evaluated)) => (evaluated.outcome(), false),
            Some(_) => {
                return Err(TrialError::Recorded(format!(
                    "no result of evaluation {evaluation} is recorded"
                )));
            }
            None => (self.attempt(evaluation, self.seeds.evaluation(evaluation), &point)?, true),
        };
        let took = started.elapsed();

        // The value is on disk before anything else is done with it.
        let penalty = self.parts.penalty.of(&bits);
        let outcome = match outcome {
            Outcome::Value(value) if !(value + self.sign * penalty).is_finite() => {
                Outcome::Failed(format!("the value {value} overflows with the penalty {penalty}"))
            }
            outcome => outcome,
        };
        let total = outcome.value().map(|value| value + self.sign * penalty);
        if let Some(value) = outcome.value().filter(|_| !self.parts.benchmark.deterministic()) {
            self.candidates.add(&bits, &point, self.sign * value);
        }
        let repeats = self.repeats(evaluation, &outcome);
        if let Some(total) = total {
            self.best.add(Best { total: self.sign * total, bits: bits.clone(), point });
        }
        let best = self.best.first().map(|best| self.sign * best.total);
        let (status, value, reason) =
            (outcome.status(), outcome.value(), outcome.reason().map(str::to_owned));
        self.recorder.record(Event::Evaluated(Evaluated {
            evaluation,
            status,
            value,
            reason,
            penalty,
            total,
            best,
            repeats,
        }))?;
        if made {
            self.recorder.took(&Step::Evaluate { evaluation }, took);
        }
        if (self.parts.benchmark.deterministic() || value.is_none()) && self.unwanted.0.insert(bits.clone()) {
            self.unwanted.1.push(&bits);
        }
        self.failures = if outcome.status().is_failure() { self.failures + 1 } else { 0 };
        if self.failures == self.keys.evaluation.give_up_after {
            let count = std::mem::take(&mut self.failures);
            // A resume asks to try further: what was given up in an earlier run is passed over.
            if made {
                let reason = outcome.reason().unwrap_or_default().to_owned();
                return Err(TrialError::GaveUp { count, reason });
            }
        }
        match outcome {
            Outcome::Failed(reason) | Outcome::TimedOut(reason)
                if self.keys.evaluation.on_failure == OnFailure::Stop =>
            {
                Err(TrialError::Evaluation { evaluation, reason })
            }
            outcome => self.observe(evaluation, &bits, outcome),
        }
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

    fn attempt(&mut self, evaluation: usize, seed: u64, point: &Point) -> Result<Outcome, TrialError> {
        let deaths = incident::deaths(&self.known.incidents, evaluation).collect();
        let Parts { benchmark, space, .. } = &mut self.parts;
        let name = || short(&space.describe(point));
        attempt((evaluation, &name), self.keys.evaluation.retries, deaths, self.recorder, &mut || {
            match benchmark.evaluate(point, seed) {
                Ok(Evaluation::Value(value)) if value.is_finite() => Outcome::Value(value),
                Ok(Evaluation::Value(value)) => Outcome::Failed(format!("the value is {value}")),
                Ok(Evaluation::Infeasible(reason)) => Outcome::Infeasible(reason),
                Ok(_) => {
                    Outcome::Failed("the benchmark gave an answer that this host does not know".to_owned())
                }
                Err(error) => Outcome::Failed(error.to_string()),
            }
        })
    }

    /// Tells the surrogate what was found, unless its state has it already. Failures tell nothing of the objective.
    fn observe(&mut self, evaluation: usize, bits: &Bits, outcome: Outcome) -> Result<(), TrialError> {
        if evaluation <= self.known.observed {
            return Ok(());
        }
        let observed = match outcome {
            // The model learns the bare value; it is told the penalty when it draws.
            Outcome::Value(value) => Evaluation::Value(self.sign * value),
            Outcome::Infeasible(reason) => Evaluation::Infeasible(reason),
            Outcome::Failed(_) | Outcome::TimedOut(_) => return Ok(()),
        };
        let step = Step::Observe { evaluation };
        self.recorder.begins(&step);
        let started = Instant::now();
        self.parts.turns.observe(bits, &observed).map_err(failed("observing a value"))?;
        self.recorder.took(&step, started.elapsed());
        let turns = &self.parts.turns;
        self.recorder.keep(evaluation, &mut || turns.save());
        Ok(())
    }

    /// The next point: as an earlier run had it, or by asking surrogate and solver; `None` where all has been seen.
    fn propose(&mut self, iteration: usize) -> Result<Option<(Point, Bits)>, TrialError> {
        if self.evaluations < self.known.recalled {
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
        let afo = Afo::new(f, &self.layout, starts, self.unwanted.1.clone());
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
        let chosen = unseen(followed, f, &self.layout, &self.unwanted.0, self.seeds.unseen(iteration));
        let Some((bits, choice)) = chosen else { return Ok(None) };
        let surrogate = self.parts.turns.name(iteration);
        self.recorder.record(Event::Proposed(Proposed { iteration, surrogate, notes, answers, choice }))?;
        Ok(Some(bits))
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
                None => self.attempt(self.evaluations + 1 + i, seed, point)?,
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
        let optimum = self.parts.benchmark.optimum(self.parts.penalty.lambda());
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
