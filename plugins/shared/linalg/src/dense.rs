//! A = RᵀR of a whole matrix, by blocks of rows, and the solves with R.

use crate::{NotPositiveDefinite, add_scaled, dot, root};

/// Rows factored at a time; what follows them is then updated once for all of them.
const BLOCK: usize = 16;
/// Rows and columns of the trailing matrix updated at a time: as much as stays in registers.
const TILE: usize = 4;

/// Overwrites the upper triangle of the `n` × `n` matrix `a` by the R with A = RᵀR.
///
/// What stands below the diagonal is not read, and not kept.
///
/// # Panics
/// Where `a` has another length than n².
pub fn cholesky(a: &mut [f64], n: usize) -> Result<(), NotPositiveDefinite> {
    assert_eq!(a.len(), n * n, "a slice that is not {n} × {n}");
    // Entry (i, j) is a_ij − r_0i r_0j − r_1i r_1j − …, in this order whatever the block.
    for start in (0..n).step_by(BLOCK) {
        let (block, below) = a[start * n..].split_at_mut((n - start).min(BLOCK) * n);
        factor_block(block, n, start)?;
        update_below(block, below, n, start);
    }
    Ok(())
}

/// Finishes the rows of a block, from which all earlier rows have been subtracted.
fn factor_block(block: &mut [f64], n: usize, start: usize) -> Result<(), NotPositiveDefinite> {
    for k in 0..block.len() / n {
        let (done, later) = block.split_at_mut((k + 1) * n);
        let row = &mut done[k * n + start + k..];
        let root = root(row[0], start + k)?;
        row[0] = root;
        let inverse = 1.0 / root;
        row[1..].iter_mut().for_each(|r| *r *= inverse);
        for (i, other) in later.chunks_exact_mut(n).enumerate() {
            let row = &row[1 + i..];
            add_scaled(&mut other[start + k + 1 + i..], -row[0], row);
        }
    }
    Ok(())
}

/// Subtracts the rows of a finished block from all rows below it.
fn update_below(block: &[f64], below: &mut [f64], n: usize, start: usize) {
    let first = start + block.len() / n;
    for (t, rows) in below.chunks_mut(TILE * n).enumerate() {
        let i = first + t * TILE;
        let mut j = i;
        if rows.len() == TILE * n {
            while j + TILE <= n {
                update_tile(block, rows, n, i, j);
                j += TILE;
            }
        }
        for (offset, row) in rows.chunks_exact_mut(n).enumerate() {
            for k in block.chunks_exact(n) {
                add_scaled(&mut row[j..], -k[i + offset], &k[j..]);
            }
        }
    }
}

/// The square of `TILE` rows, of which the first is `i`, and `TILE` columns from `j`.
fn update_tile(block: &[f64], rows: &mut [f64], n: usize, i: usize, j: usize) {
    let mut tile = [[0.0; TILE]; TILE];
    for (sums, row) in tile.iter_mut().zip(rows.chunks_exact(n)) {
        sums.copy_from_slice(&row[j..j + TILE]);
    }
    for row in block.chunks_exact(n) {
        let (left, right) = (&row[i..i + TILE], &row[j..j + TILE]);
        for (sums, left) in tile.iter_mut().zip(left) {
            for (sum, right) in sums.iter_mut().zip(right) {
                *sum -= left * right;
            }
        }
    }
    for (sums, row) in tile.iter().zip(rows.chunks_exact_mut(n)) {
        row[j..j + TILE].copy_from_slice(sums);
    }
}

/// Solves Rᵀx = b in place, for the R that [`cholesky`] gives.
///
/// # Panics
/// Where `r` is not n × n with n = `b.len()`.
pub fn solve_transposed(r: &[f64], b: &mut [f64]) {
    let n = b.len();
    assert_eq!(r.len(), n * n, "a slice that is not {n} × {n}");
    for (k, row) in r.chunks_exact(n.max(1)).enumerate() {
        let (done, later) = b.split_at_mut(k + 1);
        done[k] /= row[k];
        add_scaled(later, -done[k], &row[k + 1..]);
    }
}

/// Solves Rx = b in place, for the R that [`cholesky`] gives.
///
/// # Panics
/// Where `r` is not n × n with n = `b.len()`.
pub fn solve(r: &[f64], b: &mut [f64]) {
    let n = b.len();
    assert_eq!(r.len(), n * n, "a slice that is not {n} × {n}");
    for (k, row) in r.chunks_exact(n.max(1)).enumerate().rev() {
        b[k] = (b[k] - dot(&row[k + 1..], &b[k + 1..])) / row[k];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A positive definite matrix with entries that every machine computes alike.
    fn example(n: usize) -> Vec<f64> {
        let entry = |i: usize, j: usize| {
            let mixed = ((i * 31 + j * 17) % 23 + (j * 31 + i * 17) % 23) as f64 / 23.0;
            if i == j { mixed + 2.0 * n as f64 } else { mixed - 1.0 }
        };
        (0..n * n).map(|k| entry(k / n, k % n)).collect()
    }

    fn factor(n: usize) -> Vec<f64> {
        let mut r = example(n);
        cholesky(&mut r, n).unwrap();
        for i in 0..n {
            r[i * n..i * n + i].fill(0.0);
        }
        r
    }

    /// The textbook's three loops.
    fn plain(n: usize) -> Vec<f64> {
        let (a, mut r) = (example(n), vec![0.0; n * n]);
        for i in 0..n {
            for j in i..n {
                let mut sum = a[i * n + j];
                for k in 0..i {
                    sum -= r[k * n + i] * r[k * n + j];
                }
                r[i * n + j] = if i == j { sum.sqrt() } else { sum * (1.0 / r[i * n + i]) };
            }
        }
        r
    }

    #[test]
    fn blocks_and_tiles_leave_no_trace_in_the_bits() {
        for n in [0, 1, 2, 3, 4, 5, 15, 16, 17, 31, 33, 70] {
            assert_eq!(factor(n), plain(n), "n = {n}");
        }
    }

    #[test]
    fn the_factor_is_a_root_of_the_matrix() {
        let n = 37;
        let (a, r) = (example(n), factor(n));
        for i in 0..n {
            for j in i..n {
                let product: f64 = (0..=i).map(|k| r[k * n + i] * r[k * n + j]).sum();
                assert!((product - a[i * n + j]).abs() < 1e-13 * n as f64, "entry ({i}, {j})");
            }
        }
    }

    #[test]
    fn the_factor_has_the_same_bits_on_every_machine() {
        let fold = |hash: u64, r: &f64| (hash ^ r.to_bits()).wrapping_mul(0x0100_0000_01b3);
        assert_eq!(factor(70).iter().fold(0xcbf2_9ce4_8422_2325, fold), 15_460_900_555_904_503_258);
    }

    #[test]
    fn the_solves_undo_the_products() {
        let n = 21;
        let r = factor(n);
        let x: Vec<f64> = (0..n).map(|i| (i as f64) - 7.5).collect();
        let times = |i: usize, transposed: bool| -> f64 {
            (0..n).map(|k| if transposed { r[k * n + i] } else { r[i * n + k] } * x[k]).sum()
        };
        let mut forward: Vec<f64> = (0..n).map(|i| times(i, true)).collect();
        solve_transposed(&r, &mut forward);
        let mut backward: Vec<f64> = (0..n).map(|i| times(i, false)).collect();
        solve(&r, &mut backward);
        for i in 0..n {
            assert!((forward[i] - x[i]).abs() < 1e-12, "{forward:?}");
            assert!((backward[i] - x[i]).abs() < 1e-12, "{backward:?}");
        }
        solve(&[], &mut []);
        solve_transposed(&[], &mut []);
    }

    #[test]
    fn a_matrix_without_a_root_is_refused_with_its_row() {
        let mut a = example(20);
        a[18 * 20 + 18] = -1.0;
        assert_eq!(cholesky(&mut a, 20).unwrap_err().row, 18);
        let mut a = [f64::NAN];
        let error = cholesky(&mut a, 1).unwrap_err();
        assert_eq!(error.to_string(), "the matrix is not positive definite at row 1");
    }
}
