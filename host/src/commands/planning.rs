//! Plans are made in a process of their own first: a plugin that takes its process with it is named, with step and signal.
//!
//! `host plan` is such a process, and what it prints is copied. `host run` needs its plan itself, and makes it once more
//! after such a process has lived.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{ChildStderr, Command, ExitCode, Stdio};

use super::refuse;
use crate::diagnostic::Diagnostic;
use crate::manifest::Source;
use crate::run::{Exit, end_with_parent, own_executable, take_output};
use crate::text::say;

/// What the process says when it has a plan, or all mistakes: what follows is what it prints.
const ENDED: &str = "ended";

/// Before the words of where it is.
const AT: &str = "at ";

/// Its last lines are shown where it died.
const LAST_LINES: usize = 10;

/// In the process that plans: makes the plan with `make`, which tells which plugin is asked for what, and prints what comes
/// of it.
pub(super) fn child(make: impl FnOnce(&dyn Fn(&str)) -> Result<String, Vec<Diagnostic>>) -> ExitCode {
    end_with_parent();
    let out = std::cell::RefCell::new(take_output());
    let tell = |line: &str| {
        let mut out = out.borrow_mut();
        // Nobody is left to tell it to.
        if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
            std::process::exit(1);
        }
    };
    let made = make(&|place: &str| tell(&format!("{AT}{}", place.replace('\n', " "))));
    tell(ENDED);
    match made {
        // A reader that has seen enough (`host … | head`) is no error.
        Ok(text) => match out.borrow_mut().write_all(text.as_bytes()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => ExitCode::FAILURE,
            _ => ExitCode::SUCCESS,
        },
        Err(mistakes) => refuse(&mistakes),
    }
}

/// Does what this process was asked to in one that plans, and shows what it prints.
pub(super) fn watch(command: &str) -> ExitCode {
    let watched = start(command, None, Stdio::inherit()).and_then(|child| follow(child, &mut io::stdout()));
    match watched {
        Ok(Followed::Ended(exit)) => exit.code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1).into(),
        Ok(Followed::Died(died)) => fail(died),
        Err(error) => fail(Diagnostic::new("no process to make the plan in").because(error)),
    }
}

/// Whether a process that makes the plan lives; it has said why, where it does not.
pub(super) fn rehearse(command: &str, source: &Source) -> Result<(), ExitCode> {
    // Mistakes and logs are those of this process, which makes the plan next.
    let rehearsed = start(command, source.is_stdin().then_some(&source.text), Stdio::piped());
    match rehearsed.and_then(|child| follow(child, &mut io::sink())) {
        Ok(Followed::Ended(_)) => Ok(()),
        Ok(Followed::Died(died)) => Err(fail(died)),
        Err(error) => Err(fail(Diagnostic::new("no process to make the plan in").because(error))),
    }
}

fn fail(diagnostic: Diagnostic) -> ExitCode {
    say(diagnostic);
    ExitCode::FAILURE
}

/// This program once more, with its own arguments and one that says what it is.
fn start(command: &str, input: Option<&String>, errors: Stdio) -> io::Result<std::process::Child> {
    let mut arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let place = arguments.iter().position(|argument| argument == OsStr::new(command)).unwrap_or_default();
    arguments.insert(place + 1, "--attached".into());
    let mut program = Command::new(own_executable()?);
    program.args(arguments).stdout(Stdio::piped()).stderr(errors);
    if input.is_some() {
        program.stdin(Stdio::piped());
    }
    let mut child = program.spawn()?;
    if let (Some(mut pipe), Some(text)) = (child.stdin.take(), input.cloned()) {
        // One that refuses its arguments does not read its input.
        std::thread::Builder::new().spawn(move || drop(pipe.write_all(text.as_bytes())))?;
    }
    Ok(child)
}

/// How a process that plans came to its end.
enum Followed {
    /// It had a plan, or mistakes to tell.
    Ended(Exit),
    Died(Diagnostic),
}

/// Listens to a process that plans, and copies what it prints.
fn follow(mut child: std::process::Child, out: &mut dyn Write) -> io::Result<Followed> {
    let errors = child.stderr.take().map(|errors| std::thread::Builder::new().spawn(|| last_lines(errors)));
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut place = "where it was started".to_owned();
    let mut ended = false;
    let mut line = String::new();
    while !ended && lines.read_line(&mut line)? > 0 {
        match line.trim_end().strip_prefix(AT) {
            Some(words) => place = words.to_owned(),
            None => ended = line.trim_end() == ENDED,
        }
        line.clear();
    }
    // A reader that has seen enough is no error, and the child learns of it as this ends.
    let copied = io::copy(&mut lines, out).and_then(|_| out.flush());
    drop(lines);
    let exit = Exit::from(child.wait()?);
    let said = errors.and_then(Result::ok).and_then(|errors| errors.join().ok()).unwrap_or_default();
    Ok(match ended {
        true if copied.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::BrokenPipe) => {
            return Err(copied.expect_err("it was not written"));
        }
        true => Followed::Ended(exit),
        false => {
            said.iter().for_each(say);
            let cause = format!("the process {} {place}", exit.words());
            Followed::Died(Diagnostic::new("no plan could be made").because(cause))
        }
    })
}

/// The last lines of what a process said; all of it is read, so that it does not wait.
fn last_lines(errors: ChildStderr) -> Vec<String> {
    let mut last = std::collections::VecDeque::new();
    // A line may be as long as somebody likes.
    let mut errors = BufReader::new(errors);
    let mut line = Vec::new();
    while (&mut errors).take(10_000).read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        last.push_back(String::from_utf8_lossy(&line).trim_end().to_owned());
        if last.len() > LAST_LINES {
            last.pop_front();
        }
        line.clear();
    }
    last.into()
}
