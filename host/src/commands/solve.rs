//! `host solve`: a table or JSON lines, a row for each problem and solver.

use std::process::ExitCode;

use super::refuse;
use crate::cli::SolveArguments;
use crate::plugins::locate::Folders;
use crate::solve::Request;

pub(super) fn solve(arguments: &SolveArguments) -> ExitCode {
    let request = Request {
        problems: &arguments.problems,
        solvers: &arguments.solver,
        seed: arguments.seed,
        json: arguments.json,
        time_limit: arguments.time_limit.map(|limit| limit.0),
        work_limit: arguments.work_limit,
    };
    let folders = Folders::of(&arguments.plugins, &[]);
    match crate::solve::solve(&request, &folders, &mut std::io::stdout()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(diagnostics) => refuse(&diagnostics),
    }
}
