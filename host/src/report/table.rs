//! Summaries as a table for a terminal.

use super::csv::swept;
use super::summary::{MethodSummary, Spread};

/// Columns of text, each as wide as its widest cell; the first left, the others right.
pub fn columns(header: &[String], rows: &[Vec<String>]) -> String {
    let width = |i: usize| {
        std::iter::once(header).chain(rows.iter().map(Vec::as_slice)).map(|row| row[i].chars().count()).max()
    };
    let widths: Vec<usize> = (0..header.len()).map(|i| width(i).unwrap_or(0)).collect();
    let line = |row: &[String]| {
        let cells = row.iter().zip(&widths).enumerate().map(|(i, (cell, &width))| match i {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let rule: Vec<String> = widths.iter().map(|&width| "─".repeat(width)).collect();
    let mut lines = vec![line(header), rule.join("  ")];
    lines.extend(rows.iter().map(|row| line(row)));
    lines.join("\n")
}

/// What each method found, then how its solver compares with its shadows.
pub fn table(summaries: &[MethodSummary]) -> String {
    let Some(first) = summaries.first() else { return "no trial has begun".to_owned() };
    let sense = if first.maximize { "highest" } else { "lowest" };
    let keys: Vec<&String> = first.sweep.keys().collect();
    let any_regret = summaries.iter().any(|summary| summary.regret.is_some());
    let any_failed = summaries.iter().any(|summary| summary.failed_evaluations > 0);

    let mut header = vec!["method".to_owned()];
    header.extend(keys.iter().map(|key| (*key).clone()));
    header.extend(["trials".to_owned(), format!("{sense} value (mean ± s.e.)"), "median".to_owned()]);
    header.extend(any_regret.then(|| "regret (mean)".to_owned()));
    header.extend(any_failed.then(|| "failed evaluations".to_owned()));
    header.extend(["fit / iteration".to_owned(), "AFO / iteration".to_owned()]);
    let rows: Vec<Vec<String>> = summaries
        .iter()
        .map(|summary| {
            let mut row = vec![summary.method.clone()];
            row.extend(keys.iter().map(|key| swept(&summary.sweep, key)));
            let trials = match summary.unfinished {
                0 => summary.trials.to_string(),
                unfinished => format!("{} of {}", summary.trials, summary.trials + unfinished),
            };
            row.extend([trials, spread(&summary.final_best), number(summary.final_best.median)]);
            row.extend(any_regret.then(|| number(summary.regret.and_then(|regret| regret.mean))));
            row.extend(any_failed.then(|| summary.failed_evaluations.to_string()));
            row.extend([time(summary.mean_fit_seconds), time(summary.mean_afo_seconds)]);
            row
        })
        .collect();
    let mut text = columns(&header, &rows);

    let shadows: Vec<Vec<String>> = summaries
        .iter()
        .flat_map(|summary| summary.shadows.iter().map(move |shadow| (summary, shadow)))
        .map(|(summary, shadow)| {
            let mut row = vec![format!("{} against {}", summary.method, shadow.solver)];
            row.extend(keys.iter().map(|key| swept(&summary.sweep, key)));
            let percent = shadow.mean_percent_improvement.map(|mean| format!("{mean:+.2} %"));
            row.extend([
                shadow.problems.to_string(),
                shadow.lower.to_string(),
                shadow.equal.to_string(),
                shadow.higher.to_string(),
                percent.unwrap_or_else(|| "–".to_owned()),
                time(shadow.mean_afo_seconds),
            ]);
            row
        })
        .collect();
    if !shadows.is_empty() {
        let mut header = vec!["AF values on the same problems".to_owned()];
        header.extend(keys.iter().map(|key| (*key).clone()));
        let words = ["problems", "lower", "equal", "higher", "mean improvement", "shadow's AFO"];
        header.extend(words.map(str::to_owned));
        text = format!("{text}\n\n{}", columns(&header, &shadows));
    }
    text
}

fn spread(spread: &Spread) -> String {
    match spread.standard_error {
        Some(error) => format!("{} ± {}", number(spread.mean), number(Some(error))),
        None => number(spread.mean),
    }
}

/// A number with five digits that count.
pub(crate) fn number(value: Option<f64>) -> String {
    let Some(value) = value else { return "–".to_owned() };
    let size = value.abs();
    if value == 0.0 {
        "0".to_owned()
    } else if (1e-3..1e5).contains(&size) {
        let digits = [1e4, 1e3, 1e2, 1e1].iter().filter(|&&limit| size < limit).count();
        format!("{value:.digits$}")
    } else {
        format!("{value:.3e}")
    }
}

/// A time with a unit that fits.
pub(crate) fn time(seconds: Option<f64>) -> String {
    match seconds {
        None => "–".to_owned(),
        Some(s) if s < 1e-3 => format!("{:.1} µs", s * 1e6),
        Some(s) if s < 1.0 => format!("{:.2} ms", s * 1e3),
        Some(s) => format!("{s:.2} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_the_digits_that_count() {
        let shown: Vec<String> =
            [0.0, 1.0, -0.012_345_67, 123.456_78, 99_999.4, 1e-5, 1e7].map(|x| number(Some(x))).to_vec();
        assert_eq!(shown, ["0", "1.0000", "-0.0123", "123.46", "99999", "1.000e-5", "1.000e7"]);
    }

    #[test]
    fn times_have_a_unit_that_fits() {
        assert_eq!(
            [2e-5, 0.0123, 3.0].map(|s| time(Some(s))),
            ["20.0 µs".to_owned(), "12.30 ms".into(), "3.00 s".into()]
        );
    }
}
