//! `host run`: plans, runs, reports; the last line names the run's folder.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;

use super::{Logs, make_plan, planning, print, refuse, tell_broken};
use crate::cli::{ExecutorKind, RunArguments};
use crate::diagnostic::{Diagnostic, LogFormat};
use crate::manifest::Source;
use crate::manifest::keys::cluster::Cluster;
use crate::plan::Plan;
use crate::plugins::PluginArguments;
use crate::plugins::locate::PATH_VARIABLE;
use crate::record::{PLAN, Place, Programs};
use crate::report::{self, HowFar, Live};
use crate::run::progress::{Onlooker, Progress};
use crate::run::slurm::{Slurm, TaskArguments};
use crate::run::{self, Children, Executor, Failures, InProcess, Nobody, Outcome};
use crate::text::{say, shell_word};

pub(super) fn run(arguments: &RunArguments, logs: Logs) -> ExitCode {
    let wanted = what_and_where(arguments);
    let wanted = wanted.and_then(|(manifest, place)| Ok((Source::read(&manifest)?, place)));
    let (source, place) = match wanted {
        Ok(wanted) => wanted,
        Err(diagnostic) => return refuse(&[diagnostic]),
    };
    if arguments.attached {
        return planning::child(|watch| make_plan(&source, &arguments.changes, watch).map(|_| String::new()));
    }
    if let Err(code) = planning::rehearse("run", &source) {
        return code;
    }
    match try_run(arguments, &source, &place, logs) {
        Ok(outcome) => match &outcome.left {
            Some(left) => say_left(arguments, &outcome.folder, left, logs.format),
            None => finish(&outcome, logs.format),
        },
        Err(diagnostics) => refuse(&diagnostics),
    }
}

fn try_run(
    arguments: &RunArguments,
    source: &Source,
    place: &Place,
    logs: Logs,
) -> Result<Outcome, Vec<Diagnostic>> {
    let plan = make_plan(source, &arguments.changes, &|_| ())?;
    let mut progress = Progress::new(arguments.quiet, logs.format).watched_by(Box::new(Page(None)));
    let (plugins, allow_changed) = (&arguments.changes.plugins, arguments.allow_changed_plugins);
    let programs = Programs { plugins, allow_changed, patience: Duration::ZERO };
    let executor = executor(arguments, &plan, logs.verbose)?;
    let to_go_on = |folder: &Path| resume_command(folder, arguments);
    let outcome =
        run::run(&plan, place, arguments.shard, &programs, executor.as_ref(), &to_go_on, &mut progress);
    outcome.map_err(|diagnostic| vec![diagnostic])
}

/// The report's page while the run goes on.
struct Page(Option<Live>);

impl Onlooker for Page {
    fn begins(&mut self, folder: &Path) {
        self.0 = Some(Live::new(folder));
    }

    fn is_due(&mut self) -> bool {
        self.0.as_ref().is_some_and(Live::is_due)
    }

    fn look(&mut self, evaluations: (usize, usize), seconds_left: Option<f64>) {
        if let Some(live) = &mut self.0 {
            live.make(HowFar { evaluations, seconds_left });
        }
    }

    fn complaint(&mut self) -> Option<String> {
        self.0.as_ref().and_then(Live::complaint)
    }

    fn seconds_after(&self, planned: usize) -> f64 {
        self.0.as_ref().map_or(0.0, |live| live.seconds_after(planned))
    }

    fn ends(&mut self) {
        self.0 = None;
    }
}

fn executor(
    arguments: &RunArguments,
    plan: &Plan,
    verbose: u8,
) -> Result<Box<dyn Executor>, Vec<Diagnostic>> {
    let plugins = arguments.changes.plugins.absolute();
    let (allow_changed_plugins, fail_fast) = (arguments.allow_changed_plugins, arguments.fail_fast);
    let slurm = arguments.executor == ExecutorKind::Slurm;
    let wrong =
        [("--cluster", arguments.cluster.is_some() && !slurm), ("--detach", arguments.detach && !slurm)];
    if let Some((name, _)) = wrong.iter().find(|(_, wrong)| *wrong) {
        return Err(vec![Diagnostic::new(format!("`{name}` needs `--executor slurm`"))]);
    }
    if arguments.in_process && arguments.executor != ExecutorKind::Local {
        return Err(vec![
            Diagnostic::new("`--in-process` stands beside `--executor`").hint("leave one of them out"),
        ]);
    }
    if arguments.executor == ExecutorKind::None {
        return Ok(Box::new(Nobody));
    }
    if arguments.in_process {
        return Ok(Box::new(InProcess { plugins, allow_changed_plugins, fail_fast }));
    }
    if slurm {
        let settings = arguments.cluster.as_deref().map(Cluster::open).transpose()?;
        let limits = arguments.limits.limits();
        return Ok(Box::new(Slurm {
            settings: settings.or_else(|| plan.cluster.clone()),
            concurrency: arguments.jobs.map(Into::into),
            detach: arguments.detach,
            fail_fast,
            arguments: TaskArguments {
                plugins,
                allow_changed_plugins,
                patience: limits.patience.as_secs_f64(),
                step_timeout: limits.step_timeout.map(|limit| limit.as_secs_f64()),
                verbose,
                environment: carried(),
            },
        }));
    }
    let cores = std::thread::available_parallelism();
    Ok(Box::new(Children {
        jobs: arguments.jobs.or(cores.ok()).map_or(1, Into::into),
        fail_fast,
        limits: arguments.limits.limits(),
        plugins,
        allow_changed_plugins,
        verbose,
        scratch: None,
    }))
}

/// What finds plugins here finds them on a node, and what says more here says more there.
fn carried() -> Vec<(&'static str, String)> {
    let set = |name: &&str| std::env::var(name).is_ok_and(|value| !value.is_empty());
    let names = [PATH_VARIABLE, "HOST_LOG"].into_iter().filter(set);
    names.filter_map(|name| Some((name, std::env::var(name).ok()?))).collect()
}

/// Says how the run ended, and makes its report.
fn finish(outcome: &Outcome, format: LogFormat) -> ExitCode {
    show_failures(&outcome.failed, format);
    if format == LogFormat::Text && outcome.failed.iter().any(|(_, reason)| is_of_the_objective(reason)) {
        say(format!("  hint: {}", report::AFTER_FAILURES));
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
            if format == LogFormat::Json {
                let seconds = (outcome.begun.elapsed().as_secs_f64() * 10.0).round() / 10.0;
                say(json!({ "progress": "reported", "page": made.page, "seconds": seconds }));
            }
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

/// Says what was left in the queue, and how to follow it.
fn say_left(arguments: &RunArguments, folder: &Path, left: &str, format: LogFormat) -> ExitCode {
    match format {
        LogFormat::Json => say(json!({ "progress": "submitted", "words": left })),
        LogFormat::Text => {
            let command = resume_command(folder, arguments);
            let what = if arguments.executor == ExecutorKind::None { "To go on here: " } else { "" };
            say(format!("{left}.\n  {what}{command}"));
        }
    }
    print(&folder.display().to_string())
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
            if !folder.exists() {
                return Err(no_folder(folder));
            }
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

/// That a run's folder is not there, and which are beside it.
fn no_folder(folder: &Path) -> Diagnostic {
    const MOST: usize = 10;
    let beside = folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(beside).into_iter().flatten().flatten();
    let mut runs: Vec<String> = entries
        .filter(|entry| entry.path().join(PLAN).is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    runs.sort();
    let diagnostic = Diagnostic::new(format!("there is no folder {}", folder.display()));
    if runs.is_empty() {
        return diagnostic.hint("a run's folder is the last line that `host run` prints: results/NAME/ID");
    }
    let more = runs.len().saturating_sub(MOST);
    // Those of the latest times are last.
    let mut listed = runs.split_off(more).join(", ");
    if more > 0 {
        listed += &format!(", and {more} more");
    }
    diagnostic.hint(format!("runs in {}: {listed}", beside.display()))
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

/// Whether a trial ended because its objective failed.
fn is_of_the_objective(reason: &str) -> bool {
    reason.contains("evaluations failed in a row")
        || reason.strip_prefix("evaluation ").is_some_and(|rest| rest.contains(" failed: "))
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

/// The command that goes on with this run; of one on a cluster, also those to look at it and to cancel it.
fn resume_command(folder: &Path, arguments: &RunArguments) -> String {
    let folder = folder.display().to_string();
    let (plugins, allow_changed) = (&arguments.changes.plugins, arguments.allow_changed_plugins);
    if arguments.executor != ExecutorKind::Slurm {
        return command(&["host", "run", "--resume", &folder], plugins, allow_changed);
    }
    let resume =
        command(&["host", "run", "--resume", &folder, "--executor", "slurm"], plugins, allow_changed);
    let folder = shell_word(&folder);
    format!("To look:   host status {folder}\n  To wait:   {resume}\n  To cancel: host cancel {folder}")
}

/// A command line, with where plugins come from.
pub(super) fn command(begin: &[&str], plugins: &PluginArguments, allow_changed: bool) -> String {
    let mut words: Vec<String> = begin.iter().map(|&word| word.to_owned()).collect();
    for directory in &plugins.directories {
        words.extend(["--plugin-dir".to_owned(), directory.display().to_string()]);
    }
    words.extend(allow_changed.then(|| "--allow-changed-plugins".to_owned()));
    words.extend(plugins.allow_insecure.then(|| "--allow-insecure-plugins".to_owned()));
    words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
}
