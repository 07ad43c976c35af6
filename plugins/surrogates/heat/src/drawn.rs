//! The acquisition function.

use std::ops::Range;

use plugin_api::ndarray::{ArrayView2, ArrayViewMut2};
use plugin_api::{Function, Penalty};

use crate::features::Features;
use crate::improvement::log_expected_excess;
use crate::predictor::Predictor;
use crate::values::Scale;

/// What is made of mean and variance, to be minimised.
#[derive(Clone, Debug)]
pub(crate) enum Merit {
    /// −log of the expected improvement on `best`.
    Improvement {
        /// The lowest value and penalty so far.
        best: f64,
    },
    /// mean − κ · deviation.
    Bound {
        /// κ
        kappa: f64,
    },
    /// The mean and a function drawn from the prior: a function drawn from the posterior.
    Sample {
        /// The function drawn from the prior.
        prior: Features,
    },
}

/// A draw: the merits of one or several posteriors, averaged.
pub(crate) struct Drawn {
    pub(crate) parts: Vec<(Predictor, Merit)>,
    pub(crate) scale: Scale,
    /// What is added to the values of the model.
    pub(crate) penalty: Penalty,
}

/// What a merit needs to know of a point besides its prediction: the penalty, and the function drawn from the prior.
#[derive(Clone, Copy)]
struct Extra {
    penalty: f64,
    prior: f64,
}

impl Drawn {
    fn merit(&self, merit: &Merit, (mean, variance): (f64, f64), extra: Extra) -> f64 {
        let deviation = variance.sqrt();
        match merit {
            Merit::Improvement { best } => {
                let z = (self.scale.to(best - extra.penalty) - mean) / deviation;
                -(log_expected_excess(z) + libm::log(deviation) + libm::log(self.scale.unit))
            }
            Merit::Bound { kappa } => self.scale.from(mean - kappa * deviation) + extra.penalty,
            Merit::Sample { .. } => self.scale.from(mean + extra.prior) + extra.penalty,
        }
    }

    fn extra(&self, merit: &Merit, bits: &[bool]) -> Extra {
        let prior = match merit {
            Merit::Sample { prior } => prior.at(bits),
            _ => 0.0,
        };
        Extra { penalty: self.penalty.of(bits), prior }
    }

    /// The average over the parts: of what is a logarithm, that of the average.
    fn average(&self, merits: &[Vec<f64>]) -> Vec<f64> {
        let [first, others @ ..] = merits else { return Vec::new() };
        if others.is_empty() {
            return first.clone();
        }
        let count = merits.len() as f64;
        let average = |i: usize| match self.parts[0].1 {
            Merit::Improvement { .. } => {
                let least = merits.iter().map(|merits| merits[i]).fold(f64::INFINITY, f64::min);
                let sum: f64 = merits.iter().map(|merits| libm::exp(least - merits[i])).sum();
                least - libm::log(sum / count)
            }
            _ => merits.iter().map(|merits| merits[i]).sum::<f64>() / count,
        };
        (0..first.len()).map(average).collect()
    }
}

impl Function for Drawn {
    fn dimension(&self) -> usize {
        self.parts[0].0.bits()
    }

    fn value(&self, bits: &[bool]) -> f64 {
        let mut value = [0.0];
        let point = ArrayView2::from_shape((1, bits.len()), bits).expect("a row of bits");
        self.values(point, &mut value);
        value[0]
    }

    fn values(&self, points: ArrayView2<'_, bool>, values: &mut [f64]) {
        let points = points.as_standard_layout();
        let of_part = |(predictor, merit): &(Predictor, Merit)| -> Vec<f64> {
            let predictions = predictor.predict(points.view()).into_iter().zip(points.rows());
            let bits =
                predictions.map(|(prediction, bits)| (prediction, bits.to_slice().expect("rows in order")));
            bits.map(|(prediction, bits)| self.merit(merit, prediction, self.extra(merit, bits))).collect()
        };
        let merits: Vec<Vec<f64>> = self.parts.iter().map(of_part).collect();
        values.copy_from_slice(&self.average(&merits));
    }

    fn move_gains(
        &self,
        points: ArrayView2<'_, bool>,
        groups: &[Range<usize>],
        mut gains: ArrayViewMut2<'_, f64>,
    ) {
        let points = points.as_standard_layout();
        let rows: Vec<&[bool]> =
            points.rows().into_iter().map(|row| row.to_slice().expect("rows in order")).collect();
        let mut group_of = vec![None; self.dimension()];
        for group in groups {
            group_of[group.clone()].fill(Some(group));
        }
        // Which bits a move to bit `i` turns over; none for a bit that is chosen in its group already.
        let turned = |bits: &[bool], i: usize| match group_of[i] {
            None => vec![i],
            Some(_) if bits[i] => Vec::new(),
            Some(group) => group.clone().filter(|&set| bits[set]).take(1).chain([i]).collect(),
        };
        let moves: Vec<(&[bool], Vec<Vec<usize>>)> = (rows.iter())
            .map(|bits| (*bits, (0..bits.len()).map(|i| turned(bits, i)).filter(|t| !t.is_empty()).collect()))
            .collect();
        let of_part = |(predictor, merit): &(Predictor, Merit)| -> Vec<f64> {
            let mut predictions = predictor.predict_moves(&moves).into_iter();
            let mut merits = Vec::with_capacity(predictions.len());
            let mut push = |bits: &[bool]| {
                let prediction = predictions.next().expect("a prediction for each move");
                merits.push(self.merit(merit, prediction, self.extra(merit, bits)));
            };
            for (bits, moves) in &moves {
                push(bits);
                let mut moved = bits.to_vec();
                for turned in moves {
                    turned.iter().for_each(|&i| moved[i] = !moved[i]);
                    push(&moved);
                    turned.iter().for_each(|&i| moved[i] = !moved[i]);
                }
            }
            merits
        };
        let merits: Vec<Vec<f64>> = self.parts.iter().map(of_part).collect();
        let mut merits = self.average(&merits).into_iter();
        gains.fill(0.0);
        for (row, (_, moves)) in moves.iter().enumerate() {
            let here = merits.next().expect("a merit for each point");
            for turned in moves {
                // The bit that is moved to stands last.
                let i = turned[turned.len() - 1];
                gains[(row, i)] = merits.next().expect("a merit for each move") - here;
            }
        }
    }
}
