//! `relabel`: whether models and solvers see other names for the levels.

use plugin_api::Kind;
use serde::Serialize;
use serde_json::{Value as Json, json};
use serde_yaml::Mapping;

use super::{Key, KeyPath, Reader, described};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Relabel(pub bool);

impl Relabel {
    pub(super) fn is_off(&self) -> bool {
        !self.0
    }
}

impl Key for Relabel {
    type Value = Self;
    const NAMES: &'static [&'static str] = &["relabel"];

    fn read(keys: &Mapping, reader: &mut Reader<'_>) -> Option<Self> {
        let Some(value) = keys.get("relabel") else { return Some(Self::stand_in()) };
        let relabel = value.as_bool().map(Self);
        if relabel.is_none() {
            reader.wrong_type("relabel", &KeyPath::root().join("relabel"), value, "true or false");
        }
        relabel
    }

    fn stand_in() -> Self {
        Self(false)
    }

    fn schema(_: &str, _: &dyn Fn(Kind) -> Json) -> Json {
        described(
            json!({ "type": "boolean", "default": false }),
            "Whether the levels of each variable are permuted by the seed, for all methods alike, before models and \
             solvers see them. Results have the objective's own levels.",
        )
    }
}
