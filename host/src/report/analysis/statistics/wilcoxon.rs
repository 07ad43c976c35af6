//! Wilcoxon's signed-rank test: do paired differences lie to one side of 0?

use super::normal;
use super::ranks;

/// Up to this many differences every assignment of signs is counted.
const EXACT: usize = 60;

/// What the ranks of paired differences say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SignedRanks {
    /// How many differences are not 0.
    pub count: usize,
    /// The chance of ranks as one-sided as these or more, where each sign is a fair coin; 1 without differences.
    pub p: f64,
    /// The matched-pairs rank-biserial correlation, from −1 (all negative) to 1 (all positive).
    pub rank_biserial: f64,
}

/// The test of these differences; those that are 0 or no number say nothing, and equal sizes share their ranks.
pub(crate) fn signed_ranks(differences: &[f64]) -> SignedRanks {
    let differences: Vec<f64> =
        differences.iter().copied().filter(|&difference| difference.abs() > 0.0).collect();
    let count = differences.len();
    if count == 0 {
        return SignedRanks { count, p: 1.0, rank_biserial: 0.0 };
    }
    let sizes: Vec<f64> = differences.iter().map(|difference| difference.abs()).collect();
    let ranks = ranks(&sizes);
    let signed = ranks.iter().zip(&differences);
    let positive: f64 = signed.filter(|&(_, &difference)| difference > 0.0).map(|(rank, _)| rank).sum();
    let all: f64 = ranks.iter().sum();
    let lower = positive.min(all - positive);
    let p = if count <= EXACT { exact(&ranks, lower) } else { approximate(&ranks, lower, all) };
    SignedRanks { count, p, rank_biserial: (2.0 * positive - all) / all }
}

/// The share of all assignments of signs in which one side's ranks sum to `lower` or less, for both sides.
fn exact(ranks: &[f64], lower: f64) -> f64 {
    // Ranks are halves, so twice a rank is whole, and so are the sums.
    let doubled: Vec<usize> = ranks.iter().map(|rank| (2.0 * rank).round() as usize).collect();
    let all: usize = doubled.iter().sum();
    let mut chance = vec![0.0_f64; all + 1];
    chance[0] = 1.0;
    let mut reach = 0;
    for rank in doubled {
        for sum in (0..=reach).rev() {
            let half = chance[sum] / 2.0;
            chance[sum] = half;
            chance[sum + rank] += half;
        }
        reach += rank;
    }
    let limit = (2.0 * lower).round() as usize;
    (2.0 * chance[..=limit].iter().sum::<f64>()).min(1.0)
}

/// For many differences the sum of ranks is nearly normal. Its variance is that of the ranks as they are, ties
/// included.
fn approximate(ranks: &[f64], lower: f64, all: f64) -> f64 {
    let variance = ranks.iter().map(|rank| rank * rank).sum::<f64>() / 4.0;
    // Half a step towards the middle, because sums are whole numbers.
    let z = (all / 2.0 - lower - 0.5).max(0.0) / variance.sqrt();
    (2.0 * normal::cumulative(-z)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_agrees_with_scipy() {
        // scipy 1.17, stats.wilcoxon(d, method="exact"); with ties, method=PermutationMethod(n_resamples=inf).
        let cases: &[(&[f64], f64)] = &[
            (&[0.5, -0.2, 1.1, 0.7, 0.3, -0.05, 0.9], 0.078_125),
            (&[-0.3, 0.8, 1.2, -0.1, 2.0, 0.4, 0.6, -0.7, 1.5, 0.9], 0.048_828_125),
            (&[1.0, 1.0, -1.0, 2.0, 2.0, 3.0, -2.0, 4.0], 0.164_062_5),
            (&[0.0, 0.0, 1.0, 2.0, -1.0, 3.0, 4.0], 0.1875),
        ];
        for (differences, p) in cases {
            assert!((signed_ranks(differences).p - p).abs() < 1e-12, "{differences:?}");
        }
    }

    #[test]
    fn many_differences_agree_with_the_exact_count() {
        // Differences of −20, …, −1 and 21, …, 60: the exact count beside the approximation.
        let ranks: Vec<f64> = (1..=60).map(f64::from).collect();
        for lower in [585.0, 640.0, 800.0] {
            let (exact, approximate) = (exact(&ranks, lower), approximate(&ranks, lower, 1830.0));
            assert!((exact - approximate).abs() < 3e-3, "{lower}: {exact} {approximate}");
        }
        // scipy 1.17 for 60 differences without ties and a statistic of 585.
        assert!((super::exact(&ranks, 585.0) - 0.014_524_220_542_576).abs() < 1e-12);
        assert!((super::approximate(&ranks, 585.0, 1830.0) - 0.015_281_075_670_749).abs() < 1e-12);
    }

    #[test]
    fn every_assignment_of_signs_is_counted() {
        // All 2^6 by hand, with ties.
        let sizes = [1.0, 2.0, 2.0, 3.0, 3.0, 3.0];
        let signed = |mask: u32| -> Vec<f64> {
            (0..6).map(|i| if mask >> i & 1 == 1 { sizes[i] } else { -sizes[i] }).collect()
        };
        let statistic = |mask: u32| {
            let ranks = ranks(&sizes);
            let positive: f64 = (0..6).filter(|i| mask >> i & 1 == 1).map(|i| ranks[i]).sum();
            positive.min(21.0 - positive)
        };
        for mask in 0..64 {
            let as_extreme = (0..64).filter(|&other| statistic(other) <= statistic(mask) + 1e-9).count();
            let p = signed_ranks(&signed(mask)).p;
            assert!((p - as_extreme as f64 / 64.0).abs() < 1e-12, "{mask}: {p}");
        }
    }

    #[test]
    fn the_effect_goes_from_minus_one_to_one() {
        assert_eq!(signed_ranks(&[1.0, 2.0, 3.0]).rank_biserial, 1.0);
        assert_eq!(signed_ranks(&[-1.0, -2.0]).rank_biserial, -1.0);
        assert_eq!(signed_ranks(&[0.0]), SignedRanks { count: 0, p: 1.0, rank_biserial: 0.0 });
        // Five of a kind cannot reach 0.05: 2 / 2^5.
        assert_eq!(signed_ranks(&[1.0, 2.0, 3.0, 4.0, 5.0]).p, 0.0625);
    }
}
