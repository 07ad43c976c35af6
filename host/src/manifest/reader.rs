//! Reads values of a manifest, and goes on after a mistake, so that all of them are reported at once.

use serde_json::Value as Json;
use serde_yaml::{Mapping, Value};

use super::mistake::{ManifestError, Mistake};
use super::names::{is_name, text_of};
use super::yaml::KeyPath;
use crate::diagnostic::{Diagnostic, nearest};

/// No experiment has more seeds or evaluations than this.
pub(super) const MOST: usize = 1_000_000;

/// Where mistakes go while a manifest is read.
pub(super) struct Reader<'a> {
    pub(super) mistakes: &'a mut Vec<Mistake>,
    /// The keys at the top of a manifest: one of them is no misspelling of another.
    pub(super) top: &'a [&'static str],
}

impl Reader<'_> {
    pub(super) fn wrong(&mut self, path: &KeyPath, what: impl Into<Diagnostic>) {
        self.mistakes.push(Mistake::at(path, what));
    }

    pub(super) fn wrong_key(&mut self, path: &KeyPath, what: impl Into<Diagnostic>) {
        self.mistakes.push(Mistake::at_key(path, what));
    }

    pub(super) fn wrong_type(&mut self, key: &str, path: &KeyPath, found: &Value, expected: &'static str) {
        self.wrong(path, ManifestError::Type { key: key.to_owned(), found: type_of(found), expected });
    }

    pub(super) fn wrong_value(&mut self, key: &str, path: &KeyPath, reason: impl Into<String>) {
        self.wrong(path, ManifestError::Value { key: key.to_owned(), reason: reason.into() });
    }

    /// A mapping with no other keys than the known ones.
    pub(super) fn mapping<'v>(
        &mut self,
        value: &'v Value,
        path: &KeyPath,
        known: &[&'static str],
    ) -> Option<&'v Mapping> {
        let Value::Mapping(mapping) = value else {
            match path.keys().last() {
                Some(key) => self.wrong_type(key, path, value, "keys with values"),
                None => self.wrong(path, ManifestError::NoManifest { found: type_of(value) }),
            }
            return None;
        };
        for key in mapping.keys().map(text_of) {
            if !known.contains(&key.as_str()) {
                let place = path.join(&key);
                self.wrong_key(&place, ManifestError::UnknownKey { key, known: known.to_vec() });
            }
        }
        Some(mapping)
    }

    pub(super) fn required<'v>(
        &mut self,
        keys: &'v Mapping,
        path: &KeyPath,
        key: &'static str,
        hint: &'static str,
    ) -> Option<&'v Value> {
        let value = keys.get(key).filter(|value| !value.is_null());
        // A misspelt key has been reported already, with the right one in the hint.
        let other = |name: &String| name != key && !self.top.contains(&name.as_str());
        let misspelt = keys.keys().map(text_of).filter(other).any(|name| nearest(&name, [key]).is_some());
        if value.is_none() && !misspelt {
            self.wrong(&path.join(key), ManifestError::MissingKey { key, hint });
        }
        value
    }

    /// A text that can be a folder's name on every system.
    pub(super) fn name(&mut self, value: &Value, path: &KeyPath) -> Option<String> {
        let Value::String(name) = value else {
            self.wrong_type("name", path, value, "text");
            return None;
        };
        if is_name(name) {
            return Some(name.clone());
        }
        self.wrong(path, ManifestError::Name { name: name.clone() });
        None
    }

    pub(super) fn count(&mut self, value: &Value, key: &str, path: &KeyPath) -> Option<usize> {
        let Value::Number(number) = value else {
            self.wrong_type(key, path, value, "a whole number");
            return None;
        };
        let count = number.as_u64().and_then(|count| usize::try_from(count).ok());
        let count = count.filter(|count| (1..=MOST).contains(count));
        if count.is_none() {
            self.wrong_value(key, path, format!("must be a whole number from 1 to {MOST}, not {number}"));
        }
        count
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
    pub(super) fn json(&mut self, value: &Value, path: &KeyPath) -> Option<Json> {
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
                let reason = format!("has the tag `{}`, which means nothing here", tagged.tag);
                self.wrong_value(&key, path, reason);
                return None;
            }
        })
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "empty",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Sequence(_) => "a list",
        Value::Mapping(_) => "a mapping",
        Value::Tagged(_) => "a tagged value",
    }
}
