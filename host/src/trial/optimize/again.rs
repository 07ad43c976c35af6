//! The end of a noisy trial: a point is recommended, and evaluated again.

use plugin_api::{Bits, Point};

use super::{Begun, Optimization, Parts, Recorder, failed};
use crate::plan::repetition;
use crate::record::event::{Event, Outcome, Recommended};
use crate::record::incident;
use crate::trial::TrialError;
use crate::trial::ask::Asker;
use crate::trial::attempt::{Task, attempt};
use crate::trial::recommend::{Chosen, expected};

impl Optimization<'_> {
    /// Recommends a point where the objective is noisy, and evaluates it again as often as the experiment says.
    pub(in crate::trial) fn recommend(&mut self) -> Result<(), TrialError> {
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
    pub(in crate::trial) fn evaluate_again(
        &mut self,
        point: &Point,
    ) -> Result<(Vec<f64>, usize), TrialError> {
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
}
