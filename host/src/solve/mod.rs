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
use serde::{Deserialize, Serialize};

pub use self::answers::Row;
pub use self::formats::{is_stdin, parse};

use self::formats::read;
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

/// What a worker says: one line of JSON each.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Told {
    /// Where it is, in words.
    At(String),
    /// A problem of this many bits is being given to a solver.
    Begins { bits: usize },
    /// What came of it.
    Row(Row),
}

/// Solves every problem with every solver, but for the first `from` pairs, and tells what they found.
///
/// Every mistake in the request is found before anything is solved. A solver may take this process with it.
pub fn work(
    request: &Request<'_>,
    folders: &Folders,
    from: usize,
    tell: &mut dyn FnMut(Told),
) -> Result<(), Vec<Diagnostic>> {
    let mut mistakes = Vec::new();
    let mut plugins = Plugins::new(folders.clone(), Path::new(""));
    let mut solvers = Vec::new();
    for name in request.solvers {
        tell(Told::At(format!("where the solver `{name}` is made")));
        solvers.extend(choose(name, &mut plugins, &mut mistakes));
    }
    tell(Told::At("where problems are read".to_owned()));
    // What another worker has been given was checked by it.
    let skipped = from / request.solvers.len().max(1);
    let files: Vec<Source<'_>> = request
        .problems
        .iter()
        .skip(skipped)
        .filter_map(|path| check(path, request, &mut mistakes))
        .collect();
    if !mistakes.is_empty() {
        return Err(mistakes);
    }

    let mut done = from - skipped * solvers.len();
    for file in files {
        let objective = file.objective.map_or_else(|| read(file.path), Ok);
        let mut problem = Problem::new(objective.map_err(|diagnostic| vec![diagnostic])?);
        if let Some(steps) = request.work_limit {
            problem = problem.with_work_limit(steps);
        }
        if let Some(limit) = request.time_limit {
            problem = problem.with_time_limit(limit);
        }
        for solver in solvers.iter().skip(std::mem::take(&mut done)) {
            tell(Told::Begins { bits: problem.dimension() });
            tell(Told::Row(Row::new(file.path, solver, &problem, request.seed)));
        }
    }
    Ok(())
}

/// Takes rows as they come, and shows them: as JSON at once, or as a table in the end.
pub struct Shown<'a> {
    pub request: &'a Request<'a>,
    pub rows: Vec<Row>,
}

impl Shown<'_> {
    /// One row more.
    pub fn take(&mut self, row: Row, out: &mut dyn Write) -> io::Result<()> {
        if self.request.json {
            writeln!(out, "{}", plain(&show::json(&row)))?;
            out.flush()?;
        }
        self.rows.push(row);
        Ok(())
    }

    /// The row of the next pair, whose solver took its process with it.
    pub fn died(&mut self, reason: String, bits: usize, seconds: f64, out: &mut dyn Write) -> io::Result<()> {
        let solvers = self.request.solvers.len();
        let (file, solver) = (self.rows.len() / solvers, self.rows.len() % solvers);
        let (file, solver) = (&self.request.problems[file], &self.request.solvers[solver]);
        let (file, solver) = (file.display().to_string(), solver.clone());
        self.take(Row { file, solver, bits, seconds, outcome: Err(reason) }, out)
    }

    /// How many pairs are left.
    pub fn left(&self) -> usize {
        self.request.problems.len() * self.request.solvers.len() - self.rows.len()
    }

    /// Shows all of them; answers whether every solver found something, and none gave a false answer.
    pub fn end(self, out: &mut dyn Write) -> io::Result<bool> {
        let rows = &self.rows;
        let solved = rows.iter().all(|row| row.outcome.as_ref().is_ok_and(|solved| solved.flaws.is_empty()));
        if !self.request.json {
            let answers = show::answers(rows);
            let text = [show::table(rows), answers].into_iter().filter(|part| !part.is_empty());
            writeln!(out, "{}", plain(&text.collect::<Vec<_>>().join("\n\n")))?;
            show::failures(rows).iter().for_each(|failure| say(format!("\n{failure}")));
        }
        Ok(solved)
    }
}

/// Whether that was all right: a reader that has seen enough (`host … | head`) is no error.
pub fn stopped_writing(error: &io::Error) -> bool {
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
