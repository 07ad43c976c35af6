//! A program of the scheduler: run without a shell, and not for ever.

use std::io::{self, Read};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::super::processes::{end_group, has_ended};
use super::super::thread;

/// A busy controller answers within this, or counts as one that does not answer.
const PATIENCE: Duration = Duration::from_secs(120);

/// How often is looked whether it has ended.
const TICK: Duration = Duration::from_millis(5);

/// Runs it to its end, until it takes too long or nobody wants to wait any longer.
pub(super) fn run(command: &mut Command, unwanted: &dyn Fn() -> bool) -> io::Result<Output> {
    #[cfg(unix)]
    // Ctrl-C is for the host: what is being submitted is submitted whole.
    std::os::unix::process::CommandExt::process_group(command, 0);
    // Its words are read, so they have to be the same in every country.
    command.env("LC_ALL", "C").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let (out, errors) = (reader(child.stdout.take())?, reader(child.stderr.take())?);
    let ended = wait(&mut child, unwanted);
    if ended.is_err() {
        end_group(&mut child);
    }
    let status = child.wait()?;
    ended?;
    let read = |pipe: std::thread::JoinHandle<Vec<u8>>| pipe.join().unwrap_or_default();
    Ok(Output { status, stdout: read(out), stderr: read(errors) })
}

fn wait(child: &mut Child, unwanted: &dyn Fn() -> bool) -> io::Result<()> {
    let begun = Instant::now();
    while !has_ended(child) {
        if begun.elapsed() > PATIENCE {
            return Err(io::Error::new(io::ErrorKind::TimedOut, format!("no answer within {PATIENCE:?}")));
        }
        if unwanted() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        std::thread::sleep(TICK);
    }
    Ok(())
}

fn reader(pipe: Option<impl Read + Send + 'static>) -> io::Result<std::thread::JoinHandle<Vec<u8>>> {
    thread(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}
