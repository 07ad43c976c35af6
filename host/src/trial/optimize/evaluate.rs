//! The evaluations of a round: begun, made or taken from the record, told to the surrogates.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use plugin_api::{Bits, Evaluation, Point};

use super::{Optimization, Recorder, failed};
use crate::manifest::keys::evaluation::OnFailure;
use crate::record::Step;
use crate::record::event::{Evaluated, Evaluating, Event, Outcome, Phase};
use crate::record::incident;
use crate::text::cut;
use crate::trial::TrialError;
use crate::trial::attempt::{Awaits, Task, attempt};
use crate::trial::best::Best;

/// An evaluation that has begun.
pub(in crate::trial) struct Begun {
    pub(in crate::trial) evaluation: usize,
    pub(in crate::trial) point: Point,
    pub(in crate::trial) bits: Bits,
}

impl Optimization<'_> {
    /// An evaluation under way, which is none any more.
    pub(in crate::trial) fn take_pending(&mut self, evaluation: usize) -> Option<Begun> {
        let at = self.pending.iter().position(|begun| begun.evaluation == evaluation)?;
        Some(self.pending.remove(at))
    }

    /// Tells the surrogates how an evaluation ended that somebody else made, and records it. In this order: who tells still
    /// has the result, and a value that no model can take would be in the way for ever.
    pub(in crate::trial) fn tell(&mut self, begun: &Begun, outcome: Outcome) -> Result<Outcome, TrialError> {
        let outcome = self.within_range(begun, outcome);
        self.observe(begun, outcome.clone())?;
        self.record(begun, outcome)
    }

    /// A point is to be evaluated, with the others that are under way.
    pub(in crate::trial) fn begin(
        &mut self,
        phase: Phase,
        point: Point,
        bits: Bits,
    ) -> Result<(), TrialError> {
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
    pub(in crate::trial) fn conclude(&mut self) -> Result<(), TrialError> {
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
    pub(in crate::trial) fn take(&mut self, point: &Point, outcome: Outcome) -> Result<(), TrialError> {
        let bits = self.encode(point)?;
        self.begin(Phase::Given, point.clone(), bits)?;
        let begun = self.pending.pop().expect("it has begun");
        let outcome = self.record(&begun, outcome)?;
        let observed = self.observe(&begun, outcome)?;
        self.keep(observed);
        Ok(())
    }

    /// Records how an evaluation ended, and where that leaves the trial.
    pub(in crate::trial) fn record(
        &mut self,
        begun: &Begun,
        outcome: Outcome,
    ) -> Result<Outcome, TrialError> {
        let Begun { evaluation, point, bits } = begun;
        let penalty = self.parts.penalty.of(bits);
        let outcome = self.within_range(begun, outcome);
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

    /// How an evaluation ended, or a failure where its total is no number.
    fn within_range(&self, begun: &Begun, outcome: Outcome) -> Outcome {
        let penalty = self.parts.penalty.of(&begun.bits);
        match outcome {
            Outcome::Value(value) if !(value + self.sign * penalty).is_finite() => {
                Outcome::Failed(format!("the value {value} overflows with the penalty {penalty}"))
            }
            outcome => outcome,
        }
    }

    /// Whether the trial goes on after this.
    pub(in crate::trial) fn judge(
        &mut self,
        evaluation: usize,
        outcome: &Outcome,
        is_new: bool,
    ) -> Result<(), TrialError> {
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
    pub(in crate::trial) fn repeats(&self, evaluation: usize, outcome: &Outcome) -> Vec<f64> {
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
    pub(in crate::trial) fn outcomes(
        &mut self,
        round: &[Begun],
    ) -> Result<Vec<(Outcome, Option<Duration>)>, TrialError> {
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

    pub(in crate::trial) fn task(&self, place: usize, begun: &Begun) -> Task {
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
    pub(in crate::trial) fn observe(&mut self, begun: &Begun, outcome: Outcome) -> Result<bool, TrialError> {
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
    pub(in crate::trial) fn keep(&mut self, observed: bool) {
        if observed {
            let turns = &self.parts.turns;
            self.recorder.keep(self.evaluations, &mut || turns.save());
        }
    }
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
