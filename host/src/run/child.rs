//! A trial's own process.
//!
//! It speaks in lines of JSON on its standard output and hears one word, `stop`, on its standard input. When the
//! input ends, the program that started it is gone, and it ends at once with all that it has started. A plugin sees
//! neither: its input is empty, and its output goes to the error output.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::TrialFailure;
use super::in_process::{failure, run_trial};
use super::processes::{end_all, wake_without_parent};
use super::protocol::{Message, STOP, STOPPED, Speaker};
use super::thread;
use super::workers::Pool;
use crate::plan::TrialId;
use crate::plugins::PluginArguments;
use crate::trial::{OpenTrial, Workers};

/// How often a child says that it is there.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// Runs one trial, attached to the process that started this one.
pub fn child(
    folder: &Path,
    id: &TrialId,
    plugins: &PluginArguments,
    trust: bool,
    scratch: Option<&Path>,
) -> ExitCode {
    wake_without_parent();
    let words = Arc::new(Words::take_over());
    let stop = Arc::new(AtomicBool::new(false));
    if let Err(error) = listen(stop.clone()).and_then(|()| beat(words.clone())) {
        words.say(&Message::Failed { reason: format!("the system has no thread left: {error}") });
        return 1.into();
    }
    let ended = OpenTrial::open(folder, id, plugins, trust).map_err(failure).and_then(|trial| {
        let mut trial = trial.with_scratch(scratch);
        limit_memory(trial.keys().evaluation.memory).map_err(TrialFailure::Failed)?;
        let (batch, timeout) = (trial.keys().budget.batch, trial.keys().evaluation.limit());
        let pool = || Box::new(Pool::new(trial.folder().to_owned(), timeout)) as Box<dyn Workers>;
        let workers = (batch > 1).then(pool);
        run_trial(&mut trial, &stop, &mut Speaker(|message: Message| words.say(&message)), workers)
    });
    match ended {
        Ok(()) => 0.into(),
        Err(TrialFailure::Stopped) => STOPPED.into(),
        Err(TrialFailure::Failed(reason)) => {
            words.say(&Message::Failed { reason });
            1.into()
        }
    }
}

/// Where a child's lines go. A plugin may print what it likes: it goes to the error output.
pub(super) struct Words(Mutex<Box<dyn Write + Send>>);

/// This process's output, for its own lines alone: what a plugin prints goes to the error output from now on.
pub fn take_output() -> Box<dyn Write + Send> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        let own = std::io::stdout().as_fd().try_clone_to_owned();
        let moved = own.and_then(|own| {
            rustix::stdio::dup2_stdout(std::io::stderr())?;
            Ok(own)
        });
        if let Ok(own) = moved {
            return Box::new(std::fs::File::from(own));
        }
    }
    Box::new(std::io::stdout())
}

impl Words {
    pub(super) fn take_over() -> Self {
        Self(Mutex::new(take_output()))
    }

    pub(super) fn say(&self, message: &Message) {
        let mut text = serde_json::to_string(message).expect("a message is plain data");
        text.push('\n');
        let mut out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The listener may be gone; then the input ends too, and this process with it.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

/// Raises the flag at the word `stop`; ends the process where the input ends.
fn listen(stop: Arc<AtomicBool>) -> std::io::Result<()> {
    let input = BufReader::new(take_input()?);
    thread(move || {
        for line in input.lines().map_while(Result::ok) {
            if line == STOP.trim_end() {
                stop.store(true, Ordering::Relaxed);
            }
        }
        end_all();
    })?;
    Ok(())
}

/// This process's input, where no plugin and nothing that one starts can read from it or keep it open.
pub(super) fn take_input() -> std::io::Result<Box<dyn Read + Send>> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        let own = std::io::stdin().as_fd().try_clone_to_owned()?;
        rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null")?)?;
        Ok(Box::new(std::fs::File::from(own)))
    }
    #[cfg(not(unix))]
    {
        Ok(Box::new(std::io::stdin()))
    }
}

/// Says now and then that this process is there.
pub(super) fn beat(words: Arc<Words>) -> std::io::Result<()> {
    thread(move || {
        loop {
            words.say(&Message::Alive);
            std::thread::sleep(HEARTBEAT);
        }
    })?;
    Ok(())
}

/// No more memory than this from now on: an allocation beyond it ends the process.
pub(super) fn limit_memory(limit: Option<u64>) -> Result<(), String> {
    let Some(bytes) = limit else { return Ok(()) };
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
        setrlimit(Resource::Data, limit)
            .map_err(|error| format!("cannot limit memory to {bytes} bytes: {error}"))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = bytes;
        Err("`evaluation.memory` needs Linux; leave it out here".to_owned())
    }
}
