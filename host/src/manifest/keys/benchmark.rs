//! `benchmark`: the objective.

use plugin_api::Kind;
use serde_json::Value as Json;
use serde_yaml::Mapping;

use super::{Key, KeyPath, Reader, described};
use crate::manifest::PluginUse;

pub struct Benchmark;

impl Key for Benchmark {
    type Value = Option<PluginUse>;
    const NAMES: &'static [&'static str] = &["benchmark"];

    fn read(keys: &Mapping, reader: &mut Reader<'_>) -> Option<Option<PluginUse>> {
        let root = KeyPath::root();
        let hint = "the objective, such as `benchmark: ising`";
        let value = reader.required(keys, &root, "benchmark", hint)?;
        reader.plugin(value, &root.join("benchmark"), Kind::Benchmark).map(Some)
    }

    fn stand_in() -> Option<PluginUse> {
        None
    }

    fn schema(_: &str, plugin: &dyn Fn(Kind) -> Json) -> Json {
        described(plugin(Kind::Benchmark), "The objective.")
    }
}
