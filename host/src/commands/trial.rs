//! `host trial`: one trial of a run's folder, watched over as in a run; or the process of it.

use std::process::ExitCode;

use super::run::{command, show_failures};
use super::{Logs, refuse};
use crate::cli::TrialArguments;
use crate::diagnostic::Diagnostic;
use crate::plan::TrialId;
use crate::run::progress::Progress;
use crate::run::{Children, child, guard, run_one, worker};

pub(super) fn trial(arguments: &TrialArguments, logs: Logs) -> ExitCode {
    let TrialArguments { folder, id, plugins, attached, guarded, worker, allow_changed_plugins, limits } =
        arguments;
    let id: TrialId = match id.parse() {
        Ok(id) => id,
        Err(error) => return refuse(&[Diagnostic::new(format!("{error}"))]),
    };
    if *attached && *guarded < guard::GUARDS {
        return guard::guard(*guarded);
    }
    if *worker {
        return worker::worker(folder, &id, plugins, *allow_changed_plugins);
    }
    if *attached {
        return child::child(folder, &id, plugins, *allow_changed_plugins);
    }
    let executor = Children {
        jobs: 1,
        fail_fast: false,
        limits: limits.limits(),
        plugins: plugins.absolute(),
        allow_changed_plugins: *allow_changed_plugins,
        verbose: logs.verbose,
    };
    let begin = ["host", "trial", &folder.display().to_string(), &id.to_string()];
    let to_go_on = command(&begin, plugins, *allow_changed_plugins);
    match run_one(folder, &id, &executor, &to_go_on, &mut Progress::new(false, logs.format)) {
        Ok(outcome) => {
            show_failures(&outcome.failed, logs.format);
            if outcome.failed.is_empty() && !outcome.stopped { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(diagnostic) => refuse(&[diagnostic]),
    }
}
