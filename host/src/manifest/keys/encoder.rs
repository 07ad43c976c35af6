//! `encoder`: between points and bits; by default the one that fits the space.

use plugin_api::Kind;
use serde_json::Value as Json;
use serde_yaml::Mapping;

use super::{Key, KeyPath, Reader, described};
use crate::manifest::PluginUse;

pub struct Encoder;

impl Key for Encoder {
    type Value = Option<PluginUse>;
    const NAMES: &'static [&'static str] = &["encoder"];

    fn read(keys: &Mapping, reader: &mut Reader<'_>) -> Option<Option<PluginUse>> {
        let Some(value) = keys.get("encoder") else { return Some(None) };
        reader.plugin(value, &KeyPath::root().join("encoder"), Kind::Encoder).map(Some)
    }

    fn stand_in() -> Option<PluginUse> {
        None
    }

    fn schema(_: &str, plugin: &dyn Fn(Kind) -> Json) -> Json {
        described(plugin(Kind::Encoder), "Between points and bits; by default the one that fits the space.")
    }
}
