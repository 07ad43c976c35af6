//! What a manifest may set under the solver's `options`.

plugin_api::options! {
    /// How much to try.
    pub struct Options {
        /// The most points a problem may have; larger ones are refused. The default is 2^28, which a quadratic
        /// function of 28 free bits has.
        #[schemars(range(min = 1))]
        pub max_points: u64 = 1 << 28,
    }
}
