//! `methods`: what is compared; or `surrogate`, `solver` and `shadows` at the top, where there is one method.

use plugin_api::Kind;
use serde_json::{Value as Json, json};
use serde_yaml::{Mapping, Value};

use super::{Key, KeyPath, Reader, described};
use crate::manifest::PluginUse;
use crate::manifest::mistake::ManifestError;
use crate::manifest::names::{ends_like_a_trial, is_name, text_of};

pub struct Methods;

/// A named pair of surrogate and solver, or several that take turns.
#[derive(Clone, Debug)]
pub struct Method {
    pub name: String,
    /// One or more: all surrogates observe, and each iteration is the next one's.
    pub turns: Vec<Turn>,
    /// Solvers that solve every problem too, are recorded, and are not followed.
    pub shadows: Vec<PluginUse>,
    /// Whether its keys stand at the top of the manifest.
    pub at_top: bool,
}

/// A surrogate and the solver that minimises its draws.
#[derive(Clone, Debug)]
pub struct Turn {
    pub surrogate: PluginUse,
    pub solver: PluginUse,
}

pub const METHOD_KEYS: &[&str] = &["surrogate", "solver", "shadows"];

/// The solver where none is named: of ours, the one that finds the lowest values in a few milliseconds and proves
/// how low they could be (`plugins/solvers/README.md` has the numbers).
pub const DEFAULT_SOLVER: &str = "certified";

impl Key for Methods {
    type Value = Vec<Method>;
    const NAMES: &'static [&'static str] = &["surrogate", "solver", "shadows", "methods"];

    fn read(keys: &Mapping, reader: &mut Reader<'_>) -> Option<Vec<Method>> {
        let root = KeyPath::root();
        let path = root.join("methods");
        let Some(methods) = keys.get("methods") else {
            if !keys.contains_key("surrogate") && !keys.contains_key("solver") {
                reader.wrong(&root, ManifestError::NoMethod);
                return None;
            }
            return Some(Vec::from_iter(only_method(keys, reader)));
        };
        for key in METHOD_KEYS {
            if keys.contains_key(key) {
                reader.wrong_key(&root.join(key), ManifestError::BesideMethods { key });
            }
        }
        let Value::Mapping(methods) = methods else {
            reader.wrong_type("methods", &path, methods, "names with a surrogate and a solver each");
            return None;
        };
        if methods.is_empty() {
            reader.wrong(&path, ManifestError::NoMethod);
        }
        let mut read = Vec::new();
        for (name, value) in methods {
            let name = text_of(name);
            let place = path.join(&name);
            if let Some(error) = wrong_name(&name) {
                reader.wrong_key(&place, error);
            }
            if let Some(keys) = reader.mapping(value, &place, METHOD_KEYS) {
                read.extend(method(keys, &place, name, reader));
            }
        }
        Some(read)
    }

    fn stand_in() -> Vec<Method> {
        Vec::new()
    }

    fn schema(name: &str, plugin: &dyn Fn(Kind) -> Json) -> Json {
        let solvers = json!({ "type": "array", "items": plugin(Kind::Solver) });
        let one_or_more = |kind: Kind| {
            let one = plugin(kind);
            json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
        };
        let surrogate = described(
            one_or_more(Kind::Surrogate),
            "The model; or several that all observe and take turns to propose.",
        );
        let solver = described(
            one_or_more(Kind::Solver),
            "What minimises its draws; `certified` where none is named. For several models, one each, or one for all.",
        );
        match name {
            "surrogate" => surrogate,
            "solver" => solver,
            "shadows" => {
                described(solvers, "Solvers that solve every problem too, recorded and not followed.")
            }
            _ => {
                let keys = json!({ "surrogate": surrogate, "solver": solver, "shadows": solvers });
                let method = json!({
                    "type": "object", "properties": keys, "required": ["surrogate"], "additionalProperties": false
                });
                described(
                    json!({ "type": "object", "minProperties": 1, "additionalProperties": method }),
                    "What is compared: a surrogate and a solver under a name each.",
                )
            }
        }
    }
}

/// The method whose keys stand at the top, named for its solver.
fn only_method(keys: &Mapping, reader: &mut Reader<'_>) -> Option<Method> {
    let mut method = method(keys, &KeyPath::root(), String::new(), reader)?;
    let mut names: Vec<&str> = Vec::new();
    for turn in &method.turns {
        let name = turn.solver.name.rsplit(['/', '\\']).next().unwrap_or_default();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    method.name = names.join("-");
    method.at_top = true;
    if let Some(error) = wrong_name(&method.name) {
        reader.wrong(&method.turns[0].solver.path, error);
    }
    Some(method)
}

fn wrong_name(name: &str) -> Option<ManifestError> {
    let name = name.to_owned();
    if !is_name(&name) {
        return Some(ManifestError::Name { name });
    }
    ends_like_a_trial(&name).then_some(ManifestError::MethodName { name })
}

fn method(keys: &Mapping, path: &KeyPath, name: String, reader: &mut Reader<'_>) -> Option<Method> {
    let surrogates = reader.required(keys, path, "surrogate", "the model, such as `surrogate: horseshoe`");
    let surrogates =
        surrogates.and_then(|value| one_or_more(value, &path.join("surrogate"), Kind::Surrogate, reader));
    let default = Value::from(DEFAULT_SOLVER);
    let solvers = keys.get("solver").filter(|value| !value.is_null()).unwrap_or(&default);
    let solvers = one_or_more(solvers, &path.join("solver"), Kind::Solver, reader);
    let place = path.join("shadows");
    let shadows = match keys.get("shadows") {
        None => Some(Vec::new()),
        Some(Value::Sequence(list)) => {
            let read = |(i, value)| reader.plugin(value, &place.join(i), Kind::Solver);
            let read: Vec<_> = list.iter().enumerate().map(read).collect();
            read.into_iter().collect()
        }
        Some(other) => {
            reader.wrong_type("shadows", &place, other, "a list of solvers");
            None
        }
    };
    let turns = turns(surrogates?, solvers?, path, reader);
    Some(Method { name, turns: turns?, shadows: shadows?, at_top: false })
}

/// A plugin, or a list of them.
fn one_or_more(value: &Value, path: &KeyPath, kind: Kind, reader: &mut Reader<'_>) -> Option<Vec<PluginUse>> {
    let Value::Sequence(list) = value else { return reader.plugin(value, path, kind).map(|one| vec![one]) };
    if list.is_empty() {
        reader.wrong_value(kind.name(), path, format!("needs at least one {kind}"));
        return None;
    }
    let read: Vec<_> =
        list.iter().enumerate().map(|(i, value)| reader.plugin(value, &path.join(i), kind)).collect();
    read.into_iter().collect()
}

/// A solver for each surrogate, or one for all.
fn turns(
    surrogates: Vec<PluginUse>,
    mut solvers: Vec<PluginUse>,
    path: &KeyPath,
    reader: &mut Reader<'_>,
) -> Option<Vec<Turn>> {
    let (expected, found) = (surrogates.len(), solvers.len());
    if found == 1 {
        solvers = vec![solvers.swap_remove(0); expected];
    }
    if solvers.len() != expected {
        let reason = format!("has {found} solvers for {expected} surrogates: one each, or one for all");
        reader.wrong_value("solver", &path.join("solver"), reason);
        return None;
    }
    let turn = |(surrogate, solver)| Turn { surrogate, solver };
    Some(surrogates.into_iter().zip(solvers).map(turn).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(String, String)>, Vec<String>> {
        let keys: Mapping = serde_yaml::from_str(text).unwrap();
        let mut mistakes = Vec::new();
        let methods = Methods::read(&keys, &mut Reader { mistakes: &mut mistakes, top: &[] });
        let messages: Vec<String> = mistakes.iter().map(|mistake| mistake.what.message.clone()).collect();
        if !messages.is_empty() {
            return Err(messages);
        }
        let turns = methods.unwrap().remove(0).turns;
        Ok(turns.into_iter().map(|turn| (turn.surrogate.name, turn.solver.name)).collect())
    }

    fn pairs(pairs: &[(&str, &str)]) -> Result<Vec<(String, String)>, Vec<String>> {
        Ok(pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect())
    }

    #[test]
    fn surrogates_that_take_turns_have_a_solver_each_or_one_for_all() {
        assert_eq!(read("surrogate: a"), pairs(&[("a", DEFAULT_SOLVER)]));
        assert_eq!(read("surrogate: [a, { use: b }]\nsolver: x"), pairs(&[("a", "x"), ("b", "x")]));
        assert_eq!(read("surrogate: [a, b]\nsolver: [x, y]"), pairs(&[("a", "x"), ("b", "y")]));
        let wrong = read("surrogate: [a, b, c]\nsolver: [x, y]").unwrap_err();
        assert_eq!(wrong, ["`solver` has 2 solvers for 3 surrogates: one each, or one for all"]);
        assert_eq!(read("surrogate: []").unwrap_err(), ["`surrogate` needs at least one surrogate"]);
    }
}
