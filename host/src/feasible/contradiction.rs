//! Rules that no point keeps together.

use plugin_api::{Constraint, Space};

use super::{Choices, Found, WORK, search};

/// Which of these sets of constraints contradict each other, by their places: without any one of them, some point keeps
/// the others. Empty where a point keeps all, or where none was found nor disproved with the work that is allowed.
///
/// A deletion filter: what a contradiction does not need is left out, several at a time while there are many. Where a
/// search gives up, what it was to leave out stays.
pub fn contradiction(space: &Space, sets: &[Vec<Constraint>]) -> Vec<usize> {
    let contradict = |chosen: &[usize], work: u64| {
        let constraints = chosen.iter().flat_map(|&set| &sets[set]);
        search(&Choices::new(space, constraints), work, &mut |_| true) == Found::Nothing
    };
    let mut needed: Vec<usize> = (0..sets.len()).collect();
    if !contradict(&needed, WORK) {
        return Vec::new();
    }
    let mut size = needed.len().div_ceil(2);
    loop {
        let mut from = 0;
        while from < needed.len() {
            let mut fewer = needed.clone();
            fewer.drain(from..(from + size).min(needed.len()));
            if contradict(&fewer, WORK / 10) {
                needed = fewer;
            } else {
                from += size;
            }
        }
        if size == 1 {
            return needed;
        }
        size = size.div_ceil(2);
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::Literal;

    use super::super::choices::tests::{all_points, random_space};
    use super::*;

    #[test]
    fn the_rules_named_contradict_each_other_and_none_is_named_without_need() {
        let mut contradictions = 0;
        for seed in 0..1500 {
            let space = random_space(seed);
            let sets: Vec<Vec<Constraint>> =
                space.constraints().iter().map(|constraint| vec![constraint.clone()]).collect();
            let possible = |chosen: &[usize]| {
                let choices = Choices::new(&space, chosen.iter().flat_map(|&set| &sets[set]));
                all_points(&choices.sizes).iter().any(|point| choices.admits(point))
            };
            let all: Vec<usize> = (0..sets.len()).collect();
            let named = contradiction(&space, &sets);
            assert_eq!(named.is_empty(), possible(&all), "{space:?}");
            if named.is_empty() {
                continue;
            }
            contradictions += 1;
            assert!(!possible(&named), "{named:?} of {space:?}");
            for without in 0..named.len() {
                let mut fewer = named.clone();
                fewer.remove(without);
                assert!(possible(&fewer), "{named:?} of {space:?} without {without}");
            }
        }
        assert!(contradictions > 100, "{contradictions}");
    }

    #[test]
    fn two_of_a_hundred_rules_are_named() {
        let bit = |i: usize| Literal::new(i, 1);
        let mut sets: Vec<Vec<Constraint>> =
            (0..100).map(|i| vec![Constraint::AtMost { count: 1, of: vec![bit(i), bit(i + 1)] }]).collect();
        sets[37] = vec![Constraint::Fixed(bit(50))];
        sets[81] = vec![Constraint::Exactly { count: 3, of: vec![bit(49), bit(50), bit(52)] }];
        sets[49] = vec![];
        assert!(contradiction(&Space::binary(101), &sets).is_empty());
        sets[81] = vec![Constraint::Exactly { count: 0, of: vec![bit(49), bit(50), bit(52)] }];
        assert_eq!(contradiction(&Space::binary(101), &sets), [37, 81]);
    }
}
