//! A YAML file as a tree: the way to a value, its place in the file, and changing it.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_yaml::{Mapping, Value};

/// The way from the root to a value: `methods.psr.solver`. List entries are numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyPath(Vec<String>);

impl KeyPath {
    /// The root itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// The path in `text`, keys separated by dots: as in `sweep:` and `--set`. No key may be empty.
    pub fn parse(text: &str) -> Option<Self> {
        let keys: Vec<String> = text.split('.').map(str::to_owned).collect();
        keys.iter().all(|key| !key.is_empty()).then_some(Self(keys))
    }

    /// This path and one key more.
    pub fn join(&self, key: impl fmt::Display) -> Self {
        let mut keys = self.0.clone();
        keys.push(key.to_string());
        Self(keys)
    }

    /// This path and an option's, as a plugin writes it: `weights[3].value`.
    pub fn join_option(&self, option: &str) -> Self {
        let keys = option.split(['.', '[']).map(|key| key.trim_end_matches(']').to_owned());
        Self(self.0.iter().cloned().chain(keys.filter(|key| !key.is_empty())).collect())
    }

    pub fn keys(&self) -> &[String] {
        &self.0
    }

    /// Whether `other` is this path or lies below it.
    pub fn contains(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }

    /// The path without its last key; `None` at the root.
    pub fn parent(&self) -> Option<Self> {
        self.0.split_last().map(|(_, rest)| Self(rest.to_vec()))
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("."))
    }
}

/// Puts `new` at `path`, making what is missing on the way. A plugin named by a bare word opens up when one
/// of its options is set: `solver: psr` becomes `solver: { use: psr, options: { steps: 5 } }`.
///
/// An error names the key that has a value where others would have to be.
pub fn set(tree: &mut Value, path: &KeyPath, new: Value) -> Result<(), KeyPath> {
    let mut value = tree;
    for (depth, key) in path.0.iter().enumerate() {
        if let Value::String(word) = &value
            && matches!(key.as_str(), "use" | "options")
        {
            let opened = Mapping::from_iter([(Value::from("use"), Value::from(word.clone()))]);
            *value = Value::Mapping(opened);
        }
        if value.is_null() {
            *value = Value::Mapping(Mapping::new());
        }
        value = match value {
            Value::Mapping(mapping) => {
                mapping.entry(Value::from(key.as_str())).or_insert_with(|| Value::Null)
            }
            Value::Sequence(sequence) => {
                let entry = key.parse::<usize>().ok().and_then(|i| sequence.get_mut(i));
                entry.ok_or_else(|| KeyPath(path.0[..=depth].to_vec()))?
            }
            _ => return Err(KeyPath(path.0[..depth].to_vec())),
        };
    }
    *value = new;
    Ok(())
}

/// Removes what stands at `path`; where nothing does, there is nothing to remove.
pub fn remove(tree: &mut Value, path: &KeyPath) {
    let Some((last, way)) = path.0.split_last() else { return };
    let mut value = tree;
    for key in way {
        match value.get_mut(key.as_str()) {
            Some(next) => value = next,
            None => return,
        }
    }
    if let Value::Mapping(keys) = value {
        keys.shift_remove(last.as_str());
    }
}

/// Line and column, both from 1.
pub type LineColumn = (usize, usize);

/// Which part of an entry to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Key,
    Value,
}

/// Where `path` stands in the text of a file; where it is not there, the nearest key above it that is.
pub fn locate(text: &str, path: &KeyPath, part: Part) -> LineColumn {
    if let Some(found) = walk(text, &path.0, part) {
        return found;
    }
    match path.parent() {
        Some(parent) => locate(text, &parent, Part::Value),
        None => (1, 1),
    }
}

/// Scalars that say nothing to this visitor.
macro_rules! pass_over {
    ($($visit:ident: $ty:ty),*) => {
        $( fn $visit<E: serde::de::Error>(self, _: $ty) -> Result<(), E> { Ok(()) } )*
    };
}

/// A key that stands twice in one mapping, and where it stands the second time.
pub fn duplicate(text: &str) -> Option<(String, LineColumn)> {
    let error = Unique.deserialize(serde_yaml::Deserializer::from_str(text)).err()?;
    let words = error.to_string();
    let key = words.split(HERE).nth(1)?.to_owned();
    error.location().map(|place| (key, (place.line(), place.column())))
}

/// Goes through every mapping and fails at the first key that was there before.
struct Unique;

impl<'de> DeserializeSeed<'de> for Unique {
    type Value = ();
    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unique {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any YAML")
    }

    pass_over!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while entries.next_element_seed(Unique)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let mut seen = BTreeSet::new();
        while entries.next_key_seed(NewKey(&mut seen))?.is_some() {
            entries.next_value_seed(Unique)?;
        }
        Ok(())
    }
}

/// Reads a key that may not be among those seen.
struct NewKey<'a>(&'a mut BTreeSet<String>);

impl<'de> DeserializeSeed<'de> for NewKey<'_> {
    type Value = ();
    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NewKey<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }
    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<(), E> {
        if self.0.insert(key.to_owned()) { Ok(()) } else { Err(E::custom(format!("{HERE}{key}{HERE}"))) }
    }
    pass_over!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64);
}

/// Walks the YAML to `path` and fails there on purpose: the parser's error then carries the place.
fn walk(text: &str, path: &[String], part: Part) -> Option<LineColumn> {
    let error = Walk { path, part }.deserialize(serde_yaml::Deserializer::from_str(text)).err()?;
    if !error.to_string().contains(HERE) {
        return None;
    }
    error.location().map(|place| (place.line(), place.column()))
}

const HERE: &str = "\u{1}here\u{1}";

#[derive(Clone, Copy)]
struct Walk<'a> {
    path: &'a [String],
    part: Part,
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();
    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// Every scalar ends a walk: at its goal it is the place, elsewhere the path does not exist.
macro_rules! end_at_scalars {
    ($($visit:ident: $ty:ty),*) => {
        $( fn $visit<E: serde::de::Error>(self, _: $ty) -> Result<(), E> { self.end() } )*
    };
}

impl Walk<'_> {
    fn end<E: serde::de::Error>(self) -> Result<(), E> {
        if self.path.is_empty() { Err(E::custom(HERE)) } else { Ok(()) }
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any YAML")
    }

    end_at_scalars!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        self.end()
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let Some((first, rest)) = self.path.split_first() else { return Err(A::Error::custom(HERE)) };
        for i in 0.. {
            let here = first.parse() == Ok(i);
            let next = if here {
                entries.next_element_seed(Walk { path: rest, ..self })?
            } else {
                entries.next_element::<IgnoredAny>()?.map(drop)
            };
            if next.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let Some((first, rest)) = self.path.split_first() else { return Err(A::Error::custom(HERE)) };
        let fail = rest.is_empty() && self.part == Part::Key;
        while let Some(here) = entries.next_key_seed(Key { name: first, fail })? {
            if here {
                entries.next_value_seed(Walk { path: rest, ..self })?;
            } else {
                entries.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Answers whether a key is the one looked for; fails at it where the key itself is the goal.
struct Key<'a> {
    name: &'a str,
    fail: bool,
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = bool;
    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Key<'_> {
    type Value = bool;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }
    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<bool, E> {
        if key == self.name && self.fail { Err(E::custom(HERE)) } else { Ok(key == self.name) }
    }
    fn visit_bool<E: serde::de::Error>(self, key: bool) -> Result<bool, E> {
        self.visit_str(&key.to_string())
    }
    fn visit_i64<E: serde::de::Error>(self, key: i64) -> Result<bool, E> {
        self.visit_str(&key.to_string())
    }
    fn visit_u64<E: serde::de::Error>(self, key: u64) -> Result<bool, E> {
        self.visit_str(&key.to_string())
    }
    fn visit_f64<E: serde::de::Error>(self, key: f64) -> Result<bool, E> {
        self.visit_str(&key.to_string())
    }
    fn visit_unit<E: serde::de::Error>(self) -> Result<bool, E> {
        Ok(false)
    }
}

/// Where more brackets are open than the parser would follow anyway, in words and comments too.
///
/// Its time grows with the square of their number: a few hundred kilobytes of them would take minutes.
pub fn too_deep(text: &str) -> Option<(usize, usize)> {
    const DEEPEST: usize = 200;
    let mut open = 0_usize;
    let mut place = (1, 0);
    for c in text.chars() {
        place.1 += 1;
        match c {
            '\n' => place = (place.0 + 1, 0),
            '[' | '{' => open += 1,
            ']' | '}' => open = open.saturating_sub(1),
            _ => {}
        }
        if open > DEEPEST {
            return Some(place);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
name: x
methods:
  psr: { surrogate: horseshoe, solver: psr }
list: [1, { deep: 2 }]
";

    fn place(path: &str, part: Part) -> LineColumn {
        locate(TEXT, &KeyPath::parse(path).unwrap(), part)
    }

    #[test]
    fn keys_and_values_are_found_where_they_stand() {
        assert_eq!(place("name", Part::Key), (1, 1));
        assert_eq!(place("name", Part::Value), (1, 7));
        assert_eq!(place("methods.psr.solver", Part::Key), (3, 32));
        assert_eq!(place("methods.psr.solver", Part::Value), (3, 40));
        assert_eq!(place("list.1.deep", Part::Value), (4, 19));
    }

    #[test]
    fn what_is_not_there_is_placed_at_the_nearest_key_above() {
        assert_eq!(place("methods.psr.shadows", Part::Key), place("methods.psr", Part::Value));
        assert_eq!(place("nothing", Part::Value), (1, 1));
    }

    #[test]
    fn a_duplicate_key_is_found_where_it_stands_again() {
        assert_eq!(duplicate(TEXT), None);
        assert_eq!(duplicate("a: 1\nb: { c: [{ d: 1, d: 2 }] }"), Some(("d".to_owned(), (2, 18))));
    }

    #[test]
    fn setting_opens_bare_names_and_makes_what_is_missing() {
        let mut tree: Value = serde_yaml::from_str("solver: psr").unwrap();
        set(&mut tree, &KeyPath::parse("solver.options.steps").unwrap(), Value::from(5)).unwrap();
        set(&mut tree, &KeyPath::parse("penalty.l1").unwrap(), Value::from(0.5)).unwrap();
        let expected = "solver: { use: psr, options: { steps: 5 } }\npenalty: { l1: 0.5 }";
        assert_eq!(tree, serde_yaml::from_str::<Value>(expected).unwrap());
    }

    #[test]
    fn setting_below_a_number_names_it() {
        let mut tree: Value = serde_yaml::from_str("seeds: 3").unwrap();
        let refused = set(&mut tree, &KeyPath::parse("seeds.first").unwrap(), Value::from(5));
        assert_eq!(refused.unwrap_err().to_string(), "seeds");
    }

    #[test]
    fn brackets_beyond_all_bounds_are_found_before_they_are_parsed() {
        assert_eq!(too_deep(&"[]{}".repeat(1000)), None);
        assert_eq!(too_deep(&format!("a: b\n  {}", "{a: ".repeat(201))), Some((2, 803)));
    }
}
