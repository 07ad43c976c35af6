//! Trials into the queue: in arrays as large as the cluster takes, as many as there is room for, and later where there is none.

use std::path::Path;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use super::pack::pack;
use super::scheduler::{Silence, Submitted};
use super::script::script;
use super::wait::{Phase, Task, Waiter};
use crate::clock;
use crate::diagnostic::Diagnostic;
use crate::plan::{TrialId, hex};
use crate::record::cluster::{Array, Submission};

/// Until it is known how long a trial takes, no more tasks than this are in the queue.
const FIRST: usize = 100;

/// Between two submissions after one was refused: sites ask for fewer than ten a minute.
const PAUSE: Duration = Duration::from_secs(6);

/// The longest wait for a limit, unless a task ends before.
const LONGEST: Duration = Duration::from_secs(300);

/// What is known of the limits of the queue.
#[derive(Default)]
pub(super) struct Room {
    /// How many tasks an array may have.
    array: Option<usize>,
    /// How many to try at once, where more were refused.
    tasks: Option<usize>,
    /// When to try again, and how long the wait was.
    again: Option<(Instant, Duration)>,
    /// How many tasks were in the queue when even one more was refused.
    full_at: Option<usize>,
    /// What was said of it.
    told: bool,
    /// An array of which nobody knows whether the scheduler has it, and since when.
    pub(super) unknown: Option<(usize, Instant)>,
}

impl Waiter<'_> {
    /// Submits as much as there is room for; answers whether more might go in soon, without a task having to end before.
    pub(super) fn submit(&mut self) -> Result<bool, Diagnostic> {
        let active = self.tasks.len();
        // Where a task has ended since, there is room for another.
        if self.room.full_at.is_some_and(|full| active < full) {
            self.room.tasks = self.room.full_at.map(|full| full - active);
            (self.room.full_at, self.room.again) = (None, None);
        }
        if self.open.is_empty() {
            return Ok(self.room.unknown.is_some());
        }
        let pause = self.room.again.is_some_and(|(until, _)| Instant::now() < until);
        if pause || self.silent || self.room.unknown.is_some() {
            return Ok(self.room.full_at.is_none());
        }
        let known = self.lengths.are_known();
        let most =
            if known || self.slurm.detach { self.settings.queue } else { self.settings.queue.min(FIRST) };
        let room = most.saturating_sub(active);
        // Not one by one as they end: a quarter of the queue at a time, or all that is left.
        if room == 0 || active > 0 && room < self.open.len().min(most.div_ceil(4)) {
            return Ok(false);
        }
        let Some(largest) = self.largest_array()? else { return Ok(true) };
        let mut tasks = pack(&self.open, &self.lengths, &self.settings);
        tasks.truncate(room.min(largest).min(self.room.tasks.unwrap_or(usize::MAX)));
        self.submit_array(tasks)?;
        Ok(self.room.full_at.is_none())
    }

    fn largest_array(&mut self) -> Result<Option<usize>, Diagnostic> {
        if self.room.array.is_none() {
            match self.scheduler.largest_array() {
                Ok(size) => self.room.array = Some(size),
                Err(Silence::NoAnswer(why)) => self.is_silent(&why),
                Err(Silence::Never(diagnostic)) => return Err(diagnostic),
            }
        }
        Ok(self.room.array)
    }

    fn submit_array(&mut self, tasks: Vec<Vec<TrialId>>) -> Result<(), Diagnostic> {
        let number = self.arrays.keys().next_back().map_or(1, |last| last + 1);
        let (name, count) = (job_name(self.folder, number), tasks.len());
        let (job, ends) = (None, std::collections::BTreeMap::new());
        let mut array =
            Array { number, name, job, withdrawn: false, cancelled: false, tasks, ends, written: None };
        let program = std::env::current_exe().ok().filter(|path| path.exists());
        let program = program.ok_or_else(|| Diagnostic::new("this program cannot find itself"))?;
        let text = script(self.folder, &array, &self.settings, &program, &self.slurm.arguments)?;
        self.cluster.begin(&mut array, &text, clock::moment()).map_err(|error| self.cannot_write(error))?;
        // A limit on how many run at a time holds for an array: the next one waits for it.
        let last =
            self.arrays.values().rev().find(|array| !array.withdrawn).and_then(|array| array.job.clone());
        let after = last.filter(|_| self.settings.concurrency.is_some() && !self.tasks.is_empty());
        let submitted = self.scheduler.submit(&self.cluster.script(number), self.folder, after.as_deref());
        match submitted {
            Ok(Submitted::Job(job)) => {
                self.add(&Submission::Submitted { array: number, job: job.clone() })?;
                self.progress.log(|| tracing::info!("submitted {count} tasks as job {job}"));
                array.job = Some(job);
                (self.room.again, self.room.full_at, self.room.told) = (None, None, false);
                self.take_in(array);
            }
            Ok(Submitted::Later(why)) => {
                self.withdraw(array, &why)?;
                self.wait_for_room(count, &why)?;
            }
            Ok(Submitted::Unknown(why)) => {
                self.is_silent(&why);
                self.room.unknown = Some((number, Instant::now()));
                self.arrays.insert(number, array);
            }
            Err(diagnostic) => {
                self.withdraw(array, &diagnostic.to_string())?;
                return Err(self.say_what_is_there(diagnostic));
            }
        }
        Ok(())
    }

    /// The array is in the queue: its tasks are waited for.
    pub(super) fn take_in(&mut self, array: Array) {
        for (index, trials) in array.tasks.iter().enumerate() {
            let left: Vec<TrialId> =
                trials.iter().filter(|id| self.jobs.contains_key(*id)).cloned().collect();
            if !left.is_empty() {
                self.tasks.push(Task { array: array.number, index, left, phase: Phase::Waiting });
            }
        }
        let there: std::collections::BTreeSet<&TrialId> = array.tasks.iter().flatten().collect();
        self.open.retain(|id| !there.contains(id));
        self.arrays.insert(array.number, array);
    }

    fn withdraw(&mut self, array: Array, reason: &str) -> Result<(), Diagnostic> {
        let number = array.number;
        self.add(&Submission::Withdrawn { array: number, reason: reason.to_owned() })?;
        for path in [self.cluster.script(number), self.cluster.tasks(number)] {
            let _ = std::fs::remove_file(path);
        }
        self.arrays.insert(number, Array { withdrawn: true, ..array });
        Ok(())
    }

    /// The queue takes no more: fewer at a time, and where not even one more goes in, later.
    fn wait_for_room(&mut self, refused: usize, why: &str) -> Result<(), Diagnostic> {
        if !self.room.told {
            self.room.told = true;
            self.progress
                .print(&format!("the queue is full, the rest is submitted later: {}", last_line(why)));
        }
        if refused > 1 {
            self.room.tasks = Some(refused / 2);
            self.room.again = Some((Instant::now() + PAUSE, PAUSE));
            return Ok(());
        }
        // A limit that no end of a task will lift is none that waiting helps against.
        let mine = self.scheduler.list().map(|listed| listed.iter().filter(|task| !task.is_over()).count());
        if matches!(mine, Ok(0)) {
            return Err(self.say_what_is_there(
                Diagnostic::new("the queue takes not even one task, and nothing of yours is in it")
                    .because(why),
            ));
        }
        let wait = self.room.again.map_or(PAUSE, |(_, wait)| wait) * 2;
        let wait = wait.min(LONGEST);
        self.room.tasks = Some(1);
        self.room.full_at = Some(self.tasks.len());
        self.room.again = Some((Instant::now() + wait, wait));
        Ok(())
    }

    /// An error, with what was submitted before it.
    fn say_what_is_there(&self, diagnostic: Diagnostic) -> Diagnostic {
        let there =
            self.arrays.values().filter(|array| !array.withdrawn).filter_map(|array| array.job.clone());
        let there: Vec<String> = there.collect();
        let place = self.folder.display();
        match there.is_empty() {
            true => diagnostic,
            false => {
                let jobs = there.join(", ");
                diagnostic.hint(format!(
                    "submitted before, and left in the queue: {jobs}; `host cancel {place}` cancels them"
                ))
            }
        }
    }
}

/// A name that no other job has: what it is of, and a few digits.
fn job_name(run: &Path, number: usize) -> String {
    let part = |path: Option<&Path>| {
        let name = path.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        name.unwrap_or_default().chars().map(plain).take(40).collect::<String>()
    };
    let seed = format!("{}\n{number}\n{}\n{}", run.display(), std::process::id(), clock::stamp());
    let digits = hex(&Sha256::digest(seed.as_bytes()));
    format!("{}-{}-{number}-{}", part(run.parent()), part(Some(run)), &digits[..8])
}

fn last_line(words: &str) -> &str {
    words.lines().last().unwrap_or(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_named_for_its_run_in_plain_letters() {
        let name = job_name(Path::new("/data/ising/it's \"mine\""), 3);
        assert!(name.starts_with("ising-it_s__mine_-3-"), "{name}");
        assert_eq!(name.len(), "ising-it_s__mine_-3-".len() + 8);
    }
}
