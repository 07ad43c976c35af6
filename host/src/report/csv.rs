//! `trace.csv` and `afo.csv`: every evaluation and every AFO problem, a row each.

use std::io::{self, Write};

use serde_json::{Map, Value as Json};

use super::trial_files::TrialFiles;

/// What follows the columns of the sweep in `trace.csv`.
pub const TRACE: [&str; 9] =
    ["seed", "evaluation", "phase", "status", "value", "penalty", "total", "best", "regret"];
/// What follows the columns of the sweep in `afo.csv`.
pub const AFO: [&str; 8] = ["seed", "iteration", "solver", "followed", "n", "value", "bound", "seconds"];

/// The rows of a trial's evaluations.
pub fn trace(trial: &TrialFiles, keys: &[String], out: &mut impl Write) -> io::Result<()> {
    let begin = beginning(trial, keys);
    let optimum = trial.finished.as_ref().and_then(|finished| finished.optimum);
    for evaluation in &trial.evaluations {
        let phase = if evaluation.initial { "initial" } else { "search" };
        let regret = evaluation.best.zip(optimum).map(|(best, optimum)| (best - optimum).abs());
        writeln!(
            out,
            "{begin}{},{},{phase},{},{},{},{},{},{}",
            trial.started.seed,
            evaluation.number,
            cell(&evaluation.status),
            number(evaluation.value),
            number(Some(evaluation.penalty)),
            number(evaluation.total),
            number(evaluation.best),
            number(regret),
        )?;
    }
    Ok(())
}

/// The rows of a trial's AFO problems, for each solver that solved them.
pub fn afo(trial: &TrialFiles, keys: &[String], out: &mut impl Write) -> io::Result<()> {
    let begin = beginning(trial, keys);
    for problem in &trial.problems {
        for (i, answer) in problem.answers.iter().enumerate() {
            writeln!(
                out,
                "{begin}{},{},{},{},{},{},{},{}",
                trial.started.seed,
                problem.iteration,
                cell(&answer.solver),
                i == 0,
                trial.started.bits,
                number(Some(answer.value)),
                number(answer.bound),
                number(answer.seconds),
            )?;
        }
    }
    Ok(())
}

/// The first line.
pub fn header(out: &mut impl Write, keys: &[String], last: &[&str]) -> io::Result<()> {
    let names =
        ["trial", "method"].into_iter().chain(keys.iter().map(String::as_str)).chain(last.iter().copied());
    let names: Vec<String> = names.map(cell).collect();
    writeln!(out, "{}", names.join(","))
}

/// Trial, method and sweep: the same in all rows of a trial.
fn beginning(trial: &TrialFiles, keys: &[String]) -> String {
    let swept = keys.iter().map(|key| swept(&trial.started.sweep, key));
    let cells = [trial.started.trial.clone(), trial.started.method.clone()].into_iter().chain(swept);
    cells.map(|text| cell(&text) + ",").collect()
}

/// A value of the sweep as text.
pub fn swept(sweep: &Map<String, Json>, key: &str) -> String {
    match sweep.get(key) {
        Some(Json::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => String::new(),
    }
}

/// Shortest text that reads back as the same number.
fn number(value: Option<f64>) -> String {
    value.map(|value| Json::from(value).to_string()).unwrap_or_default()
}

/// A cell that no reader takes apart, and no spreadsheet for a formula.
fn cell(text: &str) -> String {
    let is_number = text.parse::<f64>().is_ok();
    let formula = !is_number && text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
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
