//! The transformations without a choice.

use crate::normal::normal_quantile;
use crate::order::{quantile, ranks, sorted, tamed};

/// Φ⁻¹(rank/(N + 1)).
pub(crate) fn copula(values: &[f64]) -> Vec<f64> {
    let above = values.len() as f64 + 1.0;
    ranks(values).into_iter().map(|rank| normal_quantile(rank / above)).collect()
}

/// SMAC's: ln((y − lo)/(max − lo)) with lo = min − (P5 − min) − 1e-10, P5 the 5th percentile.
pub(crate) fn log(values: &[f64]) -> Vec<f64> {
    let (values, unit) = tamed(values);
    let sorted = sorted(&values);
    let (Some(&least), Some(&most)) = (sorted.first(), sorted.last()) else { return values };
    // y − lo as a sum of what is not negative: beside large values 1e-10 would be lost, and the logarithm be infinite.
    let above_lo = |value: f64| (value - least) + ((quantile(&sorted, 0.05) - least) + 1e-10 / unit);
    let whole = above_lo(most);
    values.iter().map(|&value| libm::log(above_lo(value) / whole)).collect()
}

/// No worse than Tukey's upper fence, q75 + 1.5(q75 − q25). The good end is left as it is: it is what is searched for.
pub(crate) fn winsor(values: &[f64]) -> Vec<f64> {
    let sorted = sorted(values);
    let (low, high) = (quantile(&sorted, 0.25), quantile(&sorted, 0.75));
    // In quarters, of which four may well be infinite: a fence that no value is beyond.
    let fence = 4.0 * (0.25 * high + 1.5 * (0.25 * high - 0.25 * low));
    values.iter().map(|value| value.min(fence.max(high))).collect()
}

/// Vizier's: half ranks, then a logarithm.
///
/// Of the distinct values, those worse than the median get the place that their rank has in a normal distribution around
/// it, whose deviation σ is that of the better half: σΦ⁻¹(½(r − ½)/den) away, r = 1 being the worst. Then the best
/// is −½ and the worst ½, ln(1 + ½d)/ln 1.5 − ½ between, d being the distance from the best as a part of the whole.
/// (Vizier maximises, so all signs are the other way round there.)
pub(crate) fn vizier(values: &[f64]) -> Vec<f64> {
    let halves = half_ranked(values);
    let (best, worst) = halves.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(best, worst), &value| {
        (best.min(value), worst.max(value))
    });
    let distance = |value: f64| if worst > best { (value - best) / (worst - best) } else { 0.0 };
    let warped = |&value: &f64| libm::log1p(0.5 * distance(value)) / libm::log(1.5) - 0.5;
    halves.iter().map(warped).collect()
}

/// The better half as parts of the whole range from the best on, the worse half by its ranks.
fn half_ranked(values: &[f64]) -> Vec<f64> {
    let (values, _) = tamed(values);
    let all = sorted(&values);
    let (Some(&best), Some(&worst)) = (all.first(), all.last()) else { return values };
    if worst <= best {
        return vec![0.0; values.len()];
    }
    let part = |value: f64| (value - best) / (worst - best);
    let median = part(quantile(&all, 0.5));
    let mut distinct: Vec<f64> = all.iter().map(|&value| part(value)).collect();
    distinct.dedup();

    let spread = |parts: &[f64]| {
        (parts.iter().map(|p| (p - median) * (p - median)).sum::<f64>() / parts.len() as f64).sqrt()
    };
    let better = distinct.partition_point(|&p| p <= median);
    let sigma = match spread(&distinct[..better]) {
        some if some > 0.0 => some,
        _ => spread(&distinct),
    };
    // How many distinct values are worse than the median, and a half for the median where it is one of them.
    let worse = distinct.len() - better;
    let den = worse as f64 + if distinct[better - 1] == median { 0.5 } else { 0.0 };
    let half_ranked = |value: f64| {
        let p = part(value);
        if p <= median {
            return p;
        }
        let rank = (distinct.len() - distinct.partition_point(|&other| other < p)) as f64;
        median - sigma * normal_quantile(0.5 * (rank - 0.5) / den)
    };
    values.iter().map(|&value| half_ranked(value)).collect()
}

#[cfg(test)]
mod tests {
    use plugin_api::random::exponential;
    use plugin_api::rng;

    use super::*;

    /// Some of them twice.
    fn sample(count: usize) -> Vec<f64> {
        let mut rng = rng(count as u64);
        let mut values: Vec<f64> = (0..count).map(|_| 100.0 * exponential(&mut rng) - 30.0).collect();
        for i in (0..count).step_by(5) {
            values[i] = values[count / 2];
        }
        values
    }

    fn assert_close(found: &[f64], expected: &[f64]) {
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < 1e-11 * (1.0 + b.abs()), "{found:?} instead of {expected:?}");
        }
    }

    /// The place of `share` of the way between the first and the last, by counting.
    fn percentile(values: &[f64], share: f64) -> f64 {
        let mut rest = values.to_vec();
        let position = share * (values.len() - 1) as f64;
        let mut take = || {
            let least = rest.iter().copied().fold(f64::INFINITY, f64::min);
            rest.remove(rest.iter().position(|&v| v == least).unwrap());
            least
        };
        let mut low = take();
        (0..position.floor() as usize).for_each(|_| low = take());
        if position.fract() == 0.0 { low } else { low + position.fract() * (take() - low) }
    }

    #[test]
    fn copula_values_are_normal_quantiles_of_ranks() {
        for count in [1, 2, 9, 40] {
            let values = sample(count);
            let shares: Vec<f64> = copula(&values)
                .iter()
                .map(|z| 0.5 * libm::erfc(-z / std::f64::consts::SQRT_2) * (count as f64 + 1.0))
                .collect();
            let expected: Vec<f64> = values
                .iter()
                .map(|a| {
                    values
                        .iter()
                        .map(|b| {
                            if b < a {
                                1.0
                            } else if b == a {
                                0.5
                            } else {
                                0.0
                            }
                        })
                        .sum()
                })
                .map(|below: f64| below + 0.5)
                .collect();
            assert_close(&shares, &expected);
        }
    }

    #[test]
    fn copula_values_know_nothing_but_the_order() {
        let values = sample(33);
        let cubes: Vec<f64> = values.iter().map(|y| y * y * y).collect();
        assert_eq!(copula(&values), copula(&cubes));
    }

    #[test]
    fn log_values_are_those_of_smac() {
        for count in [1, 4, 50] {
            let values = sample(count);
            let least = percentile(&values, 0.0);
            let lo = least - (percentile(&values, 0.05) - least) - 1e-10;
            let most = percentile(&values, 1.0);
            let expected: Vec<f64> =
                values.iter().map(|y| libm::log(y - lo) - libm::log(most - lo)).collect();
            for (a, b) in log(&values).iter().zip(&expected) {
                // Their difference from `lo` has few digits where it is near.
                assert!(
                    (a - b).abs() < 1e-3 * (1.0 + b.abs()) && (*b < -5.0 || (a - b).abs() < 1e-9),
                    "{a} {b}"
                );
            }
        }
    }

    #[test]
    fn winsorised_values_end_at_the_fence() {
        let mut values = sample(41);
        values[7] = 1e6;
        values[8] = -1e6;
        let (low, high) = (percentile(&values, 0.25), percentile(&values, 0.75));
        let fence = 2.5 * high - 1.5 * low;
        let expected: Vec<f64> = values.iter().map(|&y| if y > fence { fence } else { y }).collect();
        assert_close(&winsor(&values), &expected);
        assert!(values.iter().filter(|&&y| y > fence).count() >= 1);
        assert_eq!(winsor(&values)[8], -1e6, "the good end stays");
    }

    /// As published: values maximised, one step after the other.
    fn published(values: &[f64]) -> Vec<f64> {
        let mut labels: Vec<f64> = values.iter().map(|y| -y).collect();
        let median = percentile(&labels, 0.5);
        let mut unique = labels.clone();
        unique.sort_by(f64::total_cmp);
        unique.dedup();
        let good: Vec<f64> = unique.iter().copied().filter(|&label| label >= median).collect();
        let deviation = |of: &[f64]| {
            (of.iter().map(|label| (label - median) * (label - median)).sum::<f64>() / of.len() as f64).sqrt()
        };
        let sigma = if deviation(&good) > 0.0 { deviation(&good) } else { deviation(&unique) };
        let index = unique.iter().filter(|&&label| label < median).count();
        let den = index as f64 + if unique[index] == median { 0.5 } else { 0.0 };
        for label in &mut labels {
            if *label < median {
                let dense_rank = 1 + unique.iter().filter(|&&other| other < *label).count();
                *label = median + sigma * normal_quantile(0.5 * (dense_rank as f64 - 0.5) / den);
            }
        }
        let (least, most) = (percentile(&labels, 0.0), percentile(&labels, 1.0));
        let warped =
            |label: &f64| 0.5 - libm::log(1.0 + 0.5 * (most - label) / (most - least)) / libm::log(1.5);
        labels.iter().map(|label| -warped(label)).collect()
    }

    #[test]
    fn vizier_values_are_those_published_with_the_sign_turned() {
        for count in [3, 8, 41, 60] {
            let values = sample(count);
            assert_close(&vizier(&values), &published(&values));
        }
        // A better half without spread.
        let values = [1.0, 1.0, 1.0, 1.0, 5.0, 7.0];
        assert_close(&vizier(&values), &published(&values));
        assert_eq!((vizier(&values)[0], vizier(&values)[5]), (-0.5, 0.5));
    }
}
