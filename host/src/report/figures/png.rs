//! A scene as PNG, for slides. Words are drawn with a font in the binary, so that no system has to have one.

use tiny_skia::{FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, Stroke, StrokeDash, Transform};
use ttf_parser::{Face, OutlineBuilder};

use super::colours;
use super::scene::{Anchor, Colour, Scene, Shape};

/// Pixels of the file for each of the scene.
const SCALE: f32 = 2.5;

pub(crate) fn file(scene: &Scene) -> Option<Vec<u8>> {
    let size = |length: f64| (length as f32 * SCALE).ceil() as u32;
    let mut pixmap = Pixmap::new(size(scene.width), size(scene.height))?;
    pixmap.fill(paint(Colour::Paper, 1.0).shader_colour());
    let face = face();
    for shape in scene.items.iter().flat_map(|item| &item.shapes) {
        draw(shape, &face, &mut pixmap);
    }
    pixmap.encode_png().ok()
}

/// How wide a text is.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let face = face();
    text.chars().map(|c| advance(&face, c) * size).sum()
}

fn face() -> Face<'static> {
    Face::parse(dejavu::sans::regular(), 0).expect("the font of the crate can be read")
}

/// The width of a character of height 1.
fn advance(face: &Face<'_>, c: char) -> f64 {
    let glyph = face.glyph_index(c).unwrap_or_default();
    f64::from(face.glyph_hor_advance(glyph).unwrap_or_default()) / f64::from(face.units_per_em())
}

struct Ink {
    paint: Paint<'static>,
    colour: tiny_skia::Color,
}

impl Ink {
    fn shader_colour(&self) -> tiny_skia::Color {
        self.colour
    }
}

fn paint(colour: Colour, opacity: f64) -> Ink {
    let [_, r, g, b] = colours::rgb(colour, false).to_be_bytes();
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    let colour = tiny_skia::Color::from_rgba8(r, g, b, (255.0 * opacity).round() as u8);
    paint.set_color(colour);
    Ink { paint, colour }
}

fn draw(shape: &Shape, face: &Face<'_>, pixmap: &mut Pixmap) {
    let scale = Transform::from_scale(SCALE, SCALE);
    match shape {
        Shape::Line { points, colour, width, dash } => {
            let Some(path) = path(points, false) else { return };
            let mut stroke = Stroke { width: *width as f32, line_join: LineJoin::Round, ..Stroke::default() };
            stroke.dash = dash_of(dash);
            pixmap.stroke_path(&path, &paint(*colour, 1.0).paint, &stroke, scale, None);
        }
        Shape::Area { points, colour, opacity } => {
            let Some(path) = path(points, true) else { return };
            pixmap.fill_path(&path, &paint(*colour, *opacity).paint, FillRule::Winding, scale, None);
        }
        Shape::Dots { points, radius, colour, opacity } => {
            let ink = paint(*colour, *opacity).paint;
            for &(x, y) in points {
                let corners = [(x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y)];
                let Some(path) = path(&corners, true) else { continue };
                pixmap.fill_path(&path, &ink, FillRule::Winding, scale, None);
            }
        }
        Shape::Marker { points, colour } => {
            let Some(path) = path(points, true) else { return };
            pixmap.fill_path(&path, &paint(*colour, 1.0).paint, FillRule::Winding, scale, None);
            let border = paint(Colour::Paper, 1.0).paint;
            pixmap.stroke_path(&path, &border, &Stroke::default(), scale, None);
        }
        Shape::Text { at: (x, y), text, anchor, size, colour, upwards } => {
            let text = super::svg::printable(text);
            let length = text.chars().map(|c| advance(face, c) * size).sum::<f64>();
            let shift = match anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => -length / 2.0,
                Anchor::End => -length,
            };
            let turned = if *upwards {
                scale.pre_translate(*x as f32, *y as f32).pre_rotate(-90.0)
            } else {
                scale.pre_translate(*x as f32, *y as f32)
            };
            let mut outline = Outline {
                path: PathBuilder::new(),
                x: shift as f32,
                scale: (size / f64::from(face.units_per_em())) as f32,
            };
            for c in text.chars() {
                if let Some(glyph) = face.glyph_index(c) {
                    face.outline_glyph(glyph, &mut outline);
                }
                outline.x += (advance(face, c) * size) as f32;
            }
            if let Some(path) = outline.path.finish() {
                pixmap.fill_path(&path, &paint(*colour, 1.0).paint, FillRule::Winding, turned, None);
            }
        }
    }
}

fn dash_of(lengths: &[f64]) -> Option<StrokeDash> {
    let once = lengths.iter().map(|&length| length as f32);
    // An odd number of lengths is meant twice, as in SVG.
    let lengths: Vec<f32> =
        if lengths.len() % 2 == 1 { once.clone().chain(once).collect() } else { once.collect() };
    (!lengths.is_empty()).then(|| StrokeDash::new(lengths, 0.0)).flatten()
}

fn path(points: &[(f64, f64)], close: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (i, &(x, y)) in points.iter().enumerate() {
        let (x, y) = (x as f32, y as f32);
        if i == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
    }
    if close {
        path.close();
    }
    // What has no area cannot be filled, and a line of no length not be drawn.
    let bounds = path.clone().finish()?.bounds();
    let empty =
        if close { bounds.width() * bounds.height() == 0.0 } else { bounds.width() + bounds.height() == 0.0 };
    if empty { None } else { path.finish() }
}

/// A glyph's outline, put where it belongs; fonts count upwards.
struct Outline {
    path: PathBuilder,
    x: f32,
    scale: f32,
}

impl Outline {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.scale, -y * self.scale)
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::super::scene::Item;
    use super::*;

    #[test]
    fn words_leave_ink_on_the_paper() {
        let scene = |text: &str| Scene {
            width: 60.0,
            height: 20.0,
            title: String::new(),
            description: String::new(),
            hover: String::new(),
            items: vec![Item::plain(vec![Shape::text((30.0, 15.0), text, Anchor::Middle)])],
        };
        let dark = |text: &str| {
            let pixmap = Pixmap::decode_png(&file(&scene(text)).unwrap()).unwrap();
            assert_eq!((pixmap.width(), pixmap.height()), (150, 50));
            pixmap.pixels().iter().filter(|pixel| pixel.red() < 128).count()
        };
        assert_eq!(dark(""), 0);
        assert!(dark("psr λ") > 50);
        assert!(dark("psr λ psr") > dark("psr λ"));
    }

    #[test]
    fn texts_have_a_width() {
        assert!((width("nnnn", 10.0) - 4.0 * width("n", 10.0)).abs() < 1e-9);
        assert!(width("W", 10.0) > width("i", 10.0));
    }
}
