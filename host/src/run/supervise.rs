//! Watches over one trial's process: passes on what it says, ends it when it takes too long or falls silent, and
//! starts it again, within bounds, when it dies.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use super::children::Children;
use super::death::{Exit, place, starved_processes};
use super::executor::{Job, TrialFailure};
use super::guard::CLEARANCE;
use super::lines::{LastWords, each_line};
use super::processes::{end_descendants, has_ended, wait_for};
use super::protocol::{Message, STOP, STOPPED};
use super::stop::Stop;
use super::thread;
use crate::plan::TrialId;
use crate::record::incident::{self, Incident};
use crate::record::{Spaces, Step, TRIALS, is_finished, read_trial, under_way};

/// How often a process may die in a row without having come any further. Dying in an evaluation is another matter:
/// the manifest says how often that is tried again.
const RESTARTS: usize = 2;

/// How often somebody else may kill it in a row without its having come any further: no fault of the trial, but a machine
/// without memory would kill it for ever.
pub(super) const KILLS: usize = 20;

/// How often the clocks are looked at.
pub(super) const TICK: Duration = Duration::from_millis(50);

/// How long the pipes of a process that has ended are listened to, where something else keeps them open.
pub(super) const LINGER: Duration = Duration::from_secs(1);

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

/// What the run is told.
pub(super) enum Told {
    Trial(TrialId, Report),
    WorkerEnds,
}

/// The guards that run: every other child of this process is a stray of one that was killed.
#[derive(Default)]
pub(super) struct Guards(Mutex<BTreeSet<u32>>);

impl Guards {
    /// Starts one, before anybody can take it for a stray.
    fn start(&self, command: &mut Command) -> io::Result<Child> {
        let mut guards = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let child = command.spawn()?;
        guards.insert(child.id());
        Ok(child)
    }

    /// This one has ended.
    fn remove(&self, guard: u32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&guard);
    }

    /// Ends what guards that were killed have left to this process.
    pub(super) fn end_strays(&self) {
        let guards = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        end_descendants(&|process| guards.contains(&process));
    }
}

/// One trial, and all that watching over it takes.
pub(super) struct Supervisor<'a> {
    pub(super) children: &'a Children,
    pub(super) guards: &'a Guards,
    pub(super) executable: &'a Path,
    pub(super) folder: &'a Path,
    pub(super) job: &'a Job,
    pub(super) stop: &'a Stop,
    pub(super) reports: &'a mpsc::SyncSender<Told>,
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
    /// Where it was, in words.
    place: String,
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
    /// shadow or a question that took the process with it is not asked again.
    fn is_settled(&self) -> bool {
        let own = match &self.during {
            Some(Step::Evaluate { .. } | Step::Ask { .. }) => true,
            Some(Step::Solve { followed, .. }) => !followed,
            _ => false,
        };
        own && !self.from_outside
    }
}

/// Deaths in a row at one place: of the trial's own making, and from outside.
#[derive(Default)]
struct Deaths {
    own: usize,
    from_outside: usize,
}

impl Deaths {
    /// One more; answers how many of its kind there were, where that is too many.
    fn add(&mut self, death: &Death) -> Option<usize> {
        if death.advanced || death.is_settled() {
            *self = Self::default();
        }
        if death.is_settled() {
            return None;
        }
        let (count, most) = match death.from_outside {
            true => (&mut self.from_outside, KILLS),
            false => (&mut self.own, RESTARTS),
        };
        // A life that came further does not count, however it ended.
        *count += usize::from(!death.advanced);
        (*count > most).then_some(*count)
    }
}

impl Supervisor<'_> {
    /// Runs the trial to its end, whatever that is.
    pub(super) fn run(&self) -> Result<(), TrialFailure> {
        let mut deaths = Deaths::default();
        loop {
            let death = match self.run_once()? {
                End::Finished => return Ok(()),
                End::Stopped => return Err(TrialFailure::Stopped),
                End::Failed(reason) => return self.fail(reason),
                End::Died(death) => death,
            };
            let too_many = deaths.add(&death);
            let Death { during, place, timed_out, from_outside, reason, last_words, .. } = death;
            self.note(&Incident::Died { during, timed_out, from_outside, reason: reason.clone() })?;
            if self.stop.asked() {
                return Err(TrialFailure::Stopped);
            }
            if let Some(times) = too_many {
                let hint = match from_outside {
                    true => {
                        "; what it needs may be more than the machine has, `--jobs` runs fewer trials at once"
                    }
                    false => "",
                };
                return self.fail(match &last_words[..] {
                    [] => format!("{reason}, {times} times at the same place: {place}{hint}"),
                    said => {
                        let said = said.join("\n");
                        format!("{reason}, {times} times at the same place: {place}{hint}; it said:\n{said}")
                    }
                });
            }
            self.send(Report::Said(format!("{reason} {place}; starting it again")));
        }
    }

    fn fail(&self, reason: String) -> Result<(), TrialFailure> {
        self.note(&Incident::Failed { reason: reason.clone() })?;
        Err(TrialFailure::Failed(reason))
    }

    fn trial_folder(&self) -> PathBuf {
        self.folder.join(TRIALS).join(self.job.id.to_string())
    }

    /// The point that is being evaluated, in the objective's own names.
    fn point(&self) -> Option<String> {
        let point = under_way(&self.trial_folder())?;
        let spaces = Spaces::read(self.folder).ok()?;
        Some(crate::text::cut(&spaces.of_trial(&self.job.id)?.describe(&point)))
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
        let _ = self.reports.send(Told::Trial(self.job.id.clone(), report));
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
        if let Some(scratch) = &self.children.scratch {
            command.arg("--scratch").arg(scratch);
        }
        command.args((0..self.children.verbose).map(|_| "-v"));
        // A group of its own: what a plugin starts can be ended with it, and Ctrl-C is for the host alone.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = self.guards.start(&mut command);
        child.map_err(|error| TrialFailure::Failed(format!("cannot start a process: {error}")))
    }

    /// Starts the process, and watches until it ends.
    fn run_once(&self) -> Result<End, TrialFailure> {
        let starved = starved_processes();
        let mut child = self.start()?;
        let mut lifeline = child.stdin.take();
        let watched = self.watch(&mut child, &mut lifeline);
        drop(lifeline);
        let exit = self.clear(&mut child);
        let (mut watch, lines, words) = watched?;
        while let Ok(line) = lines.recv_timeout(LINGER) {
            self.hear(&line, &mut watch);
        }
        let exit =
            exit.map_err(|error| TrialFailure::Failed(format!("lost the trial's process: {error}")))?;
        // What the guard says is how the trial's process ended; where it says nothing, it was killed itself.
        let exit = watch.ended.unwrap_or(exit);
        let words = words.take();
        let reason = exit.reason("trial", &words, starved < starved_processes());
        Ok(self.end(exit, reason, watch, words))
    }

    /// Watches until the process has ended, or is to be.
    fn watch(
        &self,
        child: &mut Child,
        lifeline: &mut Option<ChildStdin>,
    ) -> Result<(Watch, mpsc::Receiver<String>, LastWords), TrialFailure> {
        let no_thread =
            |error: io::Error| TrialFailure::Failed(format!("the system has no thread left: {error}"));
        let (sender, lines) = mpsc::sync_channel(64);
        let stdout = child.stdout.take();
        // Not scoped: a process that nobody could end may keep the pipes open for ever.
        thread(move || each_line(stdout, |line| drop(sender.send(line)))).map_err(no_thread)?;
        let words = LastWords::listen(child.stderr.take(), &self.job.id, self.reports.clone());
        let words = words.map_err(no_thread)?;
        let mut watch = Watch::new();
        while !has_ended(child) {
            if self.stop.asked() && !watch.told {
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
            watch.killed = self.overdue(&watch);
            if watch.killed.is_some() || self.stop.at_once() {
                break;
            }
        }
        Ok((watch, lines, words))
    }

    /// Waits until the guard has ended the trial and all that it had started: without its lifeline it does, at once. Then
    /// ends what is left, where the guard could not.
    fn clear(&self, guard: &mut Child) -> io::Result<Exit> {
        wait_for(guard, CLEARANCE);
        let _ = guard.kill();
        let exit = Exit::from(guard.wait()?);
        self.guards.remove(guard.id());
        if exit.signal.is_some() {
            self.guards.end_strays();
        }
        Ok(exit)
    }

    fn hear(&self, line: &str, watch: &mut Watch) {
        watch.silent = Duration::ZERO;
        let Ok(message) = serde_json::from_str::<Message>(line) else {
            return self.send(Report::Said(line.to_owned()));
        };
        match &message {
            Message::Alive => return,
            Message::Begins(step) => watch.step = Some((step.clone(), Duration::ZERO)),
            Message::At(place) => {
                watch.step = None;
                watch.at.clone_from(place);
                return;
            }
            Message::Advanced { .. } => {
                // What was read from the journal is nothing new.
                let new = matches!(watch.step, Some((Step::Evaluate { .. } | Step::Await { .. }, _)));
                watch.advanced |= new;
                watch.step = None;
            }
            Message::Failed { reason } => {
                watch.failed = Some(reason.clone());
                return;
            }
            // A worker's word to its trial.
            Message::Evaluated { .. } => return,
            Message::Ended(exit) => {
                watch.ended = Some(*exit);
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
                Step::Ask { .. } => (steps, "the surrogate did not say what it knows"),
                Step::Solve { .. } => (steps, "no answer from the solver"),
                Step::Evaluate { .. } => (self.job.timeout, "no value"),
                // Each of them has its own time, which the trial keeps.
                Step::Await { .. } => (None, "no values"),
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

    fn end(&self, exit: Exit, reason: String, watch: Watch, last_words: Vec<String>) -> End {
        if let Some(reason) = watch.failed {
            return End::Failed(reason);
        }
        // A plugin may end the process with any code, 0 among them.
        if is_finished(&self.trial_folder()) {
            return End::Finished;
        }
        if watch.told && exit.code == Some(STOPPED.into()) || self.stop.at_once() {
            return End::Stopped;
        }
        let from_outside = watch.killed.is_none() && exit.is_from_outside();
        let Killed { timed_out, reason } = watch.killed.unwrap_or(Killed { timed_out: false, reason });
        let (during, advanced) = (watch.step.map(|(step, _)| step), watch.advanced);
        let place = match &during {
            Some(step) => {
                let point = step.evaluation().and_then(|_| self.point()).map(|point| format!(", at {point}"));
                let trial = read_trial(self.folder, &self.job.id).ok();
                place(step, trial.as_ref()) + &point.unwrap_or_default()
            }
            None => watch.at,
        };
        End::Died(Death { during, place, timed_out, from_outside, reason, last_words, advanced })
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
    /// Where it is when it is in no step, in words.
    at: String,
    advanced: bool,
    /// Whether it was told to stop.
    told: bool,
    killed: Option<Killed>,
    /// Why it says it failed.
    failed: Option<String>,
    /// How it ended, as its guard says.
    ended: Option<Exit>,
    last: Instant,
}

impl Watch {
    fn new() -> Self {
        Self {
            silent: Duration::ZERO,
            step: None,
            at: "where its plugins are opened".to_owned(),
            advanced: false,
            told: false,
            killed: None,
            failed: None,
            ended: None,
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
