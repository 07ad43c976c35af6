//! The first points, before there is anything to learn from.

use std::collections::BTreeSet;

use plugin_api::{Point, Space, rng};

use super::TrialError;
use crate::plan::GivenPoint;

/// Random points in a row that break a constraint or are there already, before the search is given up.
const MOST_MISSES: usize = 1_000_000;

/// The points to be evaluated first: given ones without a known result, then, up to `count` with all that are given, points
/// chosen uniformly among those that the space admits. All are different.
pub(super) fn initial_design(
    space: &Space,
    count: usize,
    given: &[GivenPoint],
    seed: u64,
) -> Result<Vec<Point>, TrialError> {
    let mut rng = rng(seed);
    let mut seen: BTreeSet<Point> = given.iter().map(|given| given.point.clone()).collect();
    let open = given.iter().filter(|given| given.known.is_none());
    let mut design: Vec<Point> = open.map(|given| given.point.clone()).collect();
    let count = design.len() + count.saturating_sub(given.len());
    let mut misses = 0;
    while design.len() < count {
        let point = space.random_point(&mut rng);
        if space.admits(&point) && seen.insert(point.clone()) {
            design.push(point);
            misses = 0;
        } else {
            misses += 1;
        }
        if misses == MOST_MISSES {
            return Err(TrialError::InitialDesign(format!(
                "only {} of {count} initial points were found among {MOST_MISSES} random ones: \
                 too few points keep the constraints",
                design.len()
            )));
        }
    }
    Ok(design)
}

#[cfg(test)]
mod tests {
    use plugin_api::{Constraint, Literal};

    use super::*;

    #[test]
    fn the_points_differ_even_when_they_are_all_there_are() {
        let design = initial_design(&Space::binary(3), 8, &[], 1).unwrap();
        assert_eq!(design.iter().collect::<BTreeSet<_>>().len(), 8);
    }

    #[test]
    fn another_seed_is_another_design_and_a_longer_one_starts_the_same() {
        let space = Space::binary(20);
        let design = initial_design(&space, 10, &[], 1).unwrap();
        assert_ne!(design, initial_design(&space, 10, &[], 2).unwrap());
        assert_eq!(design, initial_design(&space, 20, &[], 1).unwrap()[..10]);
    }

    #[test]
    fn every_point_keeps_the_constraints_and_too_few_of_them_are_an_error() {
        let of = (0..6).map(|variable| Literal::new(variable, 1)).collect();
        let space = Space::binary(6).with_constraints(vec![Constraint::Exactly { count: 1, of }]).unwrap();
        let design = initial_design(&space, 6, &[], 1).unwrap();
        assert!(design.iter().all(|point| point.iter().sum::<u32>() == 1));
        let error = initial_design(&space, 7, &[], 1).unwrap_err().to_string();
        assert!(error.starts_with("only 6 of 7 initial points were found"), "{error}");
    }

    #[test]
    fn what_is_given_counts_and_is_not_chosen_again() {
        let given = |levels: [u32; 3], known: Option<f64>| GivenPoint {
            point: levels.to_vec().into(),
            known: known.map(crate::plan::points::Known::Value),
        };
        let all = [given([0, 0, 1], Some(1.0)), given([1, 1, 1], None), given([0, 1, 1], None)];
        let design = initial_design(&Space::binary(3), 8, &all, 1).unwrap();
        assert_eq!(design[..2], [all[1].point.clone(), all[2].point.clone()]);
        let points: BTreeSet<&Point> = design.iter().collect();
        assert!(design.len() == 7 && points.len() == 7 && !points.contains(&all[0].point));
        // More than asked for: those without a value are evaluated all the same.
        assert_eq!(initial_design(&Space::binary(3), 1, &all, 1).unwrap(), design[..2]);
    }
}
