//! What a manifest may set, and its limits.

use plugin_api::{Error, Result};

use crate::tree::Categories;

plugin_api::options! {
    /// How to grow the forest, and how to use it. The defaults are those of SMAC's facade for hyperparameters.
    pub struct Options {
        /// Which SMAC: 2.4 splits the levels of a category by their number, 2.3 and those before it into any two sets.
        pub version: f64 = 2.4,
        /// After how many new observations the forest is grown again. Until then, the draws are of the old one.
        #[schemars(range(min = 1))]
        pub refit_every: usize = 8,
        /// The probability that a draw is that of random search.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub random: f64 = 0.2,
        /// Number of trees.
        #[schemars(range(min = 1, max = 1000))]
        pub trees: usize = 10,
    }
}

impl Options {
    /// How levels of a category are split.
    pub(crate) fn categories(&self) -> Result<Categories> {
        match self.version {
            2.4 => Ok(Categories::Numbers),
            2.3 => Ok(Categories::Subsets),
            other => Err(Error::option("version", format!("must be 2.4 or 2.3, not {other}"))),
        }
    }
}
