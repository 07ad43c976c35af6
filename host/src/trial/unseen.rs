//! A point not seen before, when the solver's answer is one that was.

use std::collections::BTreeSet;

use plugin_api::{Acquisition, Bits, Layout, rng};

use crate::record::event::Choice;

/// Random points tried before the search goes through all of them in order.
const TRIES: usize = 10_000;

/// The answer where it is new; else its best new neighbour; else any new point; `None` where none is left.
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
    let fresh = neighbours(&answer, layout).into_iter().filter(is_new);
    let valued = fresh.map(|bits| (f.value(&bits), bits));
    if let Some((_, bits)) = valued.min_by(|(a, _), (b, _)| a.total_cmp(b)) {
        return Some((bits, Choice::Neighbour));
    }
    let mut rng = rng(seed);
    let random = (0..TRIES).map(|_| layout.random(&mut rng)).find(is_new);
    let bits = random.or_else(|| first_unseen(layout, seen))?;
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

/// The first admitted point that was not seen, counting through all of them. Thousands of random points were all
/// known, so without constraints that ends after about as many steps as there are known points.
fn first_unseen(layout: &Layout, seen: &BTreeSet<Bits>) -> Option<Bits> {
    let n = layout.dimension();
    let mut bits = Bits::zeros(n);
    for group in layout.groups() {
        bits[group.start] = true;
    }
    // The digits of a counter: each free bit is one, and each group.
    let in_group = |i: usize| layout.groups().iter().find(|group| group.contains(&i)).cloned();
    loop {
        if layout.admits(&bits) && !seen.contains(&bits) {
            return Some(bits);
        }
        let mut i = 0;
        loop {
            if i >= n {
                return None;
            }
            let digit = in_group(i).unwrap_or(i..i + 1);
            let carried = if digit.len() == 1 && in_group(i).is_none() {
                bits.flip(i);
                !bits[i]
            } else {
                let set = digit.clone().find(|&j| bits[j]).expect("a group has a bit set");
                bits[set] = false;
                let next = if set + 1 == digit.end { digit.start } else { set + 1 };
                bits[next] = true;
                next == digit.start
            };
            if !carried {
                break;
            }
            i = digit.end;
        }
    }
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
