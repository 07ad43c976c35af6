//! Groups and constraints for solvers: points that keep all of them, and the moves between such points.
//!
//! Every rule is a sum over bits with limits ([`Rules`]): "exactly k of" is a sum of ones between k and k, a group one
//! between 1 and 1, and literals that may not hold all at once are at most one less than they are. So there is one
//! propagation ([`Partial`]), one complete search for points ([`Rules::random`], [`Rules::near`]), one check of moves
//! ([`Place`]), and one way to fold rules into a function that is bounded ([`folded`]).

mod feasible; // points, by a complete search
mod fold; // rules as terms of a function
mod partial; // some bits decided, and what follows
mod place; // a point, and the moves from it
mod sample; // many points
mod sums; // rules as sums

pub use fold::{Folded, Multipliers, folded};
pub use partial::Partial;
pub use place::{Broken, Flips, Place};
pub use sample::points;
pub use sums::{Rules, Sum, known};
