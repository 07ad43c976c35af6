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
}

impl Setting<'_> {
    /// Whether high values are good.
    pub(crate) fn maximize(&self) -> bool {
        self.trials().next().is_some_and(|trial| trial.started.maximize)
    }

    /// All its trials.
    pub(crate) fn trials(&self) -> impl Iterator<Item = &TrialRecord> {
        self.methods.iter().flat_map(|(_, trials)| trials.iter().copied())
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
            settings.push(Setting { experiment, sweep, methods: Vec::new() });
            settings.len() - 1
        });
        let methods = &mut settings[place].methods;
        match methods.iter_mut().find(|(name, _)| *name == started.method) {
            Some((_, group)) => group.push(trial),
            None => methods.push((&started.method, vec![trial])),
        }
    }
    settings
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
