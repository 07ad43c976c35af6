plugin_api::options! {
    /// How long the season is, how strict its limit, and where the randomness comes from.
    pub(crate) struct Options {
        /// Number of stages; at each of them one of four pesticides is used, or none.
        #[schemars(range(min = 1, max = 1000))]
        pub(crate) stages: usize = 25,
        /// How many simulated fields a value is the mean of.
        #[schemars(range(min = 1, max = 1000000))]
        pub(crate) simulations: usize = 100,
        /// Whether every evaluation simulates with the same random numbers.
        pub(crate) samples: Samples = Samples::Fixed,
        /// The largest infested fraction of a field that does not exceed the limit. A stage at which every
        /// field exceeds it costs 1.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub(crate) limit: f64 = 0.1,
        /// Seed of the instance. By default every seed of the experiment has an instance of its own. Without
        /// effect with `samples: fresh`.
        pub(crate) seed: Option<u64> = None,
        /// The uniform random numbers themselves, in place of drawn ones.
        pub(crate) uniforms: Option<Uniforms> = None,
    }
}

plugin_api::options! {
    /// Whether every evaluation simulates with the same random numbers.
    pub(crate) enum Samples {
        /// They are drawn once for an instance: the same point always has the same value.
        #[default]
        Fixed,
        /// They are drawn again at each evaluation, as in the original program: values are noisy, and the best
        /// one seen looks better than it is.
        Fresh,
    }
}

plugin_api::options! {
    /// Random numbers in [0, 1], from which the rates of every simulated field are made.
    pub(crate) struct Uniforms {
        /// For the infested fraction before the first stage, one number a simulation.
        pub(crate) initial: Vec<f64> = Vec::new(),
        /// For how far the pest spreads at a stage without pesticide: for each stage, one number a simulation.
        pub(crate) spread: Vec<Vec<f64>> = Vec::new(),
        /// For how well a pesticide works at a stage: for each stage, one number a simulation.
        pub(crate) control: Vec<Vec<f64>> = Vec::new(),
    }
}
