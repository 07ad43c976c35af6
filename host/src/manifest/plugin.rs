//! A plugin in a manifest, and its options.

use plugin_api::Kind;
use serde_json::Value as Json;
use serde_yaml::Value;

use super::{PLUGIN_KEYS, PluginUse, Reader, text_of};
use crate::yaml::KeyPath;

impl Reader<'_> {
    pub(super) fn plugin(&mut self, value: &Value, path: &KeyPath, kind: Kind) -> Option<PluginUse> {
        let empty = || Json::Object(serde_json::Map::new());
        let (name, options) = match value {
            Value::String(name) => (name.clone(), empty()),
            Value::Mapping(_) => {
                let keys = self.mapping(value, path, PLUGIN_KEYS)?;
                let name = self.required(keys, path, "use", "the name of the plugin")?;
                let Value::String(name) = name else {
                    self.wrong_type("use", &path.join("use"), name, "the name of a plugin");
                    return None;
                };
                let options = keys.get("options").filter(|value| !value.is_null());
                let place = path.join("options");
                let options = match options {
                    None => empty(),
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

    pub(super) fn texts(&mut self, value: &Value, path: &KeyPath) -> Option<Vec<String>> {
        let texts = value.as_sequence().map(|list| {
            let text = |value: &Value| value.as_str().map(str::to_owned);
            list.iter().map(text).collect::<Option<Vec<_>>>()
        });
        if texts.as_ref().is_none_or(Option::is_none) {
            let key = path.keys().last().map_or("", String::as_str).to_owned();
            self.wrong_type(&key, path, value, "a list of texts");
        }
        texts.flatten()
    }

    /// Options cross the boundary as JSON, which has no NaN, no infinity and no tags.
    fn json(&mut self, value: &Value, path: &KeyPath) -> Option<Json> {
        let key = path.keys().last().map_or("", String::as_str).to_owned();
        Some(match value {
            Value::Null => Json::Null,
            Value::Bool(flag) => Json::from(*flag),
            Value::String(text) => Json::from(text.as_str()),
            Value::Number(number) => {
                let whole = number.as_u64().map(Json::from).or_else(|| number.as_i64().map(Json::from));
                let real = || number.as_f64().filter(|x| x.is_finite()).map(Json::from);
                let Some(json) = whole.or_else(real) else {
                    self.wrong_value(&key, path, format!("must be a finite number, not {number}"));
                    return None;
                };
                json
            }
            Value::Sequence(list) => {
                let read: Vec<_> =
                    list.iter().enumerate().map(|(i, value)| self.json(value, &path.join(i))).collect();
                Json::Array(read.into_iter().collect::<Option<_>>()?)
            }
            Value::Mapping(mapping) => {
                let mut object = serde_json::Map::new();
                for (name, value) in mapping {
                    let name = text_of(name);
                    object.insert(name.clone(), self.json(value, &path.join(&name))?);
                }
                Json::Object(object)
            }
            Value::Tagged(tagged) => {
                self.wrong_value(
                    &key,
                    path,
                    format!("has the tag `{}`, which means nothing here", tagged.tag),
                );
                return None;
            }
        })
    }
}
