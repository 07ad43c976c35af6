//! The folder that a run is put together in: it has another name until it is whole.

use std::path::{Path, PathBuf};

use super::super::Lock;
use super::super::folder::cannot;
use crate::diagnostic::Diagnostic;
use crate::files;

/// What its name ends with.
const MERGING: &str = ".merging";

/// Gone with all that is in it when the value is dropped, unless it was finished.
pub(super) struct Staging {
    path: PathBuf,
    /// Tells others that somebody is at it.
    _lock: Lock,
    finished: bool,
}

impl Staging {
    /// A folder beside the one that it will become. What merges to the same place that were killed have left is removed.
    pub(super) fn make(to: &Path) -> Result<Self, Diagnostic> {
        let name = to.file_name().and_then(|name| name.to_str()).ok_or_else(|| {
            Diagnostic::new(format!("`{}` cannot be the name of a run's folder", to.display()))
        })?;
        let parent = match to.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        std::fs::create_dir_all(parent).map_err(|error| cannot("make", parent, error))?;
        let begin = format!(".{name}.");
        for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
            let left = entry.file_name();
            let is_ours =
                left.to_str().is_some_and(|left| left.starts_with(&begin) && left.ends_with(MERGING));
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            // Who is at it holds it.
            if is_ours && is_folder && Lock::take(&entry.path()).is_ok() {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        let path = parent.join(format!("{begin}{}{MERGING}", std::process::id()));
        std::fs::create_dir(&path).map_err(|error| cannot("make", &path, error))?;
        let lock = Lock::take(&path).inspect_err(|_| drop(std::fs::remove_dir_all(&path)))?;
        Ok(Self { path, _lock: lock, finished: false })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it its name: all of it is on disk.
    pub(super) fn finish(mut self, to: &Path) -> Result<(), Diagnostic> {
        std::fs::rename(&self.path, to).map_err(|error| cannot("make", to, error))?;
        self.finished = true;
        let parent = to.parent().unwrap_or(Path::new(""));
        files::sync_folder(parent).map_err(|error| cannot("write", parent, error))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if !self.finished {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}
