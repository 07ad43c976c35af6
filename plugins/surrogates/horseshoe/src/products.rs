//! Products with the design matrix Φ and numbers of its terms, by the [kernels](crate::kernel).
//!
//! The kernels take numbers of terms as squares: (i, j) holds that of the pair of bits i < j, (i, i) that of bit i. To
//! third order there is one more square for each first bit of three, with the numbers of the other two.

use crate::design::Design;
use crate::kernel::Kernel;
use crate::kernel::cholesky::stride;
use crate::kernel::lanes::{LANES, Table};
use crate::kernel::moments::WORD;
use crate::kernel::sums::{FOUR, Pattern, Tables};

/// Working memory for products with one design.
#[derive(Clone, Debug)]
pub struct Products {
    kernel: Kernel,
    bits: usize,
    /// Of a row of a square; the last column and the last row are those of the padding bit, and 0.
    stride: usize,
    /// How many numbers a square has.
    square: usize,
    squares: Vec<f64>,
    /// Where each run of consecutive terms starts in the squares, and its length.
    runs: Vec<(usize, usize)>,
    tables: Tables,
    /// Tables for sums of weights, one for each four rows.
    weight_tables: Vec<Table>,
    /// The weights of the rows that have one bit.
    weights: Vec<f64>,
    /// One number a row, padded.
    rows: Vec<[f64; LANES]>,
    /// One number a row, of one square of three.
    others: Vec<[f64; LANES]>,
}

impl Products {
    /// Working memory for products with `design`.
    pub fn new(design: &Design, kernel: Kernel) -> Self {
        let (n, order, rows) = (design.terms().bits(), design.terms().order(), design.rows());
        let side = stride(n + 1);
        let (square, blocks) = ((n + 1) * side, rows.div_ceil(LANES));
        let mut runs: Vec<(usize, usize)> = (0..n).map(|i| (i * side + i, 1)).collect();
        if order >= 2 {
            runs.extend((0..n).map(|i| (i * side + i + 1, n - i - 1)));
        }
        if order >= 3 {
            let of_three =
                |i: usize| (i + 1..n).map(move |j| ((1 + i) * square + j * side + j + 1, n - j - 1));
            runs.extend((0..n).flat_map(of_three));
        }
        Self {
            kernel,
            bits: n,
            stride: side,
            square,
            squares: vec![0.0; if order >= 3 { (1 + n) * square } else { square }],
            runs,
            tables: Tables::new(n),
            weight_tables: vec![Table::EMPTY; rows.div_ceil(FOUR)],
            weights: vec![0.0; if order >= 3 { rows } else { 0 }],
            rows: vec![[0.0; LANES]; blocks],
            others: vec![[0.0; LANES]; if order >= 3 { blocks } else { 0 }],
        }
    }

    /// Writes the upper triangle of Φ D Φᵀ into `g`, by rows of stride(rows); `d` has a number for each term.
    ///
    /// What stands below the diagonal, and beyond the last row, is finite and nothing more.
    pub fn gram(&mut self, design: &Design, d: &[f64], g: &mut [f64]) {
        self.spread(d);
        for (k, row) in g.chunks_exact_mut(stride(design.rows()).max(LANES)).enumerate() {
            let (from, _) = row[k - k % LANES..].as_chunks_mut();
            self.sums(design.shared(k), from);
        }
    }

    /// Φu.
    pub fn times(&mut self, design: &Design, u: &[f64], product: &mut [f64]) {
        self.spread(u);
        let mut sums = std::mem::take(&mut self.rows);
        self.sums(design.all(), &mut sums);
        product.copy_from_slice(&sums.as_flattened()[..design.rows()]);
        self.rows = sums;
    }

    /// Φᵀw.
    pub fn transposed_times(&mut self, design: &Design, w: &[f64], product: &mut [f64]) {
        let (base, of_three) = self.squares.split_at_mut(self.square);
        let columns = design.bit_columns();
        let mut sum = |weights: &[f64], square: &mut [f64]| {
            self.kernel.sum_weights(
                weights,
                columns,
                self.bits,
                &mut self.weight_tables,
                square,
                self.stride,
            );
        };
        sum(w, base);
        let blocks = self.bits.div_ceil(LANES);
        for (i, square) in of_three.chunks_exact_mut(self.square).enumerate() {
            for (k, (weight, w)) in self.weights.iter_mut().zip(w).enumerate() {
                let has = columns[k / WORD * blocks + i / LANES][i % LANES] >> (k % WORD) & 1 == 1;
                *weight = if has { *w } else { 0.0 };
            }
            sum(&self.weights, square);
        }
        let mut rest = product;
        for &(start, length) in &self.runs {
            let (run, later) = rest.split_at_mut(length);
            run.copy_from_slice(&self.squares[start..start + length]);
            rest = later;
        }
    }

    /// Writes numbers of terms into the squares.
    fn spread(&mut self, numbers: &[f64]) {
        // A product with the transpose leaves what it computed, also where no terms are.
        self.squares.fill(0.0);
        let mut rest = numbers;
        for &(start, length) in &self.runs {
            let (run, later) = rest.split_at(length);
            self.squares[start..start + length].copy_from_slice(run);
            rest = later;
        }
    }

    /// Sums the numbers in the squares over the terms that each row has of a pattern.
    fn sums(&mut self, pattern: Pattern<'_>, sums: &mut [[f64; LANES]]) {
        let (base, of_three) = self.squares.split_at(self.square);
        let mut add = |square: &[f64], first_four, sums: &mut [[f64; LANES]]| {
            self.kernel.add_sums(square, self.stride, first_four, pattern, &mut self.tables, sums);
        };
        sums.fill([0.0; LANES]);
        add(base, 0, sums);
        if of_three.is_empty() {
            return;
        }
        let width = pattern.support.len().div_ceil(WORD);
        let bits = pattern.support.iter().take_while(|&&bit| (bit as usize) < self.bits);
        for (rank, &bit) in bits.enumerate() {
            let others = &mut self.others[..sums.len()];
            others.fill([0.0; LANES]);
            add(&of_three[bit as usize * self.square..][..self.square], rank / FOUR, others);
            for (block, (sums, others)) in sums.iter_mut().zip(others).enumerate() {
                let words = pattern.words[block * width + rank / WORD];
                for (lane, word) in words.into_iter().enumerate() {
                    sums[lane] += if word >> (rank % WORD) & 1 == 1 { others[lane] } else { 0.0 };
                }
            }
        }
    }
}
