//! Every evaluation as a dot.

use super::scale::{Kind, Scale};
use super::scatter::{self, Cloud, Scatter};
use super::{Figure, Panel, View};
use crate::report::analysis::model::Model;
use crate::report::analysis::settings::Setting;
use crate::report::analysis::trial::TrialRecord;
use crate::text::number;

/// Dots of all figures together: more make the page heavy, and hide each other.
const MOST_DOTS: usize = 12_000;

/// What every evaluation gave, by its number.
pub(super) fn evaluations(model: &Model<'_>) -> Option<Panel> {
    let settings = model.drawn();
    let all: usize = settings.iter().flat_map(Setting::trials).map(|trial| trial.course.totals.len()).sum();
    let every = all.div_ceil(MOST_DOTS).max(1);
    let figure = |(i, setting): (usize, &Setting<'_>)| {
        let scene = scatter::draw(&scatter(model, setting, every)?);
        let file =
            if settings.len() == 1 { "evaluations".to_owned() } else { format!("evaluations-{}", i + 1) };
        Some(Figure { file: Some(file), scene })
    };
    let figures: Vec<Figure> = settings.iter().enumerate().filter_map(figure).collect();
    let thinned = match every {
        1 => String::new(),
        every => {
            format!(" About one in {every} of {all} is drawn, and the best of each trial; trace.csv has all.")
        }
    };
    (!figures.is_empty()).then(|| Panel {
        id: "evaluations",
        title: "Every evaluation".to_owned(),
        caption: format!(
            "One dot an evaluation, penalty included; those of the initial design are faint, in the grey part. What has no value, \
             because it failed or is infeasible, stands at the lower edge.{thinned}{}",
            super::best::more(model)
        ),
        views: vec![View { label: String::new(), figures }],
    })
}

fn scatter(model: &Model<'_>, setting: &Setting<'_>, every: usize) -> Option<Scatter> {
    let cloud = |(method, trials): &(&str, Vec<&TrialRecord>)| {
        let mut cloud = Cloud {
            key: model.method(method),
            name: (*method).to_owned(),
            faint: Vec::new(),
            dots: Vec::new(),
            without: Vec::new(),
            tip: String::new(),
        };
        for (t, trial) in trials.iter().enumerate() {
            let best = trial.found.as_ref().map_or(0, |found| found.evaluation);
            for (i, &total) in trial.course.totals.iter().enumerate() {
                // Which of them are drawn differs from trial to trial.
                if (i + t) % every != 0 && i + 1 != best {
                    continue;
                }
                let x = (i + 1) as f64;
                match total.is_nan() {
                    true => cloud.without.push(x),
                    false if i < trial.initial => cloud.faint.push((x, total)),
                    false => cloud.dots.push((x, total)),
                }
            }
        }
        let count: usize = trials.iter().map(|trial| trial.course.totals.len()).sum();
        let without: usize = trials.iter().map(|trial| trial.failures.len() + trial.infeasible).sum();
        let without = if without > 0 { format!(", {without} without a value") } else { String::new() };
        cloud.tip = format!("{method}: {count} evaluations{without}");
        (count > 0).then_some(cloud)
    };
    let clouds: Vec<Cloud> = setting.methods.iter().filter_map(cloud).collect();
    if clouds.is_empty() {
        return None;
    }
    let initial = setting.trials().map(|trial| trial.initial).max().unwrap_or(0);
    let good = if setting.maximize() { "high is good" } else { "low is good" };
    let values = || clouds.iter().flat_map(|cloud| cloud.faint.iter().chain(&cloud.dots)).map(|dot| dot.1);
    let (low, high) = values().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    let tips: Vec<&str> = clouds.iter().map(|cloud| cloud.tip.as_str()).collect();
    let range = format!("values from {} to {}", number(Some(low)), number(Some(high)));
    Some(Scatter {
        title: format!("Every evaluation, {}", model.label(setting)),
        heading: model.heading(setting),
        x: "evaluation".to_owned(),
        y: format!("value ({good})"),
        x_scale: |places, from, to| {
            let high = places.iter().copied().fold(2.0, f64::max);
            Scale::exact(Kind::Linear, 0.0, high, from, to)
        },
        // Values over many powers of ten would all stand at the edge.
        y_scale: |values, from, to| {
            let (low, high) = values.iter().fold((f64::INFINITY, 0.0_f64), |(l, h), &v| (l.min(v), h.max(v)));
            let kind = if low > 0.0 && high / low > 1000.0 { Kind::Log } else { Kind::Linear };
            Scale::over(kind, values.iter().copied(), from, to)
        },
        initial: (initial > 0).then_some(initial as f64),
        diagonal: false,
        description: format!("{}; {range}.", tips.join("; ")),
        clouds,
    })
}
