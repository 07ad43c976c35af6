//! The table of evaluations, and how good the models' predictions were.

use maud::{Markup, html};

use super::Page;
use crate::record::tables::swept;
use crate::report::analysis::listing::{Listing, listing};
use crate::report::analysis::settings::short_key;
use crate::report::analysis::trial::TrialRecord;
use crate::report::figures::svg::printable;
use crate::text::number;

/// Evaluations with their points. Searching and sorting are the script's; without it, they are read in the order of trials.
pub(super) fn evaluations(page: &Page<'_>) -> Markup {
    let Listing { rows, all, every } = listing(&page.model.settings);
    let Some((first, _)) = rows.first() else { return html! {} };
    let keys: Vec<&String> = first.started.sweep.keys().collect();
    let penalty = rows.iter().any(|(_, row)| row.total != row.value);
    html! {
        h2 { "Evaluations" }
        p class="caption" {
            @if rows.len() == all { "All " (all) " evaluations." }
            @else {
                (rows.len()) " of " (all) " evaluations: the best of " @if every == 1 { "each trial" } @else { "one in " (every) " trials" }
                "; the rest is in "
                @if page.files.contains(&"trace.csv") { (super::link("trace.csv")) } @else { code { "trace.csv" } } "."
            }
            " A click on a column's name sorts by it."
        }
        div class="search" data-search="evaluations" {}
        div class="scroll tall" tabindex="0" role="region" aria-label="Evaluations" {
            table id="evaluations" data-sort="" {
                thead { tr {
                    th { "method" }
                    @for key in &keys { th title=(printable(key)) { (printable(&short_key(key, &keys))) } }
                    th { "seed" } th { "evaluation" } th class="left" { "phase" } th class="left" { "status" } th { "value" }
                    @if penalty { th { "with penalty" } }
                    th class="left" { "point" }
                } }
                tbody {
                    @for (trial, row) in &rows {
                        tr {
                            td { (printable(&trial.started.method)) }
                            @for key in &keys { td { (printable(&swept(&trial.started.sweep, key))) } }
                            td { (trial.started.seed) } td { (row.evaluation) }
                            td class="left" { (row.phase.word()) } td class="left" { (row.status.word()) }
                            td { (number(row.value)) }
                            @if penalty { td { (number(row.total)) } }
                            td class="point" { (point(trial, &row.levels)) }
                        }
                    }
                }
            }
        }
    }
}

/// A point in names, or by level numbers where these are not known.
pub(super) fn point(trial: &TrialRecord, levels: &[u32]) -> String {
    let named = |(i, level): (usize, &u32)| {
        let variable = trial.space.as_deref().and_then(|space| space.variables().get(i));
        match variable {
            Some(variable) => {
                let name = variable.levels().get(*level as usize).cloned();
                format!("{}={}", variable.name(), name.unwrap_or_else(|| level.to_string()))
            }
            None => level.to_string(),
        }
    };
    printable(&levels.iter().enumerate().map(named).collect::<Vec<_>>().join(" "))
}

/// How good each method's predictions were.
pub(super) fn predictions(page: &Page<'_>) -> Markup {
    let rows: Vec<_> = page
        .model
        .summaries
        .iter()
        .filter_map(|summary| Some((summary, summary.predictions?)))
        .take(super::MOST_ROWS)
        .collect();
    let Some((first, _)) = rows.first() else { return html! {} };
    let keys: Vec<&String> = first.sweep.keys().collect();
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    html! {
        h2 { "How good the predictions were" }
        div class="scroll" tabindex="0" role="region" aria-label="How good the predictions were" {
            table id="predictions" {
                thead { tr {
                    th { "method" }
                    @for key in &keys { th title=(printable(key)) { (printable(&short_key(key, &keys))) } }
                    th { "proposals asked about" } th { "within one deviation" } th { "within two" } th { "rank correlation" }
                    th class="left" { "the model is" }
                } }
                tbody {
                    @for (summary, found) in &rows {
                        tr {
                            td { (printable(&summary.method)) }
                            @for key in &keys { td { (printable(&swept(&summary.sweep, key))) } }
                            td { (found.proposals) } td { (percent(found.within_one)) } td { (percent(found.within_two)) }
                            td { (found.rank_correlation.map_or("–".to_owned(), |r| format!("{r:+.2}"))) }
                            td class="words" { (found.words()) }
                        }
                    }
                }
            }
        }
        p class="caption" {
            "A model that knows how sure it may be has 68 % of the values within one standard deviation of its prediction and 95 % \
             within two. The rank correlation (Spearman's, within trials) says whether it tells better proposals from worse ones."
        }
    }
}
