//! What is kept of a trial: sums instead of rows, so that ten thousand of them fit in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use plugin_api::Space;
use serde::Serialize;

use super::best::Found;
use super::course::Course;
use super::listing::{self, Listed};
use super::predicted::{Predicted, predicted};
use super::recommended::Recommendation;
use crate::record::event::{Finished, Phase, Started};
use crate::record::incident::Incident;
use crate::record::{Evaluation, Step, TrialFiles};

/// Values of the same size are equal up to this part of it.
const SAME: f64 = 1e-9;

/// A trial, in short.
pub(crate) struct TrialRecord {
    /// Which trial it is.
    pub started: Started,
    /// The best total after each evaluation.
    pub best_at: Vec<Option<f64>>,
    /// What each evaluation gave, and when.
    pub course: Course,
    /// Proposals with what was expected of them.
    pub predicted: Vec<Predicted>,
    /// Evaluations that the page lists.
    pub listed: Vec<Listed>,
    /// Which of the report's runs it belongs to.
    pub run: usize,
    /// How many evaluations belong to the initial design.
    pub initial: usize,
    /// The same for trials with the same initial design.
    pub design: u64,
    /// Evaluations that failed.
    pub failures: Vec<Failure>,
    /// How many points were not allowed.
    pub infeasible: usize,
    /// False answers of solvers, and shadows that gave none.
    pub flaws: Vec<Flaw>,
    /// How it ended; `None` where it has not.
    pub finished: Option<Finished>,
    /// The best evaluation so far; where the objective is noisy, the luckiest.
    pub found: Option<Found>,
    /// What it recommends, where the objective is noisy.
    pub recommendation: Option<Recommendation>,
    /// The names of variables and levels, where they are known.
    pub space: Option<Arc<Space>>,
    /// The followed solver, then the shadows.
    pub solvers: Vec<SolverRecord>,
    /// The surrogates, where several take turns.
    pub turns: Vec<Turn>,
    /// What surrogates decided, and how often: surrogate (empty where it is the only one), name, words.
    pub notes: BTreeMap<(String, String, String), usize>,
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

/// An evaluation that failed.
pub(crate) struct Failure {
    pub evaluation: usize,
    /// `failed` or `timed-out`.
    pub status: &'static str,
    pub reason: String,
    pub levels: Vec<u32>,
}

/// A false answer, or none.
pub(crate) struct Flaw {
    pub iteration: usize,
    pub solver: String,
    /// Whether there was no answer at all, as a shadow may fail.
    pub failed: bool,
    /// What was wrong.
    pub words: String,
}

/// What a surrogate proposed, where several take turns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Turn {
    pub surrogate: String,
    pub proposals: usize,
    /// How many of them were better than everything before.
    pub improvements: usize,
}

impl Turn {
    /// Adds another's counts to those of the same surrogate.
    pub(crate) fn add(turns: &mut Vec<Self>, other: &Self) {
        match turns.iter_mut().find(|turn| turn.surrogate == other.surrogate) {
            Some(turn) => {
                turn.proposals += other.proposals;
                turn.improvements += other.improvements;
            }
            None => turns.push(other.clone()),
        }
    }
}

/// A solver's answers in one trial.
pub(crate) struct SolverRecord {
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
pub(crate) struct Sum {
    /// How many.
    pub count: usize,
    pub sum: f64,
}

impl Sum {
    /// One number more.
    pub(crate) fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum += value;
    }

    /// Both together.
    pub(crate) fn and(self, other: Self) -> Self {
        Self { count: self.count + other.count, sum: self.sum + other.sum }
    }

    /// The mean; `None` of nothing.
    pub(crate) fn mean(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

impl TrialRecord {
    /// Whether the trial came to its end.
    pub(crate) fn is_finished(&self) -> bool {
        self.finished.is_some()
    }

    /// The best total of a finished trial.
    pub(crate) fn final_best(&self) -> Option<f64> {
        self.finished.as_ref().and_then(|finished| finished.best)
    }

    /// The best total there is, where it is known.
    pub(crate) fn optimum(&self) -> Option<f64> {
        self.finished.as_ref().and_then(|finished| finished.optimum)
    }
}

impl TrialRecord {
    /// A trial of the report's run of this number, of which the best `listed` evaluations may be shown one by one.
    pub(crate) fn new(trial: TrialFiles, run: usize, space: Option<Arc<Space>>, listed: usize) -> Self {
        let failed = trial.evaluations.iter().filter(|evaluation| evaluation.ended.status.is_failure());
        let failure = |evaluation: &Evaluation| Failure {
            evaluation: evaluation.ended.evaluation,
            status: evaluation.ended.status.word(),
            reason: evaluation.ended.reason.clone().unwrap_or_default(),
            levels: evaluation.point.clone(),
        };
        let failures: Vec<Failure> = failed.map(failure).collect();
        let without_value =
            trial.evaluations.iter().filter(|evaluation| evaluation.ended.value.is_none()).count();
        let time = |wanted: &dyn Fn(&Step) -> bool| {
            let mut sum = Sum::default();
            trial.times.iter().filter(|timed| wanted(&timed.step)).for_each(|timed| sum.add(timed.seconds));
            sum
        };
        Self {
            best_at: trial.evaluations.iter().map(|evaluation| evaluation.ended.best).collect(),
            initial: trial.evaluations.iter().filter(|evaluation| evaluation.phase != Phase::Search).count(),
            design: trial.design(),
            infeasible: without_value - failures.len(),
            failures,
            flaws: flaws(&trial),
            solvers: solvers(&trial),
            turns: turns(&trial),
            notes: notes(&trial),
            fit: time(&|step| matches!(step, Step::Fit { .. })),
            solve: time(&|step| matches!(step, Step::Solve { followed: true, .. })),
            shadows: time(&|step| matches!(step, Step::Solve { followed: false, .. })),
            evaluate: time(&|step| matches!(step, Step::Evaluate { .. })),
            found: trial.best().and_then(found),
            recommendation: trial
                .recommended
                .as_ref()
                .map(|point| Recommendation::of(point, trial.started.maximize)),
            course: Course::of(&trial),
            predicted: predicted(&trial),
            listed: listing::of_trial(&trial, listed),
            run,
            space,
            started: trial.started,
            finished: trial.finished,
            incidents: trial.incidents,
        }
    }
}

fn found(evaluation: &Evaluation) -> Option<Found> {
    let ended = &evaluation.ended;
    let (value, total) = ended.value.zip(ended.total)?;
    let levels = evaluation.point.clone();
    Some(Found { evaluation: ended.evaluation, value, penalty: ended.penalty, total, levels })
}

fn flaws(trial: &TrialFiles) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    for problem in &trial.problems {
        for answer in &problem.answers {
            let flaw = |failed: bool, words: &str| {
                let (iteration, solver) = (problem.iteration, answer.solver.clone());
                Flaw { iteration, solver, failed, words: words.to_owned() }
            };
            flaws.extend((!answer.flaws.is_empty()).then(|| flaw(false, &answer.flaws.join("; "))));
            flaws.extend(answer.failure.iter().map(|words| flaw(true, words)));
        }
    }
    flaws
}

/// Each surrogate's proposals, and those that were better than everything before.
fn turns(trial: &TrialFiles) -> Vec<Turn> {
    let mut turns = Vec::new();
    let best = |i: usize| trial.evaluations.get(i).map(|evaluation| evaluation.ended.best);
    for (i, evaluation) in trial.evaluations.iter().enumerate() {
        let Some(problem) = evaluation.problem.and_then(|problem| trial.problems.get(problem)) else {
            continue;
        };
        let Some(surrogate) = &problem.surrogate else { continue };
        let before = i.checked_sub(1).and_then(best).flatten();
        let improved = evaluation.ended.total.is_some() && evaluation.ended.best != before;
        let turn = Turn { surrogate: surrogate.clone(), proposals: 1, improvements: improved.into() };
        Turn::add(&mut turns, &turn);
    }
    turns
}

fn notes(trial: &TrialFiles) -> BTreeMap<(String, String, String), usize> {
    let mut notes = BTreeMap::new();
    for problem in &trial.problems {
        for (name, words) in &problem.notes {
            let surrogate = problem.surrogate.clone().unwrap_or_default();
            let words = words.as_str().map_or_else(|| words.to_string(), str::to_owned);
            *notes.entry((surrogate, name.clone(), words)).or_default() += 1;
        }
    }
    notes
}

fn solvers(trial: &TrialFiles) -> Vec<SolverRecord> {
    let mut seconds: BTreeMap<(bool, &str), Sum> = BTreeMap::new();
    for timed in &trial.times {
        if let Step::Solve { solver, followed, .. } = &timed.step {
            seconds.entry((*followed, solver)).or_default().add(timed.seconds);
        }
    }
    let mut solvers: Vec<SolverRecord> = Vec::new();
    for problem in &trial.problems {
        let Some(followed) = problem.answers.first().and_then(|answer| answer.value) else { continue };
        let values = problem.answers.iter().filter_map(|answer| answer.value);
        let best = values.fold(f64::INFINITY, f64::min);
        let bound = problem.answers.iter().filter_map(|answer| answer.bound).reduce(f64::max);
        for (i, answer) in problem.answers.iter().enumerate() {
            let Some(value) = answer.value else { continue };
            let known = solvers.iter().position(|s| s.followed == (i == 0) && s.solver == answer.solver);
            let place = known.unwrap_or_else(|| {
                let seconds = seconds.get(&(i == 0, answer.solver.as_str())).copied().unwrap_or_default();
                solvers.push(SolverRecord::new(&answer.solver, i == 0, seconds));
                solvers.len() - 1
            });
            solvers[place].add(value, followed, best, bound);
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
        // 0 and −3e-11 are the same value: without a floor they would be 100 % apart.
        let above = |other: f64| match value - other {
            d if d.abs() <= SAME * (1.0 + value.abs()) => 0.0,
            d => d,
        };
        let difference = above(followed);
        self.problems += 1;
        match difference {
            0.0 => self.equal += 1,
            d if d > 0.0 => self.lower += 1,
            _ => self.higher += 1,
        }
        if value != 0.0 {
            self.improvement.add(100.0 * difference / value.abs());
        }
        if best != 0.0 {
            self.gap_to_best.add(100.0 * above(best) / best.abs());
        }
        if let Some(bound) = bound {
            let size = value.abs().max(bound.abs());
            // A bound may lie above a value by rounding.
            self.gap_to_bound.add(if size > 0.0 { (100.0 * above(bound) / size).max(0.0) } else { 0.0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_differ_by_rounding_alone_have_no_gap() {
        let mut record = SolverRecord::new("psr", false, Sum::default());
        record.add(0.0, -3e-11, -3e-11, Some(-3e-11));
        assert_eq!((record.lower, record.equal, record.higher), (0, 1, 0));
        assert_eq!((record.gap_to_best.sum, record.gap_to_bound.sum), (0.0, 0.0));
        record.add(-1.0, -2.0, -2.0, Some(-4.0));
        assert_eq!((record.lower, record.improvement.sum), (1, 100.0));
        assert_eq!((record.gap_to_best.sum, record.gap_to_bound.sum), (50.0, 75.0));
    }
}
