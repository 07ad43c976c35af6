//! Points ⇄ bits: one bit for each variable of two levels, set where the variable has its first level.
//!
//! Put your own in its place. What has to hold: `decode(encode(point))` is the point, and the layout admits exactly the bits
//! of the points that the space admits.

use plugin_api::{Bits, Encoder, Error, Layout, Literal, Point, Result, Space, export_encoder, options};

options! {
    /// What a manifest may set under `encoder.options`: nothing yet.
    pub struct Options {}
}

export_encoder!("{{name}}", |_options: Options, space: &Space| Turned::new(space));

struct Turned(Layout);

impl Turned {
    fn new(space: &Space) -> Result<Self> {
        if let Some(variable) = space.variables().iter().find(|variable| variable.levels().len() != 2) {
            return Err(Error::new(format!("variable `{}` has more than two levels", variable.name())));
        }
        // A rule about a level becomes the same rule about the bit that stands for it.
        let turned = |literal: Literal| Literal::new(literal.index, 1 - literal.level);
        let constraints = space.constraints().iter().map(|constraint| constraint.map(turned)).collect();
        Ok(Self(Layout::free(space.dimension()).with_constraints(constraints)?))
    }
}

impl Encoder for Turned {
    fn layout(&self) -> Layout {
        self.0.clone()
    }

    fn encode(&self, point: &Point) -> Result<Bits> {
        Ok(point.iter().map(|&level| level == 0).collect())
    }

    fn decode(&self, bits: &Bits) -> Result<Point> {
        Ok(bits.iter().map(|&bit| u32::from(!bit)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contract_is_kept() {
        plugin_api::testing::check_encoder(|space| Turned::new(space).ok());
    }
}
