//! Two axes with their ticks and names, as lines and dots have them.

use super::legend::shortened;
use super::scale::Scale;
use super::scene::{Anchor, Colour, Shape};

/// How wide figures are: as wide as a telephone shows them, so that words keep their size there.
pub(super) const WIDTH: f64 = 380.0;
pub(super) const HEIGHT: f64 = 250.0;
/// Where the axes end at the right.
pub(super) const RIGHT: f64 = WIDTH - 14.0;
/// The height of the horizontal axis.
pub(super) const BASE: f64 = HEIGHT - 42.0;

/// From values to pixels, in both directions.
pub(super) struct Axes {
    pub(super) x: Scale,
    pub(super) y: Scale,
    /// Where the horizontal axis begins.
    pub(super) left: f64,
    /// Where the vertical one ends: below the heading.
    pub(super) top: f64,
    ticks: Vec<(f64, String)>,
}

impl Axes {
    /// Scales are made from the pixels where they begin and end; the heading is empty for none. What is drawn leaves room
    /// for the words in the grey part, where there is one.
    pub(super) fn new(
        heading: &str,
        initial: Option<f64>,
        x: impl FnOnce(f64, f64) -> Scale,
        y: impl FnOnce(f64, f64) -> Scale,
    ) -> Self {
        let top = if heading.is_empty() { 14.0 } else { 30.0 };
        let y = y(BASE, if initial.is_some() { top + 18.0 } else { top });
        let ticks = y.ticks(5);
        let left = 26.0 + ticks.iter().map(|(_, text)| super::png::width(text, 11.0)).fold(16.0, f64::max);
        Self { x: x(left, RIGHT), y, left, top, ticks }
    }

    /// The grey part that is the initial design, up to this evaluation.
    pub(super) fn initial(&self, end: f64) -> Vec<Shape> {
        let (begin, end) = (self.left, self.x.at(end));
        let points = vec![(begin, self.top), (end, self.top), (end, BASE), (begin, BASE)];
        let mut shapes = vec![Shape::Area { points, colour: Colour::Grid, opacity: 0.55 }];
        if end - begin > 80.0 {
            shapes.push(small(((begin + end) / 2.0, self.top + 12.0), "initial design", Anchor::Middle));
        }
        shapes
    }

    /// Grid, ticks and names.
    pub(super) fn frame(
        &self,
        heading_words: &str,
        x_name: &str,
        y_name: &str,
        x_ticks: &[(f64, String)],
    ) -> Vec<Shape> {
        let Self { x, y, left, top, ticks } = self;
        let (left, top) = (*left, *top);
        let mut frame = Vec::new();
        if !heading_words.is_empty() {
            frame.push(heading(heading_words, left));
        }
        for (value, text) in ticks {
            let place = y.at(*value);
            frame.push(Shape::segment((left, place), (RIGHT, place), Colour::Grid));
            frame.push(small((left - 6.0, place + 4.0), text, Anchor::End));
        }
        frame.push(Shape::segment((left, BASE), (RIGHT, BASE), Colour::Muted));
        for (value, text) in x_ticks {
            let place = x.at(*value);
            frame.push(Shape::segment((place, BASE), (place, BASE + 4.0), Colour::Muted));
            frame.push(small((place, BASE + 17.0), text, Anchor::Middle));
        }
        frame.push(below((left + RIGHT) / 2.0, HEIGHT - 8.0, x_name));
        frame.push(Shape::Text {
            at: (13.0, (top + BASE) / 2.0),
            text: shortened(y_name, BASE - top + 30.0),
            anchor: Anchor::Middle,
            size: 11.0,
            colour: Colour::Ink,
            upwards: true,
        });
        frame
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
