//! What a solver made of a problem, checked.

use std::path::Path;
use std::time::Instant;

use plugin_api::{Answer, Bits, Problem, Solver, Stop};
use serde::{Deserialize, Serialize};

use super::Chosen;

/// Values are equal up to this part of their size, and of 1.
const SAME: f64 = 1e-9;

/// A problem and a solver, and what came of them.
#[derive(Serialize, Deserialize)]
pub struct Row {
    pub(super) file: String,
    pub(super) solver: String,
    pub(super) bits: usize,
    pub(super) seconds: f64,
    pub(super) outcome: Result<Solved, String>,
}

/// A point, and what is known of its value.
#[derive(Serialize, Deserialize)]
pub(super) struct Solved {
    pub(super) value: f64,
    pub(super) bound: Option<f64>,
    pub(super) bits: Bits,
    /// The limit that stopped the solver, if one did: `work` or `time`.
    pub(super) limit: Option<String>,
    pub(super) counts: Vec<(String, u64)>,
    /// What was wrong with the answer, a sentence each.
    pub(super) flaws: Vec<String>,
}

impl Row {
    /// Solves a problem.
    pub(super) fn new(path: &Path, chosen: &Chosen, problem: &Problem, seed: u64) -> Self {
        let started = Instant::now();
        let answer =
            chosen.plugin.solver(&chosen.used.options).and_then(|mut solver| solver.minimize(problem, seed));
        let seconds = started.elapsed().as_secs_f64();
        let outcome = answer.and_then(|answer| solved(&answer, problem));
        Self {
            file: path.display().to_string(),
            solver: chosen.name.clone(),
            bits: problem.dimension(),
            seconds,
            outcome: outcome.map_err(|error| error.to_string()),
        }
    }
}

/// An answer with a value of our own, and what is wrong with it in words; refused where it is none.
fn solved(answer: &Answer, problem: &Problem) -> plugin_api::Result<Solved> {
    let checked = problem.check(answer)?;
    Ok(Solved {
        value: checked.value(),
        bound: checked.bound(),
        bits: answer.bits().clone(),
        limit: limit(answer.stop()).map(str::to_owned),
        counts: answer.counts().to_vec(),
        flaws: checked.flaws().iter().map(ToString::to_string).collect(),
    })
}

fn limit(stop: Stop) -> Option<&'static str> {
    match stop {
        Stop::Work => Some("work"),
        Stop::Time => Some("time"),
        _ => None,
    }
}

impl Solved {
    /// (value − bound) / max(|value|, |bound|), where there is a bound; 0 where they differ by rounding alone, as 0 and −3e-11.
    pub(super) fn gap(&self) -> Option<f64> {
        let bound = self.bound?;
        let scale = self.value.abs().max(bound.abs());
        // Halves: the difference of two large numbers may be too large.
        let half = self.value / 2.0 - bound / 2.0;
        Some(if half <= SAME * (1.0 + scale) { 0.0 } else { 2.0 * (half / scale) })
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::Quadratic;

    use super::*;

    fn gap(value: f64, bound: f64) -> Option<f64> {
        let (bits, counts, flaws) = (Bits::zeros(0), Vec::new(), Vec::new());
        Solved { value, bound: Some(bound), bits, limit: None, counts, flaws }.gap()
    }

    /// −3 x₀ + x₁: lowest at 10.
    fn answered(answer: Answer) -> Solved {
        let f = Quadratic::new(0.0, vec![-3.0, 1.0], vec![0.0]).unwrap();
        solved(&answer, &Problem::new(f)).unwrap()
    }

    #[test]
    fn the_value_is_our_own_and_every_lie_is_told() {
        let bits: Bits = "11".parse().unwrap();
        let honest = answered(Answer::new(bits.clone(), -2.0).with_bound(-3.0));
        assert_eq!((honest.value, honest.bound, honest.flaws.len()), (-2.0, Some(-3.0), 0));
        let lie = answered(Answer::new(bits, 99.0).with_bound(-1.9));
        assert_eq!((lie.value, lie.bound, lie.flaws.len()), (-2.0, None, 2));
    }

    #[test]
    fn the_gap_is_a_part_of_the_larger_of_value_and_bound() {
        assert_eq!(gap(-8.0, -10.0), Some(0.2));
        assert_eq!(gap(10.0, 8.0), Some(0.2));
        assert_eq!(gap(1.0, -1.0), Some(2.0));
        assert_eq!(gap(0.0, 0.0), Some(0.0));
        assert_eq!((gap(0.0, -3e-11), gap(1e-6, -1e-6)), (Some(0.0), Some(2.0)));
        assert_eq!(gap(-3.0, -3.0 + 1e-10), Some(0.0), "rounding is no gap");
        assert_eq!(gap(f64::MAX, -f64::MAX), Some(2.0));
    }
}
