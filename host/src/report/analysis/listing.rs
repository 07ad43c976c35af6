//! The evaluations that a page lists: all of them where they fit, else the best of each trial.

use super::settings::Setting;
use super::trial::TrialRecord;
use crate::record::event::{Phase, Status};
use crate::record::{Evaluation, TrialFiles};

/// Evaluations on a page; the tables beside it have all.
const MOST: usize = 2000;

/// Characters of all points together.
const MOST_LETTERS: usize = 800_000;

/// An evaluation, as a page lists it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Listed {
    pub evaluation: usize,
    pub phase: Phase,
    pub status: Status,
    pub value: Option<f64>,
    pub total: Option<f64>,
    pub levels: Vec<u32>,
}

/// How many evaluations of each trial may be needed, where there are this many trials.
pub(crate) fn of_each(trials: usize) -> usize {
    MOST.div_ceil(trials.max(1))
}

/// The best evaluations of a trial, in their order; those without a value are the last to be kept.
pub(crate) fn of_trial(trial: &TrialFiles, most: usize) -> Vec<Listed> {
    let listed = |evaluation: &Evaluation| Listed {
        evaluation: evaluation.ended.evaluation,
        phase: evaluation.phase,
        status: evaluation.ended.status,
        value: evaluation.ended.value,
        total: evaluation.ended.total,
        levels: evaluation.point.clone(),
    };
    let total = |evaluation: &Evaluation| evaluation.ended.total;
    best(&trial.evaluations, most, trial.started.maximize, total).into_iter().map(listed).collect()
}

/// The `most` best of some evaluations, in their order.
fn best<T>(all: &[T], most: usize, maximize: bool, total: impl Fn(&T) -> Option<f64>) -> Vec<&T> {
    let rank =
        |&i: &usize| total(&all[i]).map_or(f64::INFINITY, |total| if maximize { -total } else { total });
    let mut order: Vec<usize> = (0..all.len()).collect();
    if all.len() > most {
        order.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
        order.truncate(most);
        order.sort_unstable();
    }
    order.into_iter().map(|i| &all[i]).collect()
}

/// What is listed, and of how much.
pub(crate) struct Listing<'a> {
    pub rows: Vec<(&'a TrialRecord, &'a Listed)>,
    /// How many evaluations there are.
    pub all: usize,
    /// Of how many trials one is listed, where there are more trials than rows.
    pub every: usize,
}

/// The listed evaluations of all trials: as many of each as fit together.
pub(crate) fn listing<'a>(settings: &'a [Setting<'a>]) -> Listing<'a> {
    let trials: Vec<&TrialRecord> = settings.iter().flat_map(Setting::trials).collect();
    let all: usize = trials.iter().map(|trial| trial.course.totals.len()).sum();
    let letters = trials.iter().filter_map(|trial| Some(letters(trial, trial.listed.first()?))).max();
    let most = MOST.min(MOST_LETTERS / letters.unwrap_or(1).max(1)).max(1);
    let each = if all <= most { most } else { (most / trials.len().max(1)).max(1) };
    let every = trials.len().div_ceil(most).max(1);
    let of = |trial: &&'a TrialRecord| {
        let (trial, maximize) = (*trial, trial.started.maximize);
        best(&trial.listed, each, maximize, |row| row.total).into_iter().map(move |row| (trial, row))
    };
    Listing { rows: trials.iter().step_by(every).flat_map(of).collect(), all, every }
}

/// How long a row's point is in names.
fn letters(trial: &TrialRecord, row: &Listed) -> usize {
    match trial.space.as_deref() {
        Some(space) => {
            let longest = |levels: &[String]| levels.iter().map(String::len).max().unwrap_or(0);
            space.variables().iter().map(|v| v.name().len() + longest(v.levels()) + 2).sum()
        }
        None => 4 * row.levels.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_are_kept_in_their_order() {
        let values = [Some(3.0), None, Some(1.0), Some(2.0)];
        let kept = |most, maximize| {
            best(&values, most, maximize, |value| *value).into_iter().copied().collect::<Vec<_>>()
        };
        assert_eq!(kept(2, false), [Some(1.0), Some(2.0)]);
        assert_eq!(kept(2, true), [Some(3.0), Some(2.0)]);
        assert_eq!(kept(3, true), [Some(3.0), Some(1.0), Some(2.0)]);
        assert_eq!(kept(9, true), values);
    }
}
