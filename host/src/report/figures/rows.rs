//! Figures with a row for each method: dots with their mean, or bars of parts.

use super::axes::{WIDTH, below, heading, small};
use super::legend::shortened;
use super::scale::{Kind, Scale};
use super::scene::{Anchor, Colour, Item, Scene, Shape, marker};
use crate::text::{number, time};

/// More dots than this say nothing more.
const MOST_DOTS: usize = 150;

/// A row of dots: one a trial, and their mean.
pub(super) struct Dots {
    /// Which colour and marker it has.
    pub(super) key: usize,
    pub(super) name: String,
    /// One value each; none where only the mean is known.
    pub(super) values: Vec<f64>,
    pub(super) mean: Option<f64>,
    /// The ends of its interval.
    pub(super) interval: Option<(f64, f64)>,
    /// What it says when pointed at.
    pub(super) tip: String,
}

/// What a mean over trials says when pointed at.
pub(super) fn tip(name: &str, mean: Option<f64>, interval: Option<(f64, f64)>, trials: usize) -> String {
    let interval = interval.map(|(low, high)| (number(Some(low)), number(Some(high))));
    let interval = interval.map(|(low, high)| format!(", 95 % interval {low} to {high}")).unwrap_or_default();
    let trials = if trials == 1 { "1 trial".to_owned() } else { format!("{trials} trials") };
    format!("{name}: mean {}{interval}, {trials}", number(mean))
}

/// What stands around rows.
pub(super) struct Around<'a> {
    /// What it is.
    pub(super) title: &'a str,
    /// What stands above; empty for nothing.
    pub(super) heading: &'a str,
    /// What goes to the right.
    pub(super) x: &'a str,
    /// How it is divided.
    pub(super) kind: Kind,
    /// A value that rows are held against.
    pub(super) level: Option<f64>,
}

pub(super) fn dots(around: &Around<'_>, rows: &[Dots]) -> Scene {
    let values = rows.iter().flat_map(|row| {
        let ends = row.interval.map(|(low, high)| [low, high]).into_iter().flatten();
        row.values.iter().copied().chain(row.mean).chain(ends)
    });
    let values = values.chain(around.level);
    let names: Vec<Vec<String>> = rows.iter().map(|row| in_lines(&row.name)).collect();
    let left = left(&names.concat());
    let top = top(around);
    let scale = Scale::over(around.kind, values, left, WIDTH - 18.0);
    let lines = names.iter().map(Vec::len).max().unwrap_or(1);
    let row_height = height_of_row(rows.len(), lines);
    let (mut items, height) = frame(around, &scale, left, top, row_height * rows.len() as f64);
    for (i, (row, name)) in rows.iter().zip(&names).enumerate() {
        let y = top + row_height * (i as f64 + 0.5);
        let colour = Colour::Series(row.key);
        let mut shapes: Vec<Shape> = name
            .iter()
            .enumerate()
            .map(|(line, text)| {
                let down = 4.0 + 12.0 * (line as f64 - (name.len() - 1) as f64 / 2.0);
                Shape::text((left - 8.0, y + down), text, Anchor::End)
            })
            .collect();
        let every = row.values.len().div_ceil(MOST_DOTS).max(1);
        let dots = row.values.iter().step_by(every).enumerate().map(|(place, value)| {
            // Equal values stand above each other, not behind.
            (scale.at(*value), y + [-5.0, 0.0, 5.0, -2.5, 2.5][place % 5])
        });
        shapes.push(Shape::Dots { points: dots.collect(), radius: 3.0, colour, opacity: 0.6 });
        if let Some((low, high)) = row.interval {
            let points = vec![(scale.at(low), y), (scale.at(high), y)];
            shapes.push(Shape::Line { points, colour, width: 3.0, dash: &[] });
        }
        if let Some(mean) = row.mean {
            shapes.push(marker(row.key, (scale.at(mean), y), 6.0));
        }
        items.push(Item { series: Some(row.key), tip: Some(row.tip.clone()), shapes });
    }
    scene(around, items, height)
}

/// A bar in parts.
pub(super) struct Bar {
    pub(super) name: String,
    /// Its parts, one a phase.
    pub(super) parts: Vec<f64>,
}

/// Stacked bars of seconds.
pub(super) fn bars(around: &Around<'_>, phases: &[&str], rows: &[Bar]) -> Scene {
    let names: Vec<String> = rows.iter().map(|row| shortened(&row.name, 160.0)).collect();
    let left = left(&names);
    let top = top(around);
    let longest = rows.iter().map(|row| row.parts.iter().sum::<f64>()).fold(0.0, f64::max);
    let scale =
        Scale::exact(Kind::Linear, 0.0, if longest > 0.0 { longest } else { 1.0 }, left, WIDTH - 18.0);
    let row_height = height_of_row(rows.len(), 1);
    let (mut items, height) = frame(around, &scale, left, top, row_height * rows.len() as f64);
    for (i, (row, name)) in rows.iter().zip(&names).enumerate() {
        let y = top + row_height * (i as f64 + 0.5);
        items.push(Item::plain(vec![Shape::text((left - 8.0, y + 4.0), name, Anchor::End)]));
        let mut begin = 0.0;
        for (phase, seconds) in row.parts.iter().enumerate() {
            let (from, to) = (scale.at(begin), scale.at(begin + seconds));
            begin += seconds;
            let to = (to - 0.6).max(from);
            let points = vec![(from, y - 9.0), (to, y - 9.0), (to, y + 9.0), (from, y + 9.0)];
            let tip = Some(format!("{}, {}: {} a trial", row.name, phases[phase], time(Some(*seconds))));
            let shapes = vec![Shape::Area { points, colour: Colour::Phase(phase), opacity: 1.0 }];
            items.push(Item { series: None, tip, shapes });
        }
    }
    let mut x = 14.0;
    let y = height + 6.0;
    for (phase, name) in phases.iter().enumerate() {
        let points = vec![(x, y - 9.0), (x + 14.0, y - 9.0), (x + 14.0, y + 2.0), (x, y + 2.0)];
        let swatch = Shape::Area { points, colour: Colour::Phase(phase), opacity: 1.0 };
        items.push(Item::plain(vec![swatch, Shape::text((x + 19.0, y), *name, Anchor::Start)]));
        x += 19.0 + super::png::width(name, 11.0) + 16.0;
    }
    scene(around, items, height + 16.0)
}

/// Many rows stand closer together, as far as the lines of their names let them.
fn height_of_row(rows: usize, lines: usize) -> f64 {
    if rows > 10 && lines == 1 { 25.0 } else { 30.0 }
}

/// A name that fits; one of two parts in two lines where it would not.
fn in_lines(name: &str) -> Vec<String> {
    const ROOM: f64 = 150.0;
    match name.split_once(" & ") {
        Some((first, second)) if super::png::width(name, 11.0) > ROOM => {
            vec![shortened(first, ROOM), format!("& {}", shortened(second, ROOM - 14.0))]
        }
        _ => vec![shortened(name, ROOM)],
    }
}

fn left(names: &[String]) -> f64 {
    18.0 + names.iter().map(|name| super::png::width(name, 11.0)).fold(30.0, f64::max)
}

fn top(around: &Around<'_>) -> f64 {
    if around.heading.is_empty() { 10.0 } else { 28.0 }
}

fn frame(around: &Around<'_>, scale: &Scale, left: f64, top: f64, tall: f64) -> (Vec<Item>, f64) {
    let base = top + tall;
    let mut frame = Vec::new();
    if !around.heading.is_empty() {
        frame.push(heading(around.heading, 14.0));
    }
    let mut last = f64::NEG_INFINITY;
    for (value, text) in scale.ticks(5) {
        let place = scale.at(value);
        frame.push(Shape::segment((place, top), (place, base), Colour::Grid));
        let half = super::png::width(&text, 11.0) / 2.0;
        if place - half > last + 6.0 {
            frame.push(small((place, base + 15.0), &text, Anchor::Middle));
            last = place + half;
        }
    }
    if let Some(level) = around.level {
        let points = vec![(scale.at(level), top), (scale.at(level), base)];
        frame.push(Shape::Line { points, colour: Colour::Ink, width: 1.0, dash: &[3.0, 3.0] });
    }
    frame.push(Shape::segment((left, base), (WIDTH - 18.0, base), Colour::Muted));
    frame.push(below((left + WIDTH - 18.0) / 2.0, base + 33.0, around.x));
    (vec![Item::plain(frame)], base + 42.0)
}

fn scene(around: &Around<'_>, items: Vec<Item>, height: f64) -> Scene {
    let tips: Vec<&str> = items.iter().filter_map(|item| item.tip.as_deref()).collect();
    let description = format!("{}. {}.", around.x, tips.join("; "));
    Scene { width: WIDTH, height, title: around.title.to_owned(), description, items, hover: String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_says_how_many_trials_it_is_over() {
        assert_eq!(tip("psr", Some(2.0), None, 7), "psr: mean 2.0000, 7 trials");
        assert_eq!(
            tip("psr", Some(2.0), Some((1.0, 3.0)), 1),
            "psr: mean 2.0000, 95 % interval 1.0000 to 3.0000, 1 trial"
        );
    }
}
