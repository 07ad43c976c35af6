//! Trials as child processes, as many at a time as there are cores.
//!
//! A child says on its standard output how far it is, and stops after the evaluation under way when its
//! standard input ends: when it is asked to, and also when this process is gone.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::progress::Progress;
use super::{Settings, TrialFailure, run_trial};
use crate::diagnostic::Diagnostic;
use crate::trial::event::Event;

/// How far a trial is: one line of a child's standard output.
#[derive(Serialize, Deserialize)]
struct Advance {
    evaluation: usize,
    best: Option<f64>,
}

/// A child's exit code when it stopped on request.
const STOPPED: u8 = 3;

enum Message {
    Begins(String, usize),
    Advanced(String, Advance),
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
pub fn child(
    folder: &Path,
    id: &str,
    plugin_directories: &[PathBuf],
    attached: bool,
) -> std::process::ExitCode {
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
    let ended = run_trial(folder, id, plugin_directories, &stop, &mut |event| {
        if let Event::Evaluated(evaluated) = event {
            let advance = Advance { evaluation: evaluated.evaluation, best: evaluated.best };
            println!("{}", serde_json::to_string(&advance).expect("plain data"));
        }
    });
    match ended {
        Ok(()) => 0.into(),
        Err(TrialFailure::Stopped) => STOPPED.into(),
        Err(TrialFailure::Failed(reason)) => {
            eprintln!("{reason}");
            1.into()
        }
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
                Ok(Message::Advanced(id, advance)) => {
                    progress.evaluated(&id, advance.evaluation, advance.best)
                }
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
    for directory in &settings.plugin_directories {
        command.arg("--plugin-dir").arg(directory);
    }
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child =
        child.map_err(|error| TrialFailure::Failed(format!("cannot start a process: {error}")))?;
    if let Some(stdin) = child.stdin.take() {
        locked(lifelines).insert(id.to_owned(), stdin);
    }
    let said = listen(&mut child, id, sender);
    let status = child.wait();
    locked(lifelines).remove(id);
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) if status.code() == Some(STOPPED.into()) => Err(TrialFailure::Stopped),
        Ok(status) => Err(TrialFailure::Failed(reason(status, &said))),
        Err(error) => Err(TrialFailure::Failed(format!("lost the trial's process: {error}"))),
    }
}

/// Passes on how far a child is until its output ends; answers the last of what it said on its error output.
fn listen(child: &mut Child, id: &str, sender: &mpsc::Sender<Message>) -> Vec<String> {
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
        for line in stdout.into_iter().flat_map(|stdout| BufReader::new(stdout).lines()).map_while(Result::ok)
        {
            match serde_json::from_str(&line) {
                Ok(advance) => drop(sender.send(Message::Advanced(id.to_owned(), advance))),
                // A plugin may print what it likes.
                Err(_) => drop(sender.send(Message::Said(id.to_owned(), line))),
            }
        }
        words.join().unwrap_or_default()
    })
}

fn reason(status: ExitStatus, said: &[String]) -> String {
    match (status.code(), said) {
        (Some(1), [_, ..]) => said.join("\n"),
        (_, []) => format!("the trial's process ended with {status}"),
        (_, said) => format!("the trial's process ended with {status}; it said:\n{}", said.join("\n")),
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
