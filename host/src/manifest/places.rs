//! Where a mistake is to be looked for: a value comes from the file, from the sweep or from the command line.

use super::keys::sweep::Axis;
use super::mistake::Mistake;
use super::overrides::Origin;
use super::source::Source;
use super::yaml::{self, KeyPath, Part};
use crate::diagnostic::{Diagnostic, Place};

/// Everything that a value may come from.
pub struct Places<'a> {
    pub source: &'a Source,
    /// What the command line has set.
    pub origins: &'a [Origin],
    pub axes: &'a [Axis],
}

impl Places<'_> {
    /// The mistake with its place; `choice` says which value of each axis was in force.
    pub fn diagnostic(&self, mistake: &Mistake, choice: Option<&[usize]>) -> Diagnostic {
        // What is wrong in a file that the manifest names has its place there.
        let place = mistake.what.place.clone().unwrap_or_else(|| self.place(mistake, choice));
        Diagnostic { place: Some(place), ..mistake.what.clone() }
    }

    fn place(&self, mistake: &Mistake, choice: Option<&[usize]>) -> Place {
        let swept = |choice: &[usize]| {
            let axis = self.axes.iter().position(|axis| axis.path.contains(&mistake.path))?;
            let key = KeyPath::root().join("sweep").join(&self.axes[axis].path);
            Some(key.join(choice[axis]))
        };
        if let Some(path) = choice.and_then(swept) {
            return self.in_file(&path, Part::Value);
        }
        match self.origins.iter().rev().find(|(path, _)| path.contains(&mistake.path)) {
            Some((_, argument)) => Place::Argument(argument.clone()),
            None => self.in_file(&mistake.path, mistake.part),
        }
    }

    fn in_file(&self, path: &KeyPath, part: Part) -> Place {
        let (line, column) = yaml::locate(&self.source.text, path, part);
        Place::File(self.source.label.clone(), line, column)
    }
}
