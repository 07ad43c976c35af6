//! What became of each trial that was handed to the cluster: for `host status`, `host cancel`, and a host that goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::answers::{Listed, is_over};
use super::{Scheduler, Silence, identify};
use crate::diagnostic::Diagnostic;
use crate::plan::TrialId;
use crate::record::cluster::{Array, ClusterFolder};
use crate::record::{TRIALS, is_finished};

/// What is known of a run's trials on the cluster.
pub struct Overview {
    /// By trial, of the array that had it last.
    pub trials: BTreeMap<TrialId, TrialState>,
    /// Tasks that wait or run.
    live: Vec<Listed>,
}

/// Where a trial is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrialState {
    /// In the queue, or in a task that runs an earlier trial: why, in the scheduler's words.
    Queued {
        job: String,
        reason: String,
    },
    Running {
        job: String,
        nodes: String,
    },
    Finished,
    /// It failed, or its task ended before it had: why.
    Failed {
        reason: String,
    },
}

impl TrialState {
    pub fn word(&self) -> &'static str {
        match self {
            Self::Queued { .. } => "queued",
            Self::Running { .. } => "running",
            Self::Finished => "finished",
            Self::Failed { .. } => "failed",
        }
    }

    /// The task that has it, where one has.
    pub fn job(&self) -> Option<&str> {
        match self {
            Self::Queued { job, .. } | Self::Running { job, .. } => Some(job),
            Self::Finished | Self::Failed { .. } => None,
        }
    }

    /// Why it waits or failed, or where it runs.
    pub fn detail(&self) -> &str {
        match self {
            Self::Queued { reason, .. } | Self::Failed { reason } => reason,
            Self::Running { nodes, .. } => nodes,
            Self::Finished => "",
        }
    }
}

impl Overview {
    /// How many tasks wait or run.
    pub fn active(&self) -> usize {
        self.live.len()
    }

    /// The arrays of which tasks wait or run.
    pub fn jobs(&self) -> Vec<String> {
        let jobs: BTreeSet<&String> = self.live.iter().map(|listed| &listed.job).collect();
        jobs.into_iter().cloned().collect()
    }
}

/// Looks at what was submitted, at the queue and at the journals. Nothing is changed.
pub fn overview(folder: &Path, scheduler: &Scheduler<'_>) -> Result<Overview, Silence> {
    let cluster = ClusterFolder::of(folder);
    let unreadable = |error: std::io::Error| {
        let place = folder.display();
        Silence::Never(Diagnostic::new(format!("cannot read what was submitted from {place}")).because(error))
    };
    let mut arrays = cluster.arrays().map_err(unreadable)?;
    if arrays.is_empty() {
        return Ok(Overview { trials: BTreeMap::new(), live: Vec::new() });
    }
    let listed = scheduler.list()?;
    identify(&cluster, &mut arrays, &listed, false).map_err(unreadable)?;
    let tasks = by_task(&listed);
    let mut live = Vec::new();
    let mut trials = BTreeMap::new();
    for array in arrays.iter().filter(|array| !array.withdrawn) {
        let Some(job) = &array.job else { continue };
        for (task, ids) in array.tasks.iter().enumerate() {
            let listed = tasks.get(&(job.as_str(), task)).copied();
            if let Some(listed) = listed.filter(|listed| !listed.is_over()) {
                live.push(listed.clone());
            }
            let mut begun = false;
            for id in ids {
                let state = state_of(folder, &cluster, array, task, id, listed, &mut begun);
                trials.insert(id.clone(), state);
            }
        }
    }
    Ok(Overview { trials, live })
}

/// What is in the queue, by array and task.
pub(super) fn by_task(listed: &[Listed]) -> BTreeMap<(&str, usize), &Listed> {
    listed.iter().filter_map(|listed| Some(((listed.job.as_str(), listed.task?), listed))).collect()
}

/// `begun` says whether an earlier trial of the task is under way.
fn state_of(
    folder: &Path,
    cluster: &ClusterFolder,
    array: &Array,
    task: usize,
    id: &TrialId,
    listed: Option<&Listed>,
    begun: &mut bool,
) -> TrialState {
    if is_finished(&folder.join(TRIALS).join(id.to_string())) {
        return TrialState::Finished;
    }
    if let Some(reason) = cluster.failure(array, id) {
        return TrialState::Failed { reason };
    }
    let job = format!("{}_{task}", array.job.as_deref().unwrap_or_default());
    match listed {
        Some(listed) if listed.is_running() && !*begun => {
            *begun = true;
            TrialState::Running { job, nodes: listed.nodes.clone() }
        }
        Some(listed) if listed.is_running() => {
            TrialState::Queued { job, reason: "after another trial of its task".to_owned() }
        }
        Some(listed) if !listed.is_over() => TrialState::Queued { job, reason: listed.reason.clone() },
        over => {
            let seen = over.map(|listed| (listed.state.as_str(), listed.reason.as_str()));
            let kept = array.ends.get(&task).map(|(state, reason)| (state.as_str(), reason.as_str()));
            let (state, reason) =
                seen.or(kept).unwrap_or((if array.cancelled { "CANCELLED" } else { "" }, ""));
            TrialState::Failed { reason: explain(&job, state, reason) }
        }
    }
}

/// Why a task ended before its trials had, for people.
pub(super) fn explain(job: &str, state: &str, reason: &str) -> String {
    let more = match reason {
        "" | "None" => String::new(),
        reason => format!(", {reason}"),
    };
    match state {
        "CANCELLED" => format!("task {job} was cancelled ({state}{more})"),
        "TIMEOUT" => format!("task {job} ran into its time limit ({state}{more}); `cluster.time` sets it"),
        "OUT_OF_MEMORY" => {
            format!("task {job} needed more memory than it had ({state}{more}); `cluster.memory` sets it")
        }
        "NODE_FAIL" | "BOOT_FAIL" => format!("the node of task {job} failed ({state}{more})"),
        "PREEMPTED" => format!("task {job} was preempted ({state}{more})"),
        state if is_over(state) => format!("task {job} ended before its trials had ({state}{more})"),
        _ => format!("task {job} is gone, and the scheduler no longer knows why"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_the_schedulers_with_what_to_do() {
        assert_eq!(explain("17_3", "CANCELLED", "None"), "task 17_3 was cancelled (CANCELLED)");
        let memory = explain("17_3", "OUT_OF_MEMORY", "");
        assert!(memory.contains("`cluster.memory`"), "{memory}");
        assert_eq!(
            explain("17_3", "FAILED", "NonZeroExitCode"),
            "task 17_3 ended before its trials had (FAILED, NonZeroExitCode)"
        );
        assert!(explain("17_3", "", "").contains("no longer knows"));
    }
}
