//! Semidefinite relaxation: minimizes over unit vectors, rounds them by random hyperplanes, and proves a lower bound.
//!
//! It keeps all rules, unless it rounds as the authors do. Each rule is folded into the relaxed function with two multipliers,
//! a linear and a squared one, which are bettered in a few rounds; so the bound is one on the least value among the points
//! that keep the rules. A rounding decides bits in the order of how sure it is of them, the rules those that are left; then
//! come moves between points that keep them.

use std::time::Instant;

use plugin_api::{Answer, Problem, Result, Rule, Solver, Stop, export_solver, rng};
use shared_cuts::{Evident, MANY, Reduced, evident, magnitude};
use shared_rules::Rules;
use shared_semidefinite::{Spins, lower_bound_while, relax};

use crate::options::{Options, Polish, Rounding};
use crate::rounding::{Hyperplanes, round};

mod authors; // the authors' rounding, errors and all
#[doc(hidden)]
pub mod options; // what a manifest may set, and its limits
mod rounding; // from vectors to bits
mod within; // the same under rules

export_solver!("sdp", |options: Options| Sdp(options));

/// Its main step, which a work limit counts, is a sweep over all vectors. Where sweeps run out, or the time for
/// them, the bound and the roundings of what was reached still follow. It starts from random vectors, not from
/// the problem's starts, so that its answer shows what the relaxation is worth. Of more than a thousand bits, those whose
/// value is evident are taken out first.
#[doc(hidden)]
pub struct Sdp(pub Options);

impl Solver for Sdp {
    fn minimize(&mut self, problem: &Problem, seed: u64) -> Result<Answer> {
        let Self(options) = self;
        let f = problem.quadratic()?;
        let rules = Rules::of(problem.layout())?;
        // To one that rounds as the authors do, nobody shows rules.
        if !rules.is_empty() && options.rounding == Rounding::Correct {
            return within::minimize(options, f, &rules, problem, seed);
        }
        let deadline = problem.time_limit().map(|limit| (Instant::now(), limit));
        // Bound and roundings follow the sweeps: each has its share of the time.
        let within =
            |share: f64| deadline.is_none_or(|(start, limit)| start.elapsed() < limit.mul_f64(share));
        let in_time = || within(0.6);
        let in_work = |sweeps| problem.work_limit().is_none_or(|limit| sweeps < limit);
        let more = |sweeps| sweeps < options.max_sweeps && in_work(sweeps) && in_time();

        let mut rng = rng(seed);
        let correct = options.rounding == Rounding::Correct;
        let n = f.dimension();
        let Evident { fixed, slack } = match correct && n > MANY && magnitude(f).is_finite() {
            true => evident(f, &|| within(0.3)),
            false => Evident { fixed: vec![None; n], slack: 0.0 },
        };
        let reduced = Reduced::new(f, fixed);
        let spins = Spins::new(&reduced.function)?;
        let (relaxation, vectors, bound) = match options.rounding {
            Rounding::Correct => {
                let relaxation = relax(&spins, options.tolerance, &mut rng, more);
                let duals = relaxation.duals_while(&spins, || within(0.7));
                let bound = lower_bound_while(&spins, &duals, || within(0.8));
                let vectors = relaxation.rows();
                (relaxation, vectors, bound)
            }
            Rounding::Authors => {
                let theirs = authors::form(&spins);
                let relaxation = relax(&theirs, options.tolerance, &mut rng, more);
                // Where time runs out before there are columns, the vectors have to do.
                let columns = authors::columns_while(&theirs, &relaxation, &|| within(0.8));
                let columns = columns.unwrap_or_else(|| relaxation.rows());
                (relaxation, columns, None)
            }
        };
        // Descent takes the mean gap on the stored problems from 0.004 to 0.0001, for 3 to 12 % more time; what the
        // authors' rounding gives is shown as it is.
        let polish = options.polish.unwrap_or(if correct { Polish::Descent } else { Polish::None });
        let descent = polish == Polish::Descent;
        let planes = Hyperplanes { count: options.roundings, relative: correct, descent };
        let rounded = round(&spins, &vectors, &planes, &mut rng, || within(0.95));

        let sweeps = relaxation.sweeps;
        let all_rounded = rounded.roundings == options.roundings as u64;
        let stop = if (relaxation.converged || sweeps == options.max_sweeps) && all_rounded {
            Stop::Done
        } else if in_work(sweeps) {
            Stop::Time
        } else {
            Stop::Work
        };
        let bits = reduced.lift(&rounded.bits);
        let value = f.value(&bits);
        let answer = Answer::new(bits, value)
            .with_count("sweeps", sweeps)
            .with_count("roundings", rounded.roundings)
            .with_count("flips", rounded.flips)
            .with_stop(stop);
        Ok(match bound {
            // The minimum of the whole may be lower by what the fixed bits cost.
            Some(bound) if slack > 0.0 => answer.with_bound((bound - slack).next_down()),
            Some(bound) => answer.with_bound(bound),
            None => answer,
        })
    }

    fn keeps(&self, rule: Rule) -> bool {
        self.0.rounding == Rounding::Correct && shared_rules::known(rule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use golden_afo::{Case, cases_up_to};
    use golden_constrained::{Promise, check};
    use std::time::Duration;

    use plugin_api::{Quadratic, testing::check_solver};

    /// Mean over the problems that the authors' code answered of (value − best) / (random mean − best): 0 is
    /// the best known, 1 no better than a random point.
    fn mean_gap(value: impl Fn(&Case) -> f64) -> f64 {
        let problems = cases_up_to(usize::MAX);
        let answered: Vec<_> = problems.iter().filter(|p| p.sdp_authors.is_some()).collect();
        let gap = |p: &&Case| (value(p) - p.best_known) / (p.random_mean - p.best_known);
        answered.iter().map(gap).sum::<f64>() / answered.len() as f64
    }

    fn mean_gap_of(rounding: Rounding, polish: Polish) -> f64 {
        let options = Options { rounding, polish: Some(polish), ..Options::default() };
        let solve = |p: &Case, seed| {
            Sdp(options.clone()).minimize(&Problem::new(p.function.clone()), seed).unwrap().value()
        };
        mean_gap(|p| (0..4).map(|seed| solve(p, seed)).sum::<f64>() / 4.0)
    }

    fn solve(options: Options, problem: &Problem) -> Answer {
        Sdp(options).minimize(problem, 1).unwrap()
    }

    fn stored_problem(name: &str) -> Problem {
        let found = cases_up_to(usize::MAX).into_iter().find(|p| p.name == name);
        Problem::new(found.expect("a stored problem").function)
    }

    #[test]
    fn it_keeps_the_contract_of_solvers() {
        for rounding in [Rounding::Correct, Rounding::Authors] {
            for polish in [Polish::Descent, Polish::None] {
                check_solver(|| Sdp(Options { rounding, polish: Some(polish), ..Options::default() }));
            }
        }
    }

    #[test]
    fn points_keep_all_rules_of_random_problems_and_bounds_hold_for_those_that_do() {
        let some = Options { roundings: 10, ..Options::default() };
        check(|| Sdp(some.clone()), 8_000_000, Promise::Feasible);
        let plain = Options { polish: Some(Polish::None), max_sweeps: 3, ..some };
        check(|| Sdp(plain.clone()), 0, Promise::Feasible);
    }

    #[test]
    fn the_authors_rounding_keeps_no_rule() {
        let keeps = |rounding| Sdp(Options { rounding, ..Options::default() }).keeps(Rule::Groups);
        assert!(keeps(Rounding::Correct) && !keeps(Rounding::Authors));
    }

    #[test]
    fn proven_minima_are_found() {
        for p in cases_up_to(usize::MAX).iter().filter(|p| p.function.dimension() <= 25) {
            let value = solve(Options::default(), &Problem::new(p.function.clone())).value();
            assert!((value - p.best_known).abs() < 1e-9, "{}: {value}, not {}", p.name, p.best_known);
        }
    }

    #[test]
    fn bounds_are_below_the_best_known_and_reach_the_stored_ones() {
        for p in cases_up_to(usize::MAX) {
            let bound = solve(Options::default(), &Problem::new(p.function.clone())).bound().unwrap();
            // Both are bounds, so theirs may not be above the optimum that ours is close to, nor ours far below theirs.
            let short = (p.sdp_lower_bound - bound) / p.sdp_optimum.abs();
            assert!(bound <= p.best_known && bound <= p.sdp_optimum, "{}: {bound}", p.name);
            assert!(short < 2e-5, "{}: short by {short:e}", p.name);
        }
    }

    #[test]
    fn correct_rounding_is_far_better_than_the_authors_and_descent_better_still() {
        let (none, descent) = (Polish::None, Polish::Descent);
        let correct = mean_gap_of(Rounding::Correct, none);
        let polished = mean_gap_of(Rounding::Correct, descent);
        let authors = mean_gap_of(Rounding::Authors, none);
        let stored = mean_gap(|p| p.sdp_authors.expect("answered by the authors' code"));
        assert!(correct < 0.004, "{correct}");
        assert!(polished < 2e-4, "{polished}");
        // One answer of theirs to each problem: the standard error of their mean is 0.009.
        assert!((authors - stored).abs() < 0.025, "{authors}, and {stored} by their own code");
        assert!(stored > 0.18);
    }

    #[test]
    fn the_authors_rounding_is_not_polished_unless_asked() {
        let problem = stored_problem("labs_n050_1");
        let answer =
            |polish| solve(Options { rounding: Rounding::Authors, polish, ..Options::default() }, &problem);
        assert_eq!(answer(None), answer(Some(Polish::None)));
        assert!(answer(Some(Polish::Descent)).value() < answer(None).value());
        assert_eq!(answer(None).bound(), None);
    }

    #[test]
    fn a_single_bit_shows_the_authors_errors() {
        // −x: X is all ones, L has the rows (1, 0) and (1, 0+), and sign(Lᵀr)₁ = sign(r₁ + r₂) is a fair coin.
        let problem = Problem::new(Quadratic::new(0.0, vec![-1.0], vec![]).unwrap());
        let found = |rounding| {
            let options =
                Options { rounding, roundings: 1, polish: Some(Polish::None), ..Options::default() };
            let mut solver = Sdp(options);
            (0..1000).filter(|&seed| solver.minimize(&problem, seed).unwrap().bits()[0]).count()
        };
        assert_eq!(found(Rounding::Correct), 1000);
        let by_chance = found(Rounding::Authors);
        assert!((450..550).contains(&by_chance), "{by_chance}");
    }

    #[test]
    fn more_roundings_are_never_worse() {
        let problem = stored_problem("dense_n100_1");
        let value = |roundings| {
            let options = Options { roundings, polish: Some(Polish::None), ..Options::default() };
            solve(options, &problem).value()
        };
        let values = [1, 7, 8, 9, 50, 100].map(value);
        assert!(values.is_sorted_by(|a, b| a >= b), "{values:?}");
        assert!(values[0] > values[5]);
    }

    #[test]
    fn limits_are_kept_and_the_bound_holds_all_the_same() {
        let problem = || stored_problem("hs_n100_1");
        let lowest = -48.518_758_905_267_994; // the best known
        let sweeps = |answer: &Answer| answer.counts()[0].clone();
        let limited = solve(Options::default(), &problem().with_work_limit(3));
        assert_eq!((limited.stop(), sweeps(&limited)), (Stop::Work, ("sweeps".to_owned(), 3)));
        let capped = solve(Options { max_sweeps: 3, ..Options::default() }, &problem());
        assert_eq!((capped.stop(), sweeps(&capped)), (Stop::Done, ("sweeps".to_owned(), 3)));
        let timed = solve(Options::default(), &problem().with_time_limit(Duration::ZERO));
        assert_eq!((timed.stop(), sweeps(&timed)), (Stop::Time, ("sweeps".to_owned(), 0)));
        let free = solve(Options::default(), &problem());
        assert_eq!(free.stop(), Stop::Done);
        let bounds = [timed, capped, free].map(|answer| answer.bound().unwrap());
        assert!(bounds[0] < bounds[1] && bounds[1] < bounds[2] && bounds[2] < lowest, "{bounds:?}");
    }

    #[test]
    fn evident_bits_of_a_large_problem_are_taken_out_and_the_bound_counts_them() {
        // A frustrated triangle, lowest at −1 with its relaxation at −9/8, among thousands of bits that decide themselves.
        let mut f = Quadratic::zero(3000);
        (0..3000).for_each(|i| f.add_linear(i, if i % 2 == 0 { 1.0 } else { -1.0 }));
        for i in [0, 1000, 2000] {
            f.add_linear(i, -2.0);
        }
        for (i, j) in [(0, 1000), (0, 2000), (1000, 2000)] {
            f.add_pair(i, j, 1.0);
        }
        let answer = solve(Options::default(), &Problem::new(f.clone()));
        let bound = answer.bound().unwrap() + 1500.0;
        assert_eq!(answer.value(), -1501.0);
        assert!((-1.126..-1.124).contains(&bound), "{bound}");
        let late = solve(Options::default(), &Problem::new(f).with_time_limit(Duration::ZERO));
        assert_eq!((late.stop(), late.bits().len()), (Stop::Time, 3000));
        assert!(late.bound().unwrap() <= -1501.0);
    }

    #[test]
    fn no_bits_and_huge_coefficients_are_no_trouble() {
        let nothing = solve(Options::default(), &Problem::new(Quadratic::new(2.0, vec![], vec![]).unwrap()));
        assert!(nothing.bits().is_empty() && nothing.value() == 2.0);
        assert!((nothing.bound().unwrap() - 2.0).abs() < 1e-13);
        let f = Quadratic::new(0.0, vec![f64::MAX, -f64::MAX / 4.0], vec![f64::MAX / 2.0]).unwrap();
        assert_eq!(solve(Options::default(), &Problem::new(f)).bits().to_string(), "01");
    }

    #[test]
    fn an_answer_has_the_same_bits_on_every_machine() {
        let answer = solve(Options::default(), &stored_problem("ising_n024_0"));
        assert_eq!(answer.bound().map(f64::to_bits), Some(0xc019_a0fc_cf2c_c497));
    }
}
