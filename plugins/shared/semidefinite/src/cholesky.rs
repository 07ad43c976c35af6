//! The Cholesky factor of a dense symmetric matrix.

const WIDTH: usize = 8; // entries of a row computed side by side

/// Turns the upper triangle of `matrix` (`n` × `n`, by rows) into U with UᵀU = matrix; the rest stays.
///
/// Answers whether the matrix is positive definite, up to rounding; where not, it is left half done. Each
/// entry is summed in the order of the rows above it, unfused, so it has the same bits on every machine.
pub fn cholesky(matrix: &mut [f64], n: usize) -> bool {
    let mut column = Vec::with_capacity(n);
    for i in 0..n {
        let (above, rest) = matrix.split_at_mut(i * n);
        column.clear();
        column.extend(above.iter().skip(i).step_by(n));
        let (wide, narrow) = rest[i..n].as_chunks_mut::<WIDTH>();
        let narrow_start = n - narrow.len();
        for (block, part) in wide.iter_mut().enumerate() {
            subtract(part, &column, above, n, i + WIDTH * block);
        }
        for (offset, entry) in narrow.iter_mut().enumerate() {
            subtract(std::array::from_mut(entry), &column, above, n, narrow_start + offset);
        }
        let root = rest[i].sqrt();
        // Also where the pivot is negative, and its root NaN.
        if root.is_nan() || root == 0.0 {
            return false;
        }
        rest[i..n].iter_mut().for_each(|entry| *entry /= root);
    }
    true
}

/// Takes Σₖ column[k] · (row k of `above`, from `start`) from `entries`.
#[inline]
fn subtract<const W: usize>(entries: &mut [f64; W], column: &[f64], above: &[f64], n: usize, start: usize) {
    let mut sums = *entries;
    for (factor, row) in column.iter().zip(above.chunks_exact(n)) {
        for (sum, entry) in sums.iter_mut().zip(&row[start..start + W]) {
            *sum -= factor * entry;
        }
    }
    *entries = sums;
}

/// Solves UᵀU x = b, for U as [`cholesky`] leaves it; `b` becomes x.
pub fn solve(factor: &[f64], b: &mut [f64]) {
    let n = b.len();
    for i in 0..n {
        let row = &factor[i * n..][..n];
        let solved = b[i] / row[i];
        b[i] = solved;
        b[i + 1..].iter_mut().zip(&row[i + 1..]).for_each(|(b, u)| *b -= u * solved);
    }
    for i in (0..n).rev() {
        let row = &factor[i * n..][..n];
        let sum: f64 = row[i + 1..].iter().zip(&b[i + 1..]).map(|(u, b)| u * b).sum();
        b[i] = (b[i] - sum) / row[i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::random::normal;

    /// BᵀB for an n × n matrix B of normal draws, and minus `shift` on the diagonal.
    fn gram(n: usize, shift: f64) -> Vec<f64> {
        let mut rng = plugin_api::rng(n as u64);
        let b: Vec<f64> = (0..n * n).map(|_| normal(&mut rng)).collect();
        let entry = |i: usize, j: usize| (0..n).map(|k| b[k * n + i] * b[k * n + j]).sum::<f64>();
        (0..n * n).map(|ij| entry(ij / n, ij % n) - if ij / n == ij % n { shift } else { 0.0 }).collect()
    }

    #[test]
    fn the_factor_times_itself_is_the_matrix() {
        for n in [1, 2, 7, 8, 9, 16, 31, 60] {
            let matrix = gram(n, 0.0);
            let mut factor = matrix.clone();
            assert!(cholesky(&mut factor, n));
            for i in 0..n {
                for j in i..n {
                    let product: f64 = (0..=i).map(|k| factor[k * n + i] * factor[k * n + j]).sum();
                    assert!((product - matrix[i * n + j]).abs() < 1e-12 * n as f64, "n = {n}");
                }
            }
        }
    }

    #[test]
    fn a_solution_solves() {
        for n in [1, 9, 40] {
            let (matrix, mut factor) = (gram(n, -1.0), gram(n, -1.0));
            assert!(cholesky(&mut factor, n));
            let b: Vec<f64> = (0..n).map(|i| i as f64 - 3.5).collect();
            let mut x = b.clone();
            solve(&factor, &mut x);
            for i in 0..n {
                let product: f64 = (0..n).map(|j| matrix[i * n + j] * x[j]).sum();
                assert!((product - b[i]).abs() < 1e-9, "n = {n}");
            }
        }
    }

    #[test]
    fn every_entry_is_summed_in_the_order_of_the_rows() {
        let n = 37;
        let (mut blocked, mut plain) = (gram(n, 0.0), gram(n, 0.0));
        assert!(cholesky(&mut blocked, n));
        for i in 0..n {
            for j in i..n {
                for k in 0..i {
                    plain[i * n + j] -= plain[k * n + i] * plain[k * n + j];
                }
            }
            let root = plain[i * n + i].sqrt();
            (i..n).for_each(|j| plain[i * n + j] /= root);
        }
        assert_eq!(blocked, plain);
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_is_told() {
        // The trace is the sum of the eigenvalues: beyond trace / n, one of them is negative.
        for n in [1, 5, 20] {
            let trace: f64 = gram(n, 0.0).iter().step_by(n + 1).sum();
            assert!(!cholesky(&mut gram(n, 1.01 * trace / n as f64), n));
        }
        assert!(!cholesky(&mut [1.0, 2.0, 2.0, 1.0], 2));
        assert!(!cholesky(&mut [0.0], 1));
        assert!(!cholesky(&mut [f64::NAN], 1));
        assert!(cholesky(&mut [], 0));
    }
}
