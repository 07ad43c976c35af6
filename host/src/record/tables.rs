//! The two tables of a run, `trace` and `afo`: one list of columns each, for CSV, JSON lines and Parquet alike.

use std::borrow::Cow;
use std::collections::BTreeMap;

use plugin_api::Space;
use serde_json::{Map, Value as Json};

use super::event::Answered;
use super::{Evaluation, RunFolder, TrialFiles};
use crate::text::plugin;

/// One value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    Nothing,
    Text(Cow<'a, str>),
    Whole(u64),
    Number(f64),
    Flag(bool),
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    /// 64 bits, from 0.
    Whole,
    /// Double precision.
    Number,
    Flag,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub kind: Kind,
}

/// An evaluation.
struct TraceRow<'t> {
    evaluation: &'t Evaluation,
    optimum: Option<f64>,
}

/// A column's name, what it holds, and how it is found in a row.
type TraceColumn = (&'static str, Kind, for<'t> fn(&TraceRow<'t>) -> Cell<'t>);

/// What follows the columns that all rows of a trial share.
const TRACE: &[TraceColumn] = &[
    ("evaluation", Kind::Whole, |row| Cell::whole(row.evaluation.ended.evaluation)),
    ("phase", Kind::Text, |row| Cell::word(row.evaluation.phase.word())),
    ("status", Kind::Text, |row| Cell::word(row.evaluation.ended.status.word())),
    ("value", Kind::Number, |row| Cell::number(row.evaluation.ended.value)),
    ("penalty", Kind::Number, |row| Cell::Number(row.evaluation.ended.penalty)),
    ("total", Kind::Number, |row| Cell::number(row.evaluation.ended.total)),
    ("best", Kind::Number, |row| Cell::number(row.evaluation.ended.best)),
    ("regret", Kind::Number, |row| {
        Cell::number(row.evaluation.ended.best.zip(row.optimum).map(|(best, optimum)| (best - optimum).abs()))
    }),
    ("reason", Kind::Text, |row| Cell::maybe(row.evaluation.ended.reason.as_deref())),
];

/// One solver's answer to an AFO problem.
struct AfoRow<'t> {
    iteration: usize,
    bits: usize,
    answer: &'t Answered,
    followed: bool,
    seconds: Option<f64>,
}

type AfoColumn = (&'static str, Kind, for<'t> fn(&AfoRow<'t>) -> Cell<'t>);

const AFO: &[AfoColumn] = &[
    ("iteration", Kind::Whole, |row| Cell::whole(row.iteration)),
    ("solver", Kind::Text, |row| Cell::word(&row.answer.solver)),
    ("followed", Kind::Flag, |row| Cell::Flag(row.followed)),
    ("n", Kind::Whole, |row| Cell::whole(row.bits)),
    ("value", Kind::Number, |row| Cell::number(row.answer.value)),
    ("bound", Kind::Number, |row| Cell::number(row.answer.bound)),
    ("seconds", Kind::Number, |row| Cell::number(row.seconds)),
    ("failure", Kind::Text, |row| Cell::maybe(row.answer.failure.as_deref())),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// Every evaluation.
    Trace,
    /// Every answer to an AFO problem.
    Afo,
}

impl Table {
    pub const ALL: [Self; 2] = [Self::Trace, Self::Afo];

    /// The name of its file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::Afo => "afo",
        }
    }

    /// Its columns, with one for each key of the sweep and, for evaluations, one for each variable.
    pub fn columns(self, run: &RunFolder) -> Vec<Column> {
        let column = |name: &str, kind: Kind| Column { name: name.to_owned(), kind };
        let swept =
            |(key, numbers): &(String, bool)| column(key, if *numbers { Kind::Number } else { Kind::Text });
        let mut columns = vec![column("trial", Kind::Text), column("method", Kind::Text)];
        columns.extend(run.sweep.iter().map(swept));
        columns.push(column("seed", Kind::Whole));
        match self {
            Self::Trace => {
                columns.extend(TRACE.iter().map(|(name, kind, _)| column(name, *kind)));
                let variables = run.spaces.variables();
                columns.extend(variables.iter().map(|name| column(&format!("x.{name}"), Kind::Text)));
            }
            Self::Afo => columns.extend(AFO.iter().map(|(name, kind, _)| column(name, *kind))),
        }
        columns
    }

    /// Hands each row of a trial to `take`.
    pub fn rows<'t, E>(
        self,
        trial: &'t TrialFiles,
        run: &'t RunFolder,
        mut take: impl FnMut(&[Cell<'t>]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut row = beginning(trial, &run.sweep);
        let begin = row.len();
        match self {
            Self::Trace => {
                let optimum = trial.finished.as_ref().and_then(|finished| finished.optimum);
                let choices = Choices::of(trial, run);
                for evaluation in &trial.evaluations {
                    let of = TraceRow { evaluation, optimum };
                    row.truncate(begin);
                    row.extend(TRACE.iter().map(|(_, _, cell)| cell(&of)));
                    row.extend(choices.cells(&evaluation.point));
                    take(&row)?;
                }
            }
            Self::Afo => {
                let seconds = trial.solve_seconds();
                for problem in &trial.problems {
                    for (i, answer) in problem.answers.iter().enumerate() {
                        let (iteration, followed) = (problem.iteration, i == 0);
                        let seconds = seconds.get(&(iteration, followed, answer.solver.as_str())).copied();
                        let bits = trial.started.bits;
                        let of = AfoRow { iteration, bits, answer, followed, seconds };
                        row.truncate(begin);
                        row.extend(AFO.iter().map(|(_, _, cell)| cell(&of)));
                        take(&row)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Which variable of a trial each column `x.<name>` shows; none where the trial has no such variable.
struct Choices<'t> {
    space: Option<&'t Space>,
    columns: Vec<Option<usize>>,
}

impl<'t> Choices<'t> {
    fn of(trial: &TrialFiles, run: &'t RunFolder) -> Self {
        let space = run.spaces.of_trial(&trial.started.trial).map(AsRef::as_ref);
        let variables = space.map(Space::variables).unwrap_or_default().iter().enumerate();
        let places: BTreeMap<&str, usize> = variables.map(|(i, variable)| (variable.name(), i)).collect();
        let columns = run.spaces.variables().iter().map(|name| places.get(name).copied()).collect();
        Self { space, columns }
    }

    fn cells(&self, point: &[u32]) -> impl Iterator<Item = Cell<'t>> {
        self.columns.iter().map(|place| {
            let chosen =
                place.zip(self.space).and_then(|(i, space)| Some((&space.variables()[i], *point.get(i)?)));
            match chosen {
                // A plugin that has changed since may know fewer levels: its number then.
                Some((variable, level)) => match variable.levels().get(level as usize) {
                    Some(name) => Cell::word(name),
                    None => Cell::Text(level.to_string().into()),
                },
                None => Cell::Nothing,
            }
        })
    }
}

/// Trial, method, sweep and seed: the same in all rows of a trial.
fn beginning<'t>(trial: &'t TrialFiles, sweep: &[(String, bool)]) -> Vec<Cell<'t>> {
    let started = &trial.started;
    let mut cells = vec![Cell::Text(started.trial.to_string().into()), Cell::word(&started.method)];
    cells.extend(sweep.iter().map(|(key, numbers)| match started.sweep.get(key).and_then(Json::as_f64) {
        Some(value) if *numbers => Cell::Number(value),
        _ if *numbers => Cell::Nothing,
        _ => Cell::Text(swept(&started.sweep, key).into()),
    }));
    cells.push(Cell::Whole(started.seed));
    cells
}

/// A value of the sweep as text.
pub fn swept(sweep: &Map<String, Json>, key: &str) -> String {
    match sweep.get(key) {
        Some(Json::String(text)) => text.clone(),
        Some(value) => match value.get("use").and_then(Json::as_str) {
            Some(name) => plugin(name, value.get("options").and_then(Json::as_object).into_iter().flatten()),
            None => value.to_string(),
        },
        None => String::new(),
    }
}

impl<'a> Cell<'a> {
    /// As JSON; null for nothing.
    pub fn json(&self) -> Json {
        match self {
            Self::Nothing => Json::Null,
            Self::Text(text) => text.as_ref().into(),
            Self::Whole(value) => (*value).into(),
            Self::Number(value) => (*value).into(),
            Self::Flag(flag) => (*flag).into(),
        }
    }

    /// The cell without what it borrows.
    pub fn into_owned(self) -> Cell<'static> {
        match self {
            Self::Nothing => Cell::Nothing,
            Self::Text(text) => Cell::Text(text.into_owned().into()),
            Self::Whole(value) => Cell::Whole(value),
            Self::Number(value) => Cell::Number(value),
            Self::Flag(flag) => Cell::Flag(flag),
        }
    }

    fn word(word: &'a str) -> Self {
        Self::Text(word.into())
    }

    fn maybe(word: Option<&'a str>) -> Self {
        word.map_or(Self::Nothing, Self::word)
    }

    fn number(value: Option<f64>) -> Self {
        value.map_or(Self::Nothing, Self::Number)
    }

    fn whole(value: usize) -> Self {
        Self::Whole(value as u64)
    }
}
