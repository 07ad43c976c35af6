//! Everything → one HTML file that needs nothing else.
//!
//! Names, reasons and descriptions come from manifests and plugins. They reach the page through `maud`, which
//! escapes whatever is not its own markup; and should that fail, the page's policy lets no script run but the one
//! whose hash it names, and nothing be fetched.

mod answer;
mod evaluations;
mod failures;
mod sections;
mod style;
mod tables;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use super::analysis::differences::Differences;
use super::analysis::model::Model;
use super::figures::{Group, svg};
use super::live::Moment;
use crate::record::{Broken, RunFolder};

const SCRIPT: &str = include_str!("page.js");

/// Longer lists are cut, and say so.
const MOST_ROWS: usize = 100;

/// Without scripts, a page reloads itself no sooner than after this many seconds.
const SELDOM: u64 = 30;

/// What is shown.
pub(super) struct Page<'a> {
    pub runs: &'a [RunFolder],
    /// What their folders are called beside each other.
    pub names: &'a [String],
    /// What differs between them.
    pub differences: &'a Differences,
    /// How many trials of each have begun, and finished.
    pub counts: &'a [(usize, usize)],
    /// Journals that are not what was written.
    pub broken: &'a [Broken],
    /// Everything there is to say.
    pub model: &'a Model<'a>,
    /// Everything there is to draw.
    pub figures: &'a [Group],
    /// The files that stand beside the page.
    pub files: &'a [&'a str],
    /// When it was made, where the run goes on.
    pub live: Option<&'a Moment>,
}

pub(super) fn page(page: &Page<'_>) -> String {
    let title = title(page);
    let policy = format!(
        "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'",
        base64(&Sha256::digest(SCRIPT))
    );
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content=(concat!("host ", env!("CARGO_PKG_VERSION")));
                @if let Some(moment) = page.live {
                    // With scripts, the page's own knows when somebody is reading.
                    noscript { meta http-equiv="refresh" content=(moment.next.as_secs().max(SELDOM)); }
                }
                title { (title) }
                style { (PreEscaped(style::sheet(page.figures))) }
            }
            body {
                header {
                    h1 { (title) }
                    (sections::subtitle(page))
                }
                main {
                    (sections::differences(page))
                    (answer::answer(page))
                    (sections::verdict(page))
                    (tables::table(page))
                    @for groups in side_by_side(page.figures) {
                        @match groups {
                            [group] => (figures(group)),
                            groups => div class="panels" { @for group in groups { (figures(group)) } },
                        }
                    }
                    (evaluations::predictions(page))
                    (tables::turns(page))
                    (tables::notes(page))
                    (tables::shadows(page))
                    (tables::comparisons(page))
                    (answer::best_points(page))
                    (failures::failures(page))
                    (evaluations::evaluations(page))
                    (sections::what_ran(page))
                }
                footer {
                    p { "Made by host " (env!("CARGO_PKG_VERSION")) " from the journals of the run." }
                    @if !page.files.is_empty() {
                        p {
                            "Beside this page: "
                            @for (i, file) in page.files.iter().enumerate() { @if i > 0 { ", " } (link(file)) }
                            @if page.live.is_none() { ", " (link("figures/")) " (SVG and PNG)" }
                            "."
                        }
                    }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// A file beside the page.
fn link(file: &str) -> Markup {
    html! { a href=(file) { (file) } }
}

fn title(page: &Page<'_>) -> String {
    let mut names: Vec<&str> = Vec::new();
    for run in page.runs {
        if !names.contains(&run.experiment.as_str()) {
            names.push(&run.experiment);
        }
    }
    svg::printable(&names.join(", "))
}

/// The groups in their order; those of a single panel share a row with the next.
fn side_by_side(groups: &[Group]) -> impl Iterator<Item = &[Group]> {
    groups.chunk_by(|a, b| a.panels.len() == 1 && b.panels.len() == 1)
}

/// A group's switches and panels.
fn figures(group: &Group) -> Markup {
    let heading = match group.id {
        "values" => "What the methods found",
        "afo" => "How the solvers compare: time and AF values",
        "improvement" => "How the solvers compare: on the same problems",
        "models" => "What the models know",
        _ => "Time",
    };
    html! {
        section id=(group.id) data-group=(group.id) {
            h2 { (heading) }
            @if group.names.len() > 1 {
                fieldset {
                    legend { "Show " (group.what) }
                    @for (key, name) in group.names.iter().enumerate() {
                        label {
                            input type="checkbox" checked id=(format!("{}-s{key}", group.id)) data-key=(key);
                            (style::swatch(key)) (svg::printable(name))
                        }
                    }
                }
            }
            div class="panels" {
                @for panel in &group.panels {
                    @let wide = panel.views.iter().any(|view| view.figures.len() > 1);
                    div id=(format!("panel-{}", panel.id)) class=[wide.then_some("wide")] {
                        h3 { (panel.title) }
                        p class="caption" { (panel.caption) }
                        @if panel.views.len() > 1 {
                            fieldset {
                                legend { "Axis" }
                                @for (i, view) in panel.views.iter().enumerate() {
                                    label {
                                        input type="radio" name=(format!("view-{}", panel.id))
                                            id=(format!("{}-v{i}", panel.id)) checked[i == 0];
                                        (view.label)
                                    }
                                }
                            }
                        }
                        @for (i, view) in panel.views.iter().enumerate() {
                            div class={ "view v" (i) @if panel.views.len() == 1 { " only" } } {
                                @for (j, figure) in view.figures.iter().enumerate() {
                                    figure { (svg::element(&figure.scene, &format!("{}-{i}-{j}", panel.id))) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word =
            chunk.iter().enumerate().fold(0_u32, |word, (i, &byte)| word | u32::from(byte) << (16 - 8 * i));
        for i in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * i)) as usize & 63];
            text.push(if i <= chunk.len() { letter.into() } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_rfc() {
        // RFC 4648, section 10.
        let pairs = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (plain, coded) in pairs {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }
}
