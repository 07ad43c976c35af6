//! Many strings of bits of the same length.

use std::fmt;

use ndarray::ArrayView2;

use crate::abi::shared::SharedRows;
use crate::{Bits, Error, Result};

/// Strings of bits of the same length, a row each; cheap to clone, and handed to a plugin without a copy.
///
/// ```
/// use plugin_api::BitMatrix;
///
/// let mut points = BitMatrix::new(3);
/// points.push(&[true, false, true]);
/// points.push(&[false, false, true]);
/// assert_eq!((points.len(), points.dimension()), (2, 3));
/// assert_eq!(points.row(1), [false, false, true]);
/// assert_eq!(points.view().column(2).iter().filter(|&&bit| bit).count(), 2);
/// ```
#[derive(Clone)]
pub struct BitMatrix {
    dimension: usize,
    /// Absent where there are no rows: most problems have none to hand over.
    rows: Option<SharedRows>,
}

impl BitMatrix {
    /// No rows yet; each will have `dimension` bits.
    pub fn new(dimension: usize) -> Self {
        Self { dimension, rows: None }
    }

    /// Adds a row at the end. What clones share is copied first.
    ///
    /// # Panics
    /// Where the row has another length than the others.
    pub fn push(&mut self, bits: &[bool]) {
        assert_eq!(bits.len(), self.dimension, "a row of another length");
        self.rows.get_or_insert_with(|| SharedRows::new(self.dimension)).push(bits);
    }

    /// How many bits a row has.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.as_ref().map_or(0, SharedRows::count)
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Row `i`, counted from 0.
    ///
    /// # Panics
    /// Where there is no such row.
    pub fn row(&self, i: usize) -> &[bool] {
        assert!(i < self.len(), "row {i} of {}", self.len());
        &self.bits()[i * self.dimension..][..self.dimension]
    }

    /// The rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[bool]> + DoubleEndedIterator {
        (0..self.len()).map(|i| self.row(i))
    }

    /// The rows as a matrix.
    pub fn view(&self) -> ArrayView2<'_, bool> {
        let shape = (self.len(), self.dimension);
        ArrayView2::from_shape(shape, self.bits()).expect("a row has as many bits as the others")
    }

    fn bits(&self) -> &[bool] {
        self.rows.as_ref().map_or(&[], SharedRows::bits)
    }

    /// What crosses the boundary: nothing where there are no rows.
    pub(crate) fn shared(&self) -> Option<SharedRows> {
        self.rows.clone()
    }

    /// What came across the boundary, where rows have `dimension` bits.
    pub(crate) fn received(dimension: usize, rows: Option<SharedRows>) -> Result<Self> {
        if let Some(rows) = &rows {
            rows.check()?;
            if rows.dimension() != dimension {
                let found = rows.dimension();
                return Err(Error::new(format!("rows of {found} bits where a point has {dimension}")));
            }
        }
        Ok(Self { dimension, rows })
    }
}

impl<'a> Extend<&'a Bits> for BitMatrix {
    fn extend<I: IntoIterator<Item = &'a Bits>>(&mut self, rows: I) {
        rows.into_iter().for_each(|bits| self.push(bits));
    }
}

impl PartialEq for BitMatrix {
    fn eq(&self, other: &Self) -> bool {
        (self.dimension, self.len()) == (other.dimension, other.len()) && self.bits() == other.bits()
    }
}

impl Eq for BitMatrix {}

impl fmt::Debug for BitMatrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.rows().map(|row| Bits::from(row).to_string())).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> BitMatrix {
        let mut points = BitMatrix::new(2);
        points.push(&[true, false]);
        points
    }

    #[test]
    fn a_change_to_a_clone_leaves_the_original() {
        let one = example();
        let mut two = one.clone();
        assert!(std::ptr::eq(one.row(0), two.row(0)), "a clone was copied");
        two.push(&[true, true]);
        assert_eq!((one.len(), two.len()), (1, 2));
        assert_eq!(format!("{one:?} {two:?}"), r#"["10"] ["10", "11"]"#);
    }

    #[test]
    fn no_rows_and_no_bits_are_matrices_too() {
        let empty = BitMatrix::new(4);
        assert!(empty.is_empty() && empty.rows().next().is_none());
        assert_eq!(empty.view().dim(), (0, 4));
        let mut without_bits = BitMatrix::new(0);
        without_bits.push(&[]);
        without_bits.push(&[]);
        assert_eq!((without_bits.len(), without_bits.row(1).len()), (2, 0));
        assert_eq!(without_bits.view().dim(), (2, 0));
    }

    #[test]
    fn rows_of_another_length_are_refused() {
        assert!(BitMatrix::received(3, example().shared()).is_err());
        assert_eq!(BitMatrix::received(2, example().shared()).unwrap(), example());
        assert_eq!(BitMatrix::received(3, None).unwrap(), BitMatrix::new(3));
    }
}
