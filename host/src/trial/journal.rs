//! What happened, one line an event; what a resume reads.
//!
//! A journal is a function of plan and seed. A resumed trial goes through its loop again from the start, or from
//! where its surrogate's state was saved: what it would write has to be what stands there already, evaluations are
//! taken from the journal instead of being made again, and where the journal ends the trial goes on. Times go to a
//! file of their own.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use plugin_api::Point;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::event::{Evaluating, Event, Outcome};
use super::incident::{self, Incident};
use super::optimize::{Record, Step, TrialError};
use super::state::{Pace, State};
use crate::files;
use crate::plan::hex;

/// The events of a trial.
pub const JOURNAL: &str = "journal.jsonl";
/// How long its steps took.
pub const TIMING: &str = "timing.jsonl";

/// A process that was killed may take a moment to let go of its journal.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a trial tells whoever listens.
pub enum Signal<'a> {
    /// A step begins that may take its time.
    Begins(Step<'a>),
    /// Something has happened, and is recorded.
    Happened(&'a Event),
}

/// How a journal is opened.
pub struct Opening {
    /// How often an evaluation is tried again.
    pub retries: usize,
    /// Whether what stands there counts although the plugins have changed since.
    pub trust: bool,
    /// Raised when somebody asks to stop.
    pub stop: Arc<AtomicBool>,
}

/// Writes a trial's events and times, and remembers those of an earlier run.
pub struct Journal<'a> {
    folder: PathBuf,
    path: PathBuf,
    file: File,
    timing: File,
    /// Lines of an earlier run that the loop has not come to yet.
    recorded: VecDeque<String>,
    line: usize,
    /// The length of the file's whole lines.
    length: u64,
    /// Of every line so far, replayed or written.
    hash: Sha256,
    incidents: Vec<Incident>,
    pace: Pace,
    opening: Opening,
    listener: &'a mut dyn FnMut(Signal<'_>),
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
        opening: Opening,
        listener: &'a mut dyn FnMut(Signal<'_>),
    ) -> Result<Self, TrialError> {
        std::fs::create_dir_all(folder).map_err(cannot("make", folder))?;
        let path = folder.join(JOURNAL);
        let mut file = open(&path)?;
        lock(&file, &path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(cannot("read", &path))?;
        let mut whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        if opening.trust {
            // What was proposed and not evaluated yet, other plugins may propose otherwise.
            whole = after_last_evaluated(&bytes[..whole]);
        }
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
        // The files' names have to last as long as what is written to them.
        files::sync_folder(folder).map_err(cannot("write", folder))?;
        if let Some(parent) = folder.parent() {
            files::sync_folder(parent).map_err(cannot("write", parent))?;
        }
        Ok(Self {
            incidents: incident::read(folder),
            folder: folder.to_owned(),
            path,
            file,
            timing,
            recorded,
            line: 0,
            length: whole as u64,
            hash: Sha256::new(),
            pace: Pace::new(),
            opening,
            listener,
        })
    }

    /// The surrogate's saved state, where it belongs to this journal.
    ///
    /// To be asked for when `started` has been recorded.
    pub fn saved_state(&self) -> Option<State> {
        let state = State::read(&self.folder)?;
        let mut hash = self.hash.clone();
        let mut evaluations = 0;
        for line in &self.recorded {
            add_line(&mut hash, line);
            evaluations += usize::from(is_evaluated(line));
            if evaluations == state.evaluations {
                return (hex(&hash.finalize()) == state.journal).then_some(state);
            }
        }
        None
    }

    /// How many evaluations stand there that the loop has not come to yet.
    pub fn recorded_evaluations(&self) -> usize {
        self.recorded.iter().filter(|line| is_evaluated(line)).count()
    }

    fn replaying(&self) -> bool {
        !self.recorded.is_empty()
    }

    /// Writes a line whole or not at all; it is on disk before this returns.
    fn write(&mut self, line: &str) -> Result<(), TrialError> {
        self.check_presence()?;
        // One write for the whole line: a kill leaves all of it or a torn last line.
        let written =
            self.file.write_all(format!("{line}\n").as_bytes()).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // On a full disk, half a line may stand there.
            let _ = self.file.set_len(self.length);
            return Err(cannot("write", &self.path)(error));
        }
        self.length += line.len() as u64 + 1;
        Ok(())
    }

    /// A file that was deleted or moved away can still be written to, and nobody would ever read it.
    fn check_presence(&self) -> Result<(), TrialError> {
        let there = self.path.metadata().map_err(cannot("find", &self.path))?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let ours = self.file.metadata().map_err(cannot("read", &self.path))?;
            if (there.dev(), there.ino()) != (ours.dev(), ours.ino()) {
                let path = self.path.display();
                return Err(TrialError::Journal(format!("{path} was replaced while the trial was running")));
            }
        }
        #[cfg(not(unix))]
        let _ = there;
        Ok(())
    }

    fn mismatch(&self, what: &str) -> TrialError {
        TrialError::Journal(format!("{}:{}: {what}", self.path.display(), self.line))
    }
}

impl Record for Journal<'_> {
    fn event(&mut self, event: Event) -> Result<(), TrialError> {
        let line = serde_json::to_string(&event).map_err(|error| TrialError::Journal(error.to_string()))?;
        self.line += 1;
        match self.recorded.pop_front() {
            Some(recorded) if recorded == line => add_line(&mut self.hash, &line),
            // It has the versions of the plugins.
            Some(recorded) if self.opening.trust && self.line == 1 => add_line(&mut self.hash, &recorded),
            Some(_) => {
                return Err(self.mismatch(
                    "the journal was written by another plan, plugin or program version; \
                     choose another --run-id, or remove this trial's folder",
                ));
            }
            None => {
                self.write(&line)?;
                add_line(&mut self.hash, &line);
            }
        }
        (self.listener)(Signal::Happened(&event));
        Ok(())
    }

    fn evaluate(
        &mut self,
        evaluating: Evaluating,
        evaluate: &mut dyn FnMut() -> Outcome,
    ) -> Result<Outcome, TrialError> {
        let evaluation = evaluating.evaluation;
        self.event(Event::Evaluating(evaluating))?;
        match self.recorded.front().map(|line| serde_json::from_str(line)) {
            None => {}
            Some(Ok(Event::Evaluated(evaluated))) => return Ok(evaluated.outcome),
            Some(_) => {
                self.line += 1;
                return Err(self.mismatch("the result of an evaluation should stand here"));
            }
        }
        let mut failures: Vec<Outcome> = incident::deaths(&self.incidents, evaluation).collect();
        while failures.len() <= self.opening.retries {
            if !failures.is_empty() && self.stop() {
                return Err(TrialError::Stopped);
            }
            (self.listener)(Signal::Begins(Step::Evaluate(evaluation)));
            match evaluate() {
                value @ Outcome::Ok { .. } => return Ok(value),
                failure => {
                    let again = if failures.len() < self.opening.retries { "; trying again" } else { "" };
                    let reason = failure.reason().unwrap_or_default();
                    tracing::warn!("evaluation {evaluation} failed{again}: {reason}");
                    failures.push(failure);
                }
            }
        }
        Ok(failures.pop().expect("an evaluation is tried once at least"))
    }

    fn recall(&mut self) -> Result<Point, TrialError> {
        let proposed = self.recorded.pop_front();
        self.line += 1;
        match proposed.as_deref().map(|line| (line, serde_json::from_str(line))) {
            Some((line, Ok(event @ Event::Proposed(_)))) => {
                add_line(&mut self.hash, line);
                (self.listener)(Signal::Happened(&event));
            }
            _ => return Err(self.mismatch("a proposal should stand here")),
        }
        match self.recorded.front().map(|line| serde_json::from_str(line)) {
            Some(Ok(Event::Evaluating(evaluating))) => Ok(evaluating.point),
            _ => {
                self.line += 1;
                Err(self.mismatch("a point to evaluate should stand here"))
            }
        }
    }

    fn keep(&mut self, evaluations: usize, save: &mut dyn FnMut() -> plugin_api::Result<Option<Vec<u8>>>) {
        if self.replaying() || !self.pace.due() {
            return;
        }
        let begun = Instant::now();
        // Without it a resume takes longer, and that is all.
        match save() {
            Ok(Some(bytes)) => {
                let state = State { evaluations, journal: hex(&self.hash.clone().finalize()), bytes };
                if let Err(error) = state.write(&self.folder) {
                    tracing::warn!("cannot save the surrogate's state in {}: {error}", self.folder.display());
                }
            }
            Ok(None) => {}
            Err(error) => tracing::warn!("the surrogate cannot save its state: {error}"),
        }
        self.pace.saved(begun);
    }

    fn begins(&mut self, step: Step<'_>) {
        (self.listener)(Signal::Begins(step));
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
        self.opening.stop.load(Ordering::Relaxed)
    }
}

fn add_line(hash: &mut Sha256, line: &str) {
    hash.update(line.as_bytes());
    hash.update(b"\n");
}

/// Whether a line of ours is an `evaluated`: each begins with the event's name.
fn is_evaluated(line: &str) -> bool {
    line.starts_with(r#"{"event":"evaluated","#)
}

/// Where the last `evaluated` of a journal ends; all of it where the trial has finished.
fn after_last_evaluated(journal: &[u8]) -> usize {
    let mut end = 0;
    let mut kept = 0;
    for line in journal.split_inclusive(|&byte| byte == b'\n') {
        end += line.len();
        let line = String::from_utf8_lossy(line);
        if is_evaluated(&line) || line.starts_with(r#"{"event":"finished","#) {
            kept = end;
        }
    }
    kept
}

/// Whether the trial in this folder has finished.
pub fn is_finished(folder: &Path) -> bool {
    // Without reading all of it.
    const LONGEST: u64 = 1 << 20;
    let last = files::last_line(&folder.join(JOURNAL), LONGEST).ok().flatten();
    matches!(last.map(|line| serde_json::from_str(&line)), Some(Ok(Event::Finished(_))))
}

/// Takes the journal for this process alone.
fn lock(file: &File, path: &Path) -> Result<(), TrialError> {
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(TryLockError::WouldBlock) => {
                let path = path.display();
                return Err(TrialError::Journal(format!("another process is writing to {path}")));
            }
            Err(TryLockError::Error(error)) if error.kind() == std::io::ErrorKind::Unsupported => {
                tracing::warn!("this file system has no locks: nothing else may run {}", path.display());
                return Ok(());
            }
            Err(TryLockError::Error(error)) => return Err(cannot("lock", path)(error)),
        }
    }
}

/// Every line of a trial's file that can be read; none where there is no file.
pub fn read_lines<T: for<'de> Deserialize<'de>>(path: &Path) -> Vec<T> {
    parse_lines(&std::fs::read(path).unwrap_or_default()).collect()
}

/// Every line that can be read. A torn one is passed over, and so is one in words of another version.
pub fn parse_lines<T: for<'de> Deserialize<'de>>(bytes: &[u8]) -> impl Iterator<Item = T> {
    bytes.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}

fn open(path: &Path) -> Result<File, TrialError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).open(path).map_err(cannot("open", path))
}

fn cannot(what: &'static str, path: &Path) -> impl Fn(std::io::Error) -> TrialError {
    let path = path.to_owned();
    move |error| TrialError::Journal(format!("cannot {what} {}: {error}", path.display()))
}
