//! `auto`: the logarithm after a shift, or the values as they are.
//!
//! w_c(y) = ln(y − min + cR) with R = q75 − min, or w_∞(y) = y, then standardised. Of two transformations of the same
//! values, the one under which the *values* are more likely is better, which is the likelihood of the transformed ones times
//! the Jacobian: ln |dz/dy| = −ln(y − min + cR) − ln σ_c for each value, σ_c being the deviation of w_c.

use crate::order::{quantile, sorted, tamed};
use crate::standard::{Standardised, standardise};

/// c, from the values as they are down to the strongest transformation.
const FACTORS: [f64; 8] = [f64::INFINITY, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003];
/// From this many values on, the choice moves by one step of the grid at a time.
const SETTLED: usize = 60;

/// A place in the grid of shifts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shift(u8);

/// What was chosen for some values.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The shift.
    pub shift: Shift,
    /// The transformed values, with mean 0 and variance 1 (or all 0, where they are equal).
    pub values: Vec<f64>,
    /// The model's score of them with the Jacobian: the log likelihood of the values as they were, up to a constant.
    pub score: f64,
}

impl Shift {
    /// Which place in the grid it is, for a model that saves its state.
    pub fn index(self) -> u8 {
        self.0
    }

    /// The shift at a place in the grid, if there is one.
    pub fn from_index(index: u8) -> Option<Self> {
        (usize::from(index) < FACTORS.len()).then_some(Self(index))
    }

    /// What was chosen, as a surrogate's note: `("values", "log, shifted by 0.3")`.
    pub fn note(self) -> (String, String) {
        let words = match self.factor() {
            factor if factor.is_finite() => format!("log, shifted by {factor}"),
            _ => "as they are".to_owned(),
        };
        ("values".to_owned(), words)
    }

    /// c: the shift as a multiple of q75 − min; infinite where the values are learned as they are.
    pub fn factor(self) -> f64 {
        FACTORS[usize::from(self.0)]
    }
}

/// Transforms `values` by the shift with the best score and Jacobian.
///
/// `score` gets standardised values, and tells their log likelihood under the model at its current hyperparameters, up to
/// a constant; with the amplitude integrated out, −(N + 1)/2 · ln(q + 1). A model that cannot tell answers 0. All shifts are
/// tried while there are fewer than 60 values or no `previous` choice, then its neighbours. Between equals the previous one
/// stays, or the values as they are.
pub fn choose(values: &[f64], previous: Option<Shift>, mut score: impl FnMut(&[f64]) -> f64) -> Chosen {
    let (values, unit) = tamed(values);
    let sorted = sorted(&values);
    let (least, most) =
        (sorted.first().copied().unwrap_or_default(), sorted.last().copied().unwrap_or_default());
    let quartile = quantile(&sorted, 0.75) - least;
    // Where three quarters are the least value, no shift is defined; the range serves as a unit.
    let (range, last) = if quartile > 0.0 { (quartile, FACTORS.len() - 1) } else { (most - least, 0) };
    if range <= 0.0 {
        let values = vec![0.0; values.len()];
        let score = score(&values);
        return Chosen { shift: Shift(0), values, score };
    }
    let parts: Vec<f64> = values.iter().map(|value| ((value - least) / range).min(1e300)).collect();
    let scale = values.len() as f64 * (libm::log(range) + libm::log(unit));
    let mut try_shift = |index: usize| {
        let warp = Warp { factor: FACTORS[index] };
        let Standardised { scale: sigma, values, .. } = standardise(&warp.all(&parts));
        let score = score(&values) + warp.jacobian(&parts, sigma) - scale;
        Chosen { shift: Shift(index as u8), values, score }
    };

    let start = previous.map_or(0, |shift| usize::from(shift.0)).min(last);
    let candidates = match previous {
        Some(_) if values.len() >= SETTLED => start.saturating_sub(1)..=(start + 1).min(last),
        _ => 0..=last,
    };
    let mut best = try_shift(start);
    for index in candidates.filter(|&index| index != start) {
        let tried = try_shift(index);
        if tried.score > best.score || best.score.is_nan() {
            best = tried;
        }
    }
    best
}

/// The transformation, of values in units of R from the least on.
#[derive(Clone, Copy)]
struct Warp {
    factor: f64,
}

impl Warp {
    fn all(self, parts: &[f64]) -> Vec<f64> {
        parts.iter().map(|&part| self.of(part)).collect()
    }

    fn of(self, part: f64) -> f64 {
        if self.factor.is_finite() { libm::log(part + self.factor) } else { part }
    }

    /// Σ ln of the derivative of each standardised value, in the part that it was.
    fn jacobian(self, parts: &[f64], sigma: f64) -> f64 {
        let logarithms: f64 =
            if self.factor.is_finite() { parts.iter().map(|&part| self.of(part)).sum() } else { 0.0 };
        -logarithms - parts.len() as f64 * libm::log(sigma)
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::random::normal;
    use plugin_api::rng;

    use super::*;

    fn normals(count: usize) -> Vec<f64> {
        let mut rng = rng(count as u64);
        (0..count).map(|_| normal(&mut rng)).collect()
    }

    /// The definition as it is written, for one c: standardised values, and the Jacobian.
    fn by_definition(values: &[f64], c: f64) -> (Vec<f64>, f64) {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = 0.75 * (values.len() - 1) as f64;
        let (i, part) = (at.floor() as usize, at.fract());
        let q75 = sorted[i] + part * (sorted[(i + 1).min(values.len() - 1)] - sorted[i]);
        let (least, r) = (sorted[0], q75 - sorted[0]);
        let w = |y: &f64| if c.is_infinite() { *y } else { libm::log(y - least + c * r) };
        let n = values.len() as f64;
        let mean = values.iter().map(w).sum::<f64>() / n;
        let sigma = (values.iter().map(|y| (w(y) - mean) * (w(y) - mean)).sum::<f64>() / n).sqrt();
        // ln |dz/dy| by central differences, with min, R and σ held fixed.
        let slope = |y: &f64| {
            let h = 1e-6 * (y - least + if c.is_infinite() { r } else { c * r });
            libm::log((w(&(y + h)) - w(&(y - h))) / (2.0 * h) / sigma)
        };
        (values.iter().map(|y| (w(y) - mean) / sigma).collect(), values.iter().map(slope).sum())
    }

    /// Less where the tails are heavy: something that depends on the values.
    fn score(values: &[f64]) -> f64 {
        -values.iter().map(|z| z * z * z * z).sum::<f64>()
    }

    #[test]
    fn the_choice_is_the_best_by_the_definition_with_its_jacobian() {
        for count in [5, 30, 59] {
            for sharpness in [0.01, 1.0, 4.0] {
                let values: Vec<f64> =
                    normals(count).iter().map(|z| 7.0 + 3.0 * libm::exp(sharpness * z)).collect();
                let chosen = choose(&values, None, score);
                let (expected, jacobian) = by_definition(&values, chosen.shift.factor());
                for (a, b) in chosen.values.iter().zip(&expected) {
                    assert!((a - b).abs() < 1e-10, "{a} instead of {b}");
                }
                assert!((chosen.score - score(&expected) - jacobian).abs() < 1e-6 * count as f64);
                for c in FACTORS {
                    let (values, jacobian) = by_definition(&values, c);
                    assert!(score(&values) + jacobian <= chosen.score + 1e-6, "c = {c} is better");
                }
            }
        }
    }

    #[test]
    fn values_that_are_normal_stay_and_those_of_an_exponential_do_not() {
        let normals = normals(50);
        assert_eq!(choose(&normals, None, |_| 0.0).shift.factor(), f64::INFINITY);
        let skewed: Vec<f64> = normals.iter().map(|z| libm::exp(3.0 * z)).collect();
        let chosen = choose(&skewed, None, |_| 0.0).shift.factor();
        assert!(chosen <= 0.1, "{chosen}");
    }

    #[test]
    fn a_settled_choice_moves_by_one_step() {
        let skewed: Vec<f64> = normals(60).iter().map(|z| libm::exp(3.0 * z)).collect();
        let best = choose(&skewed, None, |_| 0.0).shift;
        assert!(best.index() >= 4);
        let mut shift = Shift(0);
        for step in 1..=best.index() {
            shift = choose(&skewed, Some(shift), |_| 0.0).shift;
            assert_eq!(shift, Shift(step));
        }
        assert_eq!(choose(&skewed, Some(shift), |_| 0.0).shift, best);
        assert_eq!(choose(&skewed[..59], Some(Shift(0)), |_| 0.0).shift.index(), {
            choose(&skewed[..59], None, |_| 0.0).shift.index()
        });
    }

    #[test]
    fn a_shift_and_a_scale_of_the_values_change_nothing_but_the_score() {
        let skewed: Vec<f64> = normals(40).iter().map(|z| libm::exp(2.0 * z)).collect();
        let moved: Vec<f64> = skewed.iter().map(|y| 1e3 * y - 17.0).collect();
        let (one, other) = (choose(&skewed, None, score), choose(&moved, None, score));
        assert_eq!(one.shift, other.shift);
        assert!(one.values.iter().zip(&other.values).all(|(a, b)| (a - b).abs() < 1e-9));
        // A density of values a thousand times as large is a thousandth each.
        assert!((one.score - other.score - 40.0 * libm::log(1e3)).abs() < 1e-6);
    }

    #[test]
    fn a_score_that_is_no_number_is_never_the_best() {
        let values = normals(20);
        let mut calls = 0;
        let chosen = choose(&values, None, |_| {
            calls += 1;
            if calls == 3 { 0.0 } else { f64::NAN }
        });
        assert_eq!((chosen.shift, calls), (Shift(2), 8));
    }

    #[test]
    fn where_most_values_are_the_least_they_stay_as_they_are() {
        let mut values = vec![2.0; 20];
        values[3] = 1e9;
        let chosen = choose(&values, Shift::from_index(5), |_| 0.0);
        assert_eq!(chosen.shift.factor(), f64::INFINITY);
        assert_eq!((Shift::from_index(7).map(Shift::factor), Shift::from_index(8)), (Some(0.003), None));
    }
}
