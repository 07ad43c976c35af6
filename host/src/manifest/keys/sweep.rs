//! `sweep`: key paths with lists of values; the experiment is run for every combination.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use plugin_api::Kind;
use serde_json::{Map, Value as Json, json};
use serde_yaml::{Mapping, Value};

use super::{Key, KeyPath, Reader, described};
use crate::manifest::mistake::ManifestError;
use crate::manifest::names::text_of;

pub struct Sweep;

/// A key path, and the values it takes in turn.
#[derive(Clone, Debug)]
pub struct Axis {
    pub path: KeyPath,
    pub values: Vec<Value>,
}

impl Sweep {
    /// As a manifest has it.
    pub fn write(axes: &[Axis]) -> Json {
        axes.iter().map(|axis| (axis.path.to_string(), json!(axis.values))).collect::<Map<_, _>>().into()
    }
}

/// Keys that are the same for the whole experiment.
const FIXED: [&str; 4] = ["name", "seeds", "sweep", "plugin-directories"];

impl Key for Sweep {
    type Value = Vec<Axis>;
    const NAMES: &'static [&'static str] = &["sweep"];

    fn read(keys: &Mapping, reader: &mut Reader<'_>) -> Option<Vec<Axis>> {
        let Some(value) = keys.get("sweep") else { return Some(Vec::new()) };
        let path = KeyPath::root().join("sweep");
        let Value::Mapping(axes) = value else {
            reader.wrong_type("sweep", &path, value, "key paths with lists of values");
            return None;
        };
        let mut sweep = Vec::new();
        for (key, values) in axes {
            let key = text_of(key);
            let place = path.join(&key);
            let Some(target) = KeyPath::parse(&key) else {
                reader.wrong_key(&place, ManifestError::UnknownKey { key, known: vec![] });
                continue;
            };
            if FIXED.contains(&target.keys()[0].as_str()) {
                reader.wrong_value(&key, &place, "is the same for the whole experiment, and cannot be swept");
                continue;
            }
            match values {
                Value::Sequence(values) if !values.is_empty() => {
                    for i in repeated(values) {
                        let words = serde_yaml::to_string(&values[i]).unwrap_or_default();
                        let reason = format!("has {} twice", words.trim());
                        reader.wrong_value(&key, &place.join(i), reason);
                    }
                    sweep.push(Axis { path: target, values: values.clone() });
                }
                Value::Sequence(_) => reader.wrong_value(&key, &place, "needs at least one value"),
                other => reader.wrong_type(&key, &place, other, "a list of values"),
            }
        }
        Some(sweep)
    }

    fn stand_in() -> Vec<Axis> {
        Vec::new()
    }

    fn schema(_: &str, _: &dyn Fn(Kind) -> Json) -> Json {
        described(
            json!({ "type": "object", "additionalProperties": { "type": "array", "minItems": 1 } }),
            "Key paths with lists of values; the experiment is run for every combination.",
        )
    }
}

/// Which values stand in the list before; there may be a hundred thousand of them.
fn repeated<'a>(values: &'a [Value]) -> Vec<usize> {
    let mut known: BTreeMap<u64, Vec<&'a Value>> = BTreeMap::new();
    let is_repeated = |&(_, value): &(usize, &'a Value)| {
        let alike = known.entry(bucket(value)).or_default();
        let repeated = alike.contains(&value);
        alike.push(value);
        repeated
    };
    values.iter().enumerate().filter(is_repeated).map(|(i, _)| i).collect()
}

/// The same for equal values. All fractions have one hash in this library, so that numbers are their own.
fn bucket(value: &Value) -> u64 {
    match value.as_f64() {
        // Both zeros are equal.
        Some(number) => (number + 0.0).to_bits(),
        None => {
            let mut hasher = DefaultHasher::new();
            value.hash(&mut hasher);
            hasher.finish()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_stands_before_is_found_whatever_it_is() {
        let values: Value = serde_yaml::from_str(
            "[1, 1.5, a, '1', {x: 1, y: 2}, a, [1], {y: 2, x: 1}, 1, null, ~, 1.5, -0.0, 0.0]",
        )
        .unwrap();
        assert_eq!(repeated(values.as_sequence().unwrap()), [5, 7, 8, 10, 11, 13]);
    }
}
