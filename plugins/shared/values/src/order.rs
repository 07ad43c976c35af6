//! Ranks and quantiles.

/// The values from the least on.
pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// The quantile of sorted values, between two of them in proportion; 0 of none.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let position = share * last as f64;
    let below = (position as usize).min(last);
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    let part = position - below as f64;
    // Rounding must not leave the two, nor may their difference be infinite.
    (low * (1.0 - part) + high * part).clamp(low, high)
}

/// The rank of each value, from 1 on; equal values share the mean of theirs.
pub(crate) fn ranks(values: &[f64]) -> Vec<f64> {
    let sorted = sorted(values);
    let rank = |value: &f64| {
        let below = sorted.partition_point(|other| other < value);
        let up_to = sorted.partition_point(|other| other <= value);
        0.5 * (below + 1 + up_to) as f64
    };
    values.iter().map(rank).collect()
}

/// Values beyond 1e100 divided by a power of two, which is the second part: differences and products of a few are then finite.
pub(crate) fn tamed(values: &[f64]) -> (Vec<f64>, f64) {
    let largest = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    if largest <= 1e100 {
        return (values.to_vec(), 1.0);
    }
    let (_, exponent) = libm::frexp(largest);
    let unit = libm::scalbn(1.0, exponent - 1);
    (values.iter().map(|value| value / unit).collect(), unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_neighbours_in_proportion() {
        let values = [1.0, 2.0, 4.0, 8.0];
        let expected = [(0.0, 1.0), (0.5, 3.0), (0.75, 5.0), (1.0, 8.0), (1.0 / 3.0, 2.0)];
        for (share, expected) in expected {
            assert!((quantile(&values, share) - expected).abs() < 1e-15);
        }
        assert_eq!((quantile(&[7.0], 0.75), quantile(&[], 0.5)), (7.0, 0.0));
        assert_eq!(quantile(&[-f64::MAX, f64::MAX], 0.5), 0.0);
    }

    #[test]
    fn equal_values_share_their_mean_rank() {
        assert_eq!(ranks(&[5.0, 1.0, 5.0, 0.0, 5.0]), [4.0, 2.0, 4.0, 1.0, 4.0]);
        assert_eq!(ranks(&[0.0, -0.0]), [1.5, 1.5]);
    }

    #[test]
    fn only_large_values_are_divided_and_keep_their_digits() {
        assert_eq!(tamed(&[1.5, -1e100]), (vec![1.5, -1e100], 1.0));
        let (values, unit) = tamed(&[f64::MAX, -1e300]);
        assert!(values[0] < 2.0 && values[0] * unit == f64::MAX && values[1] * unit == -1e300);
    }
}
