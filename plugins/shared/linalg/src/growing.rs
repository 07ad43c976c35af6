//! A = LLᵀ of a matrix that grows by one row and column at a time.

use crate::{NotPositiveDefinite, add_scaled, dot, root};

/// The lower factor L of a growing matrix; a new row costs n² operations, not n³.
#[derive(Clone, Debug, Default)]
pub struct GrowingFactor {
    /// The rows of L up to the diagonal, one after another.
    rows: Vec<f64>,
    size: usize,
}

impl GrowingFactor {
    /// The factor of the matrix without rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many rows the matrix has.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Adds a row to the matrix: its entries up to and with the diagonal. A refused row changes nothing.
    ///
    /// # Panics
    /// Where the row has another length than one more than the size.
    pub fn push(&mut self, row: &[f64]) -> Result<(), NotPositiveDefinite> {
        assert_eq!(row.len(), self.size + 1, "a row of another length than the matrix grows to");
        let mut new = row.to_vec();
        let (entries, diagonal) = new.split_at_mut(self.size);
        self.solve(entries);
        diagonal[0] = root(diagonal[0] - dot(entries, entries), self.size)?;
        self.rows.extend(new);
        self.size += 1;
        Ok(())
    }

    /// Solves Lx = b in place.
    ///
    /// # Panics
    /// Where `b` has another length than the size.
    pub fn solve(&self, b: &mut [f64]) {
        assert_eq!(b.len(), self.size, "a vector of another length than the factor");
        for i in 0..self.size {
            b[i] = self.solve_last(&b[..i], b[i]);
        }
    }

    /// The last entry of the solution of Lx = b for the first rows of L, from the entries before it: goes on
    /// with a solution where the matrix has grown.
    ///
    /// # Panics
    /// Where as many entries as the size are given already.
    pub fn solve_last(&self, x: &[f64], b: f64) -> f64 {
        let row = self.row(x.len());
        (b - dot(&row[..x.len()], x)) / row[x.len()]
    }

    /// Solves Lᵀx = b in place.
    ///
    /// # Panics
    /// Where `b` has another length than the size.
    pub fn solve_transposed(&self, b: &mut [f64]) {
        assert_eq!(b.len(), self.size, "a vector of another length than the factor");
        for i in (0..self.size).rev() {
            let (before, from) = b.split_at_mut(i);
            let row = self.row(i);
            from[0] /= row[i];
            add_scaled(before, -from[0], &row[..i]);
        }
    }

    /// Row `i` of L, up to and with the diagonal.
    fn row(&self, i: usize) -> &[f64] {
        &self.rows[i * (i + 1) / 2..(i + 1) * (i + 2) / 2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: usize = 25;

    fn entry(i: usize, j: usize) -> f64 {
        let mixed = ((i * 31 + j * 17) % 23 + (j * 31 + i * 17) % 23) as f64 / 23.0 - 1.0;
        if i == j { mixed + 2.0 * N as f64 } else { mixed }
    }

    fn grown() -> GrowingFactor {
        let mut factor = GrowingFactor::new();
        for i in 0..N {
            factor.push(&(0..=i).map(|j| entry(i, j)).collect::<Vec<_>>()).unwrap();
        }
        factor
    }

    #[test]
    fn solving_both_ways_solves_the_grown_matrix() {
        let x: Vec<f64> = (0..N).map(|i| i as f64 - 7.5).collect();
        let mut b: Vec<f64> = (0..N).map(|i| (0..N).map(|j| entry(i, j) * x[j]).sum()).collect();
        let factor = grown();
        factor.solve(&mut b);
        factor.solve_transposed(&mut b);
        assert!(b.iter().zip(&x).all(|(b, x)| (b - x).abs() < 1e-12), "{b:?}");
    }

    #[test]
    fn a_solution_goes_on_where_it_stood() {
        let factor = grown();
        let mut whole = vec![1.0; N];
        factor.solve(&mut whole);
        let mut by_steps = Vec::new();
        for _ in 0..N {
            by_steps.push(factor.solve_last(&by_steps, 1.0));
        }
        assert_eq!(whole, by_steps);
    }

    #[test]
    fn a_refused_row_changes_nothing() {
        let mut factor = GrowingFactor::new();
        factor.push(&[4.0]).unwrap();
        assert_eq!(factor.push(&[2.0, 1.0]).unwrap_err().row, 1);
        factor.push(&[2.0, 2.0]).unwrap();
        assert_eq!((factor.size(), factor.row(1)), (2, &[1.0, 1.0][..]));
    }
}
