//! Bits as levels of variables.

use std::ops::Range;

use plugin_api::Layout;

/// The variables of a layout, in order: a free bit has two levels, a one-hot group one for each of its bits.
#[derive(Clone)]
pub(crate) struct Variables {
    /// The bits of each variable.
    bits: Vec<Range<usize>>,
    grouped: Vec<bool>,
    /// The variable of each bit.
    variable: Vec<usize>,
}

impl Variables {
    pub(crate) fn of(layout: &Layout) -> Self {
        let (mut bits, mut grouped) = (Vec::new(), Vec::new());
        let mut next = 0;
        for group in layout.groups() {
            bits.extend((next..group.start).map(|i| i..i + 1));
            bits.push(group.clone());
            grouped.resize(bits.len() - 1, false);
            grouped.push(true);
            next = group.end;
        }
        bits.extend((next..layout.dimension()).map(|i| i..i + 1));
        grouped.resize(bits.len(), false);
        let variable = bits.iter().enumerate().flat_map(|(v, bits)| bits.clone().map(move |_| v)).collect();
        Self { bits, grouped, variable }
    }

    pub(crate) fn count(&self) -> usize {
        self.bits.len()
    }

    /// How many levels each variable has.
    pub(crate) fn levels(&self) -> Vec<usize> {
        let levels = |(bits, &grouped): (&Range<usize>, &bool)| if grouped { bits.len() } else { 2 };
        self.bits.iter().zip(&self.grouped).map(levels).collect()
    }

    /// Writes the level of each variable to `levels`. A group is at the first of its bits that is set, and at the
    /// first of all where none is.
    pub(crate) fn read(&self, bits: &[bool], levels: &mut [u32]) {
        for (variable, level) in levels.iter_mut().enumerate() {
            *level = self.level(variable, |i| bits[i]);
        }
    }

    fn level(&self, variable: usize, bit: impl Fn(usize) -> bool) -> u32 {
        let mut bits = self.bits[variable].clone();
        match self.grouped[variable] {
            true => bits.position(bit).unwrap_or(0) as u32,
            false => u32::from(bit(bits.start)),
        }
    }

    /// Takes the levels of `bits` to those with bit `i` turned over.
    pub(crate) fn flip(&self, bits: &[bool], i: usize, levels: &mut [u32]) {
        let variable = self.variable[i];
        levels[variable] = self.level(variable, |j| bits[j] != (i == j));
    }

    pub(crate) fn of_bits(&self, bits: &[bool]) -> Vec<u32> {
        let mut levels = vec![0; self.count()];
        self.read(bits, &mut levels);
        levels
    }
}
