//! `host export`: the files written, a line each.

use std::process::ExitCode;

use super::{print, refuse, tell_broken};
use crate::cli::ExportArguments;

pub(super) fn export(arguments: &ExportArguments) -> ExitCode {
    match crate::export::export(&arguments.folder, arguments.format, arguments.output.as_deref()) {
        Ok(exported) => {
            let broken = tell_broken(&exported.broken);
            let files: Vec<String> = exported.files.iter().map(|file| file.display().to_string()).collect();
            let printed = print(&files.join("\n"));
            if broken { ExitCode::FAILURE } else { printed }
        }
        Err(diagnostic) => refuse(&[diagnostic]),
    }
}
