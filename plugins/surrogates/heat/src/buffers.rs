//! Memory for matrices, used again: to get it from the system at each step takes a good part of the time.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

/// How many are kept: a fit needs six.
const MOST: usize = 8;

/// Where matrices come from, and go when they are dropped.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffers(Arc<Mutex<Vec<Vec<f64>>>>);

impl Buffers {
    /// Numbers of any value.
    pub(crate) fn numbers(&self, count: usize) -> Buffer {
        let mut numbers = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        if numbers.capacity() < count {
            // Given back before more is taken, and with room for some more observations.
            drop(numbers);
            numbers = Vec::with_capacity(count + count / 4);
        }
        numbers.resize(count, 0.0);
        Buffer { numbers, home: self.clone() }
    }
}

/// Numbers in memory that is used again.
#[derive(Debug)]
pub(crate) struct Buffer {
    numbers: Vec<f64>,
    home: Buffers,
}

impl Buffer {
    /// The vector itself, to be made longer or shorter.
    pub(crate) fn vector(&mut self) -> &mut Vec<f64> {
        &mut self.numbers
    }
}

impl Deref for Buffer {
    type Target = [f64];
    fn deref(&self) -> &[f64] {
        &self.numbers
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.numbers
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let mut kept = self.home.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < MOST {
            kept.push(std::mem::take(&mut self.numbers));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_and_not_kept_without_end() {
        let buffers = Buffers::default();
        let first = buffers.numbers(100);
        let place = first.as_ptr();
        drop(first);
        let again = buffers.numbers(50);
        assert_eq!((again.as_ptr(), again.len()), (place, 50));
        drop((0..20).map(|_| buffers.numbers(10)).collect::<Vec<_>>());
        assert_eq!(buffers.0.lock().unwrap().len(), MOST);
    }
}
