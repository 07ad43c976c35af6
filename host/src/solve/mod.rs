//! Problems from files, through any solvers.

mod bqm;
mod coo;
mod error;
mod json;
mod lines;
mod qubo;
mod read;
mod row;
mod show;
mod sparse;
mod spins;
mod terms;

#[cfg(test)]
mod properties;

use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;

use plugin_api::load::Plugin;
use plugin_api::{Kind, Problem, Quadratic};

pub use self::read::parse;
use self::read::{Input, is_stdin, read};
use self::row::Row;
use crate::cli::SolveArguments;
use crate::diagnostic::{Diagnostic, Place};
use crate::manifest::{PluginUse, read_plugin};
use crate::plan::error::PlanError;
use crate::plan::overrides::parse_solver;
use crate::plugins::Plugins;
use crate::plugins::locate::Folders;

/// Solves every problem with every solver and writes what they found; answers whether all of them did.
///
/// Every mistake in the request is found before anything is solved.
pub(crate) fn solve(
    arguments: &SolveArguments,
    folders: &Folders,
    out: &mut dyn Write,
) -> Result<bool, Vec<Diagnostic>> {
    let mut mistakes = Vec::new();
    let mut plugins = Plugins::new(folders.clone(), Path::new(""));
    let solvers: Vec<Chosen> =
        arguments.solver.iter().filter_map(|name| choose(name, &mut plugins, &mut mistakes)).collect();
    let files: Vec<Source<'_>> =
        arguments.problems.iter().filter_map(|path| check(path, arguments, &mut mistakes)).collect();
    if !mistakes.is_empty() {
        return Err(mistakes);
    }

    let mut rows = Vec::new();
    for file in files {
        let objective = file.objective.map_or_else(|| read(file.path), Ok);
        let mut problem = Problem::new(objective.map_err(|diagnostic| vec![diagnostic])?);
        if let Some(steps) = arguments.work_limit {
            problem = problem.with_work_limit(steps);
        }
        if let Some(limit) = arguments.time_limit {
            problem = problem.with_time_limit(limit.0);
        }
        for solver in &solvers {
            let row = Row::new(file.path, solver, &problem, arguments.seed);
            if arguments.json
                && let Err(error) = writeln!(out, "{}", show::json(&row)).and_then(|()| out.flush())
            {
                return Ok(stopped_writing(&error));
            }
            rows.push(row);
        }
    }
    let solved = rows.iter().all(|row| row.outcome.is_ok());
    if !arguments.json {
        if let Err(error) = writeln!(out, "{}", show::table(&rows)) {
            return Ok(stopped_writing(&error));
        }
        show::failures(&rows).iter().for_each(|failure| eprintln!("\n{failure}"));
    }
    Ok(solved)
}

/// Whether that was all right: a reader that has seen enough (`host … | head`) is no error.
fn stopped_writing(error: &io::Error) -> bool {
    let enough = error.kind() == io::ErrorKind::BrokenPipe;
    if !enough {
        eprintln!("{}", Diagnostic::new("the results cannot be written").because(error));
    }
    enough
}

/// A solver as it was asked for.
struct Chosen {
    /// The argument.
    name: String,
    plugin: Rc<Plugin>,
    used: PluginUse,
}

/// The solver of an argument, with options that it takes.
fn choose(argument: &str, plugins: &mut Plugins, mistakes: &mut Vec<Diagnostic>) -> Option<Chosen> {
    let place = Some(Place::Argument(format!("--solver {argument}")));
    let mut refuse = |diagnostic| mistakes.push(Diagnostic { place: place.clone(), ..diagnostic });
    let refused = |error: &PlanError| Diagnostic {
        place: None,
        message: error.to_string(),
        cause: error.cause(),
        hint: error.hint(),
    };

    let (_, value) = parse_solver(argument).map_err(&mut refuse).ok()?;
    let mut wrong = Vec::new();
    let used = read_plugin(&value, Kind::Solver, &mut wrong);
    wrong.iter().for_each(|mistake| refuse(refused(&mistake.error)));
    let used = used?;
    let plugin = plugins.get(Kind::Solver, &used.name).map_err(|error| refuse(refused(&error))).ok()?;
    if let Err(source) = plugin.solver(&used.options) {
        refuse(refused(&PlanError::Options { kind: Kind::Solver, name: used.name, source }));
        return None;
    }
    Some(Chosen { name: argument.to_owned(), plugin, used })
}

/// A file that holds a problem.
struct Source<'a> {
    path: &'a Path,
    /// Kept where it is the only one, or cannot be read again. Many large ones would not fit in memory.
    objective: Option<Quadratic>,
}

fn check<'a>(
    path: &'a Path,
    arguments: &SolveArguments,
    mistakes: &mut Vec<Diagnostic>,
) -> Option<Source<'a>> {
    let keep = arguments.problems.len() == 1 || is_stdin(path);
    match read(path) {
        Ok(objective) => Some(Source { path, objective: keep.then_some(objective) }),
        Err(diagnostic) => {
            mistakes.push(diagnostic);
            None
        }
    }
}

/// A file with this text, for tests.
#[cfg(test)]
fn input(text: impl Into<Vec<u8>>) -> Input {
    Input::new(Box::new(io::Cursor::new(text.into())))
}
