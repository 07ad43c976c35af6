//! Figure 3 of the paper: the best value so far against evaluations; and where each trial ended.

use std::collections::BTreeMap;

use super::clock;
use super::lines::{self, Lines, Series, Value};
use super::rows::{self, Around, Dots};
use super::scale::Kind;
use super::{Figure, Panel, View};
use crate::report::analysis::model::{MOST_SETTINGS, Model};
use crate::report::analysis::settings::Setting;
use crate::report::analysis::statistics::{band, interval, mean};
use crate::report::analysis::trial::TrialRecord;

/// Points of all lines together: more make the page heavy and show nothing more.
const MOST_POINTS: usize = 12_000;

/// The best value so far, mean over seeds.
pub(super) fn best(model: &Model<'_>) -> Option<Panel> {
    let settings = model.drawn();
    let lines: usize = settings.iter().map(|setting| setting.methods.len()).sum();
    let points = (MOST_POINTS / (4 * lines.max(1))).clamp(24, 160);
    let drawn: Vec<Drawn<'_>> = settings.iter().map(|setting| Drawn::new(model, setting, points)).collect();
    let name = |kind: &str, i: usize| match drawn.len() {
        1 => kind.to_owned(),
        _ => format!("{kind}-{}", i + 1),
    };
    let view = |label: &str, file: Option<&str>, what: What, kind: Kind| {
        let figure = |(i, drawn): (usize, &Drawn<'_>)| {
            let scene = drawn.lines(what, kind)?;
            Some(Figure { file: file.map(|file| name(file, i)), scene })
        };
        View { label: label.to_owned(), figures: drawn.iter().enumerate().filter_map(figure).collect() }
    };
    let mut views = vec![
        view("value", Some("best"), What::Total, Kind::Linear),
        view("regret, log", Some("regret"), What::Regret, Kind::Log),
        view("regret, linear", None, What::Regret, Kind::Linear),
    ];
    if drawn.iter().all(Drawn::is_positive) {
        views.insert(1, view("value, log", None, What::Total, Kind::Log));
    }
    let by_time = |(i, setting): (usize, &Setting<'_>)| {
        Some(Figure { file: Some(name("best-time", i)), scene: clock::draw(model, setting, points)? })
    };
    let by_time: Vec<Figure> = settings.iter().enumerate().filter_map(by_time).collect();
    let timed = !by_time.is_empty();
    views.insert(1, View { label: "value, by time".to_owned(), figures: by_time });
    views.retain(|view| !view.figures.is_empty());
    let regret = views.iter().any(|view| view.label.starts_with("regret"));
    (!views.is_empty()).then(|| Panel {
        id: "best",
        title: super::title(model, 3, "best value so far"),
        caption: format!(
            "Mean over seeds; the band is a 95 % bootstrap interval of the mean. The grey part is the initial design, which \
             all methods share.{}{}{}",
            if regret { " Regret is the distance to the optimum; on the log axis, 0 stands at the lower edge." } else { "" },
            if timed { " Time is that of drawing, minimising and evaluating, without shadows." } else { "" },
            more(model),
        ),
        views,
    })
}

/// Where each trial ended.
pub(super) fn finals(model: &Model<'_>) -> Option<Panel> {
    let settings = model.drawn();
    let figure = |(i, setting): (usize, &Setting<'_>)| {
        let row = |(method, trials): &(&str, Vec<&TrialRecord>)| {
            let values: Vec<f64> = trials.iter().filter_map(|trial| trial.final_best()).collect();
            let mean = mean(&values);
            let interval = interval(&values).map(|interval| (interval.low, interval.high));
            (!values.is_empty()).then(|| Dots {
                key: model.method(method),
                name: (*method).to_owned(),
                tip: rows::tip(method, mean, interval, values.len()),
                mean,
                interval,
                values,
            })
        };
        let rows: Vec<Dots> = setting.methods.iter().filter_map(row).collect();
        let sense = if setting.maximize() { "high is good" } else { "low is good" };
        let heading = model.heading(setting);
        let around = Around {
            title: &format!("Final values, {}", model.label(setting)),
            heading: &heading,
            x: &format!("best value of a trial ({sense})"),
            kind: Kind::Linear,
            level: None,
        };
        let file = if settings.len() == 1 { "final".to_owned() } else { format!("final-{}", i + 1) };
        (!rows.is_empty()).then(|| Figure { file: Some(file), scene: rows::dots(&around, &rows) })
    };
    let figures: Vec<Figure> = settings.iter().enumerate().filter_map(figure).collect();
    (!figures.is_empty()).then(|| Panel {
        id: "final",
        title: "Where each trial ended".to_owned(),
        caption: format!(
            "One dot a seed; the large marker is the mean, the bar its 95 % bootstrap interval. Bars say how far the mean is \
             known, each method for itself; whether two methods differ is decided seed by seed, in the table of \
             comparisons.{}",
            more(model)
        ),
        views: vec![View { label: String::new(), figures }],
    })
}

pub(super) fn more(model: &Model<'_>) -> String {
    match model.settings.len() {
        count if count > MOST_SETTINGS => {
            format!(
                " The first {MOST_SETTINGS} of {count} points of the sweep are drawn; the tables have all."
            )
        }
        _ => String::new(),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Total,
    Regret,
}

struct Drawn<'a> {
    model: &'a Model<'a>,
    setting: &'a Setting<'a>,
    /// The optimum of each seed's instance. A trial that has not finished does not know it, another may.
    optima: BTreeMap<u64, f64>,
    totals: Vec<Series>,
    regrets: Vec<Series>,
}

impl<'a> Drawn<'a> {
    fn new(model: &'a Model<'a>, setting: &'a Setting<'a>, most: usize) -> Self {
        let optima =
            setting.trials().filter_map(|trial| Some((trial.started.seed, trial.optimum()?))).collect();
        let mut drawn = Self { model, setting, optima, totals: Vec::new(), regrets: Vec::new() };
        drawn.totals = drawn.series(What::Total, most);
        drawn.regrets = drawn.series(What::Regret, most);
        drawn
    }

    fn is_positive(&self) -> bool {
        self.setting.trials().flat_map(|trial| &trial.best_at).flatten().all(|best| *best > 0.0)
    }

    fn series(&self, what: What, most: usize) -> Vec<Series> {
        let line = |(method, trials): &(&str, Vec<&TrialRecord>)| {
            let points = self.points(what, trials, most)?;
            Some(Series { key: self.model.method(method), name: (*method).to_owned(), points })
        };
        self.setting.compared().filter_map(line).collect()
    }

    fn lines(&self, what: What, kind: Kind) -> Option<crate::report::figures::Scene> {
        let series = match what {
            What::Total => self.totals.clone(),
            What::Regret => self.regrets.clone(),
        };
        let initial = self.setting.trials().map(|trial| trial.initial).max().unwrap_or(0);
        let good = if self.setting.maximize() { "highest" } else { "lowest" };
        let y = match what {
            What::Total => format!("{good} value so far"),
            What::Regret => "regret".to_owned(),
        };
        let lines = Lines {
            title: format!("{y} against evaluations, {}", self.model.label(self.setting)),
            heading: self.model.heading(self.setting),
            x: "evaluations".to_owned(),
            y,
            x_kind: Kind::Linear,
            y_kind: kind,
            markers: false,
            series,
            initial: (initial > 0).then_some(initial as f64),
            level: None,
        };
        (!lines.series.is_empty()).then(|| lines::draw(&lines))
    }

    fn points(&self, what: What, trials: &[&TrialRecord], most: usize) -> Option<Vec<Value>> {
        let value = |trial: &TrialRecord, i: usize| {
            let best = trial.best_at.get(i).copied().flatten()?;
            match what {
                What::Total => Some(best),
                What::Regret => Some((best - self.optima.get(&trial.started.seed)?).abs()),
            }
        };
        let longest = trials.iter().map(|trial| trial.best_at.len()).max()?;
        let initial = trials.iter().map(|trial| trial.initial).max()?;
        let columns = picked(longest, initial, most);
        // Where every trial got so far, they are drawn together; further on there are fewer, and no band.
        let shared: Vec<usize> = columns
            .iter()
            .copied()
            .filter(|&i| trials.iter().all(|trial| value(trial, i).is_some()))
            .collect();
        let rows: Vec<Vec<f64>> =
            trials.iter().map(|trial| shared.iter().filter_map(|&i| value(trial, i)).collect()).collect();
        let band = band(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap_or_default();
        let bands: BTreeMap<usize, (f64, f64)> =
            shared.iter().copied().zip(band.iter().map(|interval| (interval.low, interval.high))).collect();
        let point = |i: usize| {
            let values: Vec<f64> = trials.iter().filter_map(|trial| value(trial, i)).collect();
            Some(Value { x: (i + 1) as f64, y: mean(&values)?, interval: bands.get(&i).copied() })
        };
        let points: Vec<Value> = columns.iter().filter_map(|&i| point(i)).collect();
        (!points.is_empty()).then_some(points)
    }
}

/// Which evaluations are drawn: evenly spread, with the first, the last and both sides of the initial design's end.
fn picked(count: usize, initial: usize, most: usize) -> Vec<usize> {
    if count <= most {
        return (0..count).collect();
    }
    let mut columns: Vec<usize> = (0..most).map(|i| i * (count - 1) / (most - 1)).collect();
    columns.extend([initial.saturating_sub(1), initial].into_iter().filter(|&i| i < count));
    columns.sort_unstable();
    columns.dedup();
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_and_the_initial_design_are_always_drawn() {
        assert_eq!(picked(5, 2, 10), [0, 1, 2, 3, 4]);
        let columns = picked(1000, 333, 10);
        assert!(columns.len() <= 12);
        assert!([0, 332, 333, 999].iter().all(|i| columns.contains(i)), "{columns:?}");
    }
}
