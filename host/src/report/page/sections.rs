//! The parts of the page that are words and tables.

use maud::{Markup, html};

use super::{Page, style};
use crate::clock;
use crate::record::RunFolder;
use crate::record::session::{Machine, Session};
use crate::record::tables::swept;
use crate::report::analysis::compare::LEVEL;
use crate::report::analysis::settings::{short_key, sweep_keys};
use crate::report::analysis::summary::{MethodSummary, good_word};
use crate::report::figures::svg::printable;
use crate::report::words::{conclusion, probability, seeds_needed};
use crate::text::{duration, number, time};

/// Longer lists are cut, and say so.
pub(super) const MOST_ROWS: usize = 100;
const MOST_SENTENCES: usize = 8;

/// What was run, how far it is.
pub(super) fn subtitle(page: &Page<'_>) -> Markup {
    html! {
        @if let Some(moment) = page.live {
            @let (made, planned) = moment.far.evaluations;
            p id="live" class="live" role="status" data-made=(moment.seconds) data-next=(moment.next.as_secs_f64()) {
                span class="pulse" {} "The run goes on: " (made) " of " (planned) " evaluations made"
                @if let Some(left) = moment.far.seconds_left { ", about " (duration(left)) " left" }
                ". This page was made at " (moment.words) " and reloads itself."
            }
        }
        @for (i, (run, (begun, finished))) in page.runs.iter().zip(page.counts).enumerate() {
            p class="muted" {
                @if page.runs.len() > 1 { b { (called(page, i)) } ": " }
                (finished) " of " (run.planned.unwrap_or(*begun)) " trials finished"
                @if let Some(identity) = &run.identity {
                    ", plan " (identity.plan.chars().take(12).collect::<String>()) ", host " (printable(&identity.host))
                }
            }
            @if *finished < run.planned.unwrap_or(*begun) && page.live.is_none() {
                p class="notice" role="note" {
                    "This run is not finished. Trials that have begun and not ended: " (begun - finished) "; not begun: "
                    (run.planned.unwrap_or(*begun).saturating_sub(*begun)) ". Final values and \
                    comparisons are those of finished trials; lines are means of the trials that got so far."
                }
            }
            @if page.live.is_some() {
                p class="caption" {
                    "Final values and comparisons are those of finished trials; lines are means of the trials that got so far."
                }
            }
        }
    }
}

/// A run by what differs, and by its folder.
fn called(page: &Page<'_>, run: usize) -> String {
    let (label, name) = (&page.differences.labels[run], &page.names[run]);
    printable(&if label == name { label.clone() } else { format!("{label} ({name})") })
}

/// What is not the same in all runs, and what cannot be compared for it.
pub(super) fn differences(page: &Page<'_>) -> Markup {
    let rows = &page.differences.rows;
    if page.runs.len() < 2 {
        return html! {};
    }
    html! {
        section id="differences" {
            h2 { "What differs between the runs" }
            @if rows.is_empty() { p { "Nothing: they have the same plan, and the same programs ran it." } }
            @else {
                div class="scroll" tabindex="0" role="region" aria-label="What differs between the runs" {
                    table {
                        thead { tr { th { "what" } @for run in 0..page.runs.len() { th class="left" { (called(page, run)) } } } }
                        tbody {
                            @for row in rows.iter().take(MOST_ROWS) {
                                tr {
                                    td { (printable(&row.key)) @if row.apart { " *" } }
                                    @for value in &row.values { td class="words" { (printable(value)) } }
                                }
                            }
                        }
                    }
                }
            }
            @if !page.differences.apart().is_empty() {
                p class="caption" {
                    "* Values of runs that differ in this are not compared: they are no answers to the same question. Each has \
                     figures of its own below."
                }
            }
            @if rows.len() > MOST_ROWS { p class="caption" { "The first " (MOST_ROWS) " of " (rows.len()) " differences." } }
        }
    }
}

/// What may be concluded.
pub(super) fn verdict(page: &Page<'_>) -> Markup {
    let model = page.model;
    let count = model.comparisons.iter().filter(|comparison| comparison.p.is_some()).count();
    let several = model.settings.len() > 1;
    let mut sentences: Vec<(bool, String)> = Vec::new();
    for comparison in &model.comparisons {
        let setting = model.settings.iter().find(|setting| {
            setting.experiment == comparison.experiment && *setting.sweep == comparison.sweep
        });
        let place = setting.filter(|_| several).map(|setting| format!("{}: ", model.label(setting)));
        let shown = comparison.p_corrected.is_some_and(|p| p <= LEVEL);
        sentences.push((shown, place.unwrap_or_default() + &conclusion(comparison, count)));
    }
    let left_out = sentences.len().saturating_sub(MOST_SENTENCES);
    // What is shown comes first; within that, the plan's order.
    sentences.sort_by_key(|(shown, _)| !shown);
    html! {
        section class="card verdict" id="verdict" {
            h2 style="margin-top:4px" { "In short" }
            @if model.settings.is_empty() { p { "No trial has begun." } }
            @else if sentences.is_empty() && page.runs.len() > 1 { p { "These runs cannot be compared: see what differs." } }
            @else if sentences.is_empty() {
                @for sentence in alone(page) { p { (printable(&sentence)) } }
            }
            ul {
                @for (shown, sentence) in sentences.iter().take(MOST_SENTENCES) {
                    li class=[shown.then_some("shown")] { (printable(sentence)) }
                }
                @for sentence in on_the_same_problems(page) { li { (printable(&sentence)) } }
            }
            @if left_out > 0 { p class="muted" { (left_out) " more comparisons are in the table below." } }
            @if count > 0 {
                p class="caption" {
                    "Methods are compared seed by seed, on the same instances and initial designs: Wilcoxon's signed-rank test, \
                     two-sided, corrected by Holm for all " (count) " comparisons of this report. A win on every seed counts \
                     from " (seeds_needed(count)) " seeds on. Results hold for these objectives, budgets and options, and for no others."
                }
            }
        }
    }
}

/// Where each of a few settings has one method: where it ended.
fn alone(page: &Page<'_>) -> Vec<String> {
    let ended = |summary: &MethodSummary| {
        let mean = number(Some(summary.final_best.mean?));
        let (method, trials) = (&summary.method, summary.trials);
        let seeds =
            if trials == 1 { "the only trial".to_owned() } else { format!("{trials} trials on average") };
        let spread = summary.final_interval.map(|of| format!(" (95 % interval {})", interval(Some(of))));
        Some(format!("{method} ended at {mean} in {seeds}{}.", spread.unwrap_or_default()))
    };
    let mut sentences: Vec<String> =
        page.model.summaries.iter().filter_map(ended).take(MOST_SENTENCES).collect();
    let planned = page
        .runs
        .iter()
        .zip(page.counts)
        .any(|(run, (begun, _))| run.planned.is_some_and(|all| all > *begun));
    sentences.push(match planned {
        true => "No other method has begun: there is nothing to compare yet.".to_owned(),
        false => "There is one method, and nothing to compare it with.".to_owned(),
    });
    sentences
}

/// What the followed solvers found beside their shadows, at the largest dimension.
fn on_the_same_problems(page: &Page<'_>) -> Vec<String> {
    let model = page.model;
    let mut sentences = Vec::new();
    for (_, (method, shadow)) in model.pairs.iter().take(6) {
        let at = model.improvements.iter().filter(|at| at.method == *method && at.shadow == *shadow);
        let (mut problems, mut lower, mut equal, mut higher) = (0, 0, 0, 0);
        for at in at {
            problems += at.problems;
            lower += at.lower;
            equal += at.equal;
            higher += at.higher;
        }
        sentences.push(format!(
            "On the {problems} acquisition functions of {method}, its solver's value was lower than that of {shadow} on \
             {lower}, equal on {equal} and higher on {higher}."
        ));
    }
    sentences
}

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

fn interval(interval: Option<crate::report::analysis::statistics::Interval>) -> String {
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

/// What went wrong.
pub(super) fn failures(page: &Page<'_>) -> Markup {
    let trials = || page.model.settings.iter().flat_map(|setting| setting.trials());
    let failed: Vec<_> = trials()
        .flat_map(|trial| trial.failures.iter().map(move |failure| (trial, failure)))
        .take(MOST_ROWS)
        .collect();
    let count: usize = trials().map(|trial| trial.failures.len()).sum();
    let incidents: Vec<_> = trials()
        .flat_map(|trial| trial.incidents.iter().map(move |incident| (trial, incident)))
        .take(MOST_ROWS)
        .collect();
    let flaws: Vec<_> = trials()
        .flat_map(|trial| trial.flaws.iter().map(move |flaw| (trial, flaw)))
        .take(MOST_ROWS)
        .collect();
    let flaw_count: usize = trials().map(|trial| trial.flaws.len()).sum();
    html! {
        @if !failed.is_empty() {
            h2 { "Failed evaluations" }
            div class="scroll" tabindex="0" role="region" aria-label="Failed evaluations" {
                table id="failures" {
                    thead { tr {
                        th { "trial" } th { "evaluation" } th class="left" { "status" } th class="left" { "reason" }
                        th class="left" { "point" }
                    } }
                    tbody {
                        @for (trial, failure) in &failed {
                            tr {
                                td { (printable(&trial.started.trial.to_string())) } td { (failure.evaluation) }
                                td class="left" { (failure.status) } td class="words" { (printable(&failure.reason)) }
                                td class="point" { (super::evaluations::point(trial, &failure.levels)) }
                            }
                        }
                    }
                }
            }
            @if count > failed.len() { p class="caption" { "The first " (failed.len()) " of " (count) "; the journals have all." } }
        }
        @if !flaws.is_empty() {
            h2 { "False answers of solvers" }
            div class="scroll" tabindex="0" role="region" aria-label="False answers of solvers" {
                table id="flaws" {
                    thead { tr { th { "trial" } th { "iteration" } th class="left" { "solver" } th class="left" { "what was wrong" } } }
                    tbody {
                        @for (trial, flaw) in &flaws {
                            tr {
                                td { (printable(&trial.started.trial.to_string())) } td { (flaw.iteration) }
                                td class="left" { (printable(&flaw.solver)) }
                                td class="words" { @if flaw.failed { "failed: " } (printable(&flaw.words)) }
                            }
                        }
                    }
                }
            }
            p class="caption" {
                "A value is always our own, a false bound is never used, and a broken group is mended before the point is \
                 evaluated."
                @if flaw_count > flaws.len() { " The first " (flaws.len()) " of " (flaw_count) "; the journals have all." }
            }
        }
        @if !page.broken.is_empty() {
            h2 { "Broken journals" }
            p { "These are not what was written, and their trials are left out of everything above:" }
            ul { @for journal in page.broken { li { (printable(&journal.to_string())) } } }
        }
        @if !incidents.is_empty() {
            h2 { "Trials that failed or were started again" }
            div class="scroll" tabindex="0" role="region" aria-label="Trials that failed or were started again" {
                table id="incidents" {
                    thead { tr { th { "trial" } th class="left" { "what" } th { "evaluation" } th class="left" { "reason" } } }
                    tbody {
                        @for (trial, incident) in &incidents {
                            tr {
                                td { (printable(&trial.started.trial.to_string())) } td class="left" { (incident.word()) }
                                td { (incident.evaluation().map_or("–".to_owned(), |evaluation| evaluation.to_string())) }
                                td class="words" { (printable(incident.reason())) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The plans and plugins.
pub(super) fn what_ran(page: &Page<'_>) -> Markup {
    html! {
        h2 { "What was run" }
        @for (i, run) in page.runs.iter().enumerate() {
            @if page.runs.len() > 1 { h3 { (called(page, i)) } }
            (sessions(run))
            @if let Some(identity) = &run.identity {
                div class="scroll" tabindex="0" role="region" aria-label="Plugins" {
                    table {
                        thead { tr { th { "plugin" } th class="left" { "kind" } th class="left" { "version" } th class="left" { "SHA-256 of its file" } } }
                        tbody {
                            @for plugin in &identity.plugins {
                                tr {
                                    td { (printable(&plugin.name)) } td class="left" { (printable(&plugin.kind)) }
                                    td class="left" { (printable(&plugin.version)) }
                                    td class="left" { (plugin.sha256.chars().take(16).collect::<String>()) "…" }
                                }
                            }
                        }
                    }
                }
            }
            details {
                summary { "The plan, every default filled (" code { "host run plan.yaml" } " is the same experiment)" }
                pre { (run.plan) }
            }
        }
    }
}

/// When it was run, for how long, on which machine, from which commit, by which version.
fn sessions(run: &RunFolder) -> Markup {
    let Some(first) = run.sessions.first() else { return html! {} };
    let last = run.sessions.last().unwrap_or(first);
    let seconds: f64 = run.sessions.iter().map(|session| session.seconds).sum();
    let each = |of: fn(&Session) -> String| {
        let mut all: Vec<String> = Vec::new();
        run.sessions.iter().map(of).filter(|words| !words.is_empty()).for_each(|words| {
            if !all.contains(&words) {
                all.push(words);
            }
        });
        printable(&all.join("; "))
    };
    let machine = |session: &Session| {
        let Machine { name, system, processor, cores } = &session.machine;
        let cores =
            cores.map(|cores| if cores == 1 { "1 core".to_owned() } else { format!("{cores} cores") });
        let words = [name.clone(), processor.clone(), cores, Some(system.clone())];
        words.into_iter().flatten().collect::<Vec<_>>().join(", ")
    };
    let commits = each(|session| session.commit.clone().unwrap_or_default());
    html! {
        dl {
            dt { "begun" } dd { (printable(&clock::words(&first.began))) }
            dt { "took" }
            dd {
                (duration(seconds))
                @if run.sessions.len() > 1 { ", in " (run.sessions.len()) " sessions, the last begun at " (printable(&clock::words(&last.began))) }
            }
            dt { "machine" } dd { (each(machine)) }
            @if !commits.is_empty() { dt { "commit" } dd { code { (commits) } } }
            dt { "host" } dd { (each(|session| session.host.clone())) }
        }
    }
}
