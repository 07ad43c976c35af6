//! What trials of a noisy objective recommend: the point with the best mean by the models, and what evaluating it again gave.

use serde_json::{Map, Value as Json, json};

use super::best::{Found, names};
use super::settings::Setting;
use super::summary::Spread;
use super::trial::TrialRecord;
use crate::record::event::{By, Recommended};

/// What a trial recommends.
#[derive(Clone, Debug)]
pub(crate) struct Recommendation {
    pub by: By,
    /// The bare value that was expected of it.
    pub expected: f64,
    /// The bare values that evaluating it again gave, in short.
    pub again: Spread,
    /// Evaluations of it that gave no value.
    pub failures: usize,
    pub penalty: f64,
    /// With the penalty: the mean of evaluating it again, or else what was expected.
    pub total: f64,
    pub levels: Vec<u32>,
}

impl Recommendation {
    pub(crate) fn of(recommended: &Recommended, maximize: bool) -> Self {
        let again = Spread::of(recommended.values.clone());
        let penalty = if maximize { -recommended.penalty } else { recommended.penalty };
        Self {
            by: recommended.by,
            expected: recommended.mean,
            total: again.mean.unwrap_or(recommended.mean) + penalty,
            again,
            failures: recommended.failures,
            penalty: recommended.penalty,
            levels: recommended.point.to_vec(),
        }
    }

    /// Who says so, and how it was checked, in words.
    pub(crate) fn reason(&self) -> String {
        let by = match self.by {
            By::Model => "the best mean by the model",
            By::Values => "the best mean of its own values, as no model predicts",
        };
        let failed = match self.failures {
            0 => String::new(),
            failures => format!(", {failures} more failed"),
        };
        match self.again.count {
            0 => format!("{by}, not evaluated again{failed}"),
            count => format!("{by}; mean of {count} more evaluations of it{failed}"),
        }
    }
}

/// The best of what some trials of a setting recommend; of equal ones, the first.
pub(crate) fn best<'a>(
    setting: &Setting<'_>,
    trials: impl Iterator<Item = &'a TrialRecord>,
) -> Option<(&'a TrialRecord, &'a Recommendation)> {
    let sign = if setting.maximize() { -1.0 } else { 1.0 };
    let all = trials.filter_map(|trial| Some((trial, trial.recommendation.as_ref()?)));
    all.min_by(|(_, a), (_, b)| (sign * a.total).total_cmp(&(sign * b.total)))
}

/// The totals of what finished trials recommend; `None` where none does.
pub(crate) fn spread(trials: &[&TrialRecord]) -> Option<Spread> {
    let finished = trials.iter().filter(|trial| trial.is_finished());
    let totals: Vec<f64> = finished.filter_map(|trial| Some(trial.recommendation.as_ref()?.total)).collect();
    (!totals.is_empty()).then(|| Spread::of(totals))
}

/// The point in names, where they are known.
pub(crate) fn point<'a>(
    trial: &'a TrialRecord,
    recommendation: &Recommendation,
) -> Option<Vec<(&'a str, String)>> {
    let levels = recommendation.levels.clone();
    let found = Found { evaluation: 0, value: 0.0, penalty: 0.0, total: 0.0, levels };
    let named = names(trial, &found)?;
    let names: Vec<&'a str> =
        trial.space.as_deref()?.variables().iter().map(|variable| variable.name()).collect();
    Some(names.into_iter().zip(named.into_iter().map(|(_, level)| level)).collect())
}

/// As `best.json` has it.
pub(crate) fn json(trial: &TrialRecord, recommendation: &Recommendation) -> Json {
    let named = point(trial, recommendation).map(|pairs| {
        pairs.into_iter().map(|(name, level)| (name.to_owned(), level.into())).collect::<Map<_, _>>()
    });
    json!({
        "why": recommendation.reason(), "total": recommendation.total, "penalty": recommendation.penalty,
        "expected": recommendation.expected, "value": recommendation.again.mean,
        "standard_error": recommendation.again.standard_error, "evaluations": recommendation.again.count,
        "seed": trial.started.seed, "trial": trial.started.trial.to_string(), "levels": recommendation.levels,
        "point": named,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recommended(values: Vec<f64>) -> Recommended {
        Recommended {
            evaluations: 9,
            point: vec![1, 0].into(),
            description: "a=1 b=0".to_owned(),
            by: By::Model,
            mean: 4.0,
            deviation: Some(0.5),
            penalty: 0.25,
            values,
            failures: 0,
        }
    }

    #[test]
    fn what_evaluating_it_again_gave_comes_before_what_was_expected() {
        let again = Recommendation::of(&recommended(vec![5.0, 6.0, 7.0]), false);
        assert_eq!((again.total, again.again.count), (6.25, 3));
        assert_eq!(again.reason(), "the best mean by the model; mean of 3 more evaluations of it");
        let once = Recommendation::of(&recommended(vec![]), true);
        assert_eq!(once.total, 3.75, "a penalty is taken from what is to be high");
        assert_eq!(once.reason(), "the best mean by the model, not evaluated again");
    }
}
