//! `trace.csv` and `afo.csv`: every evaluation and every AFO problem, a row each.

use std::io::{self, Write};

use serde_json::{Map, Value as Json};

use super::TrialRecord;
use crate::trial::event::{Evaluating, Event, Phase};
use crate::trial::journal::Timing;

/// Every evaluation.
pub fn trace(trials: &[TrialRecord], out: &mut impl Write) -> io::Result<()> {
    let keys = sweep_keys(trials);
    let last = ["seed", "evaluation", "phase", "status", "value", "penalty", "total", "best", "regret"];
    header(out, &keys, &last)?;
    for trial in trials {
        let optimum = trial.finished().and_then(|finished| finished.optimum);
        let mut phase = Phase::Initial;
        for event in &trial.events {
            match event {
                Event::Evaluating(Evaluating { phase: now, .. }) => phase = *now,
                Event::Evaluated(evaluated) => {
                    let phase = match phase {
                        Phase::Initial => "initial",
                        Phase::Search => "search",
                    };
                    let regret = evaluated.best.zip(optimum).map(|(best, optimum)| (best - optimum).abs());
                    let cells = [
                        trial.started.seed.to_string(),
                        evaluated.evaluation.to_string(),
                        phase.to_owned(),
                        evaluated.outcome.status().to_owned(),
                        number(evaluated.outcome.value()),
                        number(Some(evaluated.penalty)),
                        number(evaluated.total),
                        number(evaluated.best),
                        number(regret),
                    ];
                    row(out, trial, &keys, &cells)?;
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Every AFO problem, for each solver that solved it.
pub fn afo(trials: &[TrialRecord], out: &mut impl Write) -> io::Result<()> {
    let keys = sweep_keys(trials);
    header(out, &keys, &["seed", "iteration", "solver", "followed", "n", "value", "bound", "seconds"])?;
    for trial in trials {
        for event in &trial.events {
            let Event::Proposed(proposed) = event else { continue };
            for (i, answer) in proposed.answers.iter().enumerate() {
                let cells = [
                    trial.started.seed.to_string(),
                    proposed.iteration.to_string(),
                    answer.solver.clone(),
                    (i == 0).to_string(),
                    trial.started.bits.to_string(),
                    number(Some(answer.value)),
                    number(answer.bound),
                    number(seconds(trial, proposed.iteration, &answer.solver, i == 0)),
                ];
                row(out, trial, &keys, &cells)?;
            }
        }
    }
    Ok(())
}

fn seconds(trial: &TrialRecord, iteration: usize, solver: &str, followed: bool) -> Option<f64> {
    trial.timing.iter().find_map(|timing| match timing {
        Timing::Solve { iteration: i, solver: s, followed: f, seconds } => {
            (*i == iteration && s == solver && *f == followed).then_some(*seconds)
        }
        _ => None,
    })
}

fn sweep_keys(trials: &[TrialRecord]) -> Vec<String> {
    trials.first().map(|trial| trial.started.sweep.keys().cloned().collect()).unwrap_or_default()
}

fn header(out: &mut impl Write, keys: &[String], last: &[&str]) -> io::Result<()> {
    let names =
        ["trial", "method"].into_iter().chain(keys.iter().map(String::as_str)).chain(last.iter().copied());
    let names: Vec<String> = names.map(cell).collect();
    writeln!(out, "{}", names.join(","))
}

fn row(out: &mut impl Write, trial: &TrialRecord, keys: &[String], last: &[String]) -> io::Result<()> {
    let swept = |sweep: &Map<String, Json>, key: &String| match sweep.get(key) {
        Some(Json::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => String::new(),
    };
    let mut cells = vec![cell(&trial.started.trial), cell(&trial.started.method)];
    cells.extend(keys.iter().map(|key| cell(&swept(&trial.started.sweep, key))));
    cells.extend(last.iter().map(|text| cell(text)));
    writeln!(out, "{}", cells.join(","))
}

/// Shortest text that reads back as the same number.
fn number(value: Option<f64>) -> String {
    value.map(|value| Json::from(value).to_string()).unwrap_or_default()
}

/// A cell that no reader takes apart, and no spreadsheet for a formula.
fn cell(text: &str) -> String {
    let is_number = text.parse::<f64>().is_ok();
    let formula = !is_number && text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if formula { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        assert_eq!(cell("psr"), "psr");
        assert_eq!(cell("sdp[a=1,b=2]"), "\"sdp[a=1,b=2]\"");
        assert_eq!(cell("say \"hi\""), "\"say \"\"hi\"\"\"");
        assert_eq!(cell("=1+1"), "'=1+1");
        assert_eq!(cell("-1.5e-3"), "-1.5e-3");
    }

    #[test]
    fn numbers_read_back_as_they_were() {
        for value in [0.1 + 0.2, 1e-300, 12_345.678_9, -0.0] {
            assert_eq!(number(Some(value)).parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
    }
}
