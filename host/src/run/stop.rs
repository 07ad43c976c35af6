//! Somebody asks to stop: after the evaluations under way, or at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::processes::end_descendants;
use super::waiting::Waiting;
use crate::diagnostic::Diagnostic;

/// How long trials may take over their evaluations under way after SIGTERM, which most systems follow up with SIGKILL.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long this process may take to end when it is to end at once.
const HURRY: Duration = Duration::from_secs(3);

/// Whether somebody asked to stop.
#[derive(Clone)]
pub struct Stop {
    asked: Arc<AtomicBool>,
    at_once: Arc<AtomicBool>,
    /// Whether nothing is running any more, so that somebody else says how to go on.
    over: Arc<AtomicBool>,
    waiting: Waiting,
    /// The command that goes on with what is stopped.
    to_go_on: Arc<str>,
    /// Whether trials go on without this process.
    leaves_trials: bool,
}

impl Stop {
    /// Raised by Ctrl-C, by SIGUSR1, and by SIGTERM; by a second one, or a while after SIGTERM, trials end at once.
    /// What is being waited for, and how to go on, is said at once.
    pub(super) fn on_request(
        waiting: Waiting,
        to_go_on: &str,
        leaves_trials: bool,
    ) -> Result<Self, Diagnostic> {
        let (asked, at_once, over) = <(Arc<AtomicBool>, Arc<AtomicBool>, Arc<AtomicBool>)>::default();
        let stop = Self { asked, at_once, over, waiting, to_go_on: to_go_on.into(), leaves_trials };
        stop.listen().map_err(|error| Diagnostic::new("Ctrl-C cannot be listened for").because(error))?;
        Ok(stop)
    }

    /// Nothing is running any more.
    pub(super) fn is_over(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    /// Asks to stop after the evaluations under way.
    pub(super) fn ask(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// Whether to stop after the evaluations under way.
    pub(super) fn asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Whether to stop in the middle of them.
    pub(super) fn at_once(&self) -> bool {
        self.at_once.load(Ordering::Relaxed)
    }

    /// What a trial in this process looks at.
    pub(super) fn flag(&self) -> &Arc<AtomicBool> {
        &self.asked
    }

    #[cfg(unix)]
    fn listen(&self) -> std::io::Result<()> {
        use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
        // A scheduler sends SIGUSR1 some time before it ends a task, where it is asked to.
        let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGUSR1])?;
        let stop = self.clone();
        super::thread(move || {
            for signal in signals.forever() {
                stop.heard(signal == SIGTERM);
            }
        })?;
        Ok(())
    }

    #[cfg(not(unix))]
    fn listen(&self) -> std::io::Result<()> {
        let stop = self.clone();
        // A second call in one process keeps the first handler, whose flag is then the one that counts.
        if let Err(error) = ctrlc::set_handler(move || stop.heard(false)) {
            tracing::debug!("Ctrl-C is handled already: {error}");
        }
        Ok(())
    }

    /// One more signal.
    fn heard(&self, termination: bool) {
        if self.at_once() {
            self.leave();
        }
        if self.asked.swap(true, Ordering::Relaxed) {
            self.waiting.say_now();
            self.hurry();
            return;
        }
        // Nothing is under way here, and there is nothing to wait for.
        if self.leaves_trials {
            return;
        }
        self.waiting.say_waiting(termination.then_some(PATIENCE));
        if termination {
            let stop = self.clone();
            let waits = super::thread(move || {
                std::thread::sleep(PATIENCE);
                stop.hurry();
            });
            if waits.is_err() {
                self.hurry();
            }
        }
    }

    /// Trials end now, and this process soon after: in the middle of an evaluation of its own it cannot be asked.
    fn hurry(&self) {
        self.at_once.store(true, Ordering::Relaxed);
        let stop = self.clone();
        let ends = super::thread(move || {
            std::thread::sleep(HURRY);
            stop.leave();
        });
        if ends.is_err() {
            self.leave();
        }
    }

    /// Ends this process, whatever it is in the middle of, with all that it has started.
    fn leave(&self) -> ! {
        if !self.over.load(Ordering::Relaxed) {
            self.waiting.say_stopped(&self.to_go_on, self.leaves_trials);
        }
        end_descendants(&|_| false);
        std::process::exit(1)
    }
}
