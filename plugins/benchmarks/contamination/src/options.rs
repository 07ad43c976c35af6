plugin_api::options! {
    /// How long the food supply is, how strict its limit, and where the random rates come from.
    pub(crate) struct Options {
        /// Number of stages; at each of them contamination is prevented, or not.
        #[schemars(range(min = 1, max = 1000))]
        pub(crate) stages: usize = 25,
        /// How many simulated supplies a value is the mean of.
        #[schemars(range(min = 1, max = 1000000))]
        pub(crate) simulations: usize = 100,
        /// Whether every evaluation simulates with the same rates.
        pub(crate) samples: Samples = Samples::Fixed,
        /// What a stage costs where every simulated supply exceeds the limit (ρ). To prevent costs 1.
        #[schemars(range(min = 0.0, max = 1e9))]
        pub(crate) rho: f64 = 1.0,
        /// The largest contaminated fraction of the food that does not exceed the limit (U).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub(crate) limit: f64 = 0.1,
        /// The share of supplies that may exceed the limit at a stage (ε). It only shifts values, and only
        /// with `offset: code`.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub(crate) epsilon: f64 = 0.05,
        /// Whether the permitted share ε is subtracted at each stage.
        pub(crate) offset: Offset = Offset::Paper,
        /// Seed of the instance. By default every seed of the experiment has an instance of its own. Without
        /// effect with `samples: fresh`.
        pub(crate) seed: Option<u64> = None,
        /// The rates themselves, in place of random ones.
        pub(crate) rates: Option<Rates> = None,
    }
}

plugin_api::options! {
    /// Whether every evaluation simulates with the same rates.
    pub(crate) enum Samples {
        /// The rates are drawn once for an instance: the same point always has the same value.
        #[default]
        Fixed,
        /// The rates are drawn again at each evaluation, as in the authors' program: values are noisy, and the
        /// best one seen looks better than it is.
        Fresh,
    }
}

plugin_api::options! {
    /// Whether the permitted share ε is subtracted at each stage.
    pub(crate) enum Offset {
        /// Values as the paper writes them.
        #[default]
        Paper,
        /// Values as the authors' program computes them: those of the paper minus ρ·ε a stage.
        Code,
    }
}

plugin_api::options! {
    /// The rates of every simulated supply, each in [0, 1].
    pub(crate) struct Rates {
        /// Contaminated fraction before the first stage, one number a simulation.
        pub(crate) initial: Vec<f64> = Vec::new(),
        /// The fraction of the clean food that becomes contaminated at a stage without prevention: for each
        /// stage, one number a simulation.
        pub(crate) spread: Vec<Vec<f64>> = Vec::new(),
        /// The fraction of the contaminated food that prevention cleans at a stage: for each stage, one number
        /// a simulation.
        pub(crate) prevention: Vec<Vec<f64>> = Vec::new(),
    }
}
