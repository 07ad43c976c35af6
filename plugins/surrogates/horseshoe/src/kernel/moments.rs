//! Sums of weights over the points that have each term: Xᵀw without ever making X.
//!
//! The sum for bits i and j is that of the weights of the points that have both. The points are taken by fours: their weights
//! have sixteen subset sums, and which of these it is, is the nibble of i AND that of j. The lanes are bits j.

use super::lanes::{LANES, Lanes, Table};
use super::{Kernel, Work};

/// Points to a table.
const FOUR: usize = 4;
/// Points to a word.
pub const WORD: usize = 64;

impl Kernel {
    /// Writes to `square[i·stride + j]`, for bits i ≤ j, the sum of the weights of the points that have both.
    ///
    /// `columns` holds, for each 64 points, for each block of eight bits, which of the points have them; `tables` is
    /// working memory, one for each four points.
    ///
    /// # Panics
    /// Where the slices don't fit.
    pub fn sum_weights(
        self,
        weights: &[f64],
        columns: &[[u64; LANES]],
        bits: usize,
        tables: &mut [Table],
        square: &mut [f64],
        stride: usize,
    ) {
        let blocks = bits.div_ceil(LANES);
        assert!(stride.is_multiple_of(LANES) && stride >= bits, "a stride of {stride} for {bits} bits");
        assert!(square.len() >= bits * stride, "a square that is too small");
        assert_eq!(columns.len(), blocks * weights.len().div_ceil(WORD), "columns of other points");
        let fours = weights.len().div_ceil(FOUR);
        assert!(tables.len() >= fours, "tables for {} fours, not {fours}", tables.len());
        self.run(SumWeights { weights, columns, bits, tables: &mut tables[..fours], square, stride });
    }
}

struct SumWeights<'a> {
    weights: &'a [f64],
    columns: &'a [[u64; LANES]],
    bits: usize,
    tables: &'a mut [Table],
    square: &'a mut [f64],
    stride: usize,
}

impl Work for SumWeights<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) {
        for (table, weights) in self.tables.iter_mut().zip(self.weights.chunks(FOUR)) {
            let mut four = [0.0; FOUR];
            four[..weights.len()].copy_from_slice(weights);
            *table = lanes.table(four);
        }
        let blocks = self.bits.div_ceil(LANES);
        for i in 0..self.bits {
            let first = i / LANES;
            let row = &mut self.square[i * self.stride..][first * LANES..blocks * LANES];
            let (sums, _) = row.as_chunks_mut::<LANES>();
            let (many, single) = sums.as_chunks_mut::<4>();
            let rest = first + 4 * many.len();
            for (block, sums) in (first..).step_by(4).zip(many) {
                sum(lanes, self.tables, self.columns, blocks, (i, block), sums);
            }
            for (block, sums) in (rest..).zip(single.as_chunks_mut::<1>().0) {
                sum(lanes, self.tables, self.columns, blocks, (i, block), sums);
            }
        }
    }
}

/// The sums for bit `i` and the blocks of bits from `block` on.
#[inline(always)]
fn sum<L: Lanes, const BLOCKS: usize>(
    lanes: L,
    tables: &[Table],
    columns: &[[u64; LANES]],
    blocks: usize,
    (i, block): (usize, usize),
    sums: &mut [[f64; LANES]; BLOCKS],
) {
    let mut total = [lanes.splat(0.0); BLOCKS];
    for (tables, columns) in tables.chunks(WORD / FOUR).zip(columns.chunks_exact(blocks)) {
        let have = columns[i / LANES][i % LANES];
        if have == 0 {
            continue;
        }
        let mut both = [lanes.and(lanes.load_words(&columns[block]), have); BLOCKS];
        for b in 1..BLOCKS {
            both[b] = lanes.and(lanes.load_words(&columns[block + b]), have);
        }
        for table in tables {
            for b in 0..BLOCKS {
                total[b] = lanes.add(total[b], lanes.look_up(table, lanes.nibbles(both[b])));
                both[b] = lanes.shift(both[b], FOUR as u32);
            }
        }
    }
    for b in 0..BLOCKS {
        lanes.store(total[b], &mut sums[b]);
    }
}
