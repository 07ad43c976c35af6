//! What the models have learned that a report shows: those of the trial with the best value, of each method.

use super::best::answers;
use super::model::Model;
use super::settings::Setting;
use super::trial::TrialRecord;
use crate::record::RunFolder;
use crate::record::asked::Effects;

/// Figures of effects on a page.
const MOST: usize = 8;

/// The effects of one trial's models.
pub(crate) struct Learned<'a> {
    pub setting: &'a Setting<'a>,
    pub trial: &'a TrialRecord,
    pub effects: Effects,
}

/// Reads the effects of the best trial of each method, where its models have any.
pub(crate) fn learned<'a>(runs: &[RunFolder], model: &'a Model<'a>) -> Vec<Learned<'a>> {
    let read = |answer: super::best::Answer<'a>| {
        let (trial, _) = answer.best?;
        let effects = runs.get(trial.run)?.effects(&trial.started.trial)?;
        Some(Learned { setting: answer.setting, trial, effects })
    };
    answers(model.drawn()).filter_map(read).take(MOST).collect()
}
