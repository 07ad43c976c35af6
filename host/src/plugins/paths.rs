//! Options that are paths: a relative one starts from the manifest's folder, wherever the process runs.
//!
//! Which options are, a plugin says in their schema, `"format": "path"`. The plan has them as they were written. The words of
//! a `"format": "program"` are a program and its arguments, run in the option `directory`: some of them name files.

use std::path::{Component, Path, PathBuf};

use plugin_api::load::Description;
use serde_json::Value as Json;

/// The names of the options that are of a format.
fn names<'a>(plugin: &'a Description, format: &'static str) -> impl Iterator<Item = &'a String> {
    let options = plugin.schema.get("properties").and_then(Json::as_object);
    let is_one = move |schema: &Json| schema.get("format").and_then(Json::as_str) == Some(format);
    options.into_iter().flatten().filter(move |(_, schema)| is_one(schema)).map(|(name, _)| name)
}

/// Whether an option of the plugin is a path.
pub fn has_paths(plugin: &Description) -> bool {
    names(plugin, "path").next().is_some()
}

/// The first file below `base` that a program and its arguments name, by its path from there: the program, or the script of an
/// interpreter that is found in PATH. What comes after it may be data, or a file that trials write to.
pub(super) fn program_file(plugin: &Description, options: &Json, base: &Path) -> Option<(String, PathBuf)> {
    let rooted = rooted(plugin, options, base);
    let directory = rooted.get("directory").and_then(Json::as_str).map_or(base, Path::new);
    let words = names(plugin, "program").filter_map(|name| rooted.get(name)?.as_array()).flatten();
    let file = |word: &str| {
        let path = directory.join(word.trim_start_matches("./"));
        let name = path.strip_prefix(base).ok()?;
        let below = !name.components().any(|part| part == Component::ParentDir);
        (below && path.is_file()).then(|| (name.to_string_lossy().into_owned(), path.clone()))
    };
    words.filter_map(Json::as_str).find_map(file)
}

/// The options with absolute paths, defaults among them.
pub(super) fn rooted(plugin: &Description, options: &Json, base: &Path) -> Json {
    let mut options = options.clone();
    for name in names(plugin, "path") {
        let given = options.get(name).or_else(|| plugin.defaults.get(name));
        if let Some(path) = given.and_then(Json::as_str) {
            // `.` and `./x` as people would write them.
            let path = Path::new(path).components().filter(|part| *part != Component::CurDir);
            let path = base.join(path.collect::<PathBuf>());
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

    fn plugin(properties: Json, defaults: Json) -> Description {
        Description {
            kind: plugin_api::Kind::Benchmark,
            name: String::new(),
            summary: String::new(),
            version: String::new(),
            api_version: String::new(),
            schema: json!({ "properties": properties }),
            defaults,
            path: "".into(),
        }
    }

    #[test]
    fn the_file_of_a_program_is_the_first_below_the_base() {
        let schema =
            json!({ "run": { "format": "program" }, "directory": { "type": "string", "format": "path" } });
        let plugin = plugin(schema, json!({ "run": [], "directory": "." }));
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path();
        std::fs::create_dir(base.join("in")).unwrap();
        for name in ["a.py", "in/b.py"] {
            std::fs::write(base.join(name), "").unwrap();
        }
        let named = |options| {
            let (name, path) = program_file(&plugin, &options, base)?;
            assert_eq!(base.join(&name), path);
            Some(name)
        };
        let found = |name: &str| Some(name.to_owned());
        assert_eq!(named(json!({ "run": ["sh", "./a.py", 7, "in/b.py"] })), found("a.py"));
        assert_eq!(
            named(json!({ "run": [7, "none.py", "in", "in/../a.py", "../x", "in/b.py"] })),
            found("in/b.py")
        );
        assert_eq!(named(json!({ "run": ["b.py", "a.py"], "directory": "in" })), found("in/b.py"));
        assert_eq!(named(json!({ "run": ["/bin/sh", base.join("a.py")] })), found("a.py"));
        assert_eq!(named(json!({})), None);
    }

    #[test]
    fn relative_paths_start_from_the_base_and_others_are_left() {
        let schema = json!({
            "file": { "type": "string", "format": "path" },
            "other": { "type": ["string", "null"], "format": "path" },
            "word": { "type": "string" },
        });
        let plugin = plugin(schema, json!({ "file": ".", "other": null, "word": "x" }));
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
