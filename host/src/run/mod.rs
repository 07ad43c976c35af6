//! All trials of a plan: the run's folder, who runs the trials, and how far they are.

pub mod child;
mod children;
mod death;
mod executor;
pub mod guard;
mod in_process;
mod lines;
mod nobody;
mod processes;
pub mod progress;
mod protocol;
pub mod slurm;
mod stop;
mod supervise;
mod waiting;
pub mod worker;
mod workers;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub use self::child::take_output;
pub use self::children::Children;
pub use self::death::Exit;
pub use self::executor::{Ended, Executor, Failures, Job, TrialFailure};
pub use self::in_process::InProcess;
pub use self::nobody::Nobody;
pub use self::processes::end_with_parent;
pub use self::stop::Stop;
pub use self::supervise::Limits;

use self::progress::Progress;
use crate::diagnostic::Diagnostic;
use crate::plan::{Plan, TrialId};
use crate::record::{Place, Programs, RecordError, TRIALS, finished, is_finished, prepare, read_trial};

/// How long a trial's process may say nothing, unless somebody chooses otherwise.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// How a run ended.
pub struct Outcome {
    /// The run's folder.
    pub folder: PathBuf,
    pub failed: Failures,
    /// Whether trials are left because somebody asked to stop, or one failed and none was to go on after that.
    pub stopped: bool,
    /// How many trials ended before their budget was spent, because every point had been seen.
    pub exhausted: usize,
    /// What is left to others, in words, where nobody is to wait for it.
    pub left: Option<String>,
    /// When its trials began.
    pub begun: Instant,
}

/// Runs every trial of a plan that has not finished. `to_go_on` is the command that goes on with the run in a folder.
pub fn run(
    plan: &Plan,
    place: &Place,
    programs: &Programs<'_>,
    executor: &dyn Executor,
    to_go_on: &dyn Fn(&Path) -> String,
    progress: &mut Progress,
) -> Result<Outcome, Diagnostic> {
    let (folder, _lock) = prepare(plan, place, programs)?;
    let folder = absolute(&folder)?;
    executor.check(&folder)?;
    let job = |trial: crate::plan::Trial<'_>| {
        Job::new(trial.id(), trial.setting.evaluations(), &trial.setting.keys)
    };
    let jobs: Vec<Job> = plan.trials().map(job).collect();
    let open = jobs.iter().filter(|job| !is_finished(&folder.join(TRIALS).join(job.id.to_string())));
    let open: Vec<Job> = open.cloned().collect();
    let (all, left, place) = (jobs.len(), open.len(), folder.display());
    tracing::info!("{left} of {all} trials are to be run in {place}");
    let begun = Instant::now();
    progress.begin(&jobs, &open);
    if !open.is_empty() {
        progress.begin_in(&folder);
    }
    let Ended { failed, stopped, left } = execute(executor, &folder, open, &to_go_on(&folder), progress)?;
    let exhausted = jobs.iter().filter(|job| is_exhausted(&folder, job)).count();
    Ok(Outcome { folder, failed, stopped, exhausted, left, begun })
}

/// Whether a trial has ended before its budget was spent.
fn is_exhausted(folder: &Path, job: &Job) -> bool {
    let ended = finished(&folder.join(TRIALS).join(job.id.to_string()));
    ended.is_some_and(|ended| ended.evaluations < job.evaluations)
}

/// Runs trials of a run's folder as a run would, one after the other: what a task of a cluster's job array does.
pub fn run_some(
    folder: &Path,
    ids: &[TrialId],
    executor: &dyn Executor,
    to_go_on: &str,
    progress: &mut Progress,
) -> Result<Outcome, Diagnostic> {
    let job = |id: &TrialId| {
        let trial = read_trial(folder, id).map_err(|error: RecordError| {
            Diagnostic::new(format!("no trial `{id}` in {}", folder.display())).because(error)
        })?;
        let evaluations = trial.evaluations();
        Ok(Job::new(trial.id, evaluations, &trial.keys))
    };
    let jobs: Vec<Job> = ids.iter().map(job).collect::<Result<_, Diagnostic>>()?;
    let begun = Instant::now();
    progress.begin(&jobs, &jobs);
    let folder = absolute(folder)?;
    let Ended { failed, stopped, left } = execute(executor, &folder, jobs, to_go_on, progress)?;
    Ok(Outcome { folder, failed, stopped, exhausted: 0, left, begun })
}

/// Runs trials until they have ended, or somebody asks to stop and is told how to go on.
fn execute(
    executor: &dyn Executor,
    folder: &Path,
    jobs: Vec<Job>,
    to_go_on: &str,
    progress: &mut Progress,
) -> Result<Ended, Diagnostic> {
    let stop = Stop::on_request(progress.waiting(), to_go_on, executor.leaves_trials())?;
    let ended = executor.execute(folder, jobs, &stop, progress)?;
    stop.is_over();
    progress.end();
    if ended.stopped {
        progress.waiting().say_stopped(to_go_on, executor.leaves_trials() && stop.asked());
    }
    Ok(ended)
}

/// A path that means the same when a plugin has changed the current folder.
fn absolute(path: &Path) -> Result<PathBuf, Diagnostic> {
    std::path::absolute(path).map_err(|error| Diagnostic::new("the current folder is gone").because(error))
}

/// The program that is running, also where another has taken its place on disk since.
pub fn own_executable() -> std::io::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        let own = PathBuf::from("/proc/self/exe");
        if own.exists() {
            return Ok(own);
        }
    }
    std::env::current_exe()
}

/// A thread, where the system has one to give.
fn thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> std::io::Result<std::thread::JoinHandle<T>> {
    std::thread::Builder::new().spawn(work)
}
