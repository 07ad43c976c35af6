//! Trials by what they may be compared with: the same experiment at the same point of its sweep.

use serde_json::{Map, Value as Json};

use super::trial::TrialRecord;
use crate::record::tables::swept;

/// One experiment at one point of its sweep.
pub(crate) struct Setting<'a> {
    /// The experiment's name.
    pub experiment: &'a str,
    /// The values of the sweep's keys.
    pub sweep: &'a Map<String, Json>,
    /// Its methods with their trials, in the plan's order.
    pub methods: Vec<(&'a str, Vec<&'a TrialRecord>)>,
    /// Methods that do not depend on all keys of the sweep, and are the same here as elsewhere: they are compared with this
    /// setting's, and shown where they stand.
    pub beside: Vec<(&'a str, Vec<&'a TrialRecord>)>,
}

impl<'a> Setting<'a> {
    /// Whether high values are good.
    pub(crate) fn maximize(&self) -> bool {
        self.trials().next().is_some_and(|trial| trial.started.maximize)
    }

    /// All its trials.
    pub(crate) fn trials(&self) -> impl Iterator<Item = &TrialRecord> {
        self.methods.iter().flat_map(|(_, trials)| trials.iter().copied())
    }

    /// Its methods, and those that are the same here as elsewhere.
    pub(crate) fn compared(&self) -> impl Iterator<Item = &(&'a str, Vec<&'a TrialRecord>)> {
        self.methods.iter().chain(&self.beside)
    }

    /// What people call it: the values of the sweep, or the experiment's name.
    pub(crate) fn label(&self, with_experiment: bool) -> String {
        let keys: Vec<&String> = self.sweep.keys().collect();
        let name = |key: &String| short_key(key, &keys);
        let values = self.sweep.keys().map(|key| format!("{} = {}", name(key), swept(self.sweep, key)));
        let mut words: Vec<String> = values.collect();
        if words.is_empty() || with_experiment {
            words.insert(0, self.experiment.to_owned());
        }
        words.join(", ")
    }
}

/// The last word of a key path: it says enough, unless another of the keys ends alike.
pub(crate) fn short_key(key: &str, keys: &[&String]) -> String {
    let last = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
    let alone = keys.iter().filter(|other| last(other) == last(key)).count() <= 1;
    if alone { last(key) } else { key.to_owned() }
}

/// Trials by setting and method, in the order in which they first appear.
pub(crate) fn settings(trials: &[TrialRecord]) -> Vec<Setting<'_>> {
    let mut settings: Vec<Setting<'_>> = Vec::new();
    for trial in trials {
        let started = &trial.started;
        // Trials of a setting mostly stand together: the last one is looked at first.
        let same = |s: &Setting<'_>| s.experiment == started.experiment && *s.sweep == started.sweep;
        let place = settings.iter().rposition(same).unwrap_or_else(|| {
            let (experiment, sweep) = (started.experiment.as_str(), &started.sweep);
            settings.push(Setting { experiment, sweep, methods: Vec::new(), beside: Vec::new() });
            settings.len() - 1
        });
        let methods = &mut settings[place].methods;
        match methods.iter_mut().find(|(name, _)| *name == started.method) {
            Some((_, group)) => group.push(trial),
            None => methods.push((&started.method, vec![trial])),
        }
    }
    let most = settings.iter().map(|setting| setting.sweep.len()).max().unwrap_or(0);
    let fewer: Vec<usize> = (0..settings.len()).filter(|&i| settings[i].sweep.len() < most).collect();
    for at in 0..settings.len() {
        settings[at].beside = beside(fewer.iter().map(|&i| &settings[i]), &settings[at]);
    }
    settings
}

/// The methods of settings with fewer keys and the same values of those.
fn beside<'s, 'a: 's>(
    settings: impl Iterator<Item = &'s Setting<'a>>,
    at: &Setting<'a>,
) -> Vec<(&'a str, Vec<&'a TrialRecord>)> {
    let fewer = |other: &&Setting<'a>| {
        other.sweep.len() < at.sweep.len()
            && other.experiment == at.experiment
            && other.sweep.iter().all(|(key, value)| at.sweep.get(key) == Some(value))
    };
    settings.filter(fewer).flat_map(|other| other.methods.iter().cloned()).collect()
}

/// The keys of all sweeps, in the order in which they first appear.
pub(crate) fn sweep_keys<'m>(sweeps: impl Iterator<Item = &'m Map<String, Json>>) -> Vec<&'m String> {
    let mut keys: Vec<&String> = Vec::new();
    for key in sweeps.flat_map(Map::keys) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_short_where_that_is_clear() {
        let keys = ["a.options.n", "b.options.n", "penalty.l1"].map(str::to_owned);
        let keys: Vec<&String> = keys.iter().collect();
        let short: Vec<String> = keys.iter().map(|key| short_key(key, &keys)).collect();
        assert_eq!(short, ["a.options.n", "b.options.n", "l1"]);
    }
}
