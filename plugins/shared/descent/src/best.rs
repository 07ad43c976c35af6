//! The best point seen on the way.

use std::collections::BTreeSet;

use plugin_api::{BitMatrix, Bits};

/// The best point seen, and the best of those that are wanted.
pub struct Best<'p> {
    unwanted: BTreeSet<&'p [bool]>,
    any: Option<(f64, Bits)>,
    wanted: Option<(f64, Bits)>,
}

impl<'p> Best<'p> {
    /// Nothing seen yet.
    pub fn new(unwanted: &'p BitMatrix) -> Self {
        Self { unwanted: unwanted.rows().collect(), any: None, wanted: None }
    }

    /// Whether a point of this value would be the best wanted one.
    pub fn would_take(&self, value: f64) -> bool {
        is_below(value, &self.wanted)
    }

    /// A point with its value.
    pub fn see(&mut self, value: f64, bits: &[bool]) {
        if is_below(value, &self.any) {
            self.any = Some((value, bits.into()));
        }
        if is_below(value, &self.wanted) && !self.unwanted.contains(bits) {
            self.wanted = Some((value, bits.into()));
        }
    }

    /// The best wanted point, or the best of all where none is wanted; `None` where none was seen.
    pub fn bits(self) -> Option<Bits> {
        self.wanted.or(self.any).map(|(_, bits)| bits)
    }
}

fn is_below(value: f64, best: &Option<(f64, Bits)>) -> bool {
    best.as_ref().is_none_or(|(best, _)| value < *best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unwanted_point_is_the_best_only_where_no_other_was_seen() {
        let mut unwanted = BitMatrix::new(2);
        unwanted.push(&[true, false]);
        let mut best = Best::new(&unwanted);
        assert!(best.would_take(f64::MAX));
        best.see(-1.0, &[true, false]);
        assert!(best.would_take(5.0));
        best.see(2.0, &[true, true]);
        best.see(3.0, &[false, false]);
        assert!(best.would_take(1.0) && !best.would_take(2.0));
        assert_eq!(best.bits(), Some(Bits::from(vec![true, true])));
        let mut best = Best::new(&unwanted);
        best.see(-1.0, &[true, false]);
        assert_eq!(best.bits(), Some(Bits::from(vec![true, false])));
        assert_eq!(Best::new(&unwanted).bits(), None);
    }
}
