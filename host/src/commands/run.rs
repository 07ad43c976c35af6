//! `host run`: plans, runs, reports; the last line names the run's folder.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;

use super::{Logs, make_plan, print, refuse, tell_broken};
use crate::cli::RunArguments;
use crate::diagnostic::{Diagnostic, LogFormat};
use crate::record::{PLAN, Place, Programs};
use crate::report;
use crate::run::progress::Progress;
use crate::run::{self, Children, Executor, Failures, InProcess, Limits, Outcome};
use crate::text::say;

pub(super) fn run(arguments: &RunArguments, logs: Logs) -> ExitCode {
    match try_run(arguments, logs) {
        Ok(outcome) => finish(&outcome, arguments, logs.format),
        Err(diagnostics) => refuse(&diagnostics),
    }
}

fn try_run(arguments: &RunArguments, logs: Logs) -> Result<Outcome, Vec<Diagnostic>> {
    let (manifest, place) = what_and_where(arguments).map_err(|diagnostic| vec![diagnostic])?;
    let plan = make_plan(&manifest, &arguments.changes)?;
    let mut progress = Progress::new(arguments.quiet, logs.format);
    let (plugins, allow_changed) = (&arguments.changes.plugins, arguments.allow_changed_plugins);
    let programs = Programs { plugins, allow_changed, patience: Duration::ZERO };
    let executor = executor(arguments, logs.verbose);
    let outcome = run::run(&plan, &place, &programs, executor.as_ref(), &mut progress);
    outcome.map_err(|diagnostic| vec![diagnostic])
}

fn executor(arguments: &RunArguments, verbose: u8) -> Box<dyn Executor> {
    let plugins = arguments.changes.plugins.absolute();
    let (allow_changed_plugins, fail_fast) = (arguments.allow_changed_plugins, arguments.fail_fast);
    if arguments.in_process {
        return Box::new(InProcess { plugins, allow_changed_plugins, fail_fast });
    }
    let cores = std::thread::available_parallelism();
    Box::new(Children {
        jobs: arguments.jobs.or(cores.ok()).map_or(1, Into::into),
        fail_fast,
        limits: Limits {
            patience: arguments.patience.0,
            step_timeout: arguments.step_timeout.map(|limit| limit.0),
        },
        plugins,
        allow_changed_plugins,
        verbose,
    })
}

/// Says how the run ended, and makes its report.
fn finish(outcome: &Outcome, arguments: &RunArguments, format: LogFormat) -> ExitCode {
    show_failures(&outcome.failed, format);
    if outcome.stopped {
        let command = resume_command(&outcome.folder, arguments);
        match format {
            LogFormat::Text => {
                say(format!("stopped; every finished evaluation is kept. To go on:\n  {command}"));
            }
            LogFormat::Json => say(json!({ "progress": "stopped", "to_go_on": command })),
        }
    }
    show_exhausted(outcome.exhausted, format);
    let folder = outcome.folder.display();
    let done = outcome.failed.is_empty() && !outcome.stopped;
    match report::report(std::slice::from_ref(&outcome.folder), None) {
        Ok(made) => {
            let whole = !tell_broken(&made.broken);
            made.flaws.iter().for_each(say);
            made.without_value.iter().for_each(say);
            let whole = whole && made.without_value.is_none();
            let printed = print(&format!("{}\n\nreport: {}\n{folder}", made.table, made.page.display()));
            if done && whole && made.flaws.is_empty() { printed } else { ExitCode::FAILURE }
        }
        // The journals are there, and say all that the report would.
        Err(diagnostic) => {
            say(diagnostic);
            print(&folder.to_string());
            ExitCode::FAILURE
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
            Ok((folder.join(PLAN), Place::Folder(folder.clone())))
        }
        (None, _) => Err(Diagnostic::new("nothing to run")
            .hint("`host run MANIFEST` runs one; `host run --resume FOLDER` goes on with a run")),
    }
}

/// Says which budgets were larger than the space.
fn show_exhausted(trials: usize, format: LogFormat) {
    match (trials, format) {
        (0, _) => {}
        (_, LogFormat::Json) => say(json!({ "progress": "exhausted", "trials": trials })),
        (1, LogFormat::Text) => {
            say("note: 1 trial ended before its budget was spent: every point had been evaluated")
        }
        (_, LogFormat::Text) => {
            say(format!(
                "note: {trials} trials ended before their budget was spent: every point had been evaluated"
            ));
        }
    }
}

pub(super) fn show_failures(failed: &Failures, format: LogFormat) {
    for (id, reason) in failed {
        match format {
            LogFormat::Text => {
                say(format!("error: trial `{id}` failed\n  cause: {}", reason.replace('\n', "\n         ")));
            }
            LogFormat::Json => {
                say(json!({ "progress": "failed", "trial": id, "reason": reason }));
            }
        }
    }
}

/// The command that goes on with this run.
fn resume_command(folder: &Path, arguments: &RunArguments) -> String {
    let plugins = &arguments.changes.plugins;
    let mut words =
        vec!["host".to_owned(), "run".to_owned(), "--resume".to_owned(), folder.display().to_string()];
    for directory in &plugins.directories {
        words.extend(["--plugin-dir".to_owned(), directory.display().to_string()]);
    }
    words.extend(arguments.allow_changed_plugins.then(|| "--allow-changed-plugins".to_owned()));
    words.extend(plugins.allow_insecure.then(|| "--allow-insecure-plugins".to_owned()));
    let plain = |word: &str| word.chars().all(|c| c.is_alphanumeric() || "-_./=:,+@".contains(c));
    let quoted =
        |word: String| if plain(&word) { word } else { format!("'{}'", word.replace('\'', r"'\''")) };
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}
