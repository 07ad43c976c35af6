//! What a manifest may set under the solver's `options`.
//!
//! The defaults are the cheapest that found the best points on 106 functions of 10 to 500 bits (acquisition
//! functions and the Biq Mac library): on average 0.4 % above the best known, where 30 cuts ended 0.5 % above,
//! 300 no lower, the authors' 10 with descent 0.8 %, and without descent 45 %.

plugin_api::options! {
    /// How to relax, and how to go on from there.
    pub struct Options {
        /// The most cuts; fewer are made once one is proven to be a minimum. The paper makes 10.
        #[schemars(range(min = 1, max = 1_000_000))]
        pub steps: u64 = 100,
        /// How far the parameters of the relaxation move after each cut.
        pub step: Step = Step::Scaled,
        /// Where the parameters of the relaxation start.
        pub initial: Initial = Initial::Half,
        /// What is done to the point of each cut.
        pub polish: Polish = Polish::Descent,
        /// Whether the roof dual first fixes the bits that it proves, and bounds the rest: one more cut, on twice as
        /// many nodes.
        pub persistency: bool = false,
    }
}

plugin_api::options! {
    /// The size of step t, counted from 0.
    pub enum Step {
        /// 1/√(t+1), as in the authors' code; the parameters then jump between 0 and 1.
        Authors,
        /// 0.5/a/√(t+1), where a is the largest positive pair: the first step reaches from ½ to 0 or 1.
        #[default]
        Scaled,
    }
}

plugin_api::options! {
    /// Where the parameters of the relaxation start.
    pub enum Initial {
        /// All at ½.
        #[default]
        Half,
        /// Each uniform in [0, 1).
        Random,
    }
}

plugin_api::options! {
    /// What is done to the point of each cut.
    pub enum Polish {
        /// Nothing, as in the paper.
        None,
        /// Turns over the bit that gains most, until none gains.
        #[default]
        Descent,
        /// A tabu walk, which ends after two moves for each bit without a better point.
        Tabu,
    }
}
