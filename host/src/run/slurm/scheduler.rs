//! The programs of Slurm: asked seldom, for everything at once.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::{Command, Output};

use super::answers::{self, Listed, Refusal};
use super::program;
use crate::diagnostic::Diagnostic;

/// Slurm, as its programs on this machine's PATH show it.
pub struct Scheduler<'a> {
    /// Whether nobody wants to wait for an answer any longer.
    pub unwanted: &'a dyn Fn() -> bool,
}

/// How a submission went.
pub(super) enum Submitted {
    /// As this job.
    Job(String),
    /// Not now, because of a limit: why.
    Later(String),
    /// Nobody knows: why.
    Unknown(String),
}

/// Why there is no answer.
#[derive(Debug)]
pub enum Silence {
    /// It may answer later.
    NoAnswer(String),
    /// It never will.
    Never(Diagnostic),
}

impl Scheduler<'_> {
    /// Everything of this user that is in the queue or has left it minutes ago, by one call.
    pub fn list(&self) -> Result<Vec<Listed>, Silence> {
        let mut command = Command::new("squeue");
        command.args(["--array", "--noheader", "--states=all", "--format", answers::FORMAT]);
        // By number: a name may be unknown where the queue is asked.
        #[cfg(unix)]
        command.arg(format!("--user={}", rustix::process::getuid().as_raw()));
        let output = self.run(&mut command)?;
        Ok(answers::squeue(&String::from_utf8_lossy(&output.stdout)))
    }

    /// How tasks ended that the queue has forgotten, by one call; nothing where there is no accounting.
    pub(super) fn ends(&self, jobs: &[&str]) -> BTreeMap<(String, usize), (String, String)> {
        let mut command = Command::new("sacct");
        command.args([
            "--noheader",
            "--parsable2",
            "--allocations",
            "--array",
            "--format=JobID,State,ExitCode",
        ]);
        command.arg(format!("--jobs={}", jobs.join(",")));
        match self.run(&mut command) {
            Ok(output) => answers::sacct(&String::from_utf8_lossy(&output.stdout)),
            Err(_) => BTreeMap::new(),
        }
    }

    /// How many tasks an array may have; Slurm's own default where it does not say.
    pub(super) fn largest_array(&self) -> Result<usize, Silence> {
        let output = self.run(Command::new("scontrol").args(["show", "config"]))?;
        Ok(answers::largest_array(&String::from_utf8_lossy(&output.stdout)).unwrap_or(1000))
    }

    /// Submits a script, from a folder that is the tasks' too.
    pub(super) fn submit(
        &self,
        script: &Path,
        folder: &Path,
        after: Option<&str>,
    ) -> Result<Submitted, Diagnostic> {
        let mut command = Command::new("sbatch");
        command.arg("--parsable").current_dir(folder);
        if let Some(job) = after {
            command.arg(format!("--dependency=afterany:{job}"));
        }
        let output = match self.run(command.arg(script)) {
            Ok(output) => output,
            Err(Silence::NoAnswer(words)) => {
                return Ok(match answers::refusal(&words) {
                    Refusal::Limit => Submitted::Later(words),
                    Refusal::NoAnswer | Refusal::Wrong => Submitted::Unknown(words),
                });
            }
            Err(Silence::Never(diagnostic)) => return Err(diagnostic),
        };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        answers::sbatch(&text).map(Submitted::Job).ok_or_else(|| {
            Diagnostic::new("sbatch did not say which job it submitted")
                .because(format!("it said `{}`", text.trim()))
        })
    }

    /// Cancels jobs, by one call.
    pub fn cancel(&self, jobs: &[&str]) -> Result<(), Silence> {
        self.run(Command::new("scancel").args(jobs)).map(drop)
    }

    fn run(&self, command: &mut Command) -> Result<Output, Silence> {
        let name = command.get_program().to_string_lossy().into_owned();
        let output = match program::run(command, self.unwanted) {
            Ok(output) => output,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Silence::Never(
                    Diagnostic::new(format!("`{name}` is not here"))
                        .because("the programs of Slurm are not on the PATH of this machine")
                        .hint("log in where jobs are submitted, or leave out `--executor slurm`"),
                ));
            }
            Err(error) => return Err(Silence::NoAnswer(format!("{name}: {error}"))),
        };
        if output.status.success() {
            return Ok(output);
        }
        let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let words = if words.is_empty() { format!("{name}: {}", output.status) } else { words };
        match answers::refusal(&words) {
            Refusal::Limit | Refusal::NoAnswer => Err(Silence::NoAnswer(words)),
            Refusal::Wrong => Err(Silence::Never(Diagnostic::new(format!("{name} refused")).because(words))),
        }
    }
}
