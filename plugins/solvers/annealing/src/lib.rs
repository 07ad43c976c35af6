//! Simulated annealing: single moves under geometric cooling, in several runs, each ended by a descent.
//!
//! It takes any function and keeps all rules: moves turn over a free bit, choose another bit of a group, or, where a single
//! one would break a constraint, come with a random second one that mends it. The problem's work limit counts sweeps; a run that it leaves fewer
//! than its options ask for cools faster.

use plugin_api::{
    Acquisition, AcquisitionKind, Answer, Error, Problem, Result, Rule, Solver, export_solver, rng,
};

mod anneal; // the algorithm, unaware of plugins
mod landscape; // what moves gain, for quadratic functions and others
mod options;
mod runs;
mod within; // moves under constraints

use anneal::Grouped;
use landscape::{GeneralLandscape, Landscape, QuadraticLandscape};
use options::Options;
use runs::Limits;
use shared_rules::Rules;
use within::Within;

export_solver!("annealing", |options: Options| options.checked().map(|options| Annealing { options }));

struct Annealing {
    options: Options,
}

impl Solver for Annealing {
    fn minimize(&mut self, problem: &Problem, seed: u64) -> Result<Answer> {
        match problem.objective() {
            Acquisition::Quadratic(f) => self.anneal(problem, || QuadraticLandscape::new(f), seed),
            Acquisition::General(f) => self.anneal(problem, || GeneralLandscape::new(f.as_ref()), seed),
            other => Err(Error::new(format!("a {} function, which is not known here", other.kind()))),
        }
    }

    fn takes(&self, kind: AcquisitionKind) -> bool {
        matches!(kind, AcquisitionKind::Quadratic | AcquisitionKind::General)
    }

    fn keeps(&self, rule: Rule) -> bool {
        shared_rules::known(rule)
    }
}

impl Annealing {
    fn anneal<L: Landscape>(
        &self,
        problem: &Problem,
        landscape: impl FnOnce() -> L,
        seed: u64,
    ) -> Result<Answer> {
        let rng = &mut rng(seed);
        // From here on: thousands of bits take a while to make a landscape of.
        let limits = Limits::new(problem);
        let landscape = &mut landscape();
        if problem.constraints().is_empty() {
            let moves = &mut Grouped::new(problem.layout());
            return Ok(runs::minimize(landscape, moves, problem, limits, &self.options, rng));
        }
        let rules = Rules::of(problem.layout())?;
        let moves = &mut Within::new(&rules, rng)?;
        Ok(runs::minimize(landscape, moves, problem, limits, &self.options, rng))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use golden_afo::cases_up_to;
    use golden_constrained::{Promise, check};
    use plugin_api::testing::{check_solver, minimum, random_quadratic};
    use plugin_api::{BitMatrix, Bits, Function, Layout, Quadratic, Stop};
    use std::sync::Arc;
    use std::time::Duration;

    fn minimize(problem: &Problem, seed: u64) -> Answer {
        Annealing { options: Options::default() }.minimize(problem, seed).unwrap()
    }

    #[test]
    fn annealing_keeps_the_contract_of_solvers() {
        check_solver(|| Annealing { options: Options::default() });
        check_solver(|| Annealing { options: Options { sweeps: 1, restarts: 1, ..Options::default() } });
    }

    #[test]
    fn points_keep_all_rules_of_random_problems() {
        check(|| Annealing { options: Options::default() }, 4_000_000, Promise::Feasible);
    }

    #[test]
    fn the_best_known_values_of_up_to_50_bits_are_found() {
        for case in cases_up_to(50) {
            let problem = Problem::new(case.function);
            for seed in 0..10 {
                let gap = minimize(&problem, seed).value() - case.best_known;
                assert!(gap <= 1e-9 * case.best_known.abs(), "{}, seed {seed}: {gap} above", case.name);
            }
        }
    }

    #[test]
    fn the_best_point_within_groups_is_found() {
        let layouts = [vec![0..3, 4..9], vec![0..2, 2..7, 7..14], vec![1..2, 5..14]];
        for (seed, groups) in (0..).zip(layouts) {
            let layout = Layout::with_groups(14, groups).unwrap();
            let problem = Problem::new(random_quadratic(&mut rng(seed), 14)).with_layout(&layout);
            let answer = minimize(&problem, seed);
            assert!(layout.admits(answer.bits()));
            assert!((answer.value() - minimum(&problem)).abs() < 1e-12);
        }
    }

    /// The number of bits set, but the points with just bit `0` and bit `3` set are lowest: no quadratic.
    struct Needle;

    impl Function for Needle {
        fn dimension(&self) -> usize {
            8
        }
        fn value(&self, bits: &[bool]) -> f64 {
            let ones = bits.iter().filter(|&&bit| bit).count() as f64;
            if bits[0] && bits[3] && ones == 2.0 { -1.0 } else { ones }
        }
    }

    #[test]
    fn a_general_function_is_minimized_with_and_without_groups() {
        let needle = || Problem::new(Acquisition::General(Arc::new(Needle)));
        assert_eq!(minimize(&needle(), 1).bits().to_string(), "10010000");
        let layout = Layout::with_groups(8, vec![0..3, 3..5]).unwrap();
        assert_eq!(minimize(&needle().with_layout(&layout), 1).bits().to_string(), "10010000");
    }

    #[test]
    fn the_answer_is_never_worse_than_the_first_start() {
        let case = cases_up_to(50).pop().expect("a case");
        let hasty = Options { sweeps: 1, restarts: 1, ..Options::default() };
        let mut starts = BitMatrix::new(case.function.dimension());
        starts.push(&case.best_known_bits);
        let problem = Problem::new(case.function).with_starts(starts);
        let answer = Annealing { options: hasty }.minimize(&problem, 1).unwrap();
        assert_eq!(*answer.bits(), case.best_known_bits);
    }

    #[test]
    fn limits_are_kept_and_told() {
        let problem = || Problem::new(random_quadratic(&mut rng(1), 30));
        let sweeps = |answer: &Answer| answer.counts()[0].1;
        for most in [0, 1, 7, 60, 100, 250] {
            let answer = minimize(&problem().with_work_limit(most), 1);
            assert_eq!((sweeps(&answer), answer.stop()), (most, Stop::Work));
        }
        let late = minimize(&problem().with_time_limit(Duration::ZERO), 1);
        assert_eq!((sweeps(&late), late.stop()), (0, Stop::Time));
        let done = minimize(&problem().with_work_limit(1_000_000), 1);
        assert_eq!((done.stop(), done.counts()[1].1), (Stop::Done, 10));
    }

    #[test]
    fn a_run_cut_short_cools_in_the_time_it_has() {
        let problem = Problem::new(random_quadratic(&mut rng(1), 50)).with_work_limit(60);
        for seed in 0..20 {
            let answer = |sweeps| {
                let options = Options { sweeps, ..Options::default() };
                Annealing { options }.minimize(&problem, seed).unwrap()
            };
            assert_eq!(answer(1_000_000), answer(100));
        }
    }

    #[test]
    fn no_bits_and_no_moves_have_an_answer() {
        assert_eq!(minimize(&Problem::new(Quadratic::zero(0)), 1).bits(), &Bits::zeros(0));
        let layout = Layout::with_groups(2, vec![0..1, 1..2]).unwrap();
        let stuck = Problem::new(Quadratic::zero(2)).with_layout(&layout);
        assert_eq!(minimize(&stuck, 1).bits().to_string(), "11");
    }
}
