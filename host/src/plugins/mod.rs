//! The loaded plugins, by kind and name.

pub mod describe;
pub mod locate;
pub mod trust;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use plugin_api::Kind;
use plugin_api::load::Plugin;

use self::locate::Folders;
use crate::plan::error::PlanError;

/// Opens plugins as they are asked for, each file once.
pub struct Plugins {
    folders: Folders,
    /// What a path in a manifest starts from.
    base: PathBuf,
    loaded: BTreeMap<PathBuf, Rc<Plugin>>,
}

impl Plugins {
    /// Plugins in these folders, and by paths from `base`.
    pub fn new(folders: Folders, base: &Path) -> Self {
        Self { folders, base: base.to_owned(), loaded: BTreeMap::new() }
    }

    /// The plugin `name`: a name, or a path where there is a separator in it.
    pub fn get(&mut self, kind: Kind, name: &str) -> Result<Rc<Plugin>, PlanError> {
        let path = if name.contains(['/', '\\']) {
            self.base.join(name.trim_start_matches("./"))
        } else {
            self.folders.find(kind, name).ok_or_else(|| PlanError::UnknownPlugin {
                kind,
                name: name.to_owned(),
                nearest: self.folders.nearest(kind, name),
                folders: self.folders.names(),
            })?
        };
        if let Some(plugin) = self.loaded.get(&path)
            && plugin.description().kind == kind
        {
            return Ok(plugin.clone());
        }
        let failed = |source| PlanError::Load { kind, name: name.to_owned(), source };
        let plugin = Rc::new(self.folders.open(kind, &path).map_err(failed)?);
        self.loaded.insert(path, plugin.clone());
        Ok(plugin)
    }

    /// Every plugin that was opened so far.
    pub fn loaded(&self) -> impl Iterator<Item = &Plugin> {
        self.loaded.values().map(Rc::as_ref)
    }
}
