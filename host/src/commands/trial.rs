//! `host trial`: one trial of a run's folder, watched over as in a run; several, as a task of a cluster; or the process of one.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::run::{command, show_failures};
use super::{Logs, refuse};
use crate::cli::TrialArguments;
use crate::diagnostic::Diagnostic;
use crate::plan::TrialId;
use crate::record::cluster::read_tasks;
use crate::record::{TRIALS, is_finished};
use crate::run::progress::Progress;
use crate::run::{Children, child, guard, run_some, worker};

pub(super) fn trial(arguments: &TrialArguments, logs: Logs) -> ExitCode {
    match try_trial(arguments, logs) {
        Ok(code) => code,
        Err(diagnostic) => refuse(&[diagnostic]),
    }
}

fn try_trial(arguments: &TrialArguments, logs: Logs) -> Result<ExitCode, Diagnostic> {
    let TrialArguments { folder, plugins, attached, guarded, worker, allow_changed_plugins, limits, .. } =
        arguments;
    if *attached && *guarded < guard::GUARDS {
        return Ok(guard::guard(*guarded));
    }
    let ids = trials(arguments)?;
    if let (true, Some(id)) = (*attached, ids.first()) {
        return Ok(match worker {
            true => worker::worker(folder, id, plugins, *allow_changed_plugins),
            false => child::child(folder, id, plugins, *allow_changed_plugins, arguments.scratch.as_deref()),
        });
    }
    let executor = Children {
        jobs: 1,
        fail_fast: false,
        limits: limits.limits(),
        plugins: plugins.absolute(),
        allow_changed_plugins: *allow_changed_plugins,
        verbose: logs.verbose,
        scratch: arguments.scratch.as_deref().and_then(expanded),
    };
    let place = folder.display().to_string();
    let to_go_on = match &arguments.id {
        Some(id) => command(&["host", "trial", &place, id], plugins, *allow_changed_plugins),
        None => command(
            &["host", "run", "--resume", &place, "--executor", "slurm"],
            plugins,
            *allow_changed_plugins,
        ),
    };
    // What has finished meanwhile, as in another task, need not be gone through again.
    let finished =
        |id: &TrialId| arguments.tasks.is_some() && is_finished(&folder.join(TRIALS).join(id.to_string()));
    let ids: Vec<TrialId> = ids.into_iter().filter(|id| !finished(id)).collect();
    let outcome = run_some(folder, &ids, &executor, &to_go_on, &mut Progress::new(false, logs.format))?;
    show_failures(&outcome.failed, logs.format);
    let done = outcome.failed.is_empty() && !outcome.stopped;
    Ok(if done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The trial that is named, or those of a task.
fn trials(arguments: &TrialArguments) -> Result<Vec<TrialId>, Diagnostic> {
    if let Some(id) = &arguments.id {
        return Ok(vec![id.parse().map_err(|error| Diagnostic::new(format!("{error}")))?]);
    }
    let (Some(path), Some(task)) = (&arguments.tasks, arguments.task) else {
        return Err(Diagnostic::new("no trial is named"));
    };
    let tasks = read_tasks(path)
        .map_err(|error| Diagnostic::new(format!("cannot read {}", path.display())).because(error))?;
    let count = tasks.len();
    tasks.into_iter().nth(task).ok_or_else(|| {
        Diagnostic::new(format!("no task {task} in {}", path.display())).because(format!("it has {count}"))
    })
}

/// A path that begins with `$NAME`, with the variable's value in its place; `None` where there is no such variable.
fn expanded(path: &Path) -> Option<PathBuf> {
    let Some(rest) = path.to_str().and_then(|text| text.strip_prefix('$')) else {
        return Some(path.to_owned());
    };
    let (name, rest) = rest.split_once('/').unwrap_or((rest, ""));
    let value = std::env::var_os(name.trim_matches(['{', '}'])).filter(|value| !value.is_empty());
    if value.is_none() {
        tracing::warn!("no scratch: there is no variable `{name}` here");
    }
    value.map(|value| PathBuf::from(value).join(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_at_the_beginning_of_a_path_is_replaced_and_nothing_else() {
        let path = |text: &str| expanded(Path::new(text));
        assert_eq!(path("/local/a $b"), Some(PathBuf::from("/local/a $b")));
        let home = PathBuf::from(std::env::var_os("PATH").unwrap());
        assert_eq!(path("$PATH/x/y"), Some(home.join("x/y")));
        assert_eq!(path("${PATH}"), Some(home));
        assert_eq!(path("$NO_VARIABLE_OF_THIS_NAME/x"), None);
    }
}
