//! What went wrong: evaluations, solvers, journals, processes.

use maud::{Markup, html};

use super::{MOST_ROWS, Page};
use crate::report::figures::svg::printable;

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
