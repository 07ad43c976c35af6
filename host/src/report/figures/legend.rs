//! Which line is whose, below a figure.

use super::png::width;
use super::scene::{Anchor, Colour, Item, Shape, dash, marker};

/// One line of a legend.
pub(super) struct Entry {
    /// Which colour, dashes and marker it has.
    pub(super) key: usize,
    pub(super) name: String,
    /// Whether a marker stands on its line.
    pub(super) markers: bool,
    /// Whether it has a line, and not dots alone.
    pub(super) line: bool,
}

const ROW: f64 = 18.0;

/// The legend from `top` downwards, and where it ends.
pub(super) fn draw(entries: &[Entry], page: f64, top: f64) -> (Vec<Item>, f64) {
    let mut items = Vec::new();
    let (mut x, mut y) = (14.0, top + 10.0);
    for entry in entries {
        let name = shortened(&entry.name, page - 70.0);
        let length = 32.0 + width(&name, 11.0) + 18.0;
        if x > 14.0 && x + length > page {
            (x, y) = (14.0, y + ROW);
        }
        let points = vec![(x, y - 4.0), (x + 26.0, y - 4.0)];
        let colour = Colour::Series(entry.key);
        let mut shapes = Vec::new();
        if entry.line {
            shapes.push(Shape::Line { points, colour, width: 2.0, dash: dash(entry.key) });
        } else {
            let points = [4.0, 13.0, 22.0].map(|right| (x + right, y - 4.0)).to_vec();
            shapes.push(Shape::Dots { points, radius: 3.0, colour, opacity: 0.75 });
        }
        if entry.markers {
            shapes.push(marker(entry.key, (x + 13.0, y - 4.0), 4.0));
        }
        shapes.push(Shape::text((x + 32.0, y), name, Anchor::Start));
        items.push(Item::of(entry.key, shapes));
        x += length;
    }
    let end = if entries.is_empty() { top } else { y + 8.0 };
    (items, end)
}

/// A name that fits.
pub(super) fn shortened(name: &str, room: f64) -> String {
    if width(name, 11.0) <= room {
        return name.to_owned();
    }
    let mut short: Vec<char> = name.chars().collect();
    while !short.is_empty() && width(&short.iter().collect::<String>(), 11.0) > room - 10.0 {
        short.pop();
    }
    short.into_iter().collect::<String>() + "…"
}
