//! Waits for what is in the queue. The journals say how far trials are; the queue is asked at an interval that grows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use super::overview::by_task;
use super::pack::Lengths;
use super::submit::Room;
use super::{Scheduler, Silence, Slurm, identify};
use crate::diagnostic::Diagnostic;
use crate::manifest::keys::cluster::Cluster;
use crate::plan::TrialId;
use crate::record::TRIALS;
use crate::record::cluster::{Array, ClusterFolder, Submission};
use crate::run::executor::{Ended, Job};
use crate::run::progress::Progress;
use crate::run::stop::Stop;

/// The queue is asked no sooner than this, nor later, and between them each time a tenth of the time that has passed.
pub(super) const SOONEST: Duration = Duration::from_secs(1);
const LATEST: Duration = Duration::from_secs(120);

const TICK: Duration = Duration::from_millis(100);

/// How long after its end a task's files may take to be seen here: file systems of clusters remember what they saw last.
pub(super) const LINGER: Duration = Duration::from_secs(5);

/// Waits for the trials of one run.
pub(super) struct Waiter<'a> {
    pub(super) slurm: &'a Slurm,
    pub(super) settings: Cluster,
    pub(super) folder: &'a Path,
    pub(super) cluster: ClusterFolder,
    pub(super) scheduler: Scheduler<'a>,
    stop: &'a Stop,
    pub(super) progress: &'a mut Progress,
    /// Every trial that has not ended.
    pub(super) jobs: BTreeMap<TrialId, Job>,
    /// Those that are to be submitted.
    pub(super) open: Vec<TrialId>,
    /// By number.
    pub(super) arrays: BTreeMap<usize, Array>,
    /// What is in the queue.
    pub(super) tasks: Vec<Task>,
    pub(super) lengths: Lengths,
    pub(super) room: Room,
    /// Trials that the progress knows to run.
    pub(super) begun: BTreeSet<TrialId>,
    /// How far trials were when their tasks were lost, and how often that was in a row.
    pub(super) losses: BTreeMap<TrialId, (usize, usize)>,
    pub(super) ended: Ended,
    /// Whether the scheduler did not answer when it was asked last.
    pub(super) silent: bool,
    since: Instant,
    polled: Instant,
    pub(super) looked: Instant,
    /// Whether a task has ended since the queue was asked.
    pub(super) news: bool,
}

/// A task in the queue.
pub(super) struct Task {
    pub(super) array: usize,
    pub(super) index: usize,
    /// Its trials that have not ended.
    pub(super) left: Vec<TrialId>,
    pub(super) phase: Phase,
}

#[derive(Clone)]
pub(super) enum Phase {
    Waiting,
    Running,
    /// State and reason are the scheduler's; empty where it does not know.
    Over {
        since: Instant,
        state: String,
        reason: String,
    },
}

impl<'a> Waiter<'a> {
    pub(super) fn new(
        slurm: &'a Slurm,
        settings: Cluster,
        folder: &'a Path,
        scheduler: Scheduler<'a>,
        stop: &'a Stop,
        progress: &'a mut Progress,
        jobs: Vec<Job>,
    ) -> Self {
        let now = Instant::now();
        Self {
            slurm,
            lengths: Lengths::new(&settings),
            settings,
            folder,
            cluster: ClusterFolder::of(folder),
            scheduler,
            stop,
            progress,
            open: jobs.iter().map(|job| job.id.clone()).collect(),
            jobs: jobs.into_iter().map(|job| (job.id.clone(), job)).collect(),
            arrays: BTreeMap::new(),
            tasks: Vec::new(),
            room: Room::default(),
            begun: BTreeSet::new(),
            losses: BTreeMap::new(),
            ended: Ended::default(),
            silent: false,
            since: now,
            polled: now,
            looked: now,
            news: false,
        }
    }

    /// Submits and waits until all trials have ended, somebody asks to stop, or nobody is to wait.
    pub(super) fn run(mut self) -> Result<Ended, Diagnostic> {
        self.measure_finished();
        self.find_earlier()?;
        while !self.jobs.is_empty() {
            if self.stop.asked() {
                self.ended.stopped = true;
                break;
            }
            let more = self.submit()?;
            if self.slurm.detach && !more {
                self.ended.left = Some(self.leave());
                break;
            }
            self.look();
            self.poll()?;
            self.settle()?;
            if self.slurm.fail_fast && !self.ended.failed.is_empty() {
                self.cancel_all()?;
                self.ended.stopped = true;
                break;
            }
            self.show();
            std::thread::sleep(TICK);
        }
        self.ended.failed.sort();
        Ok(self.ended)
    }

    /// What is said where nobody waits.
    fn leave(&self) -> String {
        let jobs: BTreeSet<&str> =
            self.tasks.iter().filter_map(|task| self.arrays[&task.array].job.as_deref()).collect();
        let jobs = jobs.into_iter().collect::<Vec<_>>().join(", ");
        let trials: usize = self.tasks.iter().map(|task| task.left.len()).sum();
        let mut words =
            format!("{trials} trials are in the queue, in {} tasks of job {jobs}", self.tasks.len());
        if !self.open.is_empty() {
            words +=
                &format!("; {} more are to be submitted when there is room, with --resume", self.open.len());
        }
        if !self.lengths.are_known() {
            words += "\nOne trial a task, because nobody knows how long one takes: `trial-time` under `cluster` says it";
        }
        words
    }

    /// How long trials take is known from those that have finished before.
    fn measure_finished(&mut self) {
        let folders = std::fs::read_dir(self.folder.join(TRIALS)).into_iter().flatten().flatten();
        let names = folders.filter_map(|entry| entry.file_name().to_str()?.parse::<TrialId>().ok());
        let finished: Vec<TrialId> = names.filter(|id| !self.jobs.contains_key(id)).collect();
        for id in &finished {
            self.lengths.measure(self.folder, id);
        }
    }

    /// What an earlier host has submitted and is still in the queue is waited for, and not submitted again.
    fn find_earlier(&mut self) -> Result<(), Diagnostic> {
        let mut arrays = self.cluster.arrays().map_err(|error| self.cannot_write(error))?;
        if arrays.is_empty() {
            return Ok(());
        }
        let listed = loop {
            match self.list()? {
                Some(listed) => break listed,
                None if self.stop.asked() => return Ok(()),
                None => self.pause(),
            }
        };
        identify(&self.cluster, &mut arrays, &listed, true).map_err(|error| self.cannot_write(error))?;
        let there = by_task(&listed);
        for array in arrays {
            let live = |task: usize| {
                let job = array.job.as_deref().unwrap_or_default();
                there.get(&(job, task)).is_some_and(|listed| !listed.is_over())
            };
            let live: Vec<bool> = (0..array.tasks.len()).map(live).collect();
            for (index, trials) in
                array.tasks.iter().enumerate().filter(|(index, _)| live[*index] && !array.withdrawn)
            {
                let left: Vec<TrialId> =
                    trials.iter().filter(|id| self.jobs.contains_key(*id)).cloned().collect();
                if !left.is_empty() {
                    self.tasks.push(Task { array: array.number, index, left, phase: Phase::Waiting });
                }
            }
            self.arrays.insert(array.number, array);
        }
        let queued: BTreeSet<&TrialId> = self.tasks.iter().flat_map(|task| &task.left).collect();
        self.open.retain(|id| !queued.contains(id));
        let (tasks, open) = (self.tasks.len(), self.open.len());
        if tasks > 0 {
            self.progress
                .print(&format!("{tasks} tasks are in the queue already; {open} trials are to be submitted"));
        }
        Ok(())
    }

    /// The queue; `None` while the scheduler does not answer.
    fn list(&mut self) -> Result<Option<Vec<super::Listed>>, Diagnostic> {
        match self.scheduler.list() {
            Ok(listed) => {
                if std::mem::take(&mut self.silent) {
                    self.progress.print("the scheduler answers again");
                }
                Ok(Some(listed))
            }
            Err(Silence::NoAnswer(why)) => {
                self.is_silent(&why);
                Ok(None)
            }
            Err(Silence::Never(diagnostic)) => Err(diagnostic),
        }
    }

    /// The scheduler does not answer: said once.
    pub(super) fn is_silent(&mut self, why: &str) {
        if !self.stop.asked() && !std::mem::replace(&mut self.silent, true) {
            self.progress.print(&format!("the scheduler does not answer, and is waited for: {why}"));
        }
    }

    /// Waits a little, unless somebody asks to stop.
    fn pause(&mut self) {
        let begun = Instant::now();
        while begun.elapsed() < self.interval().max(2 * SOONEST) && !self.stop.asked() {
            self.progress.tick();
            std::thread::sleep(TICK);
        }
    }

    pub(super) fn interval(&self) -> Duration {
        (self.since.elapsed() / 10).clamp(SOONEST, LATEST)
    }

    /// Asks the queue where it is time to.
    fn poll(&mut self) -> Result<(), Diagnostic> {
        let interval = self.interval();
        let due = if self.news { (interval / 4).max(SOONEST) } else { interval };
        if self.polled.elapsed() < due || self.tasks.is_empty() && self.room.unknown.is_none() && !self.silent
        {
            return Ok(());
        }
        let listed = self.list()?;
        (self.polled, self.news) = (Instant::now(), false);
        let Some(listed) = listed else { return Ok(()) };
        self.confirm(&listed)?;
        let there = by_task(&listed);
        let mut gone = Vec::new();
        for task in &mut self.tasks {
            let job = self.arrays[&task.array].job.as_deref().unwrap_or_default();
            task.phase = match (there.get(&(job, task.index)), &task.phase) {
                (Some(listed), _) if listed.is_running() => Phase::Running,
                // Also one that was over, and is requeued.
                (Some(listed), _) if !listed.is_over() => Phase::Waiting,
                (_, over @ Phase::Over { state, .. }) if !state.is_empty() => over.clone(),
                (Some(listed), _) => {
                    let (state, reason) = (listed.state.clone(), listed.reason.clone());
                    Phase::Over { since: Instant::now(), state, reason }
                }
                (None, over @ Phase::Over { .. }) => over.clone(),
                (None, _) => {
                    gone.push(job.to_owned());
                    Phase::Over { since: Instant::now(), state: String::new(), reason: String::new() }
                }
            };
        }
        gone.dedup();
        if !gone.is_empty() {
            let ends = self.scheduler.ends(&gone.iter().map(String::as_str).collect::<Vec<_>>());
            for task in &mut self.tasks {
                let job = self.arrays[&task.array].job.clone().unwrap_or_default();
                if let (Phase::Over { state, reason, .. }, Some(end)) =
                    (&mut task.phase, ends.get(&(job, task.index)))
                    && state.is_empty()
                {
                    (*state, *reason) = end.clone();
                }
            }
        }
        Ok(())
    }

    /// Whether the scheduler has the array that it did not answer for.
    fn confirm(&mut self, listed: &[super::Listed]) -> Result<(), Diagnostic> {
        let Some((number, since)) = self.room.unknown else { return Ok(()) };
        let Some(mut array) = self.arrays.remove(&number) else { return Ok(()) };
        // What was sent may still be on its way.
        if !listed.iter().any(|task| task.name == array.name) && since.elapsed() < 2 * LINGER {
            self.arrays.insert(number, array);
            return Ok(());
        }
        identify(&self.cluster, std::slice::from_mut(&mut array), listed, true)
            .map_err(|error| self.cannot_write(error))?;
        self.room.unknown = None;
        match array.withdrawn {
            true => drop(self.arrays.insert(number, array)),
            false => self.take_in(array),
        }
        Ok(())
    }

    /// Takes everything of this run out of the queue.
    fn cancel_all(&mut self) -> Result<(), Diagnostic> {
        let jobs: BTreeSet<&str> =
            self.tasks.iter().filter_map(|task| self.arrays[&task.array].job.as_deref()).collect();
        let jobs: Vec<&str> = jobs.into_iter().collect();
        match if jobs.is_empty() { Ok(()) } else { self.scheduler.cancel(&jobs) } {
            Ok(()) => Ok(()),
            Err(Silence::Never(diagnostic)) => Err(diagnostic),
            Err(Silence::NoAnswer(why)) => Err(Diagnostic::new("the other trials could not be cancelled")
                .because(why)
                .hint(format!("`host cancel {}` cancels them", self.folder.display()))),
        }
    }

    fn show(&mut self) {
        let running = self.tasks.iter().filter(|task| matches!(task.phase, Phase::Running)).count();
        let waiting = self.tasks.iter().filter(|task| matches!(task.phase, Phase::Waiting)).count();
        self.progress.note(format!("{running} tasks running, {waiting} queued"));
        self.progress.tick();
    }

    pub(super) fn add(&self, line: &Submission) -> Result<(), Diagnostic> {
        self.cluster.add(line).map_err(|error| self.cannot_write(error))
    }

    pub(super) fn cannot_write(&self, error: std::io::Error) -> Diagnostic {
        let place = self.folder.display();
        Diagnostic::new(format!("what was submitted from {place} cannot be read or written")).because(error)
    }
}
