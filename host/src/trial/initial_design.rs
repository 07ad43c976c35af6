//! The first points, before there is anything to learn from.

use std::collections::BTreeSet;

use plugin_api::{Point, Space, rng};

/// `count` points chosen uniformly, all different. There have to be that many, which the plan has checked.
pub(super) fn initial_design(space: &Space, count: usize, seed: u64) -> Vec<Point> {
    let mut rng = rng(seed);
    let mut seen = BTreeSet::new();
    let mut design = Vec::with_capacity(count);
    while design.len() < count {
        let point = space.random_point(&mut rng);
        if seen.insert(point.clone()) {
            design.push(point);
        }
    }
    design
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_points_differ_even_when_they_are_all_there_are() {
        let design = initial_design(&Space::binary(3), 8, 1);
        assert_eq!(design.iter().collect::<BTreeSet<_>>().len(), 8);
    }

    #[test]
    fn another_seed_is_another_design_and_a_longer_one_starts_the_same() {
        let space = Space::binary(20);
        let design = initial_design(&space, 10, 1);
        assert_ne!(design, initial_design(&space, 10, 2));
        assert_eq!(design, initial_design(&space, 20, 1)[..10]);
    }
}
