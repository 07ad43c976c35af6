//! How long the steps of a trial took: a file beside the journal, because times are no function of plan and seed.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Step, parse_lines};
use crate::files;

const TIMING: &str = "timing.jsonl";

/// A step and how long it took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Line", into = "Line")]
pub struct Timed {
    pub step: Step,
    pub seconds: f64,
}

/// A line of the file. Plain, because a tagged and flattened one would be read three times as slowly.
#[derive(Clone, Serialize, Deserialize)]
struct Line {
    step: Word,
    #[serde(skip_serializing_if = "Option::is_none")]
    iteration: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evaluation: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    solver: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    followed: Option<bool>,
    seconds: f64,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Word {
    Fit,
    Solve,
    Evaluate,
    Await,
    Observe,
    Ask,
}

impl From<Timed> for Line {
    fn from(Timed { step, seconds }: Timed) -> Self {
        let line =
            |step| Self { step, iteration: None, evaluation: None, solver: None, followed: None, seconds };
        match step {
            Step::Fit { iteration } => Self { iteration: Some(iteration), ..line(Word::Fit) },
            Step::Solve { iteration, solver, followed } => Self {
                iteration: Some(iteration),
                solver: Some(solver),
                followed: Some(followed),
                ..line(Word::Solve)
            },
            Step::Evaluate { evaluation } => Self { evaluation: Some(evaluation), ..line(Word::Evaluate) },
            Step::Await { evaluation } => Self { evaluation: Some(evaluation), ..line(Word::Await) },
            Step::Observe { evaluation } => Self { evaluation: Some(evaluation), ..line(Word::Observe) },
            Step::Ask { evaluation } => Self { evaluation: Some(evaluation), ..line(Word::Ask) },
        }
    }
}

impl From<Line> for Timed {
    fn from(line: Line) -> Self {
        let (iteration, evaluation) =
            (line.iteration.unwrap_or_default(), line.evaluation.unwrap_or_default());
        let step = match line.step {
            Word::Fit => Step::Fit { iteration },
            Word::Solve => Step::Solve {
                iteration,
                solver: line.solver.unwrap_or_default(),
                followed: line.followed.unwrap_or_default(),
            },
            Word::Evaluate => Step::Evaluate { evaluation },
            Word::Await => Step::Await { evaluation },
            Word::Observe => Step::Observe { evaluation },
            Word::Ask => Step::Ask { evaluation },
        };
        Self { step, seconds: line.seconds }
    }
}

/// The times of a trial while it runs. They are worth having, and no reason to end a trial.
pub struct TimingFile(Option<File>);

impl TimingFile {
    /// Opens the file in a trial's folder; where that fails, no times are kept.
    pub fn open(folder: &Path) -> Self {
        let path = folder.join(TIMING);
        let file = files::open(&path, files::Access::Append);
        Self(
            file.map_err(|error| {
                tracing::warn!("no times are kept: cannot open {}: {error}", path.display())
            })
            .ok(),
        )
    }

    /// Adds a step; after a failed write, no more times are kept.
    pub fn add(&mut self, step: &Step, time: Duration) {
        let Some(file) = &mut self.0 else { return };
        let timed = Timed { step: step.clone(), seconds: time.as_secs_f64() };
        let line = serde_json::to_string(&timed).expect("a time is plain data");
        if let Err(error) = file.write_all(format!("{line}\n").as_bytes()) {
            tracing::warn!("no more times are kept: cannot write to {TIMING}: {error}");
            self.0 = None;
        }
    }
}

/// How long a trial's steps took together; of one that has not finished, so far.
pub fn seconds(folder: &Path) -> f64 {
    read(folder).iter().map(|timed| timed.seconds).sum()
}

/// The times in a trial's folder.
pub(super) fn read(folder: &Path) -> Vec<Timed> {
    match files::read(&folder.join(TIMING)) {
        Ok(bytes) => parse_lines(&bytes).collect(),
        Err(error) => {
            if error.kind() != io::ErrorKind::NotFound {
                tracing::warn!("cannot read {}: {error}", folder.join(TIMING).display());
            }
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let steps = [
            Step::Fit { iteration: 1 },
            Step::Solve { iteration: 1, solver: "sdp[rounding=authors]".to_owned(), followed: false },
            Step::Evaluate { evaluation: 7 },
            Step::Observe { evaluation: 7 },
            Step::Ask { evaluation: 8 },
        ];
        let mut file = TimingFile::open(folder.path());
        steps.iter().for_each(|step| file.add(step, Duration::from_millis(1500)));
        let read: Vec<Step> = read(folder.path()).into_iter().map(|timed| timed.step).collect();
        assert_eq!(read, steps);
    }

    #[test]
    fn a_file_that_cannot_be_written_costs_the_times_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(TIMING)).unwrap();
        let mut file = TimingFile::open(folder.path());
        file.add(&Step::Fit { iteration: 1 }, Duration::ZERO);
        assert!(read(folder.path()).is_empty());
    }
}
