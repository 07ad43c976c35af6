//! Statistics of few numbers: what two methods' results on the same seeds say, and what they do not.

mod bootstrap;
mod normal;
mod wilcoxon;

pub(crate) use bootstrap::{Interval, band, interval};
pub(crate) use wilcoxon::signed_ranks;

/// Differences smaller than this part of the values are rounding.
pub(crate) const ROUNDING: f64 = 1e-12;

/// The mean; `None` of nothing.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Holm's correction: each p-value as it counts when all of them are looked at.
pub(crate) fn holm(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut corrected = vec![0.0; values.len()];
    let mut highest = 0.0_f64;
    for (rank, &index) in order.iter().enumerate() {
        highest = highest.max((values.len() - rank) as f64 * values[index]).min(1.0);
        corrected[index] = highest;
    }
    corrected
}

/// Ranks from 1 for the lowest value; equal values share the mean of their ranks.
pub(crate) fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut begin = 0;
    while begin < order.len() {
        let same = |&&index: &&usize| values[index] <= values[order[begin]];
        // What is no number is not even equal to itself.
        let end = begin + order[begin..].iter().take_while(same).count().max(1);
        for &index in &order[begin..end] {
            ranks[index] = (begin + 1 + end) as f64 / 2.0;
        }
        begin = end;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_their_ranks() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
        assert_eq!(ranks(&[7.0, 7.0, 7.0]), [2.0, 2.0, 2.0]);
        assert_eq!(ranks(&[0.0, -0.0]), [1.5, 1.5]);
        assert_eq!(ranks(&[f64::INFINITY, 1.0, f64::INFINITY]), [2.5, 1.0, 2.5]);
        assert_eq!(ranks(&[f64::NAN, 1.0, f64::NAN]), [2.0, 1.0, 3.0], "it ends");
    }

    #[test]
    fn holm_steps_down_and_never_falls() {
        // statsmodels 0.15, multipletests([0.01, 0.04, 0.03, 0.005], method="holm").
        let corrected = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (found, expected) in corrected.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((found - expected).abs() < 1e-15, "{corrected:?}");
        }
        assert_eq!(holm(&[0.7, 0.6]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }
}
