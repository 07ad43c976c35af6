plugin_api::options! {
    /// Which matrix Q to maximise xᵀQx for.
    pub(crate) struct Options {
        /// Number of bits.
        #[schemars(range(min = 1, max = 1000))]
        pub(crate) n: usize = 10,
        /// How far apart two bits may stand and still matter to each other (the correlation length).
        #[schemars(extend("exclusiveMinimum" = 0))]
        pub(crate) alpha: f64 = 1.0,
        /// How the weight of a pair falls with the distance of its bits.
        pub(crate) kernel: Kernel = Kernel::Paper,
        /// Seed of the instance. By default every seed of the experiment has an instance of its own.
        pub(crate) seed: Option<u64> = None,
        /// The matrix Q itself, n rows of n numbers, in place of a random one. It need not be symmetric.
        pub(crate) matrix: Option<Vec<Vec<f64>>> = None,
    }
}

plugin_api::options! {
    /// How the weight of a pair falls with the distance of its bits. The two are the same for `alpha: 1`.
    pub(crate) enum Kernel {
        /// exp(−(i−j)²/α²), as the paper writes it.
        #[default]
        Paper,
        /// exp(−(i−j)²/α), as the authors' program computes it.
        Code,
    }
}
