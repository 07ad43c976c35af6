//! The contract, what is learned, limits and states.

use std::sync::Arc;
use std::time::Duration;

use golden_constrained::{Promise, check};
use plugin_api::options::parse;
use plugin_api::random::normal;
use plugin_api::testing::{check_solver, minimum, random_quadratic};
use plugin_api::{Acquisition, BitMatrix, Constraint, Function, Layout, Literal, Quadratic, Rng, Stop};

use super::*;

fn learned(json: &str) -> Learned {
    Learned::new(parse(json).unwrap())
}

#[test]
fn it_keeps_the_contract_of_solvers() {
    check_solver(|| learned("{}"));
    check_solver(|| learned(r#"{ "learn": false }"#));
    check_solver(|| learned(r#"{ "restarts": 1, "trajectories": 2, "buckets": 1, "passes": 1 }"#));
}

#[test]
fn points_keep_all_rules_of_random_problems() {
    check(|| learned(r#"{ "restarts": 4 }"#), 6_000_000, Promise::Feasible);
}

#[test]
fn small_problems_with_groups_and_rules_are_solved() {
    let exactly = Constraint::Exactly { count: 2, of: (9..14).map(|i| Literal::new(i, 1)).collect() };
    let layout = Layout::with_groups(14, vec![1..5, 6..9]).unwrap().with_constraints(vec![exactly]).unwrap();
    let mut solver = learned("{}");
    for seed in 0..20 {
        let problem = Problem::new(random_quadratic(&mut rng(seed), 14)).with_layout(&layout);
        let answer = solver.minimize(&problem, seed).unwrap();
        assert!((answer.value() - minimum(&problem)).abs() < 1e-12, "seed {seed}: {}", answer.value());
    }
}

#[test]
fn an_answer_is_a_local_minimum_among_exchanges_where_the_number_of_bits_is_fixed() {
    let n = 30;
    let exactly = Constraint::Exactly { count: 3, of: (0..n).map(|i| Literal::new(i, 1)).collect() };
    let layout = Layout::free(n).with_constraints(vec![exactly]).unwrap();
    for seed in 0..5 {
        let f = random_quadratic(&mut rng(seed), n);
        let answer = learned("{}").minimize(&Problem::new(f.clone()).with_layout(&layout), seed).unwrap();
        assert!(layout.admits(answer.bits()));
        for i in (0..n).filter(|&i| answer.bits()[i]) {
            for j in (0..n).filter(|&j| !answer.bits()[j]) {
                let mut exchanged = answer.bits().clone();
                (exchanged[i], exchanged[j]) = (false, true);
                assert!(f.value(&exchanged) > answer.value() - 1e-9);
            }
        }
    }
}

/// Functions that resemble each other as the draws of a model do: one in common, and noise.
fn related(base: &Quadratic, random: &mut Rng) -> Quadratic {
    let n = base.dimension();
    let mut f = base.clone();
    for i in 0..n {
        f.add_linear(i, 0.1 * normal(random));
        for j in i + 1..n {
            f.add_pair(i, j, 0.1 * normal(random));
        }
    }
    f
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn the_starts_that_the_heuristic_picks_end_lower_than_random_ones() {
    let (mut better, mut problems, mut gain) = (0, 0, 0.0);
    for base in 0..6 {
        let mut random = rng(base);
        let f = random_quadratic(&mut random, 50);
        let mut solver = learned("{}");
        for step in 0..30 {
            solver.minimize(&Problem::new(related(&f, &mut random)), 100 * base + step).unwrap();
        }
        let heuristic = &solver.known.as_ref().unwrap().heuristic;
        for unseen in 0..5 {
            let problem = Problem::new(related(&f, &mut random));
            let ends =
                |heuristic| search::minimize(&problem, 100, heuristic, &|| true, &mut rng(unseen)).unwrap().1;
            let (uniform, both) = (ends(None), ends(Some(heuristic)));
            // The same random points: what is not among them, the heuristic picked.
            let picked =
                |descent: &&Descent| uniform.iter().all(|other| other.start.bits != descent.start.bits);
            let picked: Vec<f64> = both.iter().filter(picked).map(|descent| descent.value).collect();
            let uniform: Vec<f64> = uniform.iter().map(|descent| descent.value).collect();
            assert!(!picked.is_empty());
            let squares: Vec<f64> =
                uniform.iter().map(|value| (value - mean(&uniform)) * (value - mean(&uniform))).collect();
            gain += (mean(&uniform) - mean(&picked)) / mean(&squares).sqrt();
            better += u32::from(mean(&picked) < mean(&uniform));
            problems += 1;
        }
    }
    let gain = gain / f64::from(problems);
    assert!(better >= 27 && gain > 0.4, "better on {better} of {problems}, by {gain} deviations on average");
}

#[test]
fn what_is_learned_from_one_problem_changes_the_answer_to_the_next() {
    let problem = |seed| Problem::new(random_quadratic(&mut rng(seed), 60));
    let mut solver = learned(r#"{ "restarts": 10 }"#);
    let counts = |answer: Answer| answer.counts().to_vec();
    let first = counts(solver.minimize(&problem(1), 1).unwrap());
    assert_eq!(
        first,
        counts(learned(r#"{ "restarts": 10, "learn": false }"#).minimize(&problem(1), 1).unwrap())
    );
    assert_ne!(first, counts(solver.minimize(&problem(1), 1).unwrap()));
    let known = solver.known.unwrap();
    assert_eq!((known.problems, known.descents.len()), (2, 20));
    let mut plain = learned(r#"{ "restarts": 10, "learn": false }"#);
    assert_eq!(first, counts(plain.minimize(&problem(1), 1).unwrap()));
    assert_eq!(first, counts(plain.minimize(&problem(1), 1).unwrap()));
    assert_eq!(plain.save().unwrap(), None);
}

#[test]
fn only_the_latest_descents_are_kept_and_another_dimension_begins_again() {
    let mut solver = learned(r#"{ "restarts": 7, "trajectories": 20 }"#);
    for seed in 0..5 {
        solver.minimize(&Problem::new(random_quadratic(&mut rng(seed), 40)), seed).unwrap();
    }
    let known = solver.known.as_ref().unwrap();
    let problems: Vec<u64> = known.descents.iter().map(|(problem, _)| *problem).collect();
    assert_eq!((problems.len(), problems[0], problems[19]), (20, 3, 5));
    solver.minimize(&Problem::new(random_quadratic(&mut rng(1), 30)), 1).unwrap();
    let known = solver.known.unwrap();
    assert_eq!((known.problems, known.descents.len()), (1, 7));
}

#[test]
fn unwanted_points_are_not_answered_where_another_was_seen() {
    let f = random_quadratic(&mut rng(1), 6);
    let mut unwanted = BitMatrix::new(6);
    let mut solver = learned("{}");
    for seed in 0..40 {
        let problem = Problem::new(f.clone()).with_unwanted(unwanted.clone());
        let answer = solver.minimize(&problem, seed).unwrap();
        assert!(unwanted.rows().all(|row| row != &answer.bits()[..]), "{seed} answers");
        unwanted.push(answer.bits());
    }
}

#[test]
fn limits_of_work_and_time_end_the_descents() {
    let problem = || Problem::new(random_quadratic(&mut rng(2), 80));
    let minimize = |problem: Problem| {
        let mut solver = learned("{}");
        // With a heuristic that has its own descents.
        solver.minimize(&self::problem(80), 1).unwrap();
        solver.minimize(&problem, 1).unwrap()
    };
    let steps = |answer: &Answer| answer.counts().iter().find(|(name, _)| name == "steps").unwrap().1;
    let none = minimize(problem().with_work_limit(0));
    assert_eq!((none.stop(), steps(&none)), (Stop::Work, 0));
    let two = minimize(problem().with_work_limit(2));
    assert_eq!((two.stop(), steps(&two)), (Stop::Work, 2));
    let late = minimize(problem().with_time_limit(Duration::ZERO));
    assert_eq!((late.stop(), steps(&late)), (Stop::Time, 0));
    let done = minimize(problem().with_work_limit(1000));
    assert_eq!(done.stop(), Stop::Done);
    assert!(done.value() < two.value() && two.value() < none.value());
}

/// Infinite where the first bit is set.
struct Cliff;
impl Function for Cliff {
    fn dimension(&self) -> usize {
        12
    }
    fn value(&self, bits: &[bool]) -> f64 {
        if bits[0] { f64::INFINITY } else { bits.iter().filter(|&&bit| bit).count() as f64 }
    }
}

#[test]
fn a_function_that_is_not_finite_somewhere_leaves_a_state_that_can_be_read() {
    let mut solver = learned("{}");
    for seed in 0..3 {
        let answer = solver.minimize(&Problem::new(Acquisition::General(Arc::new(Cliff))), seed).unwrap();
        assert_eq!(answer.value(), 0.0);
    }
    let mut restored = learned("{}");
    restored.restore(&solver.save().unwrap().unwrap()).unwrap();
    assert_eq!(restored.known, solver.known);
}

fn problem(n: usize) -> Problem {
    Problem::new(random_quadratic(&mut rng(n as u64), n))
}

#[test]
fn a_state_of_other_options_or_another_version_is_refused_and_changes_nothing() {
    let mut solver = learned("{}");
    solver.minimize(&problem(8), 1).unwrap();
    let state = String::from_utf8(solver.save().unwrap().unwrap()).unwrap();
    let mut other = learned("{}");
    other.minimize(&problem(5), 1).unwrap();
    let before = other.known.clone();
    let mut refusal = |state: &str| other.restore(state.as_bytes()).unwrap_err().to_string();
    let words = |why: &str| format!("not a state of this solver: {why}");
    assert_eq!(refusal(&state.replace("\"learned\":1", "\"learned\":7")), words("its version is 7, not 1"));
    let dimension = state.replace("\"dimension\":8", "\"dimension\":9");
    assert_eq!(refusal(&dimension), words("its weights are of another heuristic"));
    let problems = state.replace("\"problems\":1", "\"problems\":0");
    assert_eq!(refusal(&problems), words("its descents are of another problem"));
    assert_eq!(other.known, before);
    let few = learned(r#"{ "buckets": 16 }"#).restore(state.as_bytes()).unwrap_err();
    assert_eq!(few.to_string(), words("its weights are of another heuristic"));
    let plain = learned(r#"{ "learn": false }"#).restore(state.as_bytes()).unwrap_err();
    assert_eq!(plain.to_string(), words("it does not learn"));
    other.restore(state.as_bytes()).unwrap();
    assert_eq!(other.known, solver.known);
}
