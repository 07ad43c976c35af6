//! What a manifest may set, and its limits.

use plugin_api::{Error, Result};
use shared_values::Values;

use crate::split::Splits;

plugin_api::options! {
    /// How to grow the forest, and how to use it. The defaults are those of SMAC's facade for hyperparameters.
    pub struct Options {
        /// Which SMAC. 2.4 splits the levels of a category by their number, and proposes uniformly random points until the next
        /// fit where its search has no new points left. 2.3 splits into any two sets, and then fits at once.
        pub version: f64 = 2.4,
        /// Who looks for the point of the largest expected improvement.
        pub choose: Choose = Choose::Smac,
        /// What is learned of the values: always with the penalty. SMAC's own is `log`, whose improvement is that of the value
        /// that the logarithm is of; the improvement of all others is that of the transformed value.
        pub values: Values = Values::Log,
        /// After how many proposals or new observations the forest is grown again.
        #[schemars(range(min = 1))]
        pub refit_every: usize = 8,
        /// The probability that a uniformly random point is proposed instead.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub random: f64 = 0.2,
        /// Number of trees.
        #[schemars(range(min = 1, max = 1000))]
        pub trees: usize = 10,
    }
}

plugin_api::options! {
    /// Who looks for the point of the largest expected improvement.
    pub enum Choose {
        /// The model itself, by SMAC's search. It draws a linear function that has its minimum at the point proposed.
        #[default]
        Smac,
        /// The solver: the function drawn is minus the expected improvement, for solvers that take general functions.
        Solver,
    }
}

/// Where versions differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    Smac2_4,
    Smac2_3,
}

impl Options {
    pub(crate) fn version(&self) -> Result<Version> {
        match self.version {
            2.4 => Ok(Version::Smac2_4),
            2.3 => Ok(Version::Smac2_3),
            other => Err(Error::option("version", format!("must be 2.4 or 2.3, not {other}"))),
        }
    }
}

impl Version {
    pub(crate) fn splits(self) -> Splits {
        match self {
            Self::Smac2_4 => Splits::Numbers,
            Self::Smac2_3 => Splits::Subsets,
        }
    }
}
