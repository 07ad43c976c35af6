//! What became of the trials of tasks: looked up in their journals, while tasks run and when they are over.

use std::time::{Duration, Instant};

use super::overview::explain;
use super::wait::{LINGER, Phase, SOONEST, Task, Waiter};
use crate::diagnostic::Diagnostic;
use crate::files;
use crate::plan::TrialId;
use crate::record::cluster::Submission;
use crate::record::{TRIALS, is_finished, reached};
use crate::run::executor::{TrialFailure, log_end};
use crate::run::protocol::Message;

/// Journals are looked at no less often than this.
const LOOK: Duration = Duration::from_secs(15);

/// How often a trial whose task was killed or lost may go back into the queue without having come any further.
const LOSSES: usize = 2;

impl Waiter<'_> {
    /// Looks at the journals of tasks that run or have ended, where it is time to.
    pub(super) fn look(&mut self) {
        if self.looked.elapsed() < (self.interval() / 4).clamp(SOONEST / 2, LOOK) {
            return;
        }
        self.looked = Instant::now();
        let mut tasks = std::mem::take(&mut self.tasks);
        for task in tasks.iter_mut().filter(|task| !matches!(task.phase, Phase::Waiting)) {
            self.look_at(task);
        }
        let before = tasks.len();
        tasks.retain(|task| !task.left.is_empty());
        self.news |= tasks.len() < before;
        self.tasks = tasks;
    }

    /// Takes out of a task what has finished or failed, and says how far the next one is.
    fn look_at(&mut self, task: &mut Task) {
        let left = std::mem::take(&mut task.left);
        let mut under_way = false;
        for id in left {
            let folder = self.folder.join(TRIALS).join(id.to_string());
            if is_finished(&folder) {
                self.lengths.measure(self.folder, &id);
                self.end(&id, Ok(()));
            } else if let Some(reason) = self.cluster.failure(&self.arrays[&task.array], &id) {
                self.end(&id, Err(TrialFailure::Failed(reason)));
            } else {
                if !under_way && matches!(task.phase, Phase::Running) {
                    self.begins(&id);
                    if let Some((evaluation, best)) = reached(&folder) {
                        self.progress.hear(&id, &Message::Advanced { evaluation, best });
                    }
                }
                under_way = true;
                task.left.push(id);
            }
        }
    }

    fn begins(&mut self, id: &TrialId) {
        if self.begun.insert(id.clone())
            && let Some(job) = self.jobs.get(id)
        {
            self.progress.trial_begins(job);
        }
    }

    fn end(&mut self, id: &TrialId, end: Result<(), TrialFailure>) {
        self.begins(id);
        if let Some(job) = self.jobs.remove(id)
            && end.is_ok()
        {
            let message = Message::Advanced { evaluation: job.evaluations, best: None };
            let best = reached(&self.folder.join(TRIALS).join(id.to_string()));
            let message = best.map_or(message, |(evaluation, best)| Message::Advanced { evaluation, best });
            self.progress.hear(id, &message);
        }
        self.progress.log(|| log_end(id, &end));
        self.progress.trial_ends(id);
        self.ended.take(id.clone(), end);
    }

    /// Takes leave of tasks that are over: what they have not finished goes back into the queue, or has failed.
    pub(super) fn settle(&mut self) -> Result<(), Diagnostic> {
        let due = |task: &Task| matches!(&task.phase, Phase::Over { since, .. } if since.elapsed() > LINGER);
        if !self.tasks.iter().any(due) {
            return Ok(());
        }
        let (over, rest) = std::mem::take(&mut self.tasks).into_iter().partition(due);
        self.tasks = rest;
        for mut task in over {
            self.refresh(&task);
            self.look_at(&mut task);
            let Phase::Over { state, reason, .. } = &task.phase else { continue };
            if task.left.is_empty() {
                continue;
            }
            let kept = if state.is_empty() { "GONE" } else { state };
            let (array, index) = (task.array, task.index);
            let line =
                Submission::Ended { array, task: index, state: kept.to_owned(), reason: reason.clone() };
            self.add(&line)?;
            for (place, id) in task.left.iter().enumerate() {
                self.lose(&task, id, place == 0, state, reason);
            }
        }
        Ok(())
    }

    /// Lists the folders of a task's trials: where a file system remembers that a file was not there, that makes it look again.
    fn refresh(&self, task: &Task) {
        for id in &task.left {
            let folder = std::fs::read_dir(self.folder.join(TRIALS).join(id.to_string()));
            folder.into_iter().flatten().for_each(drop);
        }
    }

    /// A trial whose task is over. `in_turn` says whether it was its turn.
    fn lose(&mut self, task: &Task, id: &TrialId, in_turn: bool, state: &str, reason: &str) {
        let job = self.arrays[&task.array].job.clone().unwrap_or_default();
        let mut words = explain(&format!("{job}_{}", task.index), state, reason);
        // Somebody wanted it so, or it would end the same way again.
        let for_good = matches!(state, "CANCELLED" | "OUT_OF_MEMORY" | "DEADLINE" | "REVOKED");
        let far =
            reached(&self.folder.join(TRIALS).join(id.to_string())).map_or(0, |(evaluation, _)| evaluation);
        let (before, times) = self.losses.get(id).copied().unwrap_or_default();
        let times = if far > before { 0 } else { times + usize::from(in_turn) };
        self.losses.insert(id.clone(), (far, times));
        if !for_good && times <= LOSSES {
            self.progress.print(&format!("{id}: {words}; it goes on from evaluation {far} in another task"));
            self.open.push(id.clone());
            return;
        }
        if !for_good {
            words += &format!(", {times} times in a row");
            let log = self.cluster.log(task.array, task.index);
            let said = files::end(&log, 1 << 10).unwrap_or_default();
            let said = String::from_utf8_lossy(&said).trim().to_owned();
            if !said.is_empty() {
                words += &format!("; the end of {}:\n{said}", log.display());
            }
        }
        self.end(id, Err(TrialFailure::Failed(words)));
    }
}
