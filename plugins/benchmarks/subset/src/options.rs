plugin_api::options! {
    /// Which items there are, how many are chosen, and how they depend on each other.
    pub(crate) struct Options {
        /// Number of items.
        #[schemars(range(min = 1, max = 10_000))]
        pub(crate) items: usize = 20,
        /// How many of them are chosen: exactly as many.
        #[schemars(range(min = 1, max = 10_000))]
        pub(crate) choose: usize = 5,
        /// The share of all pairs of items that are worth more or less together than apart.
        #[schemars(range(min = 0, max = 1))]
        pub(crate) pairs: f64 = 0.3,
        /// The same of triples. They make the worth a function that no quadratic model has.
        #[schemars(range(min = 0, max = 1))]
        pub(crate) triples: f64 = 0.0,
        /// Seed of the instance. By default every seed of the experiment has an instance of its own.
        pub(crate) seed: Option<u64> = None,
    }
}
