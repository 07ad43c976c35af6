//! What a manifest may set.

use shared_values::Values;

plugin_api::options! {
    /// What the model learns. Its two hyperparameters are chosen by their evidence.
    pub struct Options {
        /// What is learned of the values.
        pub values: Values = Values::Raw,
    }
}
