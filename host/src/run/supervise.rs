//! Watches over one trial's process: passes on what it says, ends it when it takes too long or falls silent, and
//! starts it again, within bounds, when it dies.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use super::children::Children;
use super::executor::{Job, TrialFailure};
use super::protocol::{Message, STOP, STOPPED};
use crate::plan::TrialId;
use crate::record::incident::{self, Incident};
use crate::record::{Step, TRIALS, is_finished};

/// How often a process may die in a row without having come any further. Dying in an evaluation is another matter:
/// the manifest says how often that is tried again.
const RESTARTS: usize = 2;

/// How often the clocks are looked at.
const TICK: Duration = Duration::from_millis(50);

/// How long the pipes of a process that has ended are listened to, where something else keeps them open.
const LINGER: Duration = Duration::from_secs(1);

/// No line of a plugin's is longer than this; the rest of it is lost.
const LONGEST_LINE: usize = 8192;

/// The last lines of the error output that are kept for a reason.
const LAST_WORDS: usize = 20;

/// What Rust says before it aborts for want of memory.
const OUT_OF_MEMORY: &str = "memory allocation of ";

/// When a trial's process is ended.
pub struct Limits {
    /// How long it may say nothing.
    pub patience: Duration,
    /// How long a surrogate or solver may take over one step.
    pub step_timeout: Option<Duration>,
}

/// What a supervisor tells the run of its trial.
pub(super) enum Report {
    Begins(Job),
    Heard(Message),
    /// A line of the error output, or of what is no message.
    Said(String),
    Ended(Result<(), TrialFailure>),
}

/// One trial, and all that watching over it takes.
pub(super) struct Supervisor<'a> {
    pub(super) children: &'a Children,
    pub(super) executable: &'a Path,
    pub(super) folder: &'a Path,
    pub(super) job: &'a Job,
    pub(super) stop: &'a AtomicBool,
    pub(super) reports: &'a mpsc::SyncSender<(TrialId, Report)>,
}

/// How a process ended.
enum End {
    Finished,
    Stopped,
    Failed(String),
    Died(Death),
}

struct Death {
    during: Option<Step>,
    timed_out: bool,
    from_outside: bool,
    /// Without what differs from one time to the next: it may stand in a journal.
    reason: String,
    last_words: Vec<String>,
    /// Whether the trial came any further in this life.
    advanced: bool,
}

impl Death {
    /// Whether the trial will not come to the same place again: an evaluation has a limited number of tries, and a
    /// shadow that took the process with it is not asked again.
    fn is_settled(&self) -> bool {
        match &self.during {
            Some(Step::Evaluate { .. }) => true,
            Some(Step::Solve { followed: false, .. }) => !self.from_outside,
            _ => false,
        }
    }
}

impl Supervisor<'_> {
    /// Runs the trial to its end, whatever that is.
    pub(super) fn run(&self) -> Result<(), TrialFailure> {
        let mut restarts = 0;
        loop {
            let death = match self.run_once()? {
                End::Finished => return Ok(()),
                End::Stopped => return Err(TrialFailure::Stopped),
                End::Failed(reason) => return self.fail(reason),
                End::Died(death) => death,
            };
            let settled = death.is_settled();
            let Death { during, timed_out, from_outside, reason, last_words, advanced } = death;
            let place = during.as_ref().map(place).unwrap_or_default();
            self.note(&Incident::Died { during, timed_out, from_outside, reason: reason.clone() })?;
            if self.stop.load(Ordering::Relaxed) {
                return Err(TrialFailure::Stopped);
            }
            restarts = if advanced || settled { 0 } else { restarts + 1 };
            if restarts > RESTARTS {
                let times = restarts;
                return self.fail(match &last_words[..] {
                    [] => format!("{reason}, {times} times at the same place"),
                    said => {
                        format!("{reason}, {times} times at the same place; it said:\n{}", said.join("\n"))
                    }
                });
            }
            self.send(Report::Said(format!("{reason}{place}; starting it again")));
        }
    }

    fn fail(&self, reason: String) -> Result<(), TrialFailure> {
        self.note(&Incident::Failed { reason: reason.clone() })?;
        Err(TrialFailure::Failed(reason))
    }

    fn trial_folder(&self) -> PathBuf {
        self.folder.join(TRIALS).join(self.job.id.to_string())
    }

    fn note(&self, incident: &Incident) -> Result<(), TrialFailure> {
        let folder = self.trial_folder();
        incident::add(&folder, incident).map_err(|error| {
            let reason = incident.reason();
            TrialFailure::Failed(format!(
                "{reason}\nand that cannot be written to {}: {error}",
                folder.display()
            ))
        })
    }

    fn send(&self, report: Report) {
        // The run outlives its supervisors.
        let _ = self.reports.send((self.job.id.clone(), report));
    }

    fn start(&self) -> Result<Child, TrialFailure> {
        let mut command = Command::new(self.executable);
        command.arg("trial").arg(self.folder).arg(self.job.id.to_string()).arg("--attached");
        for directory in &self.children.plugins.directories {
            command.arg("--plugin-dir").arg(directory);
        }
        if self.children.plugins.allow_insecure {
            command.arg("--allow-insecure-plugins");
        }
        if self.children.allow_changed_plugins {
            command.arg("--allow-changed-plugins");
        }
        // A group of its own: what a plugin starts can be ended with it, and Ctrl-C is for the host alone.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        child.map_err(|error| TrialFailure::Failed(format!("cannot start a process: {error}")))
    }

    /// Starts the process, and watches until it ends.
    fn run_once(&self) -> Result<End, TrialFailure> {
        let mut child = self.start()?;
        let mut lifeline = child.stdin.take();
        let (sender, lines) = mpsc::sync_channel(64);
        let stdout = child.stdout.take();
        // Not scoped: a process that a plugin has sent its own ways may keep the pipes open for ever.
        std::thread::spawn(move || each_line(stdout, |line| drop(sender.send(line))));
        let words = LastWords::listen(child.stderr.take(), &self.job.id, self.reports.clone());
        let mut watch = Watch::new();
        let status = loop {
            if self.stop.load(Ordering::Relaxed) && !watch.told {
                watch.told = true;
                let _ = lifeline.as_mut().map(|pipe| pipe.write_all(STOP.as_bytes()));
            }
            let heard = lines.recv_timeout(TICK);
            // What has passed belongs to what was under way, not to what the line says is now.
            watch.pass_time();
            match heard {
                Ok(line) => self.hear(&line, &mut watch),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => std::thread::sleep(TICK),
            }
            if watch.killed.is_none()
                && let Some(why) = self.overdue(&watch)
            {
                watch.killed = Some(why);
                end_group(&mut child);
            }
            if has_ended(&mut child) {
                // What it has started would keep its pipes open, and outlive it.
                end_group(&mut child);
                break child.wait();
            }
        };
        while let Ok(line) = lines.recv_timeout(LINGER) {
            self.hear(&line, &mut watch);
        }
        let status =
            status.map_err(|error| TrialFailure::Failed(format!("lost the trial's process: {error}")))?;
        Ok(self.end(status, watch, words.take()))
    }

    fn hear(&self, line: &str, watch: &mut Watch) {
        watch.silent = Duration::ZERO;
        let Ok(message) = serde_json::from_str::<Message>(line) else {
            return self.send(Report::Said(line.to_owned()));
        };
        match &message {
            Message::Alive => return,
            Message::Begins(step) => watch.step = Some((step.clone(), Duration::ZERO)),
            Message::Advanced { .. } => {
                // What was read from the journal is nothing new.
                watch.advanced |= matches!(watch.step, Some((Step::Evaluate { .. }, _)));
                watch.step = None;
            }
            Message::Failed { reason } => {
                watch.failed = Some(reason.clone());
                return;
            }
        }
        self.send(Report::Heard(message));
    }

    /// Whether it is time to end the process, and why.
    fn overdue(&self, watch: &Watch) -> Option<Killed> {
        if let Some((step, taken)) = &watch.step {
            let steps = self.children.limits.step_timeout;
            let (limit, missing) = match step {
                Step::Fit { .. } => (steps, "no draw from the surrogate"),
                Step::Observe { .. } => (steps, "the surrogate took in no value"),
                Step::Solve { .. } => (steps, "no answer from the solver"),
                Step::Evaluate { .. } => (self.job.timeout, "no value"),
            };
            if let Some(limit) = limit.filter(|limit| taken > limit) {
                let timed_out = step.evaluation().is_some();
                return Some(Killed { timed_out, reason: format!("{missing} within {limit:?}") });
            }
        }
        let patience = self.children.limits.patience;
        let reason = || format!("the trial's process stopped answering for {patience:?}");
        (watch.silent > patience).then(|| Killed { timed_out: false, reason: reason() })
    }

    fn end(&self, status: ExitStatus, watch: Watch, last_words: Vec<String>) -> End {
        if let Some(reason) = watch.failed {
            return End::Failed(reason);
        }
        // A plugin may end the process with any code, 0 among them.
        if is_finished(&self.trial_folder()) {
            return End::Finished;
        }
        if watch.told && status.code() == Some(STOPPED.into()) {
            return End::Stopped;
        }
        let from_outside = watch.killed.is_none() && is_from_outside(status);
        let Killed { timed_out, reason } =
            watch.killed.unwrap_or_else(|| Killed { timed_out: false, reason: reason(status, &last_words) });
        let (during, advanced) = (watch.step.map(|(step, _)| step), watch.advanced);
        End::Died(Death { during, timed_out, from_outside, reason, last_words, advanced })
    }
}

/// Where a process died, in words.
fn place(step: &Step) -> String {
    match step {
        Step::Evaluate { evaluation } => format!(" in evaluation {evaluation}"),
        Step::Solve { iteration, solver, .. } => format!(" in solver `{solver}`, iteration {iteration}"),
        Step::Fit { .. } | Step::Observe { .. } => " in the surrogate".to_owned(),
    }
}

/// Passes on a process's error output, and keeps the last of it.
struct LastWords {
    lines: Arc<Mutex<VecDeque<String>>>,
    ended: mpsc::Receiver<()>,
}

impl LastWords {
    fn listen(
        stderr: Option<ChildStderr>,
        id: &TrialId,
        reports: mpsc::SyncSender<(TrialId, Report)>,
    ) -> Self {
        let lines = Arc::new(Mutex::new(VecDeque::new()));
        let (sender, ended) = mpsc::channel();
        let (kept, id) = (lines.clone(), id.clone());
        std::thread::spawn(move || {
            each_line(stderr, |line| {
                let _ = reports.send((id.clone(), Report::Said(line.clone())));
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                // A backtrace may come after it.
                let first_is_the_reason =
                    kept.front().is_some_and(|line: &String| line.starts_with(OUT_OF_MEMORY));
                if kept.len() == LAST_WORDS {
                    kept.remove(usize::from(first_is_the_reason));
                }
                kept.push_back(line);
            });
            drop(sender);
        });
        Self { lines, ended }
    }

    /// The last lines, when the process has ended.
    fn take(self) -> Vec<String> {
        let _ = self.ended.recv_timeout(LINGER);
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect()
    }
}

/// Why we ended a process.
struct Killed {
    /// Whether an evaluation took too long.
    timed_out: bool,
    reason: String,
}

/// What is known of a process while it runs.
struct Watch {
    /// Since it last said anything.
    silent: Duration,
    /// What is under way, and how long it has taken.
    step: Option<(Step, Duration)>,
    advanced: bool,
    /// Whether it was told to stop.
    told: bool,
    killed: Option<Killed>,
    /// Why it says it failed.
    failed: Option<String>,
    last: Instant,
}

impl Watch {
    fn new() -> Self {
        Self {
            silent: Duration::ZERO,
            step: None,
            advanced: false,
            told: false,
            killed: None,
            failed: None,
            last: Instant::now(),
        }
    }

    fn pass_time(&mut self) {
        // When this process was stopped for a while, as by Ctrl-Z, the trial's may have been as well.
        let passed = self.last.elapsed().min(TICK * 20);
        self.last = Instant::now();
        self.silent += passed;
        if let Some((_, taken)) = &mut self.step {
            *taken += passed;
        }
    }
}

/// Whether a process has ended; it keeps its number until it is waited for.
fn has_ended(child: &mut Child) -> bool {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(Pid::from_child(child)), options), Ok(None))
    }
    #[cfg(not(unix))]
    {
        !matches!(child.try_wait(), Ok(None))
    }
}

/// Ends a process and all that it has started.
fn end_group(child: &mut Child) {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process_group};
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    }
    let _ = child.kill();
}

/// Whether a process that we did not end was ended by somebody else: these signals come from no fault of its own.
fn is_from_outside(status: ExitStatus) -> bool {
    #[cfg(unix)]
    {
        use rustix::process::Signal;
        let outside =
            [Signal::KILL, Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT].map(Signal::as_raw);
        std::os::unix::process::ExitStatusExt::signal(&status).is_some_and(|signal| outside.contains(&signal))
    }
    #[cfg(not(unix))]
    {
        let _ = status;
        false
    }
}

/// Why a process ended, by the signal's name.
fn reason(status: ExitStatus, last_words: &[String]) -> String {
    if let Some(words) = last_words.iter().find(|line| line.starts_with(OUT_OF_MEMORY)) {
        return format!("the trial's process ran out of memory: {words}");
    }
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return match SIGNALS.iter().find(|(number, _)| *number == signal) {
            Some((_, "SIGKILL")) => {
                "the trial's process was killed by SIGKILL, as systems do when memory runs out".to_owned()
            }
            Some((_, name)) => format!("the trial's process was killed by {name}"),
            None => format!("the trial's process was killed by signal {signal}"),
        };
    }
    match status.code() {
        Some(code) => format!("the trial's process ended with exit code {code} before the trial did"),
        None => format!("the trial's process ended with {status} before the trial did"),
    }
}

#[cfg(unix)]
const SIGNALS: &[(i32, &str)] = {
    use rustix::process::Signal;
    &[
        (Signal::HUP.as_raw(), "SIGHUP"),
        (Signal::INT.as_raw(), "SIGINT"),
        (Signal::QUIT.as_raw(), "SIGQUIT"),
        (Signal::ILL.as_raw(), "SIGILL"),
        (Signal::TRAP.as_raw(), "SIGTRAP"),
        (Signal::ABORT.as_raw(), "SIGABRT"),
        (Signal::BUS.as_raw(), "SIGBUS"),
        (Signal::FPE.as_raw(), "SIGFPE"),
        (Signal::KILL.as_raw(), "SIGKILL"),
        (Signal::USR1.as_raw(), "SIGUSR1"),
        (Signal::SEGV.as_raw(), "SIGSEGV"),
        (Signal::USR2.as_raw(), "SIGUSR2"),
        (Signal::PIPE.as_raw(), "SIGPIPE"),
        (Signal::ALARM.as_raw(), "SIGALRM"),
        (Signal::TERM.as_raw(), "SIGTERM"),
        (Signal::XCPU.as_raw(), "SIGXCPU"),
        (Signal::XFSZ.as_raw(), "SIGXFSZ"),
        (Signal::SYS.as_raw(), "SIGSYS"),
    ]
};

/// Calls back with each line, cut where it is too long, until the input ends.
fn each_line(input: Option<impl Read>, mut line: impl FnMut(String)) {
    let Some(input) = input else { return };
    let mut input = BufReader::new(input);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        // Not all at once: a plugin may write for ever without ending a line.
        match input.by_ref().take(LONGEST_LINE as u64).read_until(b'\n', &mut bytes) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let whole = bytes.ends_with(b"\n");
        line(String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']).to_owned());
        if !whole && bytes.len() == LONGEST_LINE && skip_line(&mut input).is_err() {
            return;
        }
    }
}

fn skip_line(input: &mut impl BufRead) -> std::io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let (skipped, done) = match buffer.iter().position(|&byte| byte == b'\n') {
            Some(end) => (end + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        input.consume(skipped);
        if done {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_passed_on_and_long_ones_cut() {
        let text = format!("one\ntwo\r\n{}\nthree", "x".repeat(3 * LONGEST_LINE));
        let mut lines = Vec::new();
        each_line(Some(text.as_bytes()), |line| lines.push(line));
        let lengths: Vec<usize> = lines.iter().map(String::len).collect();
        assert_eq!(lengths, [3, 3, LONGEST_LINE, 5]);
        assert_eq!((&*lines[1], &*lines[3]), ("two", "three"));
    }

    #[cfg(unix)]
    #[test]
    fn signals_are_told_by_name() {
        use std::os::unix::process::ExitStatusExt;
        assert_eq!(reason(ExitStatus::from_raw(11), &[]), "the trial's process was killed by SIGSEGV");
        assert_eq!(reason(ExitStatus::from_raw(6), &[]), "the trial's process was killed by SIGABRT");
        assert_eq!(
            reason(ExitStatus::from_raw(7 << 8), &[]),
            "the trial's process ended with exit code 7 before the trial did"
        );
    }
}
