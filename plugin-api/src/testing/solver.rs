//! What a solver promises.

use std::sync::Arc;

use super::{minimum, random_quadratic};
use crate::{
    Acquisition, AcquisitionKind, Answer, BitMatrix, Constraint, Function, Layout, Literal, Problem,
    Quadratic, Rule, Solver, rng,
};

/// Checks what [`Solver`] promises on random problems, small and larger: of the kinds that it takes, with the rules that
/// it keeps.
pub fn check_solver<S: Solver>(make: impl Fn() -> S) {
    let takes = |kind| make().takes(kind);
    assert!(AcquisitionKind::ALL.into_iter().any(takes), "the solver takes no kind of function");
    if takes(AcquisitionKind::Quadratic) {
        check_quadratic(&make);
        check_rules(&make, &|| random_quadratic(&mut rng(10), 9).into());
    }
    if takes(AcquisitionKind::General) {
        let parity = |n| move || Acquisition::General(Arc::new(Parity(n)));
        let problem = || Problem::new(parity(6)());
        check_solver_on(&make, &problem, Some(minimum(&problem())));
        check_rules(&make, &parity(9));
    }
    check_state(&make);
}

fn check_quadratic<S: Solver>(make: &impl Fn() -> S) {
    let mut rng = rng(4);
    for n in [1, 2, 3, 5, 8, 12] {
        for case in 0..6 {
            let problem = || Problem::new(random_quadratic(&mut crate::rng(1000 * n as u64 + case), n));
            let exact = minimum(&problem());
            check_solver_on(make, &problem, Some(exact));
            let mut starts = BitMatrix::new(n);
            starts.push(&Layout::free(n).random(&mut rng));
            check_solver_on(make, &|| problem().with_starts(starts.clone()), Some(exact));
            let unwanted = starts.clone();
            starts.push(&Layout::free(n).random(&mut crate::rng(case)));
            let problem = || problem().with_starts(starts.clone()).with_unwanted(unwanted.clone());
            check_solver_on(make, &problem, Some(exact));
        }
    }
    check_solver_on(make, &|| Problem::new(Quadratic::zero(9)), Some(0.0));
    check_solver_on(make, &|| Problem::new(random_quadratic(&mut crate::rng(9), 40)), None);
}

/// Problems of nine bits, with each of the rules that the solver keeps, and with all of them.
fn check_rules<S: Solver>(make: &impl Fn() -> S, objective: &impl Fn() -> Acquisition) {
    let kept = |rule: &Rule| make().keeps(*rule);
    let literals = |of: &[(usize, u32)]| of.iter().map(|&(i, level)| Literal::new(i, level)).collect();
    let constraints = [
        Constraint::AtMost { count: 1, of: literals(&[(0, 1), (3, 1), (5, 1), (8, 0)]) },
        Constraint::Exactly { count: 2, of: literals(&[(1, 1), (2, 1), (3, 0), (6, 1)]) },
        Constraint::Fixed(Literal::new(7, 0)),
        Constraint::Forbidden(literals(&[(4, 1), (3, 0)])),
        Constraint::Capacity {
            limit: 4.5,
            of: literals(&[(0, 1), (2, 0), (5, 1), (6, 1), (8, 1)]),
            weights: vec![1.5, 2.0, 2.5, 3.25, 0.5],
        },
    ];
    let constraints: Vec<Constraint> =
        constraints.into_iter().filter(|constraint| kept(&constraint.rule())).collect();
    let mut cases: Vec<Vec<Constraint>> = constraints.iter().map(|one| vec![one.clone()]).collect();
    cases.push(constraints);
    let free = Layout::free(9);
    let grouped = Layout::with_groups(9, vec![0..3, 4..9]).expect("valid groups");
    let layouts = if kept(&Rule::Groups) { vec![free, grouped] } else { vec![free] };
    for layout in layouts {
        for case in &cases {
            let layout = layout.clone().with_constraints(case.clone()).expect("valid constraints");
            let problem = || Problem::new(objective()).with_layout(&layout);
            let exact = minimum(&problem());
            check_solver_on(make, &problem, Some(exact));
            // A start that breaks every rule.
            let mut starts = BitMatrix::new(9);
            starts.push(&[true; 9]);
            check_solver_on(make, &|| problem().with_starts(starts.clone()), Some(exact));
        }
    }
}

fn check_solver_on<S: Solver>(
    make: &impl Fn() -> S,
    problem: &impl Fn() -> Problem,
    exact: Option<f64>,
) -> Answer {
    let minimize = |solver: &mut S, seed| {
        solver.minimize(&problem(), seed).unwrap_or_else(|error| panic!("minimize: {error}"))
    };
    let mut solver = make();
    let answer = minimize(&mut solver, 7);
    let problem = problem();
    let checked = problem.check(&answer).unwrap_or_else(|error| panic!("{error}"));
    if let Some(flaw) = checked.flaws().first() {
        panic!("{flaw}");
    }
    if save(&solver).is_none() {
        assert_eq!(answer, minimize(&mut solver, 7), "asked twice with one seed, it gave two answers");
    }
    assert_eq!(
        answer,
        minimize(&mut make(), 7),
        "made again and asked with the same seed, it gave another answer"
    );
    if let (Some(bound), Some(exact)) = (checked.bound(), exact) {
        let scale = 1.0 + checked.value().abs();
        assert!(bound <= exact + 1e-9 * scale, "the bound {bound} is above the minimum {exact}");
    }
    answer
}

/// A state taken at any time goes on as the original does, and so does a solver that solves all problems again.
fn check_state<S: Solver>(make: &impl Fn() -> S) {
    let garbage = make().restore(b"not a state");
    assert!(garbage.is_err(), "restore() took bytes that are no state");
    let problem = |step: u64| -> Problem {
        let n = [6, 6, 6, 9, 6][step as usize % 5];
        let objective = match make().takes(AcquisitionKind::Quadratic) {
            true => random_quadratic(&mut rng(step), n).into(),
            false => Acquisition::General(Arc::new(Parity(n))),
        };
        let mut starts = BitMatrix::new(n);
        starts.push(&Layout::free(n).random(&mut rng(step)));
        Problem::new(objective).with_starts(starts)
    };
    let solve = |solver: &mut S, step: u64| {
        solver.minimize(&problem(step), step).unwrap_or_else(|error| panic!("minimize: {error}"))
    };
    let (mut original, mut used) = (make(), make());
    solve(&mut used, 100);
    for step in 0..10 {
        let state = save(&original);
        let expected = solve(&mut original, step);
        let mut replayed = make();
        (0..step).for_each(|earlier| drop(solve(&mut replayed, earlier)));
        assert_eq!(
            solve(&mut replayed, step),
            expected,
            "solving the same problems again, it gave another answer"
        );
        assert_eq!(
            save(&original).is_some(),
            state.is_some(),
            "save() gave a state before a problem or after it, and not both"
        );
        let Some(state) = state else { continue };
        // Restored into one that was just made, and into one with a past of its own.
        for mut restored in [make(), std::mem::replace(&mut used, make())] {
            restored.restore(&state).unwrap_or_else(|error| panic!("restore() of its own state: {error}"));
            assert_eq!(solve(&mut restored, step), expected, "restored, it gave another answer");
            used = restored;
        }
    }
}

fn save(solver: &impl Solver) -> Option<Vec<u8>> {
    solver.save().unwrap_or_else(|error| panic!("save(): {error}"))
}

/// A function that no quadratic one equals: −1 for odd parity, with a slope that makes the minimum unique.
struct Parity(usize);

impl Function for Parity {
    fn dimension(&self) -> usize {
        self.0
    }
    fn value(&self, bits: &[bool]) -> f64 {
        let ones = bits.iter().filter(|&&bit| bit).count();
        0.1 * ones as f64 - (ones % 2) as f64
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::{Bits, Error, Result};

    /// Answers zeros, and in the counts how many problems it had before; more or less honest about it.
    #[derive(Clone, Copy, Default)]
    struct Counting {
        before: u8,
        hides: bool,
        forgets: bool,
        adds: bool,
        credulous: bool,
    }

    impl Solver for Counting {
        fn minimize(&mut self, problem: &Problem, _seed: u64) -> Result<Answer> {
            let bits = Bits::zeros(problem.dimension());
            let value = problem.objective().value(&bits);
            self.before += 1;
            Ok(Answer::new(bits, value).with_count("before", u64::from(self.before) - 1))
        }
        fn save(&self) -> Result<Option<Vec<u8>>> {
            Ok((!self.hides).then(|| vec![if self.forgets { 0 } else { self.before }]))
        }
        fn restore(&mut self, state: &[u8]) -> Result<()> {
            match state {
                [before] => self.before = *before + if self.adds { self.before } else { 0 },
                _ if self.credulous => {}
                _ => return Err(Error::new("no state")),
            }
            Ok(())
        }
    }

    fn complaint(solver: Counting) -> String {
        let caught = catch_unwind(AssertUnwindSafe(|| check_solver(|| solver)));
        let payload = caught.expect_err("the contract is not kept");
        let words = payload.downcast_ref::<String>().cloned();
        words.or_else(|| payload.downcast_ref::<&str>().map(|words| (*words).to_owned())).expect("words")
    }

    #[test]
    fn a_solver_that_saves_what_it_remembers_keeps_the_contract() {
        check_solver(Counting::default);
    }

    #[test]
    fn states_that_are_hidden_forgotten_or_mixed_are_found() {
        let honest = Counting::default();
        assert!(complaint(Counting { hides: true, ..honest }).contains("it gave two answers"));
        assert!(complaint(Counting { forgets: true, ..honest }).contains("restored, it gave another answer"));
        assert!(complaint(Counting { adds: true, ..honest }).contains("restored, it gave another answer"));
        assert!(complaint(Counting { credulous: true, ..honest }).contains("took bytes that are no state"));
    }
}
