//! What a solver promises.

use std::sync::Arc;

use super::findings::{ANSWERS, Findings, Promise, Verdict, Watcher, insist};
use super::{minimum, random_quadratic};
use crate::{
    Acquisition, AcquisitionKind, Answer, BitMatrix, Constraint, ErrorKind, Flaw, Function, Layout, Literal,
    Problem, Quadratic, Result, Rule, Solver, rng,
};

const PROMISES: &[Promise] = &[
    ANSWERS,
    ("kinds", "it takes at least one kind of function"),
    (
        "length",
        "an answer has as many bits as the problem, from 1 to 100 of them, unless it says that they are too many",
    ),
    ("value", "the value of an answer is the function's at its bits"),
    ("determinism", "the same problems and seeds give the same answers"),
    ("bound", "a bound is below every point's value, as trying all of them shows"),
    ("groups", "answers keep the groups, where keeps() says so"),
    ("constraints", "answers keep to each sort of constraint that keeps() names"),
    ("state", "what restore() was given goes on as the original does, and garbage is refused"),
];

/// Checks what [`Solver`] promises on random problems, small and larger: of the kinds that it takes, with the rules that
/// it keeps.
///
/// # Panics
/// With the first promise that is not kept.
pub fn check_solver<S: Solver>(make: impl Fn() -> S) {
    insist(examine_solver(|| Ok(make()), &|_| {}));
}

/// The same with a verdict for each promise instead of a panic.
pub fn examine_solver<S: Solver>(make: impl Fn() -> Result<S>, watch: Watcher<'_>) -> Vec<Verdict> {
    let mut findings = Findings::new(PROMISES, watch);
    examine(&|| Ok(Box::new(make()?)), &mut findings);
    findings.verdicts()
}

type Make<'a> = &'a dyn Fn() -> Result<Box<dyn Solver + 'a>>;

fn examine(make: Make<'_>, findings: &mut Findings<'_>) -> Option<()> {
    let solver = findings.call("making it", make)?;
    let any = AcquisitionKind::ALL.into_iter().any(|kind| solver.takes(kind));
    findings.ensure("kinds", any, || "the solver takes no kind of function".to_owned());
    if solver.takes(AcquisitionKind::Quadratic) {
        examine_quadratic(make, findings)?;
        examine_rules(&*solver, make, &|| random_quadratic(&mut rng(10), 9).into(), findings)?;
    }
    if solver.takes(AcquisitionKind::General) {
        let parity = |n| move || Acquisition::General(Arc::new(Parity(n)));
        let problem = || Problem::new(parity(6)());
        examine_on(make, &problem, Some(minimum(&problem())), findings)?;
        examine_rules(&*solver, make, &parity(9), findings)?;
    }
    examine_state(make, findings)
}

fn examine_quadratic(make: Make<'_>, findings: &mut Findings<'_>) -> Option<()> {
    let mut rng = rng(4);
    for n in [1, 2, 3, 5, 8, 12] {
        for case in 0..6 {
            let problem = || Problem::new(random_quadratic(&mut crate::rng(1000 * n as u64 + case), n));
            let exact = minimum(&problem());
            examine_on(make, &problem, Some(exact), findings)?;
            let mut starts = BitMatrix::new(n);
            starts.push(&Layout::free(n).random(&mut rng));
            examine_on(make, &|| problem().with_starts(starts.clone()), Some(exact), findings)?;
            let unwanted = starts.clone();
            starts.push(&Layout::free(n).random(&mut crate::rng(case)));
            let problem = || problem().with_starts(starts.clone()).with_unwanted(unwanted.clone());
            examine_on(make, &problem, Some(exact), findings)?;
        }
    }
    examine_on(make, &|| Problem::new(Quadratic::zero(9)), Some(0.0), findings)?;
    examine_on(make, &|| Problem::new(random_quadratic(&mut crate::rng(9), 40)), None, findings)?;
    let large = || Problem::new(random_quadratic(&mut crate::rng(11), 100)).with_work_limit(2);
    // One that tries every point may say that there are too many; a panic is no such word.
    let refused = findings.call("making it", make)?.minimize(&large(), 1).err();
    if refused.is_some_and(|error| error.kind() != ErrorKind::Panicked) {
        return Some(());
    }
    examine_on(make, &large, None, findings)
}

/// Problems of nine bits, with each of the rules that the solver keeps, and with all of them.
fn examine_rules(
    solver: &dyn Solver,
    make: Make<'_>,
    objective: &dyn Fn() -> Acquisition,
    findings: &mut Findings<'_>,
) -> Option<()> {
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
        constraints.into_iter().filter(|constraint| solver.keeps(constraint.rule())).collect();
    let mut cases: Vec<Vec<Constraint>> = constraints.iter().map(|one| vec![one.clone()]).collect();
    cases.push(constraints);
    let free = Layout::free(9);
    let grouped = Layout::with_groups(9, vec![0..3, 4..9]).expect("valid groups");
    let layouts = if solver.keeps(Rule::Groups) { vec![free, grouped] } else { vec![free] };
    for layout in layouts {
        for case in &cases {
            let layout = layout.clone().with_constraints(case.clone()).expect("valid constraints");
            let problem = || Problem::new(objective()).with_layout(&layout);
            let exact = minimum(&problem());
            examine_on(make, &problem, Some(exact), findings)?;
            // A start that breaks every rule.
            let mut starts = BitMatrix::new(9);
            starts.push(&[true; 9]);
            examine_on(make, &|| problem().with_starts(starts.clone()), Some(exact), findings)?;
        }
    }
    Some(())
}

fn minimize(
    solver: &mut dyn Solver,
    problem: &Problem,
    seed: u64,
    findings: &mut Findings<'_>,
) -> Option<Answer> {
    let what = format!("minimize() of a problem of {} bits", problem.dimension());
    findings.call(&what, || solver.minimize(problem, seed))
}

fn examine_on(
    make: Make<'_>,
    problem: &dyn Fn() -> Problem,
    exact: Option<f64>,
    findings: &mut Findings<'_>,
) -> Option<()> {
    let mut solver = findings.call("making it", make)?;
    let answer = minimize(&mut *solver, &problem(), 7, findings)?;
    let checked = match problem().check(&answer) {
        Ok(checked) => checked,
        Err(error) => {
            findings.note("length", || error.to_string());
            return None;
        }
    };
    for flaw in checked.flaws() {
        let promise = match flaw {
            Flaw::Value { .. } => "value",
            Flaw::Bound { .. } | Flaw::BoundNotANumber => "bound",
            Flaw::Group { .. } => "groups",
            Flaw::Constraint(_) => "constraints",
        };
        findings.note(promise, || flaw.to_string());
    }
    // To the bit: a value that is not a number is the same as itself.
    let same = |one: &Answer, two: &Answer| format!("{one:?}") == format!("{two:?}");
    if findings.call("save()", || solver.save())?.is_none() {
        let again = minimize(&mut *solver, &problem(), 7, findings)?;
        findings.ensure("determinism", same(&answer, &again), || {
            "asked twice with one seed, it gave two answers".to_owned()
        });
    }
    let mut other = findings.call("making it", make)?;
    let again = minimize(&mut *other, &problem(), 7, findings)?;
    findings.ensure("determinism", same(&answer, &again), || {
        "made again and asked with the same seed, it gave another answer".to_owned()
    });
    if let (Some(bound), Some(exact)) = (checked.bound(), exact) {
        let scale = 1.0 + checked.value().abs();
        findings.ensure("bound", bound <= exact + 1e-9 * scale, || {
            format!("the bound {bound} is above the minimum {exact}")
        });
    }
    Some(())
}

/// A state taken at any time goes on as the original does, and so does a solver that solves all problems again.
fn examine_state(make: Make<'_>, findings: &mut Findings<'_>) -> Option<()> {
    let mut original = findings.call("making it", make)?;
    let garbage = original.restore(b"not a state");
    findings.ensure("state", garbage.is_err(), || "restore() took bytes that are no state".to_owned());
    let quadratic = original.takes(AcquisitionKind::Quadratic);
    let problem = |step: u64| -> Problem {
        let n = [6, 6, 6, 9, 6][step as usize % 5];
        let objective = match quadratic {
            true => random_quadratic(&mut rng(step), n).into(),
            false => Acquisition::General(Arc::new(Parity(n))),
        };
        let mut starts = BitMatrix::new(n);
        starts.push(&Layout::free(n).random(&mut rng(step)));
        Problem::new(objective).with_starts(starts)
    };
    let mut original = findings.call("making it", make)?;
    let mut used = findings.call("making it", make)?;
    minimize(&mut *used, &problem(100), 100, findings)?;
    for step in 0..10 {
        let state = findings.call("save()", || original.save())?;
        let expected = minimize(&mut *original, &problem(step), step, findings)?;
        let mut replayed = findings.call("making it", make)?;
        for earlier in 0..step {
            minimize(&mut *replayed, &problem(earlier), earlier, findings)?;
        }
        let again = minimize(&mut *replayed, &problem(step), step, findings)?;
        findings.ensure("determinism", again == expected, || {
            "solving the same problems again, it gave another answer".to_owned()
        });
        let after = findings.call("save()", || original.save())?;
        findings.ensure("state", after.is_some() == state.is_some(), || {
            "save() gave a state before a problem or after it, and not both".to_owned()
        });
        let Some(state) = state else { continue };
        // Restored into one that was just made, and into one with a past of its own.
        let made = findings.call("making it", make)?;
        let fresh = findings.call("making it", make)?;
        for mut restored in [made, std::mem::replace(&mut used, fresh)] {
            if let Err(error) = restored.restore(&state) {
                findings.note("state", || format!("restore() of its own state: {error}"));
                return None;
            }
            let answer = minimize(&mut *restored, &problem(step), step, findings)?;
            findings.ensure("state", answer == expected, || "restored, it gave another answer".to_owned());
            used = restored;
        }
    }
    Some(())
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
