//! The best value so far against time.

use super::lines::{self, Lines, Series, Value};
use super::scale::Kind;
use crate::report::analysis::model::Model;
use crate::report::analysis::settings::Setting;
use crate::report::analysis::statistics::{band, mean};
use crate::report::analysis::trial::TrialRecord;
use crate::report::figures::Scene;

/// A unit of time: its name, its seconds, and from how many seconds on it is used.
const UNITS: [(&str, f64, f64); 4] =
    [("hours", 3600.0, 7200.0), ("minutes", 60.0, 120.0), ("seconds", 1.0, 1.0), ("milliseconds", 1e-3, 0.0)];

/// How much longer the slowest method may take than the fastest before times are divided by factors.
const FAR: f64 = 20.0;

/// The figure of a setting; `None` where times are not known.
pub(super) fn draw(model: &Model<'_>, setting: &Setting<'_>, most: usize) -> Option<Scene> {
    let timed: Vec<(&str, Vec<&TrialRecord>)> = setting
        .methods
        .iter()
        .map(|(method, trials)| (*method, trials.iter().copied().filter(|trial| is_timed(trial)).collect()))
        .filter(|(_, trials): &(&str, Vec<&TrialRecord>)| !trials.is_empty())
        .collect();
    let ends: Vec<f64> = timed.iter().map(|(_, trials)| end(trials)).collect();
    let longest = ends.iter().copied().reduce(f64::max)?;
    let shortest = ends.into_iter().reduce(f64::min)?;
    let kind = if longest > FAR * shortest { Kind::Log } else { Kind::Linear };
    let (unit, seconds, _) = *UNITS.iter().find(|(_, _, from)| longest >= *from)?;
    let series = timed.iter().filter_map(|(method, trials)| {
        let points: Vec<Value> = points(trials, kind, most)
            .into_iter()
            .map(|value| Value { x: rounded(value.x / seconds, kind), ..value })
            .collect();
        (!points.is_empty()).then(|| Series { key: model.method(method), name: (*method).to_owned(), points })
    });
    let series: Vec<Series> = series.collect();
    let good = if setting.maximize() { "highest" } else { "lowest" };
    let lines = Lines {
        title: format!("{good} value so far against time, {}", model.label(setting)),
        heading: model.heading(setting),
        x: format!("time of a trial ({unit})"),
        y: format!("{good} value so far"),
        x_kind: kind,
        y_kind: Kind::Linear,
        markers: false,
        series,
        initial: None,
        level: None,
    };
    (!lines.series.is_empty()).then(|| lines::draw(&lines))
}

/// A time to three digits after the point. A logarithmic axis has no 0.
fn rounded(time: f64, kind: Kind) -> f64 {
    let rounded = (time * 1e3).round() / 1e3;
    if kind == Kind::Log { rounded.max(1e-3) } else { rounded }
}

fn is_timed(trial: &TrialRecord) -> bool {
    !trial.course.ended_at.is_empty() && trial.course.ended_at.len() == trial.best_at.len()
}

/// When the last of some trials ended.
fn end(trials: &[&TrialRecord]) -> f64 {
    let ends = trials.iter().filter_map(|trial| trial.course.ended_at.last());
    ends.fold(0.0, |latest, &end| latest.max(f64::from(end)))
}

/// The mean over trials at moments between the first value of all and the end of the last.
fn points(trials: &[&TrialRecord], kind: Kind, most: usize) -> Vec<Value> {
    let first = |trial: &&TrialRecord| {
        let place = trial.best_at.iter().position(Option::is_some)?;
        trial.course.ended_at.get(place).map(|&end| f64::from(end))
    };
    let Some(begin) = trials.iter().filter_map(first).reduce(f64::max) else { return Vec::new() };
    let end = end(trials);
    let share = |i: usize| i as f64 / (most.max(2) - 1) as f64;
    let moment = |i: usize| match kind {
        Kind::Linear => begin + share(i) * (end - begin),
        Kind::Log => begin * libm::pow(end / begin, share(i)),
    };
    let moments: Vec<f64> = (0..most.max(2)).map(moment).collect();
    // A trial that has ended keeps its value; one that has not is not known any further.
    let value = |trial: &TrialRecord, seconds: f64| {
        // The last moment is rounded, and the end was: both are the end.
        let made = trial.course.evaluations_after(seconds * (1.0 + 1e-6));
        let known = made < trial.best_at.len() || trial.is_finished() || seconds >= end;
        trial.best_at.get(made.checked_sub(1)?).copied().flatten().filter(|_| known)
    };
    let shared: Vec<f64> =
        moments.iter().copied().filter(|&at| trials.iter().all(|trial| value(trial, at).is_some())).collect();
    let rows: Vec<Vec<f64>> =
        trials.iter().map(|trial| shared.iter().filter_map(|&at| value(trial, at)).collect()).collect();
    let bands = band(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap_or_default();
    let interval = |at: f64| {
        let place = shared.iter().position(|&other| other == at)?;
        bands.get(place).map(|interval| (interval.low, interval.high))
    };
    let point = |&at: &f64| {
        let values: Vec<f64> = trials.iter().filter_map(|trial| value(trial, at)).collect();
        Some(Value { x: at, y: mean(&values)?, interval: interval(at) })
    };
    moments.iter().filter_map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_too_short_for_three_digits_stay_on_a_logarithmic_axis() {
        assert_eq!((rounded(0.0001, Kind::Linear), rounded(0.0001, Kind::Log)), (0.0, 0.001));
        assert_eq!((rounded(1.23456, Kind::Linear), rounded(1.23456, Kind::Log)), (1.235, 1.235));
    }
}
