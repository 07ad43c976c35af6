//! The parts of the page that are words: what was run, how far it is, what differs, what may be concluded.

use maud::{Markup, html};

use super::tables::interval;
use super::{MOST_ROWS, Page};
use crate::clock;
use crate::record::RunFolder;
use crate::record::session::{Machine, Session};
use crate::report::analysis::compare::LEVEL;
use crate::report::analysis::summary::MethodSummary;
use crate::report::figures::svg::printable;
use crate::report::words::{conclusion, seeds_needed};
use crate::text::{duration, number};

/// What may be concluded is cut after this many sentences, and says so.
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
            @if let Some(part) = run.part() {
                p class="notice" role="note" {
                    "This is " (part) ". The others are in runs of their own; " code { "host merge" } " unites them."
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
                     two-sided"
                    @if count > 1 { ", corrected by Holm for all " (count) " comparisons of this report" }
                    ". A win on every seed counts \
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
    let mut methods: Vec<&str> = page.model.summaries.iter().map(|summary| summary.method.as_str()).collect();
    methods.sort_unstable();
    methods.dedup();
    sentences.push(match (methods.len() > 1, planned) {
        (true, _) => "Methods are not compared: they have no point of the sweep in common.".to_owned(),
        (false, true) => "No other method has begun: there is nothing to compare yet.".to_owned(),
        (false, false) => "There is one method, and nothing to compare it with.".to_owned(),
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
