//! Trials as tasks of Slurm's job arrays.
//!
//! The journals say how far trials are; Slurm only says which tasks wait, run or are gone. All that was submitted is on disk in
//! the run's folder ([`crate::record::cluster`]), so that any host can look, go on or cancel, and none submits a trial twice.
//! Nothing is shared with the nodes but the file system.

mod answers;
mod overview;
mod pack;
mod program;
mod scheduler;
mod script;
mod settle;
mod submit;
mod wait;

use std::io;
use std::path::Path;

pub use self::answers::Listed;
pub use self::overview::{Overview, TrialState, overview};
pub use self::scheduler::{Scheduler, Silence};
pub use self::script::TaskArguments;

use self::wait::Waiter;
use super::executor::{Ended, Executor, Job};
use super::progress::Progress;
use super::stop::Stop;
use crate::diagnostic::Diagnostic;
use crate::manifest::keys::cluster::Cluster;
use crate::record::cluster::{Array, ClusterFolder, Submission};

/// Submits trials to Slurm, and waits for them or does not.
pub struct Slurm {
    /// `None` where nobody said: those that the run was submitted with before, or none.
    pub settings: Option<Cluster>,
    /// How many tasks at a time, whatever the settings say.
    pub concurrency: Option<usize>,
    /// Whether to submit and leave.
    pub detach: bool,
    /// Whether the first trial that fails cancels the others.
    pub fail_fast: bool,
    pub arguments: TaskArguments,
}

impl Executor for Slurm {
    fn execute(
        &self,
        folder: &Path,
        jobs: Vec<Job>,
        stop: &Stop,
        progress: &mut Progress,
    ) -> Result<Ended, Diagnostic> {
        if jobs.is_empty() {
            return Ok(Ended::default());
        }
        let cluster = ClusterFolder::of(folder);
        let cannot = |error: io::Error| {
            Diagnostic::new(format!("cannot write what is submitted to {}", folder.display())).because(error)
        };
        cluster.make().map_err(cannot)?;
        let settings = self.settings(&cluster).map_err(|mut all| all.swap_remove(0))?;
        cluster.write_settings(&settings.write()).map_err(cannot)?;
        let unwanted = || stop.asked();
        let scheduler = Scheduler { unwanted: &unwanted };
        Waiter::new(self, settings, folder, scheduler, stop, progress, jobs).run()
    }

    fn leaves_trials(&self) -> bool {
        true
    }

    /// What is in the queue is found and waited for.
    fn check(&self, _: &Path) -> Result<(), Diagnostic> {
        Ok(())
    }
}

impl Slurm {
    fn settings(&self, cluster: &ClusterFolder) -> Result<Cluster, Vec<Diagnostic>> {
        let before = cluster.settings();
        let settings = match &self.settings {
            Some(settings) => settings.clone(),
            None if before.exists() => Cluster::open(&before)?,
            None => Cluster::default(),
        };
        Ok(Cluster { concurrency: self.concurrency.or(settings.concurrency), ..settings })
    }
}

/// Refuses where a cluster still has trials of this run: two at one journal would end one of them.
pub(super) fn refuse_queued(folder: &Path) -> Result<(), Diagnostic> {
    let place = folder.display();
    let cluster = ClusterFolder::of(folder);
    let unreadable =
        |error| Diagnostic::new(format!("cannot read what was submitted from {place}")).because(error);
    if cluster.arrays().map_err(unreadable)?.is_empty() {
        return Ok(());
    }
    match overview(folder, &Scheduler { unwanted: &|| false }) {
        Ok(overview) => match overview.active() {
            0 => Ok(()),
            tasks => Err(Diagnostic::new(format!("{tasks} tasks of {place} are in the queue of a cluster"))
                .hint("`--executor slurm` goes on with them; `host cancel` takes them out of the queue")),
        },
        // A copy of the folder on another machine, say.
        Err(Silence::Never(why)) => {
            tracing::warn!("nobody may run trials of {place} on a cluster meanwhile: {}", why.message);
            Ok(())
        }
        Err(Silence::NoAnswer(why)) => {
            Err(Diagnostic::new(format!("trials of {place} may be in the queue of a cluster"))
                .because(format!("the scheduler does not answer: {why}"))
                .hint("try again later"))
        }
    }
}

/// Takes every task of a run out of the queue; answers how many there were.
pub fn cancel(folder: &Path) -> Result<usize, Silence> {
    let cluster = ClusterFolder::of(folder);
    let scheduler = Scheduler { unwanted: &|| false };
    let overview = overview(folder, &scheduler)?;
    let (jobs, active) = (overview.jobs(), overview.active());
    if jobs.is_empty() {
        return Ok(0);
    }
    let names: Vec<&str> = jobs.iter().map(String::as_str).collect();
    scheduler.cancel(&names)?;
    let line = Submission::Cancelled { jobs: jobs.clone(), at: crate::clock::moment() };
    if let Err(error) = cluster.add(&line) {
        tracing::debug!("that they were cancelled cannot be written: {error}");
    }
    Ok(active)
}

/// Finds arrays of which nobody knows whether the scheduler has them, by their names; where it has not, they are withdrawn.
fn identify(cluster: &ClusterFolder, arrays: &mut [Array], listed: &[Listed], keep: bool) -> io::Result<()> {
    for array in arrays.iter_mut().filter(|array| array.job.is_none() && !array.withdrawn) {
        let line = match listed.iter().find(|task| task.name == array.name) {
            Some(found) => {
                array.job = Some(found.job.clone());
                Submission::Submitted { array: array.number, job: found.job.clone() }
            }
            None => {
                array.withdrawn = true;
                Submission::Withdrawn { array: array.number, reason: "it is not in the queue".to_owned() }
            }
        };
        if keep {
            cluster.add(&line)?;
        }
    }
    Ok(())
}
