//! What befell a trial's process, as whoever watches over it saw it.
//!
//! It stands beside the journal, which is a function of plan and seed: where a process dies is not.

use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::event::Outcome;
use super::journal::read_lines;

/// The incidents of a trial.
pub const INCIDENTS: &str = "incidents.jsonl";

/// One line of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "incident", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Incident {
    /// The process ended without finishing the trial or saying why it could not.
    Died {
        /// The evaluation under way, if one was.
        evaluation: Option<usize>,
        /// Whether it was killed for taking too long.
        timed_out: bool,
        /// What is known of the reason.
        reason: String,
    },
    /// The trial has failed.
    Failed {
        /// Why.
        reason: String,
    },
}

impl Incident {
    /// The word for it in files and tables.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Died { .. } => "died",
            Self::Failed { .. } => "failed",
        }
    }

    /// The evaluation under way, if one was.
    pub fn evaluation(&self) -> Option<usize> {
        match self {
            Self::Died { evaluation, .. } => *evaluation,
            Self::Failed { .. } => None,
        }
    }

    /// Why.
    pub fn reason(&self) -> &str {
        match self {
            Self::Died { reason, .. } | Self::Failed { reason } => reason,
        }
    }
}

/// Adds an incident to a trial's folder; it is on disk before this returns.
pub fn add(folder: &Path, incident: &Incident) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(folder.join(INCIDENTS))?;
    let line = serde_json::to_string(incident).expect("an incident is plain data");
    file.write_all(format!("{line}\n").as_bytes())?;
    file.sync_all()
}

/// The incidents so far.
pub fn read(folder: &Path) -> Vec<Incident> {
    read_lines(&folder.join(INCIDENTS))
}

/// How each try of an evaluation ended that ended with the process.
pub fn deaths(incidents: &[Incident], evaluation: usize) -> impl Iterator<Item = Outcome> {
    incidents.iter().filter_map(move |incident| match incident {
        Incident::Died { evaluation: Some(at), timed_out, reason } if *at == evaluation => {
            let reason = reason.clone();
            Some(if *timed_out { Outcome::TimedOut { reason } } else { Outcome::Failed { reason } })
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incidents_are_kept_in_order_and_told_by_evaluation() {
        let folder = tempfile::tempdir().unwrap();
        let died = |evaluation, timed_out, reason: &str| Incident::Died {
            evaluation,
            timed_out,
            reason: reason.to_owned(),
        };
        let incidents = [
            died(Some(7), false, "killed by SIGSEGV"),
            died(None, false, "killed by SIGKILL"),
            died(Some(7), true, "no value within 30s"),
            Incident::Failed { reason: "gave up".to_owned() },
        ];
        assert!(read(folder.path()).is_empty());
        for incident in &incidents {
            add(folder.path(), incident).unwrap();
        }
        assert_eq!(read(folder.path()), incidents);
        let outcomes: Vec<_> = deaths(&incidents, 7).map(|outcome| outcome.status()).collect();
        assert_eq!(outcomes, ["failed", "timed-out"]);
        assert_eq!(deaths(&incidents, 8).count(), 0);
    }
}
