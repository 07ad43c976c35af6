//! Branch and bound on quadratic functions of bits.

mod tree;

pub use tree::{Tree, is_closed};
