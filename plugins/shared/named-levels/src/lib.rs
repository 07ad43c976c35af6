//! Variables as a manifest or a program says them: names with lists of numbers, words, true and false.

use std::collections::BTreeSet;

use plugin_api::serde_json::{Map, Value};
use plugin_api::{Error, Point, Result, Space, Variable};

/// The variables of a program, each level in its own type.
#[derive(Debug, PartialEq)]
pub struct Variables {
    names: Vec<String>,
    levels: Vec<Vec<Value>>,
    ordered: BTreeSet<String>,
}

impl Variables {
    /// An error has the path to what is wrong: `variables.layers[1]`.
    pub fn new(variables: &Map<String, Value>, ordered: &[String]) -> Result<Self> {
        let (mut names, mut levels) = (Vec::new(), Vec::new());
        for (name, list) in variables {
            let path = format!("variables.{name}");
            let Value::Array(list) = list else {
                return Err(Error::option(path, "must be a list of levels, such as `[1, 2, 3]`"));
            };
            if list.len() < 2 {
                return Err(Error::option(path, format!("needs at least two levels, not {}", list.len())));
            }
            let mut seen = BTreeSet::new();
            for (i, level) in list.iter().enumerate() {
                let path = format!("{path}[{i}]");
                if matches!(level, Value::Null | Value::Array(_) | Value::Object(_)) {
                    return Err(Error::option(path, "a level is a number, a word, true or false"));
                }
                if !seen.insert(text(level)) {
                    return Err(Error::option(path, format!("the level `{}` is there twice", text(level))));
                }
            }
            names.push(name.clone());
            levels.push(list.clone());
        }
        for (i, name) in ordered.iter().enumerate() {
            if !names.contains(name) {
                return Err(Error::option(format!("ordered[{i}]"), format!("no variable is named `{name}`")));
            }
        }
        Ok(Self { names, levels, ordered: ordered.iter().cloned().collect() })
    }

    /// The space of these variables.
    pub fn space(&self) -> Result<Space> {
        let variable = |(name, levels): (&String, &Vec<Value>)| {
            let levels = levels.iter().map(text);
            match self.ordered.contains(name) {
                true => Variable::ordered(name, levels),
                false => Variable::categorical(name, levels),
            }
        };
        Space::new(self.names.iter().zip(&self.levels).map(variable).collect())
    }

    /// Name and level of each variable at a point of the space.
    pub fn at<'a>(&'a self, point: &'a Point) -> impl Iterator<Item = (&'a str, &'a Value)> {
        let level = |((name, levels), &level): ((&'a String, &'a Vec<Value>), &'a u32)| {
            (name.as_str(), &levels[level as usize])
        };
        self.names.iter().zip(&self.levels).zip(point.iter()).map(level)
    }

    /// What the variables are called, in their order.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

/// A level as people and command lines have it.
pub fn text(level: &Value) -> String {
    match level {
        Value::String(word) => word.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::serde_json::json;

    fn variables(json: Value, ordered: &[&str]) -> Result<Variables> {
        let ordered: Vec<String> = ordered.iter().map(|&name| name.to_owned()).collect();
        Variables::new(json.as_object().unwrap(), &ordered)
    }

    #[test]
    fn levels_keep_their_type_and_are_told_as_they_were_written() {
        let json =
            json!({ "rate": [0.1, 0.01], "layers": [1, 2], "dropout": ["off", "on"], "cold": [false, true] });
        let variables = variables(json, &["layers"]).unwrap();
        let space = variables.space().unwrap();
        let point = Point::from(vec![1, 0, 1, 0]);
        assert_eq!(space.describe(&point), "rate=0.01 layers=1 dropout=on cold=false");
        let ordered: Vec<bool> = space.variables().iter().map(Variable::is_ordered).collect();
        assert_eq!(ordered, [false, true, false, false]);
        let levels: Vec<Value> = variables.at(&point).map(|(_, level)| level.clone()).collect();
        assert_eq!(levels, [json!(0.01), json!(1), json!("on"), json!(false)]);
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        let refusal = |json, ordered: &[&str]| variables(json, ordered).unwrap_err().to_string();
        assert!(refusal(json!({ "a": 3 }), &[]).starts_with("`variables.a`: must be a list"));
        assert!(refusal(json!({ "a": [1] }), &[]).starts_with("`variables.a`: needs at least two levels"));
        assert!(refusal(json!({ "a": [1, null] }), &[]).starts_with("`variables.a[1]`: a level is"));
        assert_eq!(refusal(json!({ "a": [1, "1"] }), &[]), "`variables.a[1]`: the level `1` is there twice");
        assert_eq!(refusal(json!({ "a": [1, 2] }), &["b"]), "`ordered[0]`: no variable is named `b`");
    }
}
