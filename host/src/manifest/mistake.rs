//! What is wrong in a manifest, and the key it stands at.

use super::yaml::{KeyPath, Part};
use crate::diagnostic::{Diagnostic, nearest};

/// One mistake in a manifest. Where its key stands in the file is found out when it is reported.
#[derive(Debug)]
pub struct Mistake {
    /// The way to the key.
    pub path: KeyPath,
    /// Whether the key or its value is wrong.
    pub part: Part,
    /// What is wrong, without a place.
    pub what: Diagnostic,
}

impl Mistake {
    /// A wrong value.
    pub fn at(path: &KeyPath, what: impl Into<Diagnostic>) -> Self {
        Self { path: path.clone(), part: Part::Value, what: what.into() }
    }

    /// A wrong key.
    pub fn at_key(path: &KeyPath, what: impl Into<Diagnostic>) -> Self {
        Self { path: path.clone(), part: Part::Key, what: what.into() }
    }
}

/// Why a text is no manifest.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    #[error("a manifest is keys with values, and this is {found}")]
    NoManifest { found: &'static str },
    #[error("unknown key `{key}`")]
    UnknownKey { key: String, known: Vec<&'static str> },
    #[error("missing key `{key}`")]
    MissingKey { key: &'static str, hint: &'static str },
    #[error("`{key}` is {found}, not {expected}")]
    Type { key: String, found: &'static str, expected: &'static str },
    /// A value of the right type that makes no sense.
    #[error("`{key}` {reason}")]
    Value { key: String, reason: String },
    /// A constraint that is none.
    #[error("a rule that {reason}")]
    Rule { reason: String, examples: &'static str },
    /// A name that cannot be a folder's.
    #[error("`{name}` cannot be a name")]
    Name { name: String },
    /// A method's name that reads like a trial's.
    #[error("`{name}` cannot be the name of a method")]
    MethodName { name: String },
    #[error("no method to run")]
    NoMethod,
    #[error("`{key}` stands beside `methods`")]
    BesideMethods { key: &'static str },
    /// A sweep or `--set` goes to a place where there is nothing to set.
    #[error("`{path}` cannot be set: `{blocked}` is a single value")]
    CannotSet { path: String, blocked: String },
}

impl ManifestError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::UnknownKey { key, known } => {
                let meant = nearest(key, known.iter().copied()).map(|name| format!("did you mean `{name}`? "));
                let known: Vec<String> = known.iter().map(|key| format!("`{key}`")).collect();
                if known.is_empty() {
                    return None;
                }
                format!("{}keys here are {}", meant.unwrap_or_default(), known.join(", "))
            }
            Self::MissingKey { hint, .. } => (*hint).to_owned(),
            Self::Rule { examples, .. } => (*examples).to_owned(),
            Self::Name { .. } => {
                "names are folders: up to 64 letters, digits, `-`, `_` and `.`, the first one a letter or digit"
                    .to_owned()
            }
            Self::MethodName { .. } => {
                "`-seed` and `-sweep` with a number end the names of trials; choose another name".to_owned()
            }
            Self::NoManifest { .. } => {
                "experiments/README.md describes manifests; experiments/ising.yaml is one".to_owned()
            }
            Self::NoMethod => {
                "name a `surrogate` and a `solver` under each name, or leave `methods` out for the default one".to_owned()
            }
            Self::BesideMethods { key } => format!("move `{key}` into the methods that use it"),
            Self::Type { .. } | Self::Value { .. } | Self::CannotSet { .. } => return None,
        })
    }
}

impl From<ManifestError> for Diagnostic {
    fn from(error: ManifestError) -> Self {
        Self { hint: error.hint(), ..Self::new(error.to_string()) }
    }
}
