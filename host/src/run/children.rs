//! Trials as child processes, as many at a time as there are cores.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use super::executor::{Ended, Executor, Job, TrialFailure};
use super::progress::Progress;
use super::supervise::{Limits, Report, Supervisor};
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
}

impl Executor for Children {
    fn execute(
        &self,
        folder: &Path,
        jobs: Vec<Job>,
        stop: &Arc<AtomicBool>,
        progress: &mut Progress,
    ) -> Result<Ended, Diagnostic> {
        let executable = std::env::current_exe()
            .map_err(|error| Diagnostic::new("this program cannot find itself").because(error))?;
        let workers = self.jobs.min(jobs.len());
        let waiting = Mutex::new(VecDeque::from(jobs));
        let mut ended = Ended::default();
        std::thread::scope(|scope| {
            // Bounded, so that a plugin that never stops talking waits instead of filling the memory.
            let (sender, reports) = mpsc::sync_channel(1024);
            for _ in 0..workers {
                let (sender, waiting, executable) = (sender.clone(), &waiting, &executable);
                scope.spawn(move || {
                    // In a `while let` the guard would live as long as the trial, and no two would run at once.
                    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                    while let Some(job) = next() {
                        if stop.load(Ordering::Relaxed) {
                            let _ = sender.send((job.id, Report::Ended(Err(TrialFailure::Stopped))));
                            break;
                        }
                        let _ = sender.send((job.id.clone(), Report::Begins(job.clone())));
                        let (job, reports) = (&job, &sender);
                        let supervisor =
                            Supervisor { children: self, executable, folder, job, stop, reports };
                        let end = supervisor.run();
                        let _ = sender.send((job.id.clone(), Report::Ended(end)));
                    }
                });
            }
            drop(sender);
            loop {
                match reports.recv_timeout(Duration::from_millis(100)) {
                    Ok((_, Report::Begins(job))) => progress.trial_begins(&job),
                    Ok((id, Report::Heard(message))) => progress.hear(&id, &message),
                    Ok((id, Report::Said(line))) => progress.print(&format!("{id}: {line}")),
                    Ok((id, Report::Ended(end))) => {
                        progress.trial_ends(&id);
                        if ended.take(id, end) && self.fail_fast {
                            stop.store(true, Ordering::Relaxed);
                        }
                    }
                    Err(mpsc::RecvTimeoutError::Timeout) => progress.tick(),
                    Err(mpsc::RecvTimeoutError::Disconnected) => break,
                }
            }
        });
        ended.failed.sort();
        Ok(ended)
    }
}
