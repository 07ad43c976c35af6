//! Points ⇄ bits.

use crate::{Bits, Layout, Point, Result};

/// Translates between the points of a space and the bits that a model sees.
///
/// Made for one space. `decode(encode(p)) == p` for every point, and every string of bits that the layout
/// admits decodes.
pub trait Encoder: Send {
    /// How many bits there are, and which of them are one-hot groups.
    fn layout(&self) -> Layout;

    /// The bits of `point`, which the space admits.
    fn encode(&self, point: &Point) -> Result<Bits>;

    /// The point of `bits`, which the layout admits.
    fn decode(&self, bits: &Bits) -> Result<Point>;
}
