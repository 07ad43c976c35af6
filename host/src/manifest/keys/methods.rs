//! `methods`: what is compared; or `surrogate`, `solver` and `shadows` at the top, where there is one method.

use plugin_api::Kind;
use serde_json::{Value as Json, json};
use serde_yaml::{Mapping, Value};

use super::{Key, KeyPath, Reader, described};
use crate::manifest::PluginUse;
use crate::manifest::mistake::ManifestError;
use crate::manifest::names::{ends_like_a_trial, is_name, text_of};

pub struct Methods;

/// A named pair of surrogate and solver.
#[derive(Clone, Debug)]
pub struct Method {
    pub name: String,
    pub surrogate: PluginUse,
    pub solver: PluginUse,
    /// Solvers that solve every problem too, are recorded, and are not followed.
    pub shadows: Vec<PluginUse>,
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
        match name {
            "surrogate" => described(plugin(Kind::Surrogate), "The model, where there is one method."),
            "solver" => described(
                plugin(Kind::Solver),
                "What minimises its draws, where there is one method; `certified` where none is named.",
            ),
            "shadows" => {
                described(solvers, "Solvers that solve every problem too, recorded and not followed.")
            }
            _ => {
                let keys = json!({
                    "surrogate": plugin(Kind::Surrogate), "solver": plugin(Kind::Solver), "shadows": solvers
                });
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
    method.name = method.solver.name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    if let Some(error) = wrong_name(&method.name) {
        reader.wrong(&method.solver.path, error);
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
    let surrogate = reader.required(keys, path, "surrogate", "the model, such as `surrogate: horseshoe`");
    let surrogate =
        surrogate.and_then(|value| reader.plugin(value, &path.join("surrogate"), Kind::Surrogate));
    let default = Value::from(DEFAULT_SOLVER);
    let solver = keys.get("solver").filter(|value| !value.is_null()).unwrap_or(&default);
    let solver = reader.plugin(solver, &path.join("solver"), Kind::Solver);
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
    Some(Method { name, surrogate: surrogate?, solver: solver?, shadows: shadows? })
}
