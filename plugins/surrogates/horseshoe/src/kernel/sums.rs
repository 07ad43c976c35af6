//! Sums of numbers d over the terms that points have in common: X D Xᵀ without ever making X.
//!
//! A term is 1 at a point where all its bits are set, so the terms that the points k and l share are those of their common
//! bits z, and G_kl = Σ d_ij over i ≤ j in z, where d_ii stands for bit i itself. For one k only its own bits matter:
//! of d what lies among them, and of each l the bits in their places, packed ([`Pattern`]). These are taken by fours:
//!
//! - Σ_j d_ij over four bits j is one of the sixteen subset sums of four numbers: a table, made once for all l;
//! - for four bits i at a time, the entries for all later fours j are added up, and what stands for an i that l lacks
//!   is dropped;
//! - the pairs within a four are a table too.
//!
//! So an entry takes s²/8 look-ups and additions, s = n/2 bits set, where a product of matrices takes p ≈ n²/2
//! multiplications and additions, 16 times as many. With AVX-512 a table is two registers and a look-up in eight lanes
//! one instruction.

use std::ops::Range;

use super::lanes::{LANES, Lanes, Table};
use super::{Kernel, Work};

/// Bits to a table.
pub const FOUR: usize = 4;
/// Fours to a word.
const FOURS: usize = 16;

/// Tables that stay in the first cache, by fours: 24 KiB.
const CACHED: usize = 48;

/// Which bits some points have of those that one point has.
#[derive(Clone, Copy, Debug)]
pub struct Pattern<'a> {
    /// The bits of the one point, ascending, then the padding bit until there are a multiple of [`FOUR`].
    pub support: &'a [u32],
    /// For each block of eight points, for each 64 bits of the support, which of them the points have.
    pub words: &'a [[u64; LANES]],
}

/// Working memory for patterns of this many bits.
#[derive(Clone, Debug)]
pub struct Tables {
    /// For four bits at a time, the sums among them.
    own: Vec<[f64; 16]>,
    /// For the same fours, for each later four, the sums of each of the bits with these.
    later: Vec<[Table; FOUR]>,
}

impl Tables {
    pub fn new(bits: usize) -> Self {
        let fours = bits.div_ceil(FOUR);
        Self { own: vec![[0.0; 16]; fours], later: vec![[Table::EMPTY; FOUR]; fours.max(CACHED)] }
    }
}

impl Kernel {
    /// Adds to `sums` (a number for each point) Σ `square[i·stride + j]` over the bits i ≤ j that it has of the pattern.
    ///
    /// Fours before `first` are left out. The padding bit has zeros in `square`.
    ///
    /// # Panics
    /// Where the pattern or `tables` don't fit.
    pub fn add_sums(
        self,
        square: &[f64],
        stride: usize,
        first: usize,
        pattern: Pattern<'_>,
        tables: &mut Tables,
        sums: &mut [[f64; LANES]],
    ) {
        let (fours, rest) = pattern.support.as_chunks();
        assert!(rest.is_empty(), "a support that is not padded");
        assert!(
            tables.own.len() >= fours.len(),
            "tables for {} fours, not {}",
            tables.own.len(),
            fours.len()
        );
        let width = fours.len().div_ceil(FOURS);
        assert_eq!(pattern.words.len(), sums.len() * width, "a pattern of other points");
        self.run(AddSums { square, stride, fours, first, words: pattern.words, width, tables, sums });
    }
}

struct AddSums<'a> {
    square: &'a [f64],
    stride: usize,
    fours: &'a [[u32; FOUR]],
    first: usize,
    words: &'a [[u64; LANES]],
    width: usize,
    tables: &'a mut Tables,
    sums: &'a mut [[f64; LANES]],
}

impl Work for AddSums<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self, lanes: L) {
        let mut start = self.first;
        while start < self.fours.len() {
            let end = self.fill_tables(lanes, start);
            let some =
                Some { range: start..end, fours: self.fours.len(), width: self.width, tables: self.tables };
            if L::WIDE {
                let (words, sums) = some.add_each::<L, 4>(lanes, self.words, self.sums);
                let (words, sums) = some.add_each::<L, 2>(lanes, words, sums);
                some.add_each::<L, 1>(lanes, words, sums);
            } else {
                some.add_each::<L, 1>(lanes, self.words, self.sums);
            }
            start = end;
        }
    }
}

impl AddSums<'_> {
    /// Fills the tables of the fours from `start` on, as many as there is room for, and answers where it ended.
    #[inline(always)]
    fn fill_tables<L: Lanes>(&mut self, lanes: L, start: usize) -> usize {
        let Tables { own, later } = &mut *self.tables;
        let mut room = later.as_mut_slice();
        for (g, own) in (start..self.fours.len()).zip(own) {
            let others = &self.fours[g + 1..];
            if others.len() > room.len() {
                return g;
            }
            let [a, b, c, d] = self.fours[g];
            let four = [a as usize, b as usize, c as usize, d as usize];
            let row = |i: usize| &self.square[i * self.stride..][..self.stride];
            let rows = [row(four[0]), row(four[1]), row(four[2]), row(four[3])];
            *own =
                lanes.pair_sums([at(rows[0], four), at(rows[1], four), at(rows[2], four), at(rows[3], four)]);
            let (tables, rest) = room.split_at_mut(others.len());
            for (tables, other) in tables.iter_mut().zip(others) {
                let [a, b, c, d] = *other;
                let other = [a as usize, b as usize, c as usize, d as usize];
                // Checked once for the four rows.
                assert!(
                    other[0].max(other[1]).max(other[2]).max(other[3]) < self.stride,
                    "a bit of no column"
                );
                for t in 0..FOUR {
                    tables[t] = lanes.table(at(rows[t], other));
                }
            }
            room = rest;
        }
        self.fours.len()
    }
}

#[inline(always)]
fn at(row: &[f64], four: [usize; FOUR]) -> [f64; FOUR] {
    [row[four[0]], row[four[1]], row[four[2]], row[four[3]]]
}

/// What some fours add: the bits of each among themselves, and with the later ones.
struct Some<'a> {
    range: Range<usize>,
    fours: usize,
    width: usize,
    tables: &'a Tables,
}

impl Some<'_> {
    /// Adds to as many sums as there are, `BLOCKS` blocks of eight at a time, and answers what is left.
    #[inline(always)]
    fn add_each<'b, L: Lanes, const BLOCKS: usize>(
        &self,
        lanes: L,
        words: &'b [[u64; LANES]],
        sums: &'b mut [[f64; LANES]],
    ) -> (&'b [[u64; LANES]], &'b mut [[f64; LANES]]) {
        let (many, rest) = sums.as_chunks_mut::<BLOCKS>();
        let (of_many, of_rest) = words.split_at(many.len() * BLOCKS * self.width);
        for (words, sums) in of_many.chunks_exact(BLOCKS * self.width).zip(many) {
            self.add(lanes, words, sums);
        }
        (of_rest, rest)
    }

    #[inline(always)]
    fn add<L: Lanes, const BLOCKS: usize>(
        &self,
        lanes: L,
        words: &[[u64; LANES]],
        sums: &mut [[f64; LANES]; BLOCKS],
    ) {
        let mut sum = [lanes.splat(0.0); BLOCKS];
        for b in 0..BLOCKS {
            sum[b] = lanes.load(&sums[b]);
        }
        let mut later = self.tables.later.as_slice();
        for (g, own) in self.range.clone().zip(&self.tables.own) {
            let (tables, rest) = later.split_at(self.fours - g - 1);
            later = rest;
            let mut held = [lanes.load_words(&words[g / FOURS]); BLOCKS];
            for b in 0..BLOCKS {
                held[b] = lanes.shift(lanes.load_words(&words[b * self.width + g / FOURS]), shift(g));
                sum[b] = lanes.add(sum[b], lanes.pick(own, held[b]));
            }
            if tables.is_empty() {
                continue;
            }
            let with = self.with_later::<L, BLOCKS>(lanes, words, g + 1, tables);
            for b in 0..BLOCKS {
                sum[b] = lanes.add_where::<0>(sum[b], held[b], with[0][b]);
            }
            for b in 0..BLOCKS {
                sum[b] = lanes.add_where::<1>(sum[b], held[b], with[1][b]);
            }
            for b in 0..BLOCKS {
                sum[b] = lanes.add_where::<2>(sum[b], held[b], with[2][b]);
            }
            for b in 0..BLOCKS {
                sum[b] = lanes.add_where::<3>(sum[b], held[b], with[3][b]);
            }
        }
        for b in 0..BLOCKS {
            lanes.store(sum[b], &mut sums[b]);
        }
    }

    /// For each of four bits, the sums with the bits of the fours from `h` on.
    #[inline(always)]
    fn with_later<L: Lanes, const BLOCKS: usize>(
        &self,
        lanes: L,
        words: &[[u64; LANES]],
        mut h: usize,
        mut tables: &[[Table; FOUR]],
    ) -> [[L::Numbers; BLOCKS]; FOUR] {
        let mut with = [[lanes.splat(0.0); BLOCKS]; FOUR];
        while !tables.is_empty() {
            let word = h / FOURS;
            let (here, rest) = tables.split_at(tables.len().min(FOURS * (word + 1) - h));
            let mut held = [lanes.load_words(&words[word]); BLOCKS];
            for b in 1..BLOCKS {
                held[b] = lanes.load_words(&words[b * self.width + word]);
            }
            for tables in here {
                let mut nibbles = [lanes.nibbles(held[0]); BLOCKS];
                for b in 0..BLOCKS {
                    nibbles[b] = lanes.nibbles(lanes.shift(held[b], shift(h)));
                }
                for t in 0..FOUR {
                    for b in 0..BLOCKS {
                        with[t][b] = lanes.add(with[t][b], lanes.look_up(&tables[t], nibbles[b]));
                    }
                }
                h += 1;
            }
            tables = rest;
        }
        with
    }
}

/// Where four `g` stands in its word.
#[inline(always)]
fn shift(g: usize) -> u32 {
    (FOUR * (g % FOURS)) as u32
}

#[cfg(test)]
mod tests {
    use plugin_api::random::normal;
    use plugin_api::{Layout, rng};
    use shared_terms::Terms;

    use crate::design::Design;
    use crate::kernel::Kernel;
    use crate::kernel::cholesky::stride;
    use crate::products::Products;

    /// Rows with a few bits, half of them, nearly all, all and none, over more than one word.
    fn design(bits: usize, order: usize, rows: usize) -> Design {
        let mut rng = rng(5);
        let mut design = Design::new(Terms::new(&plugin_api::Layout::free(bits), order));
        for k in 0..rows {
            let mut x = Layout::free(bits).random(&mut rng);
            match k % 7 {
                1 => x.iter_mut().enumerate().for_each(|(i, bit)| *bit &= i % 5 == 0),
                2 => x.iter_mut().enumerate().for_each(|(i, bit)| *bit |= i % 5 != 0),
                3 => x.iter_mut().for_each(|bit| *bit = true),
                4 => x.iter_mut().for_each(|bit| *bit = false),
                _ => {}
            }
            design.push(&x);
        }
        design
    }

    const CASES: [(usize, usize, usize); 9] = [
        (1, 1, 1),
        (5, 2, 3),
        (9, 2, 16),
        (12, 2, 37),
        (70, 2, 50),
        (140, 2, 9),
        (30, 1, 70),
        (7, 3, 20),
        (23, 3, 70),
    ];

    #[test]
    fn a_product_of_the_design_with_itself_sums_over_shared_terms() {
        for (bits, order, rows) in CASES {
            let design = design(bits, order, rows);
            let mut rng = rng(6);
            // Whole numbers, so that every order of addition gives the same sum.
            let d: Vec<f64> = (0..design.columns()).map(|_| (1e6 * normal(&mut rng)).round()).collect();
            let terms: Vec<Vec<u32>> = (0..rows).map(|k| design.row(k)).collect();
            for kernel in Kernel::available() {
                let mut g = vec![f64::NAN; rows * stride(rows)];
                Products::new(&design, kernel).gram(&design, &d, &mut g);
                for k in 0..rows {
                    for l in k..rows {
                        let shared = terms[k].iter().filter(|&term| terms[l].binary_search(term).is_ok());
                        let expected: f64 = shared.map(|&term| d[term as usize]).sum();
                        assert_eq!(
                            g[k * stride(rows) + l],
                            expected,
                            "({k}, {l}) of {bits} bits, {kernel:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn products_with_vectors_are_those_of_the_written_out_matrix() {
        for (bits, order, rows) in CASES {
            let design = design(bits, order, rows);
            let mut rng = rng(6);
            let mut whole =
                |count: usize| -> Vec<f64> { (0..count).map(|_| (1e6 * normal(&mut rng)).round()).collect() };
            let (u, w) = (whole(design.columns()), whole(rows));
            let (mut expected_rows, mut expected_terms) = (vec![0.0; rows], vec![0.0; u.len()]);
            for k in 0..rows {
                for term in design.row(k) {
                    expected_rows[k] += u[term as usize];
                    expected_terms[term as usize] += w[k];
                }
            }
            for kernel in Kernel::available() {
                let mut products = Products::new(&design, kernel);
                let (mut by_rows, mut by_terms) = (vec![f64::NAN; rows], vec![f64::NAN; u.len()]);
                products.transposed_times(&design, &w, &mut by_terms);
                products.times(&design, &u, &mut by_rows);
                assert_eq!(by_rows, expected_rows, "{bits} bits, order {order}, {kernel:?}");
                assert_eq!(by_terms, expected_terms, "{bits} bits, order {order}, {kernel:?}");
            }
        }
    }

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        for (bits, order, rows) in CASES {
            let design = design(bits, order, rows);
            let mut rng = rng(7);
            // Of all sizes and both signs, zeros of both signs among them: whatever is added in another order shows.
            let mut number = || {
                let z = normal(&mut rng);
                if z.abs() < 0.05 { 0.0f64.copysign(z) } else { z * libm::exp(9.0 * normal(&mut rng)) }
            };
            let u: Vec<f64> = (0..design.columns()).map(|_| number()).collect();
            let w: Vec<f64> = (0..rows).map(|_| number()).collect();
            let bits_of = |kernel: Kernel| -> Vec<u64> {
                let mut products = Products::new(&design, kernel);
                let mut all = vec![0.0; rows * stride(rows) + rows + u.len()];
                let (g, rest) = all.split_at_mut(rows * stride(rows));
                let (by_rows, by_terms) = rest.split_at_mut(rows);
                products.gram(&design, &u, g);
                products.times(&design, &u, by_rows);
                products.transposed_times(&design, &w, by_terms);
                all.iter().map(|x| x.to_bits()).collect()
            };
            let portable = bits_of(Kernel::named("portable").unwrap());
            for kernel in Kernel::available() {
                assert!(bits_of(kernel) == portable, "{bits} bits, order {order}: {kernel:?} differs");
            }
        }
    }
}
