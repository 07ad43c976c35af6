//! What a manifest may set under the solver's `options`.

use shared_one_flip::{Settings, Tenure};

plugin_api::options! {
    /// How long to search.
    pub(crate) struct Options {
        /// The search ends after this many walks in a row without a better point. The first walk starts from the
        /// first start where there is one; then come random bits, then crossings of the best points. Left out: 40,
        /// and above 100 bits two fifths of their number.
        #[schemars(range(min = 1))]
        pub(crate) walks: Option<u64> = None,
        /// A walk ends after this many moves for each bit without a better point.
        #[schemars(range(min = 1, max = 1_000_000))]
        pub(crate) moves: u64 = 2,
        /// Moves for which a bit stays as it is after it was turned over, and up to nine more. Left out: one, and
        /// one more for each 100 bits.
        #[schemars(range(min = 0, max = 1_000_000))]
        pub(crate) tenure: Option<u64> = None,
    }
}

impl Options {
    /// What they mean for `n` bits.
    pub(crate) fn settings(&self, n: usize) -> Settings {
        let usual = Settings::of_dimension(n);
        Settings {
            tenure: self.tenure.map_or(usual.tenure, |least| Tenure { least, most: least + 9 }),
            patience: self.moves.saturating_mul(n as u64),
            idle_walks: self.walks.unwrap_or(usual.idle_walks),
        }
    }
}
