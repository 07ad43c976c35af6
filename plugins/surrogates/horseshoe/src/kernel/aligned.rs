//! Memory for matrices.

use std::ops::{Deref, DerefMut};

use super::lanes::LANES;

/// Numbers that begin where a cache line does, so that no vector lies across two: with AVX2 a Cholesky factor takes a
/// sixth longer where they do.
#[derive(Clone, Debug)]
pub struct Aligned {
    /// A few more than asked for. In a clone they may lie otherwise, which costs time and nothing else.
    numbers: Vec<f64>,
    start: usize,
    length: usize,
}

impl Aligned {
    pub fn zeros(length: usize) -> Self {
        let numbers = vec![0.0; length + LANES];
        let start = numbers.as_ptr().align_offset(LANES * size_of::<f64>()).min(LANES);
        Self { numbers, start, length }
    }
}

impl Deref for Aligned {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.numbers[self.start..][..self.length]
    }
}

impl DerefMut for Aligned {
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.numbers[self.start..][..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_begin_with_a_cache_line_and_are_as_many_as_asked_for() {
        for length in [0, 1, 8, 1000] {
            let mut aligned = Aligned::zeros(length);
            assert_eq!((aligned.len(), aligned.as_ptr().align_offset(64)), (length, 0));
            aligned.iter_mut().for_each(|number| *number = 3.0);
            assert!(aligned.clone()[..] == vec![3.0; length][..]);
        }
    }
}
