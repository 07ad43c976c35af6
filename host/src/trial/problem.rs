//! The AFO problem of an iteration: what each solver gets, and what is made of its answer.

use std::cell::OnceCell;

use plugin_api::{Acquisition, Answer, BitMatrix, Layout, Problem, Quadratic, Result, Rule, Solver};

use super::groups::{penalised, repair};
use crate::record::event::Answered;

/// A drawn function with the rules of the bits, a few good points and those that are not wanted again.
pub(super) struct Afo<'a> {
    pub(super) f: &'a Acquisition,
    pub(super) layout: &'a Layout,
    starts: BitMatrix,
    unwanted: BitMatrix,
    /// The function for all solvers that do not keep groups: made once.
    penalised: OnceCell<Quadratic>,
}

impl<'a> Afo<'a> {
    pub(super) fn new(
        f: &'a Acquisition,
        layout: &'a Layout,
        starts: BitMatrix,
        unwanted: BitMatrix,
    ) -> Self {
        Self { f, layout, starts, unwanted, penalised: OnceCell::new() }
    }

    /// The problem for this solver. One that does not keep groups gets a penalty instead, which has the same minimum.
    pub(super) fn problem(&self, solver: &dyn Solver) -> Problem {
        let problem = match self.f {
            Acquisition::Quadratic(f) if !self.layout.groups().is_empty() && !solver.keeps(Rule::Groups) => {
                let penalised = self.penalised.get_or_init(|| penalised(f, self.layout));
                Problem::new(penalised.clone()).with_layout(&without_groups(self.layout))
            }
            f => Problem::new(f.clone()).with_layout(self.layout),
        };
        problem.with_starts(self.starts.clone()).with_unwanted(self.unwanted.clone())
    }

    /// An answer with its groups mended and its value our own; refused where nothing can be made of it.
    ///
    /// What is wrong with it is told in words. A bound is kept only where nothing contradicts it.
    pub(super) fn answered(&self, name: &str, problem: &Problem, answer: &Answer) -> Result<Answered> {
        let checked = problem.check(answer)?;
        let mut flaws: Vec<String> = checked.flaws().iter().map(ToString::to_string).collect();
        let mut bits = answer.bits().clone();
        repair(&mut bits, self.f, self.layout);
        // Mended, the point may lie below a bound that its own value did not contradict.
        let mut mended = Answer::new(bits.clone(), self.f.value(&bits));
        if let Some(bound) = checked.bound() {
            mended = mended.with_bound(bound);
        }
        let truth = Problem::new(self.f.clone()).with_layout(self.layout).check(&mended)?;
        flaws.extend(truth.flaws().iter().map(ToString::to_string));
        if !self.layout.admits(&bits) {
            return Err(format!("it answered {bits}: {}", flaws.join("; ")).into());
        }
        let counts = answer.counts().iter().map(|(name, count)| (name.clone(), (*count).into())).collect();
        Ok(Answered {
            solver: name.to_owned(),
            value: Some(truth.value()),
            bound: truth.bound(),
            bits: Some(bits),
            counts,
            flaws,
            failure: None,
        })
    }
}

/// The same bits with the constraints alone.
fn without_groups(layout: &Layout) -> Layout {
    let free = Layout::free(layout.dimension());
    free.with_constraints(layout.constraints().to_vec()).expect("the constraints of a layout are valid")
}

#[cfg(test)]
mod tests {
    use plugin_api::{Bits, Constraint, Literal};

    use super::*;

    /// Within the group, lowest at 100: −3.
    fn f() -> Acquisition {
        Quadratic::new(0.0, vec![-3.0, 1.0, 2.0], vec![0.0; 3]).unwrap().into()
    }

    fn layout() -> Layout {
        let group = 0..2;
        Layout::with_groups(3, vec![group]).unwrap()
    }

    /// A solver that does or does not keep groups, and is never asked for more.
    struct Keeps(bool);
    impl Solver for Keeps {
        fn minimize(&mut self, _: &Problem, _: u64) -> Result<Answer> {
            Err("nobody asks".into())
        }
        fn keeps(&self, rule: Rule) -> bool {
            self.0 && rule == Rule::Groups
        }
    }

    fn answered(keeps: bool, layout: &Layout, answer: Answer) -> Result<Answered> {
        let f = f();
        let afo = Afo::new(&f, layout, BitMatrix::new(3), BitMatrix::new(3));
        let problem = afo.problem(&Keeps(keeps));
        afo.answered("s", &problem, &answer)
    }

    fn bits(text: &str) -> Bits {
        text.parse().unwrap()
    }

    #[test]
    fn an_honest_answer_is_taken_as_it_is() {
        let taken = answered(true, &layout(), Answer::new(bits("100"), -3.0).with_bound(-3.5)).unwrap();
        assert_eq!((taken.value, taken.bound, taken.bits), (Some(-3.0), Some(-3.5), Some(bits("100"))));
        assert!(taken.flaws.is_empty(), "{:?}", taken.flaws);
    }

    #[test]
    fn every_lie_is_told_and_none_is_recorded() {
        for (lie, expected) in [
            (Answer::new(bits("100"), -4.0), (Some(-3.0), None, "100")),
            (Answer::new(bits("100"), f64::NAN), (Some(-3.0), None, "100")),
            (Answer::new(bits("100"), -3.0).with_bound(-2.0), (Some(-3.0), None, "100")),
            (Answer::new(bits("100"), -3.0).with_bound(f64::NAN), (Some(-3.0), None, "100")),
            (Answer::new(bits("110"), -2.0), (Some(-3.0), None, "100")),
            (Answer::new(bits("000"), 0.0), (Some(-3.0), None, "100")),
        ] {
            let taken = answered(true, &layout(), lie.clone()).unwrap();
            assert_eq!(taken.flaws.len(), 1, "{lie:?}: {:?}", taken.flaws);
            assert_eq!(
                (taken.value, taken.bound, taken.bits),
                (expected.0, expected.1, Some(bits(expected.2)))
            );
        }
    }

    #[test]
    fn a_false_bound_that_only_the_mended_point_contradicts_is_found() {
        // Without groups, 110 has the penalty's value; mended it is 100 with −3, below the bound.
        let f = f();
        let layout = layout();
        let afo = Afo::new(&f, &layout, BitMatrix::new(3), BitMatrix::new(3));
        let problem = afo.problem(&Keeps(false));
        let both = bits("110");
        let answer = Answer::new(both.clone(), problem.objective().value(&both)).with_bound(-1.0);
        let taken = afo.answered("s", &problem, &answer).unwrap();
        assert_eq!((taken.value, taken.bound), (Some(-3.0), None));
        assert_eq!(taken.flaws.len(), 1, "{:?}", taken.flaws);
    }

    #[test]
    fn what_cannot_be_used_at_all_is_refused() {
        assert!(answered(true, &layout(), Answer::new(bits("10"), -3.0)).is_err());
        let third = Constraint::Fixed(Literal { index: 2, level: 1 });
        let layout = layout().with_constraints(vec![third]).unwrap();
        let refused = answered(true, &layout, Answer::new(bits("100"), -3.0)).unwrap_err();
        assert!(refused.to_string().starts_with("it answered 100: "), "{refused}");
    }
}
