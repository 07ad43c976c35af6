//! What the programs of Slurm print, read.

use std::collections::BTreeMap;

/// What `squeue` is asked to print of each task. The name comes last: others may put anything into theirs.
pub(super) const FORMAT: &str = "%F|%K|%T|%N|%r|%j";

/// A task as the scheduler has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The number of the array that it is of.
    pub job: String,
    /// `None` for a job that is no array.
    pub task: Option<usize>,
    pub state: String,
    /// Where it runs or ran.
    pub nodes: String,
    /// Why it waits, or why it failed.
    pub reason: String,
    pub name: String,
}

impl Listed {
    /// Whether it will not run any more.
    pub fn is_over(&self) -> bool {
        is_over(&self.state)
    }

    pub fn is_running(&self) -> bool {
        matches!(
            self.state.as_str(),
            "RUNNING" | "COMPLETING" | "SUSPENDED" | "STOPPED" | "SIGNALING" | "STAGE_OUT"
        )
    }
}

/// Whether a task in this state will not run any more. One that is preempted or requeued is waiting again.
pub(super) fn is_over(state: &str) -> bool {
    const OVER: &[&str] = &[
        "BOOT_FAIL",
        "CANCELLED",
        "COMPLETED",
        "DEADLINE",
        "FAILED",
        "NODE_FAIL",
        "OUT_OF_MEMORY",
        "PREEMPTED",
        "REVOKED",
        "TIMEOUT",
    ];
    OVER.contains(&state)
}

/// The lines of `squeue -r -h -o FORMAT`; others are passed over.
pub(super) fn squeue(text: &str) -> Vec<Listed> {
    let line = |line: &str| {
        let mut parts = line.splitn(6, '|').map(|part| part.trim().to_owned());
        let (job, task, state) = (parts.next()?, parts.next()?, parts.next()?);
        let (nodes, reason, name) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Listed { job, task: task.parse().ok(), state, nodes, reason, name })
    };
    text.lines().filter_map(line).collect()
}

/// The lines of `sacct -n -P -X -o JobID,State,ExitCode`: state and exit code by array and task.
pub(super) fn sacct(text: &str) -> BTreeMap<(String, usize), (String, String)> {
    let line = |line: &str| {
        let mut parts = line.split('|');
        let (job, task) = parts.next()?.split_once('_')?;
        // `CANCELLED by 1000`
        let state = parts.next()?.split_whitespace().next()?.to_owned();
        let code = parts.next().unwrap_or_default();
        Some(((job.to_owned(), task.parse().ok()?), (state, format!("exit code {code}"))))
    };
    text.lines().filter_map(line).collect()
}

/// How many tasks an array may have, from `scontrol show config`: the index of its last task is below MaxArraySize.
pub(super) fn largest_array(config: &str) -> Option<usize> {
    let value = config.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "MaxArraySize").then(|| value.trim())
    });
    value?.parse().ok().filter(|&size| size > 0)
}

/// The number of a job from `sbatch --parsable`: `17`, or `17;cluster`.
pub(super) fn sbatch(text: &str) -> Option<String> {
    let number = text.lines().last()?.split(';').next()?.trim();
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then(|| number.to_owned())
}

/// What a refusal means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Somebody has too much in the queue: later it is another matter.
    Limit,
    /// Nobody knows whether the request was heard.
    NoAnswer,
    /// The request is wrong.
    Wrong,
}

/// What the words of a program that failed mean.
pub(super) fn refusal(words: &str) -> Refusal {
    let words = words.to_lowercase();
    let any = |parts: &[&str]| parts.iter().any(|part| words.contains(part));
    if any(&[
        "submit limit",
        "maxsubmitjob",
        "grpsubmitjob",
        "temporarily unable to accept",
        "resource temporarily unavailable",
        "job queue is full",
        "too many",
        "job count limit",
    ]) {
        Refusal::Limit
    } else if any(&[
        "unable to contact",
        "connection refused",
        "connection timed out",
        "socket timed out",
        "zero bytes were transmitted",
        "communication connection failure",
        "message receive failure",
        "transport endpoint",
        "backup controller",
        "in standby mode",
        "not responding",
        "connect failure",
        "no answer within",
        "munge",
        "connection reset",
    ]) {
        Refusal::NoAnswer
    } else {
        Refusal::Wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_is_read_task_by_task() {
        let text = "17|3|RUNNING|n1|None|ising-1-ab\n17|4|PENDING||Resources|ising-1-ab\n18|N/A|FAILED|n2|NonZeroExitCode|a|b\n\
            17|5|CANCELLED||None|ising-1-ab\nslurm_load_jobs error\n";
        let tasks = squeue(text);
        assert_eq!(tasks.len(), 4);
        assert_eq!((tasks[0].task, tasks[0].is_running(), tasks[0].is_over()), (Some(3), true, false));
        assert_eq!(
            (tasks[1].reason.as_str(), tasks[1].is_running(), tasks[1].is_over()),
            ("Resources", false, false)
        );
        assert_eq!((tasks[2].task, tasks[2].name.as_str(), tasks[2].is_over()), (None, "a|b", true));
        assert!(tasks[3].is_over());
    }

    #[test]
    fn what_accounting_says_is_read_by_task() {
        let text =
            "17_3|CANCELLED by 1000|0:15\n17_4|OUT_OF_MEMORY|0:125\n17_[5-9]|PENDING|0:0\n18|FAILED|1:0\n";
        let ends = sacct(text);
        assert_eq!(ends.len(), 2);
        assert_eq!(ends[&("17".to_owned(), 3)].0, "CANCELLED");
        assert_eq!(ends[&("17".to_owned(), 4)], ("OUT_OF_MEMORY".to_owned(), "exit code 0:125".to_owned()));
        assert!(sacct("Slurm accounting storage is disabled\n").is_empty());
    }

    #[test]
    fn limits_and_numbers_are_found() {
        let config = "MaxArraySize            = 1001\nMaxJobCount             = 10000\nMaxDBDMsgs = 20024\n";
        assert_eq!(
            (largest_array(config), largest_array("MaxArraySize = 0"), largest_array("")),
            (Some(1001), None, None)
        );
        assert_eq!((sbatch("17\n"), sbatch("17;fat\n")), (Some("17".to_owned()), Some("17".to_owned())));
        assert_eq!((sbatch(""), sbatch("Submitted batch job 17")), (None, None));
    }

    #[test]
    fn refusals_are_told_apart() {
        let words = [
            (
                "sbatch: error: AssocMaxSubmitJobLimit\nsbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)",
                Refusal::Limit,
            ),
            ("sbatch: error: QOSMaxSubmitJobPerUserLimit", Refusal::Limit),
            ("sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying", Refusal::Limit),
            ("sbatch: error: Batch job submission failed: Resource temporarily unavailable", Refusal::Limit),
            (
                "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)",
                Refusal::NoAnswer,
            ),
            ("slurm_load_jobs error: Socket timed out on send/recv operation", Refusal::NoAnswer),
            ("sbatch: error: invalid partition specified: shrot", Refusal::Wrong),
            ("sbatch: error: Batch job submission failed: Invalid job array specification", Refusal::Wrong),
        ];
        for (said, meant) in words {
            assert_eq!(refusal(said), meant, "{said}");
        }
    }
}
