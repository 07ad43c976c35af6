//! The style sheet: the fixed part, the colours in light and dark, and the switches.

use std::fmt::Write;

use maud::{Markup, html};

use crate::report::figures::{Group, Scene, colours, dash, marker, svg};

/// The whole style sheet.
pub(super) fn sheet(groups: &[Group]) -> String {
    let mut sheet = String::new();
    let variables = |dark: bool| -> String {
        let one = |colour| format!("--{}:#{:06x};", colours::name(colour), colours::rgb(colour, dark));
        colours::all().map(one).collect()
    };
    let _ = writeln!(sheet, ":root{{{}--card:#fafbfc}}", variables(false));
    let _ = writeln!(
        sheet,
        "@media screen and (prefers-color-scheme:dark){{:root{{{}--card:#1c2026}}}}",
        variables(true)
    );
    for colour in colours::all() {
        let name = colours::name(colour);
        let _ = writeln!(sheet, ".fill-{name}{{fill:var(--{name})}}.line-{name}{{stroke:var(--{name})}}");
    }
    sheet += include_str!("style.css");
    for group in groups {
        for key in 0..group.names.len() {
            let id = group.id;
            let _ = writeln!(sheet, "#{id}:has(#{id}-s{key}:not(:checked)) .s{key}{{display:none}}");
        }
        for panel in &group.panels {
            for view in 0..panel.views.len() {
                let id = panel.id;
                let _ = writeln!(sheet, "#panel-{id}:has(#{id}-v{view}:checked) .v{view}{{display:grid}}");
            }
        }
    }
    sheet
}

/// A piece of a series' line.
pub(super) fn swatch(key: usize) -> Markup {
    use crate::report::figures::{Colour, Item, Shape};
    let line = Shape::Line {
        points: vec![(0.0, 6.0), (24.0, 6.0)],
        colour: Colour::Series(key),
        width: 2.5,
        dash: dash(key),
    };
    let scene = Scene {
        width: 24.0,
        height: 12.0,
        title: String::new(),
        description: String::new(),
        items: vec![Item::plain(vec![line, marker(key, (12.0, 6.0), 4.0)])],
        hover: String::new(),
    };
    html! { span class="swatch" aria-hidden="true" { (svg::bare(&scene)) } }
}
