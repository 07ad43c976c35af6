//! What a manifest may set under the solver's `options`.
//!
//! With the defaults, each of ten seeds found the best known value of each acquisition function of 10 to 50 bits
//! in the tests' data.

use plugin_api::{Error, Result};

plugin_api::options! {
    /// How to anneal.
    pub struct Options {
        /// Passes over all bits in each run, while the temperature falls by a constant factor.
        #[schemars(range(min = 1))]
        pub sweeps: u64 = 100,
        /// How many runs to make: the first from the problem's first start where there is one,
        /// the others from random bits.
        #[schemars(range(min = 1))]
        pub restarts: u64 = 10,
        /// The first temperature of a run, in units of what a move from a random point typically gains or loses.
        #[schemars(extend("exclusiveMinimum" = 0))]
        pub hottest: f64 = 0.5,
        /// The last temperature of a run, in the same units.
        #[schemars(extend("exclusiveMinimum" = 0))]
        pub coldest: f64 = 0.05,
    }
}

impl Options {
    /// The options, where they agree with each other.
    pub(crate) fn checked(self) -> Result<Self> {
        let Self { hottest, coldest, .. } = self;
        if coldest > hottest {
            return Err(Error::option(
                "coldest",
                format!("must be at most `hottest`, {hottest}, not {coldest}"),
            ));
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temperature_that_rises_is_refused() {
        assert!(Options::default().checked().is_ok());
        let error = Options { coldest: 0.7, ..Options::default() }.checked().unwrap_err();
        assert_eq!(error.to_string(), "`coldest`: must be at most `hottest`, 0.5, not 0.7");
    }
}
