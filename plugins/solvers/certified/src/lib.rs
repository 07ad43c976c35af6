//! Certified: the roof dual and its persistencies, tabu search, the semidefinite bound, and branch and bound, until
//! the answer is proven to be a minimum or all of them have done what they may. The answer carries the best bound.
//!
//! It keeps all rules. Where there are any, the search moves among the points that keep them, the semidefinite relaxation
//! and branch and bound have them folded in with multipliers, and the bound is one on the least value among these points.
//!
//! The problem's work limit counts moves of the search; what is proven has a limit of its own, `nodes`.

use std::time::Instant;

use plugin_api::{Answer, Error, Problem, Result, Rule, Solver, export_solver, rng};
use shared_cuts::magnitude;
use shared_rules::Rules;

#[doc(hidden)]
pub mod options;
mod portfolio; // the algorithm, unaware of plugins
mod within; // the same under rules

use options::Options;
use portfolio::Limits;

export_solver!("certified", |options: Options| Certified(options));

#[doc(hidden)]
pub struct Certified(pub Options);

impl Solver for Certified {
    fn minimize(&mut self, problem: &Problem, seed: u64) -> Result<Answer> {
        let f = problem.quadratic()?;
        // Flows and bounds add each coefficient a few times.
        if !(16.0 * magnitude(f)).is_finite() {
            return Err(Error::new("the function's coefficients add up to more than a number can hold"));
        }
        let limits = Limits {
            moves: problem.work_limit().unwrap_or(u64::MAX),
            deadline: problem.time_limit().map(|limit| (Instant::now(), limit)),
        };
        let start = problem.starts().rows().next();
        let (rules, rng) = (Rules::of(problem.layout())?, &mut rng(seed));
        let found = match rules.is_empty() {
            true => portfolio::minimize(f, start, &self.0, &limits, rng)?,
            false => within::minimize(f, &rules, start, &self.0, &limits, rng)?,
        };
        let answer = Answer::new(found.bits, found.value)
            .with_count("fixed", found.fixed)
            .with_count("walks", found.walks)
            .with_count("moves", found.moves)
            .with_count("nodes", found.nodes)
            .with_stop(found.stop);
        Ok(if found.bound.is_finite() { answer.with_bound(found.bound) } else { answer })
    }

    fn keeps(&self, rule: Rule) -> bool {
        shared_rules::known(rule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use golden_afo::cases_up_to;
    use golden_constrained::{Promise, check};
    use golden_instances::{biq_mac_up_to, instances_up_to};
    use plugin_api::rand::RngExt;
    use plugin_api::testing::{check_solver, minimum, random_quadratic};
    use plugin_api::{BitMatrix, Bits, Layout, Quadratic, Stop};
    use std::time::Duration;

    fn minimize(problem: &Problem, seed: u64) -> Answer {
        Certified(Options::default()).minimize(problem, seed).unwrap()
    }

    fn gap(answer: &Answer) -> f64 {
        answer.value() - answer.bound().unwrap()
    }

    #[test]
    fn certified_keeps_the_contract_of_solvers() {
        check_solver(|| Certified(Options::default()));
        check_solver(|| Certified(Options { effort: 1, nodes: Some(1) }));
        check_solver(|| Certified(Options { effort: 3, nodes: Some(0) }));
    }

    #[test]
    fn minima_of_random_problems_with_rules_are_proven() {
        check(|| Certified(Options::default()), 2_000_000, Promise::Proven);
        check(|| Certified(Options { effort: 1, nodes: Some(1) }), 0, Promise::Feasible);
    }

    #[test]
    fn limits_are_kept_under_rules_too() {
        let groups = (0..10).map(|g| 4 * g..4 * g + 4).collect();
        let layout = Layout::with_groups(40, groups).unwrap();
        let problem = || Problem::new(random_quadratic(&mut rng(1), 40)).with_layout(&layout);
        let moves = |answer: &Answer| answer.counts()[2].1;
        for most in [0, 1, 100] {
            let answer = minimize(&problem().with_work_limit(most), 1);
            assert_eq!((moves(&answer), answer.stop()), (most, Stop::Work));
            assert!(answer.bound().is_some() && layout.admits(answer.bits()));
        }
        let late = minimize(&problem().with_time_limit(Duration::ZERO), 1);
        assert_eq!((moves(&late), late.stop(), late.bound()), (0, Stop::Time, None));
        assert!(layout.admits(late.bits()));
        let free = minimize(&problem(), 1);
        assert_eq!(free, minimize(&problem().with_work_limit(u64::MAX), 1));
        assert!(gap(&free) <= 1e-8 * free.value().abs(), "{free:?}");
    }

    #[test]
    fn the_best_known_values_of_acquisition_functions_are_reached_and_not_bounded_away() {
        for case in cases_up_to(usize::MAX) {
            let most = if case.function.dimension() <= 100 { 1e-9 } else { 1e-3 };
            let answer = minimize(&Problem::new(case.function), 1);
            let above = (answer.value() - case.best_known) / case.best_known.abs();
            assert!(above.abs() <= most, "{}: {above} above", case.name);
            assert!(answer.bound().unwrap() <= case.best_known, "{}: {answer:?}", case.name);
            // The semidefinite relaxation leaves a few per cent of most, 14 % of dense ones.
            assert!(gap(&answer) <= 0.15 * case.best_known.abs(), "{}: {answer:?}", case.name);
            assert_eq!(answer.stop(), Stop::Done);
        }
    }

    #[test]
    fn the_best_known_values_of_whole_coefficients_are_reached_and_not_bounded_away() {
        let generated = instances_up_to(usize::MAX).into_iter().map(|instance| {
            // One search misses the minima of large sparse and banded functions by a little.
            let most = if instance.function.dimension() <= 120 { 0.0 } else { 2e-3 };
            (instance, most)
        });
        let library = biq_mac_up_to(usize::MAX).into_iter().map(|instance| (instance, 0.0));
        for (instance, most) in generated.chain(library) {
            let answer = minimize(&Problem::new(instance.function), 1);
            let above = (answer.value() - instance.best_known) / instance.best_known.abs();
            assert!((0.0..=most).contains(&above), "{}: {above} above", instance.name);
            assert!(answer.bound().unwrap() <= instance.best_known, "{}", instance.name);
        }
    }

    #[test]
    fn acquisition_functions_of_up_to_50_bits_are_proven() {
        for case in cases_up_to(50) {
            let answer = minimize(&Problem::new(case.function), 1);
            assert!(gap(&answer) <= 1e-8 * case.best_known.abs(), "{}: {answer:?}", case.name);
            let nodes = answer.counts()[3].1;
            assert!(nodes < 130, "{}: {nodes} nodes", case.name);
        }
    }

    #[test]
    fn whole_coefficients_are_proven_to_the_last_digit() {
        let some = ["uniform_n050_1", "heavy_n050_1", "bqp50-1", "gka1a"];
        let instances = instances_up_to(50).into_iter().chain(biq_mac_up_to(50));
        for instance in instances.filter(|i| i.function.dimension() <= 40 || some.contains(&&*i.name)) {
            let answer = minimize(&Problem::new(instance.function), 1);
            let best = instance.best_known;
            assert_eq!((answer.value(), answer.bound()), (best, Some(best)), "{}", instance.name);
        }
    }

    #[test]
    fn bounds_are_never_above_the_minimum_and_few_free_bits_are_proven() {
        let rng = &mut rng(1);
        let mut proven = 0;
        for case in 0..3000 {
            let n = case % 13;
            let mut f = random_quadratic(rng, n);
            if case % 3 == 0 {
                let whole = |values: &[f64]| values.iter().map(|value| (2.0 * value).round()).collect();
                f = Quadratic::new(rng.random_range(-3..=3).into(), whole(f.linear()), whole(f.pairs()))
                    .unwrap();
            }
            let exact = minimum(&Problem::new(f.clone()));
            let answer = minimize(&Problem::new(f), case as u64);
            assert!(answer.bound().unwrap() <= exact, "{} above {exact}", answer.bound().unwrap());
            assert!((answer.value() - exact).abs() < 1e-12);
            proven += usize::from(gap(&answer) < 1e-9);
        }
        assert_eq!(proven, 3000);
    }

    #[test]
    fn bounds_of_the_whole_space_hold_too() {
        for seed in 0..300 {
            let f = random_quadratic(&mut rng(seed), 15);
            let exact = minimum(&Problem::new(f.clone()));
            let options = Options { nodes: Some(1), ..Options::default() };
            let answer = Certified(options).minimize(&Problem::new(f), seed).unwrap();
            assert!(answer.bound().unwrap() <= exact && (answer.value() - exact).abs() < 1e-12);
        }
    }

    #[test]
    fn a_proven_minimum_ends_the_search() {
        let mut f = Quadratic::zero(40);
        (0..40).for_each(|i| f.add_linear(i, 1.0 - 2.0 * (i % 2) as f64));
        let answer = minimize(&Problem::new(f), 1);
        assert_eq!((answer.value(), answer.bound()), (-20.0, Some(-20.0)));
        assert_eq!(
            answer.counts()[1..],
            [("walks", 0), ("moves", 0), ("nodes", 0)].map(|(name, count)| (name.to_string(), count))
        );
    }

    #[test]
    fn limits_are_kept_and_told() {
        let problem = || Problem::new(random_quadratic(&mut rng(1), 40));
        let moves = |answer: &Answer| answer.counts()[2].1;
        for most in [0, 1, 1000] {
            let answer = minimize(&problem().with_work_limit(most), 1);
            assert_eq!((moves(&answer), answer.stop()), (most, Stop::Work));
            assert!(answer.bound().is_some());
        }
        let late = minimize(&problem().with_time_limit(Duration::ZERO), 1);
        assert_eq!((moves(&late), late.stop(), late.bound()), (0, Stop::Time, None));
        let free = minimize(&problem(), 1);
        assert_eq!(free, minimize(&problem().with_work_limit(u64::MAX), 1));
        assert_eq!(free.stop(), Stop::Done);
    }

    /// Thousands of bits, of which one pair touches two.
    fn one_pair(n: usize) -> Quadratic {
        let mut f = Quadratic::zero(n);
        f.add_pair(17, n - 1, -3.0);
        f.add_linear(17, 1.0);
        f.add_linear(n / 2, -2.0);
        f
    }

    #[test]
    fn thousands_of_bits_that_no_pair_touches_are_taken_out_first() {
        for n in [1500, 6000] {
            let answer = minimize(&Problem::new(one_pair(n)), 1);
            assert_eq!((answer.value(), answer.bound(), answer.stop()), (-4.0, Some(-4.0), Stop::Done));
            let counts: Vec<u64> = answer.counts().iter().map(|(_, count)| *count).collect();
            assert_eq!(counts, [n as u64, 0, 0, 0], "all fixed; no walks, moves or nodes");
        }
    }

    #[test]
    fn thousands_of_bits_have_an_answer_after_the_deadline() {
        let problem = Problem::new(one_pair(1500)).with_time_limit(Duration::ZERO);
        let answer = minimize(&problem, 1);
        assert_eq!((answer.bits().len(), answer.value(), answer.stop()), (1500, 0.0, Stop::Time));
        assert!(answer.counts().iter().all(|(_, count)| *count == 0), "{answer:?}");
    }

    #[test]
    fn the_answer_is_never_worse_than_the_first_start() {
        let case = cases_up_to(50).pop().expect("a case");
        let mut starts = BitMatrix::new(case.function.dimension());
        starts.push(&case.best_known_bits);
        let problem = Problem::new(case.function).with_starts(starts);
        let answer = minimize(&problem.with_work_limit(0), 1);
        assert_eq!(*answer.bits(), case.best_known_bits);
    }

    #[test]
    fn numbers_too_large_to_add_are_an_error_and_no_bits_an_answer() {
        let mut f = Quadratic::zero(3);
        f.add_pair(0, 1, f64::MAX);
        assert!(Certified(Options::default()).minimize(&Problem::new(f), 1).is_err());
        let answer = minimize(&Problem::new(Quadratic::zero(0)), 1);
        assert_eq!((answer.bits(), answer.value()), (&Bits::zeros(0), 0.0));
    }

    #[test]
    fn an_answer_has_the_same_bits_on_every_machine() {
        let case = cases_up_to(50).into_iter().find(|case| case.name == "labs_n050_1").expect("a case");
        let answer = minimize(&Problem::new(case.function), 1);
        assert_eq!(answer.bound().map(f64::to_bits), Some(0xc01c_d3a4_6933_f6fe));
        assert_eq!(answer.counts()[2], ("moves".to_string(), 3655));
    }
}
