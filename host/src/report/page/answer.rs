//! What the page opens with: the best value and its point. Further down: those of each method.

use maud::{Markup, html};

use super::Page;
use crate::report::analysis::best::{Found, answers, best, names};
use crate::report::analysis::recommended::{self, Recommendation};
use crate::report::analysis::trial::TrialRecord;
use crate::report::figures::svg::printable;
use crate::text::{in_short, number};

/// Points of a sweep whose answers the page opens with.
const MOST_FIRST: usize = 4;

/// A point of more variables is shown by those that differ from the most common level, where these are less than half.
const MOST_CHIPS: usize = 20;

/// Pairs of names and levels on a page: `best.json` has all.
const MOST_PAIRS: usize = 10_000;

/// The best point of each setting, whichever method found it.
pub(super) fn answer(page: &Page<'_>) -> Markup {
    let model = page.model;
    let several = model.settings.len() > 1;
    html! {
        @if !model.settings.is_empty() {
            section class="card" id="answer" {
                h2 style="margin-top:4px" { "The best point found" }
                @for setting in model.settings.iter().take(MOST_FIRST) {
                    @if several { h3 { (printable(&model.label(setting))) } }
                    (recommended(recommended::best(setting, setting.trials()), &mut MOST_PAIRS.clone()))
                    @match best(setting, setting.trials()) {
                        Some((trial, found)) => (point(trial, found, &mut MOST_PAIRS.clone())),
                        None => p { "No evaluation has a value." },
                    }
                }
                @if model.settings.len() > MOST_FIRST {
                    p class="muted" { "The first " (MOST_FIRST) " of " (model.settings.len()) " points of the sweep; more are below, all in best.json." }
                }
            }
        }
    }
}

/// The best point of each method.
pub(super) fn best_points(page: &Page<'_>) -> Markup {
    let model = page.model;
    let drawn = model.drawn();
    let rows: Vec<_> = answers(drawn).collect();
    let several = model.settings.len() > 1;
    let mut left = MOST_PAIRS;
    html! {
        @if rows.len() > 1 {
            h2 { "The best point of each method" }
            @for row in &rows {
                h3 { (printable(row.method)) @if several { ", " (printable(&model.label(row.setting))) } }
                (recommended(row.recommended, &mut left))
                @match row.best {
                    Some((trial, found)) => (point(trial, found, &mut left)),
                    None => p { "No evaluation has a value." },
                }
            }
            @if drawn.len() < model.settings.len() {
                p class="muted" { "The first " (drawn.len()) " of " (model.settings.len()) " points of the sweep; best.json has all." }
            }
        }
    }
}

/// What is recommended where the objective is noisy; nothing where it is not.
fn recommended(best: Option<(&TrialRecord, &Recommendation)>, left: &mut usize) -> Markup {
    html! {
        @if let Some((trial, recommendation)) = best {
            p {
                "Recommended: " b {
                    (number(Some(recommendation.total)))
                    @if let Some(error) = recommendation.again.standard_error { " ± " (number(Some(error))) }
                }
                @if recommendation.penalty != 0.0 { " (of that penalty " (number(Some(recommendation.penalty))) ")" }
                " by " (printable(&trial.started.method)) ", seed " (trial.started.seed) ": " (recommendation.reason()) "."
            }
            (chips(recommended::point(trial, recommendation), left, &|| format!("levels {:?}", recommendation.levels)))
            p class="muted" {
                "The objective is noisy: the luckiest value of all evaluations, below, promises more than its point keeps."
            }
        }
    }
}

/// Value, where it was found, and the point: in names where they are known, or in the objective's own description.
fn point(trial: &TrialRecord, found: &Found, left: &mut usize) -> Markup {
    let described = || trial.finished.as_ref().and_then(|finished| finished.description.clone());
    html! {
        p {
            @if trial.recommendation.is_some() { "Luckiest value: " }
            b { (number(Some(found.total))) }
            @if found.penalty != 0.0 { " (value " (number(Some(found.value))) ", penalty " (number(Some(found.penalty))) ")" }
            " by " (printable(&trial.started.method)) ", seed " (trial.started.seed) ", evaluation " (found.evaluation)
            @if let Some(optimum) = trial.optimum() { "; the optimum of this instance is " (number(Some(optimum))) }
        }
        (chips(names(trial, found), left, &|| described().unwrap_or_else(|| format!("levels {:?}", found.levels))))
    }
}

fn all_chips<'a>(pairs: impl IntoIterator<Item = &'a (&'a str, String)>) -> Markup {
    html! {
        div class="chips" {
            @for (name, level) in pairs {
                span class=[(level == "0").then_some("zero")] { (printable(&format!("{name}={level}"))) }
            }
        }
    }
}

/// A point in names where they are known and fit on the page, or else described.
fn chips(pairs: Option<Vec<(&str, String)>>, left: &mut usize, described: &dyn Fn() -> String) -> Markup {
    let shown = pairs.as_ref().is_none_or(|pairs| pairs.len() <= *left);
    *left = left.saturating_sub(pairs.as_ref().map_or(0, Vec::len));
    html! {
        @match pairs {
            Some(pairs) if shown => {
                @let (begin, others) = in_short(&pairs);
                @if pairs.len() > MOST_CHIPS && 2 * others.len() < pairs.len() {
                    p { (printable(&begin)) }
                    (all_chips(others))
                    details { summary { "all variables" } (all_chips(&pairs)) }
                } @else {
                    (all_chips(&pairs))
                }
            }
            Some(_) => p class="muted" { "best.json has the point." },
            None => p class="muted" { (printable(&described())) },
        }
    }
}
