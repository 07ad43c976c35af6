//! A = RᵀR, a few rows at a time, and the solves with R.
//!
//! Matrices are by rows of `stride` numbers, a multiple of eight; only the upper triangle is read. Entry (i, j) of R is
//! (a_ij − r_0i r_0j − r_1i r_1j − …)/r_ii, subtracted one by one in this order: which entries are computed together
//! leaves no trace in it. A tile of some rows stays in registers while all rows above it are subtracted, then those
//! within it; it is read once and written once.

use shared_linalg::NotPositiveDefinite;

use super::lanes::{LANES, Lanes};
use super::{Kernel, Work};

/// The stride of a matrix of this many columns.
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

    /// Solves Rx = b in place. `b` has as many numbers as the stride; those beyond the matrix are set to 0, and those of
    /// R are multiplied by that, so they have to be finite.
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
        // As many sums at a time as there are registers for.
        if L::WIDE {
            factor::<L, 8, 3>(lanes, self.a, self.inverses)
        } else if L::TALL {
            factor::<L, 4, 1>(lanes, self.a, self.inverses)
        } else {
            factor::<L, 2, 1>(lanes, self.a, self.inverses)
        }
    }
}

/// Factors `ROWS` rows at a time, in tiles of up to `PARTS` parts.
#[inline(always)]
fn factor<L: Lanes, const ROWS: usize, const PARTS: usize>(
    lanes: L,
    a: &mut [Part],
    inverses: &mut [f64],
) -> Result<(), NotPositiveDefinite> {
    let parts = inverses.len().div_ceil(LANES);
    for (block, inverses) in inverses.chunks_mut(ROWS).enumerate() {
        let start = block * ROWS;
        let (done, rows) = a.split_at_mut(start * parts);
        let mut rows = Rows { done, rows: &mut rows[..inverses.len() * parts], parts, start };
        let own = start / LANES;
        let first = PARTS.min(parts - own);
        let mut corner = Corner { parts: [[0.0; LANES]; ROWS], inverses: [0.0; ROWS] };
        match first {
            3 => rows.finish::<L, ROWS, 3, true>(lanes, &mut corner, own),
            2 => rows.finish::<L, ROWS, 2, true>(lanes, &mut corner, own),
            _ => rows.finish::<L, ROWS, 1, true>(lanes, &mut corner, own),
        }
        for (k, inverse) in inverses.iter_mut().enumerate() {
            let root = corner.parts[k][start % LANES + k];
            if !(root > 0.0 && root.is_finite()) {
                return Err(NotPositiveDefinite { row: start + k });
            }
            *inverse = corner.inverses[k];
            rows.rows[k * parts + own] = corner.parts[k];
        }
        let mut part = own + first;
        while part + PARTS <= parts {
            rows.finish::<L, ROWS, PARTS, false>(lanes, &mut corner, part);
            part += PARTS;
        }
        match parts - part {
            0 => {}
            2 => rows.finish::<L, ROWS, 2, false>(lanes, &mut corner, part),
            _ => rows.finish::<L, ROWS, 1, false>(lanes, &mut corner, part),
        }
    }
    Ok(())
}

/// Some rows, and all before them, which are finished.
struct Rows<'a> {
    done: &'a [Part],
    rows: &'a mut [Part],
    parts: usize,
    start: usize,
}

/// What stands on the diagonal of some rows, and their 1/r_kk.
struct Corner<const ROWS: usize> {
    parts: [Part; ROWS],
    inverses: [f64; ROWS],
}

/// `PARTS` parts of `ROWS` rows.
type Tile<L, const ROWS: usize, const PARTS: usize> = [[<L as Lanes>::Numbers; PARTS]; ROWS];

impl Rows<'_> {
    /// Finishes the tile whose first part is `part`; where `FIRST`, this is the one that the diagonal goes through, and
    /// becomes the `corner`. Of the last rows there may be fewer than `ROWS`, and then there is no other tile.
    #[expect(
        clippy::needless_range_loop,
        reason = "loops of constant length over rows and parts, to be unrolled"
    )]
    #[inline(always)]
    fn finish<L: Lanes, const ROWS: usize, const PARTS: usize, const FIRST: bool>(
        &mut self,
        lanes: L,
        corner: &mut Corner<ROWS>,
        part: usize,
    ) {
        let (own, first) = (self.start / LANES, self.start % LANES);
        let count = if FIRST { self.rows.len() / self.parts } else { ROWS };
        let mut tile = [[lanes.splat(0.0); PARTS]; ROWS];
        for r in 0..ROWS {
            if r < count {
                let row = &self.rows[r * self.parts + part..][..PARTS];
                for p in 0..PARTS {
                    tile[r][p] = lanes.load(&row[p]);
                }
            }
        }
        for row in self.done.chunks_exact(self.parts) {
            let left = &row[own][first..first + ROWS];
            let right = &row[part..part + PARTS];
            let right: [_; PARTS] = std::array::from_fn(|p| lanes.load(&right[p]));
            for r in 0..ROWS {
                for p in 0..PARTS {
                    tile[r][p] = lanes.sub(tile[r][p], lanes.mul_by(right[p], &left[r]));
                }
            }
        }
        // Not a loop: the compiler would put the tile into memory.
        corner.finish_row::<L, PARTS, FIRST, 0>(lanes, &mut tile, first);
        corner.finish_row::<L, PARTS, FIRST, 1>(lanes, &mut tile, first);
        if ROWS > 2 {
            corner.finish_row::<L, PARTS, FIRST, 2>(lanes, &mut tile, first);
            corner.finish_row::<L, PARTS, FIRST, 3>(lanes, &mut tile, first);
        }
        if ROWS > 4 {
            corner.finish_row::<L, PARTS, FIRST, 4>(lanes, &mut tile, first);
            corner.finish_row::<L, PARTS, FIRST, 5>(lanes, &mut tile, first);
            corner.finish_row::<L, PARTS, FIRST, 6>(lanes, &mut tile, first);
            corner.finish_row::<L, PARTS, FIRST, 7>(lanes, &mut tile, first);
        }
        for r in 0..ROWS {
            if r < count {
                let row = &mut self.rows[r * self.parts + part..][..PARTS];
                for p in 0..PARTS {
                    lanes.store(tile[r][p], &mut row[p]);
                }
            }
        }
    }
}

impl<const ROWS: usize> Corner<ROWS> {
    /// Divides row `K` by its pivot, and subtracts it from the rows below.
    #[expect(
        clippy::needless_range_loop,
        reason = "loops of constant length over rows and parts, to be unrolled"
    )]
    #[inline(always)]
    fn finish_row<L: Lanes, const PARTS: usize, const FIRST: bool, const K: usize>(
        &mut self,
        lanes: L,
        tile: &mut Tile<L, ROWS, PARTS>,
        first: usize,
    ) {
        if FIRST {
            let part = &mut self.parts[K];
            lanes.store(tile[K][0], part);
            let root = part[first + K].sqrt();
            self.inverses[K] = 1.0 / root;
            lanes.store(lanes.mul(tile[K][0], lanes.splat(self.inverses[K])), part);
            part[first + K] = root;
        }
        let inverse = lanes.splat(self.inverses[K]);
        for p in 0..PARTS {
            tile[K][p] = lanes.mul(tile[K][p], inverse);
        }
        for r in K + 1..ROWS {
            let factor = &self.parts[K][first + r];
            for p in 0..PARTS {
                tile[r][p] = lanes.sub(tile[r][p], lanes.mul_by(tile[K][p], factor));
            }
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
            if rows.len() == LANES * parts {
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
            // The last rows may be fewer than eight: 0 stands for the others.
            let (mut corner, mut inverses) = ([[0.0; LANES]; LANES], [0.0; LANES]);
            for (k, row) in rows.chunks_exact(parts).enumerate() {
                (corner[k], inverses[k]) = (row[first], self.inverses[first * LANES + k]);
            }
            *x = solve_corner(corner, inverses, *x);
        }
    }
}

/// Entry k is (x_k − r_k,k+1 x_k+1 − …)/r_kk.
#[inline(always)]
fn solve_corner(corner: [Part; LANES], inverses: [f64; LANES], mut x: Part) -> Part {
    for k in (0..LANES).rev() {
        for j in k + 1..LANES {
            x[k] -= corner[k][j] * x[j];
        }
        x[k] *= inverses[k];
    }
    x
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
