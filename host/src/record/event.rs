//! What happens in a trial, as its journal has it: one line an event.

use plugin_api::{Bits, Point};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::plan::TrialId;
use crate::plan::points::Known;

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// Which trial this is.
    Started(Started),
    /// A point is about to be evaluated.
    Evaluating(Evaluating),
    Evaluated(Evaluated),
    /// The solvers have answered.
    Proposed(Proposed),
    /// The search has ended, and the objective is noisy.
    Recommended(Recommended),
    /// The budget is spent, or every point has been seen.
    Finished(Finished),
}

impl Event {
    /// The event as one line, without what the journal adds.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("an event is plain data")
    }

    /// Reads a line. Its first key is the event's name: a derived reader would keep all of the line until it has found
    /// it, which takes three times as long.
    pub fn parse(line: &str) -> serde_json::Result<Self> {
        let rest = line.strip_prefix("{\"event\":\"");
        let name = rest.and_then(|rest| rest.split_once('"')).map(|(name, _)| name);
        Ok(match name {
            Some("started") => Self::Started(serde_json::from_str(line)?),
            Some("evaluating") => Self::Evaluating(serde_json::from_str(line)?),
            Some("evaluated") => Self::Evaluated(serde_json::from_str(line)?),
            Some("proposed") => Self::Proposed(serde_json::from_str(line)?),
            Some("recommended") => Self::Recommended(serde_json::from_str(line)?),
            Some("finished") => Self::Finished(serde_json::from_str(line)?),
            _ => return Err(serde::de::Error::custom("its first key names no event")),
        })
    }
}

/// Which trial this is: a resumed journal has to be this one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Started {
    /// The version of the record.
    pub format: u32,
    /// The experiment's name.
    pub experiment: String,
    pub trial: TrialId,
    /// The method's name.
    pub method: String,
    /// The values of the sweep's keys.
    pub sweep: Map<String, Json>,
    pub seed: u64,
    /// The plan's hash.
    pub plan: String,
    /// Names and versions of the plugins.
    pub plugins: Map<String, Json>,
    /// Whether high values are good.
    pub maximize: bool,
    /// How many bits the model sees.
    pub bits: usize,
    /// Whether its points are asked for and told, and not evaluated here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asked: bool,
}

/// A point is about to be evaluated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluating {
    /// Counted from 1 through both phases.
    pub evaluation: usize,
    pub phase: Phase,
    pub point: Point,
}

/// The parts of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// A value that was given: nobody evaluated the point here.
    Given,
    /// The initial design.
    Initial,
    /// Proposed points.
    Search,
}

impl Phase {
    /// The word for it in journals and tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Initial => "initial",
            Self::Search => "search",
        }
    }
}

/// How an evaluation ended, and where that leaves the trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evaluated {
    /// Counted from 1.
    pub evaluation: usize,
    pub status: Status,
    /// The bare value, in the objective's own terms and without the penalty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Why there is no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// λ‖bits‖₁.
    pub penalty: f64,
    /// Value and penalty: what is compared. Absent where there is no value.
    pub total: Option<f64>,
    /// The best total so far.
    pub best: Option<f64>,
    /// The values that the value is the mean of, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeats: Vec<f64>,
}

/// How an evaluation ended, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    Ok,
    /// The point is not allowed; that is an answer, not a failure.
    Infeasible,
    Failed,
    TimedOut,
}

impl Status {
    /// The word for it in journals and tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Infeasible => "infeasible",
            Self::Failed => "failed",
            Self::TimedOut => "timed-out",
        }
    }

    /// Whether the objective gave no answer.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Failed | Self::TimedOut)
    }
}

/// What an evaluation gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// In the objective's own terms.
    Value(f64),
    /// Why the point is not allowed.
    Infeasible(String),
    /// Why there is no answer.
    Failed(String),
    /// Which limit was passed.
    TimedOut(String),
}

impl From<&Known> for Outcome {
    fn from(known: &Known) -> Self {
        match known {
            Known::Value(value) => Self::Value(*value),
            Known::Infeasible(reason) => Self::Infeasible(reason.clone()),
            Known::Failed(reason) => Self::Failed(reason.clone()),
        }
    }
}

impl Outcome {
    pub fn status(&self) -> Status {
        match self {
            Self::Value(_) => Status::Ok,
            Self::Infeasible(_) => Status::Infeasible,
            Self::Failed(_) => Status::Failed,
            Self::TimedOut(_) => Status::TimedOut,
        }
    }

    /// The bare value; `None` where there is none.
    pub fn value(&self) -> Option<f64> {
        match self {
            Self::Value(value) => Some(*value),
            _ => None,
        }
    }

    /// Why there is no value.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Value(_) => None,
            Self::Infeasible(reason) | Self::Failed(reason) | Self::TimedOut(reason) => Some(reason),
        }
    }
}

impl Evaluated {
    /// What the evaluation gave.
    pub fn outcome(&self) -> Outcome {
        let reason = || self.reason.clone().unwrap_or_default();
        match (self.status, self.value) {
            (Status::Ok, Some(value)) => Outcome::Value(value),
            (Status::Ok, None) => Outcome::Failed("no value is recorded".to_owned()),
            (Status::Infeasible, _) => Outcome::Infeasible(reason()),
            (Status::Failed, _) => Outcome::Failed(reason()),
            (Status::TimedOut, _) => Outcome::TimedOut(reason()),
        }
    }
}

/// What the solvers have answered, and what is evaluated next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proposed {
    /// Counted from 1.
    pub iteration: usize,
    /// Whose turn it was, where several surrogates take turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surrogate: Option<String>,
    /// What the surrogate decided when it drew, in its own names and words.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub notes: Map<String, Json>,
    /// The followed solver's answer, then the shadows'.
    pub answers: Vec<Answered>,
    pub choice: Choice,
}

/// One solver's answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Answered {
    pub solver: String,
    /// The acquisition function's value, penalty included. Absent where the solver failed, as a shadow may.
    pub value: Option<f64>,
    /// A proven lower bound on it.
    pub bound: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bits: Option<Bits>,
    /// The solver's own counts of its work.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub counts: Map<String, Json>,
    /// What was wrong with the answer, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flaws: Vec<String>,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl Answered {
    /// A solver that gave no answer.
    pub fn failed(solver: &str, reason: String) -> Self {
        Self { solver: solver.to_owned(), failure: Some(reason), ..Self::default() }
    }
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

/// The point that a trial of a noisy objective recommends: what was lucky once need not be good.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recommended {
    /// How many evaluations came before.
    pub evaluations: usize,
    pub point: Point,
    /// The point in the objective's own words.
    pub description: String,
    /// Who says that it is the best.
    pub by: By,
    /// What is expected of it: a bare value, in the objective's own terms.
    pub mean: f64,
    /// How far off that may be, where the models say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    pub penalty: f64,
    /// What it gave when it was evaluated again.
    pub values: Vec<f64>,
    /// How many of these evaluations gave no value.
    #[serde(default, skip_serializing_if = "is_none")]
    pub failures: usize,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

/// Who says which point is the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// The models' mean, over the surrogates that predict.
    Model,
    /// No surrogate predicts: the mean of the point's own values.
    Values,
}

/// How a trial ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    /// How many points were evaluated.
    pub evaluations: usize,
    /// The best total; absent where no evaluation gave a value.
    pub best: Option<f64>,
    pub point: Option<Point>,
    /// Its point in the objective's own words.
    pub description: Option<String>,
    /// The best total there is, where it is known.
    pub optimum: Option<f64>,
}

/// One event of each kind, and more, for tests.
#[cfg(test)]
pub(super) fn examples() -> Vec<Event> {
    let evaluated = |evaluation, outcome: Outcome| {
        let (status, value) = (outcome.status(), outcome.value());
        let reason = outcome.reason().map(str::to_owned);
        Event::Evaluated(Evaluated {
            evaluation,
            status,
            value,
            reason,
            penalty: 0.25,
            total: value.map(|value| value + 0.25),
            best: Some(0.1 + 0.2),
            repeats: if evaluation == 1 { vec![-0.5, 0.5] } else { Vec::new() },
        })
    };
    let answered = Answered {
        solver: "psr".to_owned(),
        value: Some(-1.5),
        bound: Some(-2.0),
        bits: Some("0110".parse().unwrap()),
        counts: Map::from_iter([("cuts".to_owned(), 10.into())]),
        ..Answered::default()
    };
    let flawed = Answered { flaws: vec!["its bound is NaN".to_owned()], bound: None, ..answered.clone() };
    let failed = Answered::failed("sdp", "panicked at x.rs:1: \"odd\"".to_owned());
    vec![
        Event::Started(Started {
            format: super::FORMAT,
            experiment: "e".to_owned(),
            trial: "psr-sweep1-seed18446744073709551615".parse().unwrap(),
            method: "psr".to_owned(),
            sweep: Map::from_iter([("penalty.l1".to_owned(), 0.5.into())]),
            seed: u64::MAX,
            plan: "ab".to_owned(),
            plugins: Map::new(),
            maximize: true,
            bits: 4,
            asked: false,
        }),
        Event::Evaluating(Evaluating { evaluation: 1, phase: Phase::Initial, point: vec![0, 1].into() }),
        evaluated(1, Outcome::Value(-0.0)),
        evaluated(2, Outcome::Infeasible("too hot".to_owned())),
        evaluated(3, Outcome::Failed("line one\nline two".to_owned())),
        evaluated(4, Outcome::TimedOut("no value within 2s".to_owned())),
        Event::Proposed(Proposed {
            iteration: 1,
            surrogate: Some("heat[values=copula]".to_owned()),
            notes: Map::from_iter([("values".to_owned(), "copula".into())]),
            answers: vec![answered, flawed, failed],
            choice: Choice::Neighbour,
        }),
        Event::Recommended(Recommended {
            evaluations: 4,
            point: vec![1, 1].into(),
            description: "a=1 b=1".to_owned(),
            by: By::Model,
            mean: -0.5,
            deviation: Some(0.125),
            penalty: 0.25,
            values: vec![-1.0, 0.1],
            failures: 1,
        }),
        Event::Finished(Finished {
            evaluations: 4,
            best: Some(1e-300),
            point: Some(vec![1, 0].into()),
            description: Some("a=1 b=λ".to_owned()),
            optimum: None,
        }),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_as_they_were_written() {
        for event in examples() {
            assert_eq!(Event::parse(&event.json()).unwrap(), event);
        }
    }

    #[test]
    fn how_events_are_written_is_an_interface() {
        let _snapshots = snapshots::in_folder("journals");
        let lines: Vec<String> = examples().iter().map(Event::json).collect();
        insta::assert_snapshot!("every event", lines.join("\n"));
    }

    #[test]
    fn an_outcome_survives_the_journal() {
        for event in examples() {
            let Event::Evaluated(evaluated) = event else { continue };
            let outcome = evaluated.outcome();
            assert_eq!((outcome.status(), outcome.value()), (evaluated.status, evaluated.value));
            assert_eq!(outcome.reason(), evaluated.reason.as_deref());
        }
    }
}
