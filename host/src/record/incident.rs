//! What went wrong with a trial's process, as the host that watches over it saw it.
//!
//! It stands beside the journal, which is a function of plan and seed: where a process dies is not.

use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::event::Outcome;
use super::{Step, parse_lines};
use crate::files;

const INCIDENTS: &str = "incidents.jsonl";

/// One line of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "incident", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Incident {
    /// The process ended without finishing the trial or saying why it could not.
    Died {
        /// What it was doing, where that is known.
        during: Option<Step>,
        /// Whether it was killed for taking too long.
        timed_out: bool,
        /// Whether somebody else killed it, so that what it was doing is not to blame.
        from_outside: bool,
        reason: String,
    },
    /// The trial has failed.
    Failed { reason: String },
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
            Self::Died { during, .. } => during.as_ref().and_then(Step::evaluation),
            Self::Failed { .. } => None,
        }
    }

    /// Whether the process died of what it was doing.
    pub fn is_its_own(&self) -> bool {
        matches!(self, Self::Died { from_outside: false, .. })
    }

    pub fn reason(&self) -> &str {
        match self {
            Self::Died { reason, .. } | Self::Failed { reason } => reason,
        }
    }
}

/// Adds an incident to a trial's folder; it is on disk before this returns.
pub fn add(folder: &Path, incident: &Incident) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let mut file = files::open(&folder.join(INCIDENTS), files::Access::Append)?;
    let line = serde_json::to_string(incident).expect("an incident is plain data");
    file.write_all(format!("{line}\n").as_bytes())?;
    file.sync_all()
}

/// The incidents so far.
pub fn read(folder: &Path) -> Vec<Incident> {
    parse_lines(&files::read(&folder.join(INCIDENTS)).unwrap_or_default()).collect()
}

/// When the last one was added, by the clock of the file system.
pub(super) fn last_added(folder: &Path) -> Option<std::time::SystemTime> {
    folder.join(INCIDENTS).metadata().and_then(|file| file.modified()).ok()
}

/// How each try of an evaluation ended that ended with the process. Where somebody else killed it, it was no try.
pub fn deaths(incidents: &[Incident], evaluation: usize) -> impl Iterator<Item = Outcome> {
    incidents.iter().filter_map(move |incident| match incident {
        Incident::Died { timed_out, reason, .. }
            if incident.evaluation() == Some(evaluation) && incident.is_its_own() =>
        {
            let reason = reason.clone();
            Some(if *timed_out { Outcome::TimedOut(reason) } else { Outcome::Failed(reason) })
        }
        _ => None,
    })
}

/// Why a shadow took the process with it in this iteration, if it did: it is not asked again.
pub fn shadow_death<'a>(incidents: &'a [Incident], iteration: usize, shadow: &str) -> Option<&'a str> {
    incidents.iter().find_map(|incident| match incident {
        Incident::Died { during: Some(Step::Solve { iteration: at, solver, followed: false }), .. }
            if *at == iteration && solver == shadow && incident.is_its_own() =>
        {
            Some(incident.reason())
        }
        _ => None,
    })
}

/// Whether a surrogate took the process with it when it was asked what it knows: it is not asked again.
pub fn died_asked(incidents: &[Incident]) -> bool {
    incidents.iter().any(|incident| match incident {
        Incident::Died { during: Some(Step::Ask { .. }), .. } => incident.is_its_own(),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn died(during: Option<Step>, timed_out: bool, reason: &str) -> Incident {
        Incident::Died {
            during,
            timed_out,
            from_outside: reason.contains("SIGKILL"),
            reason: reason.to_owned(),
        }
    }

    #[test]
    fn incidents_are_kept_in_order_and_told_by_evaluation() {
        let folder = tempfile::tempdir().unwrap();
        let seventh = Some(Step::Evaluate { evaluation: 7 });
        let incidents = [
            died(seventh.clone(), false, "killed by SIGSEGV"),
            died(None, false, "killed by SIGKILL"),
            died(seventh.clone(), false, "killed by SIGKILL"),
            died(seventh, true, "no value within 30s"),
            Incident::Failed { reason: "gave up".to_owned() },
        ];
        assert!(read(folder.path()).is_empty());
        for incident in &incidents {
            add(folder.path(), incident).unwrap();
        }
        assert_eq!(read(folder.path()), incidents);
        let outcomes: Vec<_> = deaths(&incidents, 7).map(|outcome| outcome.status().word()).collect();
        assert_eq!(outcomes, ["failed", "timed-out"]);
        assert_eq!(deaths(&incidents, 8).count(), 0);
    }

    #[test]
    fn a_shadow_is_blamed_for_its_own_deaths_only() {
        let solve = |followed| Some(Step::Solve { iteration: 3, solver: "sdp".to_owned(), followed });
        let of = |incident: Incident| shadow_death(&[incident], 3, "sdp").map(str::to_owned);
        assert_eq!(of(died(solve(false), false, "killed by SIGSEGV")).as_deref(), Some("killed by SIGSEGV"));
        assert_eq!(of(died(solve(false), false, "killed by SIGKILL")), None);
        assert_eq!(of(died(solve(true), false, "killed by SIGSEGV")), None);
        assert_eq!(shadow_death(&[died(solve(false), true, "no answer")], 4, "sdp"), None);
        let asked = Some(Step::Ask { evaluation: 3 });
        assert!(died_asked(&[died(asked.clone(), false, "killed by SIGSEGV")]));
        assert!(!died_asked(&[
            died(asked, false, "killed by SIGKILL"),
            died(solve(false), false, "crashed")
        ]));
    }
}
