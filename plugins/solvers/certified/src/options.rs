//! What a manifest may set under the solver's `options`.

plugin_api::options! {
    /// How long to search, and what to prove.
    pub struct Options {
        /// Factor on the walks without a better point after which the search ends; 1 suffices for the best known
        /// value of all acquisition functions of up to 100 bits and Biq Mac instances of up to 250 tried.
        #[schemars(range(min = 1, max = 1_000_000))]
        pub effort: u64 = 1,
        /// Whether the bound of the semidefinite relaxation is computed where that of the cut is not enough: from
        /// 500 bits on, it takes most of the time.
        pub semidefinite: bool = true,
    }
}
