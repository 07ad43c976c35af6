//! Summaries as a table for a terminal.

use super::analysis::best::{Answer, answers, names};
use super::analysis::differences::{Difference, Differences};
use super::analysis::model::Model;
use super::analysis::recommended;
use super::analysis::settings::sweep_keys;
use super::analysis::summary::{MethodSummary, Spread, good_word};
use crate::record::RunFolder;
use crate::record::tables::swept;
use crate::text::{columns, in_short, number, time, wrapped};

/// Something that is counted for each method.
type Count = fn(&MethodSummary) -> usize;

/// Longer lists of differences are cut, and say so.
const MOST_DIFFERENCES: usize = 12;

const COUNTS: [(&str, Count); 4] = [
    ("failed evaluations", |summary| summary.failed_evaluations),
    ("infeasible", |summary| summary.infeasible_evaluations),
    ("false answers", |summary| summary.flawed_answers),
    ("failed shadows", |summary| summary.failed_shadows),
];

/// What each method found, then how its solver compares with its shadows.
pub(super) fn table(summaries: &[MethodSummary]) -> String {
    if summaries.is_empty() {
        return "no trial has begun".to_owned();
    }
    let sense = good_word(summaries);
    let keys = sweep_keys(summaries.iter().map(|summary| &summary.sweep));
    let any_recommended = summaries.iter().any(|summary| summary.recommended.is_some());
    let any_regret = summaries.iter().any(|summary| summary.regret.is_some());
    // What went wrong, where anything did.
    let any = |(_, count): &(&str, Count)| summaries.iter().any(|summary| count(summary) > 0);
    let counts: Vec<(&str, Count)> = COUNTS.into_iter().filter(any).collect();

    let experiments = summaries.iter().any(|summary| summary.experiment != summaries[0].experiment);
    let mut header = vec!["method".to_owned()];
    header.extend(experiments.then(|| "experiment".to_owned()));
    header.extend(keys.iter().map(|key| (*key).clone()));
    // Of a noisy objective, the best value that was seen is a lucky one.
    let value = if any_recommended { "luckiest" } else { sense };
    header.extend(["trials".to_owned(), format!("{value} value (mean ± s.e.)"), "median".to_owned()]);
    header.extend(any_recommended.then(|| "recommended (mean ± s.e.)".to_owned()));
    header.extend(any_regret.then(|| "regret (mean)".to_owned()));
    header.extend(counts.iter().map(|(word, _)| (*word).to_owned()));
    header.extend(["fit / iteration".to_owned(), "AFO / iteration".to_owned()]);
    let rows: Vec<Vec<String>> = summaries
        .iter()
        .map(|summary| {
            let mut row = vec![summary.method.clone()];
            row.extend(experiments.then(|| summary.experiment.clone()));
            row.extend(keys.iter().map(|key| swept(&summary.sweep, key)));
            let trials = match summary.unfinished {
                0 => summary.trials.to_string(),
                unfinished => format!("{} of {} finished", summary.trials, summary.trials + unfinished),
            };
            row.extend([trials, spread(&summary.final_best), number(summary.final_best.median)]);
            let recommended = || summary.recommended.as_ref().map_or_else(|| "–".to_owned(), spread);
            row.extend(any_recommended.then(recommended));
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
            row.extend(experiments.then(|| summary.experiment.clone()));
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
        header.extend(experiments.then(|| "experiment".to_owned()));
        header.extend(keys.iter().map(|key| (*key).clone()));
        let words = ["problems", "lower", "equal", "higher", "mean improvement", "shadow's AFO"];
        header.extend(words.map(str::to_owned));
        text = format!("{text}\n\n{}", columns(&header, &shadows));
    }
    text
}

/// Says so where a run is a part of its plan; of several, what differs says it.
pub(super) fn parts(runs: &[RunFolder]) -> String {
    let part = if let [run] = runs { run.part() } else { None };
    part.map(|part| format!("{part}; `host merge` unites the parts\n\n")).unwrap_or_default()
}

/// What differs between runs, and what cannot be compared for it.
pub(super) fn differences(differences: &Differences, names: &[String]) -> String {
    if differences.rows.is_empty() {
        return "the runs have the same plan, and the same programs ran them\n\n".to_owned();
    }
    let mut header = vec!["what differs".to_owned()];
    header.extend(names.iter().cloned());
    let row = |row: &Difference| {
        let mut cells = vec![format!("{}{}", row.key, if row.apart { " *" } else { "" })];
        cells.extend(row.values.iter().map(|value| short(value)));
        cells
    };
    let mut rows: Vec<Vec<String>> = differences.rows.iter().take(MOST_DIFFERENCES).map(row).collect();
    if differences.labels != names {
        let called = std::iter::once("called here".to_owned()).chain(differences.labels.iter().cloned());
        rows.push(called.collect());
    }
    let mut text = columns(&header, &rows);
    let more = differences.rows.len().saturating_sub(MOST_DIFFERENCES);
    if more > 0 {
        text += &format!("\n{more} more differences are in the report");
    }
    if !differences.apart().is_empty() {
        text += "\n* values of runs that differ in this are not compared";
    }
    text + "\n\n"
}

/// As much of a value as fits in a column.
fn short(value: &str) -> String {
    const MOST: usize = 40;
    match value.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

fn spread(spread: &Spread) -> String {
    match spread.standard_error {
        Some(error) => format!("{} ± {}", number(spread.mean), number(Some(error))),
        None => number(spread.mean),
    }
}

/// Longer lists of answers are cut, and say so.
const MOST_ANSWERS: usize = 12;

/// Lines that a point may take.
const MOST_LINES: usize = 4;

/// The best point of each method, in the objective's own names; nothing where no trial has begun.
pub(super) fn best(model: &Model<'_>) -> String {
    let several = model.settings.len() > 1;
    let mut blocks: Vec<String> = answers(&model.settings)
        .take(MOST_ANSWERS)
        .map(|answer| {
            let setting = several.then(|| format!(", {}", model.label(answer.setting)));
            block(&answer, &setting.unwrap_or_default())
        })
        .collect();
    if blocks.is_empty() {
        return String::new();
    }
    let more = answers(&model.settings).skip(MOST_ANSWERS).count();
    blocks.extend((more > 0).then(|| format!("  {more} more are in best.json")));
    format!("\n\nbest point of each method\n{}", blocks.join("\n"))
}

fn block(answer: &Answer<'_>, setting: &str) -> String {
    let method = answer.method;
    let Some((trial, found)) = answer.best else {
        return format!("  {method}{setting}: no evaluation has a value");
    };
    let parts = match found.penalty {
        0.0 => String::new(),
        penalty => format!(" (value {}, penalty {})", number(Some(found.value)), number(Some(penalty))),
    };
    let (total, seed, evaluation) = (number(Some(found.total)), trial.started.seed, found.evaluation);
    let point = shown(names(trial, found), &found.levels);
    let Some((by, recommended)) = answer.recommended else {
        return format!("  {method}{setting}: {total}{parts}, seed {seed}, evaluation {evaluation}\n{point}");
    };
    let error = recommended.again.standard_error.map(|error| format!(" ± {}", number(Some(error))));
    format!(
        "  {method}{setting}, recommended: {}{}, seed {} ({})\n{}\n  {method}{setting}, luckiest value: \
         {total}{parts}, seed {seed}, evaluation {evaluation}\n{point}",
        number(Some(recommended.total)),
        error.unwrap_or_default(),
        by.started.seed,
        recommended.reason(),
        shown(recommended::point(by, recommended), &recommended.levels),
    )
}

/// A point in names where they are known, or in levels.
fn shown(names: Option<Vec<(&str, String)>>, levels: &[u32]) -> String {
    match names {
        Some(pairs) => point(&pairs),
        None => point(&levels.iter().map(|level| ("", level.to_string())).collect::<Vec<_>>()),
    }
}

/// A point, wrapped; a long one, or one with few of them, by the variables that differ from the most common level.
fn point(pairs: &[(&str, String)]) -> String {
    let word = |(name, level): &(&str, String)| match *name {
        "" => level.clone(),
        name => format!("{name}={level}"),
    };
    let whole = wrapped(pairs.iter().map(word), "    ");
    let (begin, others) = in_short(pairs);
    let mut lines = wrapped(std::iter::once(begin).chain(others.iter().map(|pair| word(pair))), "    ");
    let shorter = lines.len() < whole.len() && 2 * others.len() < pairs.len();
    if whole.len() == 1 || (whole.len() <= MOST_LINES && !shorter) {
        return whole.join("\n");
    }
    if lines.len() > MOST_LINES {
        lines.truncate(MOST_LINES);
        lines.push("    … cut here; the report and best.json have all of it".to_owned());
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_point_is_cut_to_what_differs_from_the_most_common_level() {
        let point_of = |n: usize, other: usize| {
            let names: Vec<String> = (1..=n).map(|i| format!("stage{i}")).collect();
            let pairs: Vec<(&str, String)> = names
                .iter()
                .enumerate()
                .map(|(i, name)| (name.as_str(), u8::from(i % other == 0).to_string()))
                .collect();
            point(&pairs)
        };
        assert_eq!(point_of(3, 2), "    stage1=1 stage2=0 stage3=1");
        assert_eq!(point_of(60, 20), "    0 for 57 of 60 variables, but stage1=1 stage21=1 stage41=1");
        let long = point_of(400, 3);
        assert_eq!(long.lines().count(), 5, "{long}");
        assert!(long.ends_with("best.json have all of it"), "{long}");
        assert!(long.lines().all(|line| line.chars().count() <= 100), "{long}");
    }
}
