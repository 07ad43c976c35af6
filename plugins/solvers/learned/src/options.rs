//! What a manifest may set under the solver's `options`.

plugin_api::options! {
    /// How many descents, and how the heuristic that picks their starts is learned.
    pub struct Options {
        /// From how many random points to begin: the heuristic descends from each, the acquisition function from where that
        /// ends.
        #[schemars(range(min = 1, max = 10_000))]
        pub restarts: usize = 30,
        /// Whether a heuristic is learned; without it the random points are the starts.
        pub learn: bool = true,
        /// How many descents, the latest ones, the heuristic is learned from.
        #[schemars(range(min = 2, max = 10_000))]
        pub trajectories: usize = 50,
        /// How many features the pairs of bits are hashed to.
        #[schemars(range(min = 1, max = 65_536))]
        pub buckets: usize = 256,
        /// The rate of the stochastic gradient descent.
        #[schemars(range(max = 1.0), extend("exclusiveMinimum" = 0.0))]
        pub rate: f64 = 0.05,
        /// The weight of the squared weights in the loss.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub decay: f64 = 1e-4,
        /// Passes over all pairs of descents after each problem.
        #[schemars(range(max = 1000))]
        pub passes: usize = 3,
    }
}
