//! What a manifest may set, and its limits.

use shared_values::Values;

plugin_api::options! {
    /// What the model learns, the prior of its lengthscales, and what is drawn.
    pub struct Options {
        /// Which model draws.
        pub model: Model = Model::Given,
        /// What is learned of the values.
        pub values: Values = Values::Raw,
        /// How alike two points are.
        pub kernel: Family = Family::Heat,
        /// How many points the kernel `dictionary` measures distances to.
        #[schemars(range(min = 1, max = 1024))]
        pub dictionary_size: usize = 128,
        /// Which lengthscales the kernel has.
        pub lengthscales: Lengthscales = Lengthscales::Pooled,
        /// How far the logarithms of pooled lengthscales are spread around the common one: a standard deviation.
        #[schemars(range(min = 0.01, max = 10.0))]
        pub spread: f64 = 0.25,
        /// Which hyperparameters are used.
        pub hyperparameters: Hyperparameters = Hyperparameters::Map,
        /// What is drawn.
        pub acquisition: AcquisitionFunction = AcquisitionFunction::Improvement,
        /// How many standard deviations a lower confidence bound lies below the mean.
        #[schemars(range(min = 0.0, max = 100.0))]
        pub kappa: f64 = 2.0,
    }
}

plugin_api::options! {
    /// Which model draws.
    pub enum Model {
        /// The one that the other options describe.
        #[default]
        Given,
        /// Of two, the one that has predicted the values of evaluated points better so far: one lengthscale for all variables
        /// and raw values, which has a head start; or pooled lengthscales, `spread` 0.5, and values by the copula.
        Predictive,
    }
}

plugin_api::options! {
    /// How alike two points are.
    pub enum Family {
        /// The heat kernel of the graph of each variable: complete, or a path where levels have an order.
        #[default]
        Heat,
        /// Casmopolitan's transformed overlap: exp of the mean of ℓ over variables that agree, each ℓ for itself; the order of
        /// levels does not count.
        Overlap,
        /// BODi's: Matérn-5/2 between distances to `dictionary-size` random points, which are drawn again for each draw.
        Dictionary,
    }
}

plugin_api::options! {
    /// Which hyperparameters are used.
    pub enum Hyperparameters {
        /// Those of the highest posterior density.
        #[default]
        Map,
        /// Ten that are drawn from their posterior by slice sampling, as COMBO does; what is drawn is averaged over them.
        Sampled,
    }
}

plugin_api::options! {
    /// Which lengthscales the kernel has.
    pub enum Lengthscales {
        /// One for each variable (for each distance with the kernel `dictionary`), pooled around a common one (each for
        /// itself with `overlap`).
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
