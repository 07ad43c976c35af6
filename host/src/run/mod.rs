//! All trials of a plan: the run's folder, the trials, the results.

pub mod child;
mod folder;
pub mod local;
mod lock;
pub mod progress;
mod supervise;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use self::progress::Progress;
use crate::cli::PluginArguments;
use crate::diagnostic::Diagnostic;
use crate::plan::{Plan, SoleTrial, Source, plan_trial};
use crate::trial;
use crate::trial::event::Event;
use crate::trial::journal::{Signal, is_finished};
use crate::trial::optimize::Step;

pub use self::folder::{IDENTITY, Identity, PLAN, PluginFile, TRIALS};

/// How to run.
pub struct Settings {
    /// Where results go.
    pub place: Place,
    /// Whether to go on with a run although its plugins are not what they were.
    pub allow_changed_plugins: bool,
    /// How many trials at a time.
    pub jobs: usize,
    /// Whether trials run in this process.
    pub in_process: bool,
    /// Whether the first trial that fails stops the others.
    pub fail_fast: bool,
    /// How long a trial's process may say nothing.
    pub patience: Duration,
    /// How long a surrogate or solver may take over one step.
    pub step_timeout: Option<Duration>,
    /// Where plugins come from, for the trials too.
    pub plugins: PluginArguments,
}

/// How long a trial's process may say nothing, unless somebody chooses otherwise.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Where a run's folder is.
pub enum Place {
    /// A new one, below this folder and the experiment's name; named for the time where it has no name.
    New(PathBuf, Option<String>),
    /// One that is there, below this folder and the experiment's name: this one, or that begun last.
    Begun(PathBuf, Option<String>),
    /// This one, which is there.
    Folder(PathBuf),
}

/// How a run ended.
pub struct Outcome {
    /// The run's folder.
    pub folder: PathBuf,
    /// Trials that failed, with the reason.
    pub failed: Failures,
    /// Whether trials are left because somebody asked to stop, or one failed and none was to go on after that.
    pub stopped: bool,
}

/// Trials that failed, with the reason.
pub type Failures = Vec<(String, String)>;

/// A trial to be run.
#[derive(Clone, Debug)]
pub struct Job {
    /// The trial.
    pub id: String,
    /// How many evaluations it has.
    pub evaluations: usize,
    /// How long each of them may take.
    pub timeout: Option<Duration>,
}

/// Runs every trial of a plan that has not finished.
pub fn run(plan: &Plan, settings: &Settings, progress: &mut Progress) -> Result<Outcome, Diagnostic> {
    let (folder, _lock) = folder::prepare(plan, settings)?;
    let job = |trial: crate::plan::Trial<'_>| Job {
        id: trial.id(),
        evaluations: trial.setting.initial + trial.setting.evaluations,
        timeout: trial.setting.evaluation.timeout,
    };
    let jobs: Vec<Job> = plan.trials().map(job).collect();
    let open = jobs.iter().filter(|job| !is_finished(&folder.join(TRIALS).join(&job.id)));
    let open: Vec<Job> = open.cloned().collect();
    progress.begin(jobs.len(), &open);
    let stop = local::stop_on_request();
    let (failed, stopped) = if settings.in_process {
        in_process(&folder, &open, settings, &stop, progress)
    } else {
        local::run(&folder, open, settings, &stop, progress)?
    };
    progress.end();
    Ok(Outcome { folder, failed, stopped })
}

/// Runs one trial of a run's folder as a run would: what a job array of a cluster does, many at a time.
pub fn run_one(
    folder: &Path,
    id: &str,
    plugins: &PluginArguments,
    allow_changed_plugins: bool,
    progress: &mut Progress,
) -> Result<Outcome, Vec<Diagnostic>> {
    let source = Source::read(&folder.join(PLAN)).map_err(|diagnostic| vec![diagnostic])?;
    let setting = plan_trial(&source, id, plugins)?.setting;
    let evaluations = setting.initial + setting.evaluations;
    let job = Job { id: id.to_owned(), evaluations, timeout: setting.evaluation.timeout };
    let settings = Settings {
        place: Place::Folder(folder.to_owned()),
        allow_changed_plugins,
        jobs: 1,
        in_process: false,
        fail_fast: false,
        patience: PATIENCE,
        step_timeout: None,
        plugins: plugins.clone(),
    };
    progress.begin(1, std::slice::from_ref(&job));
    let stop = local::stop_on_request();
    let ended = local::run(folder, vec![job], &settings, &stop, progress);
    let (failed, stopped) = ended.map_err(|diagnostic| vec![diagnostic])?;
    progress.end();
    Ok(Outcome { folder: folder.to_owned(), failed, stopped })
}

/// A trial of a run's folder with all it needs, and the run's identity.
pub(crate) struct OpenTrial {
    sole: SoleTrial,
    identity: Identity,
}

impl OpenTrial {
    fn memory(&self) -> Option<u64> {
        self.sole.setting.evaluation.memory
    }
}

fn open_trial(folder: &Path, id: &str, plugins: &PluginArguments) -> Result<OpenTrial, TrialFailure> {
    let wrong = |diagnostics: Vec<Diagnostic>| {
        let lines: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
        TrialFailure::Failed(lines.join("\n"))
    };
    let source = Source::read(&folder.join(PLAN)).map_err(|diagnostic| wrong(vec![diagnostic]))?;
    let sole = plan_trial(&source, id, plugins).map_err(wrong)?;
    let identity = Identity::read(folder)
        .ok_or_else(|| TrialFailure::Failed(format!("{} cannot be read", folder.join(IDENTITY).display())))?;
    // Somebody may have built the plugins anew since the run began.
    identity.check_plugins(&sole.plugins).map_err(|diagnostic| wrong(vec![diagnostic]))?;
    Ok(OpenTrial { sole, identity })
}

/// Runs one trial of a run's folder in this process.
fn run_trial(
    trial: &mut OpenTrial,
    folder: &Path,
    trust: bool,
    stop: &Arc<AtomicBool>,
    listener: &mut dyn FnMut(Signal<'_>),
) -> Result<(), TrialFailure> {
    let trial_folder = folder.join(TRIALS).join(&trial.sole.id);
    // A general acquisition function that panics does so here too, when its value is asked for.
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        trial::run(&mut trial.sole, &trial.identity.plan, &trial_folder, trust, stop.clone(), listener)
    }));
    match ended {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(trial::optimize::TrialError::Stopped)) => Err(TrialFailure::Stopped),
        Ok(Err(error)) => Err(TrialFailure::Failed(error.to_string())),
        Err(panic) => {
            let words = panic.downcast_ref::<String>().map(String::as_str);
            let words = words.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(TrialFailure::Failed(format!("panicked: {}", words.unwrap_or("without words"))))
        }
    }
}

/// Why a trial did not finish.
#[derive(Debug)]
pub enum TrialFailure {
    /// Somebody asked to stop.
    Stopped,
    /// It failed.
    Failed(String),
}

fn in_process(
    folder: &Path,
    open: &[Job],
    settings: &Settings,
    stop: &Arc<AtomicBool>,
    progress: &mut Progress,
) -> (Failures, bool) {
    let mut failed = Vec::new();
    for Job { id, evaluations, .. } in open {
        progress.trial_begins(id, *evaluations);
        let ended = open_trial(folder, id, &settings.plugins).and_then(|mut trial| {
            run_trial(&mut trial, folder, settings.allow_changed_plugins, stop, &mut |signal| match signal {
                Signal::Happened(Event::Evaluated(evaluated)) => {
                    progress.evaluated(id, evaluated.evaluation, evaluated.best);
                }
                Signal::Happened(_) => {}
                Signal::Begins(Step::Fit(_)) => progress.doing(id, progress::Activity::Fit),
                Signal::Begins(Step::Solve(..)) => progress.doing(id, progress::Activity::Solve),
                Signal::Begins(Step::Evaluate(_)) => progress.doing(id, progress::Activity::Evaluate),
            })
        });
        progress.trial_ends(id);
        match ended {
            Ok(()) => {}
            Err(TrialFailure::Stopped) => return (failed, true),
            Err(TrialFailure::Failed(reason)) => failed.push((id.clone(), reason)),
        }
        if settings.fail_fast && !failed.is_empty() {
            return (failed, true);
        }
    }
    (failed, false)
}
