//! A run's folder, trial by trial: read by all cores, taken in order, never all in memory.

use std::io;
use std::path::{Path, PathBuf};

use serde_yaml::Value;

use super::trial_files::{self, TrialFiles};
use crate::run::{IDENTITY, Identity, PLAN, TRIALS};

/// How many trials are read before the next are begun.
const BATCH: usize = 128;

/// What a run's folder says besides its trials.
pub struct RunFolder {
    /// The folder.
    pub path: PathBuf,
    /// The experiment's name.
    pub experiment: String,
    /// Its plan, as it was written.
    pub plan: String,
    /// How many trials the plan has, where it can be read.
    pub planned: Option<usize>,
    /// What ran.
    pub identity: Option<Identity>,
    /// The trials that have a folder, in the plan's order.
    pub trials: Vec<String>,
    /// The keys of the sweep whose values are all numbers.
    numbers: Vec<String>,
}

impl RunFolder {
    /// Looks into a folder; an error where it is none of a run.
    pub fn open(path: &Path) -> io::Result<Self> {
        let plan = std::fs::read_to_string(path.join(PLAN))?;
        let tree: Value = serde_yaml::from_str(&plan).unwrap_or(Value::Null);
        let methods: Vec<String> = match tree.get("methods").and_then(Value::as_mapping) {
            Some(methods) => methods.keys().filter_map(|key| key.as_str().map(str::to_owned)).collect(),
            None => Vec::new(),
        };
        let mut trials = Vec::new();
        for entry in std::fs::read_dir(path.join(TRIALS)).into_iter().flatten() {
            trials.extend(entry?.file_name().into_string());
        }
        trials.sort_by_cached_key(|id| order(id, &methods));
        let identity = std::fs::read(path.join(IDENTITY)).ok();
        Ok(Self {
            path: path.to_owned(),
            experiment: tree.get("name").and_then(Value::as_str).unwrap_or("experiment").to_owned(),
            planned: planned(&tree, methods.len().max(1)),
            numbers: numbers(&tree),
            plan,
            identity: identity.and_then(|bytes| serde_json::from_slice(&bytes).ok()),
            trials,
        })
    }

    /// Whether all values of a key of the sweep are numbers.
    pub fn has_numbers(&self, key: &str) -> bool {
        self.numbers.iter().any(|other| other == key)
    }

    /// Reads every trial that has begun. `prepare` runs on all cores; `take` gets what it made in the plan's order.
    pub fn each<T: Send>(
        &self,
        prepare: impl Fn(TrialFiles) -> T + Sync,
        mut take: impl FnMut(T) -> io::Result<()>,
    ) -> io::Result<()> {
        let cores = std::thread::available_parallelism().map_or(1, Into::into);
        let folder = self.path.join(TRIALS);
        let read = |ids: &[String]| -> Vec<T> {
            ids.iter().filter_map(|id| trial_files::read(&folder.join(id))).map(&prepare).collect()
        };
        for batch in self.trials.chunks(BATCH) {
            let share = batch.len().div_ceil(cores);
            let made: Vec<T> = std::thread::scope(|scope| {
                let workers: Vec<_> = batch.chunks(share).map(|ids| scope.spawn(|| read(ids))).collect();
                workers
                    .into_iter()
                    .flat_map(|worker| worker.join().expect("reading does not panic"))
                    .collect()
            });
            made.into_iter().try_for_each(&mut take)?;
        }
        Ok(())
    }
}

/// Where a trial stands in the plan: by point of the sweep, method and seed.
fn order(id: &str, methods: &[String]) -> (u64, usize, u64, String) {
    let number = |text: &str, word: &str| {
        let (rest, number) = text.rsplit_once(word)?;
        Some((rest.to_owned(), number.parse().ok()?))
    };
    let (rest, seed) = number(id, "-seed").unwrap_or((id.to_owned(), 0));
    let (method, point) = match methods.contains(&rest) {
        true => (rest, 0),
        false => number(&rest, "-sweep").unwrap_or((rest, 0)),
    };
    let place = methods.iter().position(|name| *name == method).unwrap_or(methods.len());
    (point, place, seed, id.to_owned())
}

fn numbers(tree: &Value) -> Vec<String> {
    let axes = tree.get("sweep").and_then(Value::as_mapping).into_iter().flatten();
    let all = |values: &Value| values.as_sequence().is_some_and(|values| values.iter().all(Value::is_number));
    axes.filter(|(_, values)| all(values)).filter_map(|(key, _)| key.as_str().map(str::to_owned)).collect()
}

/// Methods × seeds × points of the sweep.
fn planned(tree: &Value, methods: usize) -> Option<usize> {
    let seeds = match tree.get("seeds")? {
        Value::Sequence(seeds) => seeds.len(),
        count => usize::try_from(count.as_u64()?).ok()?,
    };
    let axes = tree.get("sweep").and_then(Value::as_mapping);
    let points = axes.into_iter().flat_map(|axes| axes.values()).map(|axis| axis.as_sequence().map(Vec::len));
    points.chain([Some(methods), Some(seeds)]).try_fold(1_usize, |product, count| product.checked_mul(count?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_stand_in_the_order_of_the_plan() {
        let methods = ["psr", "sdp", "sdp-sweep3"].map(str::to_owned);
        let mut ids = [
            "sdp-sweep2-seed1",
            "psr-sweep10-seed2",
            "psr-sweep2-seed10",
            "psr-sweep2-seed9",
            "sdp-sweep3-seed1",
            "unknown-seed1",
        ];
        ids.sort_by_cached_key(|id| order(id, &methods));
        assert_eq!(
            ids,
            [
                "sdp-sweep3-seed1",
                "unknown-seed1",
                "psr-sweep2-seed9",
                "psr-sweep2-seed10",
                "sdp-sweep2-seed1",
                "psr-sweep10-seed2"
            ]
        );
    }

    #[test]
    fn trials_are_counted_from_the_plan() {
        let count = |yaml: &str| planned(&serde_yaml::from_str(yaml).unwrap(), 2);
        assert_eq!(count("seeds: 3"), Some(6));
        assert_eq!(count("seeds: [4, 7]\nsweep: { a: [1, 2, 3], b: [0, 1] }"), Some(24));
        assert_eq!(count("seeds: many"), None);
        assert_eq!(count("name: x"), None);
    }
}
