//! Points ⇄ bits.

use crate::{Bits, Layout, Point, Result};

/// Translates between the points of a space and the bits that a model sees.
///
/// Made for one space. `decode(encode(p)) == p` for every point, and every string of bits that the layout admits decodes.
/// The layout has the space's constraints too, in terms of bits: it admits the bits of a point where the space admits the
/// point, and only there. [`Constraint::map`](crate::Constraint::map) translates them where a level is one bit. An encoder
/// may have constraints of its own, such as the order of a thermometer's bits; what breaks these need not decode.
pub trait Encoder: Send {
    /// How many bits there are, which of them are one-hot groups, and the constraints between them.
    fn layout(&self) -> Layout;

    /// The bits of `point`, which has a level of the space for each variable; its constraints may be broken.
    fn encode(&self, point: &Point) -> Result<Bits>;

    /// The point of `bits`, which has the layout's length and keeps its groups; constraints of the space may be broken.
    fn decode(&self, bits: &Bits) -> Result<Point>;
}
