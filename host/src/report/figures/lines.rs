//! A figure of lines: values against evaluations or dimensions, with bands.

use serde_json::json;

use super::axes::{Axes, HEIGHT, WIDTH, small};
use super::legend::{self, Entry};
use super::scale::{Kind, Scale};
use super::scene::{Anchor, Colour, Item, Scene, Shape, dash, marker};
use crate::text::number;

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
    let axes = Axes::new(
        &lines.heading,
        lines.initial,
        |from, to| horizontal(lines, from, to),
        |from, to| Scale::over(lines.y_kind, heights, from, to),
    );
    let mut frame = lines.initial.map(|end| axes.initial(end)).unwrap_or_default();
    frame.extend(axes.frame(&lines.heading, &lines.x, &lines.y, &horizontal_ticks(lines, &axes.x)));
    let Axes { x, y, left, top, .. } = axes;
    if let Some((level, name)) = &lines.level {
        let place = y.at(*level);
        let points = vec![(left, place), (WIDTH - 14.0, place)];
        frame.push(Shape::Line { points, colour: Colour::Ink, width: 1.0, dash: &[3.0, 3.0] });
        frame.push(small((WIDTH - 16.0, place - 4.0), name, Anchor::End));
    }
    let mut items = vec![Item::plain(frame)];
    // All bands first: no band hides a line.
    items.extend(lines.series.iter().filter_map(|series| band(series, &x, &y)));
    items.extend(lines.series.iter().map(|series| line(series, &x, &y, lines.markers)));
    let entries: Vec<Entry> = lines
        .series
        .iter()
        .map(|series| Entry {
            key: series.key,
            name: series.name.clone(),
            markers: lines.markers,
            line: true,
        })
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

fn horizontal(lines: &Lines, left: f64, right: f64) -> Scale {
    let places: Vec<f64> =
        lines.series.iter().flat_map(|series| &series.points).map(|point| point.x).collect();
    let low = places.iter().copied().fold(f64::INFINITY, f64::min);
    let high = places.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if lines.markers || low >= high {
        Scale::over(lines.x_kind, places.into_iter(), left, right)
    } else {
        let low = if lines.x_kind == Kind::Log { low } else { low.min(1.0) };
        Scale::exact(lines.x_kind, low, high, left, right)
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
