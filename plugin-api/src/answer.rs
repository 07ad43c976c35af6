//! What a solver answers, and the check of it.

use std::fmt;
use std::ops::Range;

use crate::{Acquisition, Bits, Constraint, Error, Problem, Result};

/// Bits, their value, and what is known of both.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    bits: Bits,
    value: f64,
    bound: Option<f64>,
    counts: Vec<(String, u64)>,
    stop: Stop,
}

/// Why a solver stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// It did all that its options ask for, or proved its answer.
    #[default]
    Done,
    /// It reached the problem's work limit.
    Work,
    /// It reached the problem's time limit: the answer depends on the machine.
    Time,
}

impl Answer {
    /// The answer `bits`, with their value under the problem's objective.
    pub fn new(bits: Bits, value: f64) -> Self {
        Self { bits, value, bound: None, counts: Vec::new(), stop: Stop::Done }
    }

    /// With a proven lower bound on the problem's minimum.
    pub fn with_bound(mut self, bound: f64) -> Self {
        self.bound = Some(bound);
        self
    }

    /// With a count of the work done, such as `("cuts", 10)`.
    pub fn with_count(mut self, name: impl Into<String>, count: u64) -> Self {
        self.counts.push((name.into(), count));
        self
    }

    /// With the reason for stopping.
    pub fn with_stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// The point found.
    pub fn bits(&self) -> &Bits {
        &self.bits
    }

    /// Its value.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// No point has a value below this, where the method can prove such a thing.
    pub fn bound(&self) -> Option<f64> {
        self.bound
    }

    /// Counts of the work done, in the solver's order.
    pub fn counts(&self) -> &[(String, u64)] {
        &self.counts
    }

    /// Why the solver stopped.
    pub fn stop(&self) -> Stop {
        self.stop
    }
}

/// What is true of an answer, whatever its solver says.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    value: f64,
    bound: Option<f64>,
    flaws: Vec<Flaw>,
}

/// Where an answer breaks a promise, and can be used nonetheless. Displayed, it is a sentence about the solver.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Flaw {
    /// The function has another value at the bits than the solver says.
    Value {
        /// What it says; it need not be finite.
        claimed: f64,
        /// What is true.
        value: f64,
    },
    /// The bound is above the value of the answer itself.
    Bound {
        /// What the solver says.
        bound: f64,
        /// The function's value at the answer.
        value: f64,
    },
    /// The bound is not a number.
    BoundNotANumber,
    /// A group does not have exactly one bit set.
    Group {
        /// Which group.
        group: Range<usize>,
        /// How many of its bits are set.
        set: usize,
    },
    /// A constraint is not kept.
    Constraint(Constraint),
}

impl Problem {
    /// The one check of an answer to this problem.
    ///
    /// An error is what cannot be used at all: a wrong number of bits, or a point at which the function is not finite.
    /// Value and bound are compared with as much room as rounding takes: 10⁻⁹ of the sum of all coefficients without
    /// their signs for a quadratic function, 10⁻⁹ (1 + |value|) for any other.
    pub fn check(&self, answer: &Answer) -> Result<Checked> {
        let (found, expected) = (answer.bits().len(), self.dimension());
        if found != expected {
            return Err(Error::new(format!("it answered {found} bits to a problem of {expected}")));
        }
        let value = self.objective().value(answer.bits());
        if !value.is_finite() {
            return Err(Error::new(format!("the acquisition function is {value} at its answer")));
        }
        let room = 1e-9
            * match self.objective() {
                Acquisition::Quadratic(f) => f.magnitude(),
                _ => 1.0 + value.abs(),
            };
        let mut flaws = Vec::new();
        let claimed = answer.value();
        if !claimed.is_finite() || (claimed - value).abs() > room {
            flaws.push(Flaw::Value { claimed, value });
        }
        // −∞ is true of every problem, and says nothing.
        let mut bound = answer.bound().filter(|&bound| bound != f64::NEG_INFINITY);
        if let Some(wrong) = bound.filter(|&bound| !bound.is_finite() || bound > value + room) {
            bound = None;
            flaws.push(match wrong.is_nan() {
                true => Flaw::BoundNotANumber,
                false => Flaw::Bound { bound: wrong, value },
            });
        }
        for group in self.groups() {
            let set = answer.bits()[group.clone()].iter().filter(|&&bit| bit).count();
            if set != 1 {
                flaws.push(Flaw::Group { group: group.clone(), set });
            }
        }
        let level_of = |index: usize| u32::from(answer.bits()[index]);
        let broken = self.constraints().iter().filter(|constraint| !constraint.holds(level_of));
        flaws.extend(broken.cloned().map(Flaw::Constraint));
        Ok(Checked { value, bound, flaws })
    }
}

impl Checked {
    /// The function's value at the answer's bits: finite.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// The solver's bound where it has one that its own answer does not contradict: finite, and above the value by no
    /// more than rounding.
    pub fn bound(&self) -> Option<f64> {
        self.bound
    }

    /// Which promises the answer breaks; empty for one that is in order.
    pub fn flaws(&self) -> &[Flaw] {
        &self.flaws
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value { claimed, value } => {
                write!(
                    f,
                    "it says that its answer has the value {claimed}, and the function has {value} there"
                )
            }
            Self::Bound { bound, value } => {
                write!(f, "its bound {bound} is above {value}, the value of its own answer")
            }
            Self::BoundNotANumber => f.write_str("its bound is not a number"),
            Self::Group { group: Range { start, end }, set } => {
                write!(f, "it set {set} of the bits {start} to {}, a group that takes exactly one", end - 1)
            }
            Self::Constraint(constraint) => write!(f, "it does not keep to the constraint: {constraint}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Function, Layout, Literal, Quadratic};

    /// −3 x₀ + x₁, lowest at 10.
    fn problem() -> Problem {
        Problem::new(Quadratic::new(0.0, vec![-3.0, 1.0], vec![0.0]).unwrap())
    }

    fn answer(bits: &str, value: f64) -> Answer {
        Answer::new(bits.parse().unwrap(), value)
    }

    fn flaws(problem: &Problem, answer: &Answer) -> Vec<String> {
        problem.check(answer).unwrap().flaws().iter().map(Flaw::to_string).collect()
    }

    /// NaN where the first bit is set, the number of the others elsewhere.
    struct Hole;

    impl Function for Hole {
        fn dimension(&self) -> usize {
            3
        }
        fn value(&self, bits: &[bool]) -> f64 {
            if bits[0] { f64::NAN } else { 1e9 * bits.iter().filter(|&&bit| bit).count() as f64 }
        }
    }

    fn hole() -> Problem {
        Problem::new(Acquisition::General(Arc::new(Hole)))
    }

    #[test]
    fn an_answer_in_order_has_no_flaw() {
        let checked = problem().check(&answer("10", -3.0).with_bound(-4.0)).unwrap();
        assert_eq!((checked.value(), checked.bound(), checked.flaws()), (-3.0, Some(-4.0), &[][..]));
        assert!(flaws(&problem(), &answer("10", -3.0 + 1e-9).with_bound(-3.0 + 1e-9)).is_empty(), "rounding");
        assert!(flaws(&hole(), &answer("011", 2e9 + 1.0).with_bound(2e9 + 1.0)).is_empty(), "rounding");
    }

    #[test]
    fn what_cannot_be_used_is_an_error() {
        let error = |problem: Problem, answer: Answer| problem.check(&answer).unwrap_err().to_string();
        assert_eq!(error(problem(), answer("1", -3.0)), "it answered 1 bits to a problem of 2");
        assert_eq!(error(hole(), answer("100", 0.0)), "the acquisition function is NaN at its answer");
    }

    #[test]
    fn a_wrong_value_is_a_flaw_and_the_own_one_stands() {
        for (claimed, words) in [(-2.9, "-2.9"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
            let checked = problem().check(&answer("10", claimed)).unwrap();
            assert_eq!(checked.value(), -3.0);
            let [flaw] = checked.flaws() else { panic!("{checked:?}") };
            assert_eq!(
                flaw.to_string(),
                format!("it says that its answer has the value {words}, and the function has -3 there")
            );
        }
        assert_eq!(flaws(&hole(), &answer("011", 2e9 + 3.0)).len(), 1);
    }

    #[test]
    fn a_bound_above_the_value_is_a_flaw_and_no_bound() {
        for (bound, words) in [(-2.9, "-2.9"), (f64::INFINITY, "inf")] {
            let checked = problem().check(&answer("10", -3.0).with_bound(bound)).unwrap();
            let [flaw] = checked.flaws() else { panic!("{checked:?}") };
            assert_eq!(
                flaw.to_string(),
                format!("its bound {words} is above -3, the value of its own answer")
            );
            assert_eq!(checked.bound(), None);
        }
    }

    #[test]
    fn a_bound_that_is_not_a_number_is_a_flaw_and_one_that_says_nothing_is_none() {
        let checked = problem().check(&answer("10", -3.0).with_bound(f64::NAN)).unwrap();
        assert_eq!((checked.bound(), checked.flaws()), (None, &[Flaw::BoundNotANumber][..]));
        assert_eq!(checked.flaws()[0].to_string(), "its bound is not a number");
        let checked = problem().check(&answer("10", -3.0).with_bound(f64::NEG_INFINITY)).unwrap();
        assert_eq!((checked.bound(), checked.flaws()), (None, &[][..]));
    }

    #[test]
    fn groups_and_constraints_that_are_not_kept_are_flaws() {
        let chosen = |index| Literal::new(index, 1);
        let layout = Layout::with_groups(4, vec![0..2, 2..4])
            .and_then(|layout| {
                layout.with_constraints(vec![
                    Constraint::Fixed(chosen(3)),
                    Constraint::AtMost { count: 1, of: vec![chosen(0), chosen(3)] },
                ])
            })
            .unwrap();
        let problem = Problem::new(Quadratic::zero(4)).with_layout(&layout);
        assert!(flaws(&problem, &answer("0101", 0.0)).is_empty());
        assert_eq!(
            flaws(&problem, &answer("1100", 0.0)),
            [
                "it set 2 of the bits 0 to 1, a group that takes exactly one",
                "it set 0 of the bits 2 to 3, a group that takes exactly one",
                "it does not keep to the constraint: always x[3]=1",
            ]
        );
        assert_eq!(
            flaws(&problem, &answer("1001", 0.0)),
            ["it does not keep to the constraint: at most 1 of x[0]=1, x[3]=1"]
        );
    }
}
