//! AFO solvers against the dimension: how long they take, and how low they get.

use serde::Serialize;

use super::statistics::{Interval, interval, mean, signed_ranks};
use super::trial::{SolverRecord, Sum, TrialRecord};

/// A mean over trials, each of which counts once.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Estimate {
    pub mean: f64,
    /// Its 95 % interval, for two trials or more.
    pub interval: Option<Interval>,
    pub trials: usize,
}

/// A solver at one dimension.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SolverAt {
    pub solver: String,
    /// How many bits its problems have.
    pub bits: usize,
    /// Seconds a problem.
    pub seconds: Option<Estimate>,
    /// Per cent above the lowest answer of any solver to the same problem, where several solved it.
    pub gap_to_best: Option<Estimate>,
    /// Per cent above the highest bound of any solver on the same problem.
    pub gap_to_bound: Option<Estimate>,
}

/// A followed solver beside a shadow at one dimension.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ImprovementAt {
    /// The method whose solver is followed.
    pub method: String,
    /// The followed solver.
    pub followed: String,
    pub shadow: String,
    /// How many bits the problems have.
    pub bits: usize,
    /// How many problems both solved.
    pub problems: usize,
    /// On how many of them the followed solver's value was lower, equal and higher.
    pub lower: usize,
    /// See `lower`.
    pub equal: usize,
    /// See `lower`.
    pub higher: usize,
    /// Mean per-cent improvement of the followed solver over the shadow.
    pub percent: Option<Estimate>,
    /// Wilcoxon's signed-rank test on the trials' means, two-sided, not corrected.
    pub p: Option<f64>,
}

fn estimate(values: &[f64]) -> Option<Estimate> {
    Some(Estimate { mean: mean(values)?, interval: interval(values), trials: values.len() })
}

/// Every solver at every dimension, solvers in the order in which they first appear.
pub(crate) fn solvers(trials: &[TrialRecord]) -> Vec<SolverAt> {
    type Group<'a> = (&'a str, usize, Vec<(&'a SolverRecord, bool)>);
    let mut groups: Vec<Group<'_>> = Vec::new();
    for trial in trials {
        let several = trial.solvers.len() > 1;
        for record in &trial.solvers {
            let bits = trial.started.bits;
            match groups.iter_mut().find(|(solver, n, _)| *solver == record.solver && *n == bits) {
                Some((_, _, group)) => group.push((record, several)),
                None => groups.push((&record.solver, bits, vec![(record, several)])),
            }
        }
    }
    let at = |(solver, bits, group): Group<'_>| {
        let means = |of: fn(&SolverRecord) -> Sum| -> Vec<f64> {
            group.iter().filter_map(|(record, _)| of(record).mean()).collect()
        };
        // Alone, a solver is its own best.
        let beside_others = group.iter().filter(|(_, several)| *several);
        let gaps: Vec<f64> = beside_others.filter_map(|(record, _)| record.gap_to_best.mean()).collect();
        SolverAt {
            solver: solver.to_owned(),
            bits,
            seconds: estimate(&means(|record| record.seconds)),
            gap_to_best: estimate(&gaps),
            gap_to_bound: estimate(&means(|record| record.gap_to_bound)),
        }
    };
    groups.into_iter().map(at).collect()
}

/// Every followed solver beside each of its shadows, at every dimension.
pub(crate) fn improvements(trials: &[TrialRecord]) -> Vec<ImprovementAt> {
    type Key<'a> = (&'a str, &'a str, usize);
    let mut groups: Vec<(Key<'_>, &str, Vec<&SolverRecord>)> = Vec::new();
    for trial in trials {
        let Some(followed) = trial.solvers.iter().find(|record| record.followed) else { continue };
        for record in trial.solvers.iter().filter(|record| !record.followed) {
            let key = (trial.started.method.as_str(), record.solver.as_str(), trial.started.bits);
            match groups.iter_mut().find(|(other, _, _)| *other == key) {
                Some((_, _, group)) => group.push(record),
                None => groups.push((key, &followed.solver, vec![record])),
            }
        }
    }
    let at = |((method, shadow, bits), followed, group): (Key<'_>, &str, Vec<&SolverRecord>)| {
        let count = |of: fn(&SolverRecord) -> usize| group.iter().map(|record| of(record)).sum();
        let means: Vec<f64> = group.iter().filter_map(|record| record.improvement.mean()).collect();
        ImprovementAt {
            method: method.to_owned(),
            followed: followed.to_owned(),
            shadow: shadow.to_owned(),
            bits,
            problems: count(|record| record.problems),
            lower: count(|record| record.lower),
            equal: count(|record| record.equal),
            higher: count(|record| record.higher),
            p: (!means.is_empty()).then(|| signed_ranks(&means).p),
            percent: estimate(&means),
        }
    };
    groups.into_iter().map(at).collect()
}
