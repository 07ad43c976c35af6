//! Some bits decided, and what follows for the others.

use crate::sums::Rules;

/// Bits of which some are decided. Each sum then has a range, and a bit that would take a sum out of its limits has one
/// value left.
pub struct Partial<'r> {
    rules: &'r Rules,
    values: Vec<Option<bool>>,
    /// What each sum has at least, and at most.
    ranges: Vec<(f64, f64)>,
    /// The decided bits in the order in which they were; those from `done` on are yet to be propagated.
    trail: Vec<usize>,
    done: usize,
}

impl<'r> Partial<'r> {
    /// Nothing decided, not even what follows from the rules alone.
    pub(crate) fn new(rules: &'r Rules) -> Self {
        let range = |terms: &[(usize, bool, f64)]| {
            terms.iter().fold((0.0, 0.0), |(least, most): (f64, f64), &(_, _, weight)| {
                (least + weight.min(0.0), most + weight.max(0.0))
            })
        };
        let ranges = rules.sums().iter().map(|sum| range(sum.terms())).collect();
        Self { rules, values: vec![None; rules.dimension()], ranges, trail: Vec::new(), done: 0 }
    }

    /// What follows from the rules alone is decided.
    pub fn from_rules(rules: &'r Rules) -> Self {
        let mut partial = Self::new(rules);
        for (bit, value) in rules.fixed().iter().enumerate() {
            if let Some(value) = value {
                partial.decide(bit, *value);
            }
        }
        // All of it is propagated already.
        partial.done = partial.trail.len();
        partial
    }

    /// The bits that are decided.
    pub fn values(&self) -> &[Option<bool>] {
        &self.values
    }

    /// Where [`undo`](Self::undo) can come back to.
    pub fn mark(&self) -> usize {
        self.trail.len()
    }

    /// Takes back all that was decided since `mark`.
    pub fn undo(&mut self, mark: usize) {
        while self.trail.len() > mark {
            let bit = self.trail.pop().expect("longer than the mark");
            let value = self.values[bit].take().expect("what is on the trail is decided");
            for &(sum, weight) in self.rules.of_bit(bit) {
                let (least, most) = change(weight, value);
                self.ranges[sum].0 -= least;
                self.ranges[sum].1 -= most;
            }
        }
        self.done = mark;
    }

    /// Decides a bit and all that follows from it; `false` where that contradicts a rule or what is decided. Then only
    /// [`undo`](Self::undo) makes sense.
    pub fn set(&mut self, bit: usize, value: bool) -> bool {
        match self.values[bit] {
            Some(known) => known == value,
            None => {
                self.decide(bit, value);
                self.propagate()
            }
        }
    }

    /// Looks at every rule; `false` where one cannot be kept.
    pub(crate) fn propagate_all(&mut self) -> bool {
        (0..self.rules.sums().len()).all(|sum| self.look_at(sum)) && self.propagate()
    }

    fn decide(&mut self, bit: usize, value: bool) {
        self.values[bit] = Some(value);
        self.trail.push(bit);
        for &(sum, weight) in self.rules.of_bit(bit) {
            let (least, most) = change(weight, value);
            self.ranges[sum].0 += least;
            self.ranges[sum].1 += most;
        }
    }

    fn propagate(&mut self) -> bool {
        let rules = self.rules;
        while self.done < self.trail.len() {
            let bit = self.trail[self.done];
            self.done += 1;
            if !rules.of_bit(bit).iter().all(|&(sum, _)| self.look_at(sum)) {
                return false;
            }
        }
        true
    }

    /// Decides what a sum leaves no choice about.
    fn look_at(&mut self, place: usize) -> bool {
        let sum = &self.rules.sums()[place];
        // Where weights are not whole, what is only just beyond a limit is left to the check of the whole point.
        let (floor, ceiling) = (sum.least() - 2.0 * sum.rounding(), sum.most() + 2.0 * sum.rounding());
        let (least, most) = self.ranges[place];
        if least > ceiling || most < floor {
            return false;
        }
        if least + sum.heaviest() <= ceiling && most - sum.heaviest() >= floor {
            return true;
        }
        for &(bit, level, weight) in sum.terms() {
            if self.values[bit].is_some() {
                continue;
            }
            // Holding takes the range up from below by a positive weight; not holding takes it down from above.
            let (if_holding, if_not) = ((least + weight.max(0.0), most + weight.min(0.0)), {
                (least - weight.min(0.0), most - weight.max(0.0))
            });
            let possible = |(least, most): (f64, f64)| least <= ceiling && most >= floor;
            match (possible(if_holding), possible(if_not)) {
                (true, true) => {}
                (true, false) => self.decide(bit, level),
                (false, true) => self.decide(bit, !level),
                (false, false) => return false,
            }
        }
        let (least, most) = self.ranges[place];
        least <= ceiling && most >= floor
    }
}

/// What deciding a bit adds to the least and the most that a sum can be, where setting it adds `weight`: that of a term
/// that holds where the bit is set, or minus that of one that holds where it is clear.
fn change(weight: f64, value: bool) -> (f64, f64) {
    // A term of weight w and level 1 has the range [min(w, 0), max(w, 0)], which becomes w or 0. One of level 0 has
    // `weight` = −w, the same range, and becomes 0 or w: in terms of `weight`, the range of −weight.
    if value { (weight.max(0.0), weight.min(0.0)) } else { (-weight.min(0.0), -weight.max(0.0)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::rand::RngExt;
    use plugin_api::{Constraint, Layout, Literal, rng};

    fn layout(seed: u64) -> Layout {
        let mut rng = rng(seed);
        let literals = |rng: &mut plugin_api::Rng, count: usize| {
            let mut all: Vec<usize> = (0..8).collect();
            (0..count)
                .map(|_| {
                    let index = all.swap_remove(rng.random_range(0..all.len()));
                    Literal::new(index, u32::from(rng.random::<bool>()))
                })
                .collect::<Vec<_>>()
        };
        let constraints = vec![
            Constraint::AtMost { count: rng.random_range(0..3), of: literals(&mut rng, 4) },
            Constraint::Exactly { count: rng.random_range(0..4), of: literals(&mut rng, 4) },
            Constraint::Forbidden(literals(&mut rng, 2)),
        ];
        let group = 2..5;
        Layout::with_groups(8, vec![group]).unwrap().with_constraints(constraints).unwrap()
    }

    #[test]
    fn nothing_is_decided_that_some_point_has_otherwise_and_undoing_leaves_no_trace() {
        for seed in 0..200 {
            let layout = layout(seed);
            let all = (0..256u32).map(|mask| (0..8).map(|i| mask >> i & 1 == 1).collect::<Vec<bool>>());
            let admitted: Vec<Vec<bool>> = all.filter(|bits| layout.admits(bits)).collect();
            let Ok(rules) = Rules::of(&layout) else {
                assert!(admitted.is_empty(), "{layout:?}");
                continue;
            };
            let mut partial = Partial::from_rules(&rules);
            let (ranges, values) = (partial.ranges.clone(), partial.values.clone());
            let mut rng = rng(seed);
            for _ in 0..20 {
                let mark = partial.mark();
                let mut chosen = Vec::new();
                for _ in 0..rng.random_range(1..6) {
                    let (bit, value) = (rng.random_range(0..8), rng.random::<bool>());
                    chosen.push((bit, value));
                    let possible = partial.set(bit, value);
                    let left: Vec<_> = admitted
                        .iter()
                        .filter(|bits| chosen.iter().all(|&(bit, value)| bits[bit] == value))
                        .collect();
                    if !possible {
                        assert!(left.is_empty());
                        break;
                    }
                    for bits in left {
                        assert!(
                            partial
                                .values()
                                .iter()
                                .zip(bits)
                                .all(|(value, bit)| value.is_none_or(|value| value == *bit))
                        );
                    }
                    if partial.values().iter().all(Option::is_some) {
                        let bits: Vec<bool> = partial.values().iter().flatten().copied().collect();
                        assert!(layout.admits(&bits), "all decided, and not admitted");
                    }
                }
                partial.undo(mark);
                assert_eq!((&partial.ranges, &partial.values), (&ranges, &values));
            }
        }
    }
}
