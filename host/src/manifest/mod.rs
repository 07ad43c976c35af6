//! A manifest as a user writes it: what each key may hold, and nothing decided yet.
//!
//! Reading goes on after a mistake, so that all of them are reported at once.

mod evaluation;
mod plugin;

use std::collections::BTreeSet;

use plugin_api::Kind;
use serde_json::Value as Json;
use serde_yaml::{Mapping, Value};

use crate::diagnostic::nearest;
use crate::plan::error::{Mistake, PlanError};
use crate::yaml::KeyPath;

pub use self::evaluation::{EVALUATION_KEYS, Evaluation, MOST_RETRIES, OnFailure};

/// One experiment at one point of its sweep.
#[derive(Clone, Debug)]
pub struct Manifest {
    pub name: String,
    pub seeds: Vec<u64>,
    pub budget: Budget,
    pub penalty: Penalty,
    pub evaluation: Evaluation,
    /// Absent only where it is a mistake.
    pub benchmark: Option<PluginUse>,
    /// By default the one that fits the space.
    pub encoder: Option<PluginUse>,
    pub methods: Vec<Method>,
    /// Folders of plugins, as written.
    pub plugin_directories: Vec<String>,
}

/// How many evaluations.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Random points, before there is anything to learn from.
    pub initial: usize,
    /// Points proposed after them.
    pub evaluations: usize,
}

/// What the experiment adds to the objective.
#[derive(Clone, Copy, Debug)]
pub struct Penalty {
    /// Cost of each bit that is set.
    pub l1: f64,
}

/// A named pair of surrogate and solver.
#[derive(Clone, Debug)]
pub struct Method {
    pub name: String,
    pub surrogate: PluginUse,
    pub solver: PluginUse,
    /// Solvers that solve every problem too, are recorded, and are not followed.
    pub shadows: Vec<PluginUse>,
}

/// A plugin named in a manifest, by a bare word or by `use` and `options`.
#[derive(Clone, Debug)]
pub struct PluginUse {
    pub kind: Kind,
    /// A name, or a path to a file where it has a `/` in it.
    pub name: String,
    /// A JSON object.
    pub options: Json,
    /// Where it stands.
    pub path: KeyPath,
}

impl PluginUse {
    /// Where its options stand.
    pub fn options_path(&self) -> KeyPath {
        self.path.join("options")
    }
}

/// The keys of a manifest, in the order of `experiments/README.md`.
pub const KEYS: &[&str] = &[
    "name",
    "seeds",
    "budget",
    "penalty",
    "evaluation",
    "benchmark",
    "encoder",
    "surrogate",
    "solver",
    "shadows",
    "methods",
    "sweep",
    "plugin-directories",
];
/// The keys of a method.
pub const METHOD_KEYS: &[&str] = &["surrogate", "solver", "shadows"];
/// The keys of a plugin.
pub const PLUGIN_KEYS: &[&str] = &["use", "options"];
/// The keys of a budget.
pub const BUDGET_KEYS: &[&str] = &["initial", "evaluations"];
/// The keys of a penalty.
pub const PENALTY_KEYS: &[&str] = &["l1"];

/// The solver where none is named: of ours, the one that finds the lowest values in a few milliseconds and proves
/// how low they could be (`plugins/solvers/README.md` has the numbers).
pub const DEFAULT_SOLVER: &str = "certified";

/// No experiment has more seeds or evaluations than this.
pub const MOST: usize = 1_000_000;

impl Manifest {
    /// Reads a tree; `None` where it is no manifest at all.
    ///
    /// What is wrong goes to `mistakes`, with something harmless in its place, so that what is right can be
    /// checked further. Only where there are no mistakes is it what the user wrote.
    pub fn read(tree: &Value, mistakes: &mut Vec<Mistake>) -> Option<Self> {
        let mut reader = Reader { mistakes };
        let root = KeyPath::root();
        let keys = reader.mapping(tree, &root, KEYS)?;
        let name = reader.required(keys, &root, "name", "a name for the experiment and its results folder");
        let name = name.and_then(|value| reader.name(value, &root.join("name")));
        let seeds = keys.get("seeds").map_or(Some(vec![1]), |value| reader.seeds(value));
        let budget =
            reader.required(keys, &root, "budget", "such as `budget: { initial: 20, evaluations: 100 }`");
        let budget = budget.and_then(|value| reader.budget(value));
        let penalty = keys.get("penalty").map_or(Some(Penalty { l1: 0.0 }), |value| reader.penalty(value));
        let evaluation =
            keys.get("evaluation").map_or(Some(Evaluation::default()), |value| reader.evaluation(value));
        let benchmark =
            reader.required(keys, &root, "benchmark", "the objective, such as `benchmark: ising`");
        let benchmark =
            benchmark.and_then(|value| reader.plugin(value, &root.join("benchmark"), Kind::Benchmark));
        let encoder =
            keys.get("encoder").map(|value| reader.plugin(value, &root.join("encoder"), Kind::Encoder));
        let methods = reader.methods(keys);
        let plugin_directories = keys
            .get("plugin-directories")
            .map_or(Some(Vec::new()), |value| reader.texts(value, &root.join("plugin-directories")));
        Some(Self {
            name: name.unwrap_or_default(),
            seeds: seeds.unwrap_or_else(|| vec![1]),
            budget: budget.unwrap_or(Budget { initial: 1, evaluations: 1 }),
            penalty: penalty.unwrap_or(Penalty { l1: 0.0 }),
            evaluation: evaluation.unwrap_or_default(),
            benchmark,
            encoder: encoder.flatten(),
            methods,
            plugin_directories: plugin_directories.unwrap_or_default(),
        })
    }
}

/// Reads a plugin as a manifest names it: a bare word, or `use` and `options`.
pub fn read_plugin(value: &Value, kind: Kind, mistakes: &mut Vec<Mistake>) -> Option<PluginUse> {
    Reader { mistakes }.plugin(value, &KeyPath::root(), kind)
}

/// The axes of a sweep, in the order of the file: a key path, and the values it takes in turn.
pub fn read_sweep(tree: &Value, mistakes: &mut Vec<Mistake>) -> Vec<(KeyPath, Vec<Value>)> {
    let Some(value) = tree.get("sweep") else { return Vec::new() };
    let path = KeyPath::root().join("sweep");
    let mut reader = Reader { mistakes };
    let Value::Mapping(axes) = value else {
        reader.wrong_type("sweep", &path, value, "key paths with lists of values");
        return Vec::new();
    };
    let mut sweep = Vec::new();
    for (key, values) in axes {
        let key = text_of(key);
        let place = path.join(&key);
        let Some(target) = KeyPath::parse(&key) else {
            let error = PlanError::UnknownKey { key, nearest: None, known: vec![] };
            reader.mistakes.push(Mistake::at_key(&place, error));
            continue;
        };
        if matches!(target.keys()[0].as_str(), "name" | "seeds" | "sweep" | "plugin-directories") {
            reader.wrong_value(&key, &place, "is the same for the whole experiment, and cannot be swept");
            continue;
        }
        match values {
            Value::Sequence(values) if !values.is_empty() => sweep.push((target, values.clone())),
            Value::Sequence(_) => reader.wrong_value(&key, &place, "needs at least one value"),
            other => reader.wrong_type(&key, &place, other, "a list of values"),
        }
    }
    sweep
}

struct Reader<'a> {
    mistakes: &'a mut Vec<Mistake>,
}

impl Reader<'_> {
    fn wrong_type(&mut self, key: &str, path: &KeyPath, found: &Value, expected: &'static str) {
        let error = PlanError::Type { key: key.to_owned(), found: type_of(found), expected };
        self.mistakes.push(Mistake::at(path, error));
    }

    fn wrong_value(&mut self, key: &str, path: &KeyPath, reason: impl Into<String>) {
        let error = PlanError::Value { key: key.to_owned(), reason: reason.into() };
        self.mistakes.push(Mistake::at(path, error));
    }

    /// A mapping with no other keys than the known ones.
    fn mapping<'v>(
        &mut self,
        value: &'v Value,
        path: &KeyPath,
        known: &[&'static str],
    ) -> Option<&'v Mapping> {
        let Value::Mapping(mapping) = value else {
            match path.keys().last() {
                Some(key) => self.wrong_type(key, path, value, "keys with values"),
                None => {
                    self.mistakes.push(Mistake::at(path, PlanError::NoManifest { found: type_of(value) }))
                }
            }
            return None;
        };
        for key in mapping.keys().map(text_of) {
            if !known.contains(&key.as_str()) {
                let nearest = nearest(&key, known.iter().copied());
                let place = path.join(&key);
                let error = PlanError::UnknownKey { key, nearest, known: known.to_vec() };
                self.mistakes.push(Mistake::at_key(&place, error));
            }
        }
        Some(mapping)
    }

    fn required<'v>(
        &mut self,
        keys: &'v Mapping,
        path: &KeyPath,
        key: &'static str,
        hint: &'static str,
    ) -> Option<&'v Value> {
        let value = keys.get(key).filter(|value| !value.is_null());
        // A misspelt key has been reported already, with the right one in the hint.
        let other = |name: &String| name != key && !KEYS.contains(&name.as_str());
        let misspelt = keys.keys().map(text_of).filter(other).any(|name| nearest(&name, [key]).is_some());
        if value.is_none() && !misspelt {
            self.mistakes.push(Mistake::at(&path.join(key), PlanError::MissingKey { key, hint }));
        }
        value
    }

    /// A text that can be a folder's name on every system.
    fn name(&mut self, value: &Value, path: &KeyPath) -> Option<String> {
        let Value::String(name) = value else {
            self.wrong_type("name", path, value, "text");
            return None;
        };
        if is_name(name) {
            return Some(name.clone());
        }
        self.mistakes.push(Mistake::at(path, PlanError::Name { name: name.clone() }));
        None
    }

    fn count(&mut self, value: &Value, key: &str, path: &KeyPath) -> Option<usize> {
        let Value::Number(number) = value else {
            self.wrong_type(key, path, value, "a whole number");
            return None;
        };
        let count = number.as_u64().and_then(|count| usize::try_from(count).ok());
        let count = count.filter(|count| (1..=MOST).contains(count));
        if count.is_none() {
            self.wrong_value(key, path, format!("must be a whole number from 1 to {MOST}, not {number}"));
        }
        count
    }

    /// A number of seeds, or a list of them.
    fn seeds(&mut self, value: &Value) -> Option<Vec<u64>> {
        let path = KeyPath::root().join("seeds");
        let Value::Sequence(list) = value else {
            return self.count(value, "seeds", &path).map(|count| (1..=count as u64).collect());
        };
        let mut seen = BTreeSet::new();
        let mut seeds = Vec::new();
        for (i, value) in list.iter().enumerate() {
            let place = path.join(i);
            match value.as_u64() {
                Some(seed) if seen.insert(seed) => seeds.push(seed),
                Some(seed) => self.wrong_value("seeds", &place, format!("has {seed} twice")),
                None => self.wrong_type("seeds", &place, value, "whole numbers"),
            }
        }
        if list.is_empty() {
            self.wrong_value("seeds", &path, "needs at least one seed");
        }
        (seeds.len() == list.len() && !list.is_empty()).then_some(seeds)
    }

    fn budget(&mut self, value: &Value) -> Option<Budget> {
        let path = KeyPath::root().join("budget");
        let keys = self.mapping(value, &path, BUDGET_KEYS)?;
        let initial = self.required(keys, &path, "initial", "how many random points come first");
        let initial = initial.and_then(|value| self.count(value, "initial", &path.join("initial")));
        let evaluations =
            self.required(keys, &path, "evaluations", "how many points are proposed after them");
        let evaluations =
            evaluations.and_then(|value| self.count(value, "evaluations", &path.join("evaluations")));
        Some(Budget { initial: initial?, evaluations: evaluations? })
    }

    fn penalty(&mut self, value: &Value) -> Option<Penalty> {
        let path = KeyPath::root().join("penalty");
        let keys = self.mapping(value, &path, PENALTY_KEYS)?;
        let Some(value) = keys.get("l1") else { return Some(Penalty { l1: 0.0 }) };
        let place = path.join("l1");
        match value.as_f64() {
            Some(l1) if l1.is_finite() && l1 >= 0.0 => Some(Penalty { l1 }),
            Some(l1) => {
                self.wrong_value("l1", &place, format!("must be a finite number of at least 0, not {l1}"));
                None
            }
            None => {
                self.wrong_type("l1", &place, value, "a number");
                None
            }
        }
    }

    fn methods(&mut self, keys: &Mapping) -> Vec<Method> {
        let root = KeyPath::root();
        let path = root.join("methods");
        let Some(methods) = keys.get("methods") else {
            if !keys.contains_key("surrogate") && !keys.contains_key("solver") {
                self.mistakes.push(Mistake::at(&root, PlanError::NoMethod));
                return Vec::new();
            }
            // One method, named for its solver.
            let mut methods = Vec::from_iter(self.method(keys, &root, String::new()));
            for method in &mut methods {
                method.name = method.solver.name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
                if !is_name(&method.name) {
                    let error = PlanError::Name { name: method.name.clone() };
                    self.mistakes.push(Mistake::at(&method.solver.path, error));
                }
            }
            return methods;
        };
        for key in METHOD_KEYS {
            if keys.contains_key(key) {
                self.mistakes.push(Mistake::at_key(&root.join(key), PlanError::BesideMethods { key }));
            }
        }
        let Value::Mapping(methods) = methods else {
            self.wrong_type("methods", &path, methods, "names with a surrogate and a solver each");
            return Vec::new();
        };
        if methods.is_empty() {
            self.mistakes.push(Mistake::at(&path, PlanError::NoMethod));
        }
        let mut read = Vec::new();
        for (name, value) in methods {
            let name = text_of(name);
            let place = path.join(&name);
            if !is_name(&name) {
                self.mistakes.push(Mistake::at_key(&place, PlanError::Name { name: name.clone() }));
            }
            if let Some(keys) = self.mapping(value, &place, METHOD_KEYS) {
                read.extend(self.method(keys, &place, name));
            }
        }
        read
    }

    fn method(&mut self, keys: &Mapping, path: &KeyPath, name: String) -> Option<Method> {
        let surrogate = self.required(keys, path, "surrogate", "the model, such as `surrogate: horseshoe`");
        let surrogate =
            surrogate.and_then(|value| self.plugin(value, &path.join("surrogate"), Kind::Surrogate));
        let default = Value::from(DEFAULT_SOLVER);
        let solver = keys.get("solver").filter(|value| !value.is_null()).unwrap_or(&default);
        let solver = self.plugin(solver, &path.join("solver"), Kind::Solver);
        let place = path.join("shadows");
        let shadows = match keys.get("shadows") {
            None => Some(Vec::new()),
            Some(Value::Sequence(list)) => {
                let read = |(i, value)| self.plugin(value, &place.join(i), Kind::Solver);
                let read: Vec<_> = list.iter().enumerate().map(read).collect();
                read.into_iter().collect()
            }
            Some(other) => {
                self.wrong_type("shadows", &place, other, "a list of solvers");
                None
            }
        };
        Some(Method { name, surrogate: surrogate?, solver: solver?, shadows: shadows? })
    }
}

/// Whether a text can be a folder's name on every system, and a name in every table.
pub fn is_name(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric();
    (1..=64).contains(&name.len())
        && name.starts_with(letter)
        && name.chars().all(|c| letter(c) || matches!(c, '-' | '_' | '.'))
}

fn text_of(key: &Value) -> String {
    match key {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        _ => "?".to_owned(),
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "empty",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Sequence(_) => "a list",
        Value::Mapping(_) => "a mapping",
        Value::Tagged(_) => "a tagged value",
    }
}
