//! What a trial's models said when they were asked what they know: predictions of proposals, and effects.
//!
//! They stand beside the journal. Nothing in the trial depends on them, and how often a model is asked depends on how
//! long it takes to answer.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::parse_lines;
use crate::files;

pub(super) const PREDICTIONS: &str = "predictions.jsonl";
pub(super) const EFFECTS: &str = "effects.json";

/// What a model expected of a point before it was evaluated; in the objective's own terms, without penalty.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    pub evaluation: usize,
    pub mean: f64,
    /// The standard deviation of the value that is observed: of the model and of the noise together.
    pub deviation: f64,
}

/// What the models of a trial had learned after this many evaluations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Effects {
    pub evaluations: usize,
    /// Those that have effects.
    pub models: Vec<ModelEffects>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelEffects {
    pub surrogate: String,
    /// Main effects, then interactions, the strongest first.
    pub effects: Vec<NamedEffect>,
    /// How many weaker ones are left out.
    pub left_out: usize,
}

/// What a term of a model adds to the value, in the objective's own terms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedEffect {
    /// What has to hold for it, in names: `heater=14kW`; two for an interaction.
    pub terms: Vec<String>,
    pub size: f64,
    /// The standard deviation of what is known of its size.
    pub deviation: f64,
}

/// Where the answers of a trial go while it runs. They are worth having, and no reason to end a trial.
pub struct AskedFiles {
    folder: PathBuf,
    predictions: Option<File>,
    broken: bool,
}

impl AskedFiles {
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), predictions: None, broken: false }
    }

    /// Adds a prediction; after a failed write, no more are kept.
    pub fn add(&mut self, prediction: &Prediction) {
        if self.broken {
            return;
        }
        if let Err(error) = self.append(prediction) {
            tracing::warn!("no more predictions are kept: cannot write to {PREDICTIONS}: {error}");
            self.broken = true;
        }
    }

    fn append(&mut self, prediction: &Prediction) -> io::Result<()> {
        let line = serde_json::to_string(prediction).expect("a prediction is plain data");
        let file = match &mut self.predictions {
            Some(file) => file,
            none => none.insert(files::open(&self.folder.join(PREDICTIONS), files::Access::Append)?),
        };
        file.write_all(format!("{line}\n").as_bytes())
    }

    /// Replaces the effects.
    pub fn replace(&self, effects: &Effects) {
        let text = serde_json::to_vec(effects).expect("effects are plain data");
        if let Err(error) = files::replace(&self.folder.join(EFFECTS), &text) {
            tracing::warn!("no effects are kept: cannot write {EFFECTS}: {error}");
        }
    }
}

/// The predictions in a trial's folder, by evaluation; of two of the same evaluation, the first.
pub(super) fn predictions(folder: &Path) -> Vec<Prediction> {
    let bytes = files::read(&folder.join(PREDICTIONS)).unwrap_or_default();
    let mut predictions: Vec<Prediction> = parse_lines(&bytes).collect();
    predictions.sort_by_key(|prediction| prediction.evaluation);
    predictions.dedup_by_key(|prediction| prediction.evaluation);
    predictions
}

/// The effects in a trial's folder; `None` where there are none, or none that can be read.
pub(super) fn effects(folder: &Path) -> Option<Effects> {
    serde_json::from_slice(&files::read(&folder.join(EFFECTS)).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        assert!(predictions(folder.path()).is_empty() && effects(folder.path()).is_none());
        let prediction = |evaluation, mean| Prediction { evaluation, mean, deviation: 0.5 };
        let mut asked = AskedFiles::new(folder.path());
        // A trial that was killed before the evaluation asks again.
        [prediction(7, 0.1), prediction(8, 0.3), prediction(8, 0.4)].iter().for_each(|p| asked.add(p));
        assert_eq!(predictions(folder.path()), [prediction(7, 0.1), prediction(8, 0.3)]);
        let effect = NamedEffect { terms: vec!["pump=on".to_owned()], size: -1.5, deviation: 0.1 };
        let models = vec![ModelEffects { surrogate: "psr".to_owned(), effects: vec![effect], left_out: 3 }];
        let written = Effects { evaluations: 9, models };
        asked.replace(&Effects::default());
        asked.replace(&written);
        assert_eq!(effects(folder.path()), Some(written));
    }

    #[test]
    fn files_that_cannot_be_written_cost_the_answers_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        for name in [PREDICTIONS, EFFECTS] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let mut asked = AskedFiles::new(folder.path());
        asked.add(&Prediction { evaluation: 1, mean: 0.0, deviation: 1.0 });
        asked.replace(&Effects::default());
        assert!(predictions(folder.path()).is_empty() && effects(folder.path()).is_none());
    }
}
