//! `host cancel`: takes the trials of a run out of the queue of a cluster.

use std::path::Path;
use std::process::ExitCode;

use super::{print, refuse};
use crate::diagnostic::Diagnostic;
use crate::record::RunFolder;
use crate::run::slurm::{self, Silence};
use crate::text::{say, shell_word};

pub(super) fn cancel(folder: &Path) -> ExitCode {
    let folder = match std::path::absolute(folder) {
        Ok(folder) => folder,
        Err(error) => return refuse(&[Diagnostic::new("the current folder is gone").because(error)]),
    };
    if let Err(diagnostic) = RunFolder::open(&folder) {
        return refuse(&[diagnostic]);
    }
    let place = shell_word(&folder.display().to_string());
    match slurm::cancel(&folder) {
        Ok(0) => print("nothing of this run is in the queue"),
        Ok(tasks) => {
            let what = if tasks == 1 { "1 task is" } else { &format!("{tasks} tasks are") };
            print(&format!(
                "{what} cancelled; what they recorded is kept. To go on:\n  host run --resume {place} --executor slurm"
            ))
        }
        Err(Silence::Never(diagnostic)) => refuse(&[diagnostic]),
        Err(Silence::NoAnswer(why)) => {
            let diagnostic = Diagnostic::new("the scheduler does not answer, and nothing is cancelled");
            say(diagnostic.because(why).hint("try again later"));
            ExitCode::FAILURE
        }
    }
}
