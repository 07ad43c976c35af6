//! Quadratic functions of bits by minimum cuts, and what takes their bounds further: fixed bits, whole values.

mod evident; // bits whose value needs no cut
mod grid; // values that whole coefficients allow
mod max_flow;
mod node_sets; // what the flow is fast by
mod reduced; // a function with bits fixed
mod relaxation;
mod roof_dual;

pub use evident::{Evident, MANY, evident};
pub use grid::Grid;
pub use max_flow::Network;
pub use reduced::Reduced;
pub use relaxation::{Cut, Relaxation, magnitude};
pub use roof_dual::{RoofDual, roof_dual, roof_dual_while};
