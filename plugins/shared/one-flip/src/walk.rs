//! A tabu walk (Glover 1989): at each move the best flip, be it up or down, of a bit that was not turned over
//! lately; or of any bit, where that leads below all that the walk has seen.

use plugin_api::rand::Rng as _;
use plugin_api::{Bits, Quadratic, Rng};

/// How many bits are looked at side by side.
const LANES: usize = 4;
/// How many bits have their lowest gain remembered together; a multiple of `LANES`.
const BLOCK: usize = 32;

/// How many moves a bit stays as it is after it was turned over: uniform from `least` to `most`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tenure {
    pub least: u64,
    pub most: u64,
}

impl Tenure {
    /// The same, or the longest that leaves half of `n` bits free.
    pub(crate) fn among(self, n: usize) -> Self {
        let most = (n as u64).saturating_sub(1) / 2;
        Self { least: self.least.min(most), most: self.most.min(most) }
    }
}

/// Walks on one function, one after the other.
///
/// A move adds to the slopes, which are recomputed at the start of each walk. The m moves of a walk change
/// them by at most m·2⁻⁵³ of the largest row; so an improvement has to be more than rounding, and the value
/// of the best point is not the walk's own sum.
pub struct Walker<'f> {
    f: &'f Quadratic,
    /// Bits, and more that never move up to a multiple of `LANES`.
    width: usize,
    /// The pairs as a symmetric matrix, by rows of `width`.
    pairs: Vec<f64>,
    /// What the function gains when a bit goes from 0 to 1.
    slopes: Vec<f64>,
    /// 1 where a bit is clear, −1 where it is set: times the slope, what turning the bit over gains.
    signs: Vec<f64>,
    /// What keeps a bit from moving: 0 or infinity.
    barriers: Vec<f64>,
    /// The bits that may not move, each with the move from which it may again.
    tabu: Vec<(usize, u64)>,
    /// The lowest gain of free bits in each block.
    lowest: Vec<f64>,
    best_signs: Vec<f64>,
    /// What an improvement has to gain: far above what rounding can do to a gain.
    least: f64,
}

impl<'f> Walker<'f> {
    pub fn new(f: &'f Quadratic) -> Self {
        let n = f.dimension();
        let width = n.next_multiple_of(LANES);
        let pairs = f.symmetric_by(width);
        let mut reach: Vec<f64> = f.linear().iter().map(|b| b.abs()).collect();
        for i in 0..n {
            for (j, &a) in (i + 1..).zip(f.row(i)) {
                reach[i] += a.abs();
                reach[j] += a.abs();
            }
        }
        Self {
            f,
            width,
            pairs,
            slopes: vec![0.0; width],
            signs: vec![1.0; width],
            barriers: vec![f64::INFINITY; width],
            tabu: Vec::new(),
            lowest: vec![f64::INFINITY; width.div_ceil(BLOCK)],
            best_signs: vec![1.0; width],
            least: 1e-12 * reach.into_iter().fold(0.0, f64::max),
        }
    }

    /// Goes from `bits` to the best point of a walk, which ends after `patience` moves in a row without a
    /// better one, or after `most` moves. Answers the number of moves.
    pub fn walk(&mut self, bits: &mut Bits, tenure: Tenure, patience: u64, most: u64, rng: &mut Rng) -> u64 {
        self.walk_while(bits, tenure, patience, most, rng, &|| true)
    }

    /// [`walk`](Self::walk) for as long as `more` agrees, which is asked now and then.
    pub fn walk_while(
        &mut self,
        bits: &mut Bits,
        tenure: Tenure,
        patience: u64,
        most: u64,
        rng: &mut Rng,
        more: &dyn Fn() -> bool,
    ) -> u64 {
        /// Moves between two looks: each takes a few microseconds with thousands of bits.
        const OFTEN: u64 = 256;
        let tenure = tenure.among(bits.len());
        self.set(bits);
        let (mut value, mut best, mut best_at, mut moves) = (0.0, 0.0, 0, 0);
        while moves < most && moves - best_at < patience && (moves % OFTEN != OFTEN - 1 || more()) {
            let word = rng.next_u64();
            let improves = |gain: f64| value + gain < best - self.least;
            let aspiring = self.lowest_tabu().filter(|&(_, gain)| improves(gain));
            let Some((bit, gain)) = self.lowest_free(word as u32, aspiring) else { break };
            let improved = improves(gain);
            value += gain;
            moves += 1;
            let stays = tenure.least + scaled((word >> 32) as u32, tenure.most - tenure.least + 1);
            self.flip(bit, moves, moves + stays);
            if improved {
                (best, best_at) = (value, moves);
                self.best_signs.copy_from_slice(&self.signs);
            }
        }
        bits.iter_mut().zip(&self.best_signs).for_each(|(bit, &sign)| *bit = sign < 0.0);
        moves
    }

    fn set(&mut self, bits: &[bool]) {
        let n = bits.len();
        self.slopes[..n].copy_from_slice(self.f.linear());
        for i in (0..n).filter(|&i| bits[i]) {
            let row = &self.pairs[i * self.width..(i + 1) * self.width];
            self.slopes.iter_mut().zip(row).for_each(|(slope, a)| *slope += a);
        }
        self.signs.iter_mut().zip(bits).for_each(|(sign, &bit)| *sign = if bit { -1.0 } else { 1.0 });
        self.best_signs.copy_from_slice(&self.signs);
        self.barriers[..n].fill(0.0);
        self.tabu.clear();
        let nothing = vec![0.0; self.width];
        add_row(&mut self.slopes, &nothing, &self.signs, &self.barriers, &mut self.lowest, |s, a| s + a);
    }

    /// Turns bit `i` over, which stays as it is until the move `free_from`.
    fn flip(&mut self, i: usize, moves: u64, free_from: u64) {
        let Self { slopes, signs, barriers, lowest, .. } = self;
        self.tabu.retain(|&(bit, free_from)| {
            let stays = free_from > moves && bit != i;
            barriers[bit] = if stays { f64::INFINITY } else { 0.0 };
            stays
        });
        if free_from > moves {
            barriers[i] = f64::INFINITY;
            self.tabu.push((i, free_from));
        }
        signs[i] = -signs[i];
        let row = &self.pairs[i * self.width..(i + 1) * self.width];
        if signs[i] < 0.0 {
            add_row(slopes, row, signs, barriers, lowest, |slope, a| slope + a);
        } else {
            add_row(slopes, row, signs, barriers, lowest, |slope, a| slope - a);
        }
    }

    /// The bit that may not move with the lowest gain.
    fn lowest_tabu(&self) -> Option<(usize, f64)> {
        let gains = self.tabu.iter().map(|&(i, _)| (i, self.slopes[i] * self.signs[i]));
        gains.reduce(|best, next| if next.1 < best.1 { next } else { best })
    }

    /// The free bit with the lowest gain and that gain, or `other`, if that is lower. Of several, the first after
    /// a place that follows from `word`.
    fn lowest_free(&self, word: u32, other: Option<(usize, f64)>) -> Option<(usize, f64)> {
        let lowest = self.lowest.iter().copied().fold(f64::INFINITY, |a, b| if b < a { b } else { a });
        if let Some((_, gain)) = other.filter(|&(_, gain)| gain < lowest) {
            return other.filter(|_| gain.is_finite());
        }
        let circle = |length: usize, word: u32| {
            let start = scaled(word, length as u64) as usize;
            (start..length).chain(0..start)
        };
        let block = circle(self.lowest.len(), word).find(|&block| self.lowest[block] == lowest)?;
        let first = block * BLOCK;
        let length = (self.width - first).min(BLOCK);
        let gain = |i: usize| self.slopes[i] * self.signs[i] + self.barriers[i];
        let found = circle(length, word << 16).map(|offset| first + offset).find(|&i| gain(i) == lowest);
        found.filter(|_| lowest.is_finite()).map(|i| (i, lowest))
    }
}

/// Makes each slope what `sum` makes of it and of the row, and finds the lowest gain of each block.
#[inline]
fn add_row(
    slopes: &mut [f64],
    row: &[f64],
    signs: &[f64],
    barriers: &[f64],
    lowest: &mut [f64],
    sum: impl Fn(f64, f64) -> f64,
) {
    let blocks = slopes.chunks_mut(BLOCK).zip(row.chunks(BLOCK));
    let blocks = blocks.zip(signs.chunks(BLOCK).zip(barriers.chunks(BLOCK))).zip(lowest);
    for (((slopes, row), (signs, barriers)), lowest) in blocks {
        let mut least = [f64::INFINITY; LANES];
        // All are whole lanes: the width is a multiple of them.
        let (slopes, _) = slopes.as_chunks_mut::<LANES>();
        let (row, _) = row.as_chunks::<LANES>();
        let (signs, _) = signs.as_chunks::<LANES>();
        let (barriers, _) = barriers.as_chunks::<LANES>();
        for (((slopes, row), signs), barriers) in slopes.iter_mut().zip(row).zip(signs).zip(barriers) {
            *slopes = std::array::from_fn(|l| sum(slopes[l], row[l]));
            let gains: [f64; LANES] = std::array::from_fn(|l| slopes[l] * signs[l] + barriers[l]);
            least = std::array::from_fn(|l| if gains[l] < least[l] { gains[l] } else { least[l] });
        }
        let lower = |a: f64, b: f64| if b < a { b } else { a };
        *lowest = lower(lower(least[0], least[2]), lower(least[1], least[3]));
    }
}

/// A number below `bound`, uniform for uniform words; 0 where the bound is 0.
pub(crate) fn scaled(word: u32, bound: u64) -> u64 {
    (u64::from(word) * bound) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::testing::{minimum, random_quadratic};
    use plugin_api::{Layout, Problem, rng};

    const TENURE: Tenure = Tenure { least: 1, most: 10 };

    fn walked(f: &Quadratic, start: &Bits, patience: u64, most: u64) -> (Bits, u64) {
        let mut bits = start.clone();
        let moves = Walker::new(f).walk(&mut bits, TENURE, patience, most, &mut rng(1));
        (bits, moves)
    }

    #[test]
    fn slopes_and_lowest_gains_stay_those_of_the_point() {
        for n in [1, 3, 4, 31, 33, 70] {
            let f = random_quadratic(&mut rng(n as u64), n);
            let mut walker = Walker::new(&f);
            let mut bits = Layout::free(n).random(&mut rng(5));
            walker.set(&bits);
            for moves in 1..200 {
                let i = moves as usize * 7 % n;
                bits.flip(i);
                walker.flip(i, moves, moves + 3);
                let gains: Vec<f64> = (0..n).map(|i| f.flip_gain(&bits, i)).collect();
                for (i, gain) in gains.iter().enumerate() {
                    assert!((walker.slopes[i] * walker.signs[i] - gain).abs() < 1e-11);
                    assert_eq!(walker.signs[i] < 0.0, bits[i]);
                }
                let free = |i: &usize| walker.tabu.iter().all(|(bit, _)| bit != i);
                let lowest = (0..n).filter(free).map(|i| gains[i]).fold(f64::INFINITY, f64::min);
                match walker.lowest_free(moves as u32, None) {
                    Some((bit, gain)) => assert!(free(&bit) && (gain - lowest).abs() < 1e-11),
                    None => assert_eq!(lowest, f64::INFINITY),
                }
                assert!(walker.tabu.len() <= 3);
            }
        }
    }

    #[test]
    fn a_walk_climbs_out_of_a_local_minimum() {
        // 00 is a local minimum, 11 the other one: each flip alone costs 1.
        let f = Quadratic::new(0.0, vec![1.0, 1.0, 0.0], vec![-3.0, 0.0, 0.0]).unwrap();
        let (bits, _) = walked(&f, &Bits::zeros(3), 10, 100);
        assert_eq!(f.value(&bits), -1.0);
    }

    #[test]
    fn short_walks_find_small_minima() {
        for seed in 0..50 {
            let f = random_quadratic(&mut rng(seed), 12);
            let (bits, _) = walked(&f, &Bits::zeros(12), 200, 1000);
            assert!((f.value(&bits) - minimum(&Problem::new(f.clone()))).abs() < 1e-12);
        }
    }

    #[test]
    fn a_walk_ends_when_it_should_and_no_higher_than_it_began() {
        let f = random_quadratic(&mut rng(2), 30);
        for seed in 0..20 {
            let start = Layout::free(30).random(&mut rng(seed));
            for most in [0, 1, 5, 40] {
                let (bits, moves) = walked(&f, &start, 1000, most);
                assert!(moves == most && f.value(&bits) <= f.value(&start));
            }
            let (bits, moves) = walked(&f, &start, 25, u64::MAX);
            let again = walked(&f, &bits, 25, u64::MAX);
            assert!(moves >= 25 && (again.1 == 25 || f.value(&again.0) < f.value(&bits)));
        }
    }

    #[test]
    fn bits_that_gain_alike_take_turns() {
        let f = Quadratic::new(0.0, vec![-1.0; 40], vec![0.0; 780]).unwrap();
        let first = |seed| {
            let mut bits = Bits::zeros(40);
            Walker::new(&f).walk(&mut bits, TENURE, 1, 1, &mut rng(seed));
            bits
        };
        let points: std::collections::BTreeSet<Bits> = (0..200).map(first).collect();
        assert!(points.len() > 30 && points.iter().all(|bits| bits.count_ones() == 1));
    }

    #[test]
    fn numbers_beyond_all_limits_end_a_walk() {
        for huge in [f64::MAX, f64::INFINITY, f64::NAN] {
            let mut f = Quadratic::zero(10);
            (0..10).for_each(|i| f.add_linear(i, -huge));
            (1..10).for_each(|j| f.add_pair(0, j, -huge));
            let (bits, _) = walked(&f, &Bits::zeros(10), 100, 1000);
            assert_eq!(bits.len(), 10);
        }
    }
}
