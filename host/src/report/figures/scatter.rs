//! A figure of dots: one for each evaluation or prediction.

use super::axes::{Axes, BASE, WIDTH};
use super::legend::{self, Entry};
use super::scale::Scale;
use super::scene::{Colour, Item, Scene, Shape};

/// Dots, and what stands around them.
pub(super) struct Scatter {
    pub(super) title: String,
    /// What stands above; empty for nothing.
    pub(super) heading: String,
    /// What goes to the right, and up.
    pub(super) x: String,
    pub(super) y: String,
    pub(super) x_scale: fn(&[f64], f64, f64) -> Scale,
    pub(super) y_scale: fn(&[f64], f64, f64) -> Scale,
    pub(super) clouds: Vec<Cloud>,
    /// Up to where the initial design goes.
    pub(super) initial: Option<f64>,
    /// Whether a line stands where both axes have the same value.
    pub(super) diagonal: bool,
    /// What it shows, in words.
    pub(super) description: String,
}

/// Dots of one colour.
pub(super) struct Cloud {
    pub(super) key: usize,
    pub(super) name: String,
    /// Faint ones, of the initial design; then those of the search.
    pub(super) faint: Vec<(f64, f64)>,
    pub(super) dots: Vec<(f64, f64)>,
    /// Where on the horizontal axis something has no value.
    pub(super) without: Vec<f64>,
    /// What it says when pointed at.
    pub(super) tip: String,
}

/// The figure as a scene.
pub(super) fn draw(scatter: &Scatter) -> Scene {
    let all = || scatter.clouds.iter().flat_map(|cloud| cloud.faint.iter().chain(&cloud.dots));
    let without = scatter.clouds.iter().flat_map(|cloud| &cloud.without).copied();
    let places: Vec<f64> = all().map(|dot| dot.0).chain(without).collect();
    let heights: Vec<f64> = all().map(|dot| dot.1).collect();
    // Both axes show the same where they are held against each other.
    let (places, heights) = match scatter.diagonal {
        true => ([&places[..], &heights[..]].concat(), [&places[..], &heights[..]].concat()),
        false => (places, heights),
    };
    let axes = Axes::new(
        &scatter.heading,
        scatter.initial,
        |from, to| (scatter.x_scale)(&places, from, to),
        |from, to| (scatter.y_scale)(&heights, from, to),
    );
    let mut frame = scatter.initial.map(|end| axes.initial(end)).unwrap_or_default();
    frame.extend(axes.frame(&scatter.heading, &scatter.x, &scatter.y, &axes.x.ticks(5)));
    if scatter.diagonal {
        let (low, high) = axes.x.ends();
        let at = |value: f64| (axes.x.at(value), axes.y.at(value));
        let points = vec![at(low), at(high)];
        frame.push(Shape::Line { points, colour: Colour::Ink, width: 1.0, dash: &[3.0, 3.0] });
    }
    let mut items = vec![Item::plain(frame)];
    for cloud in &scatter.clouds {
        let colour = Colour::Series(cloud.key);
        let place = |dots: &[(f64, f64)]| dots.iter().map(|&(x, y)| (axes.x.at(x), axes.y.at(y))).collect();
        let without = cloud.without.iter().map(|&x| (axes.x.at(x), BASE - 3.0)).collect();
        let mut shapes = Vec::new();
        for (points, radius, opacity) in
            [(place(&cloud.faint), 2.2, 0.35), (place(&cloud.dots), 2.6, 0.75), (without, 2.6, 0.35)]
        {
            let points: Vec<(f64, f64)> = points;
            if !points.is_empty() {
                shapes.push(Shape::Dots { points, radius, colour, opacity });
            }
        }
        items.push(Item { series: Some(cloud.key), tip: Some(cloud.tip.clone()), shapes });
    }
    let entry =
        |cloud: &Cloud| Entry { key: cloud.key, name: cloud.name.clone(), markers: false, line: false };
    let entries: Vec<Entry> = scatter.clouds.iter().map(entry).collect();
    let (legend, height) = legend::draw(&entries, WIDTH, super::axes::HEIGHT + 4.0);
    items.extend(legend);
    Scene {
        width: WIDTH,
        height,
        title: scatter.title.clone(),
        description: scatter.description.clone(),
        items,
        hover: String::new(),
    }
}
