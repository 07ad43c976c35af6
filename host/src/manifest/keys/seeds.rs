//! `seeds`: how many, or which. Every method runs once with each.

use std::collections::BTreeSet;

use plugin_api::Kind;
use serde_json::{Value as Json, json};
use serde_yaml::{Mapping, Value};

use super::{Key, KeyPath, Reader, count_schema, described};

pub struct Seeds;

impl Seeds {
    /// As a manifest has it: a number where they are counted from 1.
    pub fn write(seeds: &[u64]) -> Json {
        let counted = seeds.iter().zip(1..).all(|(&seed, i)| seed == i);
        if counted { json!(seeds.len()) } else { json!(seeds) }
    }
}

impl Key for Seeds {
    type Value = Vec<u64>;
    const NAMES: &'static [&'static str] = &["seeds"];

    fn read(keys: &Mapping, reader: &mut Reader<'_>) -> Option<Vec<u64>> {
        let path = KeyPath::root().join("seeds");
        let Some(value) = keys.get("seeds") else { return Some(Self::stand_in()) };
        let Value::Sequence(list) = value else {
            return reader.count(value, "seeds", &path).map(|count| (1..=count as u64).collect());
        };
        let mut seen = BTreeSet::new();
        let mut seeds = Vec::new();
        for (i, value) in list.iter().enumerate() {
            let place = path.join(i);
            match value.as_u64() {
                Some(seed) if seen.insert(seed) => seeds.push(seed),
                Some(seed) => reader.wrong_value("seeds", &place, format!("has {seed} twice")),
                None if value.is_number() => {
                    let number = serde_yaml::to_string(value).unwrap_or_default();
                    let reason = format!("must be whole numbers from 0, not {}", number.trim());
                    reader.wrong_value("seeds", &place, reason);
                }
                None => reader.wrong_type("seeds", &place, value, "whole numbers"),
            }
        }
        if list.is_empty() {
            reader.wrong_value("seeds", &path, "needs at least one seed");
        }
        (seeds.len() == list.len() && !list.is_empty()).then_some(seeds)
    }

    fn stand_in() -> Vec<u64> {
        vec![1]
    }

    fn schema(_: &str, _: &dyn Fn(Kind) -> Json) -> Json {
        described(
            json!({ "oneOf": [count_schema(), {
                "type": "array", "items": { "type": "integer", "minimum": 0 }, "minItems": 1, "uniqueItems": true
            }] }),
            "How many seeds, or which. Every method runs once with each.",
        )
    }
}
