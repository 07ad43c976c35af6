//! The names of variables and levels, for tables and reports: journals have level numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use plugin_api::Space;
use serde::{Deserialize, Serialize};

use super::folder::cannot;
use crate::diagnostic::Diagnostic;
use crate::files;
use crate::plan::{Plan, TrialId};

/// The file's name.
pub(super) const SPACES: &str = "spaces.json";

/// The spaces of a run's trials. Empty where the run was recorded before there was a file of them.
#[derive(Debug, Default)]
pub struct Spaces {
    spaces: Vec<Arc<Space>>,
    /// Which of them each point of the sweep has.
    points: Vec<usize>,
}

/// The file: each space once, and which of them each point of the sweep has.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    spaces: Vec<Space>,
    points: Vec<usize>,
}

impl Written {
    fn of(plan: &Plan) -> Self {
        let mut written = Self::default();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        for setting in &plan.settings {
            let space = &setting.plugins.space;
            let key = serde_json::to_string(space).expect("a space is plain data");
            let place = *known.entry(key).or_insert_with(|| {
                written.spaces.push(space.clone());
                written.spaces.len() - 1
            });
            written.points.push(place);
        }
        written
    }
}

impl Spaces {
    /// Writes those of a plan, unless they are there already.
    pub(super) fn write(plan: &Plan, folder: &Path) -> Result<(), Diagnostic> {
        let path = folder.join(SPACES);
        let mut text = serde_json::to_string(&Written::of(plan)).expect("spaces are plain data");
        text.push('\n');
        if files::read(&path).is_ok_and(|there| there == text.as_bytes()) {
            return Ok(());
        }
        files::replace(&path, text.as_bytes()).map_err(|error| cannot("write", &path, error))
    }

    pub fn read(folder: &Path) -> Result<Self, Diagnostic> {
        let path = folder.join(SPACES);
        let bytes = match files::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(cannot("read", &path, error)),
        };
        let written: Written = serde_json::from_slice(&bytes).map_err(|error| {
            Diagnostic::new(format!("{} does not hold the names of variables", path.display()))
                .because(error)
                .hint("move it away: without it, points are shown by level numbers; a resume writes it again")
        })?;
        let Written { spaces, points } = written;
        Ok(Self { spaces: spaces.into_iter().map(Arc::new).collect(), points })
    }

    /// The space of a trial, where it is known.
    pub fn of_trial(&self, id: &TrialId) -> Option<&Arc<Space>> {
        let point = id.point.map_or(Some(0), |point| point.checked_sub(1))?;
        self.spaces.get(*self.points.get(point)?)
    }

    /// The names of all variables, each once, in the order of their first space.
    pub fn variables(&self) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        let names = self.spaces.iter().flat_map(|space| space.variables()).map(|variable| variable.name());
        names.filter(|name| seen.insert(*name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::Variable;

    /// Two spaces that share a variable, at three points of a sweep.
    fn two() -> Written {
        let first = Space::new(vec![
            Variable::binary("heated"),
            Variable::categorical("solvent", ["water", "ethanol", "hexane"]),
        ]);
        let second = Space::new(vec![Variable::binary("stirred"), Variable::binary("heated")]);
        Written { spaces: vec![first.unwrap(), second.unwrap()], points: vec![0, 1, 0] }
    }

    #[test]
    fn a_trial_has_the_space_of_its_point_and_tables_have_every_variable_once() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Spaces::read(folder.path()).unwrap().variables().is_empty());
        std::fs::write(folder.path().join(SPACES), serde_json::to_string(&two()).unwrap()).unwrap();
        let spaces = Spaces::read(folder.path()).unwrap();
        assert_eq!(spaces.variables(), ["heated", "solvent", "stirred"]);
        let first = |id: &str| {
            spaces.of_trial(&id.parse().unwrap()).map(|space| space.variables()[0].name().to_owned())
        };
        assert_eq!(
            ["psr-sweep1-seed1", "psr-sweep2-seed1", "psr-sweep3-seed1", "psr-sweep4-seed1"].map(first),
            [Some("heated".to_owned()), Some("stirred".into()), Some("heated".into()), None]
        );
        std::fs::write(folder.path().join(SPACES), "{}").unwrap();
        assert!(Spaces::read(folder.path()).unwrap_err().to_string().contains("move it away"));
    }
}
