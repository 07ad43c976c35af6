//! What matters: the effects of the model of each method's best trial.

use super::rows::{self, Around, Dots};
use super::scale::Kind;
use super::{Figure, Panel, View};
use crate::record::asked::{ModelEffects, NamedEffect};
use crate::report::analysis::learned::Learned;
use crate::report::analysis::model::Model;
use crate::text::number;

/// Effects of each kind in a figure: main ones, interactions.
const MOST: [usize; 2] = [12, 8];

/// Main effects and interactions with their uncertainty.
pub(super) fn effects(model: &Model<'_>, learned: &[Learned<'_>]) -> Option<Panel> {
    let mut figures = Vec::new();
    for learned in learned {
        for found in &learned.effects.models {
            let file = match figures.len() {
                0 => "effects".to_owned(),
                count => format!("effects-{}", count + 1),
            };
            figures.extend(scene(model, learned, found).map(|scene| Figure { file: Some(file), scene }));
        }
    }
    (!figures.is_empty()).then(|| Panel {
        id: "effects",
        title: "What matters: effects in the fitted models".to_owned(),
        caption: "What a choice adds to the value by itself, and two choices beyond what each adds, as the model of the trial with \
                  the best value sees it; the strongest of each. The bar is ± two standard deviations of what the model \
                  knows: one that crosses 0 may be nothing. A model's effects are no proof of causes, and are known best \
                  where it looked most."
            .to_owned(),
        views: vec![View { label: String::new(), figures }],
    })
}

fn scene(model: &Model<'_>, learned: &Learned<'_>, found: &ModelEffects) -> Option<super::Scene> {
    let started = &learned.trial.started;
    let mut rows: Vec<Dots> = Vec::new();
    for (order, most) in MOST.into_iter().enumerate() {
        let of_order = found.effects.iter().filter(|effect| effect.terms.len() == order + 1);
        rows.extend(of_order.take(most).map(|effect| row(model.method(&started.method), effect)));
    }
    let (label, method) = (model.heading(learned.setting), &started.method);
    let place = if label.is_empty() { String::new() } else { format!(", {label}") };
    let of = format!("{method}{place}: {}, seed {}", found.surrogate, started.seed);
    let around = Around {
        title: &format!("Effects in the model of {of}, after {} evaluations", learned.effects.evaluations),
        heading: &of,
        x: "adds to the value",
        kind: Kind::Linear,
        level: Some(0.0),
    };
    (!rows.is_empty()).then(|| rows::dots(&around, &rows))
}

fn row(key: usize, effect: &NamedEffect) -> Dots {
    let name = effect.terms.join(" & ");
    let (size, two) = (effect.size, 2.0 * effect.deviation);
    Dots {
        key,
        tip: format!("{name}: {} ± {}", number(Some(size)), number(Some(two))),
        name,
        values: Vec::new(),
        mean: Some(size),
        interval: Some((size - two, size + two)),
    }
}
