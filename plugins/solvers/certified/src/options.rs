//! What a manifest may set under the solver's `options`.

plugin_api::options! {
    /// How long to search, and how much to prove.
    pub struct Options {
        /// Factor on the walks without a better point after which the search ends; 1 suffices for the best known
        /// value of all acquisition functions of up to 100 bits and Biq Mac instances of up to 250 tried.
        #[schemars(range(min = 1, max = 1_000_000))]
        pub effort: u64 = 1,
        /// How many parts of the space to bound, where the roof dual is not enough: with 0 none, with 1 the whole, by the
        /// semidefinite relaxation, with more by branch and bound. Left out: 1, and where at most 64 bits are left
        /// as many as take about 20 ms.
        #[schemars(range(max = 1_000_000))]
        pub nodes: Option<u64> = None,
    }
}

impl Options {
    /// How many parts of a space of `free` bits to bound.
    pub(crate) fn nodes(&self, free: usize) -> u64 {
        // A part takes about n³ nanoseconds.
        let usual = if free <= 64 { 20_000_000 / free.max(10).pow(3) } else { 1 };
        self.nodes.unwrap_or(usual as u64)
    }
}
