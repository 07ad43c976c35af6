//! Problems from files, through any solvers.

mod answers;
mod formats;
mod show;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use plugin_api::load::Plugin;
use plugin_api::{Kind, Problem, Quadratic};

pub use self::formats::parse;

use self::answers::Row;
use self::formats::{is_stdin, read};
use crate::diagnostic::{Diagnostic, Place};
use crate::manifest::overrides::parse_plugin;
use crate::manifest::{PluginUse, read_plugin};
use crate::plan::PlanError;
use crate::plugins::Plugins;
use crate::plugins::locate::Folders;
use crate::text::{plain, say};

/// What to solve, and how.
pub struct Request<'a> {
    /// Files with a problem each, or `-` for JSON from the standard input.
    pub problems: &'a [PathBuf],
    /// As on the command line: `sdp` or `psr[steps=10]`.
    pub solvers: &'a [String],
    pub seed: u64,
    /// Whether to write JSON lines instead of a table.
    pub json: bool,
    pub time_limit: Option<Duration>,
    pub work_limit: Option<u64>,
}

/// Solves every problem with every solver and writes what they found; answers whether all of them did,
/// and none gave a false answer.
///
/// Every mistake in the request is found before anything is solved.
pub fn solve(request: &Request<'_>, folders: &Folders, out: &mut dyn Write) -> Result<bool, Vec<Diagnostic>> {
    let mut mistakes = Vec::new();
    let mut plugins = Plugins::new(folders.clone(), Path::new(""));
    let solvers: Vec<Chosen> =
        request.solvers.iter().filter_map(|name| choose(name, &mut plugins, &mut mistakes)).collect();
    let files: Vec<Source<'_>> =
        request.problems.iter().filter_map(|path| check(path, request, &mut mistakes)).collect();
    if !mistakes.is_empty() {
        return Err(mistakes);
    }

    let mut rows = Vec::new();
    for file in files {
        let objective = file.objective.map_or_else(|| read(file.path), Ok);
        let mut problem = Problem::new(objective.map_err(|diagnostic| vec![diagnostic])?);
        if let Some(steps) = request.work_limit {
            problem = problem.with_work_limit(steps);
        }
        if let Some(limit) = request.time_limit {
            problem = problem.with_time_limit(limit);
        }
        for solver in &solvers {
            let row = Row::new(file.path, solver, &problem, request.seed);
            if request.json
                && let Err(error) =
                    writeln!(out, "{}", plain(&show::json(&row).to_string())).and_then(|()| out.flush())
            {
                return Ok(stopped_writing(&error));
            }
            rows.push(row);
        }
    }
    let solved = rows.iter().all(|row| row.outcome.as_ref().is_ok_and(|solved| solved.flaws.is_empty()));
    if !request.json {
        let answers = show::answers(&rows);
        let text = [show::table(&rows), answers].into_iter().filter(|part| !part.is_empty());
        if let Err(error) = writeln!(out, "{}", plain(&text.collect::<Vec<_>>().join("\n\n"))) {
            return Ok(stopped_writing(&error));
        }
        show::failures(&rows).iter().for_each(|failure| say(format!("\n{failure}")));
    }
    Ok(solved)
}

/// Whether that was all right: a reader that has seen enough (`host … | head`) is no error.
fn stopped_writing(error: &io::Error) -> bool {
    let enough = error.kind() == io::ErrorKind::BrokenPipe;
    if !enough {
        say(Diagnostic::new("the results cannot be written").because(error));
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

    let (_, value) = parse_plugin("solver", argument).map_err(&mut refuse).ok()?;
    let mut wrong = Vec::new();
    let used = read_plugin(&value, Kind::Solver, &mut wrong);
    wrong.into_iter().for_each(|mistake| refuse(mistake.what));
    let used = used?;
    let plugin = plugins.get(Kind::Solver, &used.name).map_err(|error| refuse(error.into())).ok()?;
    if let Err(source) = plugin.solver(&used.options) {
        refuse(PlanError::Options { kind: Kind::Solver, name: used.name, source }.into());
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

fn check<'a>(path: &'a Path, request: &Request<'_>, mistakes: &mut Vec<Diagnostic>) -> Option<Source<'a>> {
    let keep = request.problems.len() == 1 || is_stdin(path);
    match read(path) {
        Ok(objective) => Some(Source { path, objective: keep.then_some(objective) }),
        Err(diagnostic) => {
            mistakes.push(diagnostic);
            None
        }
    }
}
