//! The JSON schema of manifests, for editors.

use plugin_api::Kind;
use plugin_api::load::Description;
use serde_json::{Map, Value as Json, json};

use crate::manifest::{KEYS, MOST, MOST_RETRIES};

/// The schema of manifests with the options of these plugins.
pub fn schema(plugins: &[Description]) -> Json {
    let of = |kind: Kind| plugin_schema(kind, plugins);
    let solvers = json!({ "type": "array", "items": of(Kind::Solver) });
    let count = json!({ "type": "integer", "minimum": 1, "maximum": MOST });
    let mut properties = Map::new();
    for &key in KEYS {
        let (schema, description) = match key {
            "name" => (
                json!({ "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" }),
                "The experiment's name, and its results folder's.",
            ),
            "seeds" => (
                json!({ "oneOf": [count, {
                    "type": "array", "items": { "type": "integer", "minimum": 0 }, "minItems": 1, "uniqueItems": true
                }] }),
                "How many seeds, or which. Every method runs once with each.",
            ),
            "budget" => (
                json!({
                    "type": "object",
                    "properties": {
                        "initial": described(count.clone(), "Random points, before there is anything to learn from."),
                        "evaluations": described(count.clone(), "Points proposed after them."),
                    },
                    "required": ["initial", "evaluations"],
                    "additionalProperties": false
                }),
                "How many points are evaluated.",
            ),
            "penalty" => (
                json!({
                    "type": "object",
                    "properties": { "l1": described(json!({ "type": "number", "minimum": 0 }), "Cost of each bit that is set.") },
                    "additionalProperties": false
                }),
                "What the experiment adds to the objective. The model learns the bare value.",
            ),
            "evaluation" => (evaluation(), "What happens around an evaluation."),
            "benchmark" => (of(Kind::Benchmark), "The objective."),
            "encoder" => {
                (of(Kind::Encoder), "Between points and bits; by default the one that fits the space.")
            }
            "surrogate" => (of(Kind::Surrogate), "The model, where there is one method."),
            "solver" => (
                of(Kind::Solver),
                "What minimises its draws, where there is one method; `certified` where none is named.",
            ),
            "shadows" => {
                (solvers.clone(), "Solvers that solve every problem too, recorded and not followed.")
            }
            "methods" => (
                json!({
                    "type": "object",
                    "minProperties": 1,
                    "additionalProperties": {
                        "type": "object",
                        "properties": {
                            "surrogate": of(Kind::Surrogate), "solver": of(Kind::Solver), "shadows": solvers.clone()
                        },
                        "required": ["surrogate"],
                        "additionalProperties": false
                    }
                }),
                "What is compared: a surrogate and a solver under a name each.",
            ),
            "sweep" => (
                json!({ "type": "object", "additionalProperties": { "type": "array", "minItems": 1 } }),
                "Key paths with lists of values; the experiment is run for every combination.",
            ),
            _ => (
                json!({ "type": "array", "items": { "type": "string" } }),
                "Folders of plugins, from the manifest's own folder.",
            ),
        };
        properties.insert(key.to_owned(), described(schema, description));
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Experiment manifest",
        "type": "object",
        "properties": properties,
        "required": ["name", "budget", "benchmark"],
        "additionalProperties": false,
    })
}

fn evaluation() -> Json {
    let time = json!({ "type": ["string", "null"], "pattern": "^[0-9.]+ ?(ms|s|m|h|d)$" });
    let size = json!({ "type": ["string", "null"], "pattern": "^[0-9.]+ ?([KMGT]i?)?B$" });
    let retries = json!({ "type": "integer", "minimum": 0, "maximum": MOST_RETRIES });
    let on_failure = json!({ "enum": ["skip", "stop"] });
    json!({
        "type": "object",
        "properties": {
            "timeout": described(time, "How long one may take, such as 30s; none by default."),
            "retries": described(retries, "How often a failed one is tried again; 1 by default."),
            "on-failure": described(on_failure, "Go on without the value (skip, the default), or end the trial."),
            "memory": described(size, "How much memory a trial's process may hold, such as 2GB; no limit by default."),
        },
        "additionalProperties": false
    })
}

fn described(mut schema: Json, description: &str) -> Json {
    schema["description"] = description.into();
    schema
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
