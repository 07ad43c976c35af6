//! The keys of a manifest: one file for each, with its type, default, reading, schema and how it is written back.
//!
//! A new key is a file here, a `mod` line and a line in `manifest!` below. Under `settings` go keys that a trial needs
//! to know: they reach the plan, its hash, `plan.yaml` and the trial's file by themselves.

pub mod benchmark;
pub mod budget;
pub mod cluster;
pub mod constraints;
pub mod encoder;
pub mod evaluation;
pub mod folder;
pub mod initial;
pub mod methods;
pub mod name;
pub mod penalty;
pub mod plugin_directories;
pub mod recommend;
pub mod relabel;
pub mod seeds;
pub mod sweep;

use plugin_api::Kind;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value as Json, json};
use serde_yaml::{Mapping, Value};

use super::PluginUse;
use super::mistake::Mistake;
use super::reader::Reader;
use super::yaml::KeyPath;

/// One key, or a few that are read together.
pub(super) trait Key {
    /// What a manifest holds there.
    type Value;

    /// Its names, in the order in which people see them.
    const NAMES: &'static [&'static str];

    /// Reads it from the keys at the top of a manifest; `None` where it is wrong, and then the reader knows why.
    fn read(keys: &Mapping, reader: &mut Reader<'_>) -> Option<Self::Value>;

    /// Something harmless in the place of what is wrong, so that the rest can be checked further.
    fn stand_in() -> Self::Value;

    /// The JSON schema of each name, with a description; `plugin` has those of a kind of plugin.
    fn schema(name: &str, plugin: &dyn Fn(Kind) -> Json) -> Json;
}

macro_rules! manifest {
    (
        first { $( $(#[$first_doc:meta])* $first:ident: $FirstValue:ty = $First:ty ),* $(,)? }
        settings { $( $(#[$setting_doc:meta])* $setting:ident: $Setting:ty ),* $(,)? }
        last { $( $(#[$last_doc:meta])* $last:ident: $LastValue:ty = $Last:ty ),* $(,)? }
    ) => {
        /// One experiment at one point of its sweep, as it was written.
        #[derive(Clone, Debug)]
        pub struct Manifest {
            $( $(#[$first_doc])* pub $first: $FirstValue, )*
            /// What a trial needs to know.
            pub settings: Settings,
            $( $(#[$last_doc])* pub $last: $LastValue, )*
        }

        /// The keys that a trial needs to know, every default filled.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(rename_all = "kebab-case")]
        pub struct Settings {
            $( $(#[$setting_doc])* pub $setting: $Setting, )*
        }

        /// The names of all keys.
        fn names() -> Vec<&'static str> {
            [$( <$First as Key>::NAMES, )* $( <$Setting as Key>::NAMES, )* $( <$Last as Key>::NAMES, )*].concat()
        }

        impl Manifest {
            /// Reads a tree; `None` where it is no manifest at all.
            ///
            /// What is wrong goes to `mistakes`, with something harmless in its place. Only where there are no
            /// mistakes is it what the user wrote.
            pub fn read(tree: &Value, mistakes: &mut Vec<Mistake>) -> Option<Self> {
                let top = names();
                let mut reader = Reader { mistakes, top: &top };
                let keys = reader.mapping(tree, &KeyPath::root(), &top)?;
                Some(Self {
                    $( $first: read_key::<$First>(keys, &mut reader), )*
                    settings: Settings::read(keys, &mut reader),
                    $( $last: read_key::<$Last>(keys, &mut reader), )*
                })
            }
        }

        impl Settings {
            fn read(keys: &Mapping, reader: &mut Reader<'_>) -> Self {
                Self { $( $setting: read_key::<$Setting>(keys, reader), )* }
            }
        }

        fn schemas(plugin: &dyn Fn(Kind) -> Json) -> Map<String, Json> {
            let mut schemas = Map::new();
            $( add_schemas::<$First>(plugin, &mut schemas); )*
            $( add_schemas::<$Setting>(plugin, &mut schemas); )*
            $( add_schemas::<$Last>(plugin, &mut schemas); )*
            schemas
        }
    };
}

manifest! {
    first {
        name: String = name::Name,
        seeds: Vec<u64> = seeds::Seeds,
    }
    settings {
        budget: budget::Budget,
        penalty: penalty::Penalty,
        evaluation: evaluation::Evaluation,
        /// Left out where there are none, so that plans from before there was the key keep their hash.
        #[serde(skip_serializing_if = "constraints::Constraints::is_empty")]
        constraints: constraints::Constraints,
        /// Left out where nothing is said, so that plans from before there was the key keep their hash.
        #[serde(skip_serializing_if = "initial::Initial::is_default")]
        initial: initial::Initial,
        /// The same.
        #[serde(skip_serializing_if = "recommend::Recommend::is_default")]
        recommend: recommend::Recommend,
        /// Left out where it is off, so that plans from before there was the key keep their hash.
        #[serde(skip_serializing_if = "relabel::Relabel::is_off")]
        relabel: relabel::Relabel,
    }
    last {
        /// Absent only where it is a mistake.
        benchmark: Option<PluginUse> = benchmark::Benchmark,
        /// By default the one that fits the space.
        encoder: Option<PluginUse> = encoder::Encoder,
        methods: Vec<methods::Method> = methods::Methods,
        sweep: Vec<sweep::Axis> = sweep::Sweep,
        /// Folders of plugins, as written.
        plugin_directories: Vec<String> = plugin_directories::PluginDirectories,
        /// What relative paths start from, as written; empty for the manifest's own folder.
        folder: String = folder::Folder,
        /// How a cluster runs it; in no plan and no hash.
        cluster: Option<cluster::Cluster> = cluster::Cluster,
    }
}

fn read_key<K: Key>(keys: &Mapping, reader: &mut Reader<'_>) -> K::Value {
    K::read(keys, reader).unwrap_or_else(K::stand_in)
}

fn add_schemas<K: Key>(plugin: &dyn Fn(Kind) -> Json, schemas: &mut Map<String, Json>) {
    for name in K::NAMES {
        schemas.insert((*name).to_owned(), K::schema(name, plugin));
    }
}

/// A trial's file has its settings as a manifest would: one reading for both.
impl<'de> Deserialize<'de> for Settings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let keys = Mapping::deserialize(deserializer)?;
        let mut mistakes = Vec::new();
        let settings = Self::read(&keys, &mut Reader { mistakes: &mut mistakes, top: &[] });
        match mistakes.first() {
            None => Ok(settings),
            Some(mistake) => Err(D::Error::custom(&mistake.what.message)),
        }
    }
}

/// The JSON schema of manifests, for editors; `plugin` has those of a kind of plugin.
pub fn schema(plugin: &dyn Fn(Kind) -> Json) -> Json {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Experiment manifest",
        "type": "object",
        "properties": schemas(plugin),
        "required": ["name", "budget", "benchmark"],
        "additionalProperties": false,
    })
}

/// A schema with what it means.
fn described(mut schema: Json, description: &str) -> Json {
    schema["description"] = description.into();
    schema
}

/// The schema of a whole number from 1 to the most there may be.
fn count_schema() -> Json {
    json!({ "type": "integer", "minimum": 1, "maximum": super::reader::MOST })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_they_were_written() {
        let manifest = "name: x\nbudget: { initial: 2, evaluations: 3 }\npenalty: { l1: 0.1 }\n\
            evaluation: { timeout: 90s }\nbenchmark: labs\nsolver: psr\nsurrogate: random";
        let mut mistakes = Vec::new();
        let manifest = Manifest::read(&serde_yaml::from_str(manifest).unwrap(), &mut mistakes).unwrap();
        assert!(mistakes.is_empty(), "{mistakes:?}");
        let json = serde_json::to_string(&manifest.settings).unwrap();
        assert_eq!(serde_json::from_str::<Settings>(&json).unwrap(), manifest.settings);
        assert!(serde_json::from_str::<Settings>("{}").is_err(), "a budget is missing");
    }

    #[test]
    fn every_key_has_a_schema_with_a_description() {
        let schemas = schemas(&|_| json!({}));
        assert_eq!(schemas.keys().collect::<Vec<_>>(), names());
        assert!(schemas.values().all(|schema| schema["description"].is_string()));
    }
}
