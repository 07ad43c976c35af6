//! What a model of values learns of points that are infeasible: the worst value so far.
//!
//! A point that turns out to be infeasible has no value, but a model that ignored it would go on to predict a good one there, and
//! propose its neighbours for ever. The worst of the values that are known is bad enough to lead the search away, and
//! not so bad that it is all that the model learns: values a half or a whole range beyond it were no better where that
//! was measured (`experiments/infeasible.md` has the numbers). It has no unit, and as the worst
//! rank it means the same to every transformation.

/// A value for each point, where those that are infeasible have none: the worst of the others.
///
/// Where the others are all equal, there is none worse than good, and it is theirs and their size more (1 more than 0). Where
/// there are no others it is 0: all points are alike.
///
/// ```
/// use shared_values::with_infeasible;
///
/// assert_eq!(with_infeasible(&[Some(2.0), None, Some(5.0)]), [2.0, 5.0, 5.0]);
/// assert_eq!(with_infeasible(&[None, Some(-2.0)]), [0.0, -2.0]);
/// assert_eq!(with_infeasible(&[None, None]), [0.0, 0.0]);
/// ```
pub fn with_infeasible(values: &[Option<f64>]) -> Vec<f64> {
    let known = || values.iter().copied().flatten();
    let (best, worst) = (known().reduce(f64::min), known().reduce(f64::max));
    let bad = match (best, worst) {
        (Some(best), Some(worst)) if best < worst => worst,
        (Some(0.0), _) => 1.0,
        (Some(only), _) => (only + only.abs()).min(f64::MAX),
        (None, _) => 0.0,
    };
    values.iter().map(|value| value.unwrap_or(bad)).collect()
}

#[cfg(test)]
mod tests {
    use plugin_api::{Bits, Penalty};

    use super::*;
    use crate::Values;

    const ALL: [Values; 6] =
        [Values::Raw, Values::Auto, Values::Vizier, Values::Copula, Values::Log, Values::Winsor];

    #[test]
    fn values_of_feasible_points_stay_as_they_are() {
        for values in [vec![], vec![3.5], vec![0.1, -7.0, 0.1, 1e150], vec![-0.0; 3]] {
            let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            let known: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
            assert_eq!(bits(&with_infeasible(&known)), bits(&values));
            let mut more = known.clone();
            more.insert(0, None);
            assert_eq!(bits(&with_infeasible(&more)[1..]), bits(&values));
        }
    }

    #[test]
    fn an_infeasible_point_is_finite_and_no_better_than_any_and_worse_than_the_best() {
        let samples = [vec![3.0, 1.0], vec![0.0], vec![-0.0], vec![-4.0; 3], vec![f64::MAX, -f64::MAX]];
        for sample in samples.into_iter().chain([vec![5e-324], vec![-5e-324], vec![-f64::MAX]]) {
            let known = sample.iter().copied().map(Some).chain([None]);
            let bad = *with_infeasible(&known.collect::<Vec<_>>()).last().unwrap();
            assert!(bad.is_finite() && sample.iter().all(|value| *value <= bad), "{bad} of {sample:?}");
            assert!(sample.iter().any(|value| *value < bad), "{bad} of {sample:?}");
        }
    }

    #[test]
    fn it_has_the_worst_total_whatever_its_penalty_and_the_worst_rank_after_every_transformation() {
        let points: Vec<Bits> =
            ["000", "111", "100", "110"].iter().map(|bits| bits.parse().unwrap()).collect();
        let observations = || points.iter().zip([None, Some(1.0), Some(2.0), None]);
        assert_eq!(Values::Copula.totals(observations(), &Penalty::l1(4.0)), [13.0, 13.0, 6.0, 13.0]);
        assert_eq!(Values::Raw.totals(observations(), &Penalty::l1(4.0)), [2.0, 1.0, 2.0, 2.0]);
        for kind in ALL {
            let learned = kind.transform(&kind.totals(observations(), &Penalty::l1(4.0)));
            let worst = learned.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert_eq!((learned[0], learned[3]), (worst, worst), "{kind:?}");
            assert!(learned.iter().any(|value| *value < worst), "{kind:?}");
        }
    }
}
