plugin_api::options! {
    /// Which sequences, and what they are worth.
    pub(crate) struct Options {
        /// Length of the sequence.
        // A sequence of one has no autocorrelation, so its merit factor would be a division by zero.
        #[schemars(range(min = 2, max = 128))]
        pub(crate) n: usize = 20,
        /// What an evaluation answers.
        pub(crate) value: Value = Value::MeritFactor,
    }
}

plugin_api::options! {
    /// What an evaluation answers.
    pub(crate) enum Value {
        /// n²/E, maximised. Much of the literature writes n²/(2E), which is half of it.
        #[default]
        MeritFactor,
        /// The energy E, minimised: the sum of the squared autocorrelations.
        Energy,
    }
}
