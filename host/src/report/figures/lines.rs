//! A figure of lines: values against evaluations or dimensions, with bands.

use serde_json::json;

use super::legend::{self, Entry, shortened};
use super::scale::{Kind, Scale};
use super::scene::{Anchor, Colour, Item, Scene, Shape, dash, marker};
use crate::text::number;

/// How wide figures are: as wide as a telephone shows them, so that words keep their size there.
pub(super) const WIDTH: f64 = 380.0;
const HEIGHT: f64 = 250.0;

/// Lines, and what stands around them.
pub(super) struct Lines {
    /// What it is.
    pub(super) title: String,
    /// What stands above the lines; empty for nothing.
    pub(super) heading: String,
    /// What goes to the right.
    pub(super) x: String,
    /// What goes up.
    pub(super) y: String,
    /// How the horizontal axis is divided.
    pub(super) x_kind: Kind,
    /// How the vertical axis is divided.
    pub(super) y_kind: Kind,
    /// Whether every point has a marker: there are few of them.
    pub(super) markers: bool,
    /// The lines.
    pub(super) series: Vec<Series>,
    /// Up to where the initial design goes.
    pub(super) initial: Option<f64>,
    /// A line at this height, with its name.
    pub(super) level: Option<(f64, String)>,
}

/// A line.
#[derive(Clone)]
pub(super) struct Series {
    /// Which colour, dashes and marker it has.
    pub(super) key: usize,
    pub(super) name: String,
    /// Its points, from left to right.
    pub(super) points: Vec<Value>,
}

/// A point of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    /// Where.
    pub(super) x: f64,
    /// How high.
    pub(super) y: f64,
    /// The ends of its interval.
    pub(super) interval: Option<(f64, f64)>,
}

/// The figure as a scene.
pub(super) fn draw(lines: &Lines) -> Scene {
    let all = || lines.series.iter().flat_map(|series| &series.points);
    let heights =
        all().flat_map(|point| [Some(point.y), point.interval.map(|i| i.0), point.interval.map(|i| i.1)]);
    let heights = heights.flatten().chain(lines.level.as_ref().map(|(level, _)| *level));
    let top = if lines.heading.is_empty() { 14.0 } else { 30.0 };
    let y = Scale::over(lines.y_kind, heights, HEIGHT - 42.0, top);
    let ticks = y.ticks(5);
    let left = 26.0 + ticks.iter().map(|(_, text)| super::png::width(text, 11.0)).fold(16.0, f64::max);
    let x = horizontal(lines, left, WIDTH - 14.0);
    let mut items = Vec::new();
    let mut frame = Vec::new();
    if !lines.heading.is_empty() {
        frame.push(heading(&lines.heading, left));
    }
    if let Some(initial) = lines.initial {
        let (begin, end) = (left, x.at(initial));
        let corners = vec![(begin, top), (end, top), (end, HEIGHT - 42.0), (begin, HEIGHT - 42.0)];
        frame.push(Shape::Area { points: corners, colour: Colour::Grid, opacity: 0.55 });
        if end - begin > 80.0 {
            frame.push(small(((begin + end) / 2.0, top + 12.0), "initial design", Anchor::Middle));
        }
    }
    for (value, text) in &ticks {
        let place = y.at(*value);
        frame.push(Shape::segment((left, place), (WIDTH - 14.0, place), Colour::Grid));
        frame.push(small((left - 6.0, place + 4.0), text, Anchor::End));
    }
    let base = HEIGHT - 42.0;
    frame.push(Shape::segment((left, base), (WIDTH - 14.0, base), Colour::Muted));
    for (value, text) in horizontal_ticks(lines, &x) {
        let place = x.at(value);
        frame.push(Shape::segment((place, base), (place, base + 4.0), Colour::Muted));
        frame.push(small((place, base + 17.0), &text, Anchor::Middle));
    }
    frame.push(below((left + WIDTH - 14.0) / 2.0, HEIGHT - 8.0, &lines.x));
    frame.push(Shape::Text {
        at: (13.0, (top + base) / 2.0),
        text: shortened(&lines.y, base - top + 30.0),
        anchor: Anchor::Middle,
        size: 11.0,
        colour: Colour::Ink,
        upwards: true,
    });
    if let Some((level, name)) = &lines.level {
        let place = y.at(*level);
        let points = vec![(left, place), (WIDTH - 14.0, place)];
        frame.push(Shape::Line { points, colour: Colour::Ink, width: 1.0, dash: &[3.0, 3.0] });
        frame.push(small((WIDTH - 16.0, place - 4.0), name, Anchor::End));
    }
    items.push(Item::plain(frame));
    // All bands first: no band hides a line.
    items.extend(lines.series.iter().filter_map(|series| band(series, &x, &y)));
    items.extend(lines.series.iter().map(|series| line(series, &x, &y, lines.markers)));
    let entries: Vec<Entry> = lines
        .series
        .iter()
        .map(|series| Entry { key: series.key, name: series.name.clone(), markers: lines.markers })
        .collect();
    let (legend, height) = legend::draw(&entries, WIDTH, HEIGHT + 4.0);
    items.extend(legend);
    Scene {
        width: WIDTH,
        height,
        title: lines.title.clone(),
        description: description(lines),
        items,
        hover: hover(lines, &x, &y, top),
    }
}

/// The title of one figure among others.
pub(super) fn heading(text: &str, left: f64) -> Shape {
    Shape::Text {
        at: (left, 16.0),
        text: shortened(text, (WIDTH - left - 4.0) * 11.0 / 12.0),
        anchor: Anchor::Start,
        size: 12.0,
        colour: Colour::Ink,
        upwards: false,
    }
}

/// What an axis shows: below its middle, or as far from there as it takes to fit on the page.
pub(super) fn below(middle: f64, y: f64, text: &str) -> Shape {
    let text = shortened(text, WIDTH - 8.0);
    let half = super::png::width(&text, 11.0) / 2.0;
    Shape::text((middle.min(WIDTH - 4.0 - half).max(half + 4.0), y), text, Anchor::Middle)
}

/// Words that matter less.
pub(super) fn small(at: (f64, f64), text: &str, anchor: Anchor) -> Shape {
    Shape::Text { at, text: text.to_owned(), anchor, size: 11.0, colour: Colour::Muted, upwards: false }
}

fn horizontal(lines: &Lines, left: f64, right: f64) -> Scale {
    let places: Vec<f64> =
        lines.series.iter().flat_map(|series| &series.points).map(|point| point.x).collect();
    let low = places.iter().copied().fold(f64::INFINITY, f64::min);
    let high = places.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if lines.markers || low >= high {
        Scale::over(lines.x_kind, places.into_iter(), left, right)
    } else {
        Scale::exact(lines.x_kind, low.min(1.0), high, left, right)
    }
}

/// Few places are written themselves; of many, round ones.
fn horizontal_ticks(lines: &Lines, x: &Scale) -> Vec<(f64, String)> {
    let mut places: Vec<f64> =
        lines.series.iter().flat_map(|series| &series.points).map(|point| point.x).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    if !lines.markers || places.len() > 8 {
        return x.ticks(7);
    }
    let mut ticks: Vec<(f64, String)> = Vec::new();
    for place in places {
        if ticks.last().is_none_or(|(last, _)| x.at(place) - x.at(*last) > 24.0) {
            ticks.push((place, place.to_string()));
        }
    }
    ticks
}

fn band(series: &Series, x: &Scale, y: &Scale) -> Option<Item> {
    let ends: Vec<(f64, f64, f64)> = series
        .points
        .iter()
        .filter_map(|p| p.interval.map(|(low, high)| (x.at(p.x), y.at(low), y.at(high))))
        .collect();
    if ends.len() < 2 {
        return None;
    }
    let lower = ends.iter().map(|&(x, low, _)| (x, low));
    let points = lower.chain(ends.iter().rev().map(|&(x, _, high)| (x, high))).collect();
    Some(Item::of(
        series.key,
        vec![Shape::Area { points, colour: Colour::Series(series.key), opacity: 0.16 }],
    ))
}

fn line(series: &Series, x: &Scale, y: &Scale, markers: bool) -> Item {
    let colour = Colour::Series(series.key);
    let places: Vec<(f64, f64)> = series.points.iter().map(|point| (x.at(point.x), y.at(point.y))).collect();
    let mut shapes = vec![Shape::Line { points: places.clone(), colour, width: 2.0, dash: dash(series.key) }];
    if markers {
        shapes.extend(places.into_iter().map(|place| marker(series.key, place, 4.0)));
    }
    Item::of(series.key, shapes)
}

/// What it shows, in words.
fn description(lines: &Lines) -> String {
    let series = lines.series.iter().filter_map(|series| {
        let (first, last) = (series.points.first()?, series.points.last()?);
        let from = format!("{} at {}", number(Some(first.y)), first.x);
        let to = format!("{} at {}", number(Some(last.y)), last.x);
        Some(format!("{}: from {from} to {to}", series.name))
    });
    let series: Vec<String> = series.collect();
    format!("{} against {}. {}.", lines.y, lines.x, series.join("; "))
}

/// What a pointer finds: places in pixels, and values.
fn hover(lines: &Lines, x: &Scale, y: &Scale, top: f64) -> String {
    let four = |value: f64| -> serde_json::Value {
        format!("{value:.4e}").parse::<f64>().map_or(serde_json::Value::Null, Into::into)
    };
    let pixel = |value: f64| (value * 10.0).round() / 10.0;
    let series: Vec<_> = lines
        .series
        .iter()
        .map(|series| {
            let points: Vec<_> = series
                .points
                .iter()
                .map(|p| match p.interval {
                    Some((low, high)) => {
                        json!([
                            pixel(x.at(p.x)),
                            pixel(y.at(p.y)),
                            four(p.x),
                            four(p.y),
                            four(low),
                            four(high)
                        ])
                    }
                    None => json!([pixel(x.at(p.x)), pixel(y.at(p.y)), four(p.x), four(p.y)]),
                })
                .collect();
            json!({ "k": series.key, "name": series.name, "points": points })
        })
        .collect();
    json!({ "x": lines.x, "top": top, "bottom": HEIGHT - 42.0, "series": series }).to_string()
}
