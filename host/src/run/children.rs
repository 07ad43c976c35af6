//! Trials as child processes, as many at a time as there are cores.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use super::executor::{Ended, Executor, Job, TrialFailure, log_end};
use super::processes::adopt_orphans;
use super::progress::Progress;
use super::stop::Stop;
use super::supervise::{Guards, Limits, Report, Supervisor, Told};
use crate::diagnostic::Diagnostic;
use crate::plugins::PluginArguments;

/// Runs each trial in a process of its own, and watches over it.
pub struct Children {
    /// How many trials at a time.
    pub jobs: usize,
    /// Whether the first trial that fails stops the others.
    pub fail_fast: bool,
    pub limits: Limits,
    pub plugins: PluginArguments,
    pub allow_changed_plugins: bool,
    /// How much the trials' processes say of what they do: as often as `-v` was given.
    pub verbose: u8,
    /// A folder of this node for what only helps trials to go on.
    pub scratch: Option<PathBuf>,
}

impl Executor for Children {
    fn execute(
        &self,
        folder: &Path,
        jobs: Vec<Job>,
        stop: &Stop,
        progress: &mut Progress,
    ) -> Result<Ended, Diagnostic> {
        let executable = super::own_executable()
            .map_err(|error| Diagnostic::new("this program cannot find itself").because(error))?;
        // What a trial's guard would leave behind where it is killed.
        adopt_orphans();
        let workers = self.jobs.min(jobs.len());
        let waiting = Mutex::new(VecDeque::from(jobs));
        let guards = Guards::default();
        let mut ended = Ended::default();
        let begun = std::thread::scope(|scope| {
            // Bounded, so that a plugin that never stops talking waits instead of filling the memory.
            let (sender, reports) = mpsc::sync_channel(1024);
            let mut running = 0;
            for _ in 0..workers {
                let (sender, waiting, guards, executable) = (sender.clone(), &waiting, &guards, &executable);
                let work = move || {
                    // In a `while let` the guard would live as long as the trial, and no two would run at once.
                    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                    while let Some(job) = next() {
                        if stop.asked() {
                            let _ =
                                sender.send(Told::Trial(job.id, Report::Ended(Err(TrialFailure::Stopped))));
                            break;
                        }
                        let _ = sender.send(Told::Trial(job.id.clone(), Report::Begins(job.clone())));
                        let (job, reports) = (&job, &sender);
                        let supervisor =
                            Supervisor { children: self, guards, executable, folder, job, stop, reports };
                        let end = supervisor.run();
                        let _ = sender.send(Told::Trial(job.id.clone(), Report::Ended(end)));
                    }
                    let _ = sender.send(Told::WorkerEnds);
                };
                match std::thread::Builder::new().spawn_scoped(scope, work) {
                    Ok(_) => running += 1,
                    // Fewer at a time will do.
                    Err(error) if running > 0 => {
                        tracing::warn!("{running} trials at a time, because no thread is left: {error}");
                        break;
                    }
                    Err(error) => {
                        return Err(Diagnostic::new("the system has no thread left").because(error));
                    }
                }
            }
            // Not until all senders are gone: a process that a plugin has sent its own ways may keep one for ever.
            while running > 0 {
                match reports.recv_timeout(Duration::from_millis(100)) {
                    Ok(Told::Trial(_, Report::Begins(job))) => {
                        progress.log(|| tracing::info!("trial `{}` begins", job.id));
                        progress.trial_begins(&job);
                    }
                    Ok(Told::Trial(id, Report::Heard(message))) => progress.hear(&id, &message),
                    Ok(Told::Trial(id, Report::Said(line))) => progress.print(&format!("{id}: {line}")),
                    Ok(Told::Trial(id, Report::Ended(end))) => {
                        progress.log(|| log_end(&id, &end));
                        progress.trial_ends(&id);
                        if ended.take(id, end) && self.fail_fast {
                            stop.ask();
                        }
                    }
                    Ok(Told::WorkerEnds) => running -= 1,
                    Err(_) => progress.tick(),
                }
            }
            Ok(())
        });
        guards.end_strays();
        begun?;
        ended.failed.sort();
        Ok(ended)
    }
}
