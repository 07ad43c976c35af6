//! Acquisition functions with known minima, for the tests of solvers.
//!
//! `data/problems.jsonl` holds one problem a line. Most are real Thompson draws of the reference sampler
//! (bqp, contamination, ising, labs: 10 to 50 bits); `hs` are synthetic ones with heavy tails, `dense` with
//! Gaussian coefficients (100 and 200 bits). The values were computed by the reference implementations, not
//! by this project.

use plugin_api::serde::Deserialize;
use plugin_api::{Bits, Quadratic, serde_json};

/// A function to minimize, and what is known of it.
#[derive(Deserialize)]
#[serde(crate = "plugin_api::serde", deny_unknown_fields)]
pub struct Case {
    /// Benchmark, dimension and number: `ising_n024_0`.
    pub name: String,
    pub function: Quadratic,
    /// The lowest value known.
    pub best_known: f64,
    /// Whether enumeration proved that there is none lower.
    pub proven: bool,
    pub best_known_bits: Bits,
    /// True values of the 10 iterates of the paper's method: Λ⁰ = ½, steps 1/√(t+1), exact cuts.
    pub psr_values: Vec<f64>,
    /// Relaxed minima of the same iterates.
    pub psr_relaxed_minima: Vec<f64>,
    /// The optimum of the semidefinite relaxation and a dual bound, from a public solver that stops at about 1e-7.
    pub sdp_optimum: f64,
    pub sdp_lower_bound: f64,
    /// What the authors' semidefinite code answered, where it was run.
    pub sdp_authors: Option<f64>,
    /// The mean value of random points.
    pub random_mean: f64,
}

/// All cases of at most `n` bits, smallest first.
///
/// # Panics
/// Where the data is damaged.
pub fn cases_up_to(n: usize) -> Vec<Case> {
    let parse = |line: &str| -> Case { serde_json::from_str(line).expect("a line holds a case") };
    let cases = include_str!("../data/problems.jsonl").lines().map(parse);
    cases.take_while(|case| case.function.dimension() <= n).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_whole_and_has_its_best_known_value() {
        let cases = cases_up_to(usize::MAX);
        assert_eq!(cases.len(), 48);
        assert!(cases.is_sorted_by_key(|case| case.function.dimension()));
        for Case { name, function, best_known, best_known_bits, psr_values, psr_relaxed_minima, .. } in &cases
        {
            let checked =
                Quadratic::new(function.constant(), function.linear().to_vec(), function.pairs().to_vec());
            assert!(checked.is_ok_and(|checked| checked == *function), "{name}");
            let value = function.value(best_known_bits);
            assert!((value - best_known).abs() <= 1e-12 * best_known.abs(), "{name}: {value}");
            assert_eq!((psr_values.len(), psr_relaxed_minima.len()), (10, 10), "{name}");
        }
    }
}
