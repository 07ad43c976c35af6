//! A run in a folder of its own that is started, killed and started again.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::{command, journals_in, processes_with};

pub(crate) struct Run {
    top: tempfile::TempDir,
    name: String,
    /// What every start has among its arguments.
    always: Vec<String>,
}

impl Run {
    pub(crate) fn new(manifest: &str, always: &[&str]) -> Self {
        let top = tempfile::tempdir().unwrap();
        std::fs::write(top.path().join("m.yaml"), manifest).unwrap();
        let name = manifest.lines().find_map(|line| line.strip_prefix("name: ")).unwrap().to_owned();
        Self { top, name, always: always.iter().map(ToString::to_string).collect() }
    }

    /// Where its manifest is, and where results go.
    pub(crate) fn top(&self) -> &Path {
        self.top.path()
    }

    pub(crate) fn manifest(&self) -> PathBuf {
        self.top.path().join("m.yaml")
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.top.path().join(&self.name).join("r")
    }

    /// Begins it, or goes on with what is there.
    pub(crate) fn start(&self, more: &[&str]) -> Child {
        let (manifest, output) = (self.manifest(), self.top.path().to_str().unwrap());
        let mut arguments =
            vec!["run", manifest.to_str().unwrap(), "--output", output, "--run-id", "r", "--quiet"];
        arguments.extend(self.always.iter().map(String::as_str));
        arguments.extend(more);
        if self.folder().is_dir() {
            arguments.push("--resume");
        }
        let mut command = command(&arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs it to its end, and answers the journals.
    pub(crate) fn finish(&self, more: &[&str]) -> BTreeMap<String, String> {
        let ended = self.start(more).wait_with_output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        self.journals()
    }

    pub(crate) fn journals(&self) -> BTreeMap<String, String> {
        journals_in(&self.folder())
    }

    /// The processes of its trials: guards, trials, workers and theirs.
    pub(crate) fn processes(&self) -> Vec<u32> {
        processes_with(&format!("trial\0{}\0", self.folder().display()))
    }
}

/// Sends a signal to a process, which may have ended a moment ago.
pub(crate) fn signal(name: &str, process: u32) {
    let _ = Command::new("kill").args([name, &process.to_string()]).stderr(Stdio::null()).status();
}
