//! What a manifest may set, and its limits.

use shared_values::Values;

plugin_api::options! {
    /// What the model learns, the prior of its lengthscales, and what is drawn.
    pub struct Options {
        /// What is learned of the values.
        pub values: Values = Values::Raw,
        /// Which lengthscales the kernel has.
        pub lengthscales: Lengthscales = Lengthscales::Pooled,
        /// How far the logarithms of pooled lengthscales are spread around the common one: a standard deviation.
        #[schemars(range(min = 0.01, max = 10.0))]
        pub spread: f64 = 0.25,
        /// What is drawn.
        pub acquisition: AcquisitionFunction = AcquisitionFunction::Improvement,
        /// How many standard deviations a lower confidence bound lies below the mean.
        #[schemars(range(min = 0.0, max = 100.0))]
        pub kappa: f64 = 2.0,
    }
}

plugin_api::options! {
    /// Which lengthscales the kernel has.
    pub enum Lengthscales {
        /// One for each variable, pooled around a common one.
        #[default]
        Pooled,
        /// One for all variables.
        Common,
    }
}

plugin_api::options! {
    /// What is drawn.
    pub enum AcquisitionFunction {
        /// −log of the expected improvement on the best value and penalty so far.
        #[default]
        Improvement,
        /// The lower confidence bound: mean − `kappa` · deviation.
        Bound,
        /// A function drawn from the posterior.
        Thompson,
    }
}
