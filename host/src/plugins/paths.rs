//! Options that are paths: a relative one starts from the manifest's folder, wherever the process runs.
//!
//! Which options are, a plugin says in their schema, `"format": "path"`. The plan has them as they were written.

use std::path::Path;

use plugin_api::load::Description;
use serde_json::Value as Json;

/// The names of the options that are paths.
fn names(plugin: &Description) -> impl Iterator<Item = &String> {
    let options = plugin.schema.get("properties").and_then(Json::as_object);
    let is_path = |schema: &Json| schema.get("format").and_then(Json::as_str) == Some("path");
    options.into_iter().flatten().filter(move |(_, schema)| is_path(schema)).map(|(name, _)| name)
}

/// Whether an option of the plugin is a path.
pub fn has_paths(plugin: &Description) -> bool {
    names(plugin).next().is_some()
}

/// The options with absolute paths, defaults among them.
pub(super) fn rooted(plugin: &Description, options: &Json, base: &Path) -> Json {
    let mut options = options.clone();
    for name in names(plugin) {
        let given = options.get(name).or_else(|| plugin.defaults.get(name));
        if let Some(path) = given.and_then(Json::as_str) {
            // `.` and `./x` as people would write them.
            let path = Path::new(path).components().filter(|part| *part != std::path::Component::CurDir);
            let path = base.join(path.collect::<std::path::PathBuf>());
            let path = path.to_string_lossy();
            options[name.as_str()] = path.strip_suffix('/').unwrap_or(&path).into();
        }
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn relative_paths_start_from_the_base_and_others_are_left() {
        let plugin = Description {
            kind: plugin_api::Kind::Benchmark,
            name: String::new(),
            summary: String::new(),
            version: String::new(),
            api_version: String::new(),
            schema: json!({ "properties": {
                "file": { "type": "string", "format": "path" },
                "other": { "type": ["string", "null"], "format": "path" },
                "word": { "type": "string" },
            } }),
            defaults: json!({ "file": ".", "other": null, "word": "x" }),
            path: "".into(),
        };
        assert!(has_paths(&plugin));
        let rooted = |options| rooted(&plugin, &options, Path::new("/base"));
        assert_eq!(rooted(json!({ "word": "y" })), json!({ "word": "y", "file": "/base" }));
        assert_eq!(rooted(json!({ "file": "./a/b" })), json!({ "file": "/base/a/b" }));
        assert_eq!(
            rooted(json!({ "file": "../a", "other": "/c" })),
            json!({ "file": "/base/../a", "other": "/c" })
        );
    }
}
