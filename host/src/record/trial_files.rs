//! A trial's folder, read whole: its journal, times and incidents. Reports and tables are made from it.
//!
//! A trial may still run: a torn end of its journal is passed over. A journal that is not what was written is refused.

use std::collections::BTreeMap;
use std::hash::Hasher;
use std::path::Path;

use super::asked::{self, Prediction};
use super::event::{Evaluated, Evaluating, Event, Finished, Phase, Proposed, Recommended, Started};
use super::incident::{self, Incident};
use super::journal::JOURNAL;
use super::{Broken, Step, Timed, chain, timing};
use crate::files;

/// Everything that is known of a trial.
pub struct TrialFiles {
    pub started: Started,
    pub evaluations: Vec<Evaluation>,
    /// Its AFO problems.
    pub problems: Vec<Proposed>,
    /// What it recommends, where the objective is noisy and the search has ended.
    pub recommended: Option<Recommended>,
    /// Points that are being evaluated.
    pub pending: Vec<Evaluating>,
    /// How it ended; `None` where it has not.
    pub finished: Option<Finished>,
    pub times: Vec<Timed>,
    /// What was expected of proposals.
    pub predictions: Vec<Prediction>,
    /// What went wrong with its process.
    pub incidents: Vec<Incident>,
}

/// One evaluation, from both its events.
pub struct Evaluation {
    pub phase: Phase,
    /// Which of the problems it answers, from 0.
    pub problem: Option<usize>,
    /// Those of a round are made together; counted from 0.
    pub round: usize,
    /// The levels.
    pub point: Vec<u32>,
    pub ended: Evaluated,
}

impl TrialFiles {
    /// Reads a trial's folder; `None` where the trial has not begun.
    pub fn read(folder: &Path) -> Result<Option<Self>, Broken> {
        let path = folder.join(JOURNAL);
        let bytes = match files::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Broken { path, line: 1, what: error.to_string() }),
        };
        let mut events = chain::read(&path, &bytes)?.into_iter().map(|(event, _)| event);
        let Some(Event::Started(started)) = events.next() else { return Ok(None) };
        let (mut evaluations, mut problems, mut finished) = (Vec::new(), Vec::new(), None);
        let mut pending: Vec<(Evaluating, Option<usize>)> = Vec::new();
        let (mut rounds, mut recommended) = (0, None);
        for event in events {
            match event {
                Event::Evaluating(begun) => {
                    let search = begun.phase == Phase::Search;
                    let problem = search.then(|| problems.len().checked_sub(1)).flatten();
                    rounds += usize::from(pending.is_empty());
                    pending.push((begun, problem));
                }
                Event::Evaluated(ended) => {
                    let under_way =
                        pending.iter().position(|(begun, _)| begun.evaluation == ended.evaluation);
                    if let Some(at) = under_way {
                        let (begun, problem) = pending.remove(at);
                        let (phase, point, round) = (begun.phase, begun.point.to_vec(), rounds - 1);
                        evaluations.push(Evaluation { phase, problem, round, point, ended });
                    }
                }
                Event::Proposed(proposed) => problems.push(proposed),
                Event::Recommended(point) => recommended = Some(point),
                Event::Finished(end) => finished = Some(end),
                Event::Started(_) => {}
            }
        }
        let (times, incidents) = (timing::read(folder), incident::read(folder));
        let predictions = asked::predictions(folder);
        let pending = pending.into_iter().map(|(begun, _)| begun).collect();
        Ok(Some(Self {
            started,
            evaluations,
            problems,
            pending,
            recommended,
            finished,
            times,
            predictions,
            incidents,
        }))
    }

    /// The evaluation of the best point so far.
    pub fn best(&self) -> Option<&Evaluation> {
        let best = self.evaluations.last()?.ended.best?;
        self.evaluations.iter().find(|evaluation| evaluation.ended.total == Some(best))
    }

    /// The same for trials with the same initial design, points and values, given ones among them.
    pub fn design(&self) -> u64 {
        let mut design = Fingerprint::new();
        for evaluation in self.evaluations.iter().filter(|evaluation| evaluation.phase != Phase::Search) {
            design.add(&evaluation.point, evaluation.ended.value);
        }
        design.finish()
    }

    /// How long each solver took over each problem, by iteration, whether it was followed, and name.
    pub fn solve_seconds(&self) -> BTreeMap<(usize, bool, &str), f64> {
        let mut seconds = BTreeMap::new();
        for timed in &self.times {
            if let Step::Solve { iteration, solver, followed } = &timed.step {
                // Of two, the first: the second was timed when the trial went through it again.
                seconds.entry((*iteration, *followed, solver.as_str())).or_insert(timed.seconds);
            }
        }
        seconds
    }
}

/// FNV-1a over an initial design: small, and the same on every machine.
struct Fingerprint(u64);

impl Fingerprint {
    fn new() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }

    fn add(&mut self, point: &[u32], value: Option<f64>) {
        for level in point {
            self.write(&level.to_le_bytes());
        }
        self.write(&value.map_or(u64::MAX, f64::to_bits).to_le_bytes());
    }
}

impl Hasher for Fingerprint {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::{Choice, Outcome};
    use super::super::{FORMAT, Journal, TimingFile};
    use super::*;
    use std::time::Duration;

    /// A trial with three evaluations, the second infeasible, and one problem.
    fn write(folder: &Path, seed: u64) {
        let started = Started {
            format: FORMAT,
            experiment: "e".to_owned(),
            trial: format!("psr-seed{seed}").parse().unwrap(),
            method: "psr".to_owned(),
            sweep: serde_json::Map::new(),
            seed,
            plan: "ab".to_owned(),
            plugins: serde_json::Map::new(),
            maximize: false,
            bits: 2,
            asked: false,
        };
        let mut events = vec![Event::Started(started)];
        let outcomes =
            [Outcome::Value(3.0), Outcome::Infeasible("no".to_owned()), Outcome::Value(seed as f64)];
        let mut best: Option<f64> = None;
        for (outcome, evaluation) in outcomes.iter().zip(1..) {
            let (phase, point) =
                if evaluation < 3 { (Phase::Initial, vec![0, 1]) } else { (Phase::Search, vec![1, 1]) };
            if phase == Phase::Search {
                let proposed = Proposed {
                    iteration: 1,
                    surrogate: None,
                    notes: serde_json::Map::new(),
                    answers: vec![],
                    choice: Choice::Answer,
                };
                events.push(Event::Proposed(proposed));
            }
            let value = outcome.value();
            best = [best, value].into_iter().flatten().reduce(f64::min);
            events.push(Event::Evaluating(Evaluating { evaluation, phase, point: point.into() }));
            events.push(Event::Evaluated(Evaluated {
                evaluation,
                status: outcome.status(),
                value,
                reason: outcome.reason().map(str::to_owned),
                penalty: 0.0,
                total: value,
                best,
                repeats: Vec::new(),
            }));
        }
        let mut journal = Journal::open(folder, false).unwrap();
        events.iter().for_each(|event| journal.record(event).unwrap());
    }

    #[test]
    fn a_trial_is_read_with_both_events_of_each_evaluation() {
        let folder = tempfile::tempdir().unwrap();
        assert!(TrialFiles::read(folder.path()).unwrap().is_none());
        write(folder.path(), 1);
        let trial = TrialFiles::read(folder.path()).unwrap().unwrap();
        let words: Vec<String> = trial
            .evaluations
            .iter()
            .map(|e| format!("{} {} {:?}", e.phase.word(), e.ended.status.word(), e.point))
            .collect();
        assert_eq!(words, ["initial ok [0, 1]", "initial infeasible [0, 1]", "search ok [1, 1]"]);
        assert_eq!((trial.problems.len(), trial.finished.is_none()), (1, true));
        let best = trial.best().unwrap();
        assert_eq!((best.ended.evaluation, &best.point[..]), (3, &[1, 1][..]));
    }

    #[test]
    fn a_design_is_told_by_its_points_and_values_and_not_by_what_comes_after() {
        let design = |seed| {
            let folder = tempfile::tempdir().unwrap();
            write(folder.path(), seed);
            TrialFiles::read(folder.path()).unwrap().unwrap().design()
        };
        assert_eq!(design(1), design(2));
        let folder = tempfile::tempdir().unwrap();
        assert_ne!(design(1), {
            write(folder.path(), 1);
            let mut trial = TrialFiles::read(folder.path()).unwrap().unwrap();
            trial.evaluations[0].ended.value = Some(4.0);
            trial.design()
        });
    }

    #[test]
    fn of_two_times_of_a_problem_the_first_counts() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), 1);
        let step = Step::Solve { iteration: 1, solver: "psr".to_owned(), followed: true };
        for seconds in [2, 1] {
            TimingFile::open(folder.path()).add(&step, Duration::from_secs(seconds));
        }
        let trial = TrialFiles::read(folder.path()).unwrap().unwrap();
        assert_eq!(trial.solve_seconds()[&(1, true, "psr")], 2.0);
    }
}
