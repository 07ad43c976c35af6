//! The processes that evaluate the points of a round, a point each, at the same time.
//!
//! They are started by the trial's process, each below a guard of its own, and stay for the rounds to come. One that dies or
//! takes too long fails its own evaluation and no other.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use super::death::{Exit, starved_processes};
use super::guard::{CLEARANCE, GUARDED, GUARDS};
use super::lines::{each_line, keep_last};
use super::processes::{has_ended, wait_for};
use super::protocol::{Message, Request};
use super::supervise::{KILLS, LINGER, TICK};
use super::{PATIENCE, thread};
use crate::record::Step;
use crate::record::event::Outcome;
use crate::record::incident::{self, Incident};
use crate::trial::{Awaits, Task, TrialError, Workers};

/// What tells a process that evaluates from the trial's own, as an argument.
pub(super) const WORKER: &str = "--worker";

/// The processes of one trial, and how they are started.
pub(super) struct Pool {
    /// The trial's folder, for what goes wrong.
    folder: PathBuf,
    /// How long an evaluation may take.
    timeout: Option<Duration>,
    workers: Vec<Worker>,
    started: u64,
    sender: mpsc::SyncSender<(u64, String)>,
    lines: mpsc::Receiver<(u64, String)>,
    /// Lines of others that came while one was waited for.
    heard: VecDeque<(u64, String)>,
}

/// How a process ended.
struct End {
    exit: Exit,
    reason: String,
    /// The answer that it gave before.
    answer: Option<Outcome>,
}

struct Worker {
    number: u64,
    guard: Child,
    /// Where requests go; without it, the process ends with all that it has started.
    lifeline: Option<ChildStdin>,
    /// Which of the tasks it is at, and how long that has taken while this process was awake.
    task: Option<(usize, Duration)>,
    /// Since it last said anything.
    silent: Duration,
    last_words: Arc<Mutex<VecDeque<String>>>,
    /// How it ended, as its guard says.
    ended: Option<Exit>,
    /// How many processes the system had ended for want of memory before.
    starved: Option<u64>,
}

/// The evaluations of a round.
struct Round<'a> {
    tasks: Vec<Task>,
    retries: usize,
    waiting: VecDeque<usize>,
    /// How many have not ended.
    left: usize,
    /// When each was begun first.
    begun: Vec<Option<Instant>>,
    /// How often somebody else ended the process of each.
    kills: Vec<usize>,
    awaits: &'a mut dyn Awaits,
}

impl Round<'_> {
    fn end(&mut self, task: usize, outcome: Outcome) -> Result<(), TrialError> {
        self.left -= 1;
        let took = self.begun[task].map_or(Duration::ZERO, |begun| begun.elapsed());
        self.awaits.ended(&self.tasks[task], outcome, took)
    }

    /// A try has ended: with an answer, or with a failure after which there may be another.
    fn tried(&mut self, task: usize, outcome: Outcome) -> Result<(), TrialError> {
        if !outcome.status().is_failure() {
            return self.end(task, outcome);
        }
        match self.tasks[task].failed(self.retries, outcome) {
            Some(outcome) => self.end(task, outcome),
            None => {
                self.waiting.push_back(task);
                Ok(())
            }
        }
    }
}

impl Pool {
    pub(super) fn new(folder: PathBuf, timeout: Option<Duration>) -> Self {
        let (sender, lines) = mpsc::sync_channel(1024);
        Self { folder, timeout, workers: Vec::new(), started: 0, sender, lines, heard: VecDeque::new() }
    }

    /// Starts a process: this program with the arguments of this process, but for who it is.
    fn start(&mut self) -> Result<usize, TrialError> {
        let cannot = |error: std::io::Error| TrialError::Workers(format!("cannot start a process: {error}"));
        let mut command = Command::new(super::own_executable().map_err(cannot)?);
        let arguments = std::env::args_os().skip(1).filter(|word| word != GUARDED);
        command.args(arguments.collect::<Vec<OsString>>()).arg(WORKER);
        // One guard of its own is enough below those of the trial.
        command.args((1..GUARDS).map(|_| GUARDED));
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let starved = starved_processes();
        let mut guard = command.spawn().map_err(cannot)?;
        self.started += 1;
        let (number, sender, stdout) = (self.started, self.sender.clone(), guard.stdout.take());
        let (last_words, stderr): (Arc<Mutex<VecDeque<String>>>, _) = (Arc::default(), guard.stderr.take());
        thread(move || each_line(stdout, |line| drop(sender.send((number, line))))).map_err(cannot)?;
        let kept = last_words.clone();
        let pass_on = move |line: String| {
            let _ = writeln!(std::io::stderr(), "{line}");
            keep_last(&mut kept.lock().unwrap_or_else(PoisonError::into_inner), line);
        };
        thread(move || each_line(stderr, pass_on)).map_err(cannot)?;
        let (lifeline, silent) = (guard.stdin.take(), Duration::ZERO);
        let (task, ended) = (None, None);
        self.workers.push(Worker { number, guard, lifeline, task, silent, last_words, ended, starved });
        Ok(self.workers.len() - 1)
    }

    /// Hands waiting evaluations to processes that have none.
    fn hand_out(&mut self, round: &mut Round<'_>) -> Result<(), TrialError> {
        while let Some(&task) = round.waiting.front() {
            if round.awaits.stop() {
                return Ok(());
            }
            let idle = self.workers.iter().position(|worker| worker.task.is_none());
            let at = match idle {
                Some(at) => at,
                None => self.start()?,
            };
            let Task { evaluation, point, seed, .. } = &round.tasks[task];
            let request = Request { evaluation: *evaluation, point: point.clone(), seed: *seed };
            let mut line = serde_json::to_string(&request).expect("a request is plain data");
            line.push('\n');
            let worker = &mut self.workers[at];
            let sent = worker.lifeline.as_mut().map(|pipe| pipe.write_all(line.as_bytes()));
            if !matches!(sent, Some(Ok(()))) && idle.is_some() {
                // It died while it had nothing to do.
                self.clear(at);
                continue;
            }
            round.waiting.pop_front();
            round.begun[task].get_or_insert_with(Instant::now);
            (worker.task, worker.silent) = (Some((task, Duration::ZERO)), Duration::ZERO);
        }
        Ok(())
    }

    /// Hears what a process says.
    fn hear(&mut self, number: u64, line: &str, round: &mut Round<'_>) -> Result<(), TrialError> {
        let Some(worker) = self.workers.iter_mut().find(|worker| worker.number == number) else {
            return Ok(());
        };
        worker.silent = Duration::ZERO;
        match serde_json::from_str(line) {
            Ok(Message::Evaluated { evaluation, outcome }) => {
                let at = worker.task.filter(|&(task, _)| round.tasks[task].evaluation == evaluation);
                if let Some((task, _)) = at {
                    worker.task = None;
                    return round.tried(task, outcome);
                }
            }
            Ok(Message::Ended(exit)) => worker.ended = Some(exit),
            Ok(Message::Failed { reason }) => return Err(TrialError::Workers(reason)),
            Ok(_) => {}
            Err(_) => {
                let _ = writeln!(std::io::stderr(), "{line}");
            }
        }
        Ok(())
    }

    /// Ends a process with all that it has started; without its lifeline its guard does that.
    fn clear(&mut self, at: usize) -> End {
        let mut worker = self.workers.swap_remove(at);
        drop(worker.lifeline.take());
        wait_for(&mut worker.guard, CLEARANCE);
        let _ = worker.guard.kill();
        let exit = worker.guard.wait().map_or(Exit { code: None, signal: None }, Exit::from);
        // Its last lines may still be on their way; the guard's is the very last.
        let mut answer = None;
        while worker.ended.is_none()
            && let Ok((number, line)) = self.lines.recv_timeout(LINGER / 20)
        {
            match serde_json::from_str(&line) {
                _ if number != worker.number => self.heard.push_back((number, line)),
                Ok(Message::Ended(exit)) => worker.ended = Some(exit),
                Ok(Message::Evaluated { outcome, .. }) => answer = Some(outcome),
                _ => {}
            }
        }
        let exit = worker.ended.unwrap_or(exit);
        let words = worker.last_words.lock().unwrap_or_else(PoisonError::into_inner);
        let words: Vec<String> = words.iter().cloned().collect();
        End { exit, reason: exit.reason("evaluation", &words, worker.starved < starved_processes()), answer }
    }

    /// A process has died, or is to die because its evaluation takes too long: what becomes of the evaluation.
    fn bury(&mut self, at: usize, late: Option<String>, round: &mut Round<'_>) -> Result<(), TrialError> {
        let task = self.workers[at].task.map(|(task, _)| task);
        let End { exit, reason, answer } = self.clear(at);
        let Some(task) = task else { return Ok(()) };
        if let Some(outcome) = answer {
            return round.tried(task, outcome);
        }
        let (timed_out, from_outside) = (late.is_some(), late.is_none() && exit.is_from_outside());
        let reason = late.unwrap_or(reason);
        let during = Some(Step::Evaluate { evaluation: round.tasks[task].evaluation });
        let died = Incident::Died { during, timed_out, from_outside, reason: reason.clone() };
        incident::add(&self.folder, &died).map_err(|error| {
            let folder = self.folder.display();
            TrialError::Workers(format!("{reason}\nand that cannot be written to {folder}: {error}"))
        })?;
        if !from_outside {
            let outcome = if timed_out { Outcome::TimedOut(reason) } else { Outcome::Failed(reason) };
            return round.tried(task, outcome);
        }
        round.kills[task] += 1;
        let times = round.kills[task];
        if times > KILLS {
            return Err(TrialError::Workers(format!("{reason}, {times} times at the same place")));
        }
        tracing::warn!("{reason} in evaluation {}; starting it again", round.tasks[task].evaluation);
        round.waiting.push_front(task);
        Ok(())
    }

    /// Time has passed.
    fn pass_time(&mut self, passed: Duration) {
        for worker in &mut self.workers {
            if let Some((_, taken)) = &mut worker.task {
                *taken += passed;
                worker.silent += passed;
            }
        }
    }

    /// A process that has ended, or is to be ended, and why.
    fn overdue(&mut self) -> Option<(usize, Option<String>)> {
        let timeout = self.timeout;
        let late = |worker: &mut Worker| {
            let (_, taken) = worker.task?;
            if has_ended(&mut worker.guard) {
                return Some(None);
            }
            if let Some(limit) = timeout.filter(|limit| taken > *limit) {
                return Some(Some(format!("no value within {limit:?}")));
            }
            let reason = || format!("the evaluation's process stopped answering for {PATIENCE:?}");
            (worker.silent > PATIENCE).then(|| Some(reason()))
        };
        self.workers.iter_mut().enumerate().find_map(|(at, worker)| Some((at, late(worker)?)))
    }

    /// The next line of any process.
    fn next_line(&mut self, patience: Duration) -> Option<(u64, String)> {
        self.heard.pop_front().or_else(|| self.lines.recv_timeout(patience).ok())
    }

    fn run(&mut self, round: &mut Round<'_>) -> Result<(), TrialError> {
        let mut last = Instant::now();
        while round.left > 0 {
            self.hand_out(round)?;
            if self.workers.iter().all(|worker| worker.task.is_none()) {
                return Err(TrialError::Stopped);
            }
            let mut line = self.next_line(TICK);
            while let Some((number, words)) = line {
                self.hear(number, &words, round)?;
                line = self.next_line(Duration::ZERO);
            }
            // When this process was stopped for a while, as by Ctrl-Z, the others may have been as well.
            self.pass_time(last.elapsed().min(TICK * 20));
            last = Instant::now();
            if let Some((at, late)) = self.overdue() {
                self.bury(at, late, round)?;
            }
        }
        Ok(())
    }
}

impl Workers for Pool {
    fn evaluate(
        &mut self,
        tasks: Vec<Task>,
        retries: usize,
        awaits: &mut dyn Awaits,
    ) -> Result<(), TrialError> {
        let count = tasks.len();
        let (begun, kills) = (vec![None; count], vec![0; count]);
        let mut round = Round { tasks, retries, waiting: VecDeque::new(), left: count, begun, kills, awaits };
        for task in 0..count {
            match round.tasks[task].given_up(retries) {
                Some(outcome) => round.end(task, outcome)?,
                None => round.waiting.push_back(task),
            }
        }
        let ended = self.run(&mut round);
        if ended.is_err() {
            // What they are at, nobody waits for any more.
            self.workers.clear();
        }
        ended
    }
}
