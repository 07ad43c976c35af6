//! A = LLᵀ of a whole matrix at once.

use crate::{NotPositiveDefinite, add_scaled, root};

// How many rows of Lᵀ, and how many entries of each, are computed side by side: what is read then serves several sums, and
// the sums fit into the registers that every x86-64 has.
const ROWS: usize = 4;
const WIDTH: usize = 4;

/// The factor L of a dense matrix.
#[derive(Clone, Debug)]
pub struct DenseFactor {
    /// Lᵀ by rows; what is left below its diagonal means nothing.
    transposed: Vec<f64>,
    size: usize,
}

impl DenseFactor {
    /// Factors a symmetric matrix of `size` rows, of which only the upper triangle is read.
    ///
    /// # Panics
    /// Where the matrix has another size.
    pub fn new(matrix: Vec<f64>, size: usize) -> Result<Self, NotPositiveDefinite> {
        Ok(Self::new_while(matrix, size, || true)?.expect("nothing ends it early"))
    }

    /// [`new`](Self::new) for as long as `more` agrees, as [`factor_while`] asks; `None` where it does not to the end.
    ///
    /// # Panics
    /// Where the matrix has another size.
    pub fn new_while(
        mut matrix: Vec<f64>,
        size: usize,
        more: impl FnMut() -> bool,
    ) -> Result<Option<Self>, NotPositiveDefinite> {
        let done = factor_while(&mut matrix, size, more)?;
        Ok(done.then_some(Self { transposed: matrix, size }))
    }

    /// Solves Lx = b in place.
    ///
    /// # Panics
    /// Where `b` has another length than the size.
    pub fn solve(&self, b: &mut [f64]) {
        assert_eq!(b.len(), self.size, "a vector of another length than the factor");
        for i in 0..self.size {
            let (entry, after) = b[i..].split_first_mut().expect("an entry for each row");
            let column = self.column(i);
            *entry /= column[0];
            after.iter_mut().zip(&column[1..]).for_each(|(b, l)| *b -= l * *entry);
        }
    }

    /// Solves Lᵀx = b in place.
    ///
    /// # Panics
    /// Where `b` has another length than the size.
    pub fn solve_transposed(&self, b: &mut [f64]) {
        assert_eq!(b.len(), self.size, "a vector of another length than the factor");
        for i in (0..self.size).rev() {
            let column = self.column(i);
            let sum: f64 = column[1..].iter().zip(&b[i + 1..]).map(|(l, b)| l * b).sum();
            b[i] = (b[i] - sum) / column[0];
        }
    }

    /// The columns of L, one after the other, with the zeros above the diagonal.
    pub fn into_columns(mut self) -> Vec<f64> {
        for i in 0..self.size {
            self.transposed[i * self.size..][..i].fill(0.0);
        }
        self.transposed
    }

    /// Column `i` of L, from the diagonal on.
    fn column(&self, i: usize) -> &[f64] {
        &self.transposed[i * self.size..][i..self.size]
    }
}

/// Turns the upper triangle of a symmetric matrix (`size` × `size`, by rows) into Lᵀ. Below the diagonal nothing is read, and
/// what is left there means nothing; a matrix that is refused is left half done.
///
/// This is [`DenseFactor::new`] in a buffer of the caller's, for many matrices of one size.
///
/// # Panics
/// Where the matrix has another size.
pub fn factor_in_place(matrix: &mut [f64], size: usize) -> Result<(), NotPositiveDefinite> {
    factor_while(matrix, size, || true).map(|_| ())
}

/// [`factor_in_place`] for as long as `more` agrees, which is asked every few rows: a large matrix takes minutes. Answers
/// whether all of it is done.
///
/// # Panics
/// Where the matrix has another size.
pub fn factor_while(
    matrix: &mut [f64],
    size: usize,
    mut more: impl FnMut() -> bool,
) -> Result<bool, NotPositiveDefinite> {
    assert_eq!(matrix.len(), size * size, "a matrix of another size");
    let factors = &mut Vec::with_capacity(ROWS * size);
    let by_rows = size - size % ROWS;
    for first in (0..by_rows).step_by(ROWS) {
        if !more() {
            return Ok(false);
        }
        add_rows::<ROWS>(matrix, size, first, factors)?;
    }
    for first in by_rows..size {
        add_rows::<1>(matrix, size, first, factors)?;
    }
    Ok(true)
}

/// Makes `R` rows of Lᵀ, from `first` on, out of those above them.
fn add_rows<const R: usize>(
    matrix: &mut [f64],
    size: usize,
    first: usize,
    factors: &mut Vec<f64>,
) -> Result<(), NotPositiveDefinite> {
    let (above, rest) = matrix.split_at_mut(first * size);
    let rows = &mut rest[..R * size];
    factors.clear();
    above.chunks_exact(size).for_each(|row| factors.extend_from_slice(&row[first..first + R]));
    let (factors, _) = factors.as_chunks::<R>();
    let by_columns = size - (size - first) % WIDTH;
    for start in (first..by_columns).step_by(WIDTH) {
        subtract::<R, WIDTH>(rows, factors, above, size, start);
    }
    for start in by_columns..size {
        subtract::<R, 1>(rows, factors, above, size, start);
    }
    for r in 0..R {
        let i = first + r;
        let (done, rest) = rows.split_at_mut(r * size);
        let row = &mut rest[i..size];
        for above in done.chunks_exact(size) {
            add_scaled(row, -above[i], &above[i..]);
        }
        let root = root(row[0], i)?;
        row.iter_mut().for_each(|entry| *entry /= root);
    }
    Ok(())
}

/// Takes Σₖ factors[k][r] · (row k of `above`) from row r, for `W` entries from `start` on.
///
/// Each entry is summed in the order of k, so it has the same bits whatever is computed beside it.
#[inline]
fn subtract<const R: usize, const W: usize>(
    rows: &mut [f64],
    factors: &[[f64; R]],
    above: &[f64],
    size: usize,
    start: usize,
) {
    let mut sums = [[0.0; W]; R];
    for (sums, row) in sums.iter_mut().zip(rows.chunks_exact(size)) {
        sums.copy_from_slice(&row[start..start + W]);
    }
    for (factors, row) in factors.iter().zip(above.chunks_exact(size)) {
        // As an array, whose length the compiler knows: the loops below become plain vector instructions.
        let entries = row[start..].first_chunk::<W>().expect("a row goes on for W entries");
        for (sums, factor) in sums.iter_mut().zip(factors) {
            for (sum, entry) in sums.iter_mut().zip(entries) {
                *sum -= factor * entry;
            }
        }
    }
    for (sums, row) in sums.iter().zip(rows.chunks_exact_mut(size)) {
        row[start..start + W].copy_from_slice(sums);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// BᵀB for a matrix B of numbers that look random, minus `shift` on the diagonal.
    fn gram(n: usize, shift: f64) -> Vec<f64> {
        let mut state = n as u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / (1u64 << 23) as f64 - 1.0
        };
        let b: Vec<f64> = (0..n * n).map(|_| draw()).collect();
        let entry = |i: usize, j: usize| (0..n).map(|k| b[k * n + i] * b[k * n + j]).sum::<f64>();
        (0..n * n).map(|ij| entry(ij / n, ij % n) - if ij / n == ij % n { shift } else { 0.0 }).collect()
    }

    #[test]
    fn the_factor_times_its_transpose_is_the_matrix() {
        for n in [0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 60] {
            let matrix = gram(n, 0.0);
            let columns = DenseFactor::new(matrix.clone(), n).unwrap().into_columns();
            for i in 0..n {
                assert!(columns[i * n..][..i].iter().all(|&entry| entry == 0.0));
                for j in 0..n {
                    let product: f64 = (0..n).map(|k| columns[k * n + i] * columns[k * n + j]).sum();
                    assert!((product - matrix[i * n + j]).abs() < 1e-12 * n as f64, "n = {n}");
                }
            }
        }
    }

    #[test]
    fn solving_both_ways_solves_the_matrix() {
        for n in [1, 9, 40] {
            let matrix = gram(n, -1.0);
            let factor = DenseFactor::new(matrix.clone(), n).unwrap();
            let b: Vec<f64> = (0..n).map(|i| i as f64 - 3.5).collect();
            let mut x = b.clone();
            factor.solve(&mut x);
            factor.solve_transposed(&mut x);
            for i in 0..n {
                let product: f64 = (0..n).map(|j| matrix[i * n + j] * x[j]).sum();
                assert!((product - b[i]).abs() < 1e-9, "n = {n}");
            }
        }
    }

    #[test]
    fn every_entry_is_summed_in_the_order_of_the_rows() {
        for n in [5, 36, 37, 38, 39] {
            let mut plain = gram(n, 0.0);
            for i in 0..n {
                for j in i..n {
                    for k in 0..i {
                        plain[i * n + j] -= plain[k * n + i] * plain[k * n + j];
                    }
                }
                let root = plain[i * n + i].sqrt();
                (i..n).for_each(|j| plain[i * n + j] /= root);
                plain[i * n..][..i].fill(0.0);
            }
            assert_eq!(DenseFactor::new(gram(n, 0.0), n).unwrap().into_columns(), plain, "n = {n}");
        }
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_is_refused_at_its_row() {
        // The trace is the sum of the eigenvalues: beyond trace / n, one of them is negative.
        for n in [1, 5, 20] {
            let trace: f64 = gram(n, 0.0).iter().step_by(n + 1).sum();
            assert!(DenseFactor::new(gram(n, 1.01 * trace / n as f64), n).is_err());
        }
        let refused = |matrix: &[f64], n| DenseFactor::new(matrix.to_vec(), n).unwrap_err().row;
        assert_eq!(refused(&[1.0, 2.0, 2.0, 1.0], 2), 1);
        assert_eq!(refused(&[0.0], 1), 0);
        assert_eq!(refused(&[f64::NAN], 1), 0);
        assert_eq!(refused(&[f64::INFINITY], 1), 0);
    }
}
