//! What was handed to a cluster: the folder `cluster` of a run.
//!
//! An array of tasks has a number N. `N.tasks` has a line for each task, with the trials that it runs one after the other;
//! `N.sh` is the script that was submitted; `submissions.jsonl` says what became of it. A line stands there before `sbatch` is
//! called and one after, so that a host that is killed between the two finds the array by its name in the queue.

use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::{TRIALS, incident, parse_lines};
use crate::files;
use crate::plan::TrialId;

const CLUSTER: &str = "cluster";
const SUBMISSIONS: &str = "submissions.jsonl";
const SETTINGS: &str = "settings.yaml";
const LOGS: &str = "logs";

/// One line of `submissions.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Submission {
    /// The array is about to be submitted under this name, which no other job has.
    Submitting { array: usize, name: String, tasks: usize, at: String },
    /// The scheduler has it as this job.
    Submitted { array: usize, job: String },
    /// The scheduler does not have it.
    Withdrawn { array: usize, reason: String },
    /// A task ended otherwise than well: the scheduler's words.
    Ended { array: usize, task: usize, state: String, reason: String },
    /// Somebody cancelled what was in the queue.
    Cancelled { jobs: Vec<String>, at: String },
}

/// An array of tasks, and what is known of it.
#[derive(Clone, Debug)]
pub struct Array {
    pub number: usize,
    pub name: String,
    /// `None` where the scheduler was asked to take it, and nobody knows whether it has.
    pub job: Option<String>,
    pub withdrawn: bool,
    /// Whether somebody cancelled what of it was in the queue.
    pub cancelled: bool,
    /// The trials of each task.
    pub tasks: Vec<Vec<TrialId>>,
    /// How tasks ended that did not end well: state and reason.
    pub ends: BTreeMap<usize, (String, String)>,
    /// When it was written, by the clock of the file system.
    pub written: Option<SystemTime>,
}

/// The folder `cluster` of a run.
#[derive(Clone, Debug)]
pub struct ClusterFolder {
    /// The run's.
    run: PathBuf,
}

impl ClusterFolder {
    pub fn of(run: &Path) -> Self {
        Self { run: run.to_owned() }
    }

    fn path(&self) -> PathBuf {
        self.run.join(CLUSTER)
    }

    /// Makes it where it is not there.
    pub fn make(&self) -> io::Result<()> {
        let folder = files::Folder::open(&self.run)?.below(CLUSTER)?;
        folder.clear();
        folder.below(LOGS).map(drop)
    }

    pub fn script(&self, array: usize) -> PathBuf {
        self.path().join(format!("{array}.sh"))
    }

    pub fn tasks(&self, array: usize) -> PathBuf {
        self.path().join(format!("{array}.tasks"))
    }

    /// What a task prints.
    pub fn log(&self, array: usize, task: impl std::fmt::Display) -> PathBuf {
        self.path().join(LOGS).join(format!("{array}_{task}.log"))
    }

    pub fn settings(&self) -> PathBuf {
        self.path().join(SETTINGS)
    }

    pub fn write_settings(&self, yaml: &str) -> io::Result<()> {
        files::replace(&self.settings(), yaml.as_bytes())
    }

    /// Writes what an array is made of, and that it is about to be submitted; all of it is on disk when this returns.
    pub fn begin(&self, array: &mut Array, script: &str, at: String) -> io::Result<()> {
        let line = |trials: &Vec<TrialId>| {
            let names: Vec<String> = trials.iter().map(ToString::to_string).collect();
            names.join(" ") + "\n"
        };
        let tasks: String = array.tasks.iter().map(line).collect();
        let path = self.tasks(array.number);
        files::replace(&path, tasks.as_bytes())?;
        files::replace(&self.script(array.number), script.as_bytes())?;
        array.written = path.metadata()?.modified().ok();
        let (name, tasks) = (array.name.clone(), array.tasks.len());
        self.add(&Submission::Submitting { array: array.number, name, tasks, at })
    }

    /// Adds a line; it is on disk when this returns.
    pub fn add(&self, line: &Submission) -> io::Result<()> {
        let mut file = files::open(&self.path().join(SUBMISSIONS), files::Access::ReadAndAppend)?;
        let mut text = serde_json::to_string(line).expect("a submission is plain data") + "\n";
        // What a kill has torn stays a line of its own.
        if file.metadata()?.len() > 0 {
            let mut last = [0];
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
            if last != *b"\n" {
                text.insert(0, '\n');
            }
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }

    /// Every array that was begun, the first one first; none where the run was never on a cluster.
    pub fn arrays(&self) -> io::Result<Vec<Array>> {
        if files::refuse_links_below(&self.run, &[CLUSTER]).is_err() {
            return Err(io::Error::other(format!("a link is in the way at {}", self.path().display())));
        }
        let bytes = match files::read(&self.path().join(SUBMISSIONS)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            read => read?,
        };
        let mut arrays: BTreeMap<usize, Array> = BTreeMap::new();
        for line in parse_lines::<Submission>(&bytes) {
            match line {
                Submission::Submitting { array: number, name, .. } => {
                    let (job, tasks, ends) = (None, Vec::new(), BTreeMap::new());
                    arrays.insert(
                        number,
                        Array {
                            number,
                            name,
                            job,
                            withdrawn: false,
                            cancelled: false,
                            tasks,
                            ends,
                            written: None,
                        },
                    );
                }
                Submission::Submitted { array, job } => {
                    arrays.entry(array).and_modify(|array| array.job = Some(job));
                }
                Submission::Withdrawn { array, .. } => {
                    arrays.entry(array).and_modify(|array| array.withdrawn = true);
                }
                Submission::Ended { array, task, state, reason } => {
                    arrays.entry(array).and_modify(|array| drop(array.ends.insert(task, (state, reason))));
                }
                Submission::Cancelled { jobs, .. } => {
                    let cancelled =
                        |array: &&mut Array| array.job.as_ref().is_some_and(|job| jobs.contains(job));
                    arrays.values_mut().filter(cancelled).for_each(|array| array.cancelled = true);
                }
            }
        }
        for array in arrays.values_mut().filter(|array| !array.withdrawn) {
            let path = self.tasks(array.number);
            array.tasks = read_tasks(&path)?;
            array.written = path.metadata()?.modified().ok();
        }
        Ok(arrays.into_values().collect())
    }

    /// Why a trial has failed since an array was written; `None` where it has not. Both times are of the file system, so
    /// that the clocks of other machines do not matter.
    pub fn failure(&self, array: &Array, trial: &TrialId) -> Option<String> {
        let folder = self.run.join(TRIALS).join(trial.to_string());
        let since = incident::last_added(&folder)?;
        if array.written.is_some_and(|written| since < written) {
            return None;
        }
        match incident::read(&folder).pop()? {
            incident::Incident::Failed { reason } => Some(reason),
            incident::Incident::Died { .. } => None,
        }
    }
}

/// The tasks of an array: the trials of each.
pub fn read_tasks(path: &Path) -> io::Result<Vec<Vec<TrialId>>> {
    let text = String::from_utf8(files::read(path)?).map_err(io::Error::other)?;
    let trials =
        |line: &str| line.split_whitespace().map(|name| name.parse().map_err(io::Error::other)).collect();
    text.lines().map(trials).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use incident::Incident;

    fn array(number: usize, trials: &[&[&str]]) -> Array {
        let tasks = trials.iter().map(|task| task.iter().map(|id| id.parse().unwrap()).collect()).collect();
        let name = format!("x-{number}");
        Array {
            number,
            name,
            job: None,
            withdrawn: false,
            cancelled: false,
            tasks,
            ends: BTreeMap::new(),
            written: None,
        }
    }

    #[test]
    fn what_was_submitted_is_read_back_also_after_a_torn_line() {
        let run = tempfile::tempdir().unwrap();
        let cluster = ClusterFolder::of(run.path());
        assert!(cluster.arrays().unwrap().is_empty());
        cluster.make().unwrap();
        cluster
            .begin(&mut array(1, &[&["a-seed1", "a-seed2"], &["a-seed3"]]), "#!", "now".to_owned())
            .unwrap();
        let path = cluster.path().join(SUBMISSIONS);
        let whole = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, whole.clone() + "{\"event\":\"submi").unwrap();
        cluster.add(&Submission::Submitted { array: 1, job: "17".to_owned() }).unwrap();
        let ended =
            Submission::Ended { array: 1, task: 1, state: "TIMEOUT".to_owned(), reason: String::new() };
        cluster.add(&ended).unwrap();
        cluster.begin(&mut array(2, &[&["a-seed4"]]), "#!", "now".to_owned()).unwrap();
        cluster.add(&Submission::Withdrawn { array: 2, reason: "full".to_owned() }).unwrap();
        let arrays = cluster.arrays().unwrap();
        assert_eq!((arrays.len(), arrays[0].job.as_deref(), arrays[0].tasks[0].len()), (2, Some("17"), 2));
        assert_eq!(arrays[0].ends[&1].0, "TIMEOUT");
        assert!(!arrays[0].cancelled);
        cluster.add(&Submission::Cancelled { jobs: vec!["17".to_owned()], at: "now".to_owned() }).unwrap();
        assert!(cluster.arrays().unwrap()[0].cancelled);
        assert!(arrays[1].withdrawn && !arrays[0].withdrawn);
    }

    #[test]
    fn a_failure_counts_where_it_is_newer_than_the_array() {
        let run = tempfile::tempdir().unwrap();
        let cluster = ClusterFolder::of(run.path());
        cluster.make().unwrap();
        let (mut first, trial) = (array(1, &[&["a-seed1"]]), "a-seed1".parse().unwrap());
        cluster.begin(&mut first, "#!", "now".to_owned()).unwrap();
        assert_eq!(cluster.failure(&first, &trial), None);
        incident::add(&run.path().join("trials/a-seed1"), &Incident::Failed { reason: "gave up".to_owned() })
            .unwrap();
        assert_eq!(cluster.failure(&first, &trial).as_deref(), Some("gave up"));
        first.written = first.written.map(|written| written + std::time::Duration::from_secs(60));
        assert_eq!(cluster.failure(&first, &trial), None);
    }
}
