//! A run's folder, read trial by trial: by all cores, taken in order, never all in memory.

use std::io;
use std::path::{Path, PathBuf};

use serde_yaml::Value;

use super::asked::{self, Effects};
use super::session::{self, Session};
use super::{Broken, Identity, PLAN, Spaces, TRIALS, TrialFiles, read_shard};
use crate::diagnostic::Diagnostic;
use crate::files;
use crate::parallel::parallel;
use crate::plan::{Shard, TrialId};

/// How many trials are read before the next are begun.
const BATCH: usize = 128;

/// What a run's folder says besides its trials.
pub struct RunFolder {
    pub path: PathBuf,
    /// The experiment's name.
    pub experiment: String,
    /// Its plan, as it was written.
    pub plan: String,
    /// The part of its plan that it has; `None` where that is all of it.
    pub shard: Option<Shard>,
    /// How many trials the plan has, where it can be read; of a part, how many that has.
    pub planned: Option<usize>,
    /// What ran.
    pub identity: Option<Identity>,
    /// The trials that have a folder, in the plan's order.
    pub trials: Vec<TrialId>,
    /// The keys of the sweep, each with whether all its values are numbers.
    pub sweep: Vec<(String, bool)>,
    /// The names of variables and levels.
    pub spaces: Spaces,
    /// When and where it was run.
    pub sessions: Vec<Session>,
}

impl RunFolder {
    /// Looks into a folder; refused where it is none of a run, or of another format.
    pub fn open(path: &Path) -> Result<Self, Diagnostic> {
        let no_run = |error: io::Error| {
            Diagnostic::new(format!("{} is not the folder of a run", path.display()))
                .because(format!("its plan.yaml cannot be read: {error}"))
                .hint("the last line of `host run` names the folder: results/NAME/ID")
        };
        let plan = files::read(&path.join(PLAN)).map_err(no_run)?;
        let plan = String::from_utf8(plan).map_err(|error| no_run(io::Error::other(error)))?;
        let identity = Identity::read(path)?;
        files::refuse_links_below(path, &[TRIALS]).map_err(|error| {
            Diagnostic::new(format!("the trials of {} cannot be read", path.display())).because(error)
        })?;
        let tree: Value = serde_yaml::from_str(&plan).unwrap_or(Value::Null);
        let methods: Vec<String> = match tree.get("methods").and_then(Value::as_mapping) {
            Some(methods) => methods.keys().filter_map(|key| key.as_str().map(str::to_owned)).collect(),
            None => Vec::new(),
        };
        let mut trials: Vec<TrialId> = Vec::new();
        for entry in std::fs::read_dir(path.join(TRIALS)).into_iter().flatten() {
            let name = entry.map_err(no_run)?.file_name();
            trials.extend(name.to_str().and_then(|name| name.parse().ok()));
        }
        let place =
            |id: &TrialId| methods.iter().position(|name| *name == id.method).unwrap_or(methods.len());
        trials.sort_by_cached_key(|id| (id.point, place(id), id.seed, id.method.clone()));
        let shard = read_shard(path)?;
        let all = identity.as_ref().and_then(|identity| identity.trials).or_else(|| {
            // The identity of an older run does not say, and nothing was shared in it.
            planned(&tree, methods.len().max(1))
        });
        Ok(Self {
            path: path.to_owned(),
            experiment: tree.get("name").and_then(Value::as_str).unwrap_or("experiment").to_owned(),
            // The folders of all trials of a part are made before the first begins.
            planned: if shard.is_some() { Some(trials.len()) } else { all },
            shard,
            sweep: sweep(&tree),
            spaces: Spaces::read(path)?,
            sessions: session::read(path),
            plan,
            identity,
            trials,
        })
    }

    /// Which part of its plan it has, in words, where it has not all of it.
    pub fn part(&self) -> Option<String> {
        let shard = self.shard?;
        let all = self.identity.as_ref().and_then(|identity| identity.trials);
        let of = all.map_or_else(|| "its plan".to_owned(), |all| format!("the {all} in its plan"));
        let (own, trials) = (self.trials.len(), if self.trials.len() == 1 { "trial" } else { "trials" });
        Some(format!("{}: {own} {trials} of {of}", shard.words()))
    }

    /// Reads one trial; `None` where it has not begun.
    pub fn read(&self, id: &TrialId) -> Result<Option<TrialFiles>, Broken> {
        let id = id.to_string();
        let folder = self.path.join(TRIALS).join(&id);
        files::refuse_links_below(&self.path, &[TRIALS, &id]).map_err(|error| Broken {
            path: folder.clone(),
            line: 1,
            what: error.to_string(),
        })?;
        TrialFiles::read(&folder)
    }

    /// What the models of a trial had learned when they were asked last.
    pub fn effects(&self, id: &TrialId) -> Option<Effects> {
        let id = id.to_string();
        files::refuse_links_below(&self.path, &[TRIALS, &id]).ok()?;
        asked::effects(&self.path.join(TRIALS).join(id))
    }

    /// Reads every trial that has begun. `prepare` runs on all cores; `take` gets what it made in the plan's order.
    /// Answers the journals that are not what was written; their trials are left out.
    pub fn each<T: Send>(
        &self,
        prepare: impl Fn(TrialFiles) -> T + Sync,
        mut take: impl FnMut(T) -> io::Result<()>,
    ) -> io::Result<Vec<Broken>> {
        let cores = std::thread::available_parallelism().map_or(1, Into::into);
        let read = |ids: &[TrialId]| -> Vec<Result<T, Broken>> {
            let trials = ids.iter().filter_map(|id| self.read(id).transpose());
            trials.map(|trial| trial.map(&prepare)).collect()
        };
        let mut broken = Vec::new();
        for batch in self.trials.chunks(BATCH) {
            let share = batch.len().div_ceil(cores);
            let shares: Vec<&[TrialId]> = batch.chunks(share).collect();
            for made in parallel(&shares, |ids| read(ids)).into_iter().flatten() {
                match made {
                    Ok(made) => take(made)?,
                    Err(journal) => broken.push(journal),
                }
            }
        }
        Ok(broken)
    }
}

/// The keys of the sweep, each with whether all its values are numbers.
fn sweep(tree: &Value) -> Vec<(String, bool)> {
    let axes = tree.get("sweep").and_then(Value::as_mapping).into_iter().flatten();
    let numbers =
        |values: &Value| values.as_sequence().is_some_and(|values| values.iter().all(Value::is_number));
    axes.filter_map(|(key, values)| Some((key.as_str()?.to_owned(), numbers(values)))).collect()
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
        let folder = tempfile::tempdir().unwrap();
        let plan = "name: x\nseeds: 3\nmethods: { sdp: {}, psr: {} }\nsweep: { a: [1, 2], b: [x] }";
        std::fs::write(folder.path().join(PLAN), plan).unwrap();
        for id in [
            "psr-sweep2-seed1",
            "sdp-sweep10-seed1",
            "sdp-sweep2-seed10",
            "sdp-sweep2-seed9",
            "other-seed1",
            "no trial",
        ] {
            std::fs::create_dir_all(folder.path().join(TRIALS).join(id)).unwrap();
        }
        let run = RunFolder::open(folder.path()).unwrap();
        let ids: Vec<String> = run.trials.iter().map(ToString::to_string).collect();
        assert_eq!(
            ids,
            ["other-seed1", "sdp-sweep2-seed9", "sdp-sweep2-seed10", "psr-sweep2-seed1", "sdp-sweep10-seed1"]
        );
        assert_eq!(run.sweep, [("a".to_owned(), true), ("b".to_owned(), false)]);
        assert_eq!(run.planned, Some(12));
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
