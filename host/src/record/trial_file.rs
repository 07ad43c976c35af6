//! A trial's own file: everything that its process needs to know.

use std::path::Path;

use super::{RecordError, TRIALS};
use crate::plan::{Plan, ResolvedTrial, TrialId};

const TRIAL: &str = "trial.json";

/// Writes the file of each trial that has none yet, or one that is not whole.
///
/// They follow from the plan, which is on disk already, so none of them is waited for; a resume writes what is missing.
pub fn write_trials(folder: &Path, plan: &Plan) -> Result<(), RecordError> {
    for trial in plan.trials() {
        let resolved = trial.resolved();
        let folder = folder.join(TRIALS).join(resolved.id.to_string());
        std::fs::create_dir_all(&folder).map_err(RecordError::cannot("make", &folder))?;
        let path = folder.join(TRIAL);
        let mut text = serde_json::to_string_pretty(&resolved).expect("a trial is plain data");
        text.push('\n');
        if std::fs::read_to_string(&path).ok().as_deref() != Some(text.as_str()) {
            std::fs::write(&path, text).map_err(RecordError::cannot("write", &path))?;
        }
    }
    Ok(())
}

/// Reads the file of one trial of a run's folder.
pub fn read_trial(folder: &Path, id: &TrialId) -> Result<ResolvedTrial, RecordError> {
    let path = folder.join(TRIALS).join(id.to_string()).join(TRIAL);
    let text = std::fs::read(&path).map_err(RecordError::cannot("read", &path))?;
    let trial: ResolvedTrial = serde_json::from_slice(&text)
        .map_err(|error| RecordError(format!("{} holds no trial: {error}", path.display())))?;
    if trial.id != *id {
        return Err(RecordError(format!("{} holds the trial `{}`", path.display(), trial.id)));
    }
    Ok(trial)
}
