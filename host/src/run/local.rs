//! Trials as child processes, as many at a time as there are cores.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use super::progress::Progress;
use super::supervise::{Message, Supervisor};
use super::{Failures, Job, Settings, TrialFailure};
use crate::diagnostic::Diagnostic;

/// A flag that Ctrl-C raises. A second Ctrl-C ends the program, and with it the trials.
pub fn stop_on_request() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let raised = stop.clone();
    // A second call in one process keeps the first handler, whose flag is then the one that counts.
    let set = ctrlc::set_handler(move || {
        if raised.swap(true, Ordering::Relaxed) {
            std::process::exit(1);
        }
    });
    if let Err(error) = set {
        tracing::debug!("Ctrl-C is handled elsewhere: {error}");
    }
    stop
}

/// Runs the trials; answers which failed, and whether somebody asked to stop.
pub(super) fn run(
    folder: &Path,
    open: Vec<Job>,
    settings: &Settings,
    stop: &AtomicBool,
    progress: &mut Progress,
) -> Result<(Failures, bool), Diagnostic> {
    let executable = std::env::current_exe()
        .map_err(|error| Diagnostic::new("this program cannot find itself").because(error))?;
    let jobs = settings.jobs.min(open.len());
    let waiting = Mutex::new(VecDeque::from(open));
    let mut failed = Vec::new();
    let mut stopped = false;
    std::thread::scope(|scope| {
        // Bounded, so that a plugin that never stops talking waits instead of filling the memory.
        let (sender, messages) = mpsc::sync_channel(1024);
        for _ in 0..jobs {
            let (sender, waiting, executable) = (sender.clone(), &waiting, &executable);
            scope.spawn(move || {
                // In a `while let` the guard would live as long as the trial, and no two would run at once.
                let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                while let Some(job) = next() {
                    if stop.load(Ordering::Relaxed) {
                        let _ = sender.send(Message::Ended(job.id, Err(TrialFailure::Stopped)));
                        break;
                    }
                    let _ = sender.send(Message::Begins(job.clone()));
                    let (job, messages) = (&job, &sender);
                    let supervisor = Supervisor { executable, folder, job, settings, stop, messages };
                    let ended = supervisor.run();
                    let _ = sender.send(Message::Ended(job.id.clone(), ended));
                }
            });
        }
        drop(sender);
        loop {
            match messages.recv_timeout(Duration::from_millis(100)) {
                Ok(Message::Begins(job)) => progress.trial_begins(&job.id, job.evaluations),
                Ok(Message::Doing(id, activity)) => progress.doing(&id, activity),
                Ok(Message::Advanced(id, evaluation, best)) => progress.evaluated(&id, evaluation, best),
                Ok(Message::Said(id, line)) => progress.print(&format!("{id}: {line}")),
                Ok(Message::Ended(id, ended)) => {
                    progress.trial_ends(&id);
                    match ended {
                        Ok(()) => {}
                        Err(TrialFailure::Stopped) => stopped = true,
                        Err(TrialFailure::Failed(reason)) => {
                            failed.push((id, reason));
                            if settings.fail_fast {
                                stop.store(true, Ordering::Relaxed);
                            }
                        }
                    }
                }
                Err(mpsc::RecvTimeoutError::Timeout) => progress.tick(),
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
        }
    });
    failed.sort();
    Ok((failed, stopped))
}
