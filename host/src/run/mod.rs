//! All trials of a plan: the run's folder, the trials, the results.

pub mod local;
pub mod progress;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use self::progress::Progress;
use crate::cli::PluginArguments;
use crate::diagnostic::Diagnostic;
use crate::plan::{Plan, Source, hex, plan_trial};
use crate::trial::event::Event;
use crate::trial::journal::{JOURNAL, read_lines};
use crate::{clock, trial};

/// The plan of a run.
pub const PLAN: &str = "plan.yaml";
/// What was run: the plan's hash, and the plugins' files.
pub const IDENTITY: &str = "identity.json";
/// The folder of the trials.
pub const TRIALS: &str = "trials";

/// What was run. It stands outside the journals because the files of plugins differ between machines and
/// builds, and journals do not.
#[derive(Debug, Serialize, Deserialize)]
pub struct Identity {
    /// The plan's hash.
    pub plan: String,
    /// The version of this program.
    pub host: String,
    /// Every plugin.
    pub plugins: Vec<PluginFile>,
}

/// A plugin's file.
#[derive(Debug, Serialize, Deserialize)]
pub struct PluginFile {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The file's SHA-256.
    pub sha256: String,
}

/// How to run.
pub struct Settings {
    /// Where results go.
    pub output: PathBuf,
    /// The name of the run's folder.
    pub run_id: Option<String>,
    /// Whether to go on with a run.
    pub resume: bool,
    /// How many trials at a time.
    pub jobs: usize,
    /// Whether trials run in this process.
    pub in_process: bool,
    /// Where plugins come from, for the trials too.
    pub plugins: PluginArguments,
}

/// How a run ended.
pub struct Outcome {
    /// The run's folder.
    pub folder: PathBuf,
    /// Trials that failed, with the reason.
    pub failed: Vec<(String, String)>,
    /// Whether somebody asked to stop.
    pub stopped: bool,
}

/// Runs every trial of a plan that has not finished.
pub fn run(plan: &Plan, settings: &Settings, progress: &mut Progress) -> Result<Outcome, Diagnostic> {
    let folder = prepare(plan, settings)?;
    let finished = |id: &str| {
        let events: Vec<Event> = read_lines(&folder.join(TRIALS).join(id).join(JOURNAL));
        matches!(events.last(), Some(Event::Finished(_)))
    };
    let evaluations = |trial: &crate::plan::Trial<'_>| trial.setting.initial + trial.setting.evaluations;
    let trials: Vec<(String, usize)> = plan.trials().map(|trial| (trial.id(), evaluations(&trial))).collect();
    let open: Vec<_> = trials.iter().filter(|(id, _)| !settings.resume || !finished(id)).cloned().collect();
    progress.begin(&trials, open.len());
    let stop = local::stop_on_request();
    let (failed, stopped) = if settings.in_process {
        in_process(&folder, &open, settings, &stop, progress)
    } else {
        local::run(&folder, open, settings, &stop, progress)?
    };
    progress.end();
    Ok(Outcome { folder, failed, stopped })
}

/// Makes the run's folder with the plan in it, or finds the one to go on with.
fn prepare(plan: &Plan, settings: &Settings) -> Result<PathBuf, Diagnostic> {
    let experiment = settings.output.join(&plan.name);
    let cannot = |what: &str, path: &Path, error: std::io::Error| {
        Diagnostic::new(format!("cannot {what} {}", path.display())).because(error)
    };
    let run_id = match &settings.run_id {
        Some(id) if id.is_empty() || id.starts_with('.') || id.contains(['/', '\\', '\0']) => {
            return Err(Diagnostic::new(format!("`{id}` cannot be a run id"))
                .hint("a run id names a folder: letters, digits, `-`, `_` and `.`"));
        }
        Some(id) => id.clone(),
        None if settings.resume => latest(&experiment).ok_or_else(|| {
            Diagnostic::new(format!("there is no run to resume in {}", experiment.display()))
                .hint("--output and --run-id name another place")
        })?,
        None => {
            let stamp = clock::stamp();
            // Two runs may begin within a second.
            let mut names = std::iter::once(stamp.clone()).chain((2..).map(|i| format!("{stamp}-{i}")));
            names.find(|name| !experiment.join(name).exists()).expect("there is always another number")
        }
    };
    let folder = experiment.join(run_id);
    let identity_path = folder.join(IDENTITY);
    if folder.exists() && !settings.resume {
        return Err(Diagnostic::new(format!("{} is there already", folder.display()))
            .hint("--resume goes on with it, another --run-id begins a new run"));
    }
    if settings.resume {
        let identity: Option<Identity> =
            std::fs::read(&identity_path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        match identity {
            Some(identity) if identity.plan == plan.hash => return Ok(folder),
            Some(_) => {
                return Err(Diagnostic::new(format!("{} holds another experiment", folder.display()))
                    .because("the manifest, an override or a plugin's version has changed since it was begun")
                    .hint(format!("its own plan is {}", folder.join(PLAN).display())));
            }
            // Stopped before the plan was written: nothing had begun.
            None => {}
        }
    }
    std::fs::create_dir_all(folder.join(TRIALS)).map_err(|error| cannot("make", &folder, error))?;
    std::fs::write(folder.join(PLAN), &plan.yaml)
        .map_err(|error| cannot("write", &folder.join(PLAN), error))?;
    let identity = serde_json::to_vec_pretty(&identity(plan)?).expect("an identity is plain data");
    std::fs::write(&identity_path, identity).map_err(|error| cannot("write", &identity_path, error))?;
    Ok(folder)
}

/// The run begun last, by when its plan was written: not every run is named for its time.
fn latest(experiment: &Path) -> Option<String> {
    let begun = |entry: std::fs::DirEntry| {
        let written = entry.path().join(PLAN).metadata().and_then(|plan| plan.modified()).ok()?;
        Some((written, entry.file_name().into_string().ok()?))
    };
    std::fs::read_dir(experiment).ok()?.flatten().filter_map(begun).max().map(|(_, name)| name)
}

fn identity(plan: &Plan) -> Result<Identity, Diagnostic> {
    let file = |plugin: &plugin_api::load::Plugin| {
        let description = plugin.description();
        let path = &description.path;
        let bytes = std::fs::read(path);
        let bytes = bytes
            .map_err(|error| Diagnostic::new(format!("cannot read {}", path.display())).because(error))?;
        Ok(PluginFile {
            kind: description.kind.to_string(),
            name: description.name.clone(),
            version: description.version.clone(),
            sha256: hex(&Sha256::digest(bytes)),
        })
    };
    let plugins = plan.plugins.loaded().map(file).collect::<Result<_, Diagnostic>>()?;
    Ok(Identity { plan: plan.hash.clone(), host: env!("CARGO_PKG_VERSION").to_owned(), plugins })
}

/// Runs one trial of a run's folder in this process.
pub fn run_trial(
    folder: &Path,
    id: &str,
    plugins: &PluginArguments,
    stop: &Arc<AtomicBool>,
    listener: &mut dyn FnMut(&Event),
) -> Result<(), TrialFailure> {
    let wrong = |diagnostics: Vec<Diagnostic>| {
        let lines: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
        TrialFailure::Failed(lines.join("\n"))
    };
    let source = Source::read(&folder.join(PLAN)).map_err(|diagnostic| wrong(vec![diagnostic]))?;
    let mut sole = plan_trial(&source, id, plugins).map_err(wrong)?;
    let identity = std::fs::read(folder.join(IDENTITY)).ok();
    let identity: Option<Identity> = identity.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let identity = identity
        .ok_or_else(|| TrialFailure::Failed(format!("{} cannot be read", folder.join(IDENTITY).display())))?;
    let trial_folder = folder.join(TRIALS).join(id);
    // A general acquisition function that panics does so here too, when its value is asked for.
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        trial::run(&mut sole, &identity.plan, &trial_folder, stop.clone(), listener)
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
    open: &[(String, usize)],
    settings: &Settings,
    stop: &Arc<AtomicBool>,
    progress: &mut Progress,
) -> (Vec<(String, String)>, bool) {
    let mut failed = Vec::new();
    for (id, evaluations) in open {
        progress.trial_begins(id, *evaluations);
        let ended = run_trial(folder, id, &settings.plugins, stop, &mut |event| {
            if let Event::Evaluated(evaluated) = event {
                progress.evaluated(id, evaluated.evaluation, evaluated.best);
            }
        });
        progress.trial_ends(id);
        match ended {
            Ok(()) => {}
            Err(TrialFailure::Stopped) => return (failed, true),
            Err(TrialFailure::Failed(reason)) => failed.push((id.clone(), reason)),
        }
    }
    (failed, false)
}
