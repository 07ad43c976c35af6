//! `plugin-directories`: folders of plugins, from the manifest's own folder.

use plugin_api::Kind;
use serde_json::{Value as Json, json};
use serde_yaml::Mapping;

use super::{Key, KeyPath, Reader, described};

pub struct PluginDirectories;

impl Key for PluginDirectories {
    type Value = Vec<String>;
    const NAMES: &'static [&'static str] = &["plugin-directories"];

    fn read(keys: &Mapping, reader: &mut Reader<'_>) -> Option<Vec<String>> {
        let Some(value) = keys.get("plugin-directories") else { return Some(Vec::new()) };
        reader.texts(value, &KeyPath::root().join("plugin-directories"))
    }

    fn stand_in() -> Vec<String> {
        Vec::new()
    }

    fn schema(_: &str, _: &dyn Fn(Kind) -> Json) -> Json {
        described(
            json!({ "type": "array", "items": { "type": "string" } }),
            "Folders of plugins, from the manifest's own folder.",
        )
    }
}
