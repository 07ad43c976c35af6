//! Problems with known answers: draws from the reference sampler, and synthetic ones.

use plugin_api::Quadratic;
use plugin_api::serde_json::{self, Value};

/// A problem, and what is known of it.
pub(crate) struct Stored {
    pub(crate) name: String,
    pub(crate) objective: Quadratic,
    /// The lowest value known; proven for n ≤ 25.
    pub(crate) best_known: f64,
    /// The optimum of the relaxation and a dual bound, from a public solver that stops at about 1e-7.
    pub(crate) sdp_optimum: f64,
    pub(crate) sdp_lower_bound: f64,
    /// What the authors' code answered, where it was run.
    pub(crate) sdp_authors: Option<f64>,
    /// The mean value of random points.
    pub(crate) random_mean: f64,
}

/// All stored problems.
pub(crate) fn problems() -> Vec<Stored> {
    include_str!("../tests/data/problems.jsonl").lines().map(parse).collect()
}

fn parse(line: &str) -> Stored {
    let value: Value = serde_json::from_str(line).expect("a line of JSON");
    let number = |key: &str| value[key].as_f64().unwrap_or_else(|| panic!("no number `{key}`"));
    let numbers = |key: &str| serde_json::from_value(value[key].clone()).expect("a list of numbers");
    Stored {
        name: value["name"].as_str().expect("a name").to_owned(),
        objective: Quadratic::new(number("constant"), numbers("linear"), numbers("pairs"))
            .expect("a function"),
        best_known: number("best_known"),
        sdp_optimum: number("sdp_optimum"),
        sdp_lower_bound: number("sdp_lower_bound"),
        sdp_authors: value["sdp_authors"].as_f64(),
        random_mean: number("random_mean"),
    }
}
