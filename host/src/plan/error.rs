//! Why a manifest cannot become a plan.

use plugin_api::Kind;

use crate::plugins::locate::OpenError;
use crate::yaml::{KeyPath, Part};

/// One mistake in a manifest, and the key it stands at.
#[derive(Debug)]
pub struct Mistake {
    /// The way to it.
    pub path: KeyPath,
    /// Whether the key or its value is wrong.
    pub part: Part,
    /// What is wrong.
    pub error: PlanError,
}

impl Mistake {
    /// A wrong value.
    pub fn at(path: &KeyPath, error: PlanError) -> Self {
        Self { path: path.clone(), part: Part::Value, error }
    }

    /// A wrong key.
    pub fn at_key(path: &KeyPath, error: PlanError) -> Self {
        Self { path: path.clone(), part: Part::Key, error }
    }
}

/// Why a manifest cannot become a plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The file holds something else.
    #[error("a manifest is keys with values, and this is {found}")]
    NoManifest { found: &'static str },
    /// A key that nobody reads.
    #[error("unknown key `{key}`")]
    UnknownKey { key: String, nearest: Option<String>, known: Vec<&'static str> },
    /// A key that cannot be left out.
    #[error("missing key `{key}`")]
    MissingKey { key: &'static str, hint: &'static str },
    /// A value of another type.
    #[error("`{key}` is {found}, not {expected}")]
    Type { key: String, found: &'static str, expected: &'static str },
    /// A value of the right type that makes no sense.
    #[error("`{key}` {reason}")]
    Value { key: String, reason: String },
    /// A name that cannot be a folder's.
    #[error("`{name}` cannot be a name")]
    Name { name: String },
    /// Neither methods nor a solver.
    #[error("no method to run")]
    NoMethod,
    /// Methods, and a surrogate or solver beside them.
    #[error("`{key}` stands beside `methods`")]
    BesideMethods { key: &'static str },
    /// A sweep or `--set` goes to a place where there is nothing to set.
    #[error("`{path}` cannot be set: `{blocked}` is a single value")]
    CannotSet { path: String, blocked: String },
    /// More trials than anybody meant.
    #[error("{count} trials are more than {most}")]
    TooMany { count: String, most: usize },
    /// A plugin that is nowhere.
    #[error("no {kind} named `{name}`")]
    UnknownPlugin { kind: Kind, name: String, nearest: Option<String>, folders: Vec<String> },
    /// A plugin that cannot be opened.
    #[error("the {kind} `{name}` cannot be loaded")]
    Load { kind: Kind, name: String, source: OpenError },
    /// Options that the plugin does not take.
    #[error("{kind} `{name}` refused its options")]
    Options { kind: Kind, name: String, source: plugin_api::Error },
    /// An encoder that does not take the benchmark's space.
    #[error("encoder `{encoder}` does not fit the space of benchmark `{benchmark}`")]
    Encoder { encoder: String, benchmark: String, source: plugin_api::Error },
    /// A quadratic-only solver with a surrogate that draws general functions.
    #[error(
        "solver `{solver}` takes quadratic functions only, and surrogate `{surrogate}` draws general ones"
    )]
    GeneralFunction { solver: String, surrogate: String },
    /// A general function has no bound to make an exact penalty from.
    #[error(
        "solver `{solver}` does not keep one-hot groups, and surrogate `{surrogate}` draws functions \
         that no penalty can keep in them"
    )]
    Groups { solver: String, surrogate: String },
    /// More initial points than there are.
    #[error("{initial} initial points in a space of {points}")]
    SmallSpace { initial: usize, points: usize },
}

impl PlanError {
    /// Why, where the message does not say it all.
    pub fn cause(&self) -> Option<String> {
        match self {
            Self::Load { source, .. } => Some(source.to_string()),
            Self::Options { source, .. } | Self::Encoder { source, .. } => Some(source.to_string()),
            _ => None,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let did_you_mean = |name: &Option<String>, all: String| match name {
            Some(name) => format!("did you mean `{name}`? {all}"),
            None => all,
        };
        Some(match self {
            Self::UnknownKey { nearest, known, .. } if known.is_empty() => {
                return nearest.as_ref().map(|name| format!("did you mean `{name}`?"));
            }
            Self::UnknownKey { nearest, known, .. } => {
                let known: Vec<String> = known.iter().map(|key| format!("`{key}`")).collect();
                did_you_mean(nearest, format!("keys here are {}", known.join(", ")))
            }
            Self::MissingKey { hint, .. } => (*hint).to_owned(),
            Self::Name { .. } => {
                "names are folders: up to 64 letters, digits, `-`, `_` and `.`, the first one a letter or digit"
                    .to_owned()
            }
            Self::NoManifest { .. } => {
                "experiments/README.md describes manifests; experiments/ising.yaml is one".to_owned()
            }
            Self::NoMethod => {
                "name a `surrogate` and a `solver`, or several pairs of them under `methods`".to_owned()
            }
            Self::BesideMethods { key } => format!("move `{key}` into the methods that use it"),
            Self::UnknownPlugin { nearest, folders, .. } => {
                let all = format!("`host plugins list` shows all; searched: {}", folders.join(", "));
                did_you_mean(nearest, all)
            }
            Self::Options { kind, name, .. } => {
                format!("`host plugins describe {name}` shows the options of this {kind}")
            }
            Self::Encoder { .. } => "leave `encoder` out, and one that fits is chosen".to_owned(),
            Self::GeneralFunction { .. } | Self::Groups { .. } => {
                "`annealing` and `exhaustive` take any function and keep groups".to_owned()
            }
            Self::SmallSpace { points, .. } => format!("set `budget.initial` to at most {points}"),
            Self::TooMany { .. } => "fewer seeds or sweep values, in several experiments".to_owned(),
            Self::Load { source: OpenError::Insecure(_), .. } => {
                "`chmod go-w` on it, or --allow-insecure-plugins where you trust who may write there".to_owned()
            }
            Self::Type { .. } | Self::Value { .. } | Self::CannotSet { .. } | Self::Load { .. } => return None,
        })
    }
}
