//! The folder of a run: made, or found again and held against the plan.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::lock::Lock;
use super::{Place, Settings};
use crate::diagnostic::Diagnostic;
use crate::manifest::is_name;
use crate::plan::{Plan, hex};
use crate::plugins::Plugins;
use crate::{clock, files};

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

impl Identity {
    fn of(plan: &Plan) -> Result<Self, Diagnostic> {
        let plugins = plugin_files(&plan.plugins)?;
        Ok(Self { plan: plan.hash.clone(), host: env!("CARGO_PKG_VERSION").to_owned(), plugins })
    }

    /// That of a run's folder; `None` where it is not there yet, or not whole.
    pub fn read(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(folder.join(IDENTITY)).ok()?).ok()
    }

    fn write(&self, folder: &Path) -> Result<(), Diagnostic> {
        let text = serde_json::to_vec_pretty(self).expect("an identity is plain data");
        let path = folder.join(IDENTITY);
        files::replace(&path, &text).map_err(|error| cannot("write", &path, error))
    }

    /// Refuses plugins whose files are not those that the run was begun with.
    pub fn check_plugins(&self, plugins: &Plugins) -> Result<(), Diagnostic> {
        for now in plugin_files(plugins)? {
            let then = self.plugins.iter().find(|then| (&then.kind, &then.name) == (&now.kind, &now.name));
            let cause = match then {
                Some(then) if then.sha256 == now.sha256 => continue,
                Some(then) if then.version != now.version => {
                    format!("the run was begun with version {}, and this is {}", then.version, now.version)
                }
                Some(_) => "its file is not the one that the run was begun with".to_owned(),
                None => "the run was begun without it".to_owned(),
            };
            let message = format!("the {} `{}` has changed since the run was begun", now.kind, now.name);
            return Err(Diagnostic::new(message).because(cause).hint(
                "with the old file, the results are what they would have been; --resume --allow-changed-plugins goes on \
                 with this one from what is recorded",
            ));
        }
        Ok(())
    }
}

fn plugin_files(plugins: &Plugins) -> Result<Vec<PluginFile>, Diagnostic> {
    let file = |plugin: &plugin_api::load::Plugin| {
        let description = plugin.description();
        let bytes =
            std::fs::read(&description.path).map_err(|error| cannot("read", &description.path, error))?;
        Ok(PluginFile {
            kind: description.kind.to_string(),
            name: description.name.clone(),
            version: description.version.clone(),
            sha256: hex(&Sha256::digest(bytes)),
        })
    };
    plugins.loaded().map(file).collect()
}

/// Makes the run's folder with the plan in it, or finds the one to go on with; no other host has it.
pub(super) fn prepare(plan: &Plan, settings: &Settings) -> Result<(PathBuf, Lock), Diagnostic> {
    let (folder, resume) = place(plan, &settings.place)?;
    if resume {
        let lock = Lock::take(&folder)?;
        // Where there is none, the run was stopped before its plan was written, and nothing had begun.
        if let Some(mut identity) = Identity::read(&folder) {
            if identity.plan != plan.hash {
                return Err(Diagnostic::new(format!("{} holds another experiment", folder.display()))
                    .because("the manifest or an override has changed since it was begun")
                    .hint(format!("`host run --resume {}` goes on with its own plan", folder.display())));
            }
            if settings.allow_changed_plugins {
                identity.plugins = plugin_files(&plan.plugins)?;
                identity.write(&folder)?;
            } else {
                identity.check_plugins(&plan.plugins)?;
            }
            return Ok((folder, lock));
        }
        begin(plan, &folder)?;
        return Ok((folder, lock));
    }
    if folder.exists() {
        return Err(Diagnostic::new(format!("{} is there already", folder.display()))
            .hint("--resume goes on with it, another --run-id begins a new run"));
    }
    std::fs::create_dir_all(&folder).map_err(|error| cannot("make", &folder, error))?;
    let lock = Lock::take(&folder)?;
    begin(plan, &folder)?;
    Ok((folder, lock))
}

/// Writes what a run needs before its first trial. The identity comes last: where it is, all is.
fn begin(plan: &Plan, folder: &Path) -> Result<(), Diagnostic> {
    let trials = folder.join(TRIALS);
    std::fs::create_dir_all(&trials).map_err(|error| cannot("make", &trials, error))?;
    let path = folder.join(PLAN);
    files::replace(&path, plan.yaml.as_bytes()).map_err(|error| cannot("write", &path, error))?;
    Identity::of(plan)?.write(folder)
}

/// The folder's path, and whether it is one to go on with.
fn place(plan: &Plan, place: &Place) -> Result<(PathBuf, bool), Diagnostic> {
    let (Place::New(output, id) | Place::Begun(output, id)) = place else {
        let Place::Folder(folder) = place else { unreachable!("the others have a name") };
        return Ok((folder.clone(), true));
    };
    let experiment = output.join(&plan.name);
    let resume = matches!(place, Place::Begun(..));
    let id = match id {
        Some(id) if !is_name(id) => {
            return Err(Diagnostic::new(format!("`{id}` cannot be a run id")).hint(
                "a run id names a folder: up to 64 letters, digits, `-`, `_` and `.`, the first one a letter or digit",
            ));
        }
        Some(id) => id.clone(),
        None if resume => latest(&experiment).ok_or_else(|| {
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
    let folder = experiment.join(id);
    if resume && !folder.is_dir() {
        return Err(Diagnostic::new(format!("there is no run to resume in {}", folder.display()))
            .hint("--output and --run-id name another place"));
    }
    Ok((folder, resume))
}

/// The run begun last, by when its plan was written: not every run is named for its time.
fn latest(experiment: &Path) -> Option<String> {
    let begun = |entry: std::fs::DirEntry| {
        let written = entry.path().join(PLAN).metadata().and_then(|plan| plan.modified()).ok()?;
        Some((written, entry.file_name().into_string().ok()?))
    };
    std::fs::read_dir(experiment).ok()?.flatten().filter_map(begun).max().map(|(_, name)| name)
}

fn cannot(what: &str, path: &Path, error: std::io::Error) -> Diagnostic {
    Diagnostic::new(format!("cannot {what} {}", path.display())).because(error)
}
