//! `host solve`: a table or JSON lines, a row for each problem and solver.
//!
//! Solvers run in a process of their own, the worker: one that takes its process with it has a row that says so, and the
//! next worker goes on with the pairs that are left.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Instant;

use super::refuse;
use crate::cli::SolveArguments;
use crate::diagnostic::Diagnostic;
use crate::plugins::locate::Folders;
use crate::run::{Exit, end_with_parent, own_executable, take_output};
use crate::solve::{Request, Shown, Told, is_stdin, stopped_writing, work};
use crate::text::say;

pub(super) fn solve(arguments: &SolveArguments) -> ExitCode {
    let request = Request {
        problems: &arguments.problems,
        solvers: &arguments.solver,
        seed: arguments.seed,
        json: arguments.json,
        time_limit: arguments.time_limit.map(|limit| limit.0),
        work_limit: arguments.work_limit,
    };
    match arguments.attached {
        Some(from) => worker(&request, &Folders::of(&arguments.plugins, &[]), from),
        None => watch(&request).unwrap_or_else(|ended| ended),
    }
}

/// Solves what is left after the first `from` pairs, in this process.
fn worker(request: &Request<'_>, folders: &Folders, from: usize) -> ExitCode {
    end_with_parent();
    let mut out = take_output();
    let mut tell = |told: Told| {
        let line = serde_json::to_string(&told).expect("what is told is plain data");
        // Nobody is left to tell it to.
        if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
            std::process::exit(1);
        }
    };
    match work(request, folders, from, &mut tell) {
        Ok(()) => ExitCode::SUCCESS,
        Err(diagnostics) => refuse(&diagnostics),
    }
}

/// Starts workers until every pair has its row, and shows the rows.
fn watch(request: &Request<'_>) -> Result<ExitCode, ExitCode> {
    let unwritten = |error: io::Error| match stopped_writing(&error) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    };
    let lost = |error: io::Error| refuse(&[Diagnostic::new("no process for the solvers").because(error)]);
    // A worker after the first one needs it again.
    let mut input = None;
    if request.problems.iter().any(|path| is_stdin(path)) {
        let bytes = input.insert(Vec::new());
        io::stdin().read_to_end(bytes).map_err(lost)?;
    }
    let (mut out, mut shown) = (io::stdout(), Shown { request, rows: Vec::new() });
    loop {
        let mut worker = start(shown.rows.len(), input.as_deref()).map_err(lost)?;
        let mut place = "where it is started".to_owned();
        let mut begun = None;
        let lines = BufReader::new(worker.stdout.take().expect("a pipe")).lines();
        for told in lines.map_while(Result::ok).filter_map(|line| serde_json::from_str(&line).ok()) {
            match told {
                Told::At(words) => place = words,
                Told::Begins { bits } => begun = Some((bits, Instant::now())),
                Told::Row(row) => {
                    begun = None;
                    if let Err(error) = shown.take(row, &mut out) {
                        let _ = worker.kill();
                        return Err(unwritten(error));
                    }
                }
            }
        }
        let exit = Exit::from(worker.wait().map_err(lost)?);
        let reason = |place: &str| format!("the solver's process {} {place}", exit.words());
        match begun {
            Some((bits, begun)) => {
                let seconds = begun.elapsed().as_secs_f64();
                shown.died(reason("while it minimized"), bits, seconds, &mut out).map_err(unwritten)?;
                if shown.left() == 0 {
                    break;
                }
            }
            // It has said what is wrong with the request.
            None if exit.code == Some(super::WRONG.into()) => return Err(super::WRONG.into()),
            None if shown.left() == 0 => break,
            None => {
                say(Diagnostic::new("solvers cannot be run").because(reason(&place)));
                return Err(ExitCode::FAILURE);
            }
        }
    }
    let solved = shown.end(&mut out).map_err(unwritten)?;
    Ok(if solved { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Starts a worker with this process's own arguments.
fn start(from: usize, input: Option<&[u8]>) -> io::Result<Child> {
    let mut arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let place = arguments.iter().position(|argument| argument == OsStr::new("solve")).unwrap_or_default();
    arguments.insert(place + 1, format!("--attached={from}").into());
    let mut command = Command::new(own_executable()?);
    command.args(arguments).stdout(Stdio::piped());
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    let mut worker = command.spawn()?;
    if let (Some(mut pipe), Some(bytes)) = (worker.stdin.take(), input) {
        let bytes = bytes.to_vec();
        // A worker that refuses its arguments does not read its input.
        std::thread::Builder::new().spawn(move || drop(pipe.write_all(&bytes)))?;
    }
    Ok(worker)
}
