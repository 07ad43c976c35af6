//! The two tables, row by row.

use serde_json::Value as Json;

use super::parquet::{Column, Kind};
use crate::report::csv::swept;
use crate::report::trial_files::TrialFiles;

/// One value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// There is none.
    Nothing,
    /// Words.
    Text(String),
    /// A whole number.
    Whole(i64),
    /// A number.
    Number(f64),
    /// Yes or no.
    Flag(bool),
}

impl Cell {
    /// As JSON; `None` for nothing.
    pub fn json(&self) -> Option<Json> {
        match self {
            Self::Nothing => None,
            Self::Text(text) => Some(text.clone().into()),
            Self::Whole(value) => Some((*value).into()),
            Self::Number(value) => Some((*value).into()),
            Self::Flag(flag) => Some((*flag).into()),
        }
    }

    fn number(value: Option<f64>) -> Self {
        value.map_or(Self::Nothing, Self::Number)
    }

    fn whole(value: usize) -> Self {
        Self::Whole(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

/// Which table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// Every evaluation.
    Trace,
    /// Every answer to an AFO problem.
    Afo,
}

impl Table {
    /// The name of its file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::Afo => "afo",
        }
    }

    /// Its columns, with one for each key of the sweep and whether all values of that are numbers.
    pub fn columns(self, keys: &[(String, bool)]) -> Vec<Column> {
        use Kind::{Flag, Number, Text, Whole};
        let last: &[(&str, Kind)] = match self {
            Self::Trace => &[
                ("seed", Whole),
                ("evaluation", Whole),
                ("phase", Text),
                ("status", Text),
                ("value", Number),
                ("penalty", Number),
                ("total", Number),
                ("best", Number),
                ("regret", Number),
                ("reason", Text),
            ],
            Self::Afo => &[
                ("seed", Whole),
                ("iteration", Whole),
                ("solver", Text),
                ("followed", Flag),
                ("n", Whole),
                ("value", Number),
                ("bound", Number),
                ("seconds", Number),
            ],
        };
        let column = |name: &str, kind: Kind| Column { name: name.to_owned(), kind };
        let first = [column("trial", Text), column("method", Text)];
        let swept = keys.iter().map(|(key, numbers)| column(key, if *numbers { Number } else { Text }));
        first.into_iter().chain(swept).chain(last.iter().map(|(name, kind)| column(name, *kind))).collect()
    }

    /// The rows of a trial.
    pub fn rows(self, trial: &TrialFiles, keys: &[(String, bool)]) -> Vec<Vec<Cell>> {
        let started = &trial.started;
        let mut begin = vec![Cell::Text(started.trial.clone()), Cell::Text(started.method.clone())];
        begin.extend(keys.iter().map(|(key, numbers)| match started.sweep.get(key).and_then(Json::as_f64) {
            Some(value) if *numbers => Cell::Number(value),
            _ if *numbers => Cell::Nothing,
            _ => Cell::Text(swept(&started.sweep, key)),
        }));
        begin.push(Cell::Whole(i64::try_from(started.seed).unwrap_or(i64::MAX)));
        let row = |rest: Vec<Cell>| begin.iter().cloned().chain(rest).collect::<Vec<Cell>>();
        match self {
            Self::Trace => {
                let optimum = trial.finished.as_ref().and_then(|finished| finished.optimum);
                let evaluation = |e: &crate::report::trial_files::Evaluation| {
                    let regret = e.best.zip(optimum).map(|(best, optimum)| (best - optimum).abs());
                    row(vec![
                        Cell::whole(e.number),
                        Cell::Text(if e.initial { "initial" } else { "search" }.to_owned()),
                        Cell::Text(e.status.clone()),
                        Cell::number(e.value),
                        Cell::Number(e.penalty),
                        Cell::number(e.total),
                        Cell::number(e.best),
                        Cell::number(regret),
                        e.reason.clone().map_or(Cell::Nothing, Cell::Text),
                    ])
                };
                trial.evaluations.iter().map(evaluation).collect()
            }
            Self::Afo => {
                let answers = trial.problems.iter().flat_map(|problem| {
                    problem.answers.iter().enumerate().map(move |(i, answer)| (problem.iteration, i, answer))
                });
                let answer = |(iteration, i, answer): (usize, usize, &crate::report::trial_files::Answer)| {
                    row(vec![
                        Cell::whole(iteration),
                        Cell::Text(answer.solver.clone()),
                        Cell::Flag(i == 0),
                        Cell::whole(started.bits),
                        Cell::Number(answer.value),
                        Cell::number(answer.bound),
                        Cell::number(answer.seconds),
                    ])
                };
                answers.map(answer).collect()
            }
        }
    }
}
