//! What of a run's folder is whole, and what is not: everything is looked at, and nothing changed.

use std::path::Path;

use super::event::Event;
use super::journal::JOURNAL;
use super::state::State;
use super::{Broken, Identity, PLAN, TRIALS, chain, incident, read_shard, read_trial};
use crate::diagnostic::Diagnostic;
use crate::files;
use crate::plan::{Shard, TrialId};

/// What a run's folder is like.
pub struct Health {
    /// What the run says it is, or why that cannot be read.
    pub identity: Result<Option<Identity>, Diagnostic>,
    /// Why the plan cannot be read.
    pub plan: Result<(), String>,
    /// The part of it that the run has, or why that cannot be read; `None` where it has all of it.
    pub shard: Result<Option<Shard>, Diagnostic>,
    pub trials: Vec<(TrialId, TrialHealth)>,
}

/// What a trial's folder is like.
#[derive(Default)]
pub struct TrialHealth {
    /// How many evaluations are recorded, up to where the journal is broken.
    pub evaluations: usize,
    pub finished: bool,
    /// Whether somebody else makes its evaluations, asked and told.
    pub asked: bool,
    /// The plan that the journal names.
    pub plan: Option<String>,
    /// How many bytes of a torn line stand at the end: a resume cuts them off.
    pub torn: usize,
    /// Where the journal is not what was written.
    pub broken: Option<Broken>,
    /// Why the trial's own file cannot be used; a resume writes it again.
    pub file: Option<String>,
    /// Whether a saved state stands there that is not whole; the draws are computed again then.
    pub broken_state: bool,
    /// How often its process died.
    pub deaths: usize,
}

impl Health {
    /// Looks at a run's folder, whatever is left of it.
    pub fn of(folder: &Path) -> Result<Self, Diagnostic> {
        let identity = Identity::read(folder);
        let plan = match files::read(&folder.join(PLAN)) {
            Ok(bytes) => match serde_yaml::from_slice::<serde_yaml::Mapping>(&bytes) {
                Ok(_) => Ok(()),
                Err(error) => Err(error.to_string()),
            },
            Err(error) => Err(error.to_string()),
        };
        files::refuse_links_below(folder, &[TRIALS]).map_err(|error| {
            Diagnostic::new(format!("the trials of {} cannot be read", folder.display())).because(error)
        })?;
        let entries = std::fs::read_dir(folder.join(TRIALS)).map_err(|error| {
            Diagnostic::new(format!("{} is not the folder of a run", folder.display()))
                .because(format!("its trials cannot be read: {error}"))
                .hint("the last line of `host run` names the folder: results/NAME/ID")
        })?;
        let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let mut ids: Vec<TrialId> = ids.collect();
        ids.sort();
        let trials = ids.into_iter().map(|id| (id.clone(), TrialHealth::of(folder, &id))).collect();
        Ok(Self { identity, plan, shard: read_shard(folder), trials })
    }

    /// Whether nothing is lost or changed; what a resume mends by itself does not count.
    pub fn is_whole(&self) -> bool {
        let begun = self.trials.iter().any(|(_, trial)| trial.plan.is_some());
        let identity = match &self.identity {
            Ok(Some(identity)) => self.plans().iter().all(|plan| identity.names(plan)),
            Ok(None) => !begun,
            Err(_) => false,
        };
        identity
            && self.plan.is_ok()
            && self.shard.is_ok()
            && self.trials.iter().all(|(_, trial)| trial.broken.is_none())
    }

    /// The plans that journals name; one, where nothing was mixed.
    pub fn plans(&self) -> Vec<&str> {
        let mut plans: Vec<&str> =
            self.trials.iter().filter_map(|(_, trial)| trial.plan.as_deref()).collect();
        plans.sort_unstable();
        plans.dedup();
        plans
    }
}

impl TrialHealth {
    fn of(run: &Path, id: &TrialId) -> Self {
        let mut health =
            Self { file: read_trial(run, id).err().map(|error| error.to_string()), ..Self::default() };
        let folder = run.join(TRIALS).join(id.to_string());
        let journal = folder.join(JOURNAL);
        if let Err(error) = files::refuse_links_below(run, &[TRIALS, &id.to_string()]) {
            health.broken = Some(Broken { path: folder, line: 1, what: error.to_string() });
            return health;
        }
        match files::read(&journal) {
            Ok(bytes) => health.read(&journal, &bytes),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                health.broken = Some(Broken { path: journal, line: 1, what: error.to_string() });
            }
        }
        health.broken_state = State::is_there(&folder) && State::read(&folder).is_none();
        health.deaths = incident::read(&folder).iter().filter(|incident| incident.word() == "died").count();
        health
    }

    fn read(&mut self, path: &Path, bytes: &[u8]) {
        let mut bytes = bytes;
        self.torn = bytes.iter().rev().take_while(|&&byte| byte != b'\n').count();
        let events = loop {
            match chain::read(path, bytes) {
                Ok(events) => break events,
                Err(broken) => {
                    // What stands before it is whole.
                    let before = bytes.split_inclusive(|&byte| byte == b'\n').take(broken.line - 1);
                    bytes = &bytes[..before.map(<[u8]>::len).sum()];
                    self.broken.get_or_insert(broken);
                }
            }
        };
        for (event, _) in events {
            match event {
                Event::Started(started) => {
                    (self.plan, self.asked) = (Some(started.plan), started.asked);
                }
                Event::Evaluated(_) => self.evaluations += 1,
                Event::Finished(_) => self.finished = true,
                Event::Evaluating(_) | Event::Proposed(_) | Event::Recommended(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Journal;
    use super::super::event::examples;
    use super::*;

    #[test]
    fn what_stands_before_a_changed_line_is_counted_as_whole() {
        let folder = tempfile::tempdir().unwrap();
        let trial = folder.path().join(TRIALS).join("psr-seed1");
        let mut journal = Journal::open(&trial, false).unwrap();
        examples().iter().for_each(|event| journal.record(event).unwrap());
        let health = Health::of(folder.path()).unwrap();
        let (_, whole) = &health.trials[0];
        assert!(whole.finished && whole.broken.is_none());
        assert_eq!((whole.evaluations, whole.plan.as_deref()), (4, Some("ab")));
        assert!(!health.is_whole(), "no plan and no identity");

        let path = trial.join(JOURNAL);
        let text = std::fs::read_to_string(&path).unwrap().replacen("too hot", "too cold", 1);
        std::fs::write(&path, text + "torn").unwrap();
        let health = Health::of(folder.path()).unwrap();
        let (_, changed) = &health.trials[0];
        assert_eq!((changed.evaluations, changed.finished, changed.torn), (1, false, 4));
        assert_eq!(changed.broken.as_ref().map(|broken| broken.line), Some(4));
        assert!(Health::of(&trial).is_err(), "a trial is no run");
    }
}
