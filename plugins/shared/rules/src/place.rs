//! A point that keeps all rules, and the moves from it that do.
//!
//! A single move turns a free bit over, or chooses another bit of a group. Where a single move would break a rule that
//! counts, a second one may mend it: an exchange.

use plugin_api::Bits;

use crate::sums::Rules;

/// The bits that a move turns over: one or two for a single move, up to four for an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flips {
    bits: [usize; 4],
    count: usize,
}

impl Flips {
    #[inline]
    fn of(bits: &[usize]) -> Self {
        let mut flips = Self { bits: [0; 4], count: bits.len() };
        flips.bits[..bits.len()].copy_from_slice(bits);
        flips
    }

    /// Both moves; none where they turn over the same bit.
    #[inline]
    fn and(self, other: Self) -> Option<Self> {
        let mut both = self;
        for &bit in other.bits() {
            if self.bits().contains(&bit) {
                return None;
            }
            both.bits[both.count] = bit;
            both.count += 1;
        }
        Some(both)
    }

    /// Which bits.
    #[inline]
    pub fn bits(&self) -> &[usize] {
        &self.bits[..self.count]
    }
}

/// Where a search stands.
pub struct Place<'r> {
    rules: &'r Rules,
    bits: Bits,
    /// The sums of the constraints. Those of the groups are 1 wherever a move leads.
    sums: Vec<f64>,
    /// The bit that is set in each group.
    chosen: Vec<usize>,
}

/// A rule that a move would break: by its place among the sums, and whether the sum would be too high or too low.
#[derive(Clone, Copy, Debug)]
pub struct Broken {
    sum: usize,
    high: bool,
}

impl<'r> Place<'r> {
    /// At `bits`, which keep all rules.
    pub fn new(rules: &'r Rules, bits: &[bool]) -> Self {
        let count = rules.constraint_count();
        let mut place = Self {
            rules,
            bits: Bits::zeros(bits.len()),
            sums: vec![0.0; count],
            chosen: vec![0; rules.groups().len()],
        };
        place.set(bits);
        place
    }

    /// Goes to `bits`, which keep all rules.
    pub fn set(&mut self, bits: &[bool]) {
        debug_assert!(self.rules.admit(bits), "a place that breaks a rule");
        self.bits.copy_from_slice(bits);
        for (sum, rule) in self.sums.iter_mut().zip(self.rules.sums()) {
            *sum = rule.at(|bit| bits[bit]);
        }
        for (chosen, group) in self.chosen.iter_mut().zip(self.rules.groups()) {
            *chosen = group.clone().find(|&bit| bits[bit]).expect("one bit of each group is set");
        }
    }

    /// The point.
    #[inline]
    pub fn bits(&self) -> &Bits {
        &self.bits
    }

    /// The single move to the other value of `bit`: for one of a group that is clear, to choose it. None where the rules
    /// leave it one value, and for the bit that is chosen.
    #[inline]
    pub fn single(&self, bit: usize) -> Option<Flips> {
        if self.rules.fixed()[bit].is_some() {
            return None;
        }
        match self.rules.group_of(bit) {
            None => Some(Flips::of(&[bit])),
            Some(group) if self.chosen[group] != bit => Some(Flips::of(&[self.chosen[group], bit])),
            Some(_) => None,
        }
    }

    /// Whether all rules are kept after this.
    #[inline]
    pub fn allows(&self, flips: &Flips) -> bool {
        self.breaks(flips).is_none()
    }

    /// A rule that would be broken after this.
    #[inline]
    pub fn breaks(&self, flips: &Flips) -> Option<Broken> {
        let sign = |bit: usize| if self.bits[bit] { -1.0 } else { 1.0 };
        for (k, &bit) in flips.bits().iter().enumerate() {
            for &(sum, weight) in self.rules.of_bit(bit) {
                // Those of the groups come last, and stay as they are.
                if sum >= self.sums.len() {
                    break;
                }
                let mut added = sign(bit) * weight;
                for (l, &other) in flips.bits().iter().enumerate() {
                    let of_other = self.rules.of_bit(other);
                    if l != k
                        && let Ok(at) = of_other.binary_search_by_key(&sum, |&(sum, _)| sum)
                    {
                        added += sign(other) * of_other[at].1;
                    }
                }
                let broken = self.broken(sum, self.sums[sum] + added, flips);
                if broken.is_some() {
                    return broken;
                }
            }
        }
        None
    }

    /// Whether a constraint would be broken by a sum, which `flips` lead to.
    #[inline]
    fn broken(&self, sum: usize, value: f64, flips: &Flips) -> Option<Broken> {
        let rule = &self.rules.sums()[sum];
        let value = match rule.is_close(value) {
            true => rule.at(|bit| self.bits[bit] != flips.bits().contains(&bit)),
            false => value,
        };
        (!rule.allows(value)).then(|| Broken { sum, high: value > rule.most() })
    }

    /// Calls `visit` with the bit that each single move turns to (a free one, or one to be chosen) which takes the sum of a
    /// rule that `first` alone breaks back towards its limits. What both together break is for [`allows`](Self::allows) to
    /// say.
    pub fn mending(&self, broken: Broken, mut visit: impl FnMut(usize)) {
        let Broken { sum, high } = broken;
        for &(bit, level, weight) in self.rules.sums()[sum].terms() {
            let holds = self.bits[bit] == level;
            // A term lowers the sum by ceasing to hold where its weight is positive, or by beginning to.
            if holds != ((weight > 0.0) == high) {
                continue;
            }
            match self.rules.group_of(bit).filter(|_| self.bits[bit]) {
                None => visit(bit),
                Some(group) => {
                    self.rules.groups()[group].clone().filter(|&other| other != bit).for_each(&mut visit)
                }
            }
        }
    }

    /// A move together with the single one to `bit`; none where there is no such move, or where both are about the same bit
    /// or group.
    #[inline]
    pub fn exchange(&self, first: Flips, bit: usize) -> Option<Flips> {
        self.single(bit).and_then(|second| first.and(second))
    }

    /// The bit that is set in a group.
    #[inline]
    pub fn chosen(&self, group: usize) -> usize {
        self.chosen[group]
    }

    /// Makes a move that is allowed.
    pub fn make(&mut self, flips: &Flips) {
        for &bit in flips.bits() {
            let sign = if self.bits[bit] { -1.0 } else { 1.0 };
            for &(sum, weight) in self.rules.of_bit(bit) {
                if sum < self.sums.len() {
                    self.sums[sum] += sign * weight;
                }
            }
            self.bits.flip(bit);
            if let Some(group) = self.rules.group_of(bit).filter(|_| self.bits[bit]) {
                self.chosen[group] = bit;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::rand::RngExt;
    use plugin_api::{Constraint, Layout, Literal, rng};

    use super::*;

    fn of(all: &[usize]) -> Vec<Literal> {
        all.iter().map(|&i| Literal::new(i, 1)).collect()
    }

    /// Three elements on four positions (12 bits), at most one each; and two of four free bits, never the first with element 0
    /// in position 0.
    fn rules() -> Rules {
        let mut constraints: Vec<Constraint> = (0..4)
            .map(|position| Constraint::AtMost { count: 1, of: of(&[position, 4 + position, 8 + position]) })
            .collect();
        constraints.push(Constraint::Exactly { count: 2, of: of(&[12, 13, 14, 15]) });
        constraints.push(Constraint::Forbidden(of(&[0, 12])));
        let layout = Layout::with_groups(16, vec![0..4, 4..8, 8..12]).unwrap();
        Rules::of(&layout.with_constraints(constraints).unwrap()).unwrap()
    }

    fn after(bits: &Bits, flips: &Flips) -> Bits {
        let mut bits = bits.clone();
        flips.bits().iter().for_each(|&bit| bits.flip(bit));
        bits
    }

    #[test]
    fn moves_are_allowed_exactly_where_the_point_after_keeps_the_rules() {
        let rules = rules();
        let rng = &mut rng(1);
        let (mut singles, mut exchanges) = (0, 0);
        let mut place = Place::new(&rules, &rules.random(rng).unwrap());
        for _ in 0..2000 {
            let mut allowed = Vec::new();
            for bit in 0..16 {
                let Some(single) = place.single(bit) else { continue };
                match place.breaks(&single) {
                    None => {
                        assert!(rules.admit(&after(place.bits(), &single)));
                        singles += 1;
                        allowed.push(single);
                    }
                    Some(broken) => {
                        assert!(!rules.admit(&after(place.bits(), &single)));
                        let mut both = Vec::new();
                        place.mending(broken, |bit| both.extend(place.exchange(single, bit)));
                        for flips in both {
                            let kept = rules.admit(&after(place.bits(), &flips));
                            assert_eq!(place.allows(&flips), kept);
                            exchanges += usize::from(kept);
                            allowed.extend(kept.then_some(flips));
                        }
                    }
                }
            }
            let flips = allowed[rng.random_range(0..allowed.len())];
            let expected = after(place.bits(), &flips);
            place.make(&flips);
            assert_eq!(*place.bits(), expected);
        }
        assert!(singles > 1000 && exchanges > 1000, "{singles}, {exchanges}");
    }

    #[test]
    fn exchanges_reach_every_point_of_full_positions() {
        // As many elements as positions: only two that change places are a move.
        let constraints =
            (0..3).map(|p| Constraint::AtMost { count: 1, of: of(&[p, 3 + p, 6 + p]) }).collect();
        let layout = Layout::with_groups(9, vec![0..3, 3..6, 6..9]).unwrap();
        let rules = Rules::of(&layout.with_constraints(constraints).unwrap()).unwrap();
        let rng = &mut rng(2);
        let mut place = Place::new(&rules, &rules.random(rng).unwrap());
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..200 {
            let bit = rng.random_range(0..9);
            let Some(single) = place.single(bit) else { continue };
            let broken = place.breaks(&single).expect("every position is taken");
            let mut both = Vec::new();
            place.mending(broken, |bit| both.extend(place.exchange(single, bit)));
            let allowed: Vec<Flips> = both.into_iter().filter(|flips| place.allows(flips)).collect();
            assert_eq!(allowed.len(), 1);
            place.make(&allowed[0]);
            seen.insert(place.bits().clone());
        }
        assert_eq!(seen.len(), 6);
    }
}
