//! Trials that nobody runs here: the folder is made, and any other program runs `host trial` for each of them.

use std::path::Path;

use super::executor::{Ended, Executor, Job};
use super::progress::Progress;
use super::stop::Stop;
use crate::diagnostic::Diagnostic;

/// Leaves all trials to others.
pub struct Nobody;

impl Executor for Nobody {
    fn execute(
        &self,
        folder: &Path,
        jobs: Vec<Job>,
        _: &Stop,
        _: &mut Progress,
    ) -> Result<Ended, Diagnostic> {
        let (count, place) = (jobs.len(), folder.display());
        let left = format!("{count} trials are left to others: `host trial {place} NAME` runs one");
        Ok(Ended { left: Some(left), ..Ended::default() })
    }
}
