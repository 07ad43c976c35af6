//! The fixtures as dylibs: copied to a stage, patched where a test wants another api, and built once a process.
//!
//! A stage is a folder under `target/tmp/boundary/` with a copy of `plugin-api`, its fixtures and the workspace's
//! `Cargo.lock`: nothing is fetched, and nothing is written among the sources. All stages share one target folder,
//! so the dependencies are compiled once; each gives the fixtures' packages a name of its own, since cargo writes
//! a dylib under its bare name.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use plugin_api::serde_json::{self, Value};

/// A copy of the api and the fixtures, perhaps with changes.
pub(crate) struct Stage<'a> {
    /// Begins the names of its packages.
    pub(crate) name: &'static str,
    pub(crate) patches: &'a [Patch],
}

/// A change to a file, which has the old text exactly once.
pub(crate) struct Patch {
    pub(crate) file: &'static str,
    pub(crate) old: &'static str,
    pub(crate) new: &'static str,
}

/// The files that a build gave, by the fixture's name.
pub(crate) type Built = BTreeMap<String, PathBuf>;

impl Stage<'_> {
    /// Builds these fixtures with `cargo build`, and further arguments.
    pub(crate) fn build(&self, fixtures: &[&str], arguments: &[&str]) -> Built {
        let packages = fixtures.iter().map(|fixture| format!("--package={}-{fixture}", self.name));
        self.cargo(["build".to_owned()].into_iter().chain(packages), arguments)
    }

    /// Builds one fixture with flags for its own compilation alone.
    pub(crate) fn build_with_flags(&self, fixture: &str, flags: &[&str]) -> Built {
        let arguments = ["rustc".to_owned(), format!("--package={}-{fixture}", self.name)];
        self.cargo(arguments.into_iter(), &[&["--"], flags].concat())
    }

    fn cargo(&self, what: impl Iterator<Item = String>, arguments: &[&str]) -> Built {
        // Cargo would wait for itself anyway; and no two threads write to a stage at once.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = boundary_folder();
        self.set(&folder.join(self.name));
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from(env!("CARGO")));
        let output = Command::new(cargo)
            .current_dir(folder.join(self.name).join(FIXTURES))
            .args(what)
            .args(["--offline", "--message-format=json-render-diagnostics", "--target-dir"])
            .arg(folder.join("target"))
            .args(arguments)
            .output()
            .expect("cargo can be started");
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "the fixtures of stage `{}` do not build:\n{words}", self.name);
        let messages = String::from_utf8(output.stdout).expect("cargo writes UTF-8");
        messages.lines().filter_map(|line| self.artifact(&serde_json::from_str(line).ok()?)).collect()
    }

    /// The fixture and its file in one of cargo's messages.
    fn artifact(&self, message: &Value) -> Option<(String, PathBuf)> {
        let target = message["target"]["name"].as_str()?.replace('_', "-");
        let fixture = target.strip_prefix(self.name)?.strip_prefix('-')?;
        // On Windows a dylib has import libraries beside it.
        let is_dylib =
            |file: &&Value| file.as_str().is_some_and(|file| file.ends_with(std::env::consts::DLL_SUFFIX));
        let dylib = || message["filenames"].as_array()?.iter().find(is_dylib)?.as_str();
        let file = message["executable"].as_str().or_else(dylib)?;
        Some((fixture.to_owned(), file.into()))
    }

    /// Writes what changed since the last time, so that cargo sees no change where there is none.
    fn set(&self, folder: &Path) {
        let workspace =
            Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace is above the crate");
        let mut files = BTreeMap::new();
        for part in ["Cargo.toml", API_MANIFEST, "plugin-api/src", "plugin-api/benches", FIXTURES] {
            read(workspace, Path::new(part), &mut files);
        }
        // The api takes versions and lints from the workspace, of which it is the only member here.
        let manifest = files.get_mut(Path::new("Cargo.toml")).expect("the workspace has a manifest");
        let start = manifest.find("members = [").expect("the workspace lists its members");
        let end = start + manifest[start..].find(']').expect("the list of members ends");
        manifest.replace_range(start..=end, r#"members = ["plugin-api"]"#);

        for Patch { file, old, new } in self.patches {
            let text = files.get_mut(Path::new(file)).unwrap_or_else(|| panic!("no file {file} to patch"));
            assert_eq!(
                text.matches(old).count(),
                1,
                "{file} does not have exactly once what is patched:\n{old}"
            );
            *text = text.replace(old, new);
        }
        for (path, text) in &mut files {
            if path.starts_with(FIXTURES) && path.ends_with("Cargo.toml") {
                *text = text.replace("name = \"fixture-", &format!("name = \"{}-", self.name));
            }
        }
        for (path, text) in files {
            write(&folder.join(path), &text);
        }
        // Cargo takes from its lock file what the fixtures do not need, so it is compared with an untouched copy.
        let lock = fs::read_to_string(workspace.join("Cargo.lock")).expect("the workspace has a lock file");
        let untouched = folder.join("Cargo.lock");
        if fs::read_to_string(&untouched).ok().as_ref() != Some(&lock) {
            write(&folder.join(FIXTURES).join("Cargo.lock"), &lock);
            write(&untouched, &lock);
        }
    }
}

pub(crate) const API_MANIFEST: &str = "plugin-api/Cargo.toml";

/// The line of that manifest that says the version.
pub(crate) const API_VERSION_LINE: &str = concat!("version = \"", env!("CARGO_PKG_VERSION"), "\"");

const FIXTURES: &str = "plugin-api/tests/fixtures";

fn boundary_folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("boundary")
}

/// The text of a file, or of every file in a folder, by its path from `root`.
fn read(root: &Path, path: &Path, files: &mut BTreeMap<PathBuf, String>) {
    let place = root.join(path);
    if place.is_dir() {
        for entry in fs::read_dir(&place).unwrap_or_else(|error| panic!("{}: {error}", place.display())) {
            let name = entry.expect("a readable folder").file_name();
            read(root, &path.join(name), files);
        }
    } else {
        let text = fs::read_to_string(&place).unwrap_or_else(|error| panic!("{}: {error}", place.display()));
        files.insert(path.to_owned(), text);
    }
}

/// Two processes may write the same file at once, so it appears whole or not at all.
fn write(path: &Path, text: &str) {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return;
    }
    let folder = path.parent().expect("a file in a folder");
    let draft = path.with_extension(format!("{}.draft", std::process::id()));
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&draft, text))
        .and_then(|()| fs::rename(&draft, path))
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
