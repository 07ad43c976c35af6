//! What a model learns of observed values: as they are, or transformed.
//!
//! A model with Gaussian noise spends its freedom where values differ most. Where these are the bad ones, it says
//! little of the good ones: of a divergence between 0.002 and 15, all that matters lies below 0.2. A transformation that
//! keeps the order and spreads the low values out mends that.
//!
//! Low values are good, before and after. Every transformation keeps the order (weakly: what is clipped is equal), gives equal
//! values the same result, and is finite for all finite values, however many, equal, large or close together.
//!
//! A transformed value is not a sum of terms of the objective and of the penalty any more, so a model learns the *total*
//! ([`Values::total`]) and adds no penalty to what it draws ([`Values::complete`]). The penalty comes with each request, so
//! values are transformed when a function is drawn, from those that were observed.

mod infeasible; // what counts as the value of a point without one
mod inverse; // from what was learned back to values
mod normal; // the inverse of the normal distribution function
mod order; // ranks and quantiles
mod shifted_log; // `auto`
mod standard; // mean 0 and deviation 1
pub mod testing; // what the tests of several models share
mod warps; // the others

use plugin_api::{Acquisition, Bits, Error, Penalty, Result};

pub use infeasible::with_infeasible;
pub use inverse::Inverse;
pub use normal::normal_quantile;
pub use shifted_log::{Chosen, Shift, choose};
pub use standard::{Standardised, standardise};

plugin_api::options! {
    /// What a model learns of observed values. All but `raw` learn the value and the penalty together.
    pub enum Values {
        /// The values as they are.
        #[default]
        Raw,
        /// Their logarithm after a shift, or the values as they are: whichever the model explains best.
        Auto,
        /// The worse half by its ranks, then a logarithm of the distance to the best, as Vizier does.
        Vizier,
        /// The normal quantiles of their ranks: nothing but the order counts.
        Copula,
        /// Their logarithm above a point a little below the least, as SMAC does.
        Log,
        /// As they are, but no worse than Tukey's fence: the upper quartile and one and a half times the distance between the
        /// quartiles.
        Winsor,
    }
}

/// The squares of larger values, and sums of them, are not finite.
const LARGEST_VALUE: f64 = 1e150;

/// Refuses a value that a model cannot compute with.
pub fn check_value(bits: &Bits, value: f64) -> Result<()> {
    // A value that is not a number is not within either.
    if (-LARGEST_VALUE..=LARGEST_VALUE).contains(&value) {
        return Ok(());
    }
    Err(Error::new(format!("the value of {bits} is {value:e}, not within ±{LARGEST_VALUE:e}")))
}

impl Values {
    /// Whether the model learns values as they are.
    pub fn is_raw(self) -> bool {
        self == Self::Raw
    }

    /// What a model learns of an observation, before the transformation: the bare value where that is raw, else with
    /// the penalty of its bits.
    pub fn total(self, value: f64, bits: &[bool], penalty: &Penalty) -> f64 {
        if self.is_raw() {
            return value;
        }
        // The largest numbers may have no finite sum.
        (value + penalty.of(bits)).clamp(-f64::MAX, f64::MAX)
    }

    /// What a model learns of observations, before the transformation: the [`total`](Self::total) of each, and of those
    /// that are infeasible the worst of these ([`with_infeasible`]).
    pub fn totals<'a>(
        self,
        observations: impl IntoIterator<Item = (&'a Bits, Option<f64>)>,
        penalty: &Penalty,
    ) -> Vec<f64> {
        let total = |(bits, value): (&Bits, Option<f64>)| Some(self.total(value?, bits, penalty));
        with_infeasible(&observations.into_iter().map(total).collect::<Vec<_>>())
    }

    /// What the model drew of what it learned, with the penalty where that is still to be added.
    pub fn complete(self, drawn: Acquisition, penalty: &Penalty) -> Acquisition {
        if self.is_raw() { drawn.with_penalty(penalty) } else { drawn }
    }

    /// The transformed totals, for a model without a score of its own: `auto` is then the shift under which they look most
    /// like draws from a normal distribution (the likelihood of Box & Cox 1964).
    pub fn transform(self, totals: &[f64]) -> Vec<f64> {
        self.transform_by(totals, None, |_| 0.0).0
    }

    /// The transformed totals, and the shift that `auto` chose; see [`choose`], which takes `previous` and `score`.
    pub fn transform_by(
        self,
        totals: &[f64],
        previous: Option<Shift>,
        score: impl FnMut(&[f64]) -> f64,
    ) -> (Vec<f64>, Option<Shift>) {
        let plain = match self {
            Self::Raw => totals.to_vec(),
            Self::Auto => {
                let Chosen { shift, values, .. } = choose(totals, previous, score);
                return (values, Some(shift));
            }
            Self::Vizier => warps::vizier(totals),
            Self::Copula => warps::copula(totals),
            Self::Log => warps::log(totals),
            Self::Winsor => warps::winsor(totals),
        };
        (plain, None)
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::random::{exponential, normal};
    use plugin_api::{Quadratic, rng};

    use super::*;

    const ALL: [Values; 6] =
        [Values::Raw, Values::Auto, Values::Vizier, Values::Copula, Values::Log, Values::Winsor];

    fn samples() -> Vec<Vec<f64>> {
        let mut rng = rng(4);
        let mut samples: Vec<Vec<f64>> = [2, 3, 7, 20, 101]
            .into_iter()
            .map(|n| (0..n).map(|_| 5.0 * normal(&mut rng) + exponential(&mut rng)).collect())
            .collect();
        // Ties, skewed both ways, and what is hard to compute with.
        samples.push((0..40).map(|i| f64::from(i % 7)).collect());
        samples.push((0..40).map(|i| f64::from(u8::from(i == 3))).collect());
        samples.push((0..30).map(|i| libm::exp(f64::from(i))).collect());
        samples.push((0..30).map(|i| -libm::exp(f64::from(i))).collect());
        samples.push(vec![1e150, -1e150, 1e149, 0.0, 1e-150]);
        samples.push(vec![f64::MAX, -f64::MAX, 0.0, 1.0]);
        samples.push(vec![5e-324, 0.0, -5e-324, 1e-323, 2e-322]);
        samples.push((0..20).map(|i| 1e6 + 1e-9 * f64::from(i)).collect());
        samples.push(vec![0.0, 1e-300, 1e-290, 2e-300, 3e-300, 1e150]);
        samples
    }

    #[test]
    fn the_order_is_kept_and_equal_values_stay_equal() {
        for values in ALL {
            for sample in samples() {
                let transformed = values.transform(&sample);
                assert_eq!(transformed.len(), sample.len());
                for (i, a) in sample.iter().enumerate() {
                    assert!(transformed[i].is_finite(), "{values:?} of {sample:?}: {transformed:?}");
                    for (j, b) in sample.iter().enumerate() {
                        let (ta, tb) = (transformed[i], transformed[j]);
                        assert!(a > b || ta <= tb, "{values:?}: {a} and {b} became {ta} and {tb}");
                        assert!(a != b || ta == tb, "{values:?}: {a} became {ta} and {tb}");
                    }
                }
            }
        }
    }

    #[test]
    fn nothing_one_value_and_equal_values_are_finite_and_equal() {
        for values in ALL {
            assert!(values.transform(&[]).is_empty());
            for sample in [vec![3.5], vec![-1e150], vec![0.0; 9], vec![1e150; 61], vec![-0.1; 4]] {
                let transformed = values.transform(&sample);
                assert!(transformed.iter().all(|t| t.is_finite() && *t == transformed[0]), "{values:?}");
                assert_eq!(transformed.len(), sample.len());
            }
        }
    }

    #[test]
    fn values_without_a_finite_square_are_refused() {
        let bits: Bits = "10".parse().unwrap();
        for value in [0.0, -1e150, 1e150, 5e-324] {
            assert!(check_value(&bits, value).is_ok());
        }
        for (value, words) in [(f64::NAN, "NaN"), (1e300, "1e300"), (f64::NEG_INFINITY, "-inf")] {
            let error = check_value(&bits, value).unwrap_err().to_string();
            assert_eq!(error, format!("the value of 10 is {words}, not within ±1e150"));
        }
    }

    #[test]
    fn only_raw_values_leave_the_penalty_to_the_draw() {
        let bits = [true, false, true, true];
        for values in ALL {
            let total = values.total(2.0, &bits, &Penalty::l1(0.5));
            let drawn = values.complete(Quadratic::zero(4).into(), &Penalty::l1(0.5)).value(&bits);
            assert_eq!((total, drawn), if values.is_raw() { (2.0, 1.5) } else { (3.5, 0.0) });
        }
        assert_eq!(Values::Log.total(f64::MAX, &bits, &Penalty::l1(f64::MAX)), f64::MAX);
    }

    #[test]
    fn only_the_log_has_a_unit_of_its_own() {
        // A power of two and a shift without rounding change nothing but raw and winsorised values, by as much.
        let sample: Vec<f64> = (0..50).map(|i| f64::from((i * 37) % 50 * (i % 9))).collect();
        let moved: Vec<f64> = sample.iter().map(|y| 4.0 * y - 64.0).collect();
        for values in [Values::Auto, Values::Vizier, Values::Copula] {
            assert_eq!(values.transform(&sample), values.transform(&moved), "{values:?}");
        }
        let back = |t: &f64| (t + 64.0) / 4.0;
        let winsorised: Vec<f64> = Values::Winsor.transform(&moved).iter().map(back).collect();
        assert_eq!(Values::Winsor.transform(&sample), winsorised);
        for (a, b) in Values::Log.transform(&sample).iter().zip(Values::Log.transform(&moved)) {
            // Its 1e-10 is in the unit of the values, and shows where the 5th percentile is the least value.
            assert!((a - b).abs() < 1e-9 || *a < -10.0, "{a} and {b}");
        }
    }
}
