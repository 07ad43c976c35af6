//! Random problems with mixed rules, each small enough to try all of its points, and what answers to them have to be.
//!
//! A solver's own test is one call of [`check`]. It takes 1,200 problems, other ones for each solver;
//! `CONSTRAINED_PROBLEMS` in the environment says how many, where other numbers are wanted.

mod large; // for benchmarks and for other programs
mod random; // the problems

use plugin_api::testing::minimum;
use plugin_api::{Solver, Stop};

pub use large::large;
pub use random::{problem, unsatisfiable};

/// What is promised beyond points that keep all rules, and bounds that hold for these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// Nothing.
    Feasible,
    /// The minimum, and a bound that proves it.
    Proven,
}

/// How many problems a call of [`check`] takes.
fn count() -> u64 {
    let asked = std::env::var("CONSTRAINED_PROBLEMS").ok();
    asked.map_or(1200, |count| count.parse().expect("CONSTRAINED_PROBLEMS is a number"))
}

/// Checks the answers to problems whose numbers begin with `first`, so that each caller has its own.
///
/// # Panics
/// At the first answer that breaks a rule or the promise, that says no value or a wrong one, and at a bound above the minimum;
/// and where a problem without any point has an answer, or an error that does not say so.
pub fn check<S: Solver>(make: impl Fn() -> S, first: u64, promise: Promise) {
    for number in first..first + count() {
        let problem = problem(number);
        let exact = minimum(&problem);
        let answer = make().minimize(&problem, number).unwrap_or_else(|error| panic!("{number}: {error}"));
        let checked = problem.check(&answer).unwrap_or_else(|error| panic!("{number}: {error}"));
        assert!(checked.flaws().is_empty(), "{number}: {:?}", checked.flaws());
        let room = 1e-9 * problem.quadratic().map_or(1.0, |f| f.magnitude()) + 1e-300;
        assert!(answer.value() >= exact - room, "{number}: {} below the minimum {exact}", answer.value());
        if let Some(bound) = answer.bound() {
            assert!(bound <= exact, "{number}: the bound {bound} is above the minimum {exact}");
        }
        if promise == Promise::Proven {
            let bound = answer.bound().unwrap_or_else(|| panic!("{number}: no bound"));
            assert!(answer.value() - exact <= room, "{number}: {}, not {exact}", answer.value());
            assert!(exact - bound <= room, "{number}: a bound of {bound} for {exact}");
            assert_eq!(answer.stop(), Stop::Done);
        }
    }
    for number in first..first + count() / 10 {
        let error = make().minimize(&unsatisfiable(number), number).expect_err("a problem without points");
        assert!(error.to_string().contains("keeps"), "{number}: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::{Answer, Bits, Constraint, Error, Problem, Result, Rule};
    use std::collections::BTreeMap;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn problems_have_points_and_every_sort_of_rule_and_the_others_have_none() {
        let mut rules: BTreeMap<Rule, usize> = BTreeMap::new();
        let mut tight = 0;
        for number in 0..300 {
            let problem = problem(number);
            let n = problem.dimension();
            let all = (0..1u32 << n).map(|mask| (0..n).map(|i| mask >> i & 1 == 1).collect::<Vec<_>>());
            let points = all.filter(|bits| problem.admits(bits)).count();
            assert!(points > 0, "{number}");
            tight += usize::from(points < 10);
            problem
                .constraints()
                .iter()
                .map(Constraint::rule)
                .for_each(|rule| *rules.entry(rule).or_default() += 1);
            *rules.entry(Rule::Groups).or_default() += problem.groups().len();
            assert_eq!(minimum(&unsatisfiable(number)), f64::INFINITY);
        }
        assert!(Rule::ALL.iter().all(|rule| rules.get(rule).is_some_and(|count| *count > 50)), "{rules:?}");
        assert!((30..200).contains(&tight), "{tight} of 300 problems have fewer than ten points");
    }

    /// Tries every point, and is more or less honest about it.
    #[derive(Clone, Copy, Default)]
    struct All {
        breaks: bool,
        misses: bool,
        boasts: bool,
        silent: bool,
    }

    impl Solver for All {
        fn minimize(&mut self, problem: &Problem, _seed: u64) -> Result<Answer> {
            let n = problem.dimension();
            let all = (0..1u32 << n).map(|mask| (0..n).map(|i| mask >> i & 1 == 1).collect::<Bits>());
            let value = |bits: &Bits| problem.objective().value(bits);
            let mut points: Vec<Bits> = all.filter(|bits| self.breaks || problem.admits(bits)).collect();
            points.sort_by(|a, b| value(a).total_cmp(&value(b)));
            let best = points.first().filter(|_| !self.silent);
            let best = best.ok_or_else(|| Error::new("no point keeps the rules"))?;
            let taken = if self.misses { points.last().unwrap_or(best) } else { best };
            let bound = value(best) + if self.boasts { 0.1 } else { 0.0 };
            Ok(Answer::new(taken.clone(), value(taken)).with_bound(bound))
        }
        fn keeps(&self, _rule: Rule) -> bool {
            true
        }
    }

    #[test]
    fn an_honest_solver_passes_and_each_lie_is_found() {
        check(All::default, 0, Promise::Proven);
        check(|| All { misses: true, ..All::default() }, 0, Promise::Feasible);
        for lie in [
            All { breaks: true, ..All::default() },
            All { misses: true, ..All::default() },
            All { boasts: true, ..All::default() },
            All { silent: true, ..All::default() },
        ] {
            assert!(catch_unwind(AssertUnwindSafe(|| check(|| lie, 0, Promise::Proven))).is_err());
        }
    }
}
