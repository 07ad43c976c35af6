//! From a name to a file; the nearest name when there is none.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use plugin_api::Kind;
use plugin_api::load::{Description, LoadError, Plugin};

use super::trust::{self, Insecure, Refused};
use super::{PluginArguments, private};
use crate::diagnostic::nearest;

/// The variable that names folders of plugins, separated as in `PATH`.
pub const PATH_VARIABLE: &str = "HOST_PLUGIN_PATH";

/// Why a file was not opened.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// Others may write to it.
    #[error("{0}")]
    Insecure(Insecure),
    /// It is no plugin for this host.
    #[error("{0}")]
    Load(LoadError),
}

/// Where plugins are looked for, in order. Never the current folder.
#[derive(Clone, Debug, Default)]
pub struct Folders {
    folders: Vec<PathBuf>,
    allow_insecure: bool,
}

impl Folders {
    /// The folders of the command line, those of a manifest, then `HOST_PLUGIN_PATH`, the executable's own, `plugins`
    /// beside it, and the user's.
    pub fn of(plugins: &PluginArguments, manifest: &[PathBuf]) -> Self {
        let folders = searched(plugins, manifest).into_iter().map(|(_, folder)| folder).collect();
        Self { folders, allow_insecure: plugins.allow_insecure }
    }

    /// One folder, and no other.
    pub fn only(folder: &Path) -> Self {
        Self { folders: vec![folder.to_owned()], allow_insecure: false }
    }

    /// Opens a file as a plugin of this kind, unless others could have put their code into it: loading is running. What is
    /// loaded is a copy of what was checked, which comes with it.
    pub fn open(&self, kind: Kind, path: &Path) -> Result<(Plugin, &'static File), FileError> {
        let unreadable = |cause| FileError::Load(LoadError::Unreadable { path: path.to_owned(), cause });
        let (file, real) = self.checked(path)?;
        let copy = private::copy(file).map_err(unreadable)?;
        Ok((Plugin::load_file(copy, &real, kind).map_err(FileError::Load)?, copy))
    }

    /// The same for a plugin that only says what it is, without a copy.
    pub fn describe(&self, kind: Kind, path: &Path) -> Result<Description, FileError> {
        let (file, real) = self.checked(path)?;
        let plugin = Plugin::load_file(private::keep(file), &real, kind).map_err(FileError::Load)?;
        Ok(plugin.description().clone())
    }

    fn checked(&self, path: &Path) -> Result<(File, PathBuf), FileError> {
        let opened = if self.allow_insecure { trust::open_anyway(path) } else { trust::open(path) };
        opened.map_err(|refused| match refused {
            Refused::Insecure(insecure) => FileError::Insecure(insecure),
            Refused::Unreadable(cause) => {
                FileError::Load(LoadError::Unreadable { path: path.to_owned(), cause })
            }
        })
    }

    /// The folders that exist, as people read them.
    pub fn names(&self) -> Vec<String> {
        let existing = self.folders.iter().filter(|folder| folder.is_dir());
        existing.map(|folder| folder.display().to_string()).collect()
    }

    /// The first file that holds the plugin `name`.
    pub fn find(&self, kind: Kind, name: &str) -> Option<PathBuf> {
        let file = kind.file_name(name);
        self.folders.iter().map(|folder| folder.join(&file)).find(|path| path.is_file())
    }

    /// Every file that follows the naming rule; of two with one name, the first found. In order of kind and name.
    pub fn all(&self) -> Vec<(Kind, PathBuf)> {
        let mut found = BTreeMap::new();
        for folder in &self.folders {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let file = entry.file_name();
                if let Some((kind, name)) = file.to_str().and_then(Kind::of_file_name) {
                    found.entry((kind, name.to_owned())).or_insert_with(|| entry.path());
                }
            }
        }
        found.into_iter().map(|((kind, _), path)| (kind, path)).collect()
    }

    /// The name that somebody who wrote `name` probably meant.
    pub fn nearest(&self, kind: Kind, name: &str) -> Option<String> {
        nearest(name, self.names_of(kind).iter().map(String::as_str))
    }

    /// The names of all plugins of a kind, in order.
    pub fn names_of(&self, kind: Kind) -> Vec<String> {
        let file_name = |(_, path): (Kind, PathBuf)| path.file_name()?.to_str().map(str::to_owned);
        let files: Vec<String> =
            self.all().into_iter().filter(|(found, _)| *found == kind).filter_map(file_name).collect();
        let names = files.iter().filter_map(|file| Kind::of_file_name(file));
        names.map(|(_, name)| name.replace('_', "-")).collect()
    }
}

/// Where plugins are looked for, each with who says so.
pub fn searched(plugins: &PluginArguments, manifest: &[PathBuf]) -> Vec<(&'static str, PathBuf)> {
    let named = plugins.directories.iter().map(|folder| ("--plugin-dir", folder));
    let named = named.chain(manifest.iter().map(|folder| ("the manifest", folder)));
    let named = named.filter_map(|(who, folder)| Some((who, std::path::absolute(folder).ok()?)));
    let mut folders: Vec<(&str, PathBuf)> = named.collect();
    if let Some(variable) = std::env::var_os(PATH_VARIABLE) {
        // An empty entry would mean the current folder.
        let absolute = std::env::split_paths(&variable).filter(|path| path.is_absolute());
        folders.extend(absolute.map(|folder| (PATH_VARIABLE, folder)));
    }
    // Its folder is there also where another program has taken its place in it.
    let executable = std::env::current_exe().ok();
    let folder = executable.as_deref().and_then(Path::parent).and_then(|path| path.canonicalize().ok());
    if let Some(folder) = folder {
        folders.push(("beside the program", folder.clone()));
        folders.push(("beside the program", folder.join("plugins")));
    }
    folders.extend(user_folder().map(|folder| ("the user's own", folder)));
    folders
}

/// Where a user's own plugins are kept.
pub fn user_folder() -> Option<PathBuf> {
    let folder = |variable| std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = if cfg!(windows) {
        folder("LOCALAPPDATA")
    } else {
        folder("XDG_DATA_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/share")))
    };
    data.map(|data| data.join("host").join("plugins"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_folder_wins_and_other_files_are_passed_over() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let file = Kind::Solver.file_name("one-two");
        for folder in [&one, &two] {
            std::fs::write(folder.path().join(&file), "").unwrap();
            std::fs::write(folder.path().join("notes.txt"), "").unwrap();
        }
        let folders =
            Folders { folders: vec![one.path().to_owned(), two.path().to_owned()], ..Folders::default() };
        assert_eq!(folders.find(Kind::Solver, "one-two"), Some(one.path().join(&file)));
        assert_eq!(folders.find(Kind::Encoder, "one-two"), None);
        assert_eq!(folders.all(), [(Kind::Solver, one.path().join(&file))]);
        assert_eq!(folders.nearest(Kind::Solver, "one-tow").as_deref(), Some("one-two"));
    }

    #[test]
    fn the_current_folder_is_never_searched() {
        let here = std::env::current_dir().unwrap();
        assert!(
            Folders::of(&PluginArguments::default(), &[])
                .folders
                .iter()
                .all(|folder| folder.is_absolute() && *folder != here)
        );
    }
}
