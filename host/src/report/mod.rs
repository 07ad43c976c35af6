//! A run's folder → tables. Only recorded files are read, so a report can be made again at any time.

pub mod csv;
pub mod summary;
pub mod table;

use std::path::Path;

use crate::run::TRIALS;
use crate::trial::event::{Event, Finished, Started};
use crate::trial::journal::{JOURNAL, TIMING, Timing, read_lines};

/// What a trial's folder says.
pub struct TrialRecord {
    /// Which trial it is.
    pub started: Started,
    /// Everything after that.
    pub events: Vec<Event>,
    /// How long the steps took.
    pub timing: Vec<Timing>,
}

impl TrialRecord {
    /// How it ended; `None` where it has not.
    pub fn finished(&self) -> Option<&Finished> {
        match self.events.last() {
            Some(Event::Finished(finished)) => Some(finished),
            _ => None,
        }
    }
}

/// Reads the trials of a run in this order; those that have not begun are passed over.
pub fn read<'a>(folder: &Path, trials: impl IntoIterator<Item = &'a str>) -> Vec<TrialRecord> {
    let read = |id: &str| {
        let folder = folder.join(TRIALS).join(id);
        let mut events = read_lines(&folder.join(JOURNAL)).into_iter();
        match events.next() {
            Some(Event::Started(started)) => {
                let timing = read_lines(&folder.join(TIMING));
                Some(TrialRecord { started, events: events.collect(), timing })
            }
            _ => None,
        }
    };
    trials.into_iter().filter_map(read).collect()
}
