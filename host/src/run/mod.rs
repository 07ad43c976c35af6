//! All trials of a plan: the run's folder, who runs the trials, and how far they are.

pub mod child;
mod children;
mod executor;
mod in_process;
pub mod progress;
mod protocol;
mod supervise;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub use self::children::Children;
pub use self::executor::{Ended, Executor, Failures, Job, TrialFailure};
pub use self::in_process::InProcess;
pub use self::supervise::Limits;

use self::progress::Progress;
use crate::diagnostic::Diagnostic;
use crate::plan::{Plan, TrialId};
use crate::record::{Place, RecordError, TRIALS, is_finished, prepare, read_trial};

/// How long a trial's process may say nothing, unless somebody chooses otherwise.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// How a run ended.
pub struct Outcome {
    /// The run's folder.
    pub folder: PathBuf,
    pub failed: Failures,
    /// Whether trials are left because somebody asked to stop, or one failed and none was to go on after that.
    pub stopped: bool,
}

/// Runs every trial of a plan that has not finished.
pub fn run(
    plan: &Plan,
    place: &Place,
    allow_changed_plugins: bool,
    executor: &dyn Executor,
    progress: &mut Progress,
) -> Result<Outcome, Diagnostic> {
    let (folder, _lock) = prepare(plan, place, allow_changed_plugins)?;
    let job = |trial: crate::plan::Trial<'_>| Job::new(trial.id(), &trial.setting.keys);
    let jobs: Vec<Job> = plan.trials().map(job).collect();
    let open = jobs.iter().filter(|job| !is_finished(&folder.join(TRIALS).join(job.id.to_string())));
    let open: Vec<Job> = open.cloned().collect();
    progress.begin(jobs.len(), &open);
    let Ended { failed, stopped } = executor.execute(&folder, open, &stop_on_request(), progress)?;
    progress.end();
    Ok(Outcome { folder, failed, stopped })
}

/// Runs one trial of a run's folder as a run would: what a job array of a cluster does, many at a time.
pub fn run_one(
    folder: &Path,
    id: &TrialId,
    executor: &dyn Executor,
    progress: &mut Progress,
) -> Result<Outcome, Diagnostic> {
    let trial = read_trial(folder, id).map_err(|error: RecordError| {
        Diagnostic::new(format!("no trial `{id}` in {}", folder.display())).because(error)
    })?;
    let job = Job::new(trial.id, &trial.keys);
    progress.begin(1, std::slice::from_ref(&job));
    let Ended { failed, stopped } = executor.execute(folder, vec![job], &stop_on_request(), progress)?;
    progress.end();
    Ok(Outcome { folder: folder.to_owned(), failed, stopped })
}

/// A flag that Ctrl-C raises. A second Ctrl-C ends the program, and with it the trials.
fn stop_on_request() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let raised = stop.clone();
    // A second call in one process keeps the first handler, whose flag is then the one that counts.
    let set = ctrlc::set_handler(move || {
        if raised.swap(true, Ordering::Relaxed) {
            std::process::exit(1);
        }
    });
    if let Err(error) = set {
        tracing::debug!("Ctrl-C is handled already: {error}");
    }
    stop
}
