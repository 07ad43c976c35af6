//! A scene as SVG. Colours stand in the elements, for a paper, and in classes, for a page with a style of its own.

use maud::{Markup, html};

use super::colours;
use super::scene::{Anchor, Colour, Item, Scene, Shape};

/// The scene as an element for a page, whose ids begin with `id`.
pub(crate) fn element(scene: &Scene, id: &str) -> Markup {
    let (title, description) = (format!("{id}-title"), format!("{id}-description"));
    let hover = (!scene.hover.is_empty()).then_some(scene.hover.as_str());
    html! {
        svg xmlns="http://www.w3.org/2000/svg" role="img" id=(id) class="figure"
            aria-labelledby=(format!("{title} {description}")) data-hover=[hover]
            viewBox=(format!("0 0 {} {}", short(scene.width), short(scene.height)))
            width=(short(scene.width)) height=(short(scene.height)) font-family="DejaVu Sans, Verdana, sans-serif" {
            title id=(title) { (printable(&scene.title)) }
            desc id=(description) { (printable(&scene.description)) }
            @for item in &scene.items { (group(item)) }
        }
    }
}

/// The scene without a name: a piece of decoration.
pub(crate) fn bare(scene: &Scene) -> Markup {
    html! {
        svg viewBox=(format!("0 0 {} {}", short(scene.width), short(scene.height)))
            width=(short(scene.width)) height=(short(scene.height)) {
            @for item in &scene.items { (group(item)) }
        }
    }
}

pub(crate) fn file(scene: &Scene) -> String {
    let element = element(scene, "figure").into_string();
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{element}\n")
}

fn group(item: &Item) -> Markup {
    let class = item.series.map(|series| format!("series s{series}"));
    let tip = item.tip.as_deref().map(printable);
    html! {
        g class=[class] data-tip=[tip.as_deref()] {
            @if let Some(tip) = &tip { title { (tip) } }
            @for shape in &item.shapes { (one(shape)) }
        }
    }
}

fn one(shape: &Shape) -> Markup {
    match shape {
        Shape::Line { points, colour, width, dash } => {
            let dash = dash.iter().map(|length| short(*length)).collect::<Vec<_>>().join(" ");
            html! {
                polyline points=(list(points)) fill="none" class=(format!("line-{}", colours::name(*colour)))
                    stroke=(hex(*colour)) stroke-width=(short(*width)) stroke-linejoin="round"
                    stroke-dasharray=[(!dash.is_empty()).then_some(dash)] {}
            }
        }
        Shape::Area { points, colour, opacity } => html! {
            polygon points=(list(points)) class=(format!("fill-{}", colours::name(*colour)))
                fill=(hex(*colour)) fill-opacity=[(*opacity < 1.0).then(|| short(*opacity))] {}
        },
        Shape::Dots { points, radius, colour, opacity } => {
            let r = short(*radius);
            let dot = |(x, y): &(f64, f64)| {
                format!("M{},{}l{r},{r} -{r},{r} -{r},-{r}z", short(*x), short(*y - radius))
            };
            html! {
                path d=(points.iter().map(dot).collect::<String>()) class=(format!("fill-{}", colours::name(*colour)))
                    fill=(hex(*colour)) fill-opacity=(short(*opacity)) {}
            }
        }
        Shape::Marker { points, colour } => html! {
            polygon points=(list(points)) fill=(hex(*colour)) stroke=(hex(Colour::Paper)) stroke-width="1"
                class=(format!("line-paper fill-{}", colours::name(*colour))) {}
        },
        Shape::Text { at: (x, y), text, anchor, size, colour, upwards } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let turn = upwards.then(|| format!("rotate(-90 {} {})", short(*x), short(*y)));
            html! {
                text x=(short(*x)) y=(short(*y)) text-anchor=(anchor) font-size=(short(*size))
                    class=(format!("fill-{}", colours::name(*colour))) fill=(hex(*colour)) transform=[turn] {
                    (printable(text))
                }
            }
        }
    }
}

fn hex(colour: Colour) -> String {
    format!("#{:06X}", colours::rgb(colour, false))
}

fn list(points: &[(f64, f64)]) -> String {
    let point = |(x, y): &(f64, f64)| format!("{},{}", short(*x), short(*y));
    points.iter().map(point).collect::<Vec<_>>().join(" ")
}

/// A tenth of a pixel is enough.
fn short(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// Text without the characters that no XML file may hold, and none that turns the direction of its neighbours.
pub(crate) fn printable(text: &str) -> String {
    let kept = |c: char| match c {
        '\n' | '\t' => ' ',
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FFFE}' | '\u{FFFF}' => '\u{FFFD}',
        c if c.is_control() => '\u{FFFD}',
        c => c,
    };
    text.chars().map(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_stay_text() {
        let scene = Scene {
            width: 10.0,
            height: 10.0,
            title: "</title><script>alert(1)</script>".to_owned(),
            description: "a \u{1} b \u{202E}c".to_owned(),
            hover: "{\"a\": \"<\"}".to_owned(),
            items: vec![Item {
                series: Some(0),
                tip: Some("\" onload=\"alert(1)".to_owned()),
                shapes: vec![Shape::text((0.0, 0.0), "<b>&amp;</b>", Anchor::Start)],
            }],
        };
        let text = file(&scene);
        assert!(!text.contains("<script"), "{text}");
        assert!(!text.contains("\" onload=\""), "{text}");
        assert!(text.contains("&lt;b&gt;&amp;amp;&lt;/b&gt;"), "{text}");
        assert!(text.contains("a \u{FFFD} b \u{FFFD}c"), "{text}");
    }
}
