//! Branch and bound: splits the space by a bit at a time until each part is proven to hold nothing better.
//!
//! A tabu search comes first; each part is bounded by the roof dual, which also fixes bits, and where that is not
//! enough by the semidefinite relaxation. The problem's work limit counts parts.
//!
//! It keeps all rules, and its bound and its proof are for the points that keep them. The search moves among these points;
//! a part has what follows from its bits by the rules decided too; the relaxation has the rules that are left folded in with
//! multipliers, and small parts are tried point by point.

use std::time::Instant;

use plugin_api::{Answer, Bits, Error, Problem, Result, Rule, Solver, Stop, export_solver, rng};
use shared_branching::Tree;
use shared_cuts::magnitude;
use shared_one_flip::{Search, Settings};
use shared_rules::Rules;

mod options;

use options::Options;

export_solver!("branch-and-bound", |options: Options| BranchAndBound(options));

struct BranchAndBound(Options);

/// Beyond this many bits, the flow of the roof dual takes more than half a gigabyte.
const MOST_BITS: usize = 4000;

impl Solver for BranchAndBound {
    fn minimize(&mut self, problem: &Problem, seed: u64) -> Result<Answer> {
        let f = problem.quadratic()?;
        let n = f.dimension();
        if n > MOST_BITS {
            return Err(Error::new(format!(
                "{n} bits, which is more than the {MOST_BITS} that can be branched on"
            )));
        }
        // Flows and bounds add each coefficient a few times.
        if !(16.0 * magnitude(f)).is_finite() {
            return Err(Error::new("the function's coefficients add up to more than a number can hold"));
        }
        let started = Instant::now();
        let in_time = || problem.time_limit().is_none_or(|limit| started.elapsed() < limit);
        let rng = &mut rng(seed);
        let rules = Rules::of(problem.layout())?;
        let start = problem.starts().rows().next();
        let mut search = match rules.is_empty() {
            true => {
                let mut search = Search::new(f, Settings::of_dimension(n));
                search.start_from(start.map_or_else(|| Bits::zeros(n), Bits::from));
                search
            }
            false => Search::within(f, &rules, start, Settings::under_rules(n), rng)?,
        };
        while !search.is_done() && in_time() {
            search.walk_while(u64::MAX, rng, &in_time);
        }
        let (_, bits) = search.best().expect("the first point has a finite value");
        let mut tree = Tree::within(f, &rules, bits.clone());
        let most = problem.work_limit().unwrap_or(u64::MAX);
        let stop = loop {
            if tree.is_done() || tree.nodes() >= self.0.nodes {
                break Stop::Done;
            }
            if tree.nodes() >= most {
                break Stop::Work;
            }
            if !in_time() {
                break Stop::Time;
            }
            tree.step_while(most.min(self.0.nodes) - tree.nodes(), rng, &in_time)?;
        };
        let (value, bits) = tree.best();
        let answer = Answer::new(bits.clone(), value)
            .with_count("nodes", tree.nodes())
            .with_count("moves", search.moves())
            .with_stop(stop);
        Ok(if tree.bound().is_finite() { answer.with_bound(tree.bound()) } else { answer })
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
    use golden_instances::{biq_mac_up_to, instance, instances_up_to};
    use plugin_api::Quadratic;
    use plugin_api::testing::{check_solver, random_quadratic};
    use std::time::Duration;

    fn minimize(problem: &Problem) -> Answer {
        BranchAndBound(Options::default()).minimize(problem, 1).unwrap()
    }

    #[test]
    fn branch_and_bound_keeps_the_contract_of_solvers() {
        check_solver(|| BranchAndBound(Options::default()));
        check_solver(|| BranchAndBound(Options { nodes: 2 }));
    }

    #[test]
    fn minima_of_random_problems_with_rules_are_proven() {
        check(|| BranchAndBound(Options::default()), 3_000_000, Promise::Proven);
        check(|| BranchAndBound(Options { nodes: 1 }), 0, Promise::Feasible);
    }

    #[test]
    fn the_minima_of_acquisition_functions_of_up_to_50_bits_are_proven() {
        for case in cases_up_to(50) {
            let answer = minimize(&Problem::new(case.function));
            let scale = 1e-9 * case.best_known.abs();
            assert!((answer.value() - case.best_known).abs() <= scale, "{}: {answer:?}", case.name);
            let bound = answer.bound().unwrap();
            assert!(
                bound <= case.best_known && answer.value() - bound <= 10.0 * scale,
                "{}: {answer:?}",
                case.name
            );
        }
    }

    #[test]
    fn whole_coefficients_of_up_to_80_bits_are_proven_to_the_last_digit() {
        for instance in instances_up_to(80).into_iter().chain(biq_mac_up_to(80)) {
            let answer = minimize(&Problem::new(instance.function));
            let best = instance.best_known;
            assert_eq!((answer.value(), answer.bound()), (best, Some(best)), "{}", instance.name);
        }
    }

    #[test]
    fn limits_are_kept_and_told_and_more_nodes_prove_more() {
        let function = || instance("uniform_n100_3").function;
        let nodes = |answer: &Answer| answer.counts()[0].1;
        let mut last = f64::NEG_INFINITY;
        for most in [1, 2, 10, 31] {
            let answer = minimize(&Problem::new(function()).with_work_limit(most));
            assert_eq!((nodes(&answer), answer.stop()), (most, Stop::Work));
            let bound = answer.bound().unwrap();
            assert!(bound >= last && bound < answer.value(), "{bound} after {most} nodes");
            last = bound;
            let capped =
                BranchAndBound(Options { nodes: most }).minimize(&Problem::new(function()), 1).unwrap();
            assert_eq!((nodes(&capped), capped.stop(), capped.bound()), (most, Stop::Done, Some(bound)));
        }
        let none = minimize(&Problem::new(function()).with_work_limit(0));
        assert_eq!((nodes(&none), none.stop(), none.bound()), (0, Stop::Work, None));
        let late = minimize(&Problem::new(function()).with_time_limit(Duration::ZERO));
        assert_eq!((nodes(&late), late.stop(), late.bound()), (0, Stop::Time, None));
    }

    #[test]
    fn what_cannot_be_done_is_an_error_and_no_bits_an_answer() {
        let mut f = Quadratic::zero(3);
        f.add_pair(0, 1, f64::MAX);
        assert!(BranchAndBound(Options::default()).minimize(&Problem::new(f), 1).is_err());
        let many = Problem::new(Quadratic::zero(MOST_BITS + 1));
        assert!(BranchAndBound(Options::default()).minimize(&many, 1).is_err());
        assert_eq!(minimize(&Problem::new(Quadratic::zero(0))).bits().len(), 0);
        let answer = minimize(&Problem::new(random_quadratic(&mut rng(1), 1)));
        assert_eq!(answer.counts()[0].1, 1);
    }
}
