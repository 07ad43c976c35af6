//! `constraints`: rules that every point keeps, beside those of the objective.
//!
//! Here they are as they were written, with names of variables and levels. What they mean in a space is for the plan.

use std::fmt;

use plugin_api::Kind;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json, json};
use serde_yaml::{Mapping, Value};

use super::{Key, KeyPath, Reader, described};
use crate::manifest::mistake::ManifestError;
use crate::manifest::names::text_of;
use crate::manifest::reader::MOST;

/// The rules, in their order.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Constraints(pub Vec<Written>);

/// A rule as it was written. Displayed, it is in one line of YAML.
#[derive(Clone, Debug, PartialEq)]
pub enum Written {
    /// `{ exactly: 3, of: [s1, s2, s3, s4] }`
    Count { relation: Relation, count: usize, of: Of },
    /// `{ at-most: 100, weights: { s1: 12.5, s2: 40 } }`
    Weights { relation: Relation, limit: f64, weights: Vec<(String, Weight)> },
    /// `{ fixed: { optimizer: adam } }`
    Fixed(Choice),
    /// `{ forbid: { optimizer: lion, layers: 3 } }`
    Forbid(Choice),
    /// `{ implies: [{ dropout: on }, { layers: [2, 3] }] }`
    Implies(Choice, Choice),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    Exactly,
    AtMost,
    AtLeast,
}

/// What is counted.
#[derive(Clone, Debug, PartialEq)]
pub enum Of {
    /// The second level of every variable.
    All,
    Listed(Vec<Counted>),
}

/// An entry of a list of what is counted.
#[derive(Clone, Debug, PartialEq)]
pub enum Counted {
    /// The second level of a variable that has two.
    Variable(String),
    /// Levels of variables.
    Levels(Choice),
}

/// What a variable weighs.
#[derive(Clone, Debug, PartialEq)]
pub enum Weight {
    /// At its second level, where it has two.
    Second(f64),
    /// At each of these levels.
    Levels(Vec<(String, f64)>),
}

/// Variables, each with one of some levels.
pub type Choice = Vec<(String, Vec<String>)>;

impl Constraints {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The way to a rule, counted from 0.
    pub fn path(rule: usize) -> KeyPath {
        KeyPath::root().join("constraints").join(rule)
    }
}

impl Relation {
    const ALL: [Self; 3] = [Self::Exactly, Self::AtMost, Self::AtLeast];

    pub fn name(self) -> &'static str {
        match self {
            Self::Exactly => "exactly",
            Self::AtMost => "at-most",
            Self::AtLeast => "at-least",
        }
    }
}

/// The keys of a rule.
const KEYS: &[&str] = &["exactly", "at-most", "at-least", "of", "weights", "fixed", "forbid", "implies"];

/// What a rule may look like, for hints.
const EXAMPLES: &str = "such as `{ exactly: 3, of: [a, b, c, d] }`, `{ at-most: 100, weights: { a: 12.5, b: 40 } }`, \
    `{ fixed: { a: low } }`, `{ forbid: { a: low, b: high } }` or `{ implies: [{ a: low }, { b: [low, middle] }] }`";

impl Key for Constraints {
    type Value = Self;
    const NAMES: &'static [&'static str] = &["constraints"];

    fn read(keys: &Mapping, reader: &mut Reader<'_>) -> Option<Self> {
        let Some(value) = keys.get("constraints").filter(|value| !value.is_null()) else {
            return Some(Self::stand_in());
        };
        let path = KeyPath::root().join("constraints");
        let Value::Sequence(rules) = value else {
            reader.wrong_type("constraints", &path, value, "a list of rules");
            return None;
        };
        // In the place of what is wrong stands a rule that says nothing, so that the others are checked further.
        let read =
            |(i, rule)| read_rule(rule, &path.join(i), reader).unwrap_or(Written::Fixed(Choice::new()));
        Some(Self(rules.iter().enumerate().map(read).collect()))
    }

    fn stand_in() -> Self {
        Self::default()
    }

    fn schema(_: &str, _: &dyn Fn(Kind) -> Json) -> Json {
        let level = json!({ "type": ["string", "number", "boolean"] });
        let levels = json!({ "oneOf": [level, { "type": "array", "items": level, "minItems": 1 }] });
        let choice = json!({ "type": "object", "minProperties": 1, "additionalProperties": levels });
        let counted = json!({ "oneOf": [{ "type": "string" }, choice] });
        let of =
            json!({ "oneOf": [{ "const": "all" }, { "type": "array", "items": counted, "minItems": 1 }] });
        let weight = json!({
            "oneOf": [{ "type": "number" }, { "type": "object", "additionalProperties": { "type": "number" } }]
        });
        let count = json!({ "type": "integer", "minimum": 0, "maximum": MOST });
        let properties = json!({
            "exactly": described(count, "How many of the levels listed a point has."),
            "at-most": described(json!({ "type": "number" }), "The most of the levels listed that it has, or the most that they weigh."),
            "at-least": described(json!({ "type": "number" }), "The fewest of the levels listed that it has, or the least that they weigh."),
            "of": described(of, "What is counted: variables with two levels, which count at their second; levels, as `{ optimizer: adam }`; or `all`."),
            "weights": described(
                json!({ "type": "object", "minProperties": 1, "additionalProperties": weight }),
                "What each variable weighs at its second level; or at each of its levels, as `{ layers: { 2: 10, 3: 15 } }`."
            ),
            "fixed": described(choice.clone(), "The level of each of these variables, or the few that it may have."),
            "forbid": described(choice.clone(), "Levels that a point does not have all at once."),
            "implies": described(
                json!({ "type": "array", "items": choice, "minItems": 2, "maxItems": 2 }),
                "Where a point has all of the first, it has all of the second."
            ),
        });
        described(
            json!({
                "type": "array",
                "items": { "type": "object", "properties": properties, "additionalProperties": false }
            }),
            "Rules that every point keeps, beside those of the objective.",
        )
    }
}

fn read_rule(value: &Value, path: &KeyPath, reader: &mut Reader<'_>) -> Option<Written> {
    let Value::Mapping(_) = value else {
        reader.wrong_type("constraint", path, value, "a rule");
        return None;
    };
    let before = reader.mistakes.len();
    let keys = reader.mapping(value, path, KEYS)?;
    if reader.mistakes.len() > before {
        return None;
    }
    let relations: Vec<Relation> =
        Relation::ALL.into_iter().filter(|relation| keys.contains_key(relation.name())).collect();
    let others: Vec<&str> =
        ["fixed", "forbid", "implies"].into_iter().filter(|key| keys.contains_key(*key)).collect();
    let counting = keys.contains_key("of") || keys.contains_key("weights");
    match (&relations[..], &others[..], counting) {
        (&[relation], [], _) => read_counting(keys, relation, path, reader),
        ([], &[key], false) => {
            let (value, path) = (&keys[key], path.join(key));
            match key {
                "fixed" => read_choice(value, &path, reader).map(Written::Fixed),
                "forbid" => read_choice(value, &path, reader).map(Written::Forbid),
                _ => read_implication(value, &path, reader),
            }
        }
        ([], [], true) => {
            reader.wrong(path, no_rule("says neither `exactly` nor `at-most` nor `at-least`"));
            None
        }
        ([], [], false) => {
            reader.wrong(path, no_rule("says nothing"));
            None
        }
        _ => {
            let names = relations.iter().map(|relation| relation.name()).chain(others);
            let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
            let names = if names.len() == 1 {
                format!("{} beside `of` or `weights`", names[0])
            } else {
                names.join(" and ")
            };
            reader.wrong(path, no_rule(format!("says {names} at once: each is a rule of its own")));
            None
        }
    }
}

fn no_rule(reason: impl Into<String>) -> ManifestError {
    ManifestError::Rule { reason: reason.into(), examples: EXAMPLES }
}

fn read_counting(
    keys: &Mapping,
    relation: Relation,
    path: &KeyPath,
    reader: &mut Reader<'_>,
) -> Option<Written> {
    let name = relation.name();
    let (bound, place) = (&keys[name], path.join(name));
    match (keys.get("of"), keys.get("weights")) {
        (Some(of), None) => {
            let count = bound.as_u64().and_then(|count| usize::try_from(count).ok());
            let count = count.filter(|&count| count <= MOST);
            if count.is_none() {
                let found = text_of(bound);
                reader.wrong_value(
                    name,
                    &place,
                    format!("must be a whole number from 0 to {MOST}, not `{found}`"),
                );
            }
            let of = read_of(of, &path.join("of"), reader);
            Some(Written::Count { relation, count: count?, of: of? })
        }
        (None, Some(weights)) => {
            let limit = bound.as_f64().filter(|limit| limit.is_finite());
            if relation == Relation::Exactly {
                let reason =
                    "counts, and sums of weights are rarely equal: `weights` go with `at-most` or `at-least`";
                reader.wrong_value(name, &place, reason);
            } else if limit.is_none() {
                reader.wrong_value(name, &place, "must be a finite number");
            }
            let weights = read_weights(weights, &path.join("weights"), reader);
            let limit = limit.filter(|_| relation != Relation::Exactly);
            Some(Written::Weights { relation, limit: limit?, weights: weights? })
        }
        (None, None) => {
            reader.wrong(path, no_rule(format!("does not say `{name}` of what")));
            None
        }
        (Some(_), Some(_)) => {
            reader.wrong(path, no_rule("has both `of` and `weights`: count, or weigh"));
            None
        }
    }
}

fn read_of(value: &Value, path: &KeyPath, reader: &mut Reader<'_>) -> Option<Of> {
    match value {
        Value::String(all) if all == "all" => Some(Of::All),
        Value::Sequence(list) if !list.is_empty() => {
            let entry = |(i, value): (usize, &Value)| match value {
                Value::Mapping(_) => read_choice(value, &path.join(i), reader).map(Counted::Levels),
                Value::String(_) | Value::Number(_) | Value::Bool(_) => {
                    Some(Counted::Variable(text_of(value)))
                }
                _ => {
                    reader.wrong_type("of", &path.join(i), value, "a variable, or levels of one");
                    None
                }
            };
            let entries: Vec<Option<Counted>> = list.iter().enumerate().map(entry).collect();
            entries.into_iter().collect::<Option<_>>().map(Of::Listed)
        }
        _ => {
            reader.wrong_value("of", path, "must be a list of variables, or `all`");
            None
        }
    }
}

/// `{ optimizer: adam, layers: [2, 3] }`
fn read_choice(value: &Value, path: &KeyPath, reader: &mut Reader<'_>) -> Option<Choice> {
    let key = path.keys().last().map_or("", String::as_str).to_owned();
    let Value::Mapping(choice) = value else {
        reader.wrong_type(&key, path, value, "variables with their levels");
        return None;
    };
    if choice.is_empty() {
        reader.wrong_value(&key, path, "names no variable");
        return None;
    }
    let mut read = Some(Choice::new());
    for (name, levels) in choice {
        let name = text_of(name);
        let is_level = |value: &&Value| matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_));
        let listed: Vec<&Value> = match levels {
            Value::Sequence(list) => list.iter().collect(),
            one => vec![one],
        };
        if listed.is_empty() || !listed.iter().all(is_level) {
            reader.wrong_value(&name, &path.join(&name), "must be a level, or a list of levels");
            read = None;
        } else if let Some(read) = &mut read {
            read.push((name, listed.into_iter().map(text_of).collect()));
        }
    }
    read
}

fn read_implication(value: &Value, path: &KeyPath, reader: &mut Reader<'_>) -> Option<Written> {
    let Some([condition, consequence]) = value.as_sequence().map(Vec::as_slice) else {
        reader.wrong_value("implies", path, "must be a list of two: a condition, and what follows from it");
        return None;
    };
    let condition = read_choice(condition, &path.join(0), reader);
    let consequence = read_choice(consequence, &path.join(1), reader);
    Some(Written::Implies(condition?, consequence?))
}

fn read_weights(value: &Value, path: &KeyPath, reader: &mut Reader<'_>) -> Option<Vec<(String, Weight)>> {
    let Value::Mapping(weights) = value else {
        reader.wrong_type("weights", path, value, "variables with their weights");
        return None;
    };
    if weights.is_empty() {
        reader.wrong_value("weights", path, "names no variable");
        return None;
    }
    let mut number = |value: &Value, name: &str, path: &KeyPath| {
        let number = value.as_f64().filter(|weight| weight.is_finite());
        if number.is_none() {
            reader.wrong_value(name, path, "must be a finite number");
        }
        number
    };
    let mut read = Vec::new();
    let mut whole = true;
    for (name, weight) in weights {
        let name = text_of(name);
        let place = path.join(&name);
        let weight = match weight {
            Value::Mapping(levels) => {
                let level = |(level, weight): (&Value, &Value)| {
                    let level = text_of(level);
                    number(weight, &level, &place.join(&level)).map(|weight| (level, weight))
                };
                let levels: Vec<Option<(String, f64)>> = levels.iter().map(level).collect();
                levels.into_iter().collect::<Option<_>>().map(Weight::Levels)
            }
            weight => number(weight, &name, &place).map(Weight::Second),
        };
        whole &= weight.is_some();
        read.extend(weight.map(|weight| (name, weight)));
    }
    whole.then_some(read)
}

impl Written {
    /// As a manifest has it.
    fn to_json(&self) -> Json {
        let levels = |levels: &[String]| match levels {
            [level] => json!(level),
            levels => json!(levels),
        };
        let choice = |choice: &Choice| -> Json {
            choice.iter().map(|(name, of)| (name.clone(), levels(of))).collect::<Map<_, _>>().into()
        };
        match self {
            Self::Count { relation, count, of } => {
                let of = match of {
                    Of::All => json!("all"),
                    Of::Listed(list) => {
                        let entry = |entry: &Counted| match entry {
                            Counted::Variable(name) => json!(name),
                            Counted::Levels(levels) => choice(levels),
                        };
                        list.iter().map(entry).collect()
                    }
                };
                json!({ (relation.name()): count, "of": of })
            }
            Self::Weights { relation, limit, weights } => {
                let weight = |weight: &Weight| match weight {
                    Weight::Second(weight) => json!(weight),
                    Weight::Levels(levels) => levels
                        .iter()
                        .map(|(level, weight)| (level.clone(), json!(weight)))
                        .collect::<Map<_, _>>()
                        .into(),
                };
                let weights: Map<String, Json> =
                    weights.iter().map(|(name, of)| (name.clone(), weight(of))).collect();
                json!({ (relation.name()): limit, "weights": weights })
            }
            Self::Fixed(of) => json!({ "fixed": choice(of) }),
            Self::Forbid(of) => json!({ "forbid": choice(of) }),
            Self::Implies(condition, consequence) => {
                json!({ "implies": [choice(condition), choice(consequence)] })
            }
        }
    }
}

impl Serialize for Written {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&in_a_line(&self.to_json()))
    }
}

/// JSON as people write it in one line of YAML.
fn in_a_line(value: &Json) -> String {
    match value {
        Json::Object(keys) => {
            let keys: Vec<String> =
                keys.iter().map(|(key, value)| format!("{key}: {}", in_a_line(value))).collect();
            format!("{{ {} }}", keys.join(", "))
        }
        Json::Array(list) => format!("[{}]", list.iter().map(in_a_line).collect::<Vec<_>>().join(", ")),
        Json::String(text) => text.clone(),
        Json::Number(number) => match number.as_f64().filter(|x| x.fract() == 0.0 && x.abs() < 1e15) {
            Some(whole) => format!("{whole:.0}"),
            None => number.to_string(),
        },
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Constraints, Vec<String>> {
        let mut mistakes = Vec::new();
        let keys: Mapping = serde_yaml::from_str(text).unwrap();
        let read = Constraints::read(&keys, &mut Reader { mistakes: &mut mistakes, top: &[] });
        let words: Vec<String> =
            mistakes.iter().map(|mistake| format!("{}: {}", mistake.path, mistake.what.message)).collect();
        if words.is_empty() { Ok(read.unwrap()) } else { Err(words) }
    }

    const ALL: &str = "\
constraints:
  - { exactly: 3, of: [s1, s2, s3, { optimizer: adam }, { layers: [2, 3] }] }
  - { at-most: 10, of: all }
  - { at-least: 0, of: [1] }
  - { at-most: 100, weights: { s1: 12.5, s2: 40, layers: { 2: 1.5, 3: 2 } } }
  - { at-least: -1.5, weights: { s1: -2 } }
  - { fixed: { optimizer: adam } }
  - { forbid: { optimizer: lion, layers: 3 } }
  - { implies: [{ dropout: on }, { layers: [2, 3] }] }
";

    #[test]
    fn what_a_plan_writes_is_what_it_reads() {
        let constraints = read(ALL).unwrap();
        assert_eq!(constraints.0.len(), 8);
        let written = serde_json::to_string(&json!({ "constraints": constraints })).unwrap();
        assert_eq!(read(&written), Ok(constraints));
        assert_eq!(read("{}"), Ok(Constraints::default()));
    }

    #[test]
    fn a_rule_reads_as_it_was_written() {
        for (rule, line) in read(ALL).unwrap().0.iter().zip(ALL.lines().skip(1)) {
            assert_eq!(rule.to_string(), line.trim_start_matches("  - ").replace("12.50", "12.5"));
        }
    }

    #[test]
    fn every_mistake_is_told_with_its_place() {
        let text = "\
constraints:
  - { exactly: 3 }
  - { exactly: 1.5, of: [] }
  - { at-most: 3, of: all, weights: { a: 1 } }
  - { exactly: 3, weights: { a: 1 } }
  - { at-most: x, weights: { a: heavy, b: { low: 1, high: .inf } } }
  - { fixed: adam }
  - { fixed: {} }
  - { forbid: { a: [], b: { c: d } } }
  - { implies: [{ a: x }] }
  - { implies: [{ a: x }, b] }
  - { fixed: { a: x }, forbid: { b: y } }
  - { fixed: { a: x }, of: all }
  - { of: all }
  - {}
  - at-most 3
  - { at-mots: 3, of: all }
  - { at-most: 3, of: [a, [b]] }
";
        let mistakes = read(text).unwrap_err();
        assert_eq!(mistakes.join("\n"), EXPECTED.trim_end());
        assert_eq!(
            read("constraints: { exactly: 3, of: all }"),
            Err(vec!["constraints: `constraints` is a mapping, not a list of rules".to_owned()])
        );
    }

    const EXPECTED: &str = "\
constraints.0: a rule that does not say `exactly` of what
constraints.1.exactly: `exactly` must be a whole number from 0 to 1000000, not `1.5`
constraints.1.of: `of` must be a list of variables, or `all`
constraints.2: a rule that has both `of` and `weights`: count, or weigh
constraints.3.exactly: `exactly` counts, and sums of weights are rarely equal: `weights` go with `at-most` or `at-least`
constraints.4.at-most: `at-most` must be a finite number
constraints.4.weights.a: `a` must be a finite number
constraints.4.weights.b.high: `high` must be a finite number
constraints.5.fixed: `fixed` is text, not variables with their levels
constraints.6.fixed: `fixed` names no variable
constraints.7.forbid.a: `a` must be a level, or a list of levels
constraints.7.forbid.b: `b` must be a level, or a list of levels
constraints.8.implies: `implies` must be a list of two: a condition, and what follows from it
constraints.9.implies.1: `1` is text, not variables with their levels
constraints.10: a rule that says `fixed` and `forbid` at once: each is a rule of its own
constraints.11: a rule that says `fixed` beside `of` or `weights` at once: each is a rule of its own
constraints.12: a rule that says neither `exactly` nor `at-most` nor `at-least`
constraints.13: a rule that says nothing
constraints.14: `constraint` is text, not a rule
constraints.15.at-mots: unknown key `at-mots`
constraints.16.of.1: `of` is a list, not a variable, or levels of one
";
}
