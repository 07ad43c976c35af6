//! What a manifest may set, and its limits.

use shared_values::Values;

plugin_api::options! {
    /// The prior of the regression, in the units of the values (transformed ones are standardised); the defaults are those of BOCS's experiments.
    pub struct Options {
        /// The highest number of bits in one term: 1 or 2.
        #[schemars(range(min = 1, max = 2))]
        pub order: u8 = 2,
        /// Variance of each coefficient, as a multiple of the variance of the noise.
        #[schemars(range(min = 1e-6, max = 1e6))]
        pub variance: f64 = 1.0,
        /// Shape of the inverse gamma prior of the variance of the noise.
        #[schemars(range(min = 1e-3, max = 1e6))]
        pub shape: f64 = 2.0,
        /// Rate of the inverse gamma prior of the variance of the noise: about `shape` times a typical variance.
        #[schemars(range(min = 1e-300, max = 1e300))]
        pub rate: f64 = 1.0,
        /// What is learned of the values.
        pub values: Values = Values::Raw,
    }
}
