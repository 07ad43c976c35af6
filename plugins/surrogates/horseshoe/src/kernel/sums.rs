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

use super::lanes::{LANES, Lanes, Table};
use super::{Kernel, Work};

/// Bits to a table.
pub const FOUR: usize = 4;
/// Fours to a word.
const FOURS: usize = 16;

/// Blocks of eight points taken at a time where there are the registers for it.
const WIDE: usize = 4;

/// Which bits some points have of those that one point has.
#[derive(Clone, Copy, Debug)]
pub struct Pattern<'a> {
    /// The bits of the one point, ascending, then the padding bit until there are a multiple of [`FOUR`].
    pub support: &'a [u32],
    /// For each block of eight points, for each 64 bits of the support, which of them the points have.
    pub words: &'a [[u64; LANES]],
}

/// Working memory for patterns of so many bits.
pub fn tables(bits: usize) -> Vec<Table> {
    vec![Table::EMPTY; FOUR * bits.div_ceil(FOUR)]
}

impl Kernel {
    /// Adds to `sums` (a number for each point) Σ `square[i·stride + j]` over the bits i ≤ j that it has of the pattern.
    ///
    /// Fours before `first_four` are left out. The padding bit has zeros in `square`.
    ///
    /// # Panics
    /// Where the pattern or `tables` don't fit.
    pub fn add_sums(
        self,
        square: &[f64],
        stride: usize,
        first_four: usize,
        pattern: Pattern<'_>,
        tables: &mut [Table],
        sums: &mut [[f64; LANES]],
    ) {
        let fours = pattern.support.len() / FOUR;
        assert!(pattern.support.len().is_multiple_of(FOUR), "a support that is not padded");
        assert_eq!(pattern.words.len(), sums.len() * fours.div_ceil(FOURS), "a pattern of other points");
        assert!(tables.len() >= FOUR * fours, "tables for {} fours, not {fours}", tables.len() / FOUR);
        self.run(AddSums { square, stride, first_four, pattern, tables, sums });
    }
}

struct AddSums<'a> {
    square: &'a [f64],
    stride: usize,
    first_four: usize,
    pattern: Pattern<'a>,
    tables: &'a mut [Table],
    sums: &'a mut [[f64; LANES]],
}

impl Work for AddSums<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        let Pattern { support, words } = self.pattern;
        let (fours, _) = support.as_chunks::<FOUR>();
        for (g, four) in fours.iter().enumerate().skip(self.first_four) {
            let rows = four.map(|i| &self.square[i as usize * self.stride..][..self.stride]);
            let within: [[f64; 4]; 4] = rows.map(|row| four.map(|j| row[j as usize]));
            let own = [within[0][0], within[1][1], within[2][2], within[3][3]];
            let own = lanes.pair_sums(own, within);
            let (tables, _) = self.tables.as_chunks_mut::<FOUR>();
            let tables = &mut tables[..fours.len() - g - 1];
            for (tables, later) in tables.iter_mut().zip(&fours[g + 1..]) {
                for (table, row) in tables.iter_mut().zip(rows) {
                    *table = lanes.table(later.map(|j| row[j as usize]));
                }
            }

            let (width, shift) = (fours.len().div_ceil(FOURS), shift(g));
            let four = Four { tables, own: &own, g, shift, width };
            let blocks = if L::WIDE { self.sums.len() / WIDE } else { 0 };
            let (many, single) = self.sums.split_at_mut(blocks * WIDE);
            let (of_many, of_single) = words.split_at(blocks * WIDE * width);
            let (many, _) = many.as_chunks_mut::<WIDE>();
            for (words, sums) in of_many.chunks_exact(WIDE * width).zip(many) {
                four.add(lanes, words, sums);
            }
            let (single, _) = single.as_chunks_mut::<1>();
            for (words, sums) in of_single.chunks_exact(width).zip(single) {
                four.add(lanes, words, sums);
            }
        }
    }
}

/// Where four `g` stands in its word.
#[inline(always)]
fn shift(g: usize) -> u32 {
    (FOUR * (g % FOURS)) as u32
}

/// What four bits add: among themselves, and each with the later fours.
#[derive(Clone, Copy)]
struct Four<'a> {
    tables: &'a [[Table; FOUR]],
    own: &'a [f64; 16],
    g: usize,
    shift: u32,
    width: usize,
}

impl Four<'_> {
    #[inline(always)]
    fn add<L: Lanes, const BLOCKS: usize>(
        self,
        lanes: L,
        words: &[[u64; LANES]],
        sums: &mut [[f64; LANES]; BLOCKS],
    ) {
        let mut with = [[lanes.splat(0.0); BLOCKS]; FOUR];
        let mut tables = self.tables;
        let mut h = self.g + 1;
        while !tables.is_empty() {
            let word = h / FOURS;
            let held: [_; BLOCKS] = std::array::from_fn(|b| lanes.load_words(&words[b * self.width + word]));
            let (here, rest) = tables.split_at(tables.len().min(FOURS * (word + 1) - h));
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
        for b in 0..BLOCKS {
            let held = lanes.shift(lanes.load_words(&words[b * self.width + self.g / FOURS]), self.shift);
            let mut sum = lanes.add(lanes.load(&sums[b]), lanes.pick(self.own, held));
            if !self.tables.is_empty() {
                let first = lanes.add(lanes.keep::<0>(held, with[0][b]), lanes.keep::<1>(held, with[1][b]));
                let last = lanes.add(lanes.keep::<2>(held, with[2][b]), lanes.keep::<3>(held, with[3][b]));
                sum = lanes.add(sum, lanes.add(first, last));
            }
            lanes.store(sum, &mut sums[b]);
        }
    }
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
        let mut design = Design::new(Terms::new(bits, order, &[]));
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
