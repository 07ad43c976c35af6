//! `penalty`: what the experiment adds to the objective.

use plugin_api::Kind;
use serde::Serialize;
use serde_json::{Value as Json, json};
use serde_yaml::Mapping;

use super::{Key, KeyPath, Reader, described};

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Penalty {
    /// Cost of each bit that is set.
    pub l1: f64,
}

impl Key for Penalty {
    type Value = Self;
    const NAMES: &'static [&'static str] = &["penalty"];

    fn read(keys: &Mapping, reader: &mut Reader<'_>) -> Option<Self> {
        let Some(value) = keys.get("penalty") else { return Some(Self::stand_in()) };
        let path = KeyPath::root().join("penalty");
        let keys = reader.mapping(value, &path, &["l1"])?;
        let Some(value) = keys.get("l1") else { return Some(Self::stand_in()) };
        let place = path.join("l1");
        match value.as_f64() {
            Some(l1) if l1.is_finite() && l1 >= 0.0 => Some(Self { l1 }),
            Some(l1) => {
                reader.wrong_value("l1", &place, format!("must be a finite number of at least 0, not {l1}"));
                None
            }
            None => {
                reader.wrong_type("l1", &place, value, "a number");
                None
            }
        }
    }

    fn stand_in() -> Self {
        Self { l1: 0.0 }
    }

    fn schema(_: &str, _: &dyn Fn(Kind) -> Json) -> Json {
        let l1 = described(json!({ "type": "number", "minimum": 0 }), "Cost of each bit that is set.");
        described(
            json!({ "type": "object", "properties": { "l1": l1 }, "additionalProperties": false }),
            "What the experiment adds to the objective. The model is told, and learns the bare value.",
        )
    }
}
