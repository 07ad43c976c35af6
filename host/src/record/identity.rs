//! What was run: the plan's hash, the plugins' files, and those of programs that are objectives.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::FORMAT;
use super::folder::cannot;
use super::health::Health;
use crate::diagnostic::Diagnostic;
use crate::files;
use crate::plan::{Plan, Spec, hex};
use crate::plugins::{self, Loaded, Plugins};

const IDENTITY: &str = "identity.json";

/// What to do where it is lost.
pub(super) const WAY_OUT: &str = "put it back from a copy; `host doctor` says what else is whole, and \
                                  --allow-changed-plugins goes on with the plan that all journals name";

/// The version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

const CHANGED: &str = "with the old one, the results are what they would have been; --allow-changed-plugins goes on with this \
                       one from what is recorded";

/// What was run. It stands outside the journals because the files of plugins differ between machines and
/// builds, and journals do not.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Identity {
    /// The version of all that is recorded.
    pub format: u32,
    /// The plan's hash.
    pub plan: String,
    /// The version of this program.
    pub host: String,
    /// Several of one name where runs with different files were merged.
    pub plugins: Vec<PluginFile>,
    /// The files of programs that are objectives; older runs have none. Several of one name as with plugins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramFile>,
    /// The hash of the plan that the run is being extended to: some journals name it already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub becoming: Option<String>,
    /// How many trials the plan has. Older runs do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trials: Option<usize>,
    /// Whether the run has gone on with other plugins or another version of this program than it was begun with: what is
    /// recorded counts as it stands.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changed: bool,
}

/// A plugin's file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PluginFile {
    pub kind: String,
    pub name: String,
    pub version: String,
    /// The file's SHA-256.
    pub sha256: String,
}

/// A file that an objective's options name as its program, or as the script of an interpreter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramFile {
    /// Its path from the manifest's folder.
    pub name: String,
    /// Its SHA-256.
    pub sha256: String,
}

impl Identity {
    /// What is run when this plan is run now.
    pub(super) fn of(plan: &Plan) -> Result<Self, Diagnostic> {
        let plugins = plugin_files(&plan.plugins)?;
        let programs = program_files(plan)?;
        let (becoming, trials) = (None, Some(plan.trials().count()));
        Ok(Self {
            format: FORMAT,
            plan: plan.hash.clone(),
            host: VERSION.to_owned(),
            plugins,
            programs,
            becoming,
            trials,
            changed: false,
        })
    }

    /// That of a run's folder; `None` where there is none yet. One that cannot be read, or is of another format, is
    /// refused.
    pub fn read(folder: &Path) -> Result<Option<Self>, Diagnostic> {
        let path = folder.join(IDENTITY);
        let bytes = match files::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(cannot("read", &path, error)),
        };
        let garbled = |error: serde_json::Error| {
            Diagnostic::new(format!("{} cannot be read", path.display())).because(error).hint(WAY_OUT)
        };
        let tree: Json = serde_json::from_slice(&bytes).map_err(garbled)?;
        // The first format had no number.
        let format = tree.get("format").map_or(Some(1), Json::as_u64);
        if tree.is_object() && format != Some(FORMAT.into()) {
            let found = format.map_or_else(|| "another".to_owned(), |format| format.to_string());
            let host = tree.get("host").and_then(Json::as_str).unwrap_or("another version");
            return Err(Diagnostic::new(format!("{} is of format {found}", folder.display()))
                .because(format!("this host reads and writes format {FORMAT}"))
                .hint(format!(
                    "it was written by host {host}, which can still read it; a new run is of this format"
                )));
        }
        serde_json::from_value(tree).map(Some).map_err(garbled)
    }

    /// Whether a journal of this plan belongs to the run.
    pub fn names(&self, plan: &str) -> bool {
        plan == self.plan || self.becoming.as_deref() == Some(plan)
    }

    /// Writes the identity again where it was lost or cannot be read, and every journal names this plan. What stands there
    /// is kept under another name.
    pub(super) fn mend(folder: &Path, plan: &Plan) -> Result<(), Diagnostic> {
        let path = folder.join(IDENTITY);
        let there = match files::read(&path) {
            // Of another format, or whole: not ours to mend.
            Ok(bytes) if serde_json::from_slice::<serde_json::Map<String, Json>>(&bytes).is_ok() => {
                return Ok(());
            }
            Ok(_) => true,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
            Err(error) => return Err(cannot("read", &path, error)),
        };
        let health = Health::of(folder)?;
        match health.plans()[..] {
            [] => return Ok(()),
            [named] if named == plan.hash => {}
            _ => {
                return Err(Diagnostic::new(format!("{} is lost", path.display()))
                    .because("the journals name another plan, or several")
                    .hint("put it back from a copy; `host doctor` says what else is whole"));
            }
        }
        if there {
            let kept = folder.join(format!("{IDENTITY}.garbled"));
            std::fs::rename(&path, &kept).map_err(|error| cannot("keep", &path, error))?;
        }
        // Which plugins it was begun with is lost.
        Self { changed: true, ..Self::of(plan)? }.write(folder)
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), Diagnostic> {
        let text = serde_json::to_vec_pretty(self).expect("an identity is plain data");
        let path = folder.join(IDENTITY);
        files::replace(&path, &text).map_err(|error| cannot("write", &path, error))
    }

    /// Refuses plugins and programs whose files are not those that the run was begun with, and this program where it is of
    /// another version than the one that began it.
    pub(super) fn check_programs(&self, plan: &Plan) -> Result<(), Diagnostic> {
        self.check(&plan.plugins, false)?;
        self.check_files(&program_files(plan)?)
    }

    /// The same for a run that is to have more methods: plugins that it was begun without are its new ones.
    pub(super) fn check_recorded_programs(&self, plan: &Plan) -> Result<(), Diagnostic> {
        self.check(&plan.plugins, true)?;
        self.check_files(&program_files(plan)?)
    }

    /// The same for a single trial.
    pub fn check_trial(&self, plugins: &Plugins, benchmark: &Spec) -> Result<(), Diagnostic> {
        self.check(plugins, false)?;
        self.check_files(&hashed(program_of(plugins, benchmark))?)
    }

    /// A file that is not recorded is none that the run was begun with: an older run, or one that has more objectives now.
    fn check_files(&self, files: &[ProgramFile]) -> Result<(), Diagnostic> {
        for now in files {
            let mut then = self.programs.iter().filter(|then| then.name == now.name).peekable();
            if then.peek().is_some() && !then.any(|then| then == now) {
                return Err(Diagnostic::new(format!("`{}` has changed since the run was begun", now.name))
                    .because(
                        "it is the program of the objective, and its content is not what the run was begun with",
                    )
                    .hint(format!("{CHANGED}; without --resume, a new run evaluates everything with it")));
            }
        }
        Ok(())
    }

    fn check(&self, plugins: &Plugins, new_ones: bool) -> Result<(), Diagnostic> {
        if self.host != VERSION {
            return Err(Diagnostic::new("the run was begun by another version of this program")
                .because(format!("it was begun by host {}, and this is {VERSION}", self.host))
                .hint(CHANGED));
        }
        for now in plugin_files(plugins)? {
            let then = || {
                let same = |then: &&PluginFile| (&then.kind, &then.name) == (&now.kind, &now.name);
                self.plugins.iter().filter(same)
            };
            let cause = match then().next() {
                Some(_) if then().any(|then| then.sha256 == now.sha256) => continue,
                Some(then) if then.version != now.version => {
                    format!("the run was begun with version {}, and this is {}", then.version, now.version)
                }
                Some(_) => "its file is not the one that the run was begun with".to_owned(),
                None if new_ones => continue,
                None => "the run was begun without it".to_owned(),
            };
            let message = format!("the {} `{}` has changed since the run was begun", now.kind, now.name);
            return Err(Diagnostic::new(message).because(cause).hint(CHANGED));
        }
        Ok(())
    }
}

/// The files of all programs that are objectives of a plan.
fn program_files(plan: &Plan) -> Result<Vec<ProgramFile>, Diagnostic> {
    let benchmarks = plan.settings.iter().map(|setting| &setting.plugins.benchmark);
    // Points of a sweep may share their benchmark.
    let files: BTreeMap<String, PathBuf> =
        benchmarks.filter_map(|benchmark| program_of(&plan.plugins, benchmark)).collect();
    hashed(files)
}

fn program_of(plugins: &Plugins, benchmark: &Spec) -> Option<(String, PathBuf)> {
    plugins.program_file(plugin_api::Kind::Benchmark, &benchmark.name, &benchmark.options)
}

fn hashed(files: impl IntoIterator<Item = (String, PathBuf)>) -> Result<Vec<ProgramFile>, Diagnostic> {
    let hashed = |(name, path): (String, PathBuf)| {
        let sha256 = plugins::sha256(&path).map_err(|error| cannot("read", &path, error))?;
        Ok(ProgramFile { name, sha256: hex(&sha256) })
    };
    files.into_iter().map(hashed).collect()
}

fn plugin_files(plugins: &Plugins) -> Result<Vec<PluginFile>, Diagnostic> {
    let file = |loaded: &Loaded| {
        let description = loaded.plugin.description();
        let sha256 = loaded.sha256().map_err(|error| cannot("read", &description.path, error))?;
        Ok(PluginFile {
            kind: description.kind.to_string(),
            name: description.name.clone(),
            version: description.version.clone(),
            sha256: hex(&sha256),
        })
    };
    plugins.loaded().map(file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_refused_and_what_is_not_there_is_not() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Identity::read(folder.path()).unwrap().is_none());
        let refused = |text: &str| {
            std::fs::write(folder.path().join(IDENTITY), text).unwrap();
            Identity::read(folder.path()).unwrap_err().message
        };
        for garbled in ["", "{", "[]", "7", r#"{"format":2}"#, r#"{"format":2,"plan":7}"#] {
            assert!(refused(garbled).ends_with("identity.json cannot be read"), "{garbled}");
        }
        assert!(refused(r#"{"plan":"ab","host":"0.1.0","plugins":[]}"#).ends_with("is of format 1"));
        assert!(refused(r#"{"format":3}"#).ends_with("is of format 3"));
        let identity = Identity {
            format: FORMAT,
            plan: "ab".to_owned(),
            host: "1".to_owned(),
            plugins: vec![],
            programs: vec![],
            becoming: None,
            trials: None,
            changed: false,
        };
        identity.write(folder.path()).unwrap();
        let read = || Identity::read(folder.path()).unwrap().unwrap();
        assert_eq!(read().plan, "ab");
        // A run from before programs were recorded takes any; one that has them takes those that it has.
        let file =
            |name: &str, sha256: &str| ProgramFile { name: name.to_owned(), sha256: sha256.to_owned() };
        read().check_files(&[file("a.py", "1")]).unwrap();
        let programs = vec![file("a.py", "1"), file("a.py", "2")];
        Identity { programs, ..identity }.write(folder.path()).unwrap();
        read().check_files(&[file("a.py", "2"), file("new.py", "7")]).unwrap();
        let refused = read().check_files(&[file("a.py", "3")]).unwrap_err().message;
        assert_eq!(refused, "`a.py` has changed since the run was begun");
    }
}
