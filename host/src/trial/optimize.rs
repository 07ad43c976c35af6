//! The Bayesian optimization loop. It does no I/O: it tells a record what happens.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use plugin_api::{
    Acquisition, Answer, Benchmark, Bits, Encoder, Layout, Point, Problem, Sense, Solver, Space, Surrogate,
};

use super::event::{Answered, Evaluated, Evaluating, Event, Finished, Outcome, Phase, Proposed};
use super::groups::{penalised, repair};
use super::initial_design::initial_design;
use super::penalty::with_l1;
use super::seeds::Seeds;
use super::unseen::unseen;
use crate::manifest::OnFailure;

/// The plugins of a trial.
pub struct Parts {
    /// The objective.
    pub benchmark: Box<dyn Benchmark>,
    /// Between its points and the model's bits.
    pub encoder: Box<dyn Encoder>,
    /// The model.
    pub surrogate: Box<dyn Surrogate>,
    /// The solver that is followed, then the shadows; each with its name.
    pub solvers: Vec<(String, Box<dyn Solver>)>,
}

/// How much is evaluated, and what the experiment adds to the objective.
#[derive(Clone, Copy)]
pub struct Limits {
    /// Random points, before there is anything to learn from.
    pub initial: usize,
    /// Points proposed after them.
    pub evaluations: usize,
    /// Cost of each bit that is set.
    pub l1: f64,
    /// What becomes of the trial when an evaluation fails.
    pub on_failure: OnFailure,
}

/// What is known from an earlier run when a trial begins.
#[derive(Clone, Copy, Default)]
pub struct Known {
    /// How many evaluations the surrogate has in its state already.
    pub observed: usize,
    /// How many evaluations are taken from the record, without asking what would be proposed now.
    pub recalled: usize,
}

/// Who is told what happens.
pub trait Record {
    /// Takes an event; it is kept before anything that depends on it happens.
    fn event(&mut self, event: Event) -> Result<(), TrialError>;

    /// Takes a point about to be evaluated, and answers how that ended: by evaluating, or from memory.
    fn evaluate(
        &mut self,
        evaluating: Evaluating,
        evaluate: &mut dyn FnMut() -> Outcome,
    ) -> Result<Outcome, TrialError>;

    /// Answers the point that was proposed and evaluated next in an earlier run, which is to be evaluated again.
    fn recall(&mut self) -> Result<Point, TrialError>;

    /// May keep the surrogate's state, which has seen so many evaluations.
    fn keep(&mut self, evaluations: usize, save: &mut dyn FnMut() -> plugin_api::Result<Option<Vec<u8>>>);

    /// Hears that a step begins.
    fn begins(&mut self, step: Step<'_>);

    /// Takes how long a step took.
    fn time(&mut self, step: Step<'_>, time: Duration) -> Result<(), TrialError>;

    /// Whether somebody asked to stop.
    fn stop(&self) -> bool;
}

/// A step that takes time.
#[derive(Clone, Copy)]
pub enum Step<'a> {
    /// Drawing from the surrogate in this iteration.
    Fit(usize),
    /// Minimizing what was drawn, by this solver, followed or not.
    Solve(usize, &'a str, bool),
    /// Evaluating the objective.
    Evaluate(usize),
}

/// Why a trial ended before its budget was spent.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// A plugin failed at what no trial can do without.
    #[error("{what}: {source}")]
    Plugin {
        /// What was asked of it.
        what: String,
        /// What it answered.
        source: plugin_api::Error,
    },
    /// An evaluation failed, and the experiment wants no trial to go on after that.
    #[error("evaluation {evaluation} failed: {reason}")]
    Evaluation {
        /// Counted from 1.
        evaluation: usize,
        /// Why.
        reason: String,
    },
    /// The journal cannot be written, read or continued.
    #[error("{0}")]
    Journal(String),
    /// Somebody asked to stop.
    #[error("stopped on request")]
    Stopped,
}

/// Runs a trial to its end.
pub fn optimize(
    parts: Parts,
    limits: Limits,
    known: Known,
    seeds: &Seeds,
    record: &mut dyn Record,
) -> Result<Finished, TrialError> {
    let mut trial = Optimization::new(parts, limits, known, seeds.clone(), record);
    for point in initial_design(&trial.space, limits.initial, seeds.initial_design()) {
        let bits = trial.encode(&point)?;
        trial.evaluate(Phase::Initial, point, bits)?;
    }
    for iteration in 1..=limits.evaluations {
        let Some((point, bits)) = trial.propose(iteration)? else { break };
        trial.evaluate(Phase::Search, point, bits)?;
    }
    trial.finish()
}

struct Optimization<'r> {
    parts: Parts,
    limits: Limits,
    known: Known,
    seeds: Seeds,
    record: &'r mut dyn Record,
    space: Space,
    layout: Layout,
    /// Every point evaluated, whether that failed or not.
    seen: BTreeSet<Bits>,
    /// Those that gave no value: they are not proposed again even where the objective is noisy.
    without_value: BTreeSet<Bits>,
    evaluations: usize,
    best: Option<Best>,
}

struct Best {
    total: f64,
    bits: Bits,
    point: Point,
}

fn failed(what: impl Into<String>) -> impl FnOnce(plugin_api::Error) -> TrialError {
    let what = what.into();
    |source| TrialError::Plugin { what, source }
}

impl<'r> Optimization<'r> {
    fn new(parts: Parts, limits: Limits, known: Known, seeds: Seeds, record: &'r mut dyn Record) -> Self {
        let (space, layout) = (parts.benchmark.space(), parts.encoder.layout());
        Self {
            parts,
            limits,
            known,
            seeds,
            record,
            space,
            layout,
            seen: BTreeSet::new(),
            without_value: BTreeSet::new(),
            evaluations: 0,
            best: None,
        }
    }

    fn encode(&self, point: &Point) -> Result<Bits, TrialError> {
        let bits = self.parts.encoder.encode(point).and_then(|bits| match self.layout.admits(&bits) {
            true => Ok(bits),
            false => Err(format!("{bits} is outside its own layout").into()),
        });
        bits.map_err(failed("encoding a point"))
    }

    fn decode(&self, bits: &Bits) -> Result<Point, TrialError> {
        let point = self.parts.encoder.decode(bits);
        let point = point.and_then(|point| self.space.check(&point).map(|()| point));
        point.map_err(failed("decoding a point"))
    }

    /// 1 where low values are good, −1 where high ones are: the model always minimizes.
    fn sign(&self) -> f64 {
        if self.parts.benchmark.sense() == Sense::Maximize { -1.0 } else { 1.0 }
    }

    fn evaluate(&mut self, phase: Phase, point: Point, bits: Bits) -> Result<(), TrialError> {
        if self.record.stop() {
            return Err(TrialError::Stopped);
        }
        self.evaluations += 1;
        let (evaluation, seed) = (self.evaluations, self.seeds.evaluation(self.evaluations));
        let started = Instant::now();
        let benchmark = &mut self.parts.benchmark;
        let evaluating = Evaluating { evaluation, phase, point: point.clone() };
        let outcome = self.record.evaluate(evaluating, &mut || match benchmark.evaluate(&point, seed) {
            Ok(value) if value.is_finite() => Outcome::Ok { value },
            Ok(value) => Outcome::Failed { reason: format!("the value is {value}") },
            Err(error) => Outcome::Failed { reason: error.to_string() },
        })?;
        self.record.time(Step::Evaluate(evaluation), started.elapsed())?;

        let penalty = self.limits.l1 * bits.count_ones() as f64;
        let mut total = None;
        if let Outcome::Ok { value } = outcome {
            let sign = self.sign();
            // The model learns the bare value; the penalty enters the problem, where it is known exactly.
            if evaluation > self.known.observed {
                self.parts.surrogate.observe(&bits, sign * value).map_err(failed("observing a value"))?;
            }
            let sum = value + sign * penalty;
            total = Some(sum);
            if self.best.as_ref().is_none_or(|best| sign * sum < sign * best.total) {
                self.best = Some(Best { total: sum, bits: bits.clone(), point });
            }
        }
        if total.is_none() {
            self.without_value.insert(bits.clone());
        }
        self.seen.insert(bits);
        let best = self.best.as_ref().map(|best| best.total);
        let failure = outcome.reason().map(str::to_owned);
        self.record.event(Event::Evaluated(Evaluated { evaluation, outcome, penalty, total, best }))?;
        if let (Some(reason), OnFailure::Stop) = (failure, self.limits.on_failure) {
            return Err(TrialError::Evaluation { evaluation, reason });
        }
        if evaluation > self.known.observed {
            let surrogate = &self.parts.surrogate;
            self.record.keep(evaluation, &mut || surrogate.save());
        }
        Ok(())
    }

    /// The next point: as an earlier run had it, or by asking surrogate and solver; `None` where all has been seen.
    fn propose(&mut self, iteration: usize) -> Result<Option<(Point, Bits)>, TrialError> {
        if self.evaluations < self.known.recalled {
            let point = self.record.recall()?;
            self.space.check(&point).map_err(failed("recalling a point"))?;
            let bits = self.encode(&point)?;
            return Ok(Some((point, bits)));
        }
        let f = self.draw(iteration)?;
        let answers = self.solve(iteration, &f)?;
        let Some(bits) = self.choose(iteration, &f, answers)? else { return Ok(None) };
        Ok(Some((self.decode(&bits)?, bits)))
    }

    /// A Thompson sample with the penalty in its linear terms.
    fn draw(&mut self, iteration: usize) -> Result<Acquisition, TrialError> {
        self.record.begins(Step::Fit(iteration));
        let started = Instant::now();
        let drawn = self.parts.surrogate.draw(self.seeds.draw(iteration));
        let drawn =
            drawn.map_err(failed(format!("drawing an acquisition function in iteration {iteration}")))?;
        self.record.time(Step::Fit(iteration), started.elapsed())?;
        Ok(with_l1(drawn, self.limits.l1))
    }

    /// What each solver answers; the first is followed.
    fn solve(&mut self, iteration: usize, f: &Acquisition) -> Result<Vec<Answered>, TrialError> {
        let seed = self.seeds.solve(iteration);
        let mut answers = Vec::new();
        for (i, (name, solver)) in self.parts.solvers.iter_mut().enumerate() {
            let keeps = solver.keeps_groups() || self.layout.groups().is_empty();
            let mut problem = match f {
                Acquisition::Quadratic(f) if !keeps => Problem::new(penalised(f, &self.layout)),
                _ => Problem::new(f.clone()).with_groups(&self.layout),
            };
            if let Some(best) = &self.best {
                problem = problem.with_incumbent(best.bits.clone());
            }
            self.record.begins(Step::Solve(iteration, name, i == 0));
            let started = Instant::now();
            let answer = solver.minimize(&problem, seed);
            let time = started.elapsed();
            let answered = answer.and_then(|answer| checked(name, &answer, f, &self.layout));
            answers.push(answered.map_err(failed(format!("solver `{name}` in iteration {iteration}")))?);
            self.record.time(Step::Solve(iteration, name, i == 0), time)?;
        }
        Ok(answers)
    }

    /// The next point: the answer, or one not seen before where evaluating it again would tell nothing.
    fn choose(
        &mut self,
        iteration: usize,
        f: &Acquisition,
        answers: Vec<Answered>,
    ) -> Result<Option<Bits>, TrialError> {
        let followed = answers.first().expect("a method has a solver").bits.clone();
        let avoided = if self.parts.benchmark.deterministic() { &self.seen } else { &self.without_value };
        let chosen = unseen(followed, f, &self.layout, avoided, self.seeds.unseen(iteration));
        let Some((bits, choice)) = chosen else { return Ok(None) };
        self.record.event(Event::Proposed(Proposed { iteration, answers, choice }))?;
        Ok(Some(bits))
    }

    fn finish(mut self) -> Result<Finished, TrialError> {
        let optimum =
            self.parts.benchmark.optimum(self.limits.l1).map_err(failed("asking for the optimum"))?;
        let best = self.best.as_ref();
        let finished = Finished {
            evaluations: self.evaluations,
            best: best.map(|best| best.total),
            point: best.map(|best| best.point.clone()),
            description: best.map(|best| self.space.describe(&best.point)),
            optimum,
        };
        self.record.event(Event::Finished(finished.clone()))?;
        Ok(finished)
    }
}

/// An answer with its groups mended and its value our own; refused where it is none.
fn checked(name: &str, answer: &Answer, f: &Acquisition, layout: &Layout) -> plugin_api::Result<Answered> {
    if answer.bits().len() != f.dimension() {
        let (found, expected) = (answer.bits().len(), f.dimension());
        return Err(plugin_api::Error::new(format!("it answered {found} bits to a problem of {expected}")));
    }
    let mut bits = answer.bits().clone();
    repair(&mut bits, f, layout);
    let value = f.value(&bits);
    if !value.is_finite() {
        return Err(plugin_api::Error::new(format!("the acquisition function is {value} at its answer")));
    }
    let bound = answer.bound().filter(|bound| bound.is_finite());
    let counts = answer.counts().iter().map(|(name, count)| (name.clone(), (*count).into())).collect();
    Ok(Answered { solver: name.to_owned(), value, bound, bits, counts })
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::{AcquisitionKind, Quadratic, Result as PluginResult};
    use std::sync::{Arc, Mutex};

    /// Value 10 for each of three bits, maximised or minimised; every call is noted.
    struct Tens(bool);
    impl Benchmark for Tens {
        fn space(&self) -> Space {
            Space::binary(3)
        }
        fn evaluate(&mut self, point: &Point, _seed: u64) -> PluginResult<f64> {
            Ok(10.0 * f64::from(point.iter().sum::<u32>()))
        }
        fn sense(&self) -> Sense {
            if self.0 { Sense::Maximize } else { Sense::Minimize }
        }
    }

    struct Same;
    impl Encoder for Same {
        fn layout(&self) -> Layout {
            Layout::free(3)
        }
        fn encode(&self, point: &Point) -> PluginResult<Bits> {
            Ok(point.iter().map(|&level| level == 1).collect())
        }
        fn decode(&self, bits: &Bits) -> PluginResult<Point> {
            Ok(bits.iter().map(|&bit| u32::from(bit)).collect())
        }
    }

    /// Notes what it observes, and draws zero.
    struct Notes(Arc<Mutex<Vec<(Bits, f64)>>>);
    impl Surrogate for Notes {
        fn observe(&mut self, bits: &Bits, value: f64) -> PluginResult<()> {
            self.0.lock().unwrap().push((bits.clone(), value));
            Ok(())
        }
        fn draw(&mut self, _seed: u64) -> PluginResult<Acquisition> {
            Ok(Quadratic::zero(3).into())
        }
    }

    /// Answers the same point each time, and notes the problem's linear terms.
    struct Stubborn(Arc<Mutex<Vec<Vec<f64>>>>);
    impl Solver for Stubborn {
        fn minimize(&mut self, problem: &Problem, _seed: u64) -> PluginResult<Answer> {
            self.0.lock().unwrap().push(problem.quadratic()?.linear().to_vec());
            let bits = Bits::from(vec![true; 3]);
            let value = problem.objective().value(&bits);
            Ok(Answer::new(bits, value))
        }
        fn takes(&self) -> AcquisitionKind {
            AcquisitionKind::Quadratic
        }
    }

    #[derive(Default)]
    struct Events(Vec<Event>);
    impl Record for Events {
        fn event(&mut self, event: Event) -> Result<(), TrialError> {
            self.0.push(event);
            Ok(())
        }
        fn evaluate(
            &mut self,
            evaluating: Evaluating,
            evaluate: &mut dyn FnMut() -> Outcome,
        ) -> Result<Outcome, TrialError> {
            self.0.push(Event::Evaluating(evaluating));
            Ok(evaluate())
        }
        fn recall(&mut self) -> Result<Point, TrialError> {
            panic!("there is no earlier run")
        }
        fn keep(&mut self, _: usize, _: &mut dyn FnMut() -> plugin_api::Result<Option<Vec<u8>>>) {}
        fn begins(&mut self, _: Step<'_>) {}
        fn time(&mut self, _: Step<'_>, _: Duration) -> Result<(), TrialError> {
            Ok(())
        }
        fn stop(&self) -> bool {
            false
        }
    }

    struct Run {
        finished: Finished,
        events: Vec<Event>,
        observed: Vec<(Bits, f64)>,
        linear: Vec<Vec<f64>>,
    }

    fn run(maximize: bool, evaluations: usize) -> Run {
        let (observed, linear) = (Arc::default(), Arc::default());
        let parts = Parts {
            benchmark: Box::new(Tens(maximize)),
            encoder: Box::new(Same),
            surrogate: Box::new(Notes(Arc::clone(&observed))),
            solvers: vec![("stubborn".to_owned(), Box::new(Stubborn(Arc::clone(&linear))))],
        };
        let mut events = Events::default();
        let limits = Limits { initial: 2, evaluations, l1: 0.25, on_failure: OnFailure::Skip };
        let finished =
            optimize(parts, limits, Known::default(), &Seeds::new("test", 1), &mut events).unwrap();
        let (observed, linear) = (observed.lock().unwrap().clone(), linear.lock().unwrap().clone());
        Run { finished, events: events.0, observed, linear }
    }

    #[test]
    fn the_model_learns_the_bare_value_and_the_penalty_enters_the_linear_terms() {
        for (maximize, sign) in [(false, 1.0), (true, -1.0)] {
            let run = run(maximize, 3);
            assert!(run.linear.iter().all(|linear| linear == &[0.25; 3]));
            for (bits, value) in &run.observed {
                assert_eq!(*value, sign * 10.0 * bits.count_ones() as f64);
            }
            for event in &run.events {
                let Event::Evaluated(evaluated) = event else { continue };
                let Outcome::Ok { value } = evaluated.outcome else { panic!("nothing fails here") };
                assert_eq!(evaluated.total, Some(value + sign * evaluated.penalty));
            }
        }
    }

    #[test]
    fn the_best_is_the_best_total_in_the_objectives_own_sense() {
        assert_eq!(run(false, 6).finished.best, Some(0.0));
        assert_eq!(run(true, 6).finished.best, Some(30.0 - 0.75));
    }

    #[test]
    fn a_deterministic_objective_is_never_evaluated_twice_and_ends_when_all_is_seen() {
        let run = run(false, 100);
        assert_eq!(run.finished.evaluations, 8);
        assert_eq!(run.observed.iter().map(|(bits, _)| bits).collect::<BTreeSet<_>>().len(), 8);
    }
}
