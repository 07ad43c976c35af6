//! What a manifest may set: declared once, with documentation, limits and defaults.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Error, Result};

/// Declares a plugin's options: documentation, limits, type and default of each, in one place.
///
/// Field names become kebab-case keys of the manifest; unknown keys are refused. Limits are schemars
/// attributes (`range(min = 1)`, `extend("exclusiveMinimum" = 0)`, `length(min = 1)`), and are checked
/// before the plugin is made. Enums become words in kebab-case, one of them the `#[default]`.
///
/// ```
/// plugin_api::options! {
///     /// How to anneal.
///     pub struct Options {
///         /// Passes over all bits.
///         #[schemars(range(min = 1))]
///         pub sweeps: usize = 100,
///         /// How the temperature falls.
///         pub cooling: Cooling = Cooling::Geometric,
///     }
/// }
/// plugin_api::options! {
///     /// How the temperature falls.
///     pub enum Cooling {
///         /// By a constant factor.
///         #[default]
///         Geometric,
///         /// By a constant step.
///         Linear,
///     }
/// }
/// let options: Options = plugin_api::options::parse(r#"{ "cooling": "linear" }"#)?;
/// assert_eq!(options.sweeps, 100);
/// let error = plugin_api::options::parse::<Options>(r#"{ "sweeps": 0 }"#).unwrap_err();
/// assert_eq!(error.to_string(), "`sweeps`: must be at least 1, not 0");
/// # Ok::<(), plugin_api::Error>(())
/// ```
#[macro_export]
macro_rules! options {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $( $(#[$field_meta:meta])* $field_vis:vis $field:ident : $ty:ty = $default:expr ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, $crate::serde::Serialize, $crate::serde::Deserialize, $crate::schemars::JsonSchema)]
        #[serde(crate = "plugin_api::serde", default, deny_unknown_fields, rename_all = "kebab-case")]
        #[schemars(crate = "plugin_api::schemars")]
        $vis struct $name {
            $( $(#[$field_meta])* $field_vis $field: $ty, )*
        }
        impl ::std::default::Default for $name {
            fn default() -> Self {
                Self { $( $field: $default ),* }
            }
        }
    };
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident { $( $(#[$variant_meta:meta])* $variant:ident ),* $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq,
            $crate::serde::Serialize, $crate::serde::Deserialize, $crate::schemars::JsonSchema,
        )]
        #[serde(crate = "plugin_api::serde", rename_all = "kebab-case")]
        #[schemars(crate = "plugin_api::schemars")]
        $vis enum $name { $( $(#[$variant_meta])* $variant ),* }
    };
}

/// Options from JSON: the types, then the limits of the schema. An error says which option, and why.
pub fn parse<O: DeserializeOwned + JsonSchema>(json: &str) -> Result<O> {
    let value: Value = serde_json::from_str(json).map_err(Error::wrap)?;
    if !value.is_object() {
        return Err(Error::option("", "options are names with values, such as `steps: 10`"));
    }
    // The limits first: "must be at least 0, not -1" says more than "invalid value: expected u64".
    let schema = schema::<O>();
    check_limits(&value, &schema, &schema, "")?;
    serde_path_to_error::deserialize(&value).map_err(|error| {
        let path = error.path().to_string();
        Error::option(if path == "." { String::new() } else { path }, error.into_inner().to_string())
    })
}

/// The JSON schema of options, with their documentation and limits.
pub fn schema<O: JsonSchema>() -> Value {
    schemars::SchemaGenerator::default().into_root_schema_for::<O>().to_value()
}

/// The default of every option, as JSON.
pub fn defaults<O: Default + Serialize>() -> Result<Value> {
    serde_json::to_value(O::default()).map_err(Error::wrap)
}

/// Walks `value` beside its schema and refuses the first number, list or text beyond its limits.
fn check_limits(value: &Value, schema: &Value, root: &Value, path: &str) -> Result<()> {
    let schema = resolve(schema, root);
    // An Option<T> is `anyOf: [T, null]`.
    if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
        let is_null = |choice: &&Value| choice.get("type").and_then(Value::as_str) == Some("null");
        if let (false, Some(inner)) = (value.is_null(), choices.iter().find(|c| !is_null(c))) {
            check_limits(value, inner, root, path)?;
        }
    }
    let refuse = |words: String| Err(Error::option(path, words));
    let limit = |key: &str| schema.get(key).and_then(Value::as_f64);
    match value {
        Value::Number(number) => {
            let x = number.as_f64().unwrap_or(f64::NAN);
            if let Some(least) = limit("minimum").filter(|&least| x < least) {
                return refuse(format!("must be at least {least}, not {number}"));
            }
            if let Some(most) = limit("maximum").filter(|&most| x > most) {
                return refuse(format!("must be at most {most}, not {number}"));
            }
            if let Some(least) = limit("exclusiveMinimum").filter(|&least| x <= least) {
                return refuse(format!("must be above {least}, not {number}"));
            }
            if let Some(most) = limit("exclusiveMaximum").filter(|&most| x >= most) {
                return refuse(format!("must be below {most}, not {number}"));
            }
        }
        Value::Array(items) => {
            let length = items.len() as f64;
            if let Some(least) = limit("minItems").filter(|&least| length < least) {
                return refuse(format!("must have at least {least} entries, not {length}"));
            }
            if let Some(most) = limit("maxItems").filter(|&most| length > most) {
                return refuse(format!("must have at most {most} entries, not {length}"));
            }
            if let Some(inner) = schema.get("items") {
                for (i, item) in items.iter().enumerate() {
                    check_limits(item, inner, root, &format!("{path}[{i}]"))?;
                }
            }
        }
        Value::Object(fields) => {
            for (key, field) in fields {
                if let Some(inner) = schema.get("properties").and_then(|p| p.get(key)) {
                    let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    check_limits(field, inner, root, &path)?;
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
    Ok(())
}

/// Follows `$ref` into the root schema's definitions.
fn resolve<'a>(mut schema: &'a Value, root: &'a Value) -> &'a Value {
    while let Some(pointer) = schema.get("$ref").and_then(Value::as_str) {
        match root.pointer(pointer.trim_start_matches('#')) {
            Some(target) => schema = target,
            None => return schema,
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate as plugin_api;

    options! {
        /// Options with everything in them.
        struct Everything {
            /// A count.
            #[schemars(range(min = 1, max = 10))]
            count: u32 = 3,
            /// A rate.
            #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
            rate: f64 = 0.5,
            /// Maybe a number.
            #[schemars(range(min = 0.0))]
            maybe: Option<f64> = None,
            /// Some weights.
            #[schemars(length(max = 2), inner(range(min = -1.0)))]
            weights: Vec<f64> = vec![],
            /// Nested.
            inner: Inner = Inner::default(),
            /// A word.
            word: Word = Word::default(),
        }
    }
    options! {
        /// Nested options.
        struct Inner {
            /// A count.
            #[schemars(range(min = 2))]
            steps_taken: u8 = 2,
        }
    }
    options! {
        /// Words.
        enum Word {
            /// The first.
            #[default]
            FirstWord,
            /// The second.
            Second,
        }
    }

    fn refusal(json: &str) -> String {
        parse::<Everything>(json).unwrap_err().to_string()
    }

    #[test]
    fn nothing_given_is_all_defaults() {
        let options: Everything = parse("{}").unwrap();
        assert_eq!((options.count, options.rate, options.maybe), (3, 0.5, None));
        assert_eq!((options.weights.len(), options.inner.steps_taken, options.word), (0, 2, Word::FirstWord));
    }

    #[test]
    fn every_limit_is_enforced_with_its_path() {
        assert_eq!(refusal(r#"{"count": 0}"#), "`count`: must be at least 1, not 0");
        assert_eq!(refusal(r#"{"count": 11}"#), "`count`: must be at most 10, not 11");
        assert_eq!(refusal(r#"{"rate": 0}"#), "`rate`: must be above 0, not 0");
        assert_eq!(refusal(r#"{"rate": 1.0}"#), "`rate`: must be below 1, not 1.0");
        assert_eq!(refusal(r#"{"maybe": -1}"#), "`maybe`: must be at least 0, not -1");
        assert_eq!(refusal(r#"{"weights": [1, 2, 3]}"#), "`weights`: must have at most 2 entries, not 3");
        assert_eq!(refusal(r#"{"weights": [1, -2]}"#), "`weights[1]`: must be at least -1, not -2");
        assert_eq!(
            refusal(r#"{"inner": {"steps-taken": 1}}"#),
            "`inner.steps-taken`: must be at least 2, not 1"
        );
    }

    #[test]
    fn wrong_types_words_and_keys_are_refused_with_their_path() {
        assert_eq!(
            refusal(r#"{"inner": {"steps-taken": "two"}}"#),
            "`inner.steps-taken`: invalid type: string \"two\", expected u8"
        );
        assert!(refusal(r#"{"word": "third"}"#).starts_with("`word`: unknown variant `third`"));
        assert!(refusal(r#"{"cuont": 1}"#).contains("unknown field `cuont`"));
        assert!(refusal("[]").contains("names with values"));
    }

    #[test]
    fn defaults_and_schema_are_for_people() {
        let defaults = defaults::<Everything>().unwrap();
        assert_eq!(defaults["word"], "first-word");
        let schema = schema::<Everything>();
        assert_eq!(schema["properties"]["count"]["description"], "A count.");
        assert_eq!(schema["properties"]["count"]["default"], 3);
    }
}
