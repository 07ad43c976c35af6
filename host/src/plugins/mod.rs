//! Plugins: found by name, checked for who may have written them, opened once, described.

pub mod describe;
pub mod locate;
mod paths;
mod private;
pub mod trust;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use plugin_api::Kind;
use plugin_api::load::Plugin;
use serde_json::Value as Json;

use self::locate::{FileError, Folders};
pub use self::paths::has_paths;
use crate::diagnostic::{Diagnostic, program};

/// Where plugins come from.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct PluginArguments {
    /// Another folder with plugins, searched first. May be repeated.
    #[arg(long = "plugin-dir", value_name = "DIR", value_parser = folder)]
    pub directories: Vec<PathBuf>,
    /// Load plugins even where other users of this machine could have changed them.
    #[arg(long = "allow-insecure-plugins")]
    pub allow_insecure: bool,
}

/// A folder that is there: one that is misspelt would be searched in silence.
fn folder(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.metadata() {
        Ok(there) if there.is_dir() => Ok(path),
        Ok(_) => Err("it is not a folder".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

impl PluginArguments {
    /// The same, whatever the current folder becomes.
    pub fn absolute(&self) -> Self {
        let absolute = |folder: &PathBuf| std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
        let directories = self.directories.iter().map(absolute).collect();
        Self { directories, allow_insecure: self.allow_insecure }
    }
}

/// Why there is no such plugin.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("no {kind} named `{name}`")]
    Unknown { kind: Kind, name: String, nearest: Option<String>, folders: Vec<String> },
    #[error("the {kind} `{name}` cannot be loaded")]
    File { kind: Kind, name: String, source: FileError },
}

impl From<OpenError> for Diagnostic {
    fn from(error: OpenError) -> Self {
        let diagnostic = Self::new(error.to_string());
        match error {
            OpenError::Unknown { nearest, folders, .. } => {
                let meant = nearest.map(|name| format!("did you mean `{name}`? ")).unwrap_or_default();
                let searched = folders.join(", ");
                diagnostic.hint(format!("{meant}`host plugins list` shows all; searched: {searched}"))
            }
            OpenError::File { source: source @ FileError::Insecure(_), .. } => diagnostic
                .because(source)
                .hint("`chmod go-w` on it, or --allow-insecure-plugins where you trust who may write there"),
            OpenError::File { kind: Kind::Benchmark, name, source } => match program(Path::new(&name)) {
                Some((language, way)) => diagnostic
                    .because(format!("a plugin is a dynamic library, and this is a file in {language}"))
                    .hint(way),
                None => diagnostic.because(source),
            },
            OpenError::File { source, .. } => diagnostic.because(source),
        }
    }
}

/// The SHA-256 of a file's content.
pub fn sha256(path: &Path) -> std::io::Result<[u8; 32]> {
    private::sha256(&File::open(path)?)
}

/// A plugin, and the file that it was loaded from.
pub struct Loaded {
    pub plugin: Rc<Plugin>,
    file: &'static File,
}

impl Loaded {
    /// The SHA-256 of the very bytes that were loaded.
    pub fn sha256(&self) -> std::io::Result<[u8; 32]> {
        private::sha256(self.file)
    }
}

/// Opens plugins as they are asked for, each file once.
pub struct Plugins {
    folders: Folders,
    /// What a path in a manifest starts from.
    base: PathBuf,
    loaded: BTreeMap<PathBuf, Loaded>,
}

impl Plugins {
    /// Plugins in these folders, and by paths from `base`.
    pub fn new(folders: Folders, base: &Path) -> Self {
        Self { folders, base: base.to_owned(), loaded: BTreeMap::new() }
    }

    /// The plugin `name`: a name, or a path where there is a separator in it.
    pub fn get(&mut self, kind: Kind, name: &str) -> Result<Rc<Plugin>, OpenError> {
        let path = if name.contains(['/', '\\']) {
            self.path(name)
        } else {
            self.folders.find(kind, name).ok_or_else(|| OpenError::Unknown {
                kind,
                name: name.to_owned(),
                nearest: self.folders.nearest(kind, name),
                folders: self.folders.names(),
            })?
        };
        if let Some(loaded) = self.loaded.get(&path)
            && loaded.plugin.description().kind == kind
        {
            return Ok(loaded.plugin.clone());
        }
        let failed = |source| OpenError::File { kind, name: name.to_owned(), source };
        let (plugin, file) = self.folders.open(kind, &path).map_err(failed)?;
        let plugin = Rc::new(plugin);
        self.loaded.insert(path, Loaded { plugin: plugin.clone(), file });
        Ok(plugin)
    }

    /// The names of all plugins of a kind that are there, in order.
    pub fn names(&self, kind: Kind) -> Vec<String> {
        self.folders.names_of(kind)
    }

    /// The file that a path in a manifest leads to.
    pub fn path(&self, name: &str) -> PathBuf {
        self.base.join(name.trim_start_matches("./"))
    }

    /// Options as their plugin gets them: with paths that start from the base.
    pub fn options(&self, plugin: &Plugin, options: &Json) -> Json {
        match self.base.as_os_str().is_empty() {
            true => options.clone(),
            false => paths::rooted(plugin.description(), options, &self.base),
        }
    }

    /// The file below the base that the options of an opened plugin name as its program, by its path from there.
    pub fn program_file(&self, kind: Kind, name: &str, options: &Json) -> Option<(String, PathBuf)> {
        let mut descriptions = self.loaded().map(|loaded| loaded.plugin.description());
        let plugin = descriptions.find(|plugin| plugin.kind == kind && plugin.name == name);
        let plugin = plugin.filter(|_| !self.base.as_os_str().is_empty());
        plugin.and_then(|plugin| paths::program_file(plugin, options, &self.base))
    }

    /// Every plugin that was opened so far.
    pub fn loaded(&self) -> impl Iterator<Item = &Loaded> {
        self.loaded.values()
    }
}
