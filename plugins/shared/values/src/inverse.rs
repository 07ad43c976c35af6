//! From what a model learned back to values.

use crate::order::tamed;
use crate::standard::standardise;

/// Half the width of the rule for integrals over a normal distribution, in deviations: beyond it is less than 1e-14.
const REACH: i32 = 8;
/// Points of the rule in each deviation.
const DENSITY: i32 = 8;
/// The part of the range of transformed values over which the slope beyond its ends is taken: the last two values alone
/// may be nearly equal.
const END: f64 = 0.1;

/// The inverse of a transformation, known where values were transformed: linear between neighbours, and beyond both
/// ends.
///
/// A model with a normal prediction of a transformed value says with [`moments`](Self::moments) what it predicts of the
/// value.
#[derive(Clone, Debug)]
pub struct Inverse {
    /// Transformed values, each once and ascending, with their values in `unit`s.
    knots: Vec<(f64, f64)>,
    /// The slopes below the first knot and above the last.
    slopes: (f64, f64),
    unit: f64,
}

impl Inverse {
    /// The inverse of what made `transformed` of `values`, one of each other, in the same order. Where several values
    /// became one, it is their mean. Where all did, the slope is the scale of [`standardise`].
    pub fn new(transformed: &[f64], values: &[f64]) -> Self {
        let (values, unit) = tamed(values);
        let mut pairs: Vec<(f64, f64)> = transformed.iter().copied().zip(values.iter().copied()).collect();
        pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        // Rounding may take the mean of equal values beyond them, and beyond the next.
        let mean = |same: &[(f64, f64)]| {
            let mean = same.iter().map(|pair| pair.1).sum::<f64>() / same.len() as f64;
            mean.clamp(same[0].1, same[same.len() - 1].1)
        };
        let mut knots: Vec<(f64, f64)> =
            pairs.chunk_by(|a, b| a.0 == b.0).map(|same| (same[0].0, mean(same))).collect();
        if knots.is_empty() {
            knots.push((0.0, 0.0));
        }
        let (first, last) = (knots[0], knots[knots.len() - 1]);
        let slopes = if knots.len() == 1 {
            let slope = standardise(&values).scale;
            (slope, slope)
        } else {
            let end = END * (last.0 - first.0);
            let after = knots.iter().copied().find(|knot| knot.0 - first.0 >= end).unwrap_or(last);
            let before = knots.iter().rev().copied().find(|knot| last.0 - knot.0 >= end).unwrap_or(first);
            (slope(first, after), slope(before, last))
        };
        Self { knots, slopes, unit }
    }

    /// The value that has this place among the transformed ones.
    pub fn value(&self, transformed: f64) -> f64 {
        (self.in_units(transformed) * self.unit).clamp(-f64::MAX, f64::MAX)
    }

    /// Mean and standard deviation of a value, of which a normal distribution of its transformed value is known.
    pub fn moments(&self, mean: f64, deviation: f64) -> (f64, f64) {
        // The trapezoidal rule: exact but for rounding for a linear function, and nearly so where few pieces count.
        let places = (-REACH * DENSITY..=REACH * DENSITY).map(|k| f64::from(k) / f64::from(DENSITY));
        let weighted: Vec<(f64, f64)> =
            places.map(|z| (libm::exp(-0.5 * z * z), self.in_units(mean + deviation * z))).collect();
        let whole: f64 = weighted.iter().map(|(weight, _)| weight).sum();
        // Relative to the middle, because squares of large values would leave no digits of a small deviation.
        let middle = self.in_units(mean);
        let first: f64 =
            weighted.iter().map(|(weight, value)| weight * (value - middle)).sum::<f64>() / whole;
        let off = |value: f64| value - middle - first;
        let second: f64 =
            weighted.iter().map(|(weight, value)| weight * off(*value) * off(*value)).sum::<f64>() / whole;
        let back = |number: f64| (number * self.unit).clamp(-f64::MAX, f64::MAX);
        (back(middle + first), back(second.sqrt()))
    }

    fn in_units(&self, transformed: f64) -> f64 {
        let above = self.knots.partition_point(|knot| knot.0 < transformed);
        let (first, last) = (self.knots[0], self.knots[self.knots.len() - 1]);
        if above == 0 {
            return first.1 + self.slopes.0 * (transformed - first.0);
        }
        if above == self.knots.len() {
            return last.1 + self.slopes.1 * (transformed - last.0);
        }
        let (low, high) = (self.knots[above - 1], self.knots[above]);
        let part = (transformed - low.0) / (high.0 - low.0);
        (low.1 + part * (high.1 - low.1)).clamp(low.1, high.1)
    }
}

fn slope(low: (f64, f64), high: (f64, f64)) -> f64 {
    (high.1 - low.1) / (high.0 - low.0)
}

#[cfg(test)]
mod tests {
    use plugin_api::random::{exponential, normal};
    use plugin_api::rng;

    use super::*;
    use crate::Values;

    fn sample(count: usize) -> Vec<f64> {
        let mut rng = rng(count as u64);
        (0..count).map(|_| libm::exp(normal(&mut rng)) + 10.0 * exponential(&mut rng)).collect()
    }

    #[test]
    fn what_was_transformed_comes_back() {
        let values = sample(50);
        for kind in [Values::Raw, Values::Auto, Values::Vizier, Values::Copula, Values::Log] {
            let transformed = kind.transform(&values);
            let inverse = Inverse::new(&transformed, &values);
            for (t, y) in transformed.iter().zip(&values) {
                assert!((inverse.value(*t) - y).abs() < 1e-9 * y.abs(), "{kind:?}");
            }
        }
        let clipped = Inverse::new(&[0.0, 3.0, 1.0, 3.0], &[0.0, 5.0, 1.0, 8.0]);
        assert_eq!((clipped.value(3.0), clipped.value(1.0), clipped.value(2.0)), (6.5, 1.0, 3.75));
    }

    #[test]
    fn it_rises_everywhere_and_goes_on_straight_beyond_the_ends() {
        let values = sample(40);
        for kind in [Values::Auto, Values::Vizier, Values::Copula, Values::Log, Values::Winsor] {
            let transformed = standardise(&kind.transform(&values)).values;
            let inverse = Inverse::new(&transformed, &values);
            let along: Vec<f64> = (-800..800).map(|k| inverse.value(0.01 * f64::from(k))).collect();
            assert!(along.is_sorted(), "{kind:?}");
            for beyond in [-7.0, 7.0] {
                let bend =
                    inverse.value(beyond - 0.5) + inverse.value(beyond + 0.5) - 2.0 * inverse.value(beyond);
                assert!(bend.abs() < 1e-9 * inverse.value(beyond).abs(), "{kind:?}: {bend}");
                assert!(inverse.value(beyond + 0.5) > inverse.value(beyond - 0.5), "{kind:?}");
            }
        }
    }

    /// Mean and deviation of the value by Simpson's rule with 200,000 steps.
    fn integrated(inverse: &Inverse, mean: f64, deviation: f64) -> (f64, f64) {
        let (steps, width) = (200_000, 20.0 / 200_000.0);
        let weight = |k: i32| if k == 0 || k == steps { 1.0 } else { f64::from(2 + 2 * (k % 2)) };
        let density = |z: f64| libm::exp(-0.5 * z * z) / (2.0 * std::f64::consts::PI).sqrt();
        let moment = |f: &dyn Fn(f64) -> f64| -> f64 {
            let at = |k: i32| -10.0 + f64::from(k) * width;
            (0..=steps).map(|k| weight(k) * density(at(k)) * f(mean + deviation * at(k))).sum::<f64>() * width
                / 3.0
        };
        let first = moment(&|t| inverse.value(t));
        let second = moment(&|t| (inverse.value(t) - first) * (inverse.value(t) - first));
        (first, second.sqrt())
    }

    #[test]
    fn moments_are_those_of_the_integral() {
        let values = sample(60);
        for kind in [Values::Auto, Values::Vizier, Values::Copula, Values::Log, Values::Winsor] {
            let transformed = standardise(&kind.transform(&values)).values;
            let inverse = Inverse::new(&transformed, &values);
            for (mean, deviation) in [(-2.5, 0.3), (-1.0, 0.1), (0.0, 1.0), (1.0, 0.5), (0.3, 2.0)] {
                let (found, expected) =
                    (inverse.moments(mean, deviation), integrated(&inverse, mean, deviation));
                let size = expected.1;
                assert!(
                    (found.0 - expected.0).abs() < 0.005 * size,
                    "{kind:?} {mean}: {found:?} {expected:?}"
                );
                assert!(
                    (found.1 - expected.1).abs() < 0.005 * size,
                    "{kind:?} {mean}: {found:?} {expected:?}"
                );
            }
        }
    }

    #[test]
    fn equal_values_beside_one_that_differs_in_its_last_digit_have_an_inverse() {
        for count in 1..60 {
            for start in [-18.759_813_050_329_07_f64, 0.1, 1.0 / 3.0, 1e9 / 7.0] {
                let mut values = vec![start; count];
                values.extend([start.next_up(), start.next_down(), start - 1.0, start + 3.0]);
                let transformed = standardise(&Values::Copula.transform(&values)).values;
                let inverse = Inverse::new(&transformed, &values);
                let along: Vec<f64> = (-400..400).map(|k| inverse.value(0.01 * f64::from(k))).collect();
                assert!(along.is_sorted(), "{count} times {start}");
            }
        }
    }

    #[test]
    fn of_a_linear_transformation_the_moments_are_exact() {
        let values = [1e9 + 3.0, 1e9 + 5.0, 1e9 + 11.0];
        let inverse = Inverse::new(&values.map(|y| 0.25 * (y - 1e9)), &values);
        let (mean, deviation) = inverse.moments(2.0, 0.7);
        assert!((mean - 1e9 - 8.0).abs() < 1e-6 && (deviation - 2.8).abs() < 1e-6, "{mean} {deviation}");
    }

    #[test]
    fn equal_no_and_extreme_values_have_finite_moments() {
        for (values, scale) in [(vec![4.0; 3], 4.0), (vec![0.0; 2], 1.0), (vec![], 1.0)] {
            let (mean, deviation) = Inverse::new(&vec![0.0; values.len()], &values).moments(0.0, 0.5);
            assert!((deviation - 0.5 * scale).abs() < 1e-12);
            assert!((mean - values.first().copied().unwrap_or_default()).abs() < 1e-12);
        }
        let values = [f64::MAX, -f64::MAX, 0.0, 1e-300];
        let transformed = standardise(&Values::Copula.transform(&values)).values;
        let (mean, deviation) = Inverse::new(&transformed, &values).moments(0.0, 3.0);
        assert!(mean.is_finite() && deviation.is_finite());
    }
}
