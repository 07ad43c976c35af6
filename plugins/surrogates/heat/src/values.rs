//! What the model learns of observed values, and on which scale.

use plugin_api::{Bits, Penalty};
use shared_values::{Inverse, Shift, Standardised, Values, standardise};

/// The numbers that a model learns, with mean 0 and standard deviation 1.
#[derive(Clone, Debug)]
pub(crate) struct Learned {
    pub(crate) values: Vec<f64>,
    pub(crate) scale: Scale,
    /// The values, or totals where these are transformed.
    totals: Vec<f64>,
    kind: Values,
    /// What `auto` chose.
    pub(crate) shift: Option<Shift>,
}

impl Learned {
    /// The bare values where they are raw; else the totals with the penalty, transformed. `score` is the likelihood of
    /// standardised values by which `auto` chooses, starting from the choice before.
    pub(crate) fn new(
        kind: Values,
        observations: &[(Bits, Option<f64>)],
        penalty: &Penalty,
        previous: Option<Shift>,
        score: impl FnMut(&[f64]) -> f64,
    ) -> Self {
        let totals = kind.totals(observations.iter().map(|(bits, value)| (bits, *value)), penalty);
        let (transformed, shift) = kind.transform_by(&totals, previous, score);
        let Standardised { mean, scale, values } = standardise(&transformed);
        Self { values, scale: Scale { centre: mean, unit: scale }, totals, kind, shift }
    }

    /// The scale of what is drawn: that of raw values, and none where they are transformed.
    pub(crate) fn drawn_scale(&self) -> Scale {
        if self.kind.is_raw() { self.scale } else { Scale::NONE }
    }

    /// What is still to be added to what is drawn: the penalty, where the model has not learned it.
    pub(crate) fn drawn_penalty(&self, penalty: &Penalty) -> Penalty {
        if self.kind.is_raw() { penalty.clone() } else { Penalty::default() }
    }

    /// Mean and standard deviation of values, of which the model predicts those of what it learns. They are without
    /// the penalty if that was learned without.
    pub(crate) fn to_values(&self, predictions: impl Iterator<Item = (f64, f64)>) -> (Vec<f64>, Vec<f64>) {
        let inverse = (!self.kind.is_raw()).then(|| Inverse::new(&self.values, &self.totals));
        let back = |(mean, deviation): (f64, f64)| match &inverse {
            Some(inverse) => inverse.moments(mean, deviation),
            None => (self.scale.from(mean), self.scale.unit * deviation),
        };
        predictions.map(back).unzip()
    }
}

/// A scale: a place on it is (value − centre)/unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    pub(crate) centre: f64,
    pub(crate) unit: f64,
}

impl Scale {
    pub(crate) const NONE: Self = Self { centre: 0.0, unit: 1.0 };

    /// A value on this scale.
    pub(crate) fn to(self, value: f64) -> f64 {
        (value - self.centre) / self.unit
    }

    /// What has this place on the scale.
    pub(crate) fn from(self, place: f64) -> f64 {
        self.centre + self.unit * place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observations() -> Vec<(Bits, Option<f64>)> {
        [("110", 3.0), ("000", 5.0), ("100", 7.0), ("111", 13.0)]
            .into_iter()
            .map(|(bits, value)| (bits.parse().unwrap(), Some(value)))
            .collect()
    }

    fn learned(kind: Values) -> Learned {
        Learned::new(kind, &observations(), &Penalty::l1(4.0), None, |_| 0.0)
    }

    #[test]
    fn raw_values_are_learned_without_the_penalty_which_the_draw_has() {
        let raw = learned(Values::Raw);
        assert_eq!(raw.drawn_penalty(&Penalty::l1(4.0)), Penalty::l1(4.0));
        let back: Vec<f64> = raw.values.iter().map(|z| raw.drawn_scale().from(*z)).collect();
        for ((_, value), back) in observations().iter().zip(back) {
            assert!((value.unwrap() - back).abs() < 1e-12);
        }
        assert!((raw.scale.to(raw.scale.from(0.3)) - 0.3).abs() < 1e-12);
    }

    #[test]
    fn transformed_totals_are_learned_in_their_order_and_the_draw_has_no_penalty() {
        // The totals are 11, 5, 11 and 25.
        for kind in [Values::Auto, Values::Vizier, Values::Copula, Values::Log, Values::Winsor] {
            let learned = learned(kind);
            let [a, b, c, d] = learned.values[..] else { panic!("four values") };
            assert!(b < a && a == c && c < d, "{kind:?}: {:?}", learned.values);
            assert!((learned.values.iter().map(|z| z * z).sum::<f64>() - 4.0).abs() < 1e-12);
            assert_eq!(learned.drawn_penalty(&Penalty::l1(4.0)), Penalty::default());
            assert_eq!(learned.drawn_scale(), Scale::NONE);
        }
    }

    #[test]
    fn sure_predictions_of_observed_points_are_their_values() {
        for kind in [Values::Raw, Values::Auto, Values::Vizier, Values::Copula, Values::Log] {
            let learned = Learned::new(kind, &observations(), &Penalty::default(), None, |_| 0.0);
            let (means, deviations) = learned.to_values(learned.values.iter().map(|z| (*z, 0.0)));
            for ((_, value), mean) in observations().iter().zip(means) {
                assert!((value.unwrap() - mean).abs() < 1e-9, "{kind:?}");
            }
            assert!(deviations.iter().all(|d| d.abs() < 1e-9));
        }
    }
}
