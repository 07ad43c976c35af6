//! What happens in a trial, as its journal has it.

use plugin_api::{Bits, Point};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// One event: one line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// Which trial this is.
    Started(Started),
    /// A point is about to be evaluated.
    Evaluating(Evaluating),
    /// It was evaluated.
    Evaluated(Evaluated),
    /// The solvers have answered.
    Proposed(Proposed),
    /// The budget is spent, or every point has been seen.
    Finished(Finished),
}

/// Which trial this is: a resumed journal has to be this one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Started {
    /// The experiment's name.
    pub experiment: String,
    /// The trial's.
    pub trial: String,
    /// The method's.
    pub method: String,
    /// The values of the sweep's keys.
    pub sweep: Map<String, Json>,
    /// The trial's seed.
    pub seed: u64,
    /// The plan's hash.
    pub plan: String,
    /// Names and versions of the plugins.
    pub plugins: Map<String, Json>,
    /// Whether high values are good.
    pub maximize: bool,
    /// How many bits the model sees.
    pub bits: usize,
}

/// A point is about to be evaluated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluating {
    /// Counted from 1 through both phases.
    pub evaluation: usize,
    /// Which phase it belongs to.
    pub phase: Phase,
    /// What is evaluated.
    pub point: Point,
}

/// The two parts of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Random points.
    Initial,
    /// Proposed points.
    Search,
}

/// How an evaluation ended, and where that leaves the trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluated {
    /// Counted from 1.
    pub evaluation: usize,
    /// How it ended.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// λ‖bits‖₁.
    pub penalty: f64,
    /// Value and penalty: what is compared. Absent where the evaluation failed.
    pub total: Option<f64>,
    /// The best total so far.
    pub best: Option<f64>,
}

/// What an evaluation gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "kebab-case")]
pub enum Outcome {
    /// A value, in the objective's own terms.
    Ok {
        /// The bare value, without the penalty.
        value: f64,
    },
    /// No value.
    Failed {
        /// Why.
        reason: String,
    },
    /// No value within the time limit.
    TimedOut {
        /// Which limit.
        reason: String,
    },
}

impl Outcome {
    /// The word for it in journals and tables: `ok`, `failed` or `timed-out`.
    pub fn status(&self) -> &'static str {
        match self {
            Self::Ok { .. } => "ok",
            Self::Failed { .. } => "failed",
            Self::TimedOut { .. } => "timed-out",
        }
    }

    /// The bare value; `None` where there is none.
    pub fn value(&self) -> Option<f64> {
        match self {
            Self::Ok { value } => Some(*value),
            _ => None,
        }
    }

    /// Why there is no value.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Ok { .. } => None,
            Self::Failed { reason } | Self::TimedOut { reason } => Some(reason),
        }
    }
}

/// What the solvers have answered, and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proposed {
    /// Counted from 1.
    pub iteration: usize,
    /// The followed solver's answer, then the shadows'.
    pub answers: Vec<Answered>,
    /// What is evaluated next.
    pub choice: Choice,
}

/// One solver's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answered {
    /// The solver's name.
    pub solver: String,
    /// The acquisition function's value, penalty included.
    pub value: f64,
    /// A proven lower bound on it.
    pub bound: Option<f64>,
    /// The point.
    pub bits: Bits,
    /// The solver's own counts of its work.
    pub counts: Map<String, Json>,
}

/// Where the next point comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// It is the followed solver's answer.
    Answer,
    /// The answer is known already: its best neighbour that is not.
    Neighbour,
    /// All neighbours are known too: a point that is not.
    Random,
}

/// How a trial ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    /// How many points were evaluated.
    pub evaluations: usize,
    /// The best total; absent where every evaluation failed.
    pub best: Option<f64>,
    /// Its point.
    pub point: Option<Point>,
    /// Its point in the objective's own words.
    pub description: Option<String>,
    /// The best total there is, where it is known.
    pub optimum: Option<f64>,
}
