//! Why a manifest cannot become a plan.

use plugin_api::{AcquisitionKind, Kind};

use crate::diagnostic::Diagnostic;

/// Why a manifest cannot become a plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("{count} trials are more than {most}")]
    TooMany { count: String, most: usize },
    #[error("{kind} `{name}` refused its options")]
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
    Constraint { solver: String, constraint: String },
    #[error("a penalty of {l1:e} for each of {bits} bits is too high to count with")]
    Penalty { l1: f64, bits: usize },
    #[error("{initial} initial points in a space of {points}")]
    SmallSpace { initial: usize, points: usize },
}

impl From<PlanError> for Diagnostic {
    fn from(error: PlanError) -> Self {
        let diagnostic = Self::new(error.to_string());
        match error {
            PlanError::Options { kind, name, source } => diagnostic
                .because(source)
                .hint(format!("`host plugins describe {name}` shows the options of this {kind}")),
            PlanError::Encoder { source, .. } => {
                diagnostic.because(source).hint("leave `encoder` out, and one that fits is chosen")
            }
            PlanError::Kind { .. } | PlanError::Groups { .. } => {
                diagnostic.hint("`annealing`, `ascent` and `exhaustive` take any function and keep groups")
            }
            PlanError::Constraint { .. } => {
                diagnostic.hint("`certified` keeps all constraints, and `ascent` does with any function")
            }
            PlanError::SmallSpace { points, .. } => {
                diagnostic.hint(format!("set `budget.initial` to at most {points}"))
            }
            PlanError::Penalty { .. } => diagnostic.hint("below 1e100 in all, sums and squares stay finite"),
            PlanError::TooMany { .. } => {
                diagnostic.hint("fewer seeds or sweep values, in several experiments")
            }
        }
    }
}
