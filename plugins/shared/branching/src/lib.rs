//! Branch and bound on quadratic functions of bits, also among the points that keep rules.

mod enumerate; // small parts, point by point
mod tree;

pub use tree::{Tree, is_closed};
