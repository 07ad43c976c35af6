//! Who runs trials: this process, child processes, or whatever else implements [`Executor`].

use std::path::Path;
use std::time::Duration;

use super::progress::Progress;
use super::slurm::refuse_queued;
use super::stop::Stop;
use crate::diagnostic::Diagnostic;
use crate::manifest::Settings;
use crate::plan::TrialId;

/// Runs the trials of a run's folder.
///
/// The folder has everything that a trial needs: its own file, and what is recorded of it so far. An executor may run
/// trials in any order and number; their journals do not depend on it. It tells `progress` what happens.
pub trait Executor {
    /// Runs these trials to their ends, until somebody asks to stop.
    fn execute(
        &self,
        folder: &Path,
        jobs: Vec<Job>,
        stop: &Stop,
        progress: &mut Progress,
    ) -> Result<Ended, Diagnostic>;

    /// Whether trials go on where this process is stopped.
    fn leaves_trials(&self) -> bool {
        false
    }

    /// Refuses to run trials of a folder that others have.
    fn check(&self, folder: &Path) -> Result<(), Diagnostic> {
        refuse_queued(folder)
    }
}

/// A trial to be run.
#[derive(Clone, Debug)]
pub struct Job {
    pub id: TrialId,
    pub evaluations: usize,
    /// How long each of them may take in the trial's process, with all its repetitions; workers are watched by the trial.
    pub timeout: Option<Duration>,
}

impl Job {
    pub fn new(id: TrialId, evaluations: usize, keys: &Settings) -> Self {
        Self { id, evaluations, timeout: keys.evaluation.limit() }
    }
}

/// How the trials ended.
#[derive(Default)]
pub struct Ended {
    pub failed: Failures,
    /// Whether trials are left because somebody asked to stop, or one failed and none was to go on after that.
    pub stopped: bool,
    /// What is left to others, in words, where nobody is to wait for it.
    pub left: Option<String>,
}

/// Trials that failed, with the reason.
pub type Failures = Vec<(TrialId, String)>;

/// Why a trial did not finish.
#[derive(Debug)]
pub enum TrialFailure {
    /// Somebody asked to stop.
    Stopped,
    Failed(String),
}

/// Says at `-v` how a trial ended.
pub(super) fn log_end(id: &TrialId, end: &Result<(), TrialFailure>) {
    match end {
        Ok(()) => tracing::info!("trial `{id}` has finished"),
        Err(TrialFailure::Stopped) => tracing::info!("trial `{id}` was stopped on request"),
        Err(TrialFailure::Failed(reason)) => tracing::info!("trial `{id}` failed: {reason}"),
    }
}

impl Ended {
    /// Takes how a trial ended; answers whether it failed.
    pub fn take(&mut self, id: TrialId, ended: Result<(), TrialFailure>) -> bool {
        match ended {
            Ok(()) => return false,
            Err(TrialFailure::Stopped) => self.stopped = true,
            Err(TrialFailure::Failed(reason)) => {
                self.failed.push((id, reason));
                return true;
            }
        }
        false
    }
}
