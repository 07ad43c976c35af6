//! What a figure is made of, before it is SVG or PNG.

/// A figure: shapes on a page of this size.
pub(crate) struct Scene {
    /// Width in pixels.
    pub width: f64,
    /// Height in pixels.
    pub height: f64,
    /// What it is, for people who do not see it.
    pub title: String,
    /// What it shows, for them.
    pub description: String,
    /// The shapes, the lowest first.
    pub items: Vec<Item>,
    /// What a pointer over the figure shows, as JSON; empty where shapes speak for themselves.
    pub hover: String,
}

/// Shapes that belong together.
pub(crate) struct Item {
    /// The series they show, which can be switched off; `None` for axes.
    pub series: Option<usize>,
    /// What they say when pointed at.
    pub tip: Option<String>,
    pub shapes: Vec<Shape>,
}

/// A colour by what it is for: a page in the dark has others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    /// Words and axes.
    Ink,
    /// Words that matter less.
    Muted,
    /// Lines of the grid.
    Grid,
    /// Behind everything.
    Paper,
    Series(usize),
    /// That of a phase of a trial.
    Phase(usize),
}

pub(crate) enum Shape {
    /// A line through points.
    Line {
        points: Vec<(f64, f64)>,
        colour: Colour,
        width: f64,
        /// Lengths of dashes and gaps; none for a whole line.
        dash: &'static [f64],
    },
    /// A filled polygon.
    Area {
        /// Its corners.
        points: Vec<(f64, f64)>,
        colour: Colour,
        /// How much it covers.
        opacity: f64,
    },
    /// Small diamonds, many of them in one element.
    Dots {
        /// Their middles.
        points: Vec<(f64, f64)>,
        /// From the middle to a corner.
        radius: f64,
        colour: Colour,
        /// How much they cover.
        opacity: f64,
    },
    /// A filled polygon with a border in the colour of the paper: markers.
    Marker {
        /// Its corners.
        points: Vec<(f64, f64)>,
        colour: Colour,
    },
    /// Words.
    Text {
        /// Where they begin, end or have their middle, on the base line.
        at: (f64, f64),
        /// The words.
        text: String,
        /// Which of the three.
        anchor: Anchor,
        /// Their height.
        size: f64,
        colour: Colour,
        /// Whether they run upwards.
        upwards: bool,
    },
}

/// Which part of a text is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// Its beginning.
    Start,
    Middle,
    End,
}

impl Item {
    /// Shapes of no series.
    pub(crate) fn plain(shapes: Vec<Shape>) -> Self {
        Self { series: None, tip: None, shapes }
    }

    pub(crate) fn of(series: usize, shapes: Vec<Shape>) -> Self {
        Self { series: Some(series), tip: None, shapes }
    }
}

impl Shape {
    /// A thin line between two points.
    pub(crate) fn segment(from: (f64, f64), to: (f64, f64), colour: Colour) -> Self {
        Self::Line { points: vec![from, to], colour, width: 1.0, dash: &[] }
    }

    /// Words of the usual size.
    pub(crate) fn text(at: (f64, f64), text: impl Into<String>, anchor: Anchor) -> Self {
        Self::Text { at, text: text.into(), anchor, size: 11.0, colour: Colour::Ink, upwards: false }
    }
}

/// The dashes of a series: lines differ without colour too.
pub(crate) fn dash(series: usize) -> &'static [f64] {
    const DASHES: [&[f64]; 5] = [&[], &[7.0, 3.0], &[2.0, 2.5], &[9.0, 3.0, 2.0, 3.0], &[4.0, 2.0]];
    DASHES[series % DASHES.len()]
}

/// The marker of a series: a shape of its own, centred at a point.
pub(crate) fn marker(series: usize, (x, y): (f64, f64), radius: f64) -> Shape {
    let polygon = |corners: usize, turn: f64, radius: f64| {
        let corner = |i: usize| {
            let angle = std::f64::consts::TAU * (i as f64 / corners as f64 + turn);
            (x + radius * libm::sin(angle), y - radius * libm::cos(angle))
        };
        (0..corners).map(corner).collect::<Vec<_>>()
    };
    let points = match series % 6 {
        0 => polygon(20, 0.0, radius),
        1 => polygon(4, 0.125, 1.25 * radius),
        2 => polygon(3, 0.0, 1.35 * radius),
        3 => polygon(4, 0.0, 1.35 * radius),
        4 => polygon(3, 0.5, 1.35 * radius),
        _ => polygon(5, 0.0, 1.2 * radius),
    };
    Shape::Marker { points, colour: Colour::Series(series) }
}
