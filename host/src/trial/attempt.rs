//! An evaluation, tried again after a failure as often as the experiment says.

use super::TrialError;
use super::optimize::Recorder;
use crate::record::Step;
use crate::record::event::Outcome;

/// Evaluates until there is a value or a clear no, or no try is left.
///
/// `point` says in words what is evaluated; `failures` are tries that ended with the process, in an earlier life of the trial.
pub(super) fn attempt(
    (evaluation, point): (usize, &dyn Fn() -> String),
    retries: usize,
    mut failures: Vec<Outcome>,
    recorder: &mut dyn Recorder,
    evaluate: &mut dyn FnMut() -> Outcome,
) -> Result<Outcome, TrialError> {
    while failures.len() <= retries {
        if !failures.is_empty() && recorder.stop() {
            return Err(TrialError::Stopped);
        }
        recorder.begins(&Step::Evaluate { evaluation });
        let outcome = evaluate();
        if !outcome.status().is_failure() {
            return Ok(outcome);
        }
        let again = if failures.len() < retries { "; trying again" } else { "" };
        let reason = outcome.reason().unwrap_or_default();
        tracing::warn!("evaluation {evaluation} failed at {}{again}: {reason}", point());
        failures.push(outcome);
    }
    Ok(failures.pop().expect("an evaluation is tried once at least"))
}

#[cfg(test)]
mod tests {
    use super::super::optimize::testing::Events;
    use super::*;

    fn tried(retries: usize, deaths: usize, outcomes: &[Outcome]) -> (Outcome, usize) {
        let failures = vec![Outcome::Failed("died".to_owned()); deaths];
        let mut tries = 0;
        let outcome =
            attempt((1, &|| "x1=0".to_owned()), retries, failures, &mut Events::default(), &mut || {
                tries += 1;
                outcomes[tries - 1].clone()
            });
        (outcome.unwrap(), tries)
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
