//! A trial's own file: everything that its process needs to know.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::{RecordError, TRIALS};
use crate::files;
use crate::plan::{ResolvedTrial, Trial, TrialId};

pub(super) const TRIAL: &str = "trial.json";

/// Writes the file of each trial that has none yet, or one that is not whole.
///
/// They follow from the plan, which is on disk already, so none of them is waited for; a resume writes what is missing.
pub fn write_trials(folder: &Path, trials: &[Trial<'_>]) -> Result<(), RecordError> {
    for trial in trials {
        let resolved = trial.resolved();
        let folder = trial_folder(folder, &resolved.id)?;
        std::fs::create_dir_all(&folder).map_err(RecordError::cannot("make", &folder))?;
        let path = folder.join(TRIAL);
        let mut text = serde_json::to_string_pretty(&resolved).expect("a trial is plain data");
        text.push('\n');
        if files::read(&path).ok().as_deref() != Some(text.as_bytes()) {
            let file = files::open(&path, files::Access::ReadAndWrite);
            let written = file.and_then(|mut file| {
                file.set_len(0)?;
                file.write_all(text.as_bytes())
            });
            written.map_err(RecordError::cannot("write", &path))?;
        }
    }
    Ok(())
}

/// Reads the file of one trial of a run's folder.
pub fn read_trial(folder: &Path, id: &TrialId) -> Result<ResolvedTrial, RecordError> {
    let path = trial_folder(folder, id)?.join(TRIAL);
    let text = files::read(&path).map_err(RecordError::cannot("read", &path))?;
    let trial: ResolvedTrial = serde_json::from_slice(&text)
        .map_err(|error| RecordError(format!("{} holds no trial: {error}", path.display())))?;
    if trial.id != *id {
        return Err(RecordError(format!("{} holds the trial `{}`", path.display(), trial.id)));
    }
    Ok(trial)
}

/// The folder of a trial, where no link leads out of the run's.
fn trial_folder(run: &Path, id: &TrialId) -> Result<PathBuf, RecordError> {
    let id = id.to_string();
    let folder = run.join(TRIALS).join(&id);
    files::refuse_links_below(run, &[TRIALS, &id]).map_err(RecordError::cannot("use", &folder))?;
    Ok(folder)
}
