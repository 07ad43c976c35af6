//! What a manifest may set: declared once, with documentation, limits and defaults.

mod check; // types, words and limits of values, in words of a manifest

pub(crate) use self::check::check;

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

/// Options from JSON: the types, words and limits of the schema. An error says which option, and why.
pub fn parse<O: DeserializeOwned + JsonSchema>(json: &str) -> Result<O> {
    // The schema first: it knows the words of a manifest, and serde those of Rust.
    let value = checked(json, &schema::<O>())?;
    serde_path_to_error::deserialize(&value).map_err(refused)
}

fn checked(json: &str, schema: &Value) -> Result<Value> {
    let value: Value = serde_json::from_str(json).map_err(Error::wrap)?;
    if !value.is_object() {
        return Err(Error::option("", "options are names with values, such as `steps: 10`"));
    }
    check(&value, schema)?;
    Ok(value)
}

fn refused(error: serde_path_to_error::Error<serde_json::Error>) -> Error {
    let path = error.path().to_string();
    Error::option(if path == "." { String::new() } else { path }, error.into_inner().to_string())
}

/// The JSON schema of options, with their documentation and limits.
pub fn schema<O: JsonSchema>() -> Value {
    schemars::SchemaGenerator::default().into_root_schema_for::<O>().to_value()
}

/// The default of every option, as JSON.
pub fn defaults<O: Default + Serialize>() -> Result<Value> {
    serde_json::to_value(O::default()).map_err(Error::wrap)
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
            /// Maybe a word.
            other_word: Option<Word> = None,
            /// Whether.
            flag: bool = false,
            /// Text.
            title: String = String::new(),
            /// A number or a word.
            either: Either = Either::Number(0),
        }
    }
    options! {
        /// No options.
        struct Nothing {}
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
    fn wrong_types_are_refused_in_words_of_a_manifest_with_their_path() {
        assert_eq!(
            refusal(r#"{"inner": {"steps-taken": "two"}}"#),
            "`inner.steps-taken`: must be a whole number, not text `two`"
        );
        assert_eq!(refusal(r#"{"count": 1.5}"#), "`count`: must be a whole number, not 1.5");
        assert_eq!(refusal(r#"{"count": 3.0}"#), "`count`: must be a whole number, not 3.0");
        assert_eq!(refusal(r#"{"count": null}"#), "`count`: must be a whole number, not empty");
        assert_eq!(refusal(r#"{"rate": true}"#), "`rate`: must be a number, not true");
        assert_eq!(refusal(r#"{"maybe": "x"}"#), "`maybe`: must be a number, not text `x`");
        assert_eq!(refusal(r#"{"maybe": {}}"#), "`maybe`: must be a number, not names with values");
        assert_eq!(refusal(r#"{"weights": 3}"#), "`weights`: must be a list, not 3");
        assert_eq!(refusal(r#"{"weights": [1, "x"]}"#), "`weights[1]`: must be a number, not text `x`");
        assert_eq!(refusal(r#"{"flag": "maybe"}"#), "`flag`: must be true or false, not text `maybe`");
        assert_eq!(refusal(r#"{"title": [1]}"#), "`title`: must be text, not a list");
        assert_eq!(
            refusal(r#"{"inner": 3}"#),
            "`inner`: must be names with values, such as `name: value`, not 3"
        );
        assert_eq!(refusal("[]"), "options are names with values, such as `steps: 10`");
    }

    #[test]
    fn wrong_words_and_names_are_refused_with_the_right_ones() {
        assert_eq!(refusal(r#"{"word": "third"}"#), "`word`: must be one of first-word, second, not `third`");
        assert_eq!(refusal(r#"{"word": 3}"#), "`word`: must be one of first-word, second, not 3");
        assert_eq!(
            refusal(r#"{"other-word": "third"}"#),
            "`other-word`: must be one of first-word, second, not `third`"
        );
        assert_eq!(
            refusal(r#"{"cuont": 1}"#),
            "`cuont`: no option is named `cuont`; there are `count`, `rate`, `maybe`, `weights`, `inner`, `word`, \
             `other-word`, `flag`, `title`, `either`"
        );
        assert_eq!(
            refusal(r#"{"inner": {"steps": 1}}"#),
            "`inner.steps`: no option is named `steps`; there is `steps-taken`"
        );
        let error = parse::<Nothing>(r#"{"steps": 1}"#).unwrap_err();
        assert_eq!(error.to_string(), "`steps`: no option is named `steps`; there are none");
    }

    #[test]
    fn what_may_be_left_empty_may_be_empty() {
        let options: Everything = parse(r#"{"maybe": null, "other-word": null}"#).unwrap();
        assert_eq!((options.maybe, options.other_word), (None, None));
        let options: Everything = parse(r#"{"maybe": 2, "other-word": "second", "rate": 0.25}"#).unwrap();
        assert_eq!((options.maybe, options.other_word), (Some(2.0), Some(Word::Second)));
    }

    #[test]
    fn a_type_that_only_its_author_can_judge_is_left_to_it() {
        let either = |json: &str| parse::<Everything>(json).map(|options| options.either.to_string());
        assert_eq!(either(r#"{"either": "all"}"#).unwrap(), "all");
        assert_eq!(either(r#"{"either": 3}"#).unwrap(), "3");
        assert!(either(r#"{"either": []}"#).is_err());
    }

    /// A number or a word, as an author may declare by hand.
    #[derive(Clone, Debug, Serialize, serde::Deserialize, JsonSchema)]
    #[serde(untagged)]
    enum Either {
        Number(u32),
        Word(String),
    }

    impl std::fmt::Display for Either {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            match self {
                Self::Number(number) => number.fmt(f),
                Self::Word(word) => word.fmt(f),
            }
        }
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
