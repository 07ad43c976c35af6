//! Trials into tasks: several short ones one after the other, so that a task is worth its place in the queue.

use std::collections::BTreeMap;
use std::path::Path;

use crate::manifest::keys::cluster::Cluster;
use crate::plan::TrialId;
use crate::record::{TRIALS, seconds};

/// How many trials of a kind are measured: more would say nothing new.
const ENOUGH: usize = 20;

/// What a trial takes besides its own steps: its process, its plugins.
const START: f64 = 0.1;

/// A task fills this much of its time limit at most: trials differ.
const MARGIN: f64 = 0.7;

/// How long trials take, as far as is known.
pub(super) struct Lengths {
    /// Seconds and how many, by what trials have in common but for their seed.
    measured: BTreeMap<String, (f64, usize)>,
    /// What the user says.
    said: Option<f64>,
}

impl Lengths {
    pub(super) fn new(settings: &Cluster) -> Self {
        Self { measured: BTreeMap::new(), said: settings.trial_time.map(|time| time.as_secs_f64()) }
    }

    /// Takes a trial that has finished.
    pub(super) fn measure(&mut self, run: &Path, id: &TrialId) {
        let kind = id.without_seed();
        if self.measured.get(&kind).is_some_and(|(_, count)| *count >= ENOUGH) {
            return;
        }
        let taken = seconds(&run.join(TRIALS).join(id.to_string())) + START;
        let (sum, count) = self.measured.entry(kind).or_default();
        *sum += taken;
        *count += 1;
    }

    /// How long a trial will take: as others of its kind, or as the user says, or as the longest of other kinds.
    pub(super) fn of(&self, id: &TrialId) -> Option<f64> {
        let mean = |(sum, count): &(f64, usize)| sum / *count as f64;
        let longest = || self.measured.values().map(mean).reduce(f64::max);
        self.measured.get(&id.without_seed()).map(mean).or(self.said).or_else(longest)
    }

    /// Whether anything is known.
    pub(super) fn are_known(&self) -> bool {
        self.said.is_some() || !self.measured.is_empty()
    }
}

/// Puts trials into tasks in their order, as many as fill a task; what nothing is known of is a task of its own.
pub(super) fn pack(trials: &[TrialId], lengths: &Lengths, settings: &Cluster) -> Vec<Vec<TrialId>> {
    let limit = settings.time.map_or(f64::INFINITY, |time| time.as_secs_f64() * MARGIN);
    let full = settings.task_time.as_secs_f64().min(limit);
    let mut tasks: Vec<Vec<TrialId>> = Vec::new();
    let mut filled = f64::INFINITY;
    for id in trials {
        let length = lengths.of(id).unwrap_or(f64::INFINITY);
        match tasks.last_mut() {
            Some(task) if filled + length <= full => {
                task.push(id.clone());
                filled += length;
            }
            _ => {
                tasks.push(vec![id.clone()]);
                filled = length;
            }
        }
    }
    tasks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Step, TimingFile};
    use std::time::Duration;

    fn ids(method: &str, count: u64) -> Vec<TrialId> {
        (1..=count).map(|seed| TrialId { method: method.to_owned(), point: None, seed }).collect()
    }

    fn sizes(tasks: &[Vec<TrialId>]) -> Vec<usize> {
        tasks.iter().map(Vec::len).collect()
    }

    #[test]
    fn what_nothing_is_known_of_is_alone() {
        let settings = Cluster::default();
        assert_eq!(sizes(&pack(&ids("a", 3), &Lengths::new(&settings), &settings)), [1, 1, 1]);
    }

    #[test]
    fn a_task_takes_as_long_as_it_should_and_no_longer_than_it_may() {
        let seconds = Duration::from_secs;
        let mut settings = Cluster { trial_time: Some(seconds(60)), ..Cluster::default() };
        let of = |settings: &Cluster| sizes(&pack(&ids("a", 25), &Lengths::new(settings), settings));
        assert_eq!(of(&settings), [10, 10, 5]);
        settings.time = Some(seconds(300));
        assert_eq!(of(&settings), [3, 3, 3, 3, 3, 3, 3, 3, 1]);
        // One that may well take too long is tried all the same: it goes on from its journal.
        settings.time = Some(seconds(30));
        assert_eq!(of(&settings).len(), 25);
    }

    #[test]
    fn trials_are_measured_by_their_kind() {
        let run = tempfile::tempdir().unwrap();
        let settings = Cluster { task_time: Duration::from_secs(100), ..Cluster::default() };
        let mut lengths = Lengths::new(&settings);
        assert!(!lengths.are_known());
        for (method, taken) in [("quick", 1), ("slow", 60)] {
            let id = &ids(method, 1)[0];
            let folder = run.path().join(TRIALS).join(id.to_string());
            std::fs::create_dir_all(&folder).unwrap();
            TimingFile::open(&folder).add(&Step::Evaluate { evaluation: 1 }, Duration::from_secs(taken));
            lengths.measure(run.path(), id);
        }
        assert!(lengths.are_known());
        assert_eq!(sizes(&pack(&ids("quick", 100), &lengths, &settings)), [90, 10]);
        assert_eq!(sizes(&pack(&ids("slow", 3), &lengths, &settings)), [1, 1, 1]);
        assert_eq!(sizes(&pack(&ids("new", 3), &lengths, &settings)), [1, 1, 1], "as the longest of others");
    }
}
