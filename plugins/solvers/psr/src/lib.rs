//! Parametrised submodular relaxation (PSR): minimum cuts of relaxed functions, each with better parameters
//! than the last; the best of their points, and a lower bound.
//!
//! Deshwal, Belakaria & Doppa, "Scalable combinatorial Bayesian optimization with tractable statistical
//! models" (2020), after Ito & Fujimaki (2016). Their settings are `steps: 10`, `step: authors`,
//! `polish: none`. The problem's work limit counts cuts.
//!
//! It keeps all rules. Each is folded into the relaxed function with a Lagrange multiplier, which moves along with the other
//! parameters after each cut; so the bound is one on the least value among the points that keep the rules. The point of a
//! cut is mended, then polished by moves between such points. `persistency` is not looked at then: what it fixes is the best
//! without the rules.

use std::collections::BTreeSet;
use std::time::Instant;

use plugin_api::{
    Answer, Bits, Error, Problem, Quadratic, Result, Rng, Rule, Solver, Stop, export_solver, rng,
};
use shared_cuts::{Reduced, magnitude, roof_dual_while};
use shared_one_flip::{Landscape, Settings, Walker};
use shared_rules::Rules;

// The algorithms, unaware of plugins. Public for the benches alone.
#[doc(hidden)]
pub mod options;
#[doc(hidden)]
pub mod subgradient;
mod within; // the same under rules

use options::{Options, Polish};
use subgradient::{End, Iterates};

export_solver!("psr", |options: Options| Psr::new(options));

#[doc(hidden)]
pub struct Psr {
    options: Options,
}

impl Psr {
    pub fn new(options: Options) -> Self {
        Self { options }
    }
}

impl Solver for Psr {
    fn minimize(&mut self, problem: &Problem, seed: u64) -> Result<Answer> {
        let f = problem.quadratic()?;
        // The flow adds each coefficient a few times.
        if !(8.0 * magnitude(f)).is_finite() {
            return Err(Error::new("the function's coefficients add up to more than a number can hold"));
        }
        let started = Instant::now();
        let in_time = || problem.time_limit().is_none_or(|limit| started.elapsed() < limit);
        let rules = Rules::of(problem.layout())?;
        if !rules.is_empty() {
            let found = within::iterate(&self.options, f, &rules, problem, &in_time, seed)?;
            let answer = Answer::new(found.bits, found.value);
            return Ok(found.counts.label(match found.bound {
                Some(bound) => answer.with_bound(bound),
                None => answer,
            }));
        }
        // Without the time for the roof dual, there is none for its persistencies.
        let roof = self.options.persistency.then(|| roof_dual_while(f, &in_time)).flatten();
        let Some(roof) = roof else {
            let found = self.iterate(f, problem, &in_time, seed);
            let answer = Answer::new(found.bits, found.value);
            return Ok(found.counts.label(match found.bound {
                Some(bound) => answer.with_bound(bound),
                None => answer,
            }));
        };
        let reduced = Reduced::new(f, roof.fixed);
        let found = self.iterate(&reduced.function, problem, &in_time, seed);
        let bits = reduced.lift(&found.bits);
        let value = f.value(&bits);
        // The minimum of the whole may be lower by what the fixed bits cost.
        let bound = found.bound.map_or(roof.bound, |bound| roof.bound.max((bound - roof.slack).next_down()));
        let fixed = f.dimension() - reduced.function.dimension();
        Ok(found.counts.label(Answer::new(bits, value).with_bound(bound)).with_count("fixed", fixed as u64))
    }

    fn keeps(&self, rule: Rule) -> bool {
        shared_rules::known(rule)
    }
}

/// The best iterate, and what was done.
struct Found {
    bits: Bits,
    value: f64,
    /// None where the limits allow not a single cut.
    bound: Option<f64>,
    counts: Counts,
}

struct Counts {
    cuts: u64,
    polished: (&'static str, u64),
    stop: Stop,
}

impl Counts {
    fn label(self, answer: Answer) -> Answer {
        let answer = if self.cuts == 0 {
            answer
        } else {
            answer.with_count("cuts", self.cuts).with_count(self.polished.0, self.polished.1)
        };
        answer.with_stop(self.stop)
    }
}

impl Psr {
    fn iterate(&self, f: &Quadratic, problem: &Problem, in_time: &dyn Fn() -> bool, seed: u64) -> Found {
        let rng = &mut rng(seed);
        if !in_time() {
            let counts = Counts { cuts: 0, polished: ("", 0), stop: Stop::Time };
            return Found { bits: Bits::zeros(f.dimension()), value: f.constant(), bound: None, counts };
        }
        let mut iterates = Iterates::new(f, &self.options, rng);
        let mut polisher = None;
        let mut polished = BTreeSet::new();
        let mut best: Option<(f64, Bits)> = None;
        let stop = loop {
            if iterates.cuts() >= self.options.steps {
                break Stop::Done;
            }
            if problem.work_limit().is_some_and(|cuts| iterates.cuts() >= cuts) {
                break Stop::Work;
            }
            if !in_time() {
                break Stop::Time;
            }
            let iterate = match iterates.next_while(in_time) {
                Ok(iterate) => iterate,
                Err(End::Proven) => break Stop::Done,
                Err(End::Interrupted) => break Stop::Time,
            };
            let (mut bits, mut value) = (iterate.bits, iterate.value);
            let polisher = polisher.get_or_insert_with(|| Polisher::new(f, self.options.polish));
            if let Some(polisher) = polisher {
                if !polished.insert(bits.clone()) {
                    continue;
                }
                polisher.polish(&mut bits, rng, in_time);
                value = f.value(&bits);
            }
            if best.as_ref().is_none_or(|(least, _)| value < *least) {
                best = Some((value, bits));
            }
        };
        let bound = best.as_ref().map(|_| iterates.bound());
        let (value, bits) = best.unwrap_or_else(|| (f.constant(), Bits::zeros(f.dimension())));
        let name = if self.options.polish == Polish::Tabu { "walks" } else { "descents" };
        let counts = Counts { cuts: iterates.cuts(), polished: (name, polished.len() as u64), stop };
        Found { bits, value, bound, counts }
    }
}

/// What is done to the point of each cut.
enum Polisher<'f> {
    Descent(Landscape<'f>),
    Tabu(Walker<'f>, Settings),
}

impl<'f> Polisher<'f> {
    fn new(f: &'f Quadratic, polish: Polish) -> Option<Self> {
        match polish {
            Polish::None => None,
            Polish::Descent => Some(Self::Descent(Landscape::new(f))),
            Polish::Tabu => Some(Self::Tabu(Walker::new(f), Settings::of_dimension(f.dimension()))),
        }
    }

    fn polish(&mut self, bits: &mut Bits, rng: &mut Rng, more: &dyn Fn() -> bool) {
        match self {
            Self::Descent(landscape) => {
                landscape.set(bits);
                landscape.descend_while(more);
                bits.copy_from_slice(landscape.bits());
            }
            Self::Tabu(walker, Settings { tenure, patience, .. }) => {
                walker.walk_while(bits, *tenure, *patience, u64::MAX, rng, more);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use golden_afo::cases_up_to;
    use golden_constrained::{Promise, check};
    use options::{Initial, Step};
    use plugin_api::testing::{check_solver, random_quadratic};
    use std::time::Duration;

    fn paper() -> Options {
        Options { steps: 10, step: Step::Authors, polish: Polish::None, ..Options::default() }
    }

    fn minimize(options: Options, problem: &Problem) -> Answer {
        Psr::new(options).minimize(problem, 1).unwrap()
    }

    #[test]
    fn psr_keeps_the_contract_of_solvers() {
        check_solver(|| Psr::new(Options::default()));
        check_solver(|| Psr::new(paper()));
        check_solver(|| Psr::new(Options { initial: Initial::Random, ..Options::default() }));
        check_solver(|| Psr::new(Options { polish: Polish::Tabu, ..Options::default() }));
        check_solver(|| Psr::new(Options { persistency: true, ..Options::default() }));
    }

    #[test]
    fn points_keep_all_rules_of_random_problems_and_bounds_hold_for_those_that_do() {
        check(|| Psr::new(Options::default()), 7_000_000, Promise::Feasible);
        check(|| Psr::new(paper()), 0, Promise::Feasible);
        check(
            || Psr::new(Options { polish: Polish::Tabu, ..Options::default() }),
            100_000,
            Promise::Feasible,
        );
    }

    #[test]
    fn the_papers_answer_is_its_best_iterate() {
        for case in cases_up_to(50) {
            let answer = minimize(paper(), &Problem::new(case.function));
            let expected = case.psr_values.iter().copied().fold(f64::INFINITY, f64::min);
            assert!((answer.value() - expected).abs() <= 1e-9 * expected.abs(), "{}: {answer:?}", case.name);
            assert_eq!(answer.counts(), [("cuts".to_string(), 10), ("descents".to_string(), 0)]);
        }
    }

    #[test]
    fn the_defaults_find_the_minima_of_up_to_30_bits() {
        for case in cases_up_to(30) {
            let answer = minimize(Options::default(), &Problem::new(case.function));
            let gap = answer.value() - case.best_known;
            assert!(gap.abs() <= 1e-9 * case.best_known.abs(), "{}: {gap} above", case.name);
            assert!(answer.bound().unwrap() < case.best_known, "{}: {answer:?}", case.name);
        }
    }

    #[test]
    fn tabu_walks_find_the_best_known_values_of_up_to_50_bits() {
        for case in cases_up_to(50) {
            let answer = minimize(
                Options { polish: Polish::Tabu, ..Options::default() },
                &Problem::new(case.function),
            );
            let gap = answer.value() - case.best_known;
            assert!(gap.abs() <= 1e-9 * case.best_known.abs(), "{}: {gap} above", case.name);
            assert_eq!(answer.counts()[1].0, "walks");
        }
    }

    #[test]
    fn persistency_brings_the_best_bound_and_loses_no_minimum() {
        for case in cases_up_to(30) {
            let problem = Problem::new(case.function);
            let without = minimize(Options::default(), &problem);
            let with = minimize(Options { persistency: true, ..Options::default() }, &problem);
            assert!((with.value() - case.best_known).abs() <= 1e-9 * case.best_known.abs(), "{}", case.name);
            let bounds = (without.bound().unwrap(), with.bound().unwrap());
            assert!(bounds.0 <= bounds.1 + 1e-9 && bounds.1 <= case.best_known, "{}: {bounds:?}", case.name);
            assert_eq!(with.counts()[2].0, "fixed");
        }
        // Without a cut of its own, the roof dual's bound remains.
        let problem = Problem::new(random_quadratic(&mut rng(1), 30)).with_work_limit(0);
        assert!(minimize(Options { persistency: true, ..Options::default() }, &problem).bound().is_some());
    }

    #[test]
    fn limits_are_kept_and_told() {
        let problem = || Problem::new(random_quadratic(&mut rng(1), 30));
        let cuts = |answer: &Answer| answer.counts().first().map(|(_, count)| *count);
        let answer = minimize(Options::default(), &problem().with_work_limit(3));
        assert_eq!((cuts(&answer), answer.stop()), (Some(3), Stop::Work));
        let answer = minimize(Options::default(), &problem().with_work_limit(100));
        assert_eq!((cuts(&answer), answer.stop()), (Some(100), Stop::Done));
        let none = minimize(Options::default(), &problem().with_work_limit(0));
        assert_eq!((none.bits(), none.bound(), none.stop()), (&Bits::zeros(30), None, Stop::Work));
        let late = minimize(Options::default(), &problem().with_time_limit(Duration::ZERO));
        assert_eq!(late.stop(), Stop::Time);
    }

    #[test]
    fn a_proven_minimum_ends_the_search() {
        let mut f = Quadratic::zero(3);
        f.add_pair(0, 1, -2.0);
        f.add_linear(0, 1.0);
        let answer = minimize(Options::default(), &Problem::new(f));
        assert_eq!((answer.value(), answer.bits().to_string().as_str()), (-1.0, "110"));
        assert_eq!((answer.counts()[0].1, answer.stop()), (1, Stop::Done));
        assert!((-1.0 - answer.bound().unwrap()).abs() < 1e-12);
    }

    #[test]
    fn numbers_too_large_to_add_are_an_error() {
        for huge in [f64::MAX, f64::INFINITY, f64::NAN] {
            let mut f = Quadratic::zero(3);
            f.add_pair(0, 1, huge);
            let error = Psr::new(paper()).minimize(&Problem::new(f), 1).unwrap_err();
            assert!(error.to_string().contains("more than a number can hold"), "{error}");
        }
    }

    #[test]
    fn no_bits_have_an_answer() {
        let answer = minimize(Options::default(), &Problem::new(Quadratic::zero(0)));
        assert_eq!((answer.bits().len(), answer.value()), (0, 0.0));
    }
}
