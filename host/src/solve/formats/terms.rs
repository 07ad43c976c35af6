//! The terms of a problem as they are found in a file, each at most once.

use plugin_api::Quadratic;

use super::error::{ProblemError, Result};
use super::lines::Word;

/// A function that grows term by term.
pub(super) struct Terms {
    function: Quadratic,
    /// The line of each term so far, by rows of the upper triangle with its diagonal; 0 where there is none.
    lines: Vec<u32>,
}

impl Terms {
    /// No terms yet, for `bits` bits.
    pub(super) fn new(bits: usize) -> Self {
        Self { function: Quadratic::zero(bits), lines: vec![0; bits * (bits + 1) / 2] }
    }

    /// The bit that a word of the file names; the first has the index `first`.
    pub(super) fn bit(&self, word: Word<'_>, first: usize) -> Result<usize> {
        let bits = self.function.dimension();
        let index = usize::try_from(word.whole()?).unwrap_or(usize::MAX);
        let bit = index.checked_sub(first).filter(|&bit| bit < bits);
        bit.ok_or_else(|| ProblemError::Index { index: word.quoted(), first, bits }.at(word.place()))
    }

    /// Adds the term of two bits, or of one where they are the same. Where an earlier line has it, in either
    /// order, the error is that line.
    pub(super) fn add(&mut self, i: usize, j: usize, value: f64, line: usize) -> Result<(), usize> {
        let (row, column) = (i.min(j), i.max(j));
        let slot = row * (2 * self.function.dimension() - row + 1) / 2 + (column - row);
        if self.lines[slot] > 0 {
            return Err(self.lines[slot] as usize);
        }
        self.lines[slot] = u32::try_from(line).unwrap_or(u32::MAX);
        if i == j {
            self.function.add_linear(i, value);
        } else {
            self.function.add_pair(i, j, value);
        }
        Ok(())
    }

    /// Adds the term of a line, whose words for its bits are `words`.
    pub(super) fn add_line(&mut self, bits: [usize; 2], value: f64, words: [Word<'_>; 2]) -> Result<()> {
        let place = words[0].place();
        self.add(bits[0], bits[1], value, place.0).map_err(|line| {
            let [i, j] = words.map(Word::quoted);
            ProblemError::Again { i, j, line }.at(place)
        })
    }

    /// The function of all terms.
    pub(super) fn function(self) -> Quadratic {
        self.function
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_term_has_a_slot_of_its_own() {
        let mut terms = Terms::new(5);
        let pairs = (0..5).flat_map(|i| (i..5).map(move |j| (i, j)));
        for (line, (i, j)) in (1..).zip(pairs.clone()) {
            assert_eq!(terms.add(j, i, line as f64, line), Ok(()));
        }
        for (line, (i, j)) in (1..).zip(pairs) {
            assert_eq!(terms.add(i, j, 1.0, 99), Err(line));
        }
        let f = terms.function();
        assert_eq!((f.linear()[1], f.pair(0, 4), f.pair(3, 4)), (6.0, 5.0, 14.0));
    }
}
