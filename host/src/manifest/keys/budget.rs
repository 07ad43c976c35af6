//! `budget`: how many points are evaluated.

use plugin_api::Kind;
use serde::Serialize;
use serde_json::{Value as Json, json};
use serde_yaml::Mapping;

use super::{Key, KeyPath, Reader, count_schema, described};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Budget {
    /// Random points, before there is anything to learn from.
    pub initial: usize,
    /// Points proposed after them.
    pub evaluations: usize,
}

impl Budget {
    /// Both together.
    pub fn total(self) -> usize {
        self.initial + self.evaluations
    }
}

impl Key for Budget {
    type Value = Self;
    const NAMES: &'static [&'static str] = &["budget"];

    fn read(keys: &Mapping, reader: &mut Reader<'_>) -> Option<Self> {
        let root = KeyPath::root();
        let hint = "such as `budget: { initial: 20, evaluations: 100 }`";
        let value = reader.required(keys, &root, "budget", hint)?;
        let path = root.join("budget");
        let keys = reader.mapping(value, &path, &["initial", "evaluations"])?;
        let initial = reader.required(keys, &path, "initial", "how many random points come first");
        let initial = initial.and_then(|value| reader.count(value, "initial", &path.join("initial")));
        let evaluations =
            reader.required(keys, &path, "evaluations", "how many points are proposed after them");
        let evaluations =
            evaluations.and_then(|value| reader.count(value, "evaluations", &path.join("evaluations")));
        Some(Self { initial: initial?, evaluations: evaluations? })
    }

    fn stand_in() -> Self {
        Self { initial: 1, evaluations: 1 }
    }

    fn schema(_: &str, _: &dyn Fn(Kind) -> Json) -> Json {
        let initial = described(count_schema(), "Random points, before there is anything to learn from.");
        let evaluations = described(count_schema(), "Points proposed after them.");
        described(
            json!({
                "type": "object",
                "properties": { "initial": initial, "evaluations": evaluations },
                "required": ["initial", "evaluations"],
                "additionalProperties": false
            }),
            "How many points are evaluated.",
        )
    }
}
