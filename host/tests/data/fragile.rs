//! An encoder of bits that takes its process with it, where its options say.

use plugin_api::{Bits, Encoder, Layout, Point, Result, Space, export_encoder, options};

options! {
    /// Where it breaks.
    pub struct Options {
        /// `layout`, `decode`, or nothing.
        pub at: String = String::new(),
    }
}

export_encoder!("fragile", |options: Options, space: &Space| Fragile { options, bits: space.variables().len() });

struct Fragile {
    options: Options,
    bits: usize,
}

impl Encoder for Fragile {
    fn layout(&self) -> Layout {
        if self.options.at == "layout" {
            std::process::exit(0);
        }
        Layout::free(self.bits)
    }

    fn encode(&self, point: &Point) -> Result<Bits> {
        Ok(point.iter().map(|&level| level == 1).collect())
    }

    fn decode(&self, bits: &Bits) -> Result<Point> {
        // Not where the plan is made.
        if self.options.at == "decode" && std::env::args().any(|argument| argument == "--guarded") {
            std::process::abort();
        }
        Ok(bits.iter().map(|&bit| u32::from(bit)).collect())
    }
}
