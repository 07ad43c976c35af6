//! `budget`: how many points are evaluated.

use plugin_api::Kind;
use serde::Serialize;
use serde_json::{Value as Json, json};
use serde_yaml::Mapping;

use super::{Key, KeyPath, Reader, count_schema, described};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Budget {
    /// Points before the first proposal: given ones, filled up with random ones.
    pub initial: usize,
    /// Points proposed after them.
    pub evaluations: usize,
    /// How many are evaluated at the same time. Left out where it is 1, so that plans from before there was the key keep
    /// their hash.
    #[serde(skip_serializing_if = "is_one")]
    pub batch: usize,
}

fn is_one(batch: &usize) -> bool {
    *batch == 1
}

/// No round has more points than this.
const MOST_AT_ONCE: u64 = 1000;

impl Budget {
    /// Both together, where this many points are given.
    pub fn total(self, given: usize) -> usize {
        self.initial.max(given) + self.evaluations
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
        let keys = reader.mapping(value, &path, &["initial", "evaluations", "batch"])?;
        let initial = reader.required(keys, &path, "initial", "how many random points come first");
        let initial = initial.and_then(|value| reader.count(value, "initial", &path.join("initial")));
        let evaluations = reader.required(
            keys,
            &path,
            "evaluations",
            "how many points are proposed after the initial ones",
        );
        let evaluations =
            evaluations.and_then(|value| reader.count(value, "evaluations", &path.join("evaluations")));
        let batch = keys.get("batch").filter(|value| !value.is_null()).map_or(Some(1), |value| {
            let read = value.as_u64().filter(|batch| (1..=MOST_AT_ONCE).contains(batch));
            if read.is_none() {
                let reason = format!("must be a whole number from 1 to {MOST_AT_ONCE}");
                reader.wrong_value("batch", &path.join("batch"), reason);
            }
            read.and_then(|batch| usize::try_from(batch).ok())
        });
        Some(Self { initial: initial?, evaluations: evaluations?, batch: batch? })
    }

    fn stand_in() -> Self {
        Self { initial: 1, evaluations: 1, batch: 1 }
    }

    fn schema(_: &str, _: &dyn Fn(Kind) -> Json) -> Json {
        let initial = described(
            count_schema(),
            "Points before the first proposal: those of `initial.points`, filled up with random ones.",
        );
        let evaluations = described(count_schema(), "Points proposed after them.");
        let batch = described(
            json!({ "type": "integer", "minimum": 1, "maximum": MOST_AT_ONCE, "default": 1 }),
            "How many points are evaluated at the same time, each in a process of its own.",
        );
        described(
            json!({
                "type": "object",
                "properties": { "initial": initial, "evaluations": evaluations, "batch": batch },
                "required": ["initial", "evaluations"],
                "additionalProperties": false
            }),
            "How many points are evaluated.",
        )
    }
}
