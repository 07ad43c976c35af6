//! The point that is recommended where an objective is noisy: of those that were evaluated, the one with the best mean by
//! the models, and not the one that was lucky once.

use std::collections::BTreeMap;

use plugin_api::{BitMatrix, Bits, Penalty, Point};

use super::turns::Turns;
use crate::record::event::By;

/// The points that have a value.
#[derive(Default)]
pub(super) struct Candidates {
    all: Vec<Candidate>,
    places: BTreeMap<Bits, usize>,
}

struct Candidate {
    bits: Bits,
    point: Point,
    /// Of its values, in the minimised sense.
    sum: f64,
    count: usize,
}

/// A point, and why it is the one.
pub(super) struct Chosen {
    pub(super) point: Point,
    pub(super) bits: Bits,
    /// What is expected of it, in the minimised sense and without the penalty.
    pub(super) mean: f64,
    /// How far off that may be, where the models say.
    pub(super) deviation: Option<f64>,
    pub(super) by: By,
}

impl Candidates {
    /// One more value, in the minimised sense.
    pub(super) fn add(&mut self, bits: &Bits, point: &Point, value: f64) {
        let place = *self.places.entry(bits.clone()).or_insert_with(|| {
            self.all.push(Candidate { bits: bits.clone(), point: point.clone(), sum: 0.0, count: 0 });
            self.all.len() - 1
        });
        self.all[place].sum += value;
        self.all[place].count += 1;
    }

    /// The best one with its penalty; of equal ones, the first. Where no model has anything to say (`ask` answers their means
    /// and deviations), the mean of a point's own values counts.
    pub(super) fn choose(
        &self,
        penalty: &Penalty,
        ask: impl FnOnce(&BitMatrix) -> Option<Vec<(f64, f64)>>,
    ) -> Option<Chosen> {
        let mut points = BitMatrix::new(self.all.first()?.bits.len());
        self.all.iter().for_each(|candidate| points.push(&candidate.bits));
        let asked = ask(&points);
        let by = if asked.is_some() { By::Model } else { By::Values };
        let expected = |i: usize| match &asked {
            Some(answers) => (answers[i].0, Some(answers[i].1)),
            None => (self.all[i].sum / self.all[i].count as f64, None),
        };
        let total = |&i: &usize| expected(i).0 + penalty.of(&self.all[i].bits);
        let best = (0..self.all.len()).min_by(|a, b| total(a).total_cmp(&total(b)))?;
        let (mean, deviation) = expected(best);
        let Candidate { bits, point, .. } = &self.all[best];
        Some(Chosen { point: point.clone(), bits: bits.clone(), mean, deviation, by })
    }
}

/// What the surrogates expect of these points: means and deviations, of those that answer; `None` where none does.
pub(super) fn expected(turns: &mut Turns, points: &BitMatrix) -> Option<Vec<(f64, f64)>> {
    let mut sums = vec![(0.0, 0.0); points.view().nrows()];
    let mut answered = 0.0;
    for (name, answer) in turns.predict(points) {
        match answer {
            Ok(Some(found)) if found.means().iter().all(|mean| mean.is_finite()) => {
                answered += 1.0;
                for ((mean, deviation), sum) in found.means().iter().zip(found.deviations()).zip(&mut sums) {
                    sum.0 += mean;
                    sum.1 += deviation;
                }
            }
            Ok(_) => {}
            Err(error) => {
                tracing::warn!("the surrogate `{name}` has no part in what is recommended: {error}")
            }
        }
    }
    (answered > 0.0)
        .then(|| sums.into_iter().map(|(mean, deviation)| (mean / answered, deviation / answered)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates() -> Candidates {
        let mut candidates = Candidates::default();
        for (bits, value) in [("00", 3.0), ("01", 0.5), ("10", 1.0), ("01", 4.5), ("11", 1.1)] {
            let bits: Bits = bits.parse().unwrap();
            let point: Point = bits.iter().map(|&bit| u32::from(bit)).collect();
            candidates.add(&bits, &point, value);
        }
        candidates
    }

    #[test]
    fn the_models_mean_decides_and_not_the_luckiest_value() {
        let means = vec![(1.0, 0.1), (2.0, 0.1), (1.5, 0.1), (0.9, 0.2)];
        let chosen = candidates().choose(&Penalty::l1(0.0), |points| {
            assert_eq!(points.view().nrows(), 4, "each point once");
            Some(means.clone())
        });
        let chosen = chosen.unwrap();
        assert_eq!((chosen.bits.to_string().as_str(), chosen.mean, chosen.by), ("11", 0.9, By::Model));
        // With the penalty, another one is the best.
        let chosen = candidates().choose(&Penalty::l1(0.2), |_| Some(means.clone())).unwrap();
        assert_eq!((chosen.bits.to_string().as_str(), chosen.mean), ("00", 1.0));
    }

    #[test]
    fn without_a_model_the_mean_of_a_points_values_decides() {
        let chosen = candidates().choose(&Penalty::l1(0.0), |_| None).unwrap();
        assert_eq!((chosen.bits.to_string().as_str(), chosen.mean, chosen.by), ("10", 1.0, By::Values));
        assert!(chosen.deviation.is_none());
        assert!(Candidates::default().choose(&Penalty::l1(0.0), |_| None).is_none());
    }
}
