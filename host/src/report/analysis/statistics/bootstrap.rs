//! Intervals for a mean, from the values drawn again and again with replacement.
//!
//! The seed is fixed, so that the same results give the same report.

use plugin_api::rand::Rng as _;
use plugin_api::{Rng, rng};
use serde::Serialize;

use super::{mean, normal};

const SEED: u64 = 0x5EED_0F1D;

/// An interval that holds the mean in 95 of 100 such experiments, about.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// The 95 % interval of the mean, bias-corrected and accelerated (Efron 1987); `None` for fewer than two values.
pub(crate) fn interval(values: &[f64]) -> Option<Interval> {
    let centre = mean(values).filter(|_| values.len() > 1)?;
    if values.iter().all(|value| value == &values[0]) {
        return Some(Interval { low: centre, high: centre });
    }
    let draws = if values.len() <= 30 { 10_000 } else { 2_000 };
    let mut rng = rng(SEED);
    let mut means: Vec<f64> = (0..draws).map(|_| resampled(values, &mut rng)).collect();
    means.sort_by(f64::total_cmp);
    // z₀: how far the middle of the draws is from the mean; means that equal it count half.
    let below = means.partition_point(|&drawn| drawn < centre);
    let equal = means.partition_point(|&drawn| drawn <= centre) - below;
    let share = (below as f64 + equal as f64 / 2.0) / draws as f64;
    let bias = normal::quantile(share.clamp(1.0 / draws as f64, 1.0 - 1.0 / draws as f64));
    // a: for a mean, the jackknife's acceleration is the skewness over 6 √n.
    let power = |n: u32| values.iter().map(|value| product(value - centre, n)).sum::<f64>();
    let acceleration = power(3) / (6.0 * libm::pow(power(2), 1.5));
    let adjusted = |z: f64| {
        let shifted = bias + z;
        normal::cumulative(bias + shifted / (1.0 - acceleration * shifted))
    };
    let z = normal::quantile(0.975);
    Some(Interval { low: at(&means, adjusted(-z)), high: at(&means, adjusted(z)) })
}

/// The 95 % percentile intervals of the means of many columns, one row a trial: the same trials are drawn for all
/// columns, as they belong together. `None` for fewer than two rows.
pub(crate) fn band(rows: &[&[f64]]) -> Option<Vec<Interval>> {
    let columns = rows.first()?.len();
    if rows.len() < 2 || columns == 0 {
        return None;
    }
    let draws = (1_200_000 / (rows.len() * columns)).clamp(200, 1000);
    let mut rng = rng(SEED);
    let mut means = vec![0.0; draws * columns];
    for drawn in 0..draws {
        for _ in 0..rows.len() {
            let row = rows[index(rows.len(), &mut rng)];
            for (column, value) in row.iter().enumerate() {
                means[column * draws + drawn] += value / rows.len() as f64;
            }
        }
    }
    let interval = |means: &mut [f64]| {
        means.sort_by(f64::total_cmp);
        Interval { low: at(means, 0.025), high: at(means, 0.975) }
    };
    Some(means.chunks_mut(draws).map(interval).collect())
}

fn product(value: f64, times: u32) -> f64 {
    (0..times).fold(1.0, |product, _| product * value)
}

fn resampled(values: &[f64], rng: &mut Rng) -> f64 {
    (0..values.len()).map(|_| values[index(values.len(), rng)]).sum::<f64>() / values.len() as f64
}

/// Uniform below `count`; the bias of multiplying is below 2⁻³² for any count here.
fn index(count: usize, rng: &mut Rng) -> usize {
    ((u128::from(rng.next_u64()) * count as u128) >> 64) as usize
}

/// The quantile of sorted values, between two of them in proportion.
fn at(sorted: &[f64], share: f64) -> f64 {
    let place = share.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let (low, rest) = (place.floor() as usize, place.fract());
    let high = (low + 1).min(sorted.len() - 1);
    sorted[low] + rest * (sorted[high] - sorted[low])
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: [f64; 8] = [0.5, -0.2, 1.1, 0.7, 0.3, -0.05, 0.9, 2.5];

    #[test]
    fn the_interval_is_that_of_scipy() {
        // scipy 1.17, stats.bootstrap((x,), np.mean, n_resamples=200000, method="BCa"): (0.300, 1.475); ours has
        // 10,000 draws, whose ends vary by about 0.02.
        let interval = interval(&VALUES).unwrap();
        assert!((interval.low - 0.300).abs() < 0.03, "{interval:?}");
        assert!((interval.high - 1.473).abs() < 0.03, "{interval:?}");
    }

    #[test]
    fn the_band_is_that_of_scipy() {
        // The same with method="percentile": (0.231, 1.3125).
        let rows: Vec<[f64; 2]> = VALUES.iter().map(|&value| [value, -2.0 * value]).collect();
        let band = band(&rows.iter().map(|row| row.as_slice()).collect::<Vec<_>>()).unwrap();
        assert!((band[0].low - 0.231).abs() < 0.06, "{band:?}");
        assert!((band[0].high - 1.3125).abs() < 0.08, "{band:?}");
        assert!((band[1].low + 2.0 * band[0].high).abs() < 1e-12);
    }

    #[test]
    fn little_data_gives_little() {
        assert_eq!(interval(&[1.0]), None);
        assert_eq!(interval(&[2.0, 2.0, 2.0]), Some(Interval { low: 2.0, high: 2.0 }));
        assert_eq!(band(&[&[1.0]]), None);
    }

    #[test]
    fn about_95_of_100_intervals_hold_the_mean() {
        // 400 samples of 20 normal numbers; the share has a standard error of 0.011, and BCa is a little narrow.
        let mut rng = rng(7);
        let holds = (0..400).filter(|_| {
            let values: Vec<f64> = (0..20).map(|_| plugin_api::random::normal(&mut rng)).collect();
            interval(&values).is_some_and(|interval| interval.low <= 0.0 && 0.0 <= interval.high)
        });
        let share = holds.count() as f64 / 400.0;
        assert!((0.89..=0.98).contains(&share), "{share}");
    }
}
