//! The program: reads a manifest, loads plugins, runs, records, reports.
//!
//! One public function per command; `main` parses arguments and chooses the exit code.

pub mod cli;
pub mod diagnostic;
pub mod export;
pub mod manifest;
pub mod plan;
pub mod plugins;
pub mod report;
pub mod run;
pub mod schema;
pub mod solve;
pub mod trial;
pub mod yaml;

mod clock;
mod files;

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use crate::cli::{
    Changes, ExportArguments, LogFormat, ManifestArguments, PluginArguments, ReportArguments, RunArguments,
    SolveArguments,
};
use crate::diagnostic::Diagnostic;
use crate::plan::overrides::Overrides;
use crate::plan::{Plan, Source};
use crate::plugins::describe;
use crate::plugins::locate::Folders;
use crate::report::table;
use crate::run::progress::Progress;
use crate::run::{PLAN, Place};

/// What a command prints, or everything that is wrong with the request.
pub type Printed = Result<String, Vec<Diagnostic>>;

fn make_plan(manifest: &Path, changes: &Changes) -> Result<Plan, Vec<Diagnostic>> {
    let source = Source::read(manifest).map_err(|diagnostic| vec![diagnostic])?;
    let overrides = Overrides { set: changes.set.clone(), solver: changes.solver.clone() };
    plan::plan(&source, &overrides, &changes.plugins)
}

/// `host plan`: the trials, or the whole plan as JSON.
pub fn plan(arguments: &ManifestArguments, as_json: bool) -> Printed {
    let plan = make_plan(&arguments.path, &arguments.changes)?;
    if as_json {
        let trials: Vec<Json> = plan
            .trials()
            .map(|trial| {
                json!({
                    "id": trial.id(), "method": trial.method.name, "seed": trial.seed,
                    "sweep": trial.setting.sweep.iter().cloned().collect::<serde_json::Map<_, _>>()
                })
            })
            .collect();
        let json = json!({
            "name": plan.name, "hash": plan.hash, "seeds": plan.seeds, "settings": plan.settings, "trials": trials
        });
        return Ok(serde_json::to_string_pretty(&json).expect("a plan is plain data"));
    }
    let header = ["trial", "method", "sweep", "seed", "evaluations"].map(str::to_owned);
    let rows: Vec<Vec<String>> = plan
        .trials()
        .map(|trial| {
            let swept = trial.setting.sweep.iter().map(|(key, value)| format!("{key}={value}"));
            let evaluations = format!("{} + {}", trial.setting.initial, trial.setting.evaluations);
            let sweep = swept.collect::<Vec<_>>().join(" ");
            vec![trial.id(), trial.method.name.clone(), sweep, trial.seed.to_string(), evaluations]
        })
        .collect();
    let count = match rows.len() {
        1 => "1 trial".to_owned(),
        count => format!("{count} trials"),
    };
    Ok(format!("# {count}; every default filled:\n{}\n{}", plan.yaml, table::columns(&header, &rows)))
}

/// `host run`: the table of methods; the last line names the run's folder.
///
/// The flag says whether every trial finished.
pub fn run(arguments: &RunArguments, format: LogFormat) -> Result<(String, bool), Vec<Diagnostic>> {
    let (manifest, place) = what_and_where(arguments).map_err(|diagnostic| vec![diagnostic])?;
    let plan = make_plan(&manifest, &arguments.changes)?;
    let cores = std::thread::available_parallelism();
    let settings = run::Settings {
        place,
        allow_changed_plugins: arguments.allow_changed_plugins,
        jobs: arguments.jobs.or(cores.ok()).map_or(1, Into::into),
        in_process: arguments.in_process,
        fail_fast: arguments.fail_fast,
        patience: arguments.patience.0,
        step_timeout: arguments.step_timeout.map(|limit| limit.0),
        plugins: arguments.changes.plugins.clone(),
    };
    let mut progress = Progress::new(arguments.quiet, format);
    let outcome = run::run(&plan, &settings, &mut progress).map_err(|diagnostic| vec![diagnostic])?;
    show_failures(&outcome.failed, format);
    if outcome.stopped {
        let command = resume_command(&outcome.folder, &settings.plugins);
        match format {
            LogFormat::Text => {
                eprintln!("stopped; every finished evaluation is kept. To go on:\n  {command}");
            }
            LogFormat::Json => eprintln!("{}", json!({ "progress": "stopped", "to_go_on": command })),
        }
    }
    let folder = outcome.folder.display();
    let done = outcome.failed.is_empty() && !outcome.stopped;
    match report::report(std::slice::from_ref(&outcome.folder), None) {
        Ok(made) => Ok((format!("{}\n\nreport: {}\n{folder}", made.table, made.page.display()), done)),
        // The journals are there, and say all that the report would.
        Err(diagnostic) => {
            eprintln!("{diagnostic}");
            Ok((folder.to_string(), false))
        }
    }
}

/// The manifest, and the run's folder: with `--resume FOLDER` alone, both are that folder's.
fn what_and_where(arguments: &RunArguments) -> Result<(PathBuf, Place), Diagnostic> {
    let (output, id) = (arguments.output.clone(), arguments.run_id.clone());
    match (&arguments.path, &arguments.resume) {
        (Some(manifest), None) => Ok((manifest.clone(), Place::New(output, id))),
        (Some(manifest), Some(None)) => Ok((manifest.clone(), Place::Begun(output, id))),
        (Some(manifest), Some(Some(folder))) => Ok((manifest.clone(), Place::Folder(folder.clone()))),
        // `--resume M.yaml`, the other way round.
        (None, Some(Some(path))) if path.is_file() => Ok((path.clone(), Place::Begun(output, id))),
        (None, Some(Some(folder))) => {
            if !folder.join(PLAN).is_file() {
                return Err(Diagnostic::new(format!("{} is no run's folder", folder.display()))
                    .because(format!("there is no {PLAN} in it")));
            }
            if !arguments.changes.set.is_empty() || !arguments.changes.solver.is_empty() {
                return Err(Diagnostic::new("a run that was begun cannot be changed")
                    .hint("--set and --solver go with a manifest, and begin a new run"));
            }
            Ok((folder.join(PLAN), Place::Folder(folder.clone())))
        }
        (None, _) => Err(Diagnostic::new("nothing to run")
            .hint("`host run MANIFEST` runs one; `host run --resume FOLDER` goes on with a run")),
    }
}

/// `host trial`: one trial of a run's folder, watched over as in a run. The flag says whether it finished.
pub fn trial(
    folder: &Path,
    id: &str,
    plugins: &PluginArguments,
    allow_changed_plugins: bool,
    format: LogFormat,
) -> Result<bool, Vec<Diagnostic>> {
    let mut progress = Progress::new(false, format);
    let outcome = run::run_one(folder, id, plugins, allow_changed_plugins, &mut progress)?;
    show_failures(&outcome.failed, format);
    Ok(outcome.failed.is_empty() && !outcome.stopped)
}

fn show_failures(failed: &run::Failures, format: LogFormat) {
    for (id, reason) in failed {
        match format {
            LogFormat::Text => {
                eprintln!("error: trial `{id}` failed\n  cause: {}", reason.replace('\n', "\n         "));
            }
            LogFormat::Json => {
                eprintln!("{}", json!({ "progress": "failed", "trial": id, "reason": reason }));
            }
        }
    }
}

/// The command that goes on with this run.
fn resume_command(folder: &Path, plugins: &PluginArguments) -> String {
    let mut words =
        vec!["host".to_owned(), "run".to_owned(), "--resume".to_owned(), folder.display().to_string()];
    for directory in &plugins.directories {
        words.extend(["--plugin-dir".to_owned(), directory.display().to_string()]);
    }
    words.extend(plugins.allow_insecure.then(|| "--allow-insecure-plugins".to_owned()));
    let plain = |word: &str| word.chars().all(|c| c.is_alphanumeric() || "-_./=:,+@".contains(c));
    let quoted =
        |word: String| if plain(&word) { word } else { format!("'{}'", word.replace('\'', r"'\''")) };
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// `host report`: the table of methods; the last line names the page.
pub fn report(arguments: &ReportArguments) -> Printed {
    let made = report::report(&arguments.folders, arguments.output.as_deref());
    let made = made.map_err(|diagnostic| vec![diagnostic])?;
    Ok(format!("{}\n\n{}", made.table, made.page.display()))
}

/// `host export`: the files written, a line each.
pub fn export(arguments: &ExportArguments) -> Printed {
    let files = export::export(&arguments.folder, arguments.format, arguments.output.as_deref());
    let files = files.map_err(|diagnostic| vec![diagnostic])?;
    Ok(files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join("\n"))
}

/// `host solve`: writes a table or JSON lines to `out`.
///
/// The answer says whether every solver solved every problem.
pub fn solve(arguments: &SolveArguments, out: &mut dyn Write) -> Result<bool, Vec<Diagnostic>> {
    solve::solve(arguments, &Folders::of(&arguments.plugins), out)
}

/// `host plugins list`.
pub fn plugins_list(plugins: &PluginArguments, as_json: bool) -> Printed {
    let folders = Folders::of(plugins);
    let (found, broken) = describe::find(&folders);
    for error in &broken {
        eprintln!("warning: {error}");
    }
    if as_json {
        let list: Vec<Json> = found.iter().map(|plugin| describe::json(plugin, false)).collect();
        return Ok(serde_json::to_string_pretty(&list).expect("descriptions are plain data"));
    }
    if found.is_empty() {
        return Err(vec![
            Diagnostic::new("no plugins found")
                .because(format!("searched: {}", folders.names().join(", ")))
                .hint(
                    "`cargo build --release` builds them beside the host; --plugin-dir names another folder",
                ),
        ]);
    }
    Ok(describe::list(&found))
}

/// `host plugins describe`.
pub fn plugins_describe(name: &str, plugins: &PluginArguments, as_json: bool) -> Printed {
    let folders = Folders::of(plugins);
    let (found, _) = describe::find(&folders);
    let named: Vec<_> = found.iter().filter(|plugin| plugin.name == name).collect();
    if named.is_empty() {
        let nearest = diagnostic::nearest(name, found.iter().map(|plugin| plugin.name.as_str()));
        let diagnostic = Diagnostic::new(format!("no plugin named `{name}`"));
        let hint = nearest.map(|nearest| format!("did you mean `{nearest}`? ")).unwrap_or_default();
        return Err(vec![diagnostic.hint(format!("{hint}`host plugins list` shows all"))]);
    }
    if as_json {
        let list: Vec<Json> = named.iter().map(|plugin| describe::json(plugin, true)).collect();
        return Ok(serde_json::to_string_pretty(&list).expect("descriptions are plain data"));
    }
    Ok(named.iter().map(|plugin| describe::describe(plugin)).collect::<Vec<_>>().join("\n\n"))
}

/// `host schema`.
pub fn manifest_schema(plugins: &PluginArguments) -> Printed {
    let (found, _) = describe::find(&Folders::of(plugins));
    Ok(serde_json::to_string_pretty(&schema::schema(&found)).expect("a schema is plain data"))
}
