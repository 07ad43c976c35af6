//! Values beside their schema: the first that is of a wrong type, no word of a list or beyond its limits is refused.
//!
//! The words are those of a manifest: a person who wrote `steps: two` has no use for `expected u64`. What a schema does
//! not say, or says in a way unknown here, is left to the deserialisation that follows.

use serde_json::Value;

use crate::{Error, Result};

/// Refuses the first value that the schema does not allow, with the path to it.
pub(crate) fn check(value: &Value, schema: &Value) -> Result<()> {
    Walk { root: schema }.check(value, schema, "")
}

struct Walk<'a> {
    /// Where references lead.
    root: &'a Value,
}

impl<'a> Walk<'a> {
    fn check(&self, value: &Value, schema: &'a Value, path: &str) -> Result<()> {
        let schema = self.resolve(schema);
        // An Option<T> is `anyOf: [T, null]`. A choice of several types is its author's to judge.
        if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
            let is_null = |choice: &&Value| choice.get("type").and_then(Value::as_str) == Some("null");
            let mut others = choices.iter().filter(|choice| !is_null(choice));
            return match (others.next(), others.next()) {
                (Some(inner), None) if !value.is_null() => self.check(value, inner, path),
                _ => Ok(()),
            };
        }
        check_words(value, schema, path)?;
        // Before the type: that 1e9 is beyond a limit says more than that it is not written as a whole number.
        check_number(value, schema, path)?;
        check_type(value, schema, path)?;
        match value {
            Value::Array(items) => self.check_list(items, schema, path),
            Value::Object(_) => self.check_names(value, schema, path),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        }
    }

    fn check_list(&self, items: &[Value], schema: &'a Value, path: &str) -> Result<()> {
        let length = items.len() as f64;
        let limit = |key: &str| schema.get(key).and_then(Value::as_f64);
        if let Some(least) = limit("minItems").filter(|&least| length < least) {
            return refuse(path, format!("must have at least {least} entries, not {length}"));
        }
        if let Some(most) = limit("maxItems").filter(|&most| length > most) {
            return refuse(path, format!("must have at most {most} entries, not {length}"));
        }
        let Some(inner) = schema.get("items") else { return Ok(()) };
        items.iter().enumerate().try_for_each(|(i, item)| self.check(item, inner, &format!("{path}[{i}]")))
    }

    fn check_names(&self, value: &Value, schema: &'a Value, path: &str) -> Result<()> {
        let known = schema.get("properties").and_then(Value::as_object);
        let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
        for (name, field) in value.as_object().into_iter().flatten() {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            match known.and_then(|known| known.get(name)) {
                Some(inner) => self.check(field, inner, &path)?,
                None if closed => {
                    let names: Vec<String> =
                        known.into_iter().flatten().map(|(name, _)| format!("`{name}`")).collect();
                    let there = match &names[..] {
                        [] => "there are none".to_owned(),
                        [one] => format!("there is {one}"),
                        names => format!("there are {}", names.join(", ")),
                    };
                    return refuse(&path, format!("no option is named `{name}`; {there}"));
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Follows `$ref` into the root schema's definitions.
    fn resolve(&self, mut schema: &'a Value) -> &'a Value {
        while let Some(pointer) = schema.get("$ref").and_then(Value::as_str) {
            match self.root.pointer(pointer.trim_start_matches('#')) {
                Some(target) => schema = target,
                None => return schema,
            }
        }
        schema
    }
}

fn refuse(path: &str, words: String) -> Result<()> {
    Err(Error::option(path, words))
}

/// A value of an enum without data: `enum: [words]`, or `oneOf: [{const: word}, …]` where the words are documented.
fn check_words(value: &Value, schema: &Value, path: &str) -> Result<()> {
    let words = match (schema.get("enum"), schema.get("oneOf")) {
        (Some(Value::Array(words)), _) => words.iter().map(Value::as_str).collect::<Option<Vec<&str>>>(),
        // One choice may be several words again: those without documentation.
        (_, Some(Value::Array(choices))) => choices.iter().try_fold(Vec::new(), |mut words, choice| {
            match (choice.get("const"), choice.get("enum")) {
                (Some(word), _) => words.push(word.as_str()?),
                (_, Some(Value::Array(more))) => words.extend(more.iter().filter_map(Value::as_str)),
                _ => return None,
            }
            Some(words)
        }),
        _ => None,
    };
    let Some(words) = words else { return Ok(()) };
    match value {
        Value::String(word) if words.contains(&word.as_str()) => Ok(()),
        Value::String(word) => refuse(path, format!("must be one of {}, not `{word}`", words.join(", "))),
        other => refuse(path, format!("must be one of {}, not {}", words.join(", "), described(other))),
    }
}

fn check_type(value: &Value, schema: &Value, path: &str) -> Result<()> {
    let types: Vec<&str> = match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        // An Option<u32> is `type: [integer, null]`.
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => return Ok(()),
    };
    let is = |name: &str| match (name, value) {
        ("integer", Value::Number(number)) => number.is_i64() || number.is_u64(),
        ("number", Value::Number(_)) | ("string", Value::String(_)) | ("boolean", Value::Bool(_)) => true,
        ("array", Value::Array(_)) | ("object", Value::Object(_)) | ("null", Value::Null) => true,
        _ => false,
    };
    if types.iter().any(|name| is(name)) {
        return Ok(());
    }
    let expected = match types.iter().find(|name| **name != "null") {
        Some(&"integer") => "a whole number",
        Some(&"number") => "a number",
        Some(&"string") => "text",
        Some(&"boolean") => "true or false",
        Some(&"array") => "a list",
        Some(&"object") => "names with values, such as `name: value`",
        _ => return Ok(()),
    };
    refuse(path, format!("must be {expected}, not {}", described(value)))
}

fn check_number(value: &Value, schema: &Value, path: &str) -> Result<()> {
    let limit = |key: &str| schema.get(key).and_then(Value::as_f64);
    let Some(x) = value.as_f64() else { return Ok(()) };
    if let Some(least) = limit("minimum").filter(|&least| x < least) {
        return refuse(path, format!("must be at least {least}, not {value}"));
    }
    if let Some(most) = limit("maximum").filter(|&most| x > most) {
        return refuse(path, format!("must be at most {most}, not {value}"));
    }
    if let Some(least) = limit("exclusiveMinimum").filter(|&least| x <= least) {
        return refuse(path, format!("must be above {least}, not {value}"));
    }
    if let Some(most) = limit("exclusiveMaximum").filter(|&most| x >= most) {
        return refuse(path, format!("must be below {most}, not {value}"));
    }
    Ok(())
}

fn described(value: &Value) -> String {
    match value {
        Value::Null => "empty".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => format!("text `{text}`"),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "names with values".to_owned(),
    }
}
