//! What is kept of a trial: sums instead of rows, so that ten thousand of them fit in memory.

use std::collections::BTreeMap;

use super::trial_files::{Finished, TrialFiles};
use crate::trial::event::Started;
use crate::trial::incident::Incident;

/// Values of the same size are equal up to this part of it.
const SAME: f64 = 1e-9;

/// A trial, in short.
pub struct TrialRecord {
    /// Which trial it is.
    pub started: Started,
    /// The best total after each evaluation.
    pub best_at: Vec<Option<f64>>,
    /// How many of them belong to the initial design.
    pub initial: usize,
    /// The same for trials with the same initial design.
    pub design: u64,
    /// Evaluations without a value.
    pub failures: Vec<Failure>,
    /// How it ended; `None` where it has not.
    pub finished: Option<Finished>,
    /// The levels of the best point so far.
    pub best_point: Option<Vec<u32>>,
    /// The followed solver, then the shadows.
    pub solvers: Vec<SolverRecord>,
    /// Drawing from the surrogate.
    pub fit: Sum,
    /// Minimizing by the solver that is followed.
    pub solve: Sum,
    /// Minimizing by shadows.
    pub shadows: Sum,
    /// Evaluating.
    pub evaluate: Sum,
    /// What went wrong with its process.
    pub incidents: Vec<Incident>,
}

/// An evaluation without a value.
pub struct Failure {
    /// Which.
    pub evaluation: usize,
    /// `failed` or `timed-out`.
    pub status: String,
    /// Why.
    pub reason: String,
}

/// A solver's answers in one trial.
pub struct SolverRecord {
    /// The solver.
    pub solver: String,
    /// Whether its answers were followed.
    pub followed: bool,
    /// How many problems it solved.
    pub problems: usize,
    /// On how many of them the followed solver's value was lower, equal and higher.
    pub lower: usize,
    /// See `lower`.
    pub equal: usize,
    /// See `lower`.
    pub higher: usize,
    /// 100 (this − followed) / |this|, where this is not 0.
    pub improvement: Sum,
    /// 100 (this − best known) / |best known|: the best known is the lowest answer of any solver.
    pub gap_to_best: Sum,
    /// 100 (this − bound) / max(|this|, |bound|) for the highest bound of any solver.
    pub gap_to_bound: Sum,
    /// How long its answers took.
    pub seconds: Sum,
}

/// Numbers of which only the mean is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sum {
    /// How many.
    pub count: usize,
    /// Their sum.
    pub sum: f64,
}

impl Sum {
    /// One number more.
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum += value;
    }

    /// Both together.
    pub fn and(self, other: Self) -> Self {
        Self { count: self.count + other.count, sum: self.sum + other.sum }
    }

    /// The mean; `None` of nothing.
    pub fn mean(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    fn of(values: &[f64]) -> Self {
        Self { count: values.len(), sum: values.iter().sum() }
    }
}

impl TrialRecord {
    /// Whether the trial came to its end.
    pub fn is_finished(&self) -> bool {
        self.finished.is_some()
    }

    /// The best total of a finished trial.
    pub fn final_best(&self) -> Option<f64> {
        self.finished.as_ref().and_then(|finished| finished.best)
    }

    /// The best total so far, finished or not.
    pub fn best(&self) -> Option<f64> {
        self.best_at.last().copied().flatten()
    }

    /// The best total there is, where it is known.
    pub fn optimum(&self) -> Option<f64> {
        self.finished.as_ref().and_then(|finished| finished.optimum)
    }
}

impl From<TrialFiles> for TrialRecord {
    fn from(trial: TrialFiles) -> Self {
        let solvers = solvers(&trial);
        let failed = trial.evaluations.iter().filter(|evaluation| evaluation.total.is_none());
        let failure = |evaluation: &super::trial_files::Evaluation| Failure {
            evaluation: evaluation.number,
            status: evaluation.status.clone(),
            reason: evaluation.reason.clone().unwrap_or_default(),
        };
        let times = |wanted: bool| {
            let times = trial.solve_seconds.iter().filter(|(_, followed, _)| *followed == wanted);
            Sum::of(&times.map(|(_, _, seconds)| *seconds).collect::<Vec<_>>())
        };
        Self {
            best_at: trial.evaluations.iter().map(|evaluation| evaluation.best).collect(),
            initial: trial.evaluations.iter().filter(|evaluation| evaluation.initial).count(),
            design: trial.design,
            failures: failed.map(failure).collect(),
            solvers,
            fit: Sum::of(&trial.fit_seconds),
            solve: times(true),
            shadows: times(false),
            evaluate: Sum::of(&trial.evaluate_seconds),
            started: trial.started,
            finished: trial.finished,
            best_point: trial.best_point,
            incidents: trial.incidents,
        }
    }
}

fn solvers(trial: &TrialFiles) -> Vec<SolverRecord> {
    let mut seconds: BTreeMap<(bool, &str), Sum> = BTreeMap::new();
    for (solver, followed, time) in &trial.solve_seconds {
        seconds.entry((*followed, solver)).or_default().add(*time);
    }
    let mut solvers: Vec<SolverRecord> = Vec::new();
    for problem in &trial.problems {
        let Some(followed) = problem.answers.first().map(|answer| answer.value) else { continue };
        let best = problem.answers.iter().map(|answer| answer.value).fold(f64::INFINITY, f64::min);
        let bound = problem.answers.iter().filter_map(|answer| answer.bound).reduce(f64::max);
        for (i, answer) in problem.answers.iter().enumerate() {
            let known = solvers.iter().position(|s| s.followed == (i == 0) && s.solver == answer.solver);
            let place = known.unwrap_or_else(|| {
                let seconds = seconds.get(&(i == 0, answer.solver.as_str())).copied().unwrap_or_default();
                solvers.push(SolverRecord::new(&answer.solver, i == 0, seconds));
                solvers.len() - 1
            });
            solvers[place].add(answer.value, followed, best, bound);
        }
    }
    solvers
}

impl SolverRecord {
    fn new(solver: &str, followed: bool, seconds: Sum) -> Self {
        Self {
            solver: solver.to_owned(),
            followed,
            problems: 0,
            lower: 0,
            equal: 0,
            higher: 0,
            improvement: Sum::default(),
            gap_to_best: Sum::default(),
            gap_to_bound: Sum::default(),
            seconds,
        }
    }

    fn add(&mut self, value: f64, followed: f64, best: f64, bound: Option<f64>) {
        let difference = value - followed;
        self.problems += 1;
        match difference {
            d if d.abs() <= SAME * (1.0 + value.abs()) => self.equal += 1,
            d if d > 0.0 => self.lower += 1,
            _ => self.higher += 1,
        }
        if value != 0.0 {
            self.improvement.add(100.0 * difference / value.abs());
        }
        if best != 0.0 {
            self.gap_to_best.add(100.0 * (value - best) / best.abs());
        }
        if let Some(bound) = bound {
            let size = value.abs().max(bound.abs());
            // A bound may lie above a value by rounding.
            self.gap_to_bound.add(if size > 0.0 { (100.0 * (value - bound) / size).max(0.0) } else { 0.0 });
        }
    }
}
