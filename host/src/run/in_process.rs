//! Trials in this process, one after the other: for debugging.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::executor::{Ended, Executor, Job, TrialFailure, log_end};
use super::processes::adopt_orphans;
use super::progress::Progress;
use super::protocol::{Message, Speaker};
use super::stop::Stop;
use crate::diagnostic::Diagnostic;
use crate::plugins::PluginArguments;
use crate::trial::{Listener, OpenTrial, TrialError, Workers};

/// Runs trials in this process.
pub struct InProcess {
    pub plugins: PluginArguments,
    pub allow_changed_plugins: bool,
    /// Whether the first trial that fails stops the others.
    pub fail_fast: bool,
}

impl Executor for InProcess {
    fn execute(
        &self,
        folder: &Path,
        jobs: Vec<Job>,
        stop: &Stop,
        progress: &mut Progress,
    ) -> Result<Ended, Diagnostic> {
        let mut ended = Ended::default();
        // Of what plugins start, nothing is left behind where somebody stops this process.
        adopt_orphans();
        for job in jobs {
            progress.log(|| tracing::info!("trial `{}` begins", job.id));
            progress.trial_begins(&job);
            let mut listener = Speaker(|message: Message| progress.hear(&job.id, &message));
            let trial = OpenTrial::open(folder, &job.id, &self.plugins, self.allow_changed_plugins);
            let asked = stop.flag();
            let result = trial
                .map_err(failure)
                .and_then(|mut trial| run_trial(&mut trial, asked, &mut listener, None));
            progress.log(|| log_end(&job.id, &result));
            progress.trial_ends(&job.id);
            let failed = ended.take(job.id, result);
            if ended.stopped {
                break;
            }
            if failed && self.fail_fast {
                ended.stopped = true;
                break;
            }
        }
        Ok(ended)
    }
}

/// Runs a trial in this process; a panic becomes its failure.
pub(super) fn run_trial(
    trial: &mut OpenTrial,
    stop: &Arc<AtomicBool>,
    listener: &mut dyn Listener,
    workers: Option<Box<dyn Workers>>,
) -> Result<(), TrialFailure> {
    // A general acquisition function that panics does so here too, when its value is asked for.
    let ended = catch_unwind(AssertUnwindSafe(|| trial.run(stop.clone(), listener, workers)));
    match ended {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(failure(error)),
        Err(panic) => {
            let words = panic.downcast_ref::<String>().map(String::as_str);
            let words = words.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(TrialFailure::Failed(format!("panicked: {}", words.unwrap_or("without words"))))
        }
    }
}

/// Why a trial did not finish, from the trial's own error.
pub(super) fn failure(error: TrialError) -> TrialFailure {
    match error {
        TrialError::Stopped => TrialFailure::Stopped,
        error => TrialFailure::Failed(error.to_string()),
    }
}
