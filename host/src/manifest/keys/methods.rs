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
    /// Empty where it is named for a solver that the plan chooses.
    pub name: String,
    /// All observe, and each iteration is the next one's; none where the plan chooses.
    pub surrogates: Vec<PluginUse>,
    /// One for each surrogate, or one for all; none where the plan chooses.
    pub solvers: Vec<PluginUse>,
    /// Where its keys stand.
    pub path: KeyPath,
    /// Solvers that solve every problem too, are recorded, and are not followed.
    pub shadows: Vec<PluginUse>,
    /// Whether its keys stand at the top of the manifest.
    pub at_top: bool,
}

pub const METHOD_KEYS: &[&str] = &["surrogate", "solver", "shadows"];

/// The name of a method that names neither surrogate nor solver.
const DEFAULT: &str = "default";

impl Method {
    /// Of solvers with these names, each once.
    pub fn name_of<'n>(solvers: impl Iterator<Item = &'n str>) -> String {
        let mut names: Vec<&str> = Vec::new();
        for name in solvers {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.join("-")
    }

    /// Whether everything is left to the plan.
    pub fn is_default(&self) -> bool {
        self.surrogates.is_empty() && self.solvers.is_empty()
    }
}

impl Key for Methods {
    type Value = Vec<Method>;
    const NAMES: &'static [&'static str] = &["surrogate", "solver", "shadows", "methods"];

    fn read(keys: &Mapping, reader: &mut Reader<'_>) -> Option<Vec<Method>> {
        let root = KeyPath::root();
        let path = root.join("methods");
        let Some(methods) = keys.get("methods") else {
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
            "The model; or several that all observe and take turns to propose. By default those that did best over many \
             objectives.",
        );
        let solver = described(
            one_or_more(Kind::Solver),
            "What minimises its draws; one that fits where none is named. For several models, one each, or one for all.",
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
                    "type": "object", "properties": keys, "additionalProperties": false
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
    method.at_top = true;
    if let Some(first) = method.solvers.first() {
        let names =
            method.solvers.iter().map(|solver| solver.name.rsplit(['/', '\\']).next().unwrap_or_default());
        method.name = Method::name_of(names);
        if let Some(error) = wrong_name(&method.name) {
            reader.wrong(&first.path, error);
        }
    } else if method.is_default() {
        method.name = DEFAULT.to_owned();
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
    let surrogates = none_or_more(keys, "surrogate", path, Kind::Surrogate, reader);
    let solvers = none_or_more(keys, "solver", path, Kind::Solver, reader);
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
    let (surrogates, solvers) = (surrogates?, solvers?);
    let (models, found) = (surrogates.len(), solvers.len());
    if found > 1 && found != models {
        let models = if models == 0 {
            "surrogates that are not named".to_owned()
        } else {
            format!("{models} surrogates")
        };
        let reason = format!("has {found} solvers for {models}: one each, or one for all");
        reader.wrong_value("solver", &path.join("solver"), reason);
        return None;
    }
    Some(Method { name, surrogates, solvers, path: path.clone(), shadows: shadows?, at_top: false })
}

/// The plugins under a key that may be absent: one, or a list of them.
fn none_or_more(
    keys: &Mapping,
    key: &str,
    path: &KeyPath,
    kind: Kind,
    reader: &mut Reader<'_>,
) -> Option<Vec<PluginUse>> {
    let Some(value) = keys.get(key).filter(|value| !value.is_null()) else { return Some(Vec::new()) };
    let path = &path.join(key);
    let Value::Sequence(list) = value else { return reader.plugin(value, path, kind).map(|one| vec![one]) };
    if list.is_empty() {
        reader.wrong_value(kind.name(), path, format!("needs at least one {kind}"));
        return None;
    }
    let read: Vec<_> =
        list.iter().enumerate().map(|(i, value)| reader.plugin(value, &path.join(i), kind)).collect();
    read.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<[String; 3], Vec<String>> {
        let keys: Mapping = serde_yaml::from_str(text).unwrap();
        let mut mistakes = Vec::new();
        let methods = Methods::read(&keys, &mut Reader { mistakes: &mut mistakes, top: &[] });
        let messages: Vec<String> = mistakes.iter().map(|mistake| mistake.what.message.clone()).collect();
        if !messages.is_empty() {
            return Err(messages);
        }
        let method = methods.unwrap().remove(0);
        let names = |plugins: &[PluginUse]| {
            plugins.iter().map(|plugin| plugin.name.as_str()).collect::<Vec<_>>().join(" ")
        };
        Ok([names(&method.surrogates), names(&method.solvers), method.name])
    }

    fn method(surrogates: &str, solvers: &str, name: &str) -> Result<[String; 3], Vec<String>> {
        Ok([surrogates, solvers, name].map(str::to_owned))
    }

    #[test]
    fn surrogates_that_take_turns_have_a_solver_each_or_one_for_all() {
        assert_eq!(read("surrogate: [a, { use: b }]\nsolver: x"), method("a b", "x", "x"));
        assert_eq!(read("surrogate: [a, b]\nsolver: [x, y]"), method("a b", "x y", "x-y"));
        let wrong = read("surrogate: [a, b, c]\nsolver: [x, y]").unwrap_err();
        assert_eq!(wrong, ["`solver` has 2 solvers for 3 surrogates: one each, or one for all"]);
        let wrong = read("solver: [x, y]").unwrap_err();
        assert_eq!(
            wrong,
            ["`solver` has 2 solvers for surrogates that are not named: one each, or one for all"]
        );
        assert_eq!(read("surrogate: []").unwrap_err(), ["`surrogate` needs at least one surrogate"]);
    }

    #[test]
    fn what_is_not_named_is_left_to_the_plan() {
        assert_eq!(read("surrogate: a"), method("a", "", ""));
        assert_eq!(read("solver: x"), method("", "x", "x"));
        assert_eq!(read("seeds: 1"), method("", "", "default"));
        assert_eq!(read("methods: { mine: {} }"), method("", "", "mine"));
    }
}
