//! Steepest descent of any function of bits, from several points in lockstep.
//!
//! The function is asked in bulk: a step is one call for all moves of all points that still descend. Moves turn a free
//! bit over or choose another bit of a group; those that lead to a point that the layout does not admit are left out.
//! Where a rule that counts bits stands in the way of single moves, two of them together may be
//! [tried](Descents::with_exchanges).

mod best; // the best point seen
mod descents; // the algorithm

pub use best::Best;
pub use descents::{Descents, batch, make_move};
