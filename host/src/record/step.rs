//! A step of a trial that takes time: what is timed, what progress shows, and where a process can die.

use serde::{Deserialize, Serialize};

/// A step that takes time; iterations and evaluations are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "kebab-case")]
pub enum Step {
    /// Drawing from the surrogate.
    Fit { iteration: usize },
    /// Minimizing what was drawn, by this solver.
    Solve {
        iteration: usize,
        solver: String,
        /// Whether its answer is followed; else it is a shadow.
        followed: bool,
    },
    /// Waiting for the evaluations of a round, which are made elsewhere; this is the first of them.
    Await { evaluation: usize },
    /// Evaluating the objective.
    Evaluate { evaluation: usize },
    /// Telling the surrogate what an evaluation gave.
    Observe { evaluation: usize },
    /// Asking the surrogates, for the report, what they expect of this evaluation or have learned up to it.
    Ask { evaluation: usize },
}

impl Step {
    /// The step in a word, for progress.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Fit { .. } | Self::Observe { .. } => "fit",
            Self::Ask { .. } => "ask",
            Self::Solve { .. } => "solve",
            Self::Evaluate { .. } | Self::Await { .. } => "evaluate",
        }
    }

    /// The evaluation under way, if this is one.
    pub fn evaluation(&self) -> Option<usize> {
        match self {
            Self::Evaluate { evaluation } => Some(*evaluation),
            _ => None,
        }
    }
}
