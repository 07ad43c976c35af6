//! What a manifest may set under the solver's `options`.

plugin_api::options! {
    /// How far to branch.
    pub struct Options {
        /// The most parts of the space to look at. Where they do not suffice, the bound is that of the part about
        /// which least is proven.
        #[schemars(range(min = 1, max = 1_000_000))]
        pub nodes: u64 = 10_000,
    }
}
