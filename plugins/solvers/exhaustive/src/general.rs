//! The point of least value of any function, by trying each.

use plugin_api::{Bits, Problem};

use crate::budget::Budget;
use crate::choices::{Choice, first_point};

/// The best point that the problem admits and the budget allows to try; the first of those that are equal, and of all
/// where none has a value below infinity. `None` where there is no such point.
pub(crate) fn minimize(problem: &Problem, choices: &[Choice], budget: &mut Budget) -> Option<Bits> {
    // The choices keep the groups; without constraints that is all.
    let admits = |bits: &Bits| problem.constraints().is_empty() || problem.admits(bits);
    let mut bits = first_point(problem.dimension(), choices);
    let (mut best, mut best_bits) = (f64::INFINITY, Some(bits.clone()).filter(admits));
    while budget.spend(1) == 1 {
        if admits(&bits) {
            let value = problem.objective().value(&bits);
            if value < best || best_bits.is_none() {
                (best, best_bits) = (best.min(value), Some(bits.clone()));
            }
        }
        if !advance(&mut bits, choices) {
            break;
        }
    }
    best_bits
}

/// Goes to the next point, as a counter does; `false` after the last.
fn advance(bits: &mut Bits, choices: &[Choice]) -> bool {
    for choice in choices {
        let now = choice.bits.clone().find(|&bit| bits[bit]);
        bits[choice.bits.clone()].fill(false);
        let mut ways = choice.ways().skip_while(|&way| way != now).skip(1);
        if let Some(next) = ways.next() {
            next.into_iter().for_each(|bit| bits[bit] = true);
            return true;
        }
        choice.ways().next().flatten().into_iter().for_each(|bit| bits[bit] = true);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choices::{choices, layouts, point_count};
    use std::collections::BTreeSet;

    #[test]
    fn every_admitted_point_is_visited_once() {
        for layout in layouts() {
            let choices = choices(layout.dimension(), layout.groups());
            let mut bits = first_point(layout.dimension(), &choices);
            let mut seen = BTreeSet::from([bits.clone()]);
            while advance(&mut bits, &choices) {
                assert!(layout.admits(&bits) && seen.insert(bits.clone()), "{bits} again");
            }
            assert_eq!(Some(seen.len() as u64), point_count(&choices));
        }
    }
}
