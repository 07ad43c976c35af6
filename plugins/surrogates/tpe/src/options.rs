//! What a manifest may set, and its limits.

plugin_api::options! {
    /// How to estimate the densities, and how to choose by them. The defaults are Optuna's.
    pub struct Options {
        /// Who chooses by l/g, the density of good points over that of the others.
        pub choose: Choose = Choose::Sample,
        /// How many points to sample from the good ones' density, where the best of a sample is chosen.
        #[schemars(range(min = 1, max = 1_000_000))]
        pub candidates: usize = 24,
        /// Whether points that are known already may be chosen again, as Optuna does. Where the objective is deterministic,
        /// the host evaluates a new neighbour in the place of a known point.
        pub repeats: bool = false,
        /// Weight of the uniform density beside the observations', and of the other levels in an observation's.
        #[schemars(range(min = 1e-6, max = 1e6))]
        pub prior_weight: f64 = 1.0,
    }
}

plugin_api::options! {
    /// Who chooses by l/g.
    pub enum Choose {
        /// The model itself: the best point of a sample. It draws a linear function that has its minimum there.
        #[default]
        Sample,
        /// The solver: the function drawn is −log(l/g), for solvers that take general functions.
        Solver,
    }
}
