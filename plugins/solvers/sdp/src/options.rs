//! What a manifest may set, and its limits.

plugin_api::options! {
    /// How to relax, round and polish.
    pub struct Options {
        /// Random hyperplanes to round by; the best point is kept.
        #[schemars(range(min = 1, max = 1_000_000))]
        pub roundings: usize = 100,
        /// How the relaxation's vectors become bits.
        pub rounding: Rounding = Rounding::Correct,
        /// What follows each rounding. Left out: descent after correct rounding, none after the authors'.
        pub polish: Option<Polish> = None,
        /// The relaxation is solved once a sweep gains no more than this part of its value.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub tolerance: f64 = 1e-10,
        /// The most sweeps over all vectors; the bound holds even where they do not suffice.
        #[schemars(range(min = 1))]
        pub max_sweeps: u64 = 1000,
    }
}

plugin_api::options! {
    /// How the relaxation's vectors become bits.
    pub enum Rounding {
        /// By the sides of a hyperplane that they are on, relative to the vector of the constant.
        #[default]
        Correct,
        /// As the authors' code does, with its three errors; gives no bound.
        Authors,
    }
}

plugin_api::options! {
    /// What follows each rounding.
    pub enum Polish {
        /// One-flip descent: the bit that lowers the value most is turned over until none does.
        #[default]
        Descent,
        /// Nothing.
        None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::options::parse;

    #[test]
    fn words_and_limits_are_those_of_the_manifest() {
        let options: Options =
            parse(r#"{"rounding": "authors", "polish": "none", "max-sweeps": 7}"#).unwrap();
        assert_eq!(options.rounding, Rounding::Authors);
        assert_eq!((options.polish, options.max_sweeps, options.roundings), (Some(Polish::None), 7, 100));
        let refusal = |json| parse::<Options>(json).unwrap_err().to_string();
        assert_eq!(refusal(r#"{"roundings": 0}"#), "`roundings`: must be at least 1, not 0");
        assert_eq!(
            refusal(r#"{"roundings": 1e9}"#),
            "`roundings`: must be at most 1000000, not 1000000000.0"
        );
        assert_eq!(refusal(r#"{"tolerance": -1}"#), "`tolerance`: must be at least 0, not -1");
        assert_eq!(refusal(r#"{"max-sweeps": 0}"#), "`max-sweeps`: must be at least 1, not 0");
        assert!(refusal(r#"{"polish": "tabu"}"#).starts_with("`polish`: "));
    }
}
