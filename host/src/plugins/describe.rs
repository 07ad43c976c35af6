//! Plugins in words: a list of all, and one with its options.

use plugin_api::Kind;
use plugin_api::load::Description;
use serde_json::{Value as Json, json};

use super::locate::{FileError, Folders};

/// Every plugin found, and every file that looks like one and is none.
pub fn find(folders: &Folders) -> (Vec<Description>, Vec<FileError>) {
    let mut found = Vec::new();
    let mut broken = Vec::new();
    for (kind, path) in folders.all() {
        match folders.describe(kind, &path) {
            Ok(description) => found.push(description),
            Err(error) => broken.push(error),
        }
    }
    (found, broken)
}

/// A line each, by kind.
pub fn list(found: &[Description]) -> String {
    let width = found.iter().map(|plugin| plugin.name.len()).max().unwrap_or(0);
    let of_kind = |kind: Kind| {
        let line = |plugin: &Description| format!("  {:<width$}  {}", plugin.name, plugin.summary);
        let lines: Vec<String> = found.iter().filter(|plugin| plugin.kind == kind).map(line).collect();
        (!lines.is_empty()).then(|| format!("{kind}s\n{}", lines.join("\n")))
    };
    Kind::ALL.into_iter().filter_map(of_kind).collect::<Vec<_>>().join("\n\n")
}

/// A plugin as JSON; with the schema of its options where `schema`.
pub fn json(plugin: &Description, schema: bool) -> Json {
    let mut json = json!({
        "kind": plugin.kind.name(),
        "name": plugin.name,
        "summary": plugin.summary,
        "version": plugin.version,
        "api-version": plugin.api_version,
        "path": plugin.path,
        "defaults": plugin.defaults,
    });
    if schema {
        json["schema"] = plugin.schema.clone();
    }
    json
}

/// What a plugin does, and every option with its type, limits and default.
pub fn describe(plugin: &Description) -> String {
    let mut text = format!(
        "{} ({} {}, plugin-api {})\n  {}\n",
        plugin.name, plugin.kind, plugin.version, plugin.api_version, plugin.summary
    );
    let options = plugin.schema.get("properties").and_then(Json::as_object);
    let Some(options) = options.filter(|options| !options.is_empty()) else {
        return text + "\nIt has no options.";
    };
    text += "\nOptions";
    for (name, schema) in options {
        let default = plugin.defaults.get(name).map_or("–".to_owned(), word);
        text += &format!("\n  {name}: {}, default {default}", type_words(schema, &plugin.schema));
        for line in schema.get("description").and_then(Json::as_str).unwrap_or_default().lines() {
            text += format!("\n      {line}").trim_end();
        }
    }
    text
}

fn word(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Null => "none".to_owned(),
        other => other.to_string(),
    }
}

/// A type with its limits: `integer, at least 1`, `one of half, random`.
fn type_words(schema: &Json, root: &Json) -> String {
    if let Some(target) = schema.get("$ref").and_then(Json::as_str) {
        return root
            .pointer(target.trim_start_matches('#'))
            .map_or_else(String::new, |s| type_words(s, root));
    }
    for key in ["oneOf", "anyOf"] {
        if let Some(choices) = schema.get(key).and_then(Json::as_array) {
            let constants: Option<Vec<String>> =
                choices.iter().map(|choice| choice.get("const").map(word)).collect();
            if let Some(words) = constants {
                return format!("one of {}", words.join(", "));
            }
            let is_null = |choice: &&Json| choice.get("type").and_then(Json::as_str) == Some("null");
            let words: Vec<String> = choices
                .iter()
                .filter(|choice| !is_null(choice))
                .map(|choice| type_words(choice, root))
                .collect();
            return words.join(" or ");
        }
    }
    if let Some(words) = schema.get("enum").and_then(Json::as_array) {
        return format!("one of {}", words.iter().map(word).collect::<Vec<_>>().join(", "));
    }
    let name = match schema.get("type") {
        Some(Json::String(name)) => name.as_str(),
        Some(Json::Array(names)) => {
            names.iter().filter_map(Json::as_str).find(|name| *name != "null").unwrap_or("any")
        }
        _ => "any",
    };
    let mut words = match name {
        "array" => match schema.get("items") {
            Some(items) => format!("list of ({})", type_words(items, root)),
            None => "list".to_owned(),
        },
        "object" => {
            let fields = schema.get("properties").and_then(Json::as_object);
            let names: Vec<&str> = fields.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
            format!("mapping of {}", names.join(", ")).trim_end_matches(" of ").to_owned()
        }
        "boolean" => "true or false".to_owned(),
        "string" => "text".to_owned(),
        other => other.to_owned(),
    };
    let limits = [
        ("minimum", "at least"),
        ("exclusiveMinimum", "above"),
        ("maximum", "at most"),
        ("exclusiveMaximum", "below"),
        ("minItems", "entries at least"),
        ("maxItems", "entries at most"),
    ];
    for (key, limit) in limits {
        if let Some(value) = schema.get(key) {
            words += &format!(", {limit} {value}");
        }
    }
    words
}
