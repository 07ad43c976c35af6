//! Points ⇄ bits.

use crate::{Bits, Layout, Point, Result};

/// Translates between the points of a space and the bits that a model sees.
///
/// Made for one space. `decode(encode(p)) == p` for every point, and every string of bits that the layout admits decodes.
/// The layout has the space's constraints too, in terms of bits: it admits the bits of a point where the space admits the
/// point, and only there. [`Constraint::map`](crate::Constraint::map) translates them where a level is one bit. An encoder
/// may have constraints of its own, such as the order of a thermometer's bits; what breaks these need not decode.
///
/// One bit for each variable, where all have two levels:
///
/// ```
/// use plugin_api::{Bits, Encoder, Layout, Point, Result, Space};
///
/// struct Binary(Space);
///
/// impl Encoder for Binary {
///     fn layout(&self) -> Layout {
///         Layout::free(self.0.dimension())
///     }
///
///     fn encode(&self, point: &Point) -> Result<Bits> {
///         Ok(point.iter().map(|&level| level == 1).collect())
///     }
///
///     fn decode(&self, bits: &Bits) -> Result<Point> {
///         Ok(bits.iter().map(|&bit| u32::from(bit)).collect())
///     }
/// }
///
/// let encoder = Binary(Space::binary(3));
/// let point = Point::from(vec![1, 0, 1]);
/// assert_eq!(encoder.encode(&point)?.to_string(), "101");
/// assert_eq!(encoder.decode(&encoder.encode(&point)?)?, point);
/// # Ok::<(), plugin_api::Error>(())
/// ```
pub trait Encoder: Send {
    /// How many bits there are, which of them are one-hot groups, and the constraints between them.
    fn layout(&self) -> Layout;

    /// The bits of `point`, which has a level of the space for each variable; its constraints may be broken.
    fn encode(&self, point: &Point) -> Result<Bits>;

    /// The point of `bits`, which has the layout's length and keeps its groups; constraints of the space may be broken.
    fn decode(&self, bits: &Bits) -> Result<Point>;
}
