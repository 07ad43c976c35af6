//! What every plugin promises of its options.

use plugin_api::load::Description;
use plugin_api::{Error, ErrorKind, Result};
use serde_json::{Value as Json, json};

use super::Judged;

pub(super) const DEFAULTS: &str = "its defaults make a plugin";
const UNKNOWN: &str = "an option that it does not have is refused, with its name";
const LIMITS: &str = "a value of another type or beyond its limits is refused, with the option's name";

/// Whether an option's default says that there is none: it has to be given.
pub(super) fn is_empty_default(description: &Description, path: &str) -> bool {
    let name = path.split(['.', '[']).next().unwrap_or_default();
    description.defaults.get(name).is_some_and(|default| match default {
        Json::Null => true,
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(fields) => fields.is_empty(),
        Json::Bool(_) | Json::Number(_) => false,
    })
}

/// Tries options that no plugin should take.
pub(super) fn judge(
    description: &Description,
    given: &Json,
    make: &dyn Fn(&Json) -> Result<()>,
) -> Vec<Judged> {
    let with = |name: &str, value: Json| {
        let mut options = given.clone();
        options[name] = value;
        make(&options)
    };
    let unknown = "no-such-option";
    let broken = complaint(unknown, "1", &with(unknown, json!(1)));
    let mut judged = vec![Judged::new("unknown-options", UNKNOWN, broken)];
    let properties = description.schema.get("properties").and_then(Json::as_object);
    let mut broken = None;
    for (name, schema) in properties.into_iter().flatten() {
        for wrong in beyond(resolved(schema, &description.schema)) {
            let text = wrong.to_string();
            broken = broken.or_else(|| complaint(name, &text, &with(name, wrong)));
        }
    }
    judged.push(Judged::new("limits", LIMITS, broken));
    judged
}

/// What is wrong with the answer to a value that should be refused.
fn complaint(name: &str, value: &str, answer: &Result<()>) -> Option<String> {
    match answer {
        Ok(()) => Some(format!("it took `{name}: {value}`")),
        Err(error) if error.kind() == ErrorKind::Options && names(error, name) => None,
        Err(error) if error.kind() == ErrorKind::Panicked => Some(format!("`{name}: {value}`: {error}")),
        Err(error) => Some(format!("it refused `{name}: {value}` without naming the option: {error}")),
    }
}

fn names(error: &Error, name: &str) -> bool {
    error.path().split(['.', '[']).next() == Some(name) || error.message().contains(name)
}

fn resolved<'a>(schema: &'a Json, root: &'a Json) -> &'a Json {
    let target = schema.get("$ref").and_then(Json::as_str);
    target.and_then(|pointer| root.pointer(pointer.trim_start_matches('#'))).unwrap_or(schema)
}

/// Values that a schema does not allow: beyond each limit, and of another type.
fn beyond(schema: &Json) -> Vec<Json> {
    let types: Vec<&str> = match schema.get("type") {
        Some(Json::String(one)) => vec![one],
        Some(Json::Array(several)) => several.iter().filter_map(Json::as_str).collect(),
        _ => vec![],
    };
    let mut wrong = Vec::new();
    let limit = |key: &str| schema.get(key).and_then(Json::as_f64);
    // As a whole number where it is one: an option that counts refuses 0.5 for its type.
    let number = |value: f64| match value.fract() == 0.0 && value.abs() < 1e15 {
        true => json!(value as i64),
        false => json!(value),
    };
    wrong.extend(limit("minimum").map(|least| number(least - 1.0)));
    wrong.extend(limit("maximum").filter(|most| *most < 1e15).map(|most| number(most + 1.0)));
    wrong.extend(limit("exclusiveMinimum").map(number));
    wrong.extend(limit("exclusiveMaximum").map(number));
    if types.iter().any(|name| matches!(*name, "integer" | "number")) && !types.contains(&"string") {
        wrong.push(json!("a word"));
    }
    if types.contains(&"boolean") && types.len() == 1 {
        wrong.push(json!("perhaps"));
    }
    if schema.get("enum").is_some() || schema.get("oneOf").is_some() {
        wrong.push(json!("no-such-word"));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_beyond_a_schema_are_beyond_each_of_its_limits() {
        assert_eq!(
            beyond(&json!({ "type": "integer", "minimum": 1, "maximum": 10 })),
            [json!(0), json!(11), json!("a word")]
        );
        let open = json!({ "type": ["number", "null"], "exclusiveMinimum": 0, "exclusiveMaximum": 0.5 });
        assert_eq!(beyond(&open), [json!(0), json!(0.5), json!("a word")]);
        assert_eq!(beyond(&json!({ "enum": ["a"] })), [json!("no-such-word")]);
        assert!(beyond(&json!({ "type": "string" })).is_empty());
    }

    #[test]
    fn a_refusal_has_to_name_the_option() {
        assert_eq!(complaint("n", "0", &Err(Error::option("n", "must be at least 1"))), None);
        assert_eq!(complaint("n", "0", &Err(Error::option("n[3].x", "must be at least 1"))), None);
        assert_eq!(complaint("n", "0", &Ok(())).unwrap(), "it took `n: 0`");
        assert!(complaint("n", "0", &Err(Error::new("oh"))).unwrap().contains("without naming the option"));
    }
}
