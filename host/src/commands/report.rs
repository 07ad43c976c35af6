//! `host report`: the table of methods; the last line names the page.

use std::process::ExitCode;

use super::{print, refuse, tell_broken};
use crate::cli::ReportArguments;

pub(super) fn report(arguments: &ReportArguments) -> ExitCode {
    match crate::report::report(&arguments.folders, arguments.output.as_deref()) {
        Ok(made) => {
            let broken = tell_broken(&made.broken);
            let printed = print(&format!("{}\n\n{}", made.table, made.page.display()));
            if broken { ExitCode::FAILURE } else { printed }
        }
        Err(diagnostic) => refuse(&[diagnostic]),
    }
}
