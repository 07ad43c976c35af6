//! Methods against each other, paired by seed.
//!
//! Trials of the same seed share the instance and the initial design, so that their difference is the methods' own.
//! Whether they do is checked: only trials whose initial designs are the same, points and values, are paired.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::settings::Setting;
use super::statistics::{Interval, ROUNDING, holm, interval, mean, signed_ranks};
use super::trial::TrialRecord;

/// Up to this many methods, each meets each other; of more, each meets the manifest's first.
const ALL_PAIRS: usize = 8;

/// What is called unlikely to be chance.
pub(crate) const LEVEL: f64 = 0.05;

/// Two methods at one point of the sweep.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Comparison {
    /// The experiment's name.
    pub experiment: String,
    /// The values of the sweep's keys.
    pub sweep: Map<String, Json>,
    /// One method.
    pub first: String,
    /// The other.
    pub second: String,
    /// Whether high values are good.
    pub maximize: bool,
    /// How many seeds both finished, from the same initial design.
    pub seeds: usize,
    /// On how many of them the first ended better, equal and worse than the second.
    pub better: usize,
    /// See `better`.
    pub equal: usize,
    /// See `better`.
    pub worse: usize,
    /// The mean of first − second, of the final best totals.
    pub mean_difference: Option<f64>,
    /// Its 95 % interval (bootstrap, BCa).
    pub interval: Option<Interval>,
    /// Wilcoxon's signed-rank test, two-sided.
    pub p: Option<f64>,
    /// That after Holm's correction for all comparisons of the report.
    pub p_corrected: Option<f64>,
    /// The matched-pairs rank-biserial correlation; positive where the first is better.
    pub rank_biserial: Option<f64>,
}

/// Every comparison there is, corrected for their number.
pub(crate) fn compare(settings: &[Setting<'_>]) -> Vec<Comparison> {
    let mut comparisons: Vec<Comparison> = settings.iter().flat_map(of_setting).collect();
    let tested: Vec<usize> = (0..comparisons.len()).filter(|&i| comparisons[i].p.is_some()).collect();
    let values: Vec<f64> = tested.iter().filter_map(|&i| comparisons[i].p).collect();
    for (&i, corrected) in tested.iter().zip(holm(&values)) {
        comparisons[i].p_corrected = Some(corrected);
    }
    comparisons
}

fn of_setting(setting: &Setting<'_>) -> Vec<Comparison> {
    let methods: Vec<&Method<'_>> = setting.compared().collect();
    let count = methods.len();
    // Those beside it have met each other where they stand.
    let own = setting.methods.len();
    let firsts = if count <= ALL_PAIRS { own } else { own.min(1) };
    let pairs = (0..firsts).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
    pairs.map(|(a, b)| pair(setting, methods[a], methods[b])).collect()
}

type Method<'a> = (&'a str, Vec<&'a TrialRecord>);

fn pair(setting: &Setting<'_>, first: &Method<'_>, second: &Method<'_>) -> Comparison {
    let maximize = setting.maximize();
    let by_seed = |method: &Method<'_>| -> BTreeMap<(u64, u64), f64> {
        let key = |trial: &&TrialRecord| Some(((trial.started.seed, trial.design), trial.final_best()?));
        method.1.iter().filter_map(key).collect()
    };
    let others = by_seed(second);
    let pairs = by_seed(first).into_iter().filter_map(|(key, value)| Some((value, *others.get(&key)?)));
    let differences: Vec<f64> = pairs
        .map(|(a, b)| if (a - b).abs() <= ROUNDING * a.abs().max(b.abs()) { 0.0 } else { a - b })
        .collect();
    let gains: Vec<f64> = differences.iter().map(|d| if maximize { *d } else { -d }).collect();
    let test = (!gains.is_empty()).then(|| signed_ranks(&gains));
    Comparison {
        experiment: setting.experiment.to_owned(),
        sweep: setting.sweep.clone(),
        first: first.0.to_owned(),
        second: second.0.to_owned(),
        maximize,
        seeds: differences.len(),
        better: gains.iter().filter(|&&gain| gain > 0.0).count(),
        equal: gains.iter().filter(|&&gain| gain == 0.0).count(),
        worse: gains.iter().filter(|&&gain| gain < 0.0).count(),
        mean_difference: mean(&differences),
        interval: interval(&differences),
        p: test.map(|test| test.p),
        p_corrected: None,
        rank_biserial: test.map(|test| test.rank_biserial),
    }
}
