//! What differs between runs that stand beside each other: which of them can be compared, and what each is called.

use serde_yaml::Value;

use super::settings::short_key;
use crate::record::RunFolder;

/// Keys of a plan that may differ between runs whose values are compared: who searches, how often, and how evaluations are
/// watched over. Any other says what is searched, or how long.
const COMPARABLE: [&str; 7] =
    ["name", "seeds", "methods", "sweep", "evaluation", "relabel", "plugin-directories"];

/// A run is called after this many differences at most, in this many letters.
const MOST_WORDS: usize = 2;
const MOST_LETTERS: usize = 32;

/// Something that is not the same in all runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Difference {
    pub key: String,
    /// One for each run; `–` where it has none.
    pub values: Vec<String>,
    /// Whether values of runs that differ in it cannot be compared.
    pub apart: bool,
}

/// What differs between runs, and what follows from it.
pub(crate) struct Differences {
    pub rows: Vec<Difference>,
    /// What each run is called, after what differs.
    pub labels: Vec<String>,
    /// What sets a run apart from others of the same experiment that it cannot be compared with; empty where nothing does.
    pub contexts: Vec<String>,
}

impl Differences {
    /// What differs between these runs, which have these names as folders.
    pub(crate) fn of(runs: &[RunFolder], names: &[String]) -> Self {
        let plans: Vec<Value> =
            runs.iter().map(|run| serde_yaml::from_str(&run.plan).unwrap_or(Value::Null)).collect();
        let planned = planned(&plans);
        let versions = versions(runs);
        let labels = labels(&planned, &versions, names);
        let apart: Vec<&Difference> = planned.iter().filter(|row| row.apart).collect();
        let context = |i: usize| words(&apart, i);
        let rivals = |i: usize| {
            let same = |j: &usize| *j != i && runs[*j].experiment == runs[i].experiment;
            (0..runs.len()).filter(same).any(|j| apart.iter().any(|row| row.values[i] != row.values[j]))
        };
        let contexts = (0..runs.len()).map(|i| if rivals(i) { context(i) } else { String::new() }).collect();
        Self { rows: [planned, versions].concat(), labels, contexts }
    }

    /// The keys that set runs apart.
    pub(crate) fn apart(&self) -> Vec<&str> {
        self.rows.iter().filter(|row| row.apart).map(|row| row.key.as_str()).collect()
    }
}

/// What differs between two plans that makes them two.
pub(crate) fn plans_differ(texts: [&str; 2]) -> Vec<Difference> {
    let plans = texts.map(|text| serde_yaml::from_str(text).unwrap_or(Value::Null));
    // Where plugins lie is not what they are.
    planned(&plans)
        .into_iter()
        .filter(|row| !["plugin-directories", "folder"].contains(&row.key.as_str()))
        .collect()
}

/// What differs between plans, in the order of their keys.
fn planned(plans: &[Value]) -> Vec<Difference> {
    let methods = |plan: &Value| -> Vec<String> {
        let methods = plan.get("methods").and_then(Value::as_mapping).into_iter().flatten();
        methods.filter_map(|(name, _)| name.as_str().map(str::to_owned)).collect()
    };
    let names: Vec<Vec<String>> = plans.iter().map(methods).collect();
    let shared = |method: &str| names.iter().all(|names| names.iter().any(|name| name == method));
    let leaves: Vec<Vec<(String, String)>> = plans
        .iter()
        .map(|plan| {
            let mut leaves = Vec::new();
            flatten(plan, "", &mut leaves);
            // A method that is not everywhere is told by its name alone.
            leaves.retain(|(key, _)| {
                key.strip_prefix("methods.").is_none_or(|rest| shared(rest.split('.').next().unwrap_or(rest)))
            });
            leaves
        })
        .collect();
    let mut rows: Vec<Difference> = Vec::new();
    let mut take = |key: &str, values: Vec<String>| {
        let top = key.split('.').next().unwrap_or(key);
        let apart = !COMPARABLE.contains(&top);
        if values.iter().any(|value| *value != values[0]) && !rows.iter().any(|row| row.key == key) {
            rows.push(Difference { key: key.to_owned(), values, apart });
        }
    };
    for (key, _) in leaves.iter().flatten() {
        // What every run sweeps over is at every point what the sweep says.
        let is_swept = |plan: &Value| {
            let axes = plan.get("sweep").and_then(Value::as_mapping).into_iter().flatten();
            let mut axes = axes.filter_map(|(axis, _)| axis.as_str());
            axes.any(|axis| {
                key.strip_prefix(axis).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        };
        if plans.iter().all(is_swept) {
            continue;
        }
        let value = |leaves: &Vec<(String, String)>| {
            let found = leaves.iter().find(|(other, _)| other == key);
            found.map_or_else(|| "–".to_owned(), |(_, value)| value.clone())
        };
        take(key, leaves.iter().map(value).collect());
    }
    take("methods", names.iter().map(|names| names.join(", ")).collect());
    rows
}

/// Every value below a key, with the way to it.
fn flatten(value: &Value, path: &str, leaves: &mut Vec<(String, String)>) {
    let scalar = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => serde_yaml::to_string(other).unwrap_or_default().trim().to_owned(),
    };
    match value {
        // A key of the sweep is a path with dots in it, and its values are one thing.
        Value::Mapping(map) if path != "sweep" => {
            for (key, value) in map {
                let key = key.as_str().map_or_else(|| scalar(key), str::to_owned);
                let path = if path.is_empty() { key } else { format!("{path}.{key}") };
                flatten(value, &path, leaves);
            }
        }
        Value::Mapping(map) => leaves.extend(map.iter().map(|(key, values)| {
            (format!("sweep.{}", scalar(key)), serde_json::to_string(values).unwrap_or_default())
        })),
        Value::Sequence(_) => {
            leaves.push((path.to_owned(), serde_json::to_string(value).unwrap_or_default()));
        }
        value => leaves.push((path.to_owned(), scalar(value))),
    }
}

/// What differs between the programs and machines: it is said, and keeps nothing from being compared. Whether an objective
/// is still the same shows in the values of the initial designs, which have to be equal.
fn versions(runs: &[RunFolder]) -> Vec<Difference> {
    let mut rows = Vec::new();
    let mut take = |key: String, values: Vec<Option<String>>| {
        let known: Vec<&String> = values.iter().flatten().collect();
        if known.iter().any(|value| *value != known[0]) {
            let values = values.into_iter().map(|value| value.unwrap_or_else(|| "–".to_owned())).collect();
            rows.push(Difference { key, values, apart: false });
        }
    };
    if runs.iter().any(|run| run.shard.is_some()) {
        let part =
            |run: &RunFolder| Some(run.shard.map_or_else(|| "all".to_owned(), |shard| shard.to_string()));
        take("part of the plan".to_owned(), runs.iter().map(part).collect());
    }
    let identities = || runs.iter().map(|run| run.identity.as_ref());
    take("host".to_owned(), identities().map(|identity| Some(identity?.host.clone())).collect());
    let mut plugins: Vec<(&str, &str)> = Vec::new();
    for plugin in identities().flatten().flat_map(|identity| &identity.plugins) {
        let plugin = (plugin.kind.as_str(), plugin.name.as_str());
        if !plugins.contains(&plugin) {
            plugins.push(plugin);
        }
    }
    for (kind, name) in plugins {
        let files: Vec<_> = identities()
            .map(|identity| identity?.plugins.iter().find(|file| file.kind == kind && file.name == name))
            .collect();
        let mut versions = files.iter().flatten().map(|file| &file.version);
        let first = versions.next();
        let same = versions.all(|version| Some(version) == first);
        let words = |file: &crate::record::PluginFile| match same {
            true => format!("{}, file {}…", file.version, file.sha256.get(..8).unwrap_or(&file.sha256)),
            false => file.version.clone(),
        };
        take(format!("{kind} {name}"), files.into_iter().map(|file| file.map(words)).collect());
    }
    let mut programs: Vec<&str> = Vec::new();
    for file in identities().flatten().flat_map(|identity| &identity.programs) {
        if !programs.contains(&file.name.as_str()) {
            programs.push(&file.name);
        }
    }
    for name in programs {
        let hash = |file: &crate::record::ProgramFile| {
            format!("file {}…", file.sha256.get(..8).unwrap_or(&file.sha256))
        };
        let of = |identity: Option<&crate::record::Identity>| {
            identity?.programs.iter().find(|file| file.name == name).map(hash)
        };
        take(name.to_owned(), identities().map(of).collect());
    }
    let last = |of: fn(&crate::record::session::Session) -> Option<String>| {
        runs.iter().map(|run| run.sessions.last().and_then(of)).collect::<Vec<_>>()
    };
    take("commit".to_owned(), last(|session| Some(session.commit.as_ref()?.chars().take(12).collect())));
    take("machine".to_owned(), last(|session| session.machine.name.clone()));
    rows
}

/// What runs are called: after what differs between their plans, or else between their programs, where that is short and tells
/// all of them apart; else by the names of their folders.
fn labels(planned: &[Difference], versions: &[Difference], names: &[String]) -> Vec<String> {
    let telling: Vec<&Difference> = match planned {
        [] => versions.iter().filter(|row| row.key != "machine").collect(),
        planned => planned.iter().filter(|row| row.key != "name").collect(),
    };
    let labels: Vec<String> = (0..names.len()).map(|i| words(&telling, i)).collect();
    let distinct = (1..labels.len()).all(|i| !labels[..i].contains(&labels[i]));
    let short =
        telling.len() <= MOST_WORDS && labels.iter().all(|label| label.chars().count() <= MOST_LETTERS);
    if distinct && short { labels } else { names.to_vec() }
}

/// A run's side of some differences: `l1 = 0.01, n = 25`.
fn words(rows: &[&Difference], run: usize) -> String {
    let keys: Vec<&String> = rows.iter().map(|row| &row.key).collect();
    let word = |row: &&Difference| match row.key.as_str() {
        // What a plugin is called says what it is.
        key if key == "methods" || key.ends_with(".use") => row.values[run].clone(),
        key => format!("{} = {}", short_key(key, &keys), row.values[run]),
    };
    rows.iter().map(word).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plans(texts: &[&str]) -> Vec<Value> {
        texts.iter().map(|text| serde_yaml::from_str(text).unwrap()).collect()
    }

    fn told(texts: &[&str]) -> Vec<(String, Vec<String>, bool)> {
        planned(&plans(texts)).into_iter().map(|row| (row.key, row.values, row.apart)).collect()
    }

    fn row(key: &str, values: [&str; 2], apart: bool) -> (String, Vec<String>, bool) {
        (key.to_owned(), values.map(str::to_owned).to_vec(), apart)
    }

    #[test]
    fn what_is_searched_sets_runs_apart_and_who_searches_does_not() {
        let one = "{ penalty: { l1: 0.0 }, seeds: 3, methods: { psr: { solver: { use: psr, options: { steps: 3 } } } } }";
        let two = "{ penalty: { l1: 0.01 }, seeds: 3, methods: { psr: { solver: { use: psr, options: { steps: 9 } } } } }";
        assert_eq!(
            told(&[one, two]),
            [
                row("penalty.l1", ["0.0", "0.01"], true),
                row("methods.psr.solver.options.steps", ["3", "9"], false)
            ]
        );
        assert_eq!(told(&[one, one]), []);
    }

    #[test]
    fn methods_that_are_not_everywhere_are_told_by_their_names() {
        let one = "{ methods: { psr: { solver: psr }, both: { solver: psr } } }";
        let two = "{ methods: { sdp: { solver: sdp }, both: { solver: psr } } }";
        assert_eq!(told(&[one, two]), [row("methods", ["psr, both", "sdp, both"], false)]);
    }

    #[test]
    fn what_every_run_sweeps_over_does_not_differ() {
        let one = "{ benchmark: { options: { n: 4 } }, sweep: { benchmark.options.n: [4, 8] } }";
        let two = "{ benchmark: { options: { n: 8 } }, sweep: { benchmark.options.n: [8, 9] } }";
        assert_eq!(told(&[one, two]), [row("sweep.benchmark.options.n", ["[4,8]", "[8,9]"], false)]);
        let alone = "{ benchmark: { options: { n: 8 } } }";
        assert_eq!(told(&[one, alone])[0], row("benchmark.options.n", ["4", "8"], true));
    }

    #[test]
    fn runs_are_called_after_what_differs_where_that_is_short() {
        let names = ["a".to_owned(), "b".to_owned()];
        let called = |one: &str, two: &str| labels(&planned(&plans(&[one, two])), &[], &names);
        assert_eq!(called("{ penalty: { l1: 0 } }", "{ penalty: { l1: 0.01 } }"), ["l1 = 0", "l1 = 0.01"]);
        assert_eq!(called("{ benchmark: { use: bqp } }", "{ benchmark: { use: labs } }"), ["bqp", "labs"]);
        assert_eq!(called("{ a: 1, b: 1, c: 1 }", "{ a: 2, b: 2, c: 2 }"), names);
        assert_eq!(called("{ a: 1 }", "{ a: 1 }"), names);
        let long = format!("{{ a: {} }}", "x".repeat(50));
        assert_eq!(called("{ a: 1 }", &long), names);
    }
}
