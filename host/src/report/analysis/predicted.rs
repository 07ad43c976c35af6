//! Predictions beside what was observed: is the model any good?

use serde::Serialize;

use super::statistics::ranks;
use super::trial::TrialRecord;
use crate::record::{Evaluation, TrialFiles};

/// A proposal, what was expected of it, and what it gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Predicted {
    pub mean: f64,
    pub deviation: f64,
    pub observed: f64,
}

/// How predictions compare with what was observed, over trials.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Calibration {
    /// How many proposals were predicted and have a value.
    pub proposals: usize,
    /// The part of them within one standard deviation of the prediction, and within two.
    pub within_one: f64,
    /// See `within_one`.
    pub within_two: f64,
    /// Spearman's, within trials of five such proposals or more, weighted by their number.
    pub rank_correlation: Option<f64>,
}

/// With fewer proposals of a trial, ranks say nothing.
const FEWEST: usize = 5;

/// The predictions of a trial whose evaluations have a value.
pub(crate) fn predicted(trial: &TrialFiles) -> Vec<Predicted> {
    let of = |prediction: &crate::record::asked::Prediction| {
        let number = |evaluation: &Evaluation| evaluation.ended.evaluation == prediction.evaluation;
        // Those of a round, and those that people make, end in any order.
        let at = trial.evaluations.get(prediction.evaluation.checked_sub(1)?).filter(|at| number(at));
        let evaluation = at.or_else(|| trial.evaluations.iter().find(|other| number(other)))?;
        let observed = evaluation.ended.value?;
        Some(Predicted { mean: prediction.mean, deviation: prediction.deviation, observed })
    };
    trial.predictions.iter().filter_map(of).collect()
}

/// How good the predictions of some trials were; `None` where there are none.
pub(crate) fn calibration(trials: &[&TrialRecord]) -> Option<Calibration> {
    let all = || trials.iter().flat_map(|trial| &trial.predicted);
    let proposals = all().count();
    if proposals == 0 {
        return None;
    }
    let within = |deviations: f64| {
        let near = |p: &&Predicted| (p.observed - p.mean).abs() <= deviations * p.deviation;
        all().filter(near).count() as f64 / proposals as f64
    };
    let (mut sum, mut weight) = (0.0, 0.0);
    for trial in trials.iter().filter(|trial| trial.predicted.len() >= FEWEST) {
        if let Some(correlation) = rank_correlation(&trial.predicted) {
            let count = trial.predicted.len() as f64;
            (sum, weight) = (sum + count * correlation, weight + count);
        }
    }
    let rank_correlation = (weight > 0.0).then(|| sum / weight);
    Some(Calibration { proposals, within_one: within(1.0), within_two: within(2.0), rank_correlation })
}

/// Spearman's rank correlation: Pearson's of the ranks. `None` where all means or all values are equal.
fn rank_correlation(predicted: &[Predicted]) -> Option<f64> {
    let [a, b] = [|p: &Predicted| p.mean, |p: &Predicted| p.observed]
        .map(|of| ranks(&predicted.iter().map(of).collect::<Vec<_>>()));
    let middle = (predicted.len() + 1) as f64 / 2.0;
    let product =
        |x: &[f64], y: &[f64]| -> f64 { x.iter().zip(y).map(|(x, y)| (x - middle) * (y - middle)).sum() };
    let size = (product(&a, &a) * product(&b, &b)).sqrt();
    (size > 0.0).then(|| product(&a, &b) / size)
}

impl Calibration {
    /// What it says, in words.
    pub(crate) fn words(&self) -> String {
        let spread = match self {
            Self { within_two, .. } if *within_two < 0.8 => "too sure of itself",
            Self { within_one, within_two, .. } if *within_one > 0.9 && *within_two > 0.98 => {
                "surer than it says: its deviations are too wide"
            }
            _ => "about as sure as it may be",
        };
        let order = match self.rank_correlation {
            None => "too few to say whether it orders proposals",
            Some(r) if r >= 0.5 => "it orders proposals well",
            Some(r) if r >= 0.2 => "it orders proposals somewhat",
            Some(r) if r > -0.2 => "among its own proposals, its order is no better than chance",
            Some(_) => "it orders its proposals the wrong way round",
        };
        if self.proposals < 10 {
            format!("few proposals: {spread}; {order}")
        } else {
            format!("{spread}; {order}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn predicted(pairs: &[(f64, f64)]) -> Vec<Predicted> {
        pairs.iter().map(|&(mean, observed)| Predicted { mean, deviation: 1.0, observed }).collect()
    }

    #[test]
    fn the_rank_correlation_is_spearmans() {
        // scipy 1.14, spearmanr([1, 2, 3, 4, 5], [5, 6, 7, 8, 7]).statistic
        let pairs = [(1.0, 5.0), (2.0, 6.0), (3.0, 7.0), (4.0, 8.0), (5.0, 7.0)];
        let found = rank_correlation(&predicted(&pairs)).unwrap();
        assert!((found - 0.820_782_681_668_123_3).abs() < 1e-12, "{found}");
        assert_eq!(rank_correlation(&predicted(&[(1.0, 3.0), (2.0, 3.0)])), None);
        let turned = rank_correlation(&predicted(&[(1.0, 3.0), (2.0, 2.0), (9.0, 1.0)])).unwrap();
        assert!((turned + 1.0).abs() < 1e-12);
    }

    #[test]
    fn words_say_whether_a_model_may_be_trusted() {
        let of = |within_one, within_two, rank_correlation| {
            Calibration { proposals: 40, within_one, within_two, rank_correlation }.words()
        };
        assert_eq!(of(0.66, 0.95, Some(0.7)), "about as sure as it may be; it orders proposals well");
        assert_eq!(
            of(0.2, 0.5, Some(0.0)),
            "too sure of itself; among its own proposals, its order is no better than chance"
        );
        assert!(of(1.0, 1.0, None).starts_with("surer than it says"));
    }
}
