//! A = RᵀR by blocks of rows, and the solves with R.
//!
//! Matrices are by rows of `stride` numbers, a multiple of eight; only the upper triangle is read. Entry (i, j) of R is
//! (a_ij − r_0i r_0j − r_1i r_1j − …)/r_ii, subtracted one by one in this order: blocks and tiles leave no trace in it.

use shared_linalg::NotPositiveDefinite;

use super::lanes::{LANES, Lanes};
use super::{Kernel, Work};

/// Rows factored at a time; what follows them is then updated once for all of them.
const BLOCK: usize = 16;

/// The stride of a matrix of so many columns.
pub fn stride(columns: usize) -> usize {
    columns.next_multiple_of(LANES)
}

impl Kernel {
    /// Overwrites the upper triangle of a matrix of as many rows as `inverses` by R, and `inverses` by 1/r_kk.
    ///
    /// # Panics
    /// Where `a` is not n rows of stride(n).
    pub fn cholesky(self, a: &mut [f64], inverses: &mut [f64]) -> Result<(), NotPositiveDefinite> {
        check(a, inverses.len());
        let (a, _) = a.as_chunks_mut();
        self.run(Cholesky { a, inverses })
    }

    /// Solves Rᵀx = b in place. `b` has as many numbers as the stride.
    ///
    /// # Panics
    /// Where the slices don't fit.
    pub fn solve_transposed(self, r: &[f64], inverses: &[f64], b: &mut [f64]) {
        check(r, inverses.len());
        assert_eq!(b.len(), stride(inverses.len()), "a vector that is not padded");
        if b.is_empty() {
            return;
        }
        self.run(SolveTransposed { r: r.as_chunks().0, inverses, b: b.as_chunks_mut().0 });
    }

    /// Solves Rx = b in place. `b` has as many numbers as the stride; those beyond the matrix are set to 0.
    ///
    /// # Panics
    /// Where the slices don't fit.
    pub fn solve(self, r: &[f64], inverses: &[f64], b: &mut [f64]) {
        check(r, inverses.len());
        assert_eq!(b.len(), stride(inverses.len()), "a vector that is not padded");
        if b.is_empty() {
            return;
        }
        self.run(Solve { r: r.as_chunks().0, inverses, b: b.as_chunks_mut().0 });
    }
}

fn check(matrix: &[f64], n: usize) {
    assert_eq!(matrix.len(), n * stride(n), "not {n} padded rows");
}

/// Eight numbers of a row.
type Part = [f64; LANES];

struct Cholesky<'a> {
    a: &'a mut [Part],
    inverses: &'a mut [f64],
}

impl Work for Cholesky<'_> {
    type Output = Result<(), NotPositiveDefinite>;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> Self::Output {
        let n = self.inverses.len();
        let parts = n.div_ceil(LANES);
        for start in (0..n).step_by(BLOCK) {
            let rows = BLOCK.min(n - start);
            let (block, below) = self.a[start * parts..].split_at_mut(rows * parts);
            for k in 0..rows {
                let (done, later) = block.split_at_mut(k * parts);
                let row = &mut later[..parts];
                finish_row(lanes, done, row, start + k, &mut self.inverses[start + k])?;
            }
            let first = start + rows;
            let tall = if L::TALL { 4 } else { 2 };
            for (t, rows) in below.chunks_mut(tall * parts).enumerate() {
                let i = first + t * tall;
                match rows.len() / parts {
                    4 => update::<L, 4>(lanes, block, rows, parts, i),
                    2 => update::<L, 2>(lanes, block, rows, parts, i),
                    _ => {
                        for (i, row) in (i..).zip(rows.chunks_exact_mut(parts)) {
                            update::<L, 1>(lanes, block, row, parts, i);
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// Subtracts the finished rows of its block from row `k`, and divides it by the root of its pivot.
#[inline(always)]
fn finish_row<L: Lanes>(
    lanes: L,
    done: &[Part],
    row: &mut [Part],
    k: usize,
    inverse: &mut f64,
) -> Result<(), NotPositiveDefinite> {
    let (parts, own) = (row.len(), k / LANES);
    subtract::<L, 1>(lanes, done, row, parts, k, own);
    let pivot = row[own][k % LANES];
    if !(pivot > 0.0 && pivot.is_finite()) {
        return Err(NotPositiveDefinite { row: k });
    }
    let root = pivot.sqrt();
    *inverse = 1.0 / root;
    let mut part = own + 1;
    while part + 4 <= parts {
        subtract::<L, 4>(lanes, done, row, parts, k, part);
        part += 4;
    }
    while part < parts {
        subtract::<L, 1>(lanes, done, row, parts, k, part);
        part += 1;
    }
    let factor = lanes.splat(*inverse);
    for part in &mut row[own..] {
        lanes.store(lanes.mul(lanes.load(part), factor), part);
    }
    row[own][k % LANES] = root;
    Ok(())
}

/// Subtracts finished rows from `PARTS` parts of row `k`, of which the first is `part`.
#[inline(always)]
fn subtract<L: Lanes, const PARTS: usize>(
    lanes: L,
    done: &[Part],
    row: &mut [Part],
    parts: usize,
    k: usize,
    part: usize,
) {
    let row = &mut row[part..part + PARTS];
    let mut sums: [_; PARTS] = std::array::from_fn(|p| lanes.load(&row[p]));
    for other in done.chunks_exact(parts) {
        let factor = lanes.splat(other[k / LANES][k % LANES]);
        let other = &other[part..part + PARTS];
        for p in 0..PARTS {
            sums[p] = lanes.sub(sums[p], lanes.mul(factor, lanes.load(&other[p])));
        }
    }
    for p in 0..PARTS {
        lanes.store(sums[p], &mut row[p]);
    }
}

/// Subtracts the rows of a finished block from `N` rows below it, of which the first is `i`.
#[inline(always)]
fn update<L: Lanes, const N: usize>(lanes: L, block: &[Part], rows: &mut [Part], parts: usize, i: usize) {
    let mut part = i / LANES;
    if L::WIDE {
        while part + 4 <= parts {
            update_tile::<L, N, 4>(lanes, block, rows, parts, i, part);
            part += 4;
        }
        if part + 2 <= parts {
            update_tile::<L, N, 2>(lanes, block, rows, parts, i, part);
            part += 2;
        }
    }
    while part < parts {
        update_tile::<L, N, 1>(lanes, block, rows, parts, i, part);
        part += 1;
    }
}

#[inline(always)]
fn update_tile<L: Lanes, const N: usize, const PARTS: usize>(
    lanes: L,
    block: &[Part],
    rows: &mut [Part],
    parts: usize,
    i: usize,
    part: usize,
) {
    let mut tile = [[lanes.splat(0.0); PARTS]; N];
    for r in 0..N {
        let row = &rows[r * parts + part..][..PARTS];
        for p in 0..PARTS {
            tile[r][p] = lanes.load(&row[p]);
        }
    }
    for done in block.chunks_exact(parts) {
        let right = &done[part..part + PARTS];
        let right: [_; PARTS] = std::array::from_fn(|p| lanes.load(&right[p]));
        let left = done.as_flattened();
        let left = &left[i..i + N];
        for r in 0..N {
            let factor = lanes.splat(left[r]);
            for p in 0..PARTS {
                tile[r][p] = lanes.sub(tile[r][p], lanes.mul(factor, right[p]));
            }
        }
    }
    for r in 0..N {
        let row = &mut rows[r * parts + part..][..PARTS];
        for p in 0..PARTS {
            lanes.store(tile[r][p], &mut row[p]);
        }
    }
}

struct SolveTransposed<'a> {
    r: &'a [Part],
    inverses: &'a [f64],
    b: &'a mut [Part],
}

impl Work for SolveTransposed<'_> {
    type Output = ();

    /// Entry j is (b_j − r_0j x_0 − r_1j x_1 − …)/r_jj, subtracted in this order.
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let parts = self.b.len();
        for (first, rows) in self.r.chunks(LANES * parts).enumerate() {
            let (done, later) = self.b.split_at_mut(first + 1);
            let x = &mut done[first];
            for (k, row) in rows.chunks_exact(parts).enumerate() {
                x[k] *= self.inverses[first * LANES + k];
                for j in k + 1..LANES {
                    x[j] -= row[first][j] * x[k];
                }
            }
            // The last rows may be fewer than eight; then there is nothing later.
            for (part, b) in later.iter_mut().enumerate() {
                let mut sum = lanes.load(b);
                for k in 0..LANES {
                    let row = lanes.load(&rows[k * parts + first + 1 + part]);
                    sum = lanes.sub(sum, lanes.mul(lanes.splat(x[k]), row));
                }
                lanes.store(sum, b);
            }
        }
    }
}

struct Solve<'a> {
    r: &'a [Part],
    inverses: &'a [f64],
    b: &'a mut [Part],
}

impl Work for Solve<'_> {
    type Output = ();

    /// Entry k is (b_k − Σ_j>k r_kj x_j)/r_kk: first the later parts, as eight sums (j modulo 8) that are added in
    /// pairs, then the own part.
    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let (n, parts) = (self.inverses.len(), self.b.len());
        self.b.as_flattened_mut()[n..].fill(0.0);
        for (first, rows) in self.r.chunks(LANES * parts).enumerate().rev() {
            let (own, later) = self.b.split_at_mut(first + 1);
            let x = &mut own[first];
            let count = rows.len() / parts;
            if count == LANES {
                let mut sums = [lanes.splat(0.0); LANES];
                for (part, later) in later.iter().enumerate() {
                    let later = lanes.load(later);
                    for k in 0..LANES {
                        let row = lanes.load(&rows[k * parts + first + 1 + part]);
                        sums[k] = lanes.add(sums[k], lanes.mul(row, later));
                    }
                }
                for k in 0..LANES {
                    let mut s = [0.0; LANES];
                    lanes.store(sums[k], &mut s);
                    x[k] -= ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
                }
            }
            for k in (0..count).rev() {
                for j in k + 1..count {
                    x[k] -= rows[k * parts + first][j] * x[j];
                }
                x[k] *= self.inverses[first * LANES + k];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [usize; 14] = [0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 40, 70, 131];

    /// A positive definite matrix with entries that every machine computes alike; rubbish below the diagonal.
    fn example(n: usize) -> Vec<f64> {
        let entry = |i: usize, j: usize| {
            let mixed = ((i * 31 + j * 17) % 23 + (j * 31 + i * 17) % 23) as f64 / 23.0;
            if i == j { mixed + 2.0 * n as f64 } else { mixed - 1.0 }
        };
        let padded = stride(n);
        let any = |k: usize| if k % padded < k / padded { 1e9 } else { entry(k / padded, k % padded) };
        (0..n * padded).map(any).collect()
    }

    /// The textbook's three loops.
    fn plain(n: usize) -> Vec<f64> {
        let (a, mut r, padded) = (example(n), vec![0.0; n * n], stride(n));
        for i in 0..n {
            for j in i..n {
                let mut sum = a[i * padded + j];
                for k in 0..i {
                    sum -= r[k * n + i] * r[k * n + j];
                }
                r[i * n + j] = if i == j { sum.sqrt() } else { sum * (1.0 / r[i * n + i]) };
            }
        }
        r
    }

    fn factor(kernel: Kernel, n: usize) -> (Vec<f64>, Vec<f64>) {
        let (mut r, mut inverses) = (example(n), vec![0.0; n]);
        kernel.cholesky(&mut r, &mut inverses).unwrap();
        (r, inverses)
    }

    #[test]
    fn blocks_tiles_and_instruction_sets_leave_no_trace_in_the_factor() {
        for n in SIZES {
            let plain = plain(n);
            for kernel in Kernel::available() {
                let (r, inverses) = factor(kernel, n);
                for i in 0..n {
                    assert_eq!(
                        r[i * stride(n) + i..][..n - i],
                        plain[i * n + i..][..n - i],
                        "{kernel:?}, n = {n}"
                    );
                    assert_eq!(inverses[i], 1.0 / plain[i * n + i]);
                }
            }
        }
    }

    #[test]
    fn the_solves_undo_the_products_with_the_same_bits_from_each_instruction_set() {
        for n in SIZES {
            let (r, inverses) = factor(Kernel::fastest(), n);
            let padded = stride(n);
            let x: Vec<f64> = (0..n).map(|i| i as f64 - 7.5).collect();
            let product = |transposed: bool| -> Vec<f64> {
                let entry = |i: usize, k: usize| if k < i { 0.0 } else { r[i * padded + k] };
                let row = |i: usize| {
                    (0..n).map(|k| if transposed { entry(k, i) } else { entry(i, k) } * x[k]).sum::<f64>()
                };
                (0..n).map(row).chain((n..padded).map(|_| 3.0)).collect()
            };
            let solutions = |kernel: Kernel| {
                let (mut forward, mut backward) = (product(true), product(false));
                kernel.solve_transposed(&r, &inverses, &mut forward);
                kernel.solve(&r, &inverses, &mut backward);
                (forward[..n].to_vec(), backward[..n].to_vec())
            };
            let portable = solutions(Kernel::named("portable").unwrap());
            for solution in [&portable.0, &portable.1] {
                assert!(solution.iter().zip(&x).all(|(a, b)| (a - b).abs() < 1e-11), "n = {n}: {solution:?}");
            }
            for kernel in Kernel::available() {
                assert!(solutions(kernel) == portable, "{kernel:?} differs, n = {n}");
            }
        }
    }

    #[test]
    fn a_matrix_without_a_root_is_refused_with_its_row() {
        for kernel in Kernel::available() {
            for pivot in [-1.0, 0.0, f64::NAN, f64::INFINITY] {
                let mut a = example(20);
                a[18 * stride(20) + 18] = pivot;
                assert_eq!(kernel.cholesky(&mut a, &mut [0.0; 20]).unwrap_err().row, 18);
            }
        }
    }
}
