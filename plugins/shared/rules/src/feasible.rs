//! Points that keep all rules, by a complete search.

use plugin_api::rand::RngExt;
use plugin_api::{Bits, Error, Result, Rng};

use crate::partial::Partial;
use crate::sums::{Rules, no_point};

/// Steps back of the first attempt; each further one takes twice as many.
const FIRST_PATIENCE: u64 = 64;
/// Attempts, each of which decides the bits in another order.
const ATTEMPTS: u32 = 10;

impl Rules {
    /// A random point that keeps all rules. Bits are decided in a random order, each to a random value that the rules
    /// leave it: any point may come, but not all are equally likely.
    ///
    /// An error where there is none, and where none is found in the steps that are allowed.
    pub fn random(&self, rng: &mut Rng) -> Result<Bits> {
        let wish = self.layout().random(rng);
        self.near(&wish, rng)
    }

    /// A point that keeps all rules and has most of the bits of `wish`: `wish` itself where it keeps them.
    pub fn near(&self, wish: &[bool], rng: &mut Rng) -> Result<Bits> {
        if self.admit(wish) {
            return Ok(wish.into());
        }
        self.near_most(wish, |_| false, rng)
    }

    /// [`near`](Self::near) where the bits that are `firm` are decided before the others.
    pub fn near_most(&self, wish: &[bool], firm: impl Fn(usize) -> bool, rng: &mut Rng) -> Result<Bits> {
        let mut order: Vec<usize> = (0..self.dimension()).collect();
        shuffle(&mut order, rng);
        order.sort_by_key(|&bit| !firm(bit));
        self.near_in_order(wish, order, rng)
    }

    /// [`near`](Self::near) with the bits decided in this order, which has each of them.
    pub fn near_in_order(&self, wish: &[bool], mut order: Vec<usize>, rng: &mut Rng) -> Result<Bits> {
        order.retain(|&bit| self.fixed()[bit].is_none());
        let mut partial = Partial::from_rules(self);
        let mark = partial.mark();
        let mut failures = vec![0u64; self.dimension()];
        let mut patience = FIRST_PATIENCE;
        for _ in 0..ATTEMPTS {
            match self.attempt(&mut partial, &order, wish, patience, &mut failures) {
                Outcome::Found(bits) => return Ok(bits),
                Outcome::NoPoint => return Err(no_point()),
                Outcome::GaveUp => {}
            }
            partial.undo(mark);
            patience *= 2;
            // What led into dead ends is decided first the next time.
            shuffle(&mut order, rng);
            order.sort_by_key(|&bit| std::cmp::Reverse(failures[bit]));
        }
        Err(Error::new(format!(
            "{ATTEMPTS} searches found no point that keeps all of the problem's rules, and no proof that there is none"
        )))
    }

    fn attempt(
        &self,
        partial: &mut Partial<'_>,
        order: &[usize],
        wish: &[bool],
        patience: u64,
        failures: &mut [u64],
    ) -> Outcome {
        // Which place in the order was decided, where to go back to, whether its other value was tried already.
        let mut decided: Vec<(usize, usize, bool)> = Vec::new();
        let (mut at, mut back) = (0, 0);
        loop {
            while at < order.len() && partial.values()[order[at]].is_some() {
                at += 1;
            }
            if at == order.len() {
                let bits: Bits = partial.values().iter().map(|value| value.unwrap_or(false)).collect();
                if self.admit(&bits) {
                    return Outcome::Found(bits);
                }
            } else {
                let bit = order[at];
                decided.push((at, partial.mark(), false));
                if partial.set(bit, wish[bit]) {
                    continue;
                }
                failures[bit] += 1;
            }
            back += 1;
            if back > patience {
                return Outcome::GaveUp;
            }
            loop {
                let Some((place, mark, second)) = decided.pop() else { return Outcome::NoPoint };
                partial.undo(mark);
                if second {
                    continue;
                }
                decided.push((place, mark, true));
                let bit = order[place];
                if partial.set(bit, !wish[bit]) {
                    at = place;
                    break;
                }
                failures[bit] += 1;
            }
        }
    }
}

enum Outcome {
    Found(Bits),
    NoPoint,
    GaveUp,
}

fn shuffle(order: &mut [usize], rng: &mut Rng) {
    for last in (1..order.len()).rev() {
        order.swap(last, rng.random_range(0..=last));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use plugin_api::{Constraint, Layout, Literal, rng};

    use super::*;

    fn of(all: impl IntoIterator<Item = usize>) -> Vec<Literal> {
        all.into_iter().map(|i| Literal::new(i, 1)).collect()
    }

    fn rules(layout: Layout, constraints: Vec<Constraint>) -> Rules {
        Rules::of(&layout.with_constraints(constraints).unwrap()).unwrap()
    }

    #[test]
    fn three_of_many_are_any_three() {
        let rules = rules(Layout::free(6), vec![Constraint::Exactly { count: 3, of: of(0..6) }]);
        let mut counts: BTreeMap<Bits, u32> = BTreeMap::new();
        let rng = &mut rng(1);
        for _ in 0..20_000 {
            *counts.entry(rules.random(rng).unwrap()).or_default() += 1;
        }
        // 20 points, 1,000 of each with a deviation of 31.
        assert!(counts.len() == 20 && counts.values().all(|count| (850..1150).contains(count)), "{counts:?}");
    }

    #[test]
    fn rules_that_hold_hardly_anywhere_are_kept() {
        // A Latin square of order 5: cell (r, c) has one of five symbols, each once in every row and column.
        let cell = |r: usize, c: usize, s: usize| (r * 5 + c) * 5 + s;
        let groups = (0..25).map(|cell| cell * 5..cell * 5 + 5).collect();
        let mut constraints = Vec::new();
        for line in 0..5 {
            for s in 0..5 {
                constraints.push(Constraint::AtMost { count: 1, of: of((0..5).map(|c| cell(line, c, s))) });
                constraints.push(Constraint::AtMost { count: 1, of: of((0..5).map(|r| cell(r, line, s))) });
            }
        }
        let rules = rules(Layout::with_groups(125, groups).unwrap(), constraints);
        let rng = &mut rng(2);
        let found: std::collections::BTreeSet<Bits> = (0..20).map(|_| rules.random(rng).unwrap()).collect();
        assert!(found.len() > 10 && found.iter().all(|bits| rules.admit(bits)));
    }

    #[test]
    fn a_point_near_a_wish_has_most_of_it() {
        let rules = rules(Layout::free(40), vec![Constraint::AtMost { count: 5, of: of(0..20) }]);
        let rng = &mut rng(3);
        let wish: Bits = (0..40).map(|i| i % 2 == 0).collect();
        let bits = rules.near(&wish, rng).unwrap();
        // Ten of the first twenty are wished for; five of them have to go.
        assert_eq!(bits.iter().zip(wish.iter()).filter(|(a, b)| a != b).count(), 5);
        let firm = rules.near_most(&wish, |bit| bit < 10, rng).unwrap();
        assert_eq!(firm[..10], wish[..10]);
        assert_eq!(rules.near(&bits, rng).unwrap(), bits);
    }

    #[test]
    fn rules_without_a_point_are_told_from_those_where_none_was_found() {
        // Three bits, of which any two are different: propagation alone does not see it.
        let pair = |a: usize, b: usize| Constraint::Exactly { count: 1, of: of([a, b]) };
        let rules = rules(Layout::free(3), vec![pair(0, 1), pair(1, 2), pair(0, 2)]);
        let error = rules.random(&mut rng(4)).unwrap_err();
        assert_eq!(error.to_string(), "no point keeps all of the problem's rules");
        // Thirteen pigeons in twelve holes take too long to refute by trying.
        let groups = (0..13).map(|pigeon| pigeon * 12..pigeon * 12 + 12).collect();
        let hole = |hole: usize| of((0..13).map(move |pigeon| pigeon * 12 + hole));
        let one_each = (0..12).map(|h| Constraint::AtMost { count: 1, of: hole(h) }).collect();
        let rules = super::tests::rules(Layout::with_groups(156, groups).unwrap(), one_each);
        let error = rules.random(&mut rng(4)).unwrap_err();
        assert!(error.to_string().contains("no proof"), "{error}");
    }
}
