//! Bits as levels of variables: a free bit has two levels, a one-hot group has one for each of its bits.

use std::ops::Range;

use plugin_api::{Bits, Layout, Quadratic};

/// The variables of a layout, in order.
#[derive(Clone, Debug)]
pub struct Variables {
    variables: Vec<Variable>,
    /// The variable of each bit.
    of_bit: Vec<usize>,
}

/// A variable of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Variable {
    /// This bit, which has two levels.
    Free(usize),
    /// These bits, of which one is set: a level for each.
    Group(Range<usize>),
}

impl Variable {
    /// How many levels it has.
    pub fn levels(&self) -> usize {
        match self {
            Self::Free(_) => 2,
            Self::Group(group) => group.len(),
        }
    }

    /// Its bits.
    pub fn bits(&self) -> Range<usize> {
        match self {
            Self::Free(i) => *i..*i + 1,
            Self::Group(group) => group.clone(),
        }
    }

    /// Its level. A group is at the first of its bits that is set, and at the first of all where none is.
    pub fn level(&self, bits: &[bool]) -> u32 {
        self.level_by(|i| bits[i])
    }

    fn level_by(&self, bit: impl Fn(usize) -> bool) -> u32 {
        match self {
            Self::Free(i) => u32::from(bit(*i)),
            Self::Group(group) => group.clone().position(bit).unwrap_or(0) as u32,
        }
    }

    /// Whether bits have this level. Of a group without exactly one bit set, that is asked of the level's own bit alone.
    pub fn has(&self, level: u32, bits: &[bool]) -> bool {
        match self {
            Self::Free(i) => bits[*i] == (level == 1),
            Self::Group(group) => bits[group.start + level as usize],
        }
    }

    /// Takes bits to this level.
    pub fn set(&self, level: u32, bits: &mut [bool]) {
        match self {
            Self::Free(i) => bits[*i] = level == 1,
            Self::Group(group) => {
                bits[group.clone()].fill(false);
                bits[group.start + level as usize] = true;
            }
        }
    }
}

impl Variables {
    /// The variables of this layout.
    pub fn of(layout: &Layout) -> Self {
        let (mut variables, mut next) = (Vec::new(), 0);
        for group in layout.groups() {
            variables.extend((next..group.start).map(Variable::Free));
            variables.push(Variable::Group(group.clone()));
            next = group.end;
        }
        variables.extend((next..layout.dimension()).map(Variable::Free));
        let number = |(v, variable): (usize, &Variable)| variable.bits().map(move |_| v);
        let of_bit = variables.iter().enumerate().flat_map(number).collect();
        Self { variables, of_bit }
    }

    /// The number of bits.
    pub fn dimension(&self) -> usize {
        self.of_bit.len()
    }

    /// Each of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Variable> {
        self.variables.iter()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.variables.len()
    }

    /// How many levels each of them has.
    pub fn levels(&self) -> Vec<usize> {
        self.iter().map(Variable::levels).collect()
    }

    /// The level of each variable.
    pub fn of_bits(&self, bits: &[bool]) -> Vec<u32> {
        self.iter().map(|variable| variable.level(bits)).collect()
    }

    /// Writes the level of each variable to `levels`.
    pub fn read(&self, bits: &[bool], levels: &mut [u32]) {
        for (variable, level) in self.iter().zip(levels) {
            *level = variable.level(bits);
        }
    }

    /// The bits with these levels.
    pub fn to_bits(&self, levels: &[u32]) -> Bits {
        let mut bits = Bits::zeros(self.dimension());
        self.iter().zip(levels).for_each(|(variable, &level)| variable.set(level, &mut bits));
        bits
    }

    /// Takes the levels of `bits` to those with bit `i` turned over.
    pub fn flip(&self, bits: &[bool], i: usize, levels: &mut [u32]) {
        let variable = self.of_bit[i];
        levels[variable] = self.variables[variable].level_by(|j| bits[j] != (i == j));
    }
}

/// The number of bits in which a point differs from `chosen`, counted from `value` on: what a model draws that has chosen a
/// point itself. Every solver finds the minimum.
pub fn distance(chosen: &Bits, value: f64) -> Quadratic {
    let mut distance = Quadratic::zero(chosen.len());
    for (i, &bit) in chosen.iter().enumerate() {
        distance.add_linear(i, if bit { -1.0 } else { 1.0 });
    }
    distance.add_constant(value + chosen.count_ones() as f64);
    distance
}

#[cfg(test)]
mod tests {
    use plugin_api::rng;

    use super::*;

    fn layout() -> Layout {
        Layout::with_groups(9, vec![1..4, 4..5, 6..8]).unwrap()
    }

    #[test]
    fn groups_and_free_bits_stand_in_the_order_of_their_bits() {
        let variables = Variables::of(&layout());
        assert_eq!(variables.levels(), [2, 3, 1, 2, 2, 2]);
        assert_eq!((variables.count(), variables.dimension()), (6, 9));
        let bits: Vec<usize> = variables.iter().flat_map(Variable::bits).collect();
        assert_eq!(bits, (0..9).collect::<Vec<_>>());
    }

    #[test]
    fn levels_are_bits_in_other_words() {
        let (layout, rng) = (layout(), &mut rng(1));
        let variables = Variables::of(&layout);
        for _ in 0..50 {
            let bits = layout.random(rng);
            let levels = variables.of_bits(&bits);
            assert_eq!(variables.to_bits(&levels), bits);
            for (variable, &level) in variables.iter().zip(&levels) {
                let has = (0..variable.levels() as u32).filter(|&other| variable.has(other, &bits));
                assert_eq!(has.collect::<Vec<_>>(), [level]);
            }
        }
    }

    #[test]
    fn a_flip_is_read_as_the_flipped_bits_are_even_in_a_group() {
        let (layout, rng) = (layout(), &mut rng(2));
        let variables = Variables::of(&layout);
        for _ in 0..20 {
            let bits = layout.random(rng);
            for i in 0..9 {
                let (mut flipped, mut levels) = (bits.clone(), variables.of_bits(&bits));
                flipped.flip(i);
                variables.flip(&bits, i, &mut levels);
                assert_eq!(levels, variables.of_bits(&flipped));
                let mut read = vec![7; 6];
                variables.read(&flipped, &mut read);
                assert_eq!(levels, read);
            }
        }
    }

    #[test]
    fn the_distance_is_the_number_of_bits_that_differ() {
        let (chosen, other): (Bits, Bits) = ("01101".parse().unwrap(), "11100".parse().unwrap());
        assert_eq!(distance(&chosen, -0.5).value(&chosen), -0.5);
        assert_eq!(distance(&chosen, -0.5).value(&other), 1.5);
    }
}
