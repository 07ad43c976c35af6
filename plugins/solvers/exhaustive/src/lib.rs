//! Exhaustive search: tries every point, and so proves the minimum.
//!
//! Points are those that the groups admit; of these, the ones that keep to the constraints can be the answer. The
//! problem's work limit counts points.

use plugin_api::{
    Acquisition, AcquisitionKind, Answer, Error, Problem, Result, Rule, Solver, Stop, export_solver,
};

mod budget;
mod choices; // the points as a product
mod general; // the algorithms, unaware of plugins
mod options;
mod quadratic;

use budget::Budget;
use choices::{choices, describe_point_count, point_count};
use options::Options;

export_solver!("exhaustive", |options: Options| Exhaustive { options });

struct Exhaustive {
    options: Options,
}

impl Solver for Exhaustive {
    fn minimize(&mut self, problem: &Problem, _seed: u64) -> Result<Answer> {
        let choices = choices(problem.dimension(), problem.groups());
        let most = self.options.max_points;
        if point_count(&choices).is_none_or(|points| points > most) {
            return Err(Error::new(format!(
                "the problem has {} points, and `max-points` allows {most}; `annealing` and `psr` do not try each",
                describe_point_count(&choices)
            )));
        }
        // A point of a quadratic function takes nanoseconds, less than a look at the clock; that of another
        // function may take any time. Constraints are looked at point by point.
        let (bits, budget) = match problem.objective() {
            Acquisition::Quadratic(f) if problem.constraints().is_empty() => {
                let mut budget = Budget::new(problem, 1000);
                (quadratic::minimize(f, &choices, &mut budget), budget)
            }
            _ => {
                let mut budget = Budget::new(problem, 1);
                let found = general::minimize(problem, &choices, &mut budget);
                let none = || Error::new("none of the points tried keeps to the problem's constraints");
                (found.ok_or_else(none)?, budget)
            }
        };
        let value = problem.objective().value(&bits);
        let answer = Answer::new(bits, value).with_count("points", budget.points()).with_stop(budget.stop());
        let proven = budget.stop() == Stop::Done && !value.is_nan();
        Ok(if proven { answer.with_bound(value) } else { answer })
    }

    fn takes(&self, kind: AcquisitionKind) -> bool {
        matches!(kind, AcquisitionKind::Quadratic | AcquisitionKind::General)
    }

    /// All there are: it asks the problem itself which points it admits.
    fn keeps(&self, _rule: Rule) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use golden_afo::cases_up_to;
    use golden_constrained::{Promise, check};
    use plugin_api::testing::{check_solver, random_quadratic};
    use plugin_api::{Bits, Constraint, Function, Layout, Literal, Quadratic, rng};
    use std::iter::once;
    use std::time::Duration;

    fn minimize(problem: &Problem) -> Answer {
        Exhaustive { options: Options::default() }.minimize(problem, 1).unwrap()
    }

    /// Tries some of the points of large problems, where the solver itself would refuse.
    struct SomePoints;

    impl Solver for SomePoints {
        fn minimize(&mut self, problem: &Problem, seed: u64) -> Result<Answer> {
            let mut solver = Exhaustive { options: Options { max_points: u64::MAX } };
            match problem.dimension() {
                0..=20 => solver.minimize(problem, seed),
                _ => {
                    let some = Problem::new(problem.quadratic()?.clone()).with_work_limit(10_000);
                    solver.minimize(&some, seed)
                }
            }
        }
        fn takes(&self, kind: AcquisitionKind) -> bool {
            Exhaustive { options: Options::default() }.takes(kind)
        }
        fn keeps(&self, rule: Rule) -> bool {
            Exhaustive { options: Options::default() }.keeps(rule)
        }
    }

    #[test]
    fn exhaustive_keeps_the_contract_of_solvers() {
        check_solver(|| SomePoints);
    }

    #[test]
    fn minima_of_random_problems_with_rules_are_proven() {
        check(|| Exhaustive { options: Options::default() }, 9_000_000, Promise::Proven);
    }

    #[test]
    fn proven_minima_of_up_to_25_bits_are_found() {
        for case in cases_up_to(25) {
            assert!(case.proven);
            let answer = minimize(&Problem::new(case.function));
            let gap = answer.value() - case.best_known;
            assert!(gap.abs() <= 1e-12 * case.best_known.abs(), "{}: {gap} above", case.name);
            assert_eq!(*answer.bits(), case.best_known_bits, "{}", case.name);
            assert_eq!((answer.bound(), answer.stop()), (Some(answer.value()), Stop::Done));
        }
    }

    /// The value of bits read as a number, less 5, squared; and a wall where it is not a number.
    struct Wall;

    impl Function for Wall {
        fn dimension(&self) -> usize {
            4
        }
        fn value(&self, bits: &[bool]) -> f64 {
            let number = bits.iter().fold(0.0, |number, &bit| 2.0 * number + f64::from(u8::from(bit)));
            if number < 2.0 { f64::NAN } else { (number - 5.0) * (number - 5.0) }
        }
    }

    #[test]
    fn a_general_function_is_minimized_within_its_groups() {
        let wall = || Problem::new(Acquisition::General(std::sync::Arc::new(Wall)));
        assert_eq!(minimize(&wall()).bits().to_string(), "0101");
        let layout = Layout::with_groups(4, vec![0..2, 2..4]).unwrap();
        let answer = minimize(&wall().with_layout(&layout));
        assert_eq!((answer.bits().to_string().as_str(), answer.bound()), ("0101", Some(0.0)));
        let layout = Layout::with_groups(4, once(0..3).collect()).unwrap();
        let answer = minimize(&wall().with_layout(&layout));
        assert_eq!((answer.bits().to_string().as_str(), answer.value()), ("0101", 0.0));
        assert_eq!(answer.counts(), [("points".to_string(), 6)]);
    }

    #[test]
    fn the_best_point_that_keeps_the_constraints_is_found_or_none_is() {
        let f = || Quadratic::new(0.0, vec![-1.0, -2.0, -4.0], vec![0.0; 3]).unwrap();
        let of = |all: &[usize]| all.iter().map(|&i| Literal::new(i, 1)).collect::<Vec<_>>();
        let minimize = |constraints: Vec<Constraint>| {
            let layout = Layout::free(3).with_constraints(constraints).unwrap();
            let problem = Problem::new(f()).with_layout(&layout);
            Exhaustive { options: Options::default() }.minimize(&problem, 1)
        };
        let answer = minimize(vec![Constraint::AtMost { count: 1, of: of(&[0, 2]) }]).unwrap();
        assert_eq!((answer.bits().to_string().as_str(), answer.bound()), ("011", Some(-6.0)));
        let contradiction =
            vec![Constraint::Fixed(Literal::new(0, 1)), Constraint::AtMost { count: 0, of: of(&[0]) }];
        let error = minimize(contradiction).unwrap_err();
        assert_eq!(error.to_string(), "none of the points tried keeps to the problem's constraints");
    }

    #[test]
    fn a_large_problem_is_refused_with_its_size() {
        let refusal = |problem: &Problem| {
            let mut solver = Exhaustive { options: Options { max_points: 1000 } };
            solver.minimize(problem, 1).unwrap_err().to_string()
        };
        assert_eq!(
            refusal(&Problem::new(Quadratic::zero(10))),
            "the problem has 1024 points, and `max-points` allows 1000; `annealing` and `psr` do not try each"
        );
        assert!(refusal(&Problem::new(Quadratic::zero(100))).contains("about 10^30 points"));
        let layout = Layout::with_groups(10, once(0..10).collect()).unwrap();
        let grouped = Problem::new(Quadratic::zero(10)).with_layout(&layout);
        assert_eq!(minimize(&grouped).counts(), [("points".to_string(), 10)]);
    }

    #[test]
    fn limits_are_kept_and_told() {
        let f = random_quadratic(&mut rng(1), 12);
        let problem = || Problem::new(f.clone());
        let whole = minimize(&problem());
        let part = minimize(&problem().with_work_limit(101));
        assert_eq!((part.counts(), part.stop()), (&[("points".to_string(), 101)][..], Stop::Work));
        assert!(part.value() >= whole.value() && part.bound().is_none());
        assert_eq!(minimize(&problem().with_work_limit(4096)).stop(), Stop::Done);
        assert_eq!(minimize(&problem().with_work_limit(0)).bits(), &Bits::zeros(12));
        assert_eq!(minimize(&problem().with_time_limit(Duration::ZERO)).stop(), Stop::Time);
    }

    #[test]
    fn no_bits_have_an_answer() {
        let mut f = Quadratic::zero(0);
        f.add_constant(2.0);
        let answer = minimize(&Problem::new(f));
        assert_eq!((answer.bits().len(), answer.value(), answer.bound()), (0, 2.0, Some(2.0)));
    }
}
