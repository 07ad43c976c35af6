//! Parametrised submodular relaxation (PSR): minimum cuts of relaxed functions, each with better parameters
//! than the last; the best of their points, and a lower bound.
//!
//! Deshwal, Belakaria & Doppa, "Scalable combinatorial Bayesian optimization with tractable statistical
//! models" (2020), after Ito & Fujimaki (2016). Their settings are `steps: 10`, `step: authors`,
//! `polish: none`. The problem's work limit counts cuts.

use std::collections::BTreeSet;
use std::time::Instant;

use plugin_api::{Answer, Bits, Error, Problem, Result, Solver, Stop, export_solver, rng};
use shared_cuts::magnitude;
use shared_one_flip::Landscape;

// The algorithms, unaware of plugins. Public for the benches alone.
#[doc(hidden)]
pub mod options;
#[doc(hidden)]
pub mod subgradient;

use options::{Options, Polish};
use subgradient::Iterates;

export_solver!("psr", |options: Options| Ok::<_, Error>(Psr::new(options)));

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
        let mut descent = match self.options.polish {
            Polish::None => None,
            Polish::Descent => Some(Landscape::new(f)),
        };
        let mut iterates = Iterates::new(f, &self.options, &mut rng(seed));
        let mut polished = BTreeSet::new();
        let mut best: Option<(f64, Bits)> = None;
        let stop = loop {
            if iterates.cuts() >= self.options.steps {
                break Stop::Done;
            }
            if problem.work_limit().is_some_and(|cuts| iterates.cuts() >= cuts) {
                break Stop::Work;
            }
            if problem.time_limit().is_some_and(|limit| started.elapsed() >= limit) {
                break Stop::Time;
            }
            let Some(iterate) = iterates.next() else { break Stop::Done };
            let (mut bits, mut value) = (iterate.bits, iterate.value);
            if let Some(descent) = &mut descent {
                if !polished.insert(bits.clone()) {
                    continue;
                }
                descent.set(&bits);
                descent.descend();
                bits.copy_from_slice(descent.bits());
                value = f.value(&bits);
            }
            if best.as_ref().is_none_or(|(least, _)| value < *least) {
                best = Some((value, bits));
            }
        };
        let Some((value, bits)) = best else {
            // The limits allow not a single cut.
            let bits = Bits::zeros(f.dimension());
            return Ok(Answer::new(bits, f.constant()).with_stop(stop));
        };
        Ok(Answer::new(bits, value)
            .with_bound(iterates.bound())
            .with_count("cuts", iterates.cuts())
            .with_count("descents", polished.len() as u64)
            .with_stop(stop))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use golden_afo::cases_up_to;
    use options::{Initial, Step};
    use plugin_api::Quadratic;
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
