//! `recommend`: what is done at the end for the point that is recommended where the objective is noisy.

use plugin_api::Kind;
use serde::Serialize;
use serde_json::{Value as Json, json};
use serde_yaml::Mapping;

use super::{Key, KeyPath, Reader, count_schema, described};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Recommend {
    /// How often it is evaluated again.
    pub repeat: usize,
}

impl Recommend {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::stand_in()
    }
}

impl Key for Recommend {
    type Value = Self;
    const NAMES: &'static [&'static str] = &["recommend"];

    fn read(keys: &Mapping, reader: &mut Reader<'_>) -> Option<Self> {
        let Some(value) = keys.get("recommend") else { return Some(Self::stand_in()) };
        let path = KeyPath::root().join("recommend");
        let keys = reader.mapping(value, &path, &["repeat"])?;
        let value =
            reader.required(keys, &path, "repeat", "how often the recommended point is evaluated again")?;
        Some(Self { repeat: reader.count(value, "repeat", &path.join("repeat"))? })
    }

    fn stand_in() -> Self {
        Self { repeat: 0 }
    }

    fn schema(_: &str, _: &dyn Fn(Kind) -> Json) -> Json {
        let repeat =
            described(count_schema(), "How often it is evaluated again, each time with noise of its own.");
        described(
            json!({ "type": "object", "properties": { "repeat": repeat }, "required": ["repeat"], "additionalProperties": false }),
            "Where the objective is noisy: what is done at the end for the point with the best mean by the models.",
        )
    }
}
