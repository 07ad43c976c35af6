//! The point of least value of any function, by trying each.

use plugin_api::{Bits, Function};

use crate::budget::Budget;
use crate::choices::{Choice, first_point};

/// The best point of any function that the budget allows to try; the first of those that are equal.
pub(crate) fn minimize(f: &dyn Function, choices: &[Choice], budget: &mut Budget) -> Bits {
    let mut bits = first_point(f.dimension(), choices);
    let (mut best, mut best_bits) = (f64::INFINITY, bits.clone());
    while budget.spend(1) == 1 {
        let value = f.value(&bits);
        if value < best {
            (best, best_bits) = (value, bits.clone());
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
