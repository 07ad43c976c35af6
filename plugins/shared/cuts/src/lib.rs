//! Quadratic functions of bits by minimum cuts.

mod max_flow;
mod node_sets; // what the flow is fast by
mod reduced;
mod relaxation;
mod roof_dual;

pub use max_flow::Network;
pub use reduced::Reduced;
pub use relaxation::{Cut, Relaxation, magnitude};
pub use roof_dual::{RoofDual, roof_dual};
