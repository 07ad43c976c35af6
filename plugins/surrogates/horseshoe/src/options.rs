//! What a manifest may set, and its limits.

use shared_values::Values;

plugin_api::options! {
    /// How to sample the posterior of the horseshoe regression.
    pub struct Options {
        /// Gibbs steps for each draw. Below 50 the draws of a small problem depend on where the chain stood.
        #[schemars(range(min = 1, max = 1_000_000))]
        pub steps: u32 = 200,
        /// Whether a draw goes on with the chain of the last one. The paper's way is `steps: 1000, warm: false`.
        pub warm: bool = true,
        /// What becomes of the intercept.
        pub intercept: Intercept = Intercept::Integrated,
        /// The highest number of bits in one term. To third order the draws are general functions, which few solvers
        /// take.
        #[schemars(range(min = 1, max = 3))]
        pub order: u8 = 2,
        /// What is learned of the values.
        pub values: Values = Values::Raw,
    }
}

plugin_api::options! {
    /// What becomes of the intercept.
    pub enum Intercept {
        /// It has a flat prior, is integrated out of the regression and drawn afterwards.
        #[default]
        Integrated,
        /// It is the mean of the values, and the terms are not centred: the authors' way, which biases the draws.
        Authors,
    }
}
