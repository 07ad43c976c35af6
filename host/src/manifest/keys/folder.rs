//! `folder`: what relative paths of plugins, and in their options, start from. (Data of the experiment lies beside its manifest.)

use plugin_api::Kind;
use serde_json::{Value as Json, json};
use serde_yaml::{Mapping, Value};

use super::{Key, KeyPath, Reader, described};

pub struct Folder;

impl Key for Folder {
    /// As written; empty for the manifest's own.
    type Value = String;
    const NAMES: &'static [&'static str] = &["folder"];

    fn read(keys: &Mapping, reader: &mut Reader<'_>) -> Option<String> {
        match keys.get("folder") {
            None => Some(String::new()),
            Some(Value::String(folder)) if !folder.contains('\0') => Some(folder.clone()),
            Some(other) => {
                reader.wrong_type("folder", &KeyPath::root().join("folder"), other, "a path");
                None
            }
        }
    }

    fn stand_in() -> String {
        String::new()
    }

    fn schema(_: &str, _: &dyn Fn(Kind) -> Json) -> Json {
        described(
            json!({ "type": "string" }),
            "What relative paths of plugins, and in their options, start from; by default the manifest's own folder.",
        )
    }
}
