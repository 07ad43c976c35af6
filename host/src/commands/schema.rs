//! `host schema`: the JSON schema of manifests with the options of the plugins found, for editors.

use plugin_api::Kind;
use plugin_api::load::Description;
use serde_json::{Map, Value as Json, json};

use super::Printed;
use crate::manifest;
use crate::plugins::locate::Folders;
use crate::plugins::{PluginArguments, describe};

pub(super) fn schema(plugins: &PluginArguments) -> Printed {
    let (found, _) = describe::find(&Folders::of(plugins, &[]));
    Ok(of(&found))
}

/// The schema of manifests that may name these plugins.
pub(super) fn of(plugins: &[Description]) -> String {
    let schema = manifest::schema(&|kind| plugin_schema(kind, plugins));
    serde_json::to_string_pretty(&schema).expect("a schema is plain data")
}

/// A bare name, `use` with the options of a known plugin, or a path to a file.
fn plugin_schema(kind: Kind, plugins: &[Description]) -> Json {
    let of_kind: Vec<&Description> = plugins.iter().filter(|plugin| plugin.kind == kind).collect();
    let name = |plugin: &&Description| json!({ "const": plugin.name, "description": plugin.summary });
    let with_options = |plugin: &&Description| {
        json!({
            "type": "object",
            "properties": { "use": { "const": plugin.name }, "options": inlined(&plugin.schema) },
            "required": ["use"],
            "additionalProperties": false,
            "description": plugin.summary
        })
    };
    let mut choices: Vec<Json> = of_kind.iter().map(name).collect();
    choices.extend(of_kind.iter().map(with_options));
    choices.push(json!({ "type": "string", "pattern": "/", "description": "A path to a plugin's file." }));
    choices.push(json!({
        "type": "object",
        "properties": { "use": { "type": "string", "pattern": "/" }, "options": { "type": "object" } },
        "required": ["use"],
        "additionalProperties": false
    }));
    json!({ "anyOf": choices })
}

/// A plugin's schema without references: definitions of two plugins may have the same name.
fn inlined(schema: &Json) -> Json {
    fn resolve(value: &Json, root: &Json, depth: usize) -> Json {
        match value {
            Json::Object(fields) => {
                let target = fields.get("$ref").and_then(Json::as_str);
                let target = target.and_then(|pointer| root.pointer(pointer.trim_start_matches('#')));
                let mut object = Map::new();
                // A type that contains itself has no finite form: below 8 levels anything goes.
                if let (Some(target), true) = (target, depth < 8)
                    && let Json::Object(inner) = resolve(target, root, depth + 1)
                {
                    object = inner;
                }
                for (key, value) in
                    fields.iter().filter(|(key, _)| !matches!(key.as_str(), "$ref" | "$defs" | "$schema"))
                {
                    object.insert(key.clone(), resolve(value, root, depth));
                }
                Json::Object(object)
            }
            Json::Array(items) => items.iter().map(|item| resolve(item, root, depth)).collect(),
            other => other.clone(),
        }
    }
    resolve(schema, schema, 0)
}
