//! An evaluation, tried again after a failure as often as the experiment says.

use std::time::Duration;

use plugin_api::{Benchmark, Evaluation, Point};

use super::TrialError;
use super::optimize::Recorder;
use crate::record::Step;
use crate::record::event::Outcome;

/// An evaluation to be made.
#[derive(Clone, Debug)]
pub struct Task {
    /// Which of those that are made together.
    pub place: usize,
    /// Its number.
    pub evaluation: usize,
    pub point: Point,
    /// The point in the objective's own words.
    pub words: String,
    pub seed: u64,
    /// Tries that ended with the process, in an earlier life of the trial.
    pub failures: Vec<Outcome>,
}

impl Task {
    /// One more try that failed; answers how the evaluation ended, where no try is left.
    pub fn failed(&mut self, retries: usize, outcome: Outcome) -> Option<Outcome> {
        let again = if self.failures.len() < retries { "; trying again" } else { "" };
        let reason = outcome.reason().unwrap_or_default();
        tracing::warn!("evaluation {} failed at {}{again}: {reason}", self.evaluation, self.words);
        self.failures.push(outcome);
        self.given_up(retries)
    }

    /// How the evaluation ended, where no try is left.
    pub fn given_up(&self, retries: usize) -> Option<Outcome> {
        self.failures.last().filter(|_| self.failures.len() > retries).cloned()
    }
}

/// Who waits for evaluations.
pub trait Awaits {
    /// Whether somebody asked to stop.
    fn stop(&self) -> bool;

    /// Hears of each evaluation as soon as it has ended, and how long it took.
    fn ended(&mut self, task: &Task, outcome: Outcome, took: Duration) -> Result<(), TrialError>;
}

/// Evaluates several points at the same time.
pub trait Workers {
    /// Makes all evaluations, each with its retries, and answers when all have ended. Where somebody asks to stop, those under
    /// way are waited for, and no other is begun.
    fn evaluate(
        &mut self,
        tasks: Vec<Task>,
        retries: usize,
        awaits: &mut dyn Awaits,
    ) -> Result<(), TrialError>;
}

/// Evaluates until there is a value or a clear no, or no try is left.
pub(super) fn attempt(
    task: &Task,
    retries: usize,
    recorder: &mut dyn Recorder,
    benchmark: &mut dyn Benchmark,
) -> Result<Outcome, TrialError> {
    let mut task = task.clone();
    if let Some(outcome) = task.given_up(retries) {
        return Ok(outcome);
    }
    loop {
        if !task.failures.is_empty() && recorder.stop() {
            return Err(TrialError::Stopped);
        }
        recorder.begins(&Step::Evaluate { evaluation: task.evaluation });
        let outcome = evaluate(benchmark, &task.point, task.seed);
        if !outcome.status().is_failure() {
            return Ok(outcome);
        }
        if let Some(outcome) = task.failed(retries, outcome) {
            return Ok(outcome);
        }
    }
}

/// One try.
pub fn evaluate(benchmark: &mut dyn Benchmark, point: &Point, seed: u64) -> Outcome {
    match benchmark.evaluate(point, seed) {
        Ok(Evaluation::Value(value)) if value.is_finite() => Outcome::Value(value),
        Ok(Evaluation::Value(value)) => Outcome::Failed(format!("the value is {value}")),
        Ok(Evaluation::Infeasible(reason)) => Outcome::Infeasible(reason),
        Ok(_) => Outcome::Failed("the benchmark gave an answer that this host does not know".to_owned()),
        Err(error) => Outcome::Failed(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::optimize::testing::Events;
    use super::*;

    /// Answers what it is told to, one after the other.
    struct Script<'a>(&'a [Outcome], usize);
    impl Benchmark for Script<'_> {
        fn space(&self) -> plugin_api::Result<plugin_api::Space> {
            Ok(plugin_api::Space::binary(1))
        }
        fn evaluate(&mut self, _: &Point, _: u64) -> plugin_api::Result<Evaluation> {
            self.1 += 1;
            match &self.0[self.1 - 1] {
                Outcome::Value(value) => Ok(Evaluation::Value(*value)),
                Outcome::Infeasible(reason) => Ok(Evaluation::infeasible(reason.as_str())),
                Outcome::Failed(reason) | Outcome::TimedOut(reason) => Err(reason.as_str().into()),
            }
        }
    }

    fn tried(retries: usize, deaths: usize, outcomes: &[Outcome]) -> (Outcome, usize) {
        let failures = vec![Outcome::Failed("died".to_owned()); deaths];
        let (point, words) = (vec![0].into(), "x1=0".to_owned());
        let task = Task { place: 0, evaluation: 1, point, words, seed: 1, failures };
        let mut script = Script(outcomes, 0);
        let outcome = attempt(&task, retries, &mut Events::default(), &mut script);
        (outcome.unwrap(), script.1)
    }

    #[test]
    fn a_failure_is_tried_again_and_the_last_one_counts() {
        let failed = |reason: &str| Outcome::Failed(reason.to_owned());
        let value = Outcome::Value(1.0);
        assert_eq!(tried(1, 0, &[failed("a"), value.clone()]), (value.clone(), 2));
        assert_eq!(tried(2, 0, &[failed("a"), failed("b"), failed("c")]), (failed("c"), 3));
        assert_eq!(tried(2, 2, &[failed("c")]), (failed("c"), 1), "deaths are tries");
        assert_eq!(tried(0, 1, &[]), (failed("died"), 0));
    }

    #[test]
    fn what_is_infeasible_is_no_failure_and_not_tried_again() {
        let no = Outcome::Infeasible("too hot".to_owned());
        assert_eq!(tried(5, 0, std::slice::from_ref(&no)), (no, 1));
    }
}
