//! Several run folders of one plan become one.
//!
//! All of it is written into a folder of another name, which gets the name that was asked for when everything is on disk:
//! whatever happens before that, there is no run. The sources are only read, and no link in them is followed.

mod sources;
mod staging;
mod trial;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use self::sources::Sources;
use self::staging::Staging;
use self::trial::unite;
use super::folder::cannot;
use super::{PLAN, RunFolder, TRIALS, session};
use crate::diagnostic::Diagnostic;
use crate::files;
use crate::parallel::parallel;
use crate::plan::TrialId;

/// How many trials are united before somebody is told how far it is.
const BATCH: usize = 128;

/// More mistakes of one kind are counted, not told.
const MOST_MISTAKES: usize = 20;

/// What has become of the sources.
pub struct Merged {
    /// Trials that have a folder.
    pub trials: usize,
    /// How many of them have finished.
    pub finished: usize,
    /// How many the plan has, where that is known.
    pub planned: Option<usize>,
    /// The parts that none of the sources has, where all of them are parts of the same number: `2, 5 of 16`.
    pub absent: Option<String>,
}

/// Why nothing has become of them.
pub enum MergeError {
    /// They do not belong together, or one of them is not whole.
    Refused(Vec<Diagnostic>),
    /// These two are of different plans.
    OtherPlan(Box<(RunFolder, RunFolder)>),
    Failed(Diagnostic),
    Stopped,
}

impl From<Diagnostic> for MergeError {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Refused(vec![diagnostic])
    }
}

/// Unites run folders in a new one. `go_on` hears how many trials there are and how many are done, and answers whether to go on.
pub fn merge(
    folders: &[PathBuf],
    to: &Path,
    allow_changed_plugins: bool,
    go_on: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<Merged, MergeError> {
    if to.symlink_metadata().is_ok() {
        return Err(Diagnostic::new(format!("{} is there already", to.display()))
            .hint("a merge makes a new folder: -o names another")
            .into());
    }
    let sources = Sources::open(folders, allow_changed_plugins)?;
    let mut trials: BTreeMap<TrialId, Vec<&RunFolder>> = BTreeMap::new();
    for run in &sources.runs {
        run.trials.iter().for_each(|id| trials.entry(id.clone()).or_default().push(run));
    }
    let trials: Vec<(TrialId, Vec<&RunFolder>)> = trials.into_iter().collect();
    let staging = Staging::make(to).map_err(MergeError::Failed)?;
    let finished = unite_all(&trials, &sources, staging.path(), go_on)?;
    write_run(&sources, staging.path()).map_err(MergeError::Failed)?;
    staging.finish(to).map_err(MergeError::Failed)?;
    let (planned, absent) = (sources.planned(), sources.absent_parts());
    Ok(Merged { trials: trials.len(), finished, planned, absent })
}

/// Unites all trials; answers how many of them have finished.
fn unite_all(
    trials: &[(TrialId, Vec<&RunFolder>)],
    sources: &Sources,
    to: &Path,
    go_on: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<usize, MergeError> {
    let trials_folder = to.join(TRIALS);
    std::fs::create_dir(&trials_folder)
        .map_err(|error| MergeError::Failed(cannot("make", &trials_folder, error)))?;
    let cores = std::thread::available_parallelism().map_or(1, Into::into);
    let (mut mistakes, mut finished, mut done) = (Vec::new(), 0, 0);
    for batch in trials.chunks(BATCH) {
        if !go_on(done, trials.len()) {
            return Err(MergeError::Stopped);
        }
        let shares: Vec<&[_]> = batch.chunks(batch.len().div_ceil(cores)).collect();
        // Where something is wrong already, the rest is only looked at.
        let place = mistakes.is_empty().then_some(trials_folder.as_path());
        let each = |(id, runs): &(TrialId, Vec<&RunFolder>)| {
            let chosen = unite(id, runs, sources.plan_hash()).map_err(MergeError::Refused)?;
            place.map_or(Ok(()), |place| chosen.write(&place.join(id.to_string())))?;
            Ok(chosen.finished)
        };
        for ended in
            parallel(&shares, |share| share.iter().map(each).collect::<Vec<_>>()).into_iter().flatten()
        {
            match ended {
                Ok(ended) => finished += usize::from(ended),
                Err(MergeError::Refused(mut found)) => mistakes.append(&mut found),
                Err(error) => return Err(error),
            }
        }
        done += batch.len();
    }
    go_on(done, trials.len());
    match mistakes.len() {
        0 => Ok(finished),
        count => {
            mistakes.truncate(MOST_MISTAKES);
            if count > MOST_MISTAKES {
                mistakes.push(Diagnostic::new(format!("and {} more like these", count - MOST_MISTAKES)));
            }
            Err(MergeError::Refused(mistakes))
        }
    }
}

/// What a run has besides its trials. The plan comes last, when all else is on disk: without it, a folder is no run.
fn write_run(sources: &Sources, to: &Path) -> Result<(), Diagnostic> {
    let new = |name: &str, bytes: &[u8]| {
        let path = to.join(name);
        files::write_new(&path, bytes).map_err(|error| cannot("write", &path, error))
    };
    for (name, bytes) in sources.shared_files()? {
        new(&name, &bytes)?;
    }
    session::write(to, sources.sessions());
    files::sync_all_files(to).map_err(|error| cannot("write", to, error))?;
    sources.identity().write(to)?;
    let plan = to.join(PLAN);
    files::replace(&plan, sources.plan().as_bytes()).map_err(|error| cannot("write", &plan, error))
}
