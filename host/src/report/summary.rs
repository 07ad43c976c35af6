//! What each method found, across seeds.

use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::TrialRecord;
use crate::trial::event::Event;
use crate::trial::journal::Timing;

/// One method at one point of the sweep.
#[derive(Debug, Serialize)]
pub struct MethodSummary {
    /// The method's name.
    pub method: String,
    /// The values of the sweep's keys.
    pub sweep: Map<String, Json>,
    /// How many trials have finished, and how many have not.
    pub trials: usize,
    /// Trials that began and did not finish.
    pub unfinished: usize,
    /// Whether high values are good.
    pub maximize: bool,
    /// The best total of each trial that finished.
    #[serde(rename = "final")]
    pub final_best: Spread,
    /// The best total at each evaluation, over all trials that got so far.
    pub best_at: Vec<Spread>,
    /// |final best − optimum|, where the optimum is known for every trial.
    pub regret: Option<Spread>,
    /// Evaluations that failed, over all trials.
    pub failed_evaluations: usize,
    /// Mean seconds of drawing from the surrogate.
    pub mean_fit_seconds: Option<f64>,
    /// Mean seconds of the followed solver.
    pub mean_afo_seconds: Option<f64>,
    /// The followed solver beside each shadow.
    pub shadows: Vec<ShadowSummary>,
}

/// Mean, median and standard error of some values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// How many there are.
    pub count: usize,
    /// Their mean.
    pub mean: Option<f64>,
    /// Their median.
    pub median: Option<f64>,
    /// The standard error of the mean; absent for fewer than two values.
    pub standard_error: Option<f64>,
}

/// How the followed solver's AF values compare with a shadow's on the same problems.
#[derive(Debug, Serialize)]
pub struct ShadowSummary {
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
    /// That of these values.
    pub fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let count = values.len();
        let mean = mean(values.iter().copied());
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

/// One summary for each method and point of the sweep, in the order in which they first appear.
pub fn summarize(trials: &[TrialRecord]) -> Vec<MethodSummary> {
    let mut groups: Vec<(&str, &Map<String, Json>, Vec<&TrialRecord>)> = Vec::new();
    for trial in trials {
        let (method, sweep) = (trial.started.method.as_str(), &trial.started.sweep);
        match groups.iter_mut().find(|(m, s, _)| *m == method && *s == sweep) {
            Some((_, _, group)) => group.push(trial),
            None => groups.push((method, sweep, vec![trial])),
        }
    }
    groups.into_iter().map(|(method, sweep, group)| summary(method, sweep, &group)).collect()
}

fn summary(method: &str, sweep: &Map<String, Json>, trials: &[&TrialRecord]) -> MethodSummary {
    let finished: Vec<_> = trials.iter().filter_map(|trial| trial.finished()).collect();
    let regret: Option<Vec<f64>> =
        finished.iter().map(|trial| Some((trial.best? - trial.optimum?).abs())).collect();
    let mut best_at: Vec<Vec<f64>> = Vec::new();
    let mut failed_evaluations = 0;
    for event in trials.iter().flat_map(|trial| &trial.events) {
        if let Event::Evaluated(evaluated) = event {
            best_at.resize_with(best_at.len().max(evaluated.evaluation), Vec::new);
            best_at[evaluated.evaluation - 1].extend(evaluated.best);
            failed_evaluations += usize::from(evaluated.total.is_none());
        }
    }
    let timing = || trials.iter().flat_map(|trial| &trial.timing);
    let fit = timing().filter_map(|timing| match timing {
        Timing::Fit { seconds, .. } => Some(*seconds),
        _ => None,
    });
    MethodSummary {
        method: method.to_owned(),
        sweep: sweep.clone(),
        trials: finished.len(),
        unfinished: trials.len() - finished.len(),
        maximize: trials[0].started.maximize,
        final_best: Spread::of(finished.iter().filter_map(|trial| trial.best).collect()),
        best_at: best_at.into_iter().map(Spread::of).collect(),
        regret: regret.filter(|values| !values.is_empty()).map(Spread::of),
        failed_evaluations,
        mean_fit_seconds: mean(fit),
        mean_afo_seconds: mean(timing().filter_map(|timing| solve_seconds(timing, None))),
        shadows: shadows(trials),
    }
}

fn shadows(trials: &[&TrialRecord]) -> Vec<ShadowSummary> {
    let mut shadows: Vec<(ShadowSummary, Vec<f64>)> = Vec::new();
    for event in trials.iter().flat_map(|trial| &trial.events) {
        let Event::Proposed(proposed) = event else { continue };
        let Some((followed, others)) = proposed.answers.split_first() else { continue };
        for shadow in others {
            let index = shadows.iter().position(|(summary, _)| summary.solver == shadow.solver);
            let index = index.unwrap_or_else(|| {
                shadows.push((ShadowSummary::new(&shadow.solver), Vec::new()));
                shadows.len() - 1
            });
            let (summary, improvements) = &mut shadows[index];
            let difference = shadow.value - followed.value;
            summary.problems += 1;
            match difference {
                d if d.abs() <= 1e-9 * (1.0 + shadow.value.abs()) => summary.equal += 1,
                d if d > 0.0 => summary.lower += 1,
                _ => summary.higher += 1,
            }
            if shadow.value != 0.0 {
                improvements.push(100.0 * difference / shadow.value.abs());
            }
        }
    }
    let finish = |(mut summary, improvements): (ShadowSummary, Vec<f64>)| {
        let timing = trials.iter().flat_map(|trial| &trial.timing);
        summary.mean_afo_seconds =
            mean(timing.filter_map(|timing| solve_seconds(timing, Some(&summary.solver))));
        summary.mean_percent_improvement = mean(improvements.into_iter());
        summary
    };
    shadows.into_iter().map(finish).collect()
}

impl ShadowSummary {
    fn new(solver: &str) -> Self {
        Self {
            solver: solver.to_owned(),
            problems: 0,
            lower: 0,
            equal: 0,
            higher: 0,
            mean_percent_improvement: None,
            mean_afo_seconds: None,
        }
    }
}

/// The seconds of the followed solver, or of this shadow.
fn solve_seconds(timing: &Timing, shadow: Option<&str>) -> Option<f64> {
    match timing {
        Timing::Solve { solver, followed, seconds, .. } => match shadow {
            None => followed.then_some(*seconds),
            Some(name) => (!followed && solver == name).then_some(*seconds),
        },
        _ => None,
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0_usize, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / count as f64)
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
