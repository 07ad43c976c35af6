//! Tabu search: at each move the best flip of a bit that was not turned over lately, in many walks.
//!
//! It keeps all rules: where there are any, walks go from one point that keeps them to the next. A move turns over a free
//! bit, chooses another bit of a group, or exchanges two of these where one alone would break a rule that counts. The
//! first point is found by a complete search; the walks after it start from crossings that keep the rules too.
//!
//! The problem's work limit counts moves; its time limit is looked at every few of them.

use std::time::Instant;

use plugin_api::{Answer, Bits, Error, Problem, Result, Rule, Solver, Stop, export_solver, rng};
use shared_one_flip::Search;
use shared_rules::Rules;

mod options;

use options::Options;

export_solver!("tabu", |options: Options| Tabu { options });

struct Tabu {
    options: Options,
}

impl Solver for Tabu {
    fn minimize(&mut self, problem: &Problem, seed: u64) -> Result<Answer> {
        let f = problem.quadratic()?;
        let n = f.dimension();
        let started = Instant::now();
        let in_time = || problem.time_limit().is_none_or(|limit| started.elapsed() < limit);
        let settings = self.options.settings(n);
        let rng = &mut rng(seed);
        let rules = Rules::of(problem.layout())?;
        let start = problem.starts().rows().next();
        let mut search = match rules.is_empty() {
            true => {
                let mut search = Search::new(f, settings);
                search.start_from(start.map_or_else(|| Bits::zeros(n), Bits::from));
                search
            }
            false => Search::within(f, &rules, start, settings, rng)?,
        };
        let stop = loop {
            if search.is_done() {
                break Stop::Done;
            }
            let left = problem.work_limit().map_or(u64::MAX, |limit| limit - search.moves());
            if left == 0 {
                break Stop::Work;
            }
            if !in_time() {
                break Stop::Time;
            }
            search.walk_while(left, rng, &in_time);
        };
        let (value, bits) =
            search.best().ok_or_else(|| Error::new("the function's value is not a number"))?;
        Ok(Answer::new(bits.clone(), value)
            .with_count("moves", search.moves())
            .with_count("walks", search.walks())
            .with_stop(stop))
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
    use plugin_api::testing::{check_solver, random_quadratic};
    use plugin_api::{BitMatrix, Quadratic};
    use std::time::Duration;

    fn minimize(problem: &Problem, seed: u64) -> Answer {
        Tabu { options: Options::default() }.minimize(problem, seed).unwrap()
    }

    #[test]
    fn tabu_keeps_the_contract_of_solvers() {
        check_solver(|| Tabu { options: Options::default() });
        check_solver(|| Tabu { options: Options { walks: Some(1), moves: 1, tenure: Some(1_000_000) } });
    }

    #[test]
    fn points_keep_all_rules_of_random_problems() {
        check(|| Tabu { options: Options::default() }, 1_000_000, Promise::Feasible);
        check(|| Tabu { options: Options { walks: Some(1), moves: 1, tenure: None } }, 0, Promise::Feasible);
    }

    #[test]
    fn the_best_known_values_of_up_to_100_bits_are_found() {
        for case in cases_up_to(100) {
            let problem = Problem::new(case.function);
            for seed in 0..10 {
                let gap = minimize(&problem, seed).value() - case.best_known;
                assert!(gap <= 1e-9 * case.best_known.abs(), "{}, seed {seed}: {gap} above", case.name);
            }
        }
    }

    #[test]
    fn the_answer_is_never_worse_than_the_first_start() {
        let case = cases_up_to(50).pop().expect("a case");
        let hasty = Options { walks: Some(1), moves: 1, ..Options::default() };
        let mut starts = BitMatrix::new(case.function.dimension());
        starts.push(&case.best_known_bits);
        let problem = Problem::new(case.function).with_starts(starts);
        let answer = Tabu { options: hasty }.minimize(&problem, 1).unwrap();
        assert_eq!(*answer.bits(), case.best_known_bits);
    }

    #[test]
    fn limits_are_kept_and_told() {
        let problem = || Problem::new(random_quadratic(&mut rng(1), 30));
        let moves = |answer: &Answer| answer.counts()[0].1;
        for most in [0, 1, 100, 777] {
            let answer = minimize(&problem().with_work_limit(most), 1);
            assert_eq!((moves(&answer), answer.stop()), (most, Stop::Work));
        }
        let late = minimize(&problem().with_time_limit(Duration::ZERO), 1);
        assert_eq!((moves(&late), late.stop()), (0, Stop::Time));
        let free = minimize(&problem(), 1);
        assert_eq!(free, minimize(&problem().with_work_limit(10_000_000), 1));
        assert_eq!((free.stop(), free.bound()), (Stop::Done, None));
    }

    #[test]
    fn values_that_are_no_numbers_are_an_error_and_no_bits_an_answer() {
        let mut f = Quadratic::zero(3);
        f.add_constant(f64::NAN);
        assert!(Tabu { options: Options::default() }.minimize(&Problem::new(f), 1).is_err());
        assert_eq!(minimize(&Problem::new(Quadratic::zero(0)), 1).bits().len(), 0);
    }
}
