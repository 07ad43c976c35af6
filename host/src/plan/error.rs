//! Why a manifest cannot become a plan.

use plugin_api::{AcquisitionKind, Kind};

use crate::diagnostic::{Diagnostic, nearest};

/// Why a manifest cannot become a plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("{count} trials are more than {most}")]
    TooMany { count: String, most: usize },
    #[error("{kind} `{name}` {}", if hint_of(source).is_some() { "cannot begin" } else { "refused its options" })]
    Options { kind: Kind, name: String, source: plugin_api::Error },
    #[error("encoder `{encoder}` does not fit the space of benchmark `{benchmark}`")]
    Encoder { encoder: String, benchmark: String, source: plugin_api::Error },
    #[error("solver `{solver}` does not take {draws} functions, and surrogate `{surrogate}` draws them")]
    Kind { solver: String, surrogate: String, draws: AcquisitionKind },
    /// A general function has no bound to make an exact penalty from.
    #[error(
        "solver `{solver}` does not keep one-hot groups, and surrogate `{surrogate}` draws functions \
         that no penalty can keep in them"
    )]
    Groups { solver: String, surrogate: String },
    #[error("solver `{solver}` does not keep constraints such as: {constraint}")]
    Constraint { solver: String, constraint: String, able: Vec<String> },
    /// Groups that are mended in its answers may break a constraint.
    #[error("solver `{solver}` does not keep one-hot groups, and there are constraints beside them")]
    GroupsAndConstraints { solver: String, able: Vec<String> },
    #[error("every variable has a single level: there is nothing to choose")]
    NoChoice,
    #[error("no variable named `{name}`")]
    UnknownVariable { name: String, known: Vec<String> },
    #[error("variable `{variable}` has no level `{name}`")]
    UnknownLevel { variable: String, name: String, known: Vec<String> },
    /// A variable is counted or weighed as if it were there or not.
    #[error("variable `{variable}` has {levels} levels, and counts by itself only where it has two")]
    NotBinary { variable: String, levels: usize, hint: String },
    #[error("{words} stands there twice")]
    Twice { words: String },
    #[error("`{relation}` {count} of {most}")]
    TooFew { relation: &'static str, count: usize, most: usize },
    #[error("no weights come to that: `{relation}` is {by} too far")]
    OutOfReach { relation: &'static str, by: f64 },
    #[error("{count} combinations of levels are more than {most}")]
    TooManyCases { count: usize, most: usize },
    #[error("no point can keep to `{rule}`")]
    Impossible { rule: String, source: plugin_api::Error },
    #[error("no point keeps all constraints")]
    Contradiction { rules: Vec<String> },
    #[error("a penalty of {l1:e} for each of {bits} bits is too high to count with")]
    Penalty { l1: f64, bits: usize },
    #[error("`initial.points` cannot be swept")]
    SweptPoints,
    #[error("`cluster` cannot be swept")]
    SweptCluster,
    #[error("{initial} initial points in a space of {points}")]
    SmallSpace { initial: usize, points: usize },
}

/// Before what a plugin itself knows to do about its error: the last line of its words.
const HINT: &str = "\nhint: ";

fn hint_of(error: &plugin_api::Error) -> Option<&str> {
    error.message().split_once(HINT).map(|(_, hint)| hint)
}

impl From<PlanError> for Diagnostic {
    fn from(error: PlanError) -> Self {
        let diagnostic = Self::new(error.to_string());
        match error {
            PlanError::Options { kind, name, source } => {
                let own = hint_of(&source).map(str::to_owned);
                let shows = || format!("`host plugins describe {name}` shows the options of this {kind}");
                let cause = source.to_string();
                let cause = cause.split(HINT).next().unwrap_or_default();
                diagnostic.because(cause).hint(own.unwrap_or_else(shows))
            }
            PlanError::Encoder { source, .. } => {
                diagnostic.because(source).hint("leave `encoder` out, and one that fits is chosen")
            }
            PlanError::Kind { .. } | PlanError::Groups { .. } => {
                diagnostic.hint("`annealing`, `ascent` and `exhaustive` take any function and keep groups")
            }
            PlanError::Constraint { able, solver, .. } | PlanError::GroupsAndConstraints { able, solver } => {
                // The one that cannot with the options that it was given is listed where it can without them.
                let listed = |name: &String| match *name == solver {
                    true => format!("`{name}` with its default options"),
                    false => format!("`{name}`"),
                };
                match &able.iter().map(listed).collect::<Vec<_>>()[..] {
                    [] => diagnostic.hint("no solver here keeps all rules of this space"),
                    able => diagnostic.hint(format!("these keep all rules here: {}", able.join(", "))),
                }
            }
            PlanError::UnknownVariable { name, known } => {
                diagnostic.hint(meant(&name, &known, "variables are"))
            }
            PlanError::UnknownLevel { name, known, .. } => diagnostic.hint(meant(&name, &known, "it has")),
            PlanError::NotBinary { hint, .. } => diagnostic.hint(hint),
            PlanError::Twice { .. } => diagnostic.hint("leave one of them out"),
            PlanError::TooFew { most, .. } => {
                diagnostic.hint(format!("`of` names {most}, so the number is at most {most}"))
            }
            PlanError::OutOfReach { .. } | PlanError::NoChoice => diagnostic,
            PlanError::TooManyCases { .. } => diagnostic.hint("several rules with fewer levels each"),
            PlanError::Impossible { source, .. } => diagnostic.because(source),
            PlanError::Contradiction { rules } => diagnostic
                .because(match &rules[..] {
                    [rule] => format!("no point keeps {rule}"),
                    rules => format!("these contradict each other: {}", rules.join("; ")),
                })
                .hint("change or leave out one of them"),
            PlanError::SmallSpace { points, .. } => {
                diagnostic.hint(format!("set `budget.initial` to at most {points}"))
            }
            PlanError::Penalty { .. } => diagnostic.hint("below 1e100 in all, sums and squares stay finite"),
            PlanError::SweptPoints => diagnostic
                .because("a run keeps one table of points beside its plan")
                .hint("run an experiment for each table; `host report` puts them beside each other"),
            PlanError::SweptCluster => diagnostic
                .because("it says where trials are run, and nothing that they compute depends on it"),
            PlanError::TooMany { .. } => {
                diagnostic.hint("fewer seeds or sweep values, in several experiments")
            }
        }
    }
}

/// The name that was probably meant, and the first of all there are.
fn meant(name: &str, known: &[String], all: &str) -> String {
    const MOST: usize = 12;
    let meant =
        nearest(name, known.iter().map(String::as_str)).map(|name| format!("did you mean `{name}`? "));
    let first: Vec<String> = known.iter().take(MOST).map(|name| format!("`{name}`")).collect();
    let more = if known.len() > MOST { ", …" } else { "" };
    format!("{}{all} {}{more}", meant.unwrap_or_default(), first.join(", "))
}
