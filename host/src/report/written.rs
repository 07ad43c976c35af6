//! The files of a report, and the list of them that stands beside them: what is not on it is somebody else's, and
//! neither replaced nor removed.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::FIGURES;
use crate::files::{self, Folder, Held};

/// The list's name.
const LIST: &str = "report-files.json";

/// How long another report into the same folder is waited for.
const PATIENCE: Duration = Duration::from_secs(120);

/// A folder that a report is written into.
pub(super) struct Place {
    folder: Folder,
    /// Whether it is the run's own folder, where the names of a report's files are the report's.
    own: bool,
    /// What earlier reports wrote.
    before: BTreeSet<String>,
    written: BTreeSet<String>,
    _held: Option<Held>,
}

#[derive(Serialize, Deserialize)]
struct List {
    files: BTreeSet<String>,
}

impl Place {
    pub(super) fn open(path: &Path, own: bool) -> io::Result<Self> {
        let folder = Folder::make(path)?;
        let held = folder.hold(PATIENCE);
        folder.clear();
        let before = match files::read(&folder.path().join(LIST)) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(|list: List| list.files).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeSet::new(),
            Err(error) => return Err(error),
        };
        Ok(Self { folder, own, before, written: BTreeSet::new(), _held: held })
    }

    /// Says which files will be written, before any of them is; refused where one is somebody else's.
    pub(super) fn announce(&mut self, names: &[&str]) -> io::Result<()> {
        for &name in names {
            self.check(&self.folder, name, name)?;
        }
        self.list(names.iter().map(|&name| name.to_owned()))
    }

    /// The same for figures; answers their folder, in which earlier figures with other names are gone.
    pub(super) fn figures(&mut self, names: &[String]) -> io::Result<Folder> {
        let folder = self.folder.below(FIGURES)?;
        folder.clear();
        let listed = |name: &String| format!("{FIGURES}/{name}");
        for name in names {
            self.check(&folder, name, &listed(name))?;
        }
        self.list(names.iter().map(listed))?;
        for old in self.before.difference(&self.written) {
            if let Some(name) = old.strip_prefix(FIGURES).and_then(|rest| rest.strip_prefix('/'))
                && (name.ends_with(".svg") || name.ends_with(".png"))
                && !name.contains(['/', '\\'])
                && folder.check(name).is_ok_and(|there| there)
            {
                folder.remove(name)?;
            }
        }
        Ok(folder)
    }

    /// Writes a file that was announced.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.folder.replace(name, bytes)
    }

    /// The same for one that is written bit by bit.
    pub(super) fn write_with(
        &self,
        name: &str,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        self.folder.replace_with(name, write)
    }

    /// Everything is written: the list has this report's files and no others.
    pub(super) fn finish(self) -> io::Result<()> {
        self.write_list(&self.written)
    }

    fn check(&self, folder: &Folder, name: &str, listed: &str) -> io::Result<()> {
        let there = folder.check(name)?;
        if there && !self.own && !self.before.contains(listed) {
            let path = folder.path().join(name);
            return Err(io::Error::other(format!("{} is no file of a report", path.display())));
        }
        Ok(())
    }

    /// The list comes first: a report that is killed leaves no file that the next one takes for somebody else's.
    fn list(&mut self, names: impl Iterator<Item = String>) -> io::Result<()> {
        self.written.extend(names);
        let all: BTreeSet<String> = self.before.union(&self.written).cloned().collect();
        self.write_list(&all)
    }

    fn write_list(&self, names: &BTreeSet<String>) -> io::Result<()> {
        let list = List { files: names.clone() };
        let mut bytes = serde_json::to_vec_pretty(&list).expect("a list is plain data");
        bytes.push(b'\n');
        self.folder.replace(LIST, &bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(path: &Path, own: bool, figures: &[&str]) -> io::Result<()> {
        let mut place = Place::open(path, own)?;
        place.announce(&["report.html"])?;
        place.write("report.html", b"page")?;
        let names: Vec<String> = figures.iter().map(|&name| name.to_owned()).collect();
        let folder = place.figures(&names)?;
        names.iter().try_for_each(|name| folder.replace(name, b"figure"))?;
        place.finish()
    }

    fn names(path: &Path) -> Vec<String> {
        let mut names: Vec<_> = std::fs::read_dir(path.join(FIGURES))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn only_what_a_report_wrote_is_replaced_or_removed() {
        let folder = tempfile::tempdir().unwrap();
        let photograph = folder.path().join("figures/photograph.png");
        std::fs::create_dir(folder.path().join(FIGURES)).unwrap();
        std::fs::write(&photograph, "photograph").unwrap();
        report(folder.path(), false, &["a.svg", "b.png"]).unwrap();
        assert_eq!(names(folder.path()), ["a.svg", "b.png", "photograph.png"]);
        report(folder.path(), false, &["b.png", "c.svg"]).unwrap();
        assert_eq!(names(folder.path()), ["b.png", "c.svg", "photograph.png"]);
        let refused = report(folder.path(), false, &["photograph.png"]).unwrap_err().to_string();
        assert!(refused.ends_with("photograph.png is no file of a report"), "{refused}");
        assert_eq!(std::fs::read(&photograph).unwrap(), b"photograph");
        assert_eq!(names(folder.path()), ["b.png", "c.svg", "photograph.png"]);
        // In the run's own folder, its names are its own; nothing else is touched there either.
        report(folder.path(), true, &["a.svg"]).unwrap();
        assert_eq!(names(folder.path()), ["a.svg", "photograph.png"]);
    }

    #[test]
    fn a_list_that_somebody_else_wrote_reaches_nothing_outside_the_figures() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(FIGURES)).unwrap();
        let kept = folder.path().join("kept.png");
        std::fs::write(&kept, "kept").unwrap();
        let list = r#"{ "files": ["figures/../kept.png", "kept.png", "../kept.png", "figures//kept.png"] }"#;
        std::fs::write(folder.path().join(LIST), list).unwrap();
        report(folder.path(), true, &["a.svg"]).unwrap();
        assert!(kept.exists());
    }
}
