//! What a manifest may set under the solver's `options`.

use plugin_api::{Error, Result};

plugin_api::options! {
    /// How many points to look at, and from how many to descend.
    pub struct Options {
        /// Uniformly random points.
        #[schemars(range(min = 1, max = 1_000_000))]
        pub points: usize = 1000,
        /// How many of the problem's starts, the best first, have all their single moves looked at.
        #[schemars(range(max = 10_000))]
        pub neighbourhoods: usize = 3,
        /// Points a few random moves away from the best start.
        #[schemars(range(max = 1_000_000))]
        pub shaken: usize = 200,
        /// The fewest moves to such a point.
        #[schemars(range(min = 1))]
        pub fewest_moves: usize = 2,
        /// The most moves to such a point.
        #[schemars(range(min = 1))]
        pub most_moves: usize = 6,
        /// From how many of the best points to descend.
        #[schemars(range(min = 1, max = 10_000))]
        pub descents: usize = 20,
    }
}

impl Options {
    /// The options, where they agree with each other.
    pub(crate) fn checked(self) -> Result<Self> {
        let Self { fewest_moves, most_moves, .. } = self;
        if fewest_moves > most_moves {
            let problem = format!("must be at most `most-moves`, {most_moves}, not {fewest_moves}");
            return Err(Error::option("fewest-moves", problem));
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewest_moves_above_the_most_are_refused() {
        assert!(Options::default().checked().is_ok());
        let error = Options { fewest_moves: 7, ..Options::default() }.checked().unwrap_err();
        assert_eq!(error.to_string(), "`fewest-moves`: must be at most `most-moves`, 6, not 7");
    }
}
