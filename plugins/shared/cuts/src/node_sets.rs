//! Rows of sets of small numbers, one bit a number: two sets are compared 64 numbers at a time.

pub(crate) struct NodeSets {
    words: usize,
    bits: Vec<u64>,
}

impl NodeSets {
    /// `rows` empty sets of numbers below `numbers`.
    pub(crate) fn empty(rows: usize, numbers: usize) -> Self {
        let words = numbers.div_ceil(64);
        Self { words, bits: vec![0; rows * words] }
    }

    pub(crate) fn row(&self, row: usize) -> &[u64] {
        &self.bits[row * self.words..(row + 1) * self.words]
    }

    pub(crate) fn row_mut(&mut self, row: usize) -> &mut [u64] {
        &mut self.bits[row * self.words..(row + 1) * self.words]
    }

    pub(crate) fn insert(&mut self, row: usize, number: usize) {
        self.bits[row * self.words + number / 64] |= 1 << (number % 64);
    }

    pub(crate) fn remove(&mut self, row: usize, number: usize) {
        self.bits[row * self.words + number / 64] &= !(1 << (number % 64));
    }

    pub(crate) fn clear(&mut self) {
        self.bits.fill(0);
    }

    pub(crate) fn is_empty(&self, row: usize) -> bool {
        self.row(row).iter().all(|&word| word == 0)
    }

    /// Whether the set has a number in common with `other`.
    pub(crate) fn meets(&self, row: usize, other: &[u64]) -> bool {
        self.row(row).iter().zip(other).any(|(a, b)| a & b != 0)
    }

    /// The first number that the set has in common with `other`.
    pub(crate) fn first_common(&self, row: usize, other: &[u64]) -> Option<usize> {
        let mut common = self.row(row).iter().zip(other).map(|(a, b)| a & b).enumerate();
        let (w, word) = common.find(|&(_, word)| word != 0)?;
        Some(64 * w + word.trailing_zeros() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_separate_sets() {
        let mut sets = NodeSets::empty(3, 130);
        for number in [0, 63, 64, 129] {
            sets.insert(1, number);
        }
        sets.insert(2, 64);
        sets.insert(2, 129);
        assert!(sets.is_empty(0) && !sets.is_empty(1));
        assert!(sets.meets(1, sets.row(2)) && !sets.meets(0, sets.row(1)));
        assert_eq!(sets.first_common(1, sets.row(2)), Some(64));
        sets.remove(1, 64);
        assert_eq!(sets.first_common(1, sets.row(2)), Some(129));
        sets.clear();
        assert_eq!(sets.first_common(1, sets.row(1)), None);
    }
}
