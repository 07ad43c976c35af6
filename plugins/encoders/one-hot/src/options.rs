plugin_api::options! {
    /// What a manifest may set.
    pub(crate) struct Options {
        /// Whether the first of three or more levels has no bit: k − 1 bits for k levels, of which at most one is set.
        pub(crate) reference: bool = false,
    }
}
