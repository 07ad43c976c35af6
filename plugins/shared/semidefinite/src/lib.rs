//! The semidefinite relaxation of a quadratic function of bits.

mod bound; // from dual variables to a proven lower bound
mod lanes; // the inner loop
mod relaxation; // from spins to unit vectors: the mixing method
mod spins; // from bits to spins
mod within; // the same under rules

pub use bound::{lower_bound, lower_bound_while};
pub use lanes::{LANES, Lanes, weighted_sum};
pub use relaxation::{Relaxation, relax};
pub use spins::Spins;
pub use within::{Within, relax_within};
