//! One trial of several folders: the journal that has all that the others have, and what stands beside it.

use std::path::{Path, PathBuf};

use super::super::event::Event;
use super::super::folder::cannot;
use super::super::journal::JOURNAL;
use super::super::{RunFolder, TRIALS, asked, chain, incident, repeats, round, state, timing, trial_file};
use super::MergeError;
use crate::diagnostic::{Diagnostic, Place};
use crate::files;
use crate::plan::TrialId;

/// What a trial's folder has besides its journal. Anything else is nothing of ours, and stays where it is.
const BESIDE: [&str; 8] = [
    trial_file::TRIAL,
    timing::TIMING,
    state::STATE,
    round::ROUND,
    repeats::REPEATS,
    incident::INCIDENTS,
    asked::PREDICTIONS,
    asked::EFFECTS,
];

/// The folder whose journal counts.
pub(super) struct Chosen {
    folder: PathBuf,
    /// Its whole lines.
    journal: Vec<u8>,
    pub(super) finished: bool,
}

/// Chooses among the folders of a trial: the longest journal, of which all others have to be beginnings.
pub(super) fn unite(id: &TrialId, runs: &[&RunFolder], plan: &str) -> Result<Chosen, Vec<Diagnostic>> {
    let (mut read, mut mistakes) = (Vec::new(), Vec::new());
    for run in runs {
        match Chosen::read(run, id, plan) {
            Ok(found) => read.push(found),
            Err(mistake) => mistakes.push(mistake),
        }
    }
    // Of equal ones, the first.
    let longest = (0..read.len()).rev().max_by_key(|&i| read[i].journal.len()).map(|i| read.swap_remove(i));
    let Some(longest) = longest else { return Err(mistakes) };
    mistakes.extend(read.iter().filter_map(|other| {
        let line = longest.parting(other)?;
        let path = |chosen: &Chosen| chosen.folder.join(JOURNAL).display().to_string();
        let place = Some(Place::File(path(&longest), line, 1));
        let different =
            Diagnostic { place, ..Diagnostic::new(format!("two folders have different journals of `{id}`")) };
        Some(different.because(format!("line {line} is another in {}", path(other))).hint(
            "the same plan and seed give the same journal, unless plugins differ: leave one of the folders out",
        ))
    }));
    if mistakes.is_empty() { Ok(longest) } else { Err(mistakes) }
}

impl Chosen {
    fn read(run: &RunFolder, id: &TrialId, plan: &str) -> Result<Self, Diagnostic> {
        let name = id.to_string();
        let folder = run.path.join(TRIALS).join(&name);
        let path = folder.join(JOURNAL);
        files::refuse_links_below(&run.path, &[TRIALS, &name])
            .map_err(|error| cannot("read", &folder, error))?;
        let mut journal = match files::read(&path) {
            Ok(journal) => journal,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(cannot("read", &path, error)),
        };
        let at = |line: usize, message: &str| {
            let place = Some(Place::File(path.display().to_string(), line, 1));
            Diagnostic { place, ..Diagnostic::new(message) }
        };
        let events = chain::read(&path, &journal).map_err(|broken| {
            at(broken.line, "a journal is not what was written")
                .because(&broken.what)
                .hint("`host doctor` says what is whole; put it back from a copy, or leave its folder out")
        })?;
        if let Some((Event::Started(started), _)) = events.first() {
            if started.plan != plan {
                return Err(at(1, "this is the journal of another plan than its run's"));
            }
            if started.trial != *id {
                return Err(at(1, "this is the journal of another trial")
                    .because(format!("it is that of `{}`, in the folder of `{id}`", started.trial)));
            }
        }
        // A torn end is what the next line would have been.
        journal.truncate(journal.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1));
        let finished = matches!(events.last(), Some((Event::Finished(_), _)));
        Ok(Self { folder, journal, finished })
    }

    /// The first line that is another in a journal that is no longer than this one.
    fn parting(&self, other: &Self) -> Option<usize> {
        if self.journal.starts_with(&other.journal) {
            return None;
        }
        let equal = self.journal.iter().zip(&other.journal).take_while(|(one, two)| one == two);
        Some(1 + equal.filter(|(byte, _)| **byte == b'\n').count())
    }

    /// Writes the trial's folder again.
    pub(super) fn write(&self, to: &Path) -> Result<(), MergeError> {
        let failed = |path: &Path, error| MergeError::Failed(cannot("write", path, error));
        std::fs::create_dir(to).map_err(|error| failed(to, error))?;
        for name in BESIDE {
            let from = self.folder.join(name);
            let bytes = match files::read(&from) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(cannot("read", &from, error).into()),
            };
            let path = to.join(name);
            files::write_new(&path, &bytes).map_err(|error| failed(&path, error))?;
        }
        if !self.journal.is_empty() {
            let path = to.join(JOURNAL);
            files::write_new(&path, &self.journal).map_err(|error| failed(&path, error))?;
        }
        Ok(())
    }
}
