//! What happened, one line an event; what a resume reads.
//!
//! A journal is a function of plan and seed. A resumed trial goes through its loop again from the start: what
//! it would write has to be what stands there already, evaluations are taken from the journal instead of
//! being made again, and where the journal ends the trial goes on. Times go to a file of their own.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::event::{Evaluating, Event, Outcome};
use super::optimize::{Record, Step, TrialError};

/// The events of a trial.
pub const JOURNAL: &str = "journal.jsonl";
/// How long its steps took.
pub const TIMING: &str = "timing.jsonl";

/// Writes a trial's events and times, and remembers those of an earlier run.
pub struct Journal<'a> {
    path: PathBuf,
    file: File,
    timing: File,
    /// Lines of an earlier run that the loop has not come to yet.
    recorded: VecDeque<String>,
    line: usize,
    stop: Arc<AtomicBool>,
    listener: &'a mut dyn FnMut(&Event),
}

/// One line of the timing file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "kebab-case")]
pub enum Timing {
    /// Drawing from the surrogate.
    Fit {
        /// Counted from 1.
        iteration: usize,
        /// How long it took.
        seconds: f64,
    },
    /// Minimizing what was drawn.
    Solve {
        /// Counted from 1.
        iteration: usize,
        /// By which solver.
        solver: String,
        /// Whether its answer was followed.
        followed: bool,
        /// How long it took.
        seconds: f64,
    },
    /// Evaluating the objective.
    Evaluate {
        /// Counted from 1.
        evaluation: usize,
        /// How long it took.
        seconds: f64,
    },
}

impl<'a> Journal<'a> {
    /// Opens the journal in a trial's folder, or begins one. A torn last line is cut off.
    pub fn open(
        folder: &Path,
        stop: Arc<AtomicBool>,
        listener: &'a mut dyn FnMut(&Event),
    ) -> Result<Self, TrialError> {
        std::fs::create_dir_all(folder).map_err(cannot("make", folder))?;
        let path = folder.join(JOURNAL);
        let mut file = open(&path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(cannot("read", &path))?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        if whole < bytes.len() {
            file.set_len(whole as u64).map_err(cannot("mend", &path))?;
        }
        file.seek(SeekFrom::End(0)).map_err(cannot("read", &path))?;
        let text = std::str::from_utf8(&bytes[..whole]);
        let text = text.map_err(|_| TrialError::Journal(format!("{} is not text", path.display())))?;
        let recorded = text.lines().map(str::to_owned).collect();
        let timing_path = folder.join(TIMING);
        let mut timing = open(&timing_path)?;
        timing.seek(SeekFrom::End(0)).map_err(cannot("read", &timing_path))?;
        Ok(Self { path, file, timing, recorded, line: 0, stop, listener })
    }

    fn replaying(&self) -> bool {
        !self.recorded.is_empty()
    }
}

impl Record for Journal<'_> {
    fn event(&mut self, event: Event) -> Result<(), TrialError> {
        let line = serde_json::to_string(&event).map_err(|error| TrialError::Journal(error.to_string()))?;
        self.line += 1;
        match self.recorded.pop_front() {
            Some(recorded) if recorded == line => {}
            Some(_) => {
                return Err(TrialError::Journal(format!(
                    "{}:{}: the journal was written by another plan, plugin or program version; \
                     choose another --run-id, or remove this trial's folder",
                    self.path.display(),
                    self.line
                )));
            }
            None => {
                // One write for the whole line: a kill leaves all of it or a torn last line.
                let written = self.file.write_all(format!("{line}\n").as_bytes());
                written.and_then(|()| self.file.sync_data()).map_err(cannot("write", &self.path))?;
            }
        }
        (self.listener)(&event);
        Ok(())
    }

    fn evaluate(
        &mut self,
        evaluating: Evaluating,
        evaluate: &mut dyn FnMut() -> Outcome,
    ) -> Result<Outcome, TrialError> {
        self.event(Event::Evaluating(evaluating))?;
        match self.recorded.front().map(|line| serde_json::from_str(line)) {
            None => Ok(evaluate()),
            Some(Ok(Event::Evaluated(evaluated))) => Ok(evaluated.outcome),
            Some(_) => {
                let (path, line) = (self.path.display(), self.line + 1);
                Err(TrialError::Journal(format!(
                    "{path}:{line}: the result of an evaluation should stand here"
                )))
            }
        }
    }

    fn time(&mut self, step: Step<'_>, time: Duration) -> Result<(), TrialError> {
        // What is replayed was timed when it happened.
        if self.replaying() {
            return Ok(());
        }
        let seconds = time.as_secs_f64();
        let timing = match step {
            Step::Fit(iteration) => Timing::Fit { iteration, seconds },
            Step::Solve(iteration, solver, followed) => {
                Timing::Solve { iteration, solver: solver.to_owned(), followed, seconds }
            }
            Step::Evaluate(evaluation) => Timing::Evaluate { evaluation, seconds },
        };
        let line = serde_json::to_string(&timing).map_err(|error| TrialError::Journal(error.to_string()))?;
        self.timing.write_all(format!("{line}\n").as_bytes()).map_err(cannot("write", &self.path))
    }

    fn stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Every whole line of a trial's file that can be read; none where there is no file.
pub fn read_lines<T: for<'de> Deserialize<'de>>(path: &Path) -> Vec<T> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn open(path: &Path) -> Result<File, TrialError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).open(path).map_err(cannot("open", path))
}

fn cannot(what: &'static str, path: &Path) -> impl Fn(std::io::Error) -> TrialError {
    let path = path.to_owned();
    move |error| TrialError::Journal(format!("cannot {what} {}: {error}", path.display()))
}
