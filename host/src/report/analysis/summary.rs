//! What each method found, across seeds.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::predicted::{Calibration, calibration};
use super::recommended;
use super::settings::Setting;
use super::statistics::{Interval, interval, mean, ranks};
use super::trial::{SolverRecord, Sum, TrialRecord, Turn};

/// One method at one point of the sweep.
#[derive(Debug, Serialize)]
pub(crate) struct MethodSummary {
    /// The experiment's name.
    pub experiment: String,
    /// The method's name.
    pub method: String,
    /// The values of the sweep's keys.
    pub sweep: Map<String, Json>,
    /// How many bits the model sees.
    pub bits: usize,
    /// How many trials have finished.
    pub trials: usize,
    /// Trials that began and did not finish.
    pub unfinished: usize,
    /// Whether high values are good.
    pub maximize: bool,
    /// The best total of each trial that finished.
    #[serde(rename = "final")]
    pub final_best: Spread,
    /// What the trials recommend, where the objective is noisy: totals of points evaluated again, or else expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommended: Option<Spread>,
    /// The 95 % interval of its mean.
    pub final_interval: Option<Interval>,
    /// The mean rank among the methods, 1 for the best, over seeds that all of them finished.
    pub mean_rank: Option<f64>,
    /// The best total at each evaluation, over all trials that got so far.
    pub best_at: Vec<Spread>,
    /// |final best − optimum|, where the optimum is known for every trial.
    pub regret: Option<Spread>,
    /// Evaluations that failed, over all trials.
    pub failed_evaluations: usize,
    /// Points that were not allowed, over all trials.
    pub infeasible_evaluations: usize,
    /// False answers of its solvers, over all trials.
    pub flawed_answers: usize,
    /// Problems that a shadow failed at, over all trials.
    pub failed_shadows: usize,
    /// Mean seconds of drawing from the surrogate.
    pub mean_fit_seconds: Option<f64>,
    /// Mean seconds of the followed solver.
    pub mean_afo_seconds: Option<f64>,
    /// Mean seconds of an evaluation.
    pub mean_evaluate_seconds: Option<f64>,
    /// The followed solver beside each shadow.
    pub shadows: Vec<ShadowSummary>,
    /// What its surrogates decided, and in how many draws.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<NoteCount>,
    /// How good the models' predictions were, where they were asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predictions: Option<Calibration>,
    /// What each surrogate proposed, where several take turns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Turn>,
}

/// Something that a surrogate decided.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct NoteCount {
    /// Empty where there is only one.
    pub surrogate: String,
    pub name: String,
    pub words: String,
    pub draws: usize,
}

/// Mean, median and standard error of some values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Spread {
    /// How many there are.
    pub count: usize,
    pub mean: Option<f64>,
    pub median: Option<f64>,
    /// The standard error of the mean; absent for fewer than two values.
    pub standard_error: Option<f64>,
}

/// How the followed solver's AF values compare with a shadow's on the same problems.
#[derive(Debug, Serialize)]
pub(crate) struct ShadowSummary {
    /// The shadow.
    pub solver: String,
    /// How many problems both solved.
    pub problems: usize,
    /// On how many of them the followed solver's value was lower, equal (to 1e-9) and higher.
    pub lower: usize,
    /// See `lower`.
    pub equal: usize,
    /// See `lower`.
    pub higher: usize,
    /// Mean of 100 (shadow − followed) / |shadow|, over problems where the shadow's value is not 0.
    pub mean_percent_improvement: Option<f64>,
    /// Mean seconds of the shadow.
    pub mean_afo_seconds: Option<f64>,
}

impl Spread {
    pub(crate) fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let count = values.len();
        let mean = mean(&values);
        let median = match count {
            0 => None,
            odd if odd % 2 == 1 => Some(values[count / 2]),
            _ => Some((values[count / 2 - 1] + values[count / 2]) / 2.0),
        };
        let standard_error = mean.filter(|_| count > 1).map(|mean| {
            let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
            (squares / (count - 1) as f64 / count as f64).sqrt()
        });
        Self { count, mean, median, standard_error }
    }
}

/// Which values are good, in a word: a sweep may go through objectives of both senses.
pub(crate) fn good_word(summaries: &[MethodSummary]) -> &'static str {
    let highest = summaries.iter().filter(|summary| summary.maximize).count();
    match highest {
        0 => "lowest",
        all if all == summaries.len() => "highest",
        _ => "best",
    }
}

pub(crate) fn summarize(settings: &[Setting<'_>]) -> Vec<MethodSummary> {
    settings
        .iter()
        .flat_map(|setting| {
            let ranks = mean_ranks(setting);
            setting.methods.iter().map(move |(method, trials)| MethodSummary {
                mean_rank: ranks.get(method).copied(),
                ..summary(setting, method, trials)
            })
        })
        .collect()
}

fn summary(setting: &Setting<'_>, method: &str, trials: &[&TrialRecord]) -> MethodSummary {
    let finished: Vec<&TrialRecord> = trials.iter().copied().filter(|trial| trial.is_finished()).collect();
    let last: Vec<f64> = finished.iter().filter_map(|trial| trial.final_best()).collect();
    let regret: Option<Vec<f64>> =
        finished.iter().map(|trial| Some((trial.final_best()? - trial.optimum()?).abs())).collect();
    let longest = trials.iter().map(|trial| trial.best_at.len()).max().unwrap_or(0);
    let best_at = |i: usize| {
        Spread::of(trials.iter().filter_map(|trial| trial.best_at.get(i).copied().flatten()).collect())
    };
    let total = |phase: fn(&TrialRecord) -> Sum| {
        trials.iter().map(|trial| phase(trial)).fold(Sum::default(), Sum::and).mean()
    };
    let flaws = |failed: bool| {
        trials.iter().flat_map(|trial| &trial.flaws).filter(|flaw| flaw.failed == failed).count()
    };
    MethodSummary {
        experiment: setting.experiment.to_owned(),
        method: method.to_owned(),
        sweep: setting.sweep.clone(),
        bits: trials[0].started.bits,
        trials: finished.len(),
        unfinished: trials.len() - finished.len(),
        maximize: setting.maximize(),
        final_interval: interval(&last),
        final_best: Spread::of(last),
        recommended: recommended::spread(trials),
        mean_rank: None,
        best_at: (0..longest).map(best_at).collect(),
        regret: regret.filter(|values| !values.is_empty()).map(Spread::of),
        failed_evaluations: trials.iter().map(|trial| trial.failures.len()).sum(),
        infeasible_evaluations: trials.iter().map(|trial| trial.infeasible).sum(),
        flawed_answers: flaws(false),
        failed_shadows: flaws(true),
        mean_fit_seconds: total(|trial| trial.fit),
        mean_afo_seconds: total(|trial| trial.solve),
        mean_evaluate_seconds: total(|trial| trial.evaluate),
        shadows: shadows(trials),
        notes: notes(trials),
        predictions: calibration(trials),
        turns: trials.iter().flat_map(|trial| &trial.turns).fold(Vec::new(), |mut turns, turn| {
            Turn::add(&mut turns, turn);
            turns
        }),
    }
}

fn notes(trials: &[&TrialRecord]) -> Vec<NoteCount> {
    let mut all: BTreeMap<&(String, String, String), usize> = BTreeMap::new();
    for (note, count) in trials.iter().flat_map(|trial| &trial.notes) {
        *all.entry(note).or_default() += count;
    }
    let count = |((surrogate, name, words), draws): (&(String, String, String), usize)| NoteCount {
        surrogate: surrogate.clone(),
        name: name.clone(),
        words: words.clone(),
        draws,
    };
    all.into_iter().map(count).collect()
}

fn shadows(trials: &[&TrialRecord]) -> Vec<ShadowSummary> {
    let mut groups: Vec<(&str, Vec<&SolverRecord>)> = Vec::new();
    for record in trials.iter().flat_map(|trial| &trial.solvers).filter(|record| !record.followed) {
        match groups.iter_mut().find(|(solver, _)| *solver == record.solver) {
            Some((_, group)) => group.push(record),
            None => groups.push((&record.solver, vec![record])),
        }
    }
    let summary = |(solver, group): (&str, Vec<&SolverRecord>)| {
        let count = |of: fn(&SolverRecord) -> usize| group.iter().map(|record| of(record)).sum();
        let mean = |of: fn(&SolverRecord) -> Sum| {
            group.iter().map(|record| of(record)).fold(Sum::default(), Sum::and).mean()
        };
        ShadowSummary {
            solver: solver.to_owned(),
            problems: count(|record| record.problems),
            lower: count(|record| record.lower),
            equal: count(|record| record.equal),
            higher: count(|record| record.higher),
            mean_percent_improvement: mean(|record| record.improvement),
            mean_afo_seconds: mean(|record| record.seconds),
        }
    };
    groups.into_iter().map(summary).collect()
}

/// Each method's mean rank over the seeds that all methods finished; nothing for a single method.
fn mean_ranks<'a>(setting: &Setting<'a>) -> BTreeMap<&'a str, f64> {
    let sign = if setting.maximize() { -1.0 } else { 1.0 };
    let by_seed = |trials: &[&TrialRecord]| -> BTreeMap<u64, f64> {
        trials.iter().filter_map(|trial| Some((trial.started.seed, sign * trial.final_best()?))).collect()
    };
    let values: Vec<_> = setting.compared().map(|(_, trials)| by_seed(trials)).collect();
    if values.len() < 2 {
        return BTreeMap::new();
    }
    let mut sums = vec![Sum::default(); values.len()];
    for seed in values[0].keys() {
        let row: Option<Vec<f64>> = values.iter().map(|values| values.get(seed).copied()).collect();
        for (sum, rank) in sums.iter_mut().zip(row.as_deref().map(ranks).unwrap_or_default()) {
            sum.add(rank);
        }
    }
    let named = setting.compared().zip(sums);
    named.filter_map(|((method, _), sum)| Some((*method, sum.mean()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_the_textbook_one() {
        let spread = Spread::of(vec![4.0, 1.0, 7.0, 2.0]);
        assert_eq!((spread.count, spread.mean, spread.median), (4, Some(3.5), Some(3.0)));
        // Squared deviations 0.25 + 6.25 + 12.25 + 2.25 = 21, so √(21/3/4).
        assert_eq!(spread.standard_error, Some(1.75_f64.sqrt()));
        assert_eq!(Spread::of(vec![]).mean, None);
        assert_eq!(Spread::of(vec![1.0]).standard_error, None);
    }
}
