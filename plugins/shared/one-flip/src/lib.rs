//! Search of quadratic functions by turning over one bit at a time; under rules, by the moves that keep them.

mod landscape; // a function seen from a point
mod search; // many walks, each from where the best of the earlier ones point
mod walk; // one tabu walk
pub mod within; // the same between points that keep all rules

pub use landscape::Landscape;
pub use search::{Search, Settings};
pub use walk::{Tenure, Walker};
