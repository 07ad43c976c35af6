//! The answer: the best point that each method found, in the objective's own names.

use serde_json::{Map, Value as Json, json};

use super::recommended::{self, Recommendation};
use super::settings::Setting;
use super::trial::TrialRecord;

/// An evaluation with the best total of its trial.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    pub evaluation: usize,
    /// In the objective's own terms, without the penalty.
    pub value: f64,
    pub penalty: f64,
    pub total: f64,
    pub levels: Vec<u32>,
}

/// The best trial of a method at a point of the sweep, where any of its evaluations has a value.
pub(crate) struct Answer<'a> {
    pub setting: &'a Setting<'a>,
    pub method: &'a str,
    /// Where the objective is noisy, the luckiest.
    pub best: Option<(&'a TrialRecord, &'a Found)>,
    /// Where the objective is noisy, the point that is recommended.
    pub recommended: Option<(&'a TrialRecord, &'a Recommendation)>,
}

/// One for each method and point of the sweep.
pub(crate) fn answers<'a>(settings: &'a [Setting<'a>]) -> impl Iterator<Item = Answer<'a>> {
    settings.iter().flat_map(|setting| {
        setting.methods.iter().map(move |(method, trials)| Answer {
            setting,
            method,
            best: best(setting, trials.iter().copied()),
            recommended: recommended::best(setting, trials.iter().copied()),
        })
    })
}

/// The best of some trials of a setting; of equal ones, the first.
pub(crate) fn best<'a>(
    setting: &Setting<'_>,
    trials: impl Iterator<Item = &'a TrialRecord>,
) -> Option<(&'a TrialRecord, &'a Found)> {
    let sign = if setting.maximize() { -1.0 } else { 1.0 };
    let found = trials.filter_map(|trial| Some((trial, trial.found.as_ref()?)));
    found.min_by(|(_, a), (_, b)| (sign * a.total).total_cmp(&(sign * b.total)))
}

/// The names of variables and of their levels at a point; `None` for a run recorded without them.
pub(crate) fn names<'a>(trial: &'a TrialRecord, found: &'a Found) -> Option<Vec<(&'a str, String)>> {
    let space = trial.space.as_deref()?;
    let named = |(variable, &level): (&'a plugin_api::Variable, &u32)| {
        let name = variable.levels().get(level as usize).cloned();
        (variable.name(), name.unwrap_or_else(|| level.to_string()))
    };
    Some(space.variables().iter().zip(&found.levels).map(named).collect())
}

/// `best.json`: what a script asks of a run.
pub(crate) fn json(settings: &[Setting<'_>]) -> Json {
    let row = |answer: Answer<'_>| {
        let mut row = json!({
            "experiment": answer.setting.experiment, "method": answer.method, "sweep": answer.setting.sweep,
            "maximize": answer.setting.maximize(), "value": null, "penalty": null, "total": null, "seed": null,
            "trial": null, "evaluation": null, "levels": null, "point": null,
        });
        if let Some((trial, found)) = answer.best {
            row["value"] = found.value.into();
            row["penalty"] = found.penalty.into();
            row["total"] = found.total.into();
            row["seed"] = trial.started.seed.into();
            row["trial"] = trial.started.trial.to_string().into();
            row["evaluation"] = found.evaluation.into();
            row["levels"] = json!(found.levels);
            let point = names(trial, found);
            row["point"] = point.map_or(Json::Null, |point| {
                point
                    .into_iter()
                    .map(|(name, level)| (name.to_owned(), level.into()))
                    .collect::<Map<_, _>>()
                    .into()
            });
        }
        if let Some((trial, recommendation)) = answer.recommended {
            row["recommended"] = recommended::json(trial, recommendation);
        }
        row
    };
    json!({ "best": answers(settings).map(row).collect::<Vec<_>>() })
}
