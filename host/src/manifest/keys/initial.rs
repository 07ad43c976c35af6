//! `initial`: where the first points come from.

use plugin_api::Kind;
use serde::Serialize;
use serde_json::{Value as Json, json};
use serde_yaml::Mapping;

use super::{Key, KeyPath, Reader, described};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Initial {
    /// A table of points, with or without their values: as the manifest names it, from its folder; in a plan, as the copy
    /// in the run's folder is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<String>,
}

impl Initial {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The way to `points`.
    pub fn points_path() -> KeyPath {
        KeyPath::root().join("initial").join("points")
    }
}

impl Key for Initial {
    type Value = Self;
    const NAMES: &'static [&'static str] = &["initial"];

    fn read(keys: &Mapping, reader: &mut Reader<'_>) -> Option<Self> {
        let Some(value) = keys.get("initial") else { return Some(Self::default()) };
        let keys = reader.mapping(value, &KeyPath::root().join("initial"), &["points"])?;
        let Some(value) = keys.get("points").filter(|value| !value.is_null()) else {
            return Some(Self::default());
        };
        let points = value.as_str().filter(|path| !path.is_empty()).map(str::to_owned);
        if points.is_none() {
            reader.wrong_type("points", &Self::points_path(), value, "the name of a CSV file");
        }
        Some(Self { points: Some(points?) })
    }

    fn stand_in() -> Self {
        Self::default()
    }

    fn schema(_: &str, _: &dyn Fn(Kind) -> Json) -> Json {
        let points = described(
            json!({ "type": ["string", "null"] }),
            "A CSV file of points, from the manifest's folder: a column for each variable, and `value`, `status` or \
             `reason` where they are known. Known values are not evaluated again, the others come first.",
        );
        described(
            json!({ "type": "object", "properties": { "points": points }, "additionalProperties": false }),
            "Where the first points come from.",
        )
    }
}
