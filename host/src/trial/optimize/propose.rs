//! The next point: an acquisition function is drawn, solvers minimise it, and an answer is chosen.

use std::time::Instant;

use plugin_api::{Acquisition, BitMatrix, Bits, DrawRequest, Point};
use serde_json::{Map, Value as Json};

use super::{Optimization, Parts, Recorder, failed};
use crate::record::Step;
use crate::record::event::{Answered, Choice, Event, Proposed};
use crate::record::incident;
use crate::trial::TrialError;
use crate::trial::ask::{Asker, bit_names};
use crate::trial::problem::Afo;
use crate::trial::unseen::unseen;

impl Optimization<'_> {
    /// Goes through a proposal that is recorded: asks surrogate and solver again, so that they learn what they learned then,
    /// unless their states have it.
    pub(in crate::trial) fn go_through(&mut self, proposed: &Proposed) -> Result<(), TrialError> {
        match self.known.observed > 0 || self.known.trusted {
            true => self.recorder.record(Event::Proposed(proposed.clone())),
            false => self.propose(proposed.iteration).map(|_| ()),
        }
    }

    /// The next point: as an earlier run had it, or by asking surrogate and solver; `None` where all has been seen.
    pub(in crate::trial) fn propose(
        &mut self,
        iteration: usize,
    ) -> Result<Option<(Point, Bits)>, TrialError> {
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
    pub(in crate::trial) fn recall(&mut self, iteration: usize) -> Result<Point, TrialError> {
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
    pub(in crate::trial) fn draw(
        &mut self,
        iteration: usize,
    ) -> Result<(Acquisition, Map<String, Json>), TrialError> {
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
    pub(in crate::trial) fn solve(
        &mut self,
        iteration: usize,
        f: &Acquisition,
    ) -> Result<Vec<Answered>, TrialError> {
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
    pub(in crate::trial) fn choose(
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
    pub(in crate::trial) fn unseen(
        &self,
        iteration: usize,
        answer: Bits,
        f: &Acquisition,
    ) -> Option<(Bits, Choice)> {
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
    pub(in crate::trial) fn under_way(&self) -> BitMatrix {
        let mut points = BitMatrix::new(self.layout.dimension());
        self.pending.iter().for_each(|begun| points.push(&begun.bits));
        points
    }

    /// Asks, where it is time to, what is expected of the next point and what is known so far. What is replayed was
    /// asked when it happened.
    pub(in crate::trial) fn ask(&mut self, iteration: usize, bits: &Bits) {
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
    pub(in crate::trial) fn explain(&mut self) {
        let (evaluations, sign) = (self.evaluations, self.sign);
        let names = bit_names(self.parts.encoder.as_ref(), &self.parts.space, &self.layout);
        self.timed_ask(evaluations, |asker, parts, recorder| {
            let told = asker.effects(&mut parts.turns, &names, sign, evaluations);
            told.iter().for_each(|effects| recorder.explained(effects));
        });
    }

    pub(in crate::trial) fn timed_ask(
        &mut self,
        evaluation: usize,
        ask: impl FnOnce(&mut Asker, &mut Parts, &mut dyn Recorder),
    ) {
        let step = Step::Ask { evaluation };
        self.recorder.begins(&step);
        let started = Instant::now();
        ask(&mut self.asker, &mut self.parts, self.recorder);
        self.recorder.took(&step, started.elapsed());
    }
}
