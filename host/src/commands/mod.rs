//! One file a command: from its arguments to what a person sees and the exit code.

mod ask;
mod cancel;
mod completions;
mod doctor;
mod export;
mod installation;
mod new;
mod plan;
mod plugins;
mod report;
mod run;
mod schema;
mod solve;
mod status;
mod tell;
mod trial;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use plugin_api::load::Description;

use crate::cli::{Arguments, Changes, Command, PluginsCommand};
use crate::diagnostic::{Diagnostic, LogFormat, Place};
use crate::manifest::Source;
use crate::manifest::overrides::Overrides;
use crate::plan::Plan;
use crate::record::Broken;
use crate::text::{plain, say};

/// The request was wrong.
const WRONG: u8 = 2;

/// How much is said of what happens, and in which form.
#[derive(Clone, Copy)]
struct Logs {
    format: LogFormat,
    /// How often `-v` was given.
    verbose: u8,
}

/// What a command prints, or everything that is wrong with the request.
type Printed = Result<String, Vec<Diagnostic>>;

/// Does what the arguments say.
pub fn run(arguments: Arguments) -> ExitCode {
    crate::files::survive_size_limits();
    let (format, verbose) = (arguments.log_format, arguments.verbose);
    match arguments.command {
        Command::Run(arguments) => run::run(&arguments, Logs { format, verbose }),
        Command::Ask(arguments) => ask::ask(&arguments),
        Command::Tell(arguments) => tell::tell(&arguments),
        Command::Status(arguments) => status::status(&arguments),
        Command::Cancel { folder } => cancel::cancel(&folder),
        Command::Plan { manifest, json } => printed(plan::plan(&manifest, json)),
        Command::Report(arguments) => report::report(&arguments),
        Command::Doctor(arguments) => doctor::doctor(&arguments),
        Command::Export(arguments) => export::export(&arguments),
        Command::Solve(arguments) => solve::solve(&arguments),
        Command::Plugins(PluginsCommand::List { plugins, json }) => printed(plugins::list(&plugins, json)),
        Command::Plugins(PluginsCommand::Describe { name, plugins, json }) => {
            printed(plugins::describe(&name, &plugins, json))
        }
        Command::Plugins(PluginsCommand::New(arguments)) => printed(new::new(&arguments)),
        Command::Plugins(PluginsCommand::Check(arguments)) => plugins::check(&arguments),
        Command::Completions { shell } => printed(Ok(completions::script(shell))),
        Command::Schema { plugins } => printed(schema::schema(&plugins)),
        Command::Trial(arguments) => trial::trial(&arguments, Logs { format, verbose }),
    }
}

fn make_plan(manifest: &Path, changes: &Changes) -> Result<Plan, Vec<Diagnostic>> {
    let source = Source::read(manifest).map_err(|diagnostic| vec![diagnostic])?;
    let Changes { set, surrogate, solver, .. } = changes;
    let overrides = Overrides { set: set.clone(), surrogate: surrogate.clone(), solver: solver.clone() };
    let plan = crate::plan::plan(&source, &overrides, &changes.plugins)?;
    log_plan(&plan);
    Ok(plan)
}

/// Says at `-v` what was planned, and with which plugins.
fn log_plan(plan: &Plan) {
    let (name, trials) = (&plan.name, plan.trials().count());
    tracing::info!("planned `{name}`: {trials} trials, hash {}", plan.hash);
    for loaded in plan.plugins.loaded() {
        let Description { kind, name, version, path, .. } = loaded.plugin.description();
        tracing::info!("loaded the {kind} `{name}` {version} from {}", path.display());
    }
}

fn printed(printed: Printed) -> ExitCode {
    match printed {
        Ok(text) => print(&text),
        Err(diagnostics) => refuse(&diagnostics),
    }
}

/// Prints what was asked for. A reader that has seen enough (`host … | head`) is no error.
fn print(text: &str) -> ExitCode {
    match writeln!(std::io::stdout(), "{}", plain(text)) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    }
}

fn refuse(diagnostics: &[Diagnostic]) -> ExitCode {
    let blocks: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    say(blocks.join("\n\n"));
    WRONG.into()
}

/// Says which journals are not what was written; answers whether there are any.
fn tell_broken(broken: &[Broken]) -> bool {
    for Broken { path, line, what } in broken {
        let place = Some(Place::File(path.display().to_string(), *line, 1));
        let diagnostic = Diagnostic { place, ..Diagnostic::new("a journal is not what was written") };
        let hint = "its trial is left out; the rest of the run is as it was recorded";
        say(diagnostic.because(what).hint(hint));
    }
    !broken.is_empty()
}
