//! A point not seen before, when the solver's answer is one that was.
//!
//! Every point that is chosen keeps the groups and constraints.

use std::collections::BTreeSet;

use plugin_api::{Acquisition, Bits, Layout, rng};

use crate::feasible::{Choices, Found, WORK, bits_of, search};
use crate::record::event::Choice;

/// Random points tried before the search goes through all of them in order.
const TRIES: usize = 10_000;
/// With more neighbours than this, those of the neighbours are too many to look at.
const MOST_EXCHANGED: usize = 400;

/// The answer where it is new; else its best new neighbour, one choice apart or two; else any new point; `None` where none
/// is left.
pub(super) fn unseen(
    answer: Bits,
    f: &Acquisition,
    layout: &Layout,
    seen: &BTreeSet<Bits>,
    seed: u64,
) -> Option<(Bits, Choice)> {
    if !seen.contains(&answer) {
        return Some((answer, Choice::Answer));
    }
    let is_new = |bits: &Bits| layout.admits(bits) && !seen.contains(bits);
    let best = |near: Vec<Bits>| {
        let valued = near.into_iter().filter(is_new).map(|bits| (f.value(&bits), bits));
        valued.min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, bits)| (bits, Choice::Neighbour))
    };
    let near = best(neighbours(&answer, layout)).or_else(|| best(exchanges(&answer, layout)));
    if near.is_some() {
        return near;
    }
    let mut rng = rng(seed);
    let random = (0..TRIES).map(|_| layout.random(&mut rng)).find(is_new);
    let bits = random.or_else(|| {
        // Thousands of random points were all known, or break a rule.
        let wanted = &mut |levels: &[u32]| is_new(&bits_of(layout, levels));
        match search(&Choices::of_layout(layout), WORK, wanted) {
            Found::Point(levels) => Some(bits_of(layout, &levels)),
            Found::Nothing | Found::GaveUp => None,
        }
    })?;
    Some((bits, Choice::Random))
}

/// Every point one choice apart: a free bit turned over, or another bit of a group set.
fn neighbours(bits: &Bits, layout: &Layout) -> Vec<Bits> {
    let mut neighbours = Vec::new();
    let grouped = |i: usize| layout.groups().iter().any(|group| group.contains(&i));
    for i in (0..bits.len()).filter(|&i| !grouped(i)) {
        let mut other = bits.clone();
        other.flip(i);
        neighbours.push(other);
    }
    for group in layout.groups() {
        for i in group.clone().filter(|&i| !bits[i]) {
            let mut other = bits.clone();
            other[group.clone()].fill(false);
            other[i] = true;
            neighbours.push(other);
        }
    }
    neighbours
}

/// Every point two choices apart, which is where rules that count let a point go: one more and one less.
fn exchanges(bits: &Bits, layout: &Layout) -> Vec<Bits> {
    let near = neighbours(bits, layout);
    if layout.constraints().is_empty() || near.len() > MOST_EXCHANGED {
        return Vec::new();
    }
    near.iter().flat_map(|near| neighbours(near, layout)).filter(|other| layout.admits(other)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::testing::random_quadratic;
    use plugin_api::{Constraint, Literal};

    #[test]
    fn every_point_of_a_space_is_found_once_and_then_none() {
        let layout = Layout::with_groups(8, vec![1..4, 4..5, 6..8]).unwrap();
        let f = Acquisition::Quadratic(random_quadratic(&mut rng(1), 8));
        let mut seen = BTreeSet::new();
        let answer = layout.random(&mut rng(2));
        while let Some((bits, choice)) = unseen(answer.clone(), &f, &layout, &seen, 3) {
            assert!(layout.admits(&bits));
            assert_eq!(choice == Choice::Answer, seen.is_empty());
            assert!(seen.insert(bits));
        }
        // Two free bits, and groups of three, one and two.
        assert_eq!(seen.len(), 4 * 3 * 2);
    }

    #[test]
    fn no_point_that_breaks_a_constraint_is_found() {
        let of = (0..5).map(|bit| Literal::new(bit, 1)).collect();
        let layout = Layout::free(5).with_constraints(vec![Constraint::Exactly { count: 2, of }]).unwrap();
        let f = Acquisition::Quadratic(random_quadratic(&mut rng(1), 5));
        let answer: Bits = "11000".parse().unwrap();
        let mut seen = BTreeSet::new();
        while let Some((bits, _)) = unseen(answer.clone(), &f, &layout, &seen, 3) {
            assert_eq!(bits.count_ones(), 2);
            assert!(seen.insert(bits));
        }
        assert_eq!(seen.len(), 10);
    }

    #[test]
    fn where_one_choice_breaks_a_rule_the_best_exchange_is_taken() {
        // Three of sixty: no random point keeps it, and no single choice leads from one point to another.
        let of = (0..60).map(|bit| Literal::new(bit, 1)).collect();
        let layout = Layout::free(60).with_constraints(vec![Constraint::Exactly { count: 3, of }]).unwrap();
        let f = Acquisition::Quadratic(random_quadratic(&mut rng(2), 60));
        let answer: Bits = (0..60).map(|bit| bit < 3).collect();
        let mut seen = BTreeSet::from([answer.clone()]);
        let (bits, choice) = unseen(answer.clone(), &f, &layout, &seen, 3).unwrap();
        assert_eq!((bits.count_ones(), choice), (3, Choice::Neighbour));
        let others = exchanges(&answer, &layout);
        let best = others.iter().filter(|bits| **bits != answer).map(|bits| f.value(bits));
        assert_eq!(f.value(&bits), best.fold(f64::INFINITY, f64::min));
        // With all exchanges known, any point that is left.
        seen.extend(exchanges(&answer, &layout));
        let (bits, choice) = unseen(answer, &f, &layout, &seen, 3).unwrap();
        assert_eq!((bits.count_ones(), choice), (3, Choice::Random));
    }

    #[test]
    fn the_best_neighbour_comes_first() {
        let layout = Layout::free(6);
        let f = Acquisition::Quadratic(random_quadratic(&mut rng(4), 6));
        let answer = layout.random(&mut rng(5));
        let seen = BTreeSet::from([answer.clone()]);
        let (bits, choice) = unseen(answer.clone(), &f, &layout, &seen, 6).unwrap();
        assert_eq!(choice, Choice::Neighbour);
        let best = neighbours(&answer, &layout).iter().map(|b| f.value(b)).fold(f64::INFINITY, f64::min);
        assert_eq!(f.value(&bits), best);
    }
}
