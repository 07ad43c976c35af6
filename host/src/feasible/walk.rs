//! Points drawn by a random walk among those that keep all rules: nearly uniform, where they cannot be counted.

use plugin_api::Rng;
use plugin_api::rand::RngExt;

use super::WORK;
use super::choices::Choices;
use super::search::{Found, random};

/// Moves of a walk, for each variable.
const MOVES: usize = 30;

/// A point from a random search, after a walk. Each move is as likely as the one back, so that a long walk is as often at
/// one point as at any other that it can reach. `None` where the search finds no point.
pub(super) fn draw(choices: &Choices, rng: &mut Rng) -> Option<Vec<u32>> {
    let Found::Point(mut point) = random(choices, WORK / 10, rng) else { return None };
    let n = choices.variables();
    for _ in 0..MOVES * n {
        let (one, other) = (rng.random_range(0..n), rng.random_range(0..n));
        let before = [(one, point[one]), (other, point[other])];
        match rng.random_range(0..3) {
            0 => point[one] = rng.random_range(0..choices.sizes[one] as u32),
            1 => {
                point[one] = rng.random_range(0..choices.sizes[one] as u32);
                point[other] = rng.random_range(0..choices.sizes[other] as u32);
            }
            _ => point.swap(one, other),
        }
        if !allowed(choices, &point, one) || !allowed(choices, &point, other) {
            before.into_iter().for_each(|(variable, level)| point[variable] = level);
        }
    }
    Some(point)
}

/// Whether a variable has one of its levels, and all rules that speak of it are kept.
fn allowed(choices: &Choices, point: &[u32], variable: usize) -> bool {
    (point[variable] as usize) < choices.sizes[variable]
        && choices.within[variable].iter().all(|&rule| choices.rules[rule].holds(point))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use plugin_api::{Constraint, Literal, Space, Variable, rng};

    use super::*;

    #[test]
    fn walks_keep_the_rules_and_come_everywhere_about_equally_often() {
        // Four things in five places, one each: 120 ways.
        let thing = |i: usize| Variable::categorical(format!("t{i}"), ["a", "b", "c", "d", "e"]);
        let place =
            |level| Constraint::AtMost { count: 1, of: (0..4).map(|i| Literal::new(i, level)).collect() };
        let space = Space::new((0..4).map(thing).collect()).unwrap();
        let space = space.with_constraints((0..5).map(place).collect()).unwrap();
        let choices = Choices::of_space(&space);
        let mut counts: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
        let rng = &mut rng(1);
        for _ in 0..6000 {
            let point = draw(&choices, rng).unwrap();
            assert!(choices.admits(&point));
            *counts.entry(point).or_default() += 1;
        }
        // 50 each, with a deviation of 7.
        assert!(counts.len() == 120 && counts.values().all(|count| (20..85).contains(count)), "{counts:?}");
    }
}
