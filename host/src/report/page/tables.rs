//! The tables of what methods and solvers found.

use maud::{Markup, html};

use super::{MOST_ROWS, Page, style};
use crate::record::tables::swept;
use crate::report::analysis::settings::{short_key, sweep_keys};
use crate::report::analysis::statistics::Interval;
use crate::report::analysis::summary::{MethodSummary, good_word};
use crate::report::figures::svg::printable;
use crate::report::words::probability;
use crate::text::{number, time};

/// Final values.
pub(super) fn table(page: &Page<'_>) -> Markup {
    let summaries = &page.model.summaries;
    let Some(first) = summaries.first() else { return html! {} };
    let keys = sweep_keys(summaries.iter().map(|summary| &summary.sweep));
    let regret = summaries.iter().any(|summary| summary.regret.is_some());
    let ranks = summaries.iter().any(|summary| summary.mean_rank.is_some());
    let failed = summaries.iter().any(|summary| summary.failed_evaluations > 0);
    let infeasible = summaries.iter().any(|summary| summary.infeasible_evaluations > 0);
    let flawed = summaries.iter().any(|summary| summary.flawed_answers > 0);
    let shadows = summaries.iter().any(|summary| summary.failed_shadows > 0);
    let experiments = summaries.iter().any(|summary| summary.experiment != first.experiment);
    let recommended = summaries.iter().any(|summary| summary.recommended.is_some());
    // Of a noisy objective, the best value that was seen is a lucky one.
    let value = if recommended { "luckiest" } else { good_word(summaries) };
    // The best mean of each setting stands out.
    let best = |summary: &MethodSummary| {
        let peers = summaries
            .iter()
            .filter(|other| other.sweep == summary.sweep && other.experiment == summary.experiment);
        let means = peers.filter_map(|other| other.final_best.mean);
        let best = means.reduce(|a, b| if summary.maximize { a.max(b) } else { a.min(b) });
        summary.final_best.mean.is_some() && summary.final_best.mean == best
    };
    html! {
        h2 { "Final values" }
        div class="scroll" tabindex="0" role="region" aria-label="Final values" {
            table id="finals" {
                thead {
                    tr {
                        th { "method" }
                        @if experiments { th class="left" { "experiment" } }
                        @for key in &keys { th title=(printable(key)) { (printable(&short_key(key, &keys))) } }
                        th { "trials" }
                        th { (value) " value, mean" }
                        th { "95 % interval" } th { "median" }
                        @if recommended { th { "recommended, mean ± s.e." } }
                        @if ranks { th { "mean rank" } }
                        @if regret { th { "regret, mean" } }
                        @if failed { th { "failed evaluations" } }
                        @if infeasible { th { "infeasible" } }
                        @if flawed { th { "false answers" } }
                        @if shadows { th { "failed shadows" } }
                        th { "fit / iteration" } th { "AFO / iteration" } th { "evaluation" }
                    }
                }
                tbody {
                    @for summary in summaries {
                        tr class=[best(summary).then_some("best")] {
                            td { (style::swatch(page.model.method(&summary.method))) (printable(&summary.method)) }
                            @if experiments { td class="left" { (printable(&summary.experiment)) } }
                            @for key in &keys { td { (printable(&swept(&summary.sweep, key))) } }
                            td {
                                (summary.trials)
                                @if summary.unfinished > 0 { " of " (summary.trials + summary.unfinished) }
                            }
                            td { (number(summary.final_best.mean)) }
                            td { (interval(summary.final_interval)) }
                            td { (number(summary.final_best.median)) }
                            @if recommended {
                                td {
                                    (number(summary.recommended.and_then(|spread| spread.mean)))
                                    @if let Some(error) = summary.recommended.and_then(|spread| spread.standard_error) { " ± " (number(Some(error))) }
                                }
                            }
                            @if ranks { td { (summary.mean_rank.map_or("–".to_owned(), |rank| format!("{rank:.2}"))) } }
                            @if regret { td { (number(summary.regret.and_then(|regret| regret.mean))) } }
                            @if failed { td { (summary.failed_evaluations) } }
                            @if infeasible { td { (summary.infeasible_evaluations) } }
                            @if flawed { td { (summary.flawed_answers) } }
                            @if shadows { td { (summary.failed_shadows) } }
                            td { (time(summary.mean_fit_seconds)) }
                            td { (time(summary.mean_afo_seconds)) }
                            td { (time(summary.mean_evaluate_seconds)) }
                        }
                    }
                }
            }
        }
    }
}

pub(super) fn interval(interval: Option<Interval>) -> String {
    interval.map_or("–".to_owned(), |interval| {
        format!("{} to {}", number(Some(interval.low)), number(Some(interval.high)))
    })
}

/// Who proposed what, where surrogates take turns.
pub(super) fn turns(page: &Page<'_>) -> Markup {
    let rows = || {
        let summaries = page.model.summaries.iter();
        summaries.flat_map(|summary| summary.turns.iter().map(move |turn| (summary, turn)))
    };
    if rows().next().is_none() {
        return html! {};
    }
    let several = page.model.settings.len() > 1;
    html! {
        h2 { "Who found the improvements" }
        div class="scroll" tabindex="0" role="region" aria-label="Who found the improvements" {
            table id="turns" {
                thead { tr {
                    th { "method" } @if several { th class="left" { "setting" } }
                    th class="left" { "surrogate" } th { "proposals" } th { "improvements" }
                } }
                tbody {
                    @for (summary, turn) in rows().take(MOST_ROWS) {
                        tr {
                            td { (printable(&summary.method)) }
                            @if several {
                                td class="left" {
                                    @for key in summary.sweep.keys() { (printable(&format!("{key}={} ", swept(&summary.sweep, key)))) }
                                }
                            }
                            td class="left" { (printable(&turn.surrogate)) }
                            td { (turn.proposals) } td { (turn.improvements) }
                        }
                    }
                }
            }
        }
        p class="caption" {
            "Several surrogates take turns: all observe every value, and each iteration is the next one's. An improvement is \
             a proposal that was better than everything before it, over all trials of the method."
        }
    }
}

/// What the models decided when they drew.
pub(super) fn notes(page: &Page<'_>) -> Markup {
    let rows: Vec<_> = page
        .model
        .summaries
        .iter()
        .flat_map(|summary| summary.notes.iter().map(move |note| (summary, note)))
        .take(MOST_ROWS)
        .collect();
    html! {
        @if !rows.is_empty() {
            h2 { "What the models chose" }
            div class="scroll" tabindex="0" role="region" aria-label="What the models chose" {
                table id="notes" {
                    thead { tr {
                        th { "method" } th class="left" { "surrogate" } th class="left" { "what" } th class="left" { "choice" } th { "draws" }
                    } }
                    tbody {
                        @for (summary, note) in &rows {
                            tr {
                                td { (printable(&summary.method)) }
                                td class="left" { (printable(if note.surrogate.is_empty() { "–" } else { &note.surrogate })) }
                                td class="left" { (printable(&note.name)) }
                                td class="left" { (printable(&note.words)) }
                                td { (note.draws) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Followed solvers beside their shadows.
pub(super) fn shadows(page: &Page<'_>) -> Markup {
    let rows = &page.model.improvements;
    if rows.is_empty() {
        return html! {};
    }
    html! {
        h2 { "AF values on the same problems" }
        div class="scroll" tabindex="0" role="region" aria-label="AF values on the same problems" {
            table id="shadows" {
                thead { tr {
                    th { "method" } th class="left" { "its solver" } th class="left" { "shadow" } th { "bits" } th { "problems" }
                    th { "lower" } th { "equal" } th { "higher" } th { "mean improvement" } th { "95 % interval" } th { "p, not corrected" }
                } }
                tbody {
                    @for at in rows.iter().take(MOST_ROWS) {
                        tr {
                            td { (printable(&at.method)) }
                            td class="left" { (printable(&at.followed)) }
                            td class="left" { (printable(&at.shadow)) }
                            td { (at.bits) } td { (at.problems) } td { (at.lower) } td { (at.equal) } td { (at.higher) }
                            td { (at.percent.map_or("–".to_owned(), |percent| format!("{:+.2} %", percent.mean))) }
                            td { (interval(at.percent.and_then(|percent| percent.interval))) }
                            td { (at.p.map_or("–".to_owned(), probability)) }
                        }
                    }
                }
            }
        }
        p class="caption" {
            "Lower is better for a solver. The test is on the trials' means, one a seed and setting."
            @if rows.len() > MOST_ROWS { " The first " (MOST_ROWS) " of " (rows.len()) " rows; summary.json has all." }
        }
    }
}

/// Methods beside each other, pair by pair.
pub(super) fn comparisons(page: &Page<'_>) -> Markup {
    let rows = &page.model.comparisons;
    let Some(first) = rows.first() else { return html! {} };
    let keys = sweep_keys(rows.iter().map(|row| &row.sweep));
    let experiments = rows.iter().any(|row| row.experiment != first.experiment);
    html! {
        h2 { "Methods against each other" }
        div class="scroll" tabindex="0" role="region" aria-label="Methods against each other" {
            table id="comparisons" {
                thead { tr {
                    th { "first" } th class="left" { "second" }
                    @if experiments { th class="left" { "experiment" } }
                    @for key in &keys { th title=(printable(key)) { (printable(&short_key(key, &keys))) } }
                    th { "seeds" } th { "first better" } th { "equal" } th { "worse" } th { "mean difference" } th { "95 % interval" }
                    th { "rank-biserial" } th { "p" } th { "p, corrected" }
                } }
                tbody {
                    @for row in rows.iter().take(MOST_ROWS) {
                        tr {
                            td { (printable(&row.first)) }
                            td class="left" { (printable(&row.second)) }
                            @if experiments { td class="left" { (printable(&row.experiment)) } }
                            @for key in &keys { td { (printable(&swept(&row.sweep, key))) } }
                            td { (row.seeds) } td { (row.better) } td { (row.equal) } td { (row.worse) }
                            td { (number(row.mean_difference)) }
                            td { (interval(row.interval)) }
                            td { (row.rank_biserial.map_or("–".to_owned(), |effect| format!("{effect:+.2}"))) }
                            td { (row.p.map_or("–".to_owned(), probability)) }
                            td { (row.p_corrected.map_or("–".to_owned(), probability)) }
                        }
                    }
                }
            }
        }
        p class="caption" {
            "The difference is first − second of the final best values, interval by bootstrap (BCa). The rank-biserial \
             correlation goes from −1 (the first is always worse) to 1 (always better)."
            @if rows.len() > MOST_ROWS { " The first " (MOST_ROWS) " of " (rows.len()) " rows; summary.json has all." }
        }
    }
}
