//! Trials as child processes, as many at a time as there are cores.
//!
//! A child says on its standard output how far it is, and stops after the evaluation under way when its
//! standard input ends: when it is asked to, and also when this process is gone.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::progress::Progress;
use super::{Settings, TrialFailure, run_trial};
use crate::cli::PluginArguments;
use crate::diagnostic::Diagnostic;
use crate::trial::event::Event;

/// One line of a child's standard output.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Line {
    /// How far the trial is.
    Advanced { evaluation: usize, best: Option<f64> },
    /// Why it failed.
    Failed { reason: String },
}

/// A child's exit code when it stopped on request.
const STOPPED: u8 = 3;

enum Message {
    Begins(String, usize),
    Advanced(String, usize, Option<f64>),
    Said(String, String),
    Ended(String, Result<(), TrialFailure>),
}

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

/// What a child does: one trial, attached to its parent.
pub fn child(folder: &Path, id: &str, plugins: &PluginArguments, attached: bool) -> std::process::ExitCode {
    let stop = if attached {
        // Ctrl-C reaches the whole group of processes; the parent decides what it means.
        if let Err(error) = ctrlc::set_handler(|| {}) {
            tracing::debug!("Ctrl-C is not ignored: {error}");
        }
        let stop = Arc::new(AtomicBool::new(false));
        let raised = stop.clone();
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
            raised.store(true, Ordering::Relaxed);
        });
        stop
    } else {
        stop_on_request()
    };
    let ended = run_trial(folder, id, plugins, &stop, &mut |event| {
        if let Event::Evaluated(evaluated) = event {
            say(&Line::Advanced { evaluation: evaluated.evaluation, best: evaluated.best }, attached);
        }
    });
    match ended {
        Ok(()) => 0.into(),
        Err(TrialFailure::Stopped) => STOPPED.into(),
        Err(TrialFailure::Failed(reason)) => {
            say(&Line::Failed { reason }, attached);
            1.into()
        }
    }
}

/// Tells the parent; or, where there is none, the person who started the trial by hand.
fn say(line: &Line, attached: bool) {
    match line {
        line if attached => println!("{}", serde_json::to_string(line).expect("a line is plain data")),
        Line::Failed { reason } => eprintln!("error: {reason}"),
        Line::Advanced { evaluation, best: Some(best) } => println!("evaluation {evaluation}: best {best}"),
        Line::Advanced { evaluation, best: None } => println!("evaluation {evaluation}: failed"),
    }
}

/// Runs the trials; answers which failed, and whether somebody asked to stop.
pub(super) fn run(
    folder: &Path,
    open: Vec<(String, usize)>,
    settings: &Settings,
    stop: &AtomicBool,
    progress: &mut Progress,
) -> Result<(Vec<(String, String)>, bool), Diagnostic> {
    let executable = std::env::current_exe()
        .map_err(|error| Diagnostic::new("this program cannot find itself").because(error))?;
    let waiting = Mutex::new(VecDeque::from(open));
    let lifelines: Mutex<BTreeMap<String, ChildStdin>> = Mutex::new(BTreeMap::new());
    let mut failed = Vec::new();
    std::thread::scope(|scope| {
        let (sender, messages) = mpsc::channel();
        for _ in 0..settings.jobs {
            let (sender, waiting, lifelines, executable) =
                (sender.clone(), &waiting, &lifelines, &executable);
            scope.spawn(move || {
                // In a `while let` the guard would live as long as the trial, and no two would run at once.
                let next = || locked(waiting).pop_front();
                while let Some((id, evaluations)) = next() {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    let _ = sender.send(Message::Begins(id.clone(), evaluations));
                    let ended = supervise(executable, folder, &id, settings, lifelines, &sender);
                    let _ = sender.send(Message::Ended(id, ended));
                }
            });
        }
        drop(sender);
        loop {
            if stop.load(Ordering::Relaxed) {
                // Children see their input end.
                locked(&lifelines).clear();
            }
            match messages.recv_timeout(Duration::from_millis(100)) {
                Ok(Message::Begins(id, evaluations)) => progress.trial_begins(&id, evaluations),
                Ok(Message::Advanced(id, evaluation, best)) => progress.evaluated(&id, evaluation, best),
                Ok(Message::Said(id, line)) => progress.print(&format!("{id}: {line}")),
                Ok(Message::Ended(id, ended)) => {
                    progress.trial_ends(&id);
                    if let Err(TrialFailure::Failed(reason)) = ended {
                        failed.push((id, reason));
                    }
                }
                Err(mpsc::RecvTimeoutError::Timeout) => progress.tick(),
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
        }
    });
    failed.sort();
    Ok((failed, stop.load(Ordering::Relaxed)))
}

/// Starts a trial, passes on what it says, and waits for its end.
fn supervise(
    executable: &Path,
    folder: &Path,
    id: &str,
    settings: &Settings,
    lifelines: &Mutex<BTreeMap<String, ChildStdin>>,
    sender: &mpsc::Sender<Message>,
) -> Result<(), TrialFailure> {
    let mut command = Command::new(executable);
    command.arg("trial").arg(folder).arg(id).arg("--attached");
    for directory in &settings.plugins.directories {
        command.arg("--plugin-dir").arg(directory);
    }
    if settings.plugins.allow_insecure {
        command.arg("--allow-insecure-plugins");
    }
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child =
        child.map_err(|error| TrialFailure::Failed(format!("cannot start a process: {error}")))?;
    if let Some(stdin) = child.stdin.take() {
        locked(lifelines).insert(id.to_owned(), stdin);
    }
    let (failed, said) = listen(&mut child, id, sender);
    let status = child.wait();
    locked(lifelines).remove(id);
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) if status.code() == Some(STOPPED.into()) => Err(TrialFailure::Stopped),
        Ok(status) => Err(TrialFailure::Failed(failed.unwrap_or_else(|| reason(status, &said)))),
        Err(error) => Err(TrialFailure::Failed(format!("lost the trial's process: {error}"))),
    }
}

/// Passes on how far a child is until its output ends; answers why it failed, where it told, and the last of what
/// it said on its error output.
fn listen(child: &mut Child, id: &str, sender: &mpsc::Sender<Message>) -> (Option<String>, Vec<String>) {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        let words = scope.spawn(move || {
            let mut said = VecDeque::new();
            for line in
                stderr.into_iter().flat_map(|stderr| BufReader::new(stderr).lines()).map_while(Result::ok)
            {
                let _ = sender.send(Message::Said(id.to_owned(), line.clone()));
                said.push_back(line);
                if said.len() > 20 {
                    said.pop_front();
                }
            }
            said.into()
        });
        let mut failed = None;
        for line in stdout.into_iter().flat_map(|stdout| BufReader::new(stdout).lines()).map_while(Result::ok)
        {
            match serde_json::from_str(&line) {
                Ok(Line::Advanced { evaluation, best }) => {
                    drop(sender.send(Message::Advanced(id.to_owned(), evaluation, best)));
                }
                Ok(Line::Failed { reason }) => failed = Some(reason),
                // A plugin may print what it likes.
                Err(_) => drop(sender.send(Message::Said(id.to_owned(), line))),
            }
        }
        (failed, words.join().unwrap_or_default())
    })
}

fn reason(status: ExitStatus, said: &[String]) -> String {
    match said {
        [] => format!("the trial's process ended with {status}"),
        said => format!("the trial's process ended with {status}; it said:\n{}", said.join("\n")),
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
