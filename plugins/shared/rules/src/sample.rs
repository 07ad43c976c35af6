//! Many points that keep all rules.

use plugin_api::{Bits, Layout, Result, Rng};

use crate::sums::Rules;

/// Random points tried for each that is asked for.
const TRIES: usize = 20;
/// So many tries show whether random points keep the rules now and then.
const TRIAL: usize = 200;

/// This many points that `layout` admits, or fewer. Each is uniform where a random point keeps the rules now and then; where
/// hardly any does, it is one that a complete search found ([`Rules::random`]). An error where there is none.
pub fn points(layout: &Layout, count: usize, rng: &mut Rng) -> Result<Vec<Bits>> {
    if layout.constraints().is_empty() {
        return Ok((0..count).map(|_| layout.random(rng)).collect());
    }
    let mut points = Vec::new();
    let mut tries = 0;
    while points.len() < count && tries < TRIES * count {
        let bits = layout.random(rng);
        tries += 1;
        if layout.admits(&bits) {
            points.push(bits);
        }
        if tries >= TRIAL && points.len() * TRIES < tries {
            break;
        }
    }
    if points.len() < count {
        let rules = Rules::of(layout)?;
        while points.len() < count {
            points.push(rules.random(rng)?);
        }
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use plugin_api::{Constraint, Literal, rng};

    use super::*;

    fn of(all: impl IntoIterator<Item = usize>) -> Vec<Literal> {
        all.into_iter().map(|i| Literal::new(i, 1)).collect()
    }

    #[test]
    fn points_are_uniform_where_random_ones_keep_the_rules() {
        let rule = Constraint::AtMost { count: 1, of: of(0..3) };
        let layout = Layout::free(4).with_constraints(vec![rule]).unwrap();
        let mut counts: BTreeMap<Bits, usize> = BTreeMap::new();
        for point in points(&layout, 8000, &mut rng(1)).unwrap() {
            assert!(layout.admits(&point));
            *counts.entry(point).or_default() += 1;
        }
        // 4 of the 8 points of three bits, times 2: 1,000 each, with a deviation of 30.
        assert!(counts.len() == 8 && counts.values().all(|count| (870..1130).contains(count)), "{counts:?}");
    }

    #[test]
    fn rules_that_no_random_point_keeps_are_kept() {
        let grouped = Layout::with_groups(60, vec![0..10, 10..20, 20..30]).unwrap();
        let rules = |count| {
            vec![
                Constraint::Exactly { count, of: of(20..60) },
                Constraint::AtMost { count: 0, of: of(0..9) },
                Constraint::Fixed(Literal::new(15, 1)),
                Constraint::Forbidden(vec![Literal::new(9, 1), Literal::new(40, 0)]),
                Constraint::Exactly { count: 1, of: vec![Literal::new(41, 0), Literal::new(42, 0)] },
            ]
        };
        // 0 to 8 never, so 9, so 40; of 20 to 59 one in the group and 40: but one of 41 and 42 is set.
        let impossible = grouped.clone().with_constraints(rules(2)).unwrap();
        let error = points(&impossible, 3, &mut rng(1)).unwrap_err();
        assert_eq!(error.to_string(), "no point keeps all of the problem's rules");
        let possible = grouped.with_constraints(rules(3)).unwrap();
        let found = points(&possible, 20, &mut rng(1)).unwrap();
        assert!(found.len() == 20 && found.iter().all(|point| possible.admits(point)));
        let distinct: std::collections::BTreeSet<_> = found.iter().collect();
        assert!(distinct.len() > 8);
    }

    #[test]
    fn rules_that_pull_in_two_directions_are_kept() {
        // A walk that mends one of the two breaks the other, nearly always.
        let twenty = |of: Vec<Literal>| Constraint::Exactly { count: 20, of };
        let layout = Layout::free(40).with_constraints(vec![twenty(of(0..40)), twenty(of(20..40))]).unwrap();
        for point in points(&layout, 5, &mut rng(1)).unwrap() {
            assert!(point[..20].iter().all(|bit| !bit) && point[20..].iter().all(|&bit| bit));
        }
    }
}
