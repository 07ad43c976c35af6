//! Binary quadratic problems with known minima, for the tests and benchmarks of solvers.
//!
//! [`instances_up_to`] has generated ones, which are the same on every machine. [`biq_mac_up_to`] reads those of the
//! Biq Mac library, where there is a folder of them.

use plugin_api::Quadratic;

mod biq_mac; // files of the Biq Mac library, and their text format
mod families; // the generator
mod table; // which instances there are, and their minima

pub use biq_mac::{biq_mac_up_to, to_sparse};
pub use families::Family;
pub use table::{instance, instances_up_to};

/// A function to minimize. Its coefficients and its values are whole numbers.
pub struct Instance {
    pub name: String,
    pub function: Quadratic,
    /// The lowest value known.
    pub best_known: f64,
    /// Whether there is provably none lower.
    pub proven: bool,
}
