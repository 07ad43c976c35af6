//! A plugin as a manifest names it, by a bare word or by `use` and `options`.

use plugin_api::Kind;
use serde_json::Value as Json;
use serde_yaml::Value;

use super::mistake::Mistake;
use super::reader::Reader;
use super::yaml::KeyPath;

/// A plugin named in a manifest.
#[derive(Clone, Debug)]
pub struct PluginUse {
    pub kind: Kind,
    /// A name, or a path to a file where it has a `/` in it.
    pub name: String,
    /// A JSON object.
    pub options: Json,
    /// Where it stands.
    pub path: KeyPath,
}

impl PluginUse {
    /// A plugin without options.
    pub fn bare(kind: Kind, name: &str, path: KeyPath) -> Self {
        Self { kind, name: name.to_owned(), options: no_options(), path }
    }

    /// Where its options stand.
    pub fn options_path(&self) -> KeyPath {
        self.path.join("options")
    }

    /// Where its name stands: `solver: prs` is wrong at the word; `solver: { use: prs }` below `use`.
    pub fn name_path(&self) -> KeyPath {
        let bare = self.options.as_object().is_none_or(serde_json::Map::is_empty);
        if bare { self.path.clone() } else { self.path.join("use") }
    }

    /// Whether it is named by a path to its file.
    pub fn is_path(name: &str) -> bool {
        name.contains(['/', '\\'])
    }
}

/// Reads a plugin that stands alone, as on the command line.
pub fn read_plugin(value: &Value, kind: Kind, mistakes: &mut Vec<Mistake>) -> Option<PluginUse> {
    Reader { mistakes, top: &[] }.plugin(value, &KeyPath::root(), kind)
}

impl Reader<'_> {
    pub(super) fn plugin(&mut self, value: &Value, path: &KeyPath, kind: Kind) -> Option<PluginUse> {
        let (name, options) = match value {
            Value::String(name) => (name.clone(), no_options()),
            Value::Mapping(_) => {
                let keys = self.mapping(value, path, &["use", "options"])?;
                let name = self.required(keys, path, "use", "the name of the plugin")?;
                let Value::String(name) = name else {
                    self.wrong_type("use", &path.join("use"), name, "the name of a plugin");
                    return None;
                };
                let options = keys.get("options").filter(|value| !value.is_null());
                let place = path.join("options");
                let options = match options {
                    None => no_options(),
                    Some(options @ Value::Mapping(_)) => self.json(options, &place)?,
                    Some(other) => {
                        self.wrong_type("options", &place, other, "names with values");
                        return None;
                    }
                };
                (name.clone(), options)
            }
            other => {
                self.wrong_type(kind.name(), path, other, "the name of a plugin, or `use` and `options`");
                return None;
            }
        };
        if name.is_empty() || name.contains('\0') {
            self.wrong_value(kind.name(), path, "needs the name of a plugin");
            return None;
        }
        Some(PluginUse { kind, name, options, path: path.clone() })
    }
}

fn no_options() -> Json {
    Json::Object(serde_json::Map::new())
}
