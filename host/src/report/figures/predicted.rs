//! What the models expected of their proposals, and what these gave.

use super::scale::{Kind, Scale};
use super::scatter::{self, Cloud, Scatter};
use super::{Figure, Panel, View};
use crate::report::analysis::model::Model;
use crate::report::analysis::predicted::calibration;
use crate::report::analysis::settings::Setting;
use crate::report::analysis::trial::TrialRecord;

/// Dots of all figures together.
const MOST_DOTS: usize = 4000;

/// Predicted against observed.
pub(super) fn predicted(model: &Model<'_>) -> Option<Panel> {
    let settings = model.drawn();
    let all: usize = settings.iter().flat_map(Setting::trials).map(|trial| trial.predicted.len()).sum();
    let every = all.div_ceil(MOST_DOTS).max(1);
    let figure = |(i, setting): (usize, &Setting<'_>)| {
        let scene = scatter::draw(&scatter(model, setting, every)?);
        let file = if settings.len() == 1 { "predicted".to_owned() } else { format!("predicted-{}", i + 1) };
        Some(Figure { file: Some(file), scene })
    };
    let figures: Vec<Figure> = settings.iter().enumerate().filter_map(figure).collect();
    let thinned = match every {
        1 => String::new(),
        every => format!(" One in {every} of {all} is drawn."),
    };
    (!figures.is_empty()).then(|| Panel {
        id: "predicted",
        title: "Is the model any good? Predicted against observed".to_owned(),
        caption: format!(
            "One dot a proposal whose model was asked what it expects, before the evaluation; on the dashed line it was right. The \
             values are without penalty. Proposals are chosen to look good, so most of them turn out worse than \
             expected.{thinned}"
        ),
        views: vec![View { label: String::new(), figures }],
    })
}

fn scatter(model: &Model<'_>, setting: &Setting<'_>, every: usize) -> Option<Scatter> {
    let cloud = |(method, trials): &(&str, Vec<&TrialRecord>)| {
        let found = calibration(trials)?;
        let tip = format!(
            "{method}: {} proposals, {:.0} % within one deviation, {:.0} % within two",
            found.proposals,
            100.0 * found.within_one,
            100.0 * found.within_two
        );
        let all = trials.iter().flat_map(|trial| &trial.predicted);
        Some(Cloud {
            key: model.method(method),
            name: (*method).to_owned(),
            faint: Vec::new(),
            dots: all.step_by(every).map(|p| (p.mean, p.observed)).collect(),
            without: Vec::new(),
            tip,
        })
    };
    let clouds: Vec<Cloud> = setting.methods.iter().filter_map(cloud).collect();
    let description = clouds.iter().map(|cloud| cloud.tip.as_str()).collect::<Vec<_>>().join("; ");
    let scale =
        |values: &[f64], from: f64, to: f64| Scale::over(Kind::Linear, values.iter().copied(), from, to);
    (!clouds.is_empty()).then(|| Scatter {
        title: format!("Predicted against observed, {}", model.label(setting)),
        heading: model.heading(setting),
        x: "predicted value".to_owned(),
        y: "observed value".to_owned(),
        x_scale: scale,
        y_scale: scale,
        initial: None,
        diagonal: true,
        description,
        clouds,
    })
}
