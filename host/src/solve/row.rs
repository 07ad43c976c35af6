//! What a solver made of a problem, checked.

use std::path::Path;
use std::time::Instant;

use plugin_api::{Answer, Bits, Problem, Quadratic, Solver, Stop};

use super::Chosen;
use super::read::magnitude;

/// A problem and a solver, and what came of them.
pub(super) struct Row {
    pub(super) file: String,
    pub(super) solver: String,
    pub(super) bits: usize,
    pub(super) seconds: f64,
    pub(super) outcome: Result<Solved, String>,
}

/// A point, and what is known of its value.
pub(super) struct Solved {
    pub(super) value: f64,
    pub(super) bound: Option<f64>,
    pub(super) bits: Bits,
    pub(super) stop: Stop,
    pub(super) counts: Vec<(String, u64)>,
}

impl Row {
    /// Solves a problem, which is quadratic.
    pub(super) fn new(path: &Path, chosen: &Chosen, problem: &Problem, seed: u64) -> Self {
        let started = Instant::now();
        let answer =
            chosen.plugin.solver(&chosen.used.options).and_then(|mut solver| solver.minimize(problem, seed));
        let seconds = started.elapsed().as_secs_f64();
        let f = problem.quadratic().expect("the problem was made of one");
        Self {
            file: path.display().to_string(),
            solver: chosen.name.clone(),
            bits: f.dimension(),
            seconds,
            outcome: answer.map_err(|error| error.to_string()).and_then(|answer| solved(&answer, f)),
        }
    }
}

/// An answer with a value of our own; refused where it contradicts itself.
fn solved(answer: &Answer, f: &Quadratic) -> Result<Solved, String> {
    let (found, expected) = (answer.bits().len(), f.dimension());
    if found != expected {
        return Err(format!("it answered {found} bits to a problem of {expected}"));
    }
    let value = f.value(answer.bits());
    // −∞ is true of every problem, and says nothing.
    let bound = answer.bound().filter(|&bound| bound > f64::NEG_INFINITY);
    // Sums of this many coefficients in another order differ by less.
    let tolerance = 1e-9 * magnitude(f);
    if let Some(bound) = bound
        && bound > value + tolerance
    {
        return Err(format!("its bound {bound} is above {value}, the value of its own answer"));
    }
    let (bits, counts) = (answer.bits().clone(), answer.counts().to_vec());
    Ok(Solved { value, bound, bits, stop: answer.stop(), counts })
}

impl Solved {
    /// (value − bound) / max(|value|, |bound|), where there is a bound; 0 where both are 0.
    pub(super) fn gap(&self) -> Option<f64> {
        let bound = self.bound?;
        let scale = self.value.abs().max(bound.abs());
        // Halves: the difference of two large numbers may be too large.
        let half = self.value / 2.0 - bound / 2.0;
        Some(if scale == 0.0 { 0.0 } else { 2.0 * (half / scale).max(0.0) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// −3 x₀ + x₁: lowest at 10.
    fn f() -> Quadratic {
        Quadratic::new(0.0, vec![-3.0, 1.0], vec![0.0]).unwrap()
    }

    fn answer(bits: &str) -> Answer {
        // The solver's own word for the value is not taken.
        Answer::new(bits.parse().unwrap(), 99.0)
    }

    fn gap(value: f64, bound: f64) -> Option<f64> {
        let (bits, counts) = (Bits::zeros(0), Vec::new());
        Solved { value, bound: Some(bound), bits, stop: Stop::Done, counts }.gap()
    }

    #[test]
    fn the_value_is_computed_anew() {
        assert_eq!(solved(&answer("11"), &f()).map(|solved| solved.value), Ok(-2.0));
    }

    #[test]
    fn an_answer_that_contradicts_itself_is_refused() {
        let refusal = |answer: Answer| solved(&answer, &f()).map(|_| ()).unwrap_err();
        assert_eq!(refusal(answer("1")), "it answered 1 bits to a problem of 2");
        assert_eq!(
            refusal(answer("11").with_bound(-1.9)),
            "its bound -1.9 is above -2, the value of its own answer"
        );
        assert!(solved(&answer("10").with_bound(f64::INFINITY), &f()).is_err());
        assert!(solved(&answer("10").with_bound(-3.0 + 1e-10), &f()).is_ok(), "rounding is no contradiction");
    }

    #[test]
    fn no_bound_is_no_bound() {
        for bound in [f64::NEG_INFINITY, f64::NAN] {
            assert_eq!(solved(&answer("10").with_bound(bound), &f()).unwrap().bound, None);
        }
    }

    #[test]
    fn the_gap_is_a_part_of_the_larger_of_value_and_bound() {
        assert_eq!(gap(-8.0, -10.0), Some(0.2));
        assert_eq!(gap(10.0, 8.0), Some(0.2));
        assert_eq!(gap(1.0, -1.0), Some(2.0));
        assert_eq!(gap(0.0, 0.0), Some(0.0));
        assert_eq!(gap(-3.0, -3.0 + 1e-10), Some(0.0), "rounding is no gap");
        assert_eq!(gap(f64::MAX, -f64::MAX), Some(2.0));
    }
}
