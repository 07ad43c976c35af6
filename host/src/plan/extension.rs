//! Whether a plan goes on with another: everything in it, and more evaluations, seeds or methods.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use super::{MethodPlan, Plan, ResolvedTrial, Spec};

/// What of `recorded` is not in `wanted`, or is another there; nothing, where `wanted` goes on with it. The journal of a
/// trial is then the beginning of what it would be, had `wanted` been planned from the start.
pub fn obstacles(recorded: &Plan, wanted: &Plan) -> Vec<String> {
    if recorded.name != wanted.name {
        return vec![format!(
            "it is the experiment `{}`, and this is `{}`: all seeds follow from the name",
            recorded.name, wanted.name
        )];
    }
    let trials: BTreeMap<_, _> = wanted.trials().map(|trial| (trial.id(), trial)).collect();
    let seeds: BTreeSet<u64> = wanted.seeds.iter().copied().collect();
    let methods: BTreeSet<&str> = wanted.trials().map(|trial| trial.method.name.as_str()).collect();
    let mut found = BTreeSet::new();
    for trial in recorded.trials() {
        match trials.get(&trial.id()) {
            Some(same) => found.extend(differences(&trial.resolved(), &same.resolved())),
            None if !seeds.contains(&trial.seed) => {
                found.insert(format!("the seed {} is left out", trial.seed));
            }
            None if !methods.contains(trial.method.name.as_str()) => {
                found.insert(format!("the method `{}` is left out", trial.method.name));
            }
            None => {
                found.insert(SWEEP.to_owned());
            }
        }
    }
    found.into_iter().collect()
}

const SWEEP: &str = "the points of the sweep are others, or have other numbers: values can be added at the end of its first key";

fn differences(recorded: &ResolvedTrial, wanted: &ResolvedTrial) -> Vec<String> {
    // Taken apart, so that a new field is not forgotten.
    let ResolvedTrial {
        experiment: _,
        id: _,
        plan: _,
        sweep,
        keys,
        benchmark,
        encoder,
        method,
        // `initial` in `keys` names them by a hash.
        given: _,
        plugin_directories: _,
        folder: _,
    } = recorded;
    let mut found = Vec::new();
    if *sweep != wanted.sweep {
        found.push(SWEEP.to_owned());
        return found;
    }
    let mut differs = |what: &str, one: &Spec, other: &Spec| {
        if (&one.name, &one.options) != (&other.name, &other.options) {
            found.push(format!("the {what} is `{}` there, and `{}` here", one.label, other.label));
        }
    };
    differs("benchmark", benchmark, &wanted.benchmark);
    differs("encoder", encoder, &wanted.encoder);
    if parts(method) != parts(&wanted.method) {
        found.push(format!("the method `{}` has other plugins or options", method.name));
    }
    let (had, has) = (keys.budget, wanted.keys.budget);
    if has.initial != had.initial {
        found.push(format!(
            "`budget.initial` is {} there, and {} here: it would be another initial design",
            had.initial, has.initial
        ));
    }
    if has.evaluations < had.evaluations {
        found.push(format!(
            "`budget.evaluations` is {} there, and {} here: what is recorded is not taken away",
            had.evaluations, has.evaluations
        ));
    }
    if has.batch != had.batch {
        found.push(format!(
            "`budget.batch` is {} there, and {} here: the points of a round are chosen together",
            had.batch, has.batch
        ));
    }
    let keys = [json!(keys), json!(wanted.keys)].map(|keys| keys.as_object().cloned().unwrap_or_default());
    let names: BTreeSet<&String> =
        keys.iter().flat_map(|keys| keys.keys()).filter(|key| *key != "budget").collect();
    for name in names {
        let [one, other] = [&keys[0], &keys[1]].map(|keys| keys.get(name).unwrap_or(&Json::Null));
        if one != other {
            found.push(format!("`{name}` is {one} there, and {other} here"));
        }
    }
    found
}

/// What a method is made of, without versions.
fn parts(method: &MethodPlan) -> Vec<(&String, &Json)> {
    let turns = method.turns.iter().flat_map(|turn| [&turn.surrogate, &turn.solver]);
    turns.chain(&method.shadows).map(|spec| (&spec.name, &spec.options)).collect()
}
