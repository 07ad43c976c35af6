//! Results of a round whose turn in the journal has not come, because others of the round are still under way.
//!
//! The journal has the results of a round in its order, whatever ends first; here they are on disk as soon as they are known.
//! A line that is torn or was changed is passed over, and its evaluation made again.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use plugin_api::Point;
use serde::{Deserialize, Serialize};

use super::event::Outcome;
use super::{Chain, RecordError, chain};
use crate::files;

/// The file in a trial's folder.
pub(super) const ROUND: &str = "round.jsonl";

/// The results of the round under way.
pub struct RoundFile {
    path: PathBuf,
    /// Opened when there is something to write.
    file: Option<File>,
    /// What is in it and not in the journal, by the number of the evaluation.
    kept: BTreeMap<usize, (Point, Outcome)>,
    /// Whether its last line has no end.
    torn: bool,
}

/// A line. Its hash is its own, not that of the lines before it.
#[derive(Serialize, Deserialize)]
struct Line {
    evaluation: usize,
    point: Point,
    outcome: Outcome,
}

impl RoundFile {
    /// The file in a trial's folder, with what an earlier run left in it.
    pub fn open(folder: &Path) -> Self {
        let path = folder.join(ROUND);
        let bytes = files::read(&path).unwrap_or_default();
        let lines = bytes.split_inclusive(|&byte| byte == b'\n').filter_map(|line| {
            let line = std::str::from_utf8(line.strip_suffix(b"\n")?).ok()?;
            Chain::default().follow(line).ok()?;
            serde_json::from_str(&format!("{}}}", chain::words(line)?)).ok()
        });
        let kept = lines.map(|Line { evaluation, point, outcome }| (evaluation, (point, outcome))).collect();
        let torn = bytes.last().is_some_and(|&byte| byte != b'\n');
        Self { path, file: None, kept, torn }
    }

    /// How an evaluation of this point ended, where it is known.
    pub fn kept(&self, evaluation: usize, point: &Point) -> Option<Outcome> {
        self.kept.get(&evaluation).filter(|(kept, _)| kept == point).map(|(_, outcome)| outcome.clone())
    }

    /// Adds a result; it is on disk before this returns.
    pub fn add(&mut self, evaluation: usize, point: &Point, outcome: &Outcome) -> Result<(), RecordError> {
        let cannot = RecordError::cannot("write", &self.path);
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let file = files::open(&self.path, files::Access::Append).map_err(&cannot)?;
                if let Some(folder) = self.path.parent() {
                    files::sync_folder(folder).map_err(&cannot)?;
                }
                self.file.insert(file)
            }
        };
        self.kept.insert(evaluation, (point.clone(), outcome.clone()));
        let (point, outcome) = (point.clone(), outcome.clone());
        let words =
            serde_json::to_string(&Line { evaluation, point, outcome }).expect("a result is plain data");
        let line = Chain::default().append_words(words.strip_suffix('}').expect("a line is a JSON object"));
        let before = if std::mem::take(&mut self.torn) { "\n" } else { "" };
        file.write_all(format!("{before}{line}\n").as_bytes()).and_then(|()| file.sync_data()).map_err(cannot)
    }

    /// The journal has this one.
    pub fn settle(&mut self, evaluation: usize) {
        if self.kept.remove(&evaluation).is_some()
            && self.kept.is_empty()
            && let Some(file) = &self.file
        {
            // What stays there is passed over: the journal has it.
            let _ = file.set_len(0);
        }
    }

    /// The journal has all of the trial's results.
    pub fn remove(&mut self) {
        if self.path.exists() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_there_again_unless_they_were_changed_or_are_of_another_point() {
        let folder = tempfile::tempdir().unwrap();
        let point = |level: u32| Point::from(vec![level, 1]);
        let outcomes = [Outcome::Value(0.1 + 0.2), Outcome::Infeasible("too \"hot\"".to_owned())];
        let mut round = RoundFile::open(folder.path());
        round.add(7, &point(0), &outcomes[0]).unwrap();
        round.add(5, &point(1), &outcomes[1]).unwrap();
        let again = RoundFile::open(folder.path());
        assert_eq!(again.kept(7, &point(0)), Some(outcomes[0].clone()));
        assert_eq!(again.kept(5, &point(1)), Some(outcomes[1].clone()));
        assert_eq!((again.kept(7, &point(1)), again.kept(6, &point(0))), (None, None));
        let path = folder.path().join(ROUND);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replacen("0.3", "0.2", 1).trim_end()).unwrap();
        let changed = RoundFile::open(folder.path());
        assert_eq!((changed.kept(7, &point(0)), changed.kept(5, &point(1))), (None, None));
        // What is added behind a torn end is whole.
        let mut round = RoundFile::open(folder.path());
        round.add(8, &point(0), &outcomes[0]).unwrap();
        assert_eq!(RoundFile::open(folder.path()).kept(8, &point(0)), Some(outcomes[0].clone()));
        round.settle(8);
        round.add(9, &point(0), &outcomes[0]).unwrap();
        let last = RoundFile::open(folder.path());
        assert_eq!((last.kept(8, &point(0)), last.kept(9, &point(0))), (None, Some(outcomes[0].clone())));
        round.remove();
        assert!(!path.exists());
    }
}
