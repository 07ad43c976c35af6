//! The best of many points, then steepest descent from several of them at once.
//!
//! The usual way to optimise the acquisition function of a model that is not quadratic: an ascent of the expected
//! improvement is a descent of its negative logarithm. The function is asked in bulk: once for all candidates, and once
//! a step for all moves of all points that still descend.
//!
//! It takes any function and keeps all rules. Where random points keep them now and then, the candidates are those that do;
//! where hardly any does, a complete search finds them. Moves turn over a free bit or choose another bit of a group; where
//! none of these gains, two are made together of which the first alone breaks a rule that counts or weighs. The problem's
//! work limit counts steps of the descents.

use plugin_api::{AcquisitionKind, Answer, Problem, Result, Rule, Solver, export_solver, rng};

mod candidates; // where to begin
mod descent; // the algorithm
mod options;

use options::Options;

export_solver!("ascent", |options: Options| options.checked().map(|options| Ascent { options }));

struct Ascent {
    options: Options,
}

impl Solver for Ascent {
    fn minimize(&mut self, problem: &Problem, seed: u64) -> Result<Answer> {
        descent::minimize(problem, &self.options, &mut rng(seed))
    }

    fn takes(&self, kind: AcquisitionKind) -> bool {
        matches!(kind, AcquisitionKind::Quadratic | AcquisitionKind::General)
    }

    fn keeps(&self, rule: Rule) -> bool {
        shared_rules::known(rule)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use golden_constrained::{Promise, check};
    use plugin_api::testing::{check_solver, minimum, random_quadratic};
    use plugin_api::{Acquisition, BitMatrix, Bits, Constraint, Function, Layout, Literal, Quadratic, Stop};

    use super::*;

    fn ascent() -> Ascent {
        Ascent { options: Options::default() }
    }

    fn minimize(problem: &Problem, seed: u64) -> Answer {
        ascent().minimize(problem, seed).unwrap()
    }

    #[test]
    fn ascent_keeps_the_contract_of_solvers() {
        check_solver(ascent);
        let few = Options { points: 50, neighbourhoods: 0, shaken: 0, descents: 1, ..Options::default() };
        check_solver(|| Ascent { options: few.clone() });
    }

    #[test]
    fn small_problems_with_groups_are_solved() {
        let layout = Layout::with_groups(12, vec![1..5, 6..9]).unwrap();
        for seed in 0..20 {
            let problem = Problem::new(random_quadratic(&mut rng(seed), 12)).with_layout(&layout);
            assert!((minimize(&problem, seed).value() - minimum(&problem)).abs() < 1e-12);
        }
    }

    /// A function under other names of its bits: `f` of the bits where some are turned over.
    struct Turned {
        f: Quadratic,
        turned: Vec<usize>,
    }

    impl Function for Turned {
        fn dimension(&self) -> usize {
            self.f.dimension()
        }
        fn value(&self, bits: &[bool]) -> f64 {
            self.f.value(&turn(bits, &self.turned))
        }
    }

    fn turn(bits: &[bool], turned: &[usize]) -> Bits {
        let mut bits = Bits::from(bits);
        turned.iter().for_each(|&i| bits.flip(i));
        bits
    }

    #[test]
    fn bits_turned_over_in_a_small_function_are_turned_over_in_its_answer() {
        for seed in 0..10 {
            let f = random_quadratic(&mut rng(seed), 7);
            let plain = minimize(&Problem::new(f.clone()), seed);
            for turned in [vec![2], vec![0, 5, 6], (0..7).collect()] {
                let renamed = Acquisition::General(Arc::new(Turned { f: f.clone(), turned: turned.clone() }));
                let answer = minimize(&Problem::new(renamed), seed);
                assert_eq!(turn(answer.bits(), &turned), *plain.bits());
                assert_eq!(answer.value(), plain.value());
            }
        }
    }

    #[test]
    fn an_answer_is_a_local_minimum() {
        for seed in 0..5 {
            let f = random_quadratic(&mut rng(seed), 60);
            let answer = minimize(&Problem::new(f.clone()), seed);
            assert!((0..60).all(|i| f.flip_gain(answer.bits(), i) > -1e-9));
        }
    }

    #[test]
    fn unwanted_points_are_not_answered_where_another_was_seen() {
        let f = random_quadratic(&mut rng(1), 6);
        let mut unwanted = BitMatrix::new(6);
        let mut values = Vec::new();
        for _ in 0..63 {
            let answer = minimize(&Problem::new(f.clone()).with_unwanted(unwanted.clone()), 3);
            assert!(unwanted.rows().all(|row| row != &answer.bits()[..]));
            unwanted.push(answer.bits());
            values.push(answer.value());
        }
        // 6 bits have 64 points, and 1,000 random ones are all of them: each answer is the best that is left.
        assert!(values.is_sorted());
        let everything: Vec<Bits> =
            (0..64u32).map(|mask| (0..6).map(|i| mask >> i & 1 == 1).collect()).collect();
        let mut all = BitMatrix::new(6);
        all.extend(&everything);
        let answer = minimize(&Problem::new(f).with_unwanted(all), 3);
        assert_eq!(answer.value(), values[0]);
    }

    #[test]
    fn limits_of_work_and_time_end_the_descents() {
        let problem = || Problem::new(random_quadratic(&mut rng(2), 80));
        let one = minimize(&problem().with_work_limit(1), 1);
        assert_eq!((one.stop(), &one.counts()[1]), (Stop::Work, &("steps".to_owned(), 1)));
        let late = minimize(&problem().with_time_limit(Duration::ZERO), 1);
        assert_eq!(late.stop(), Stop::Time);
        let done = minimize(&problem(), 1);
        assert_eq!(done.stop(), Stop::Done);
        assert!(done.value() <= one.value());
    }

    #[test]
    fn points_keep_all_rules_of_random_problems() {
        let few = Options { points: 20, shaken: 5, descents: 3, ..Options::default() };
        check(|| Ascent { options: few.clone() }, 5_000_000, Promise::Feasible);
    }

    #[test]
    fn rules_that_no_random_point_keeps_are_moved_within() {
        // The best three of 60: single moves break the rule, exchanges find them.
        let all = || (0..60).map(|i| Literal::new(i, 1)).collect();
        let layout =
            Layout::free(60).with_constraints(vec![Constraint::Exactly { count: 3, of: all() }]).unwrap();
        let linear = (0..60).map(f64::from).collect();
        let f = Quadratic::new(0.0, linear, vec![0.0; 60 * 59 / 2]).unwrap();
        let answer = minimize(&Problem::new(f).with_layout(&layout), 1);
        assert_eq!(answer.value(), 0.0 + 1.0 + 2.0);
    }
}
