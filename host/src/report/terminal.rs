//! Summaries as a table for a terminal.

use super::analysis::summary::{MethodSummary, Spread, good_word};
use crate::record::tables::swept;
use crate::text::{columns, number, time};

/// Something that is counted for each method.
type Count = fn(&MethodSummary) -> usize;

const COUNTS: [(&str, Count); 4] = [
    ("failed evaluations", |summary| summary.failed_evaluations),
    ("infeasible", |summary| summary.infeasible_evaluations),
    ("false answers", |summary| summary.flawed_answers),
    ("failed shadows", |summary| summary.failed_shadows),
];

/// What each method found, then how its solver compares with its shadows.
pub(super) fn table(summaries: &[MethodSummary]) -> String {
    let Some(first) = summaries.first() else { return "no trial has begun".to_owned() };
    let sense = good_word(summaries);
    let keys: Vec<&String> = first.sweep.keys().collect();
    let any_regret = summaries.iter().any(|summary| summary.regret.is_some());
    // What went wrong, where anything did.
    let any = |(_, count): &(&str, Count)| summaries.iter().any(|summary| count(summary) > 0);
    let counts: Vec<(&str, Count)> = COUNTS.into_iter().filter(any).collect();

    let mut header = vec!["method".to_owned()];
    header.extend(keys.iter().map(|key| (*key).clone()));
    header.extend(["trials".to_owned(), format!("{sense} value (mean ± s.e.)"), "median".to_owned()]);
    header.extend(any_regret.then(|| "regret (mean)".to_owned()));
    header.extend(counts.iter().map(|(word, _)| (*word).to_owned()));
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
            row.extend(counts.iter().map(|(_, count)| count(summary).to_string()));
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
