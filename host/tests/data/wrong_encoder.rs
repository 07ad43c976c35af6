//! An encoder that breaks the promise that its options name: one bit a variable, and not quite.

use plugin_api::{Bits, Encoder, Error, Layout, Point, Result, Space, export_encoder, options};

options! {
    /// What is wrong.
    pub struct Options {
        /// The promise that is broken.
        pub way: String = "none".to_owned(),
    }
}

export_encoder!("wrong", |options: Options, space: &Space| Wrong::new(options, space));

struct Wrong {
    way: String,
    space: Space,
}

impl Wrong {
    fn new(options: Options, space: &Space) -> Result<Self> {
        if !space.is_binary() {
            return Err(Error::new("a variable with more than two levels"));
        }
        Ok(Self { way: options.way, space: space.clone() })
    }
}

impl Encoder for Wrong {
    fn layout(&self) -> Layout {
        let layout = Layout::free(self.space.dimension());
        match self.way.as_str() {
            "constraints" => layout,
            _ => layout.with_constraints(self.space.constraints().to_vec()).expect("the same bits"),
        }
    }
    fn encode(&self, point: &Point) -> Result<Bits> {
        Ok(point.iter().map(|&level| level == 1).collect())
    }
    fn decode(&self, bits: &Bits) -> Result<Point> {
        let mut levels: Vec<u32> = bits.iter().map(|&bit| u32::from(bit)).collect();
        // With constraints, these would be broken too.
        if self.way == "round-trip" && self.space.constraints().is_empty() {
            levels.reverse();
        }
        Ok(Point::from(levels))
    }
}
