//! Walks between points that keep all rules: at each move the best that is allowed, be it up or down.
//!
//! A move turns over a free bit, chooses another bit of a group, or exchanges: a single move that breaks a rule together
//! with one that mends it. Of those that break a rule, the few with the lowest gains are looked at with all their partners.

use plugin_api::rand::Rng as _;
use plugin_api::{Bits, Quadratic, Rng};
use shared_rules::{Broken, Flips, Place, Rules};

use crate::walk::{Tenure, scaled};

/// How many single moves that break a rule are tried with every partner.
const FIRSTS: usize = 3;

/// Walks on one function under one set of rules.
pub struct Walker<'f> {
    f: &'f Quadratic,
    /// The pairs as a symmetric matrix by rows.
    pairs: Vec<f64>,
    /// What the function gains when a bit goes from 0 to 1.
    slopes: Vec<f64>,
    /// What each single move gains.
    gains: Vec<f64>,
    rules: &'f Rules,
    place: Place<'f>,
    /// The bits that the rules leave one value.
    fixed: Vec<usize>,
    /// The move from which a bit may be turned to again.
    free_from: Vec<u64>,
    /// What an improvement has to gain: far above what rounding can do to a gain.
    least: f64,
}

/// A move, and what it gains.
#[derive(Clone, Copy)]
struct Step {
    gain: f64,
    flips: Flips,
}

impl<'f> Walker<'f> {
    /// A walker that stands at `bits`, which keep the rules.
    pub fn new(f: &'f Quadratic, rules: &'f Rules, bits: &[bool]) -> Self {
        let n = f.dimension();
        let pairs = f.symmetric();
        let rows = pairs.chunks(n.max(1));
        let reach = rows.zip(f.linear()).map(|(row, b)| b.abs() + row.iter().map(|a| a.abs()).sum::<f64>());
        let least = 1e-12 * reach.fold(0.0, f64::max);
        let place = Place::new(rules, bits);
        let fixed = (0..n).filter(|&i| rules.fixed()[i].is_some()).collect();
        let (slopes, gains, free_from) = (vec![0.0; n], vec![0.0; n], vec![0; n]);
        let mut walker = Self { f, pairs, slopes, gains, rules, place, fixed, free_from, least };
        walker.set(bits);
        walker
    }

    /// Where it stands.
    pub fn bits(&self) -> &Bits {
        self.place.bits()
    }

    /// Goes to `bits`, which keep the rules.
    pub fn set(&mut self, bits: &[bool]) {
        let n = bits.len();
        self.place.set(bits);
        self.slopes.copy_from_slice(self.f.linear());
        for i in (0..n).filter(|&i| bits[i]) {
            let row = &self.pairs[i * n..(i + 1) * n];
            self.slopes.iter_mut().zip(row).for_each(|(slope, a)| *slope += a);
        }
        self.free_from.fill(0);
    }

    /// Makes the move that gains most, until none gains, for as long as `more` agrees. Answers the number of moves.
    pub fn descend_while(&mut self, more: &dyn Fn() -> bool) -> u64 {
        /// Moves between two looks: each takes a few microseconds with hundreds of bits.
        const OFTEN: u64 = 64;
        for moves in 0.. {
            let Some(step) = self.best(0, 0, f64::NEG_INFINITY) else { return moves };
            if step.gain >= -self.least || moves % OFTEN == OFTEN - 1 && !more() {
                return moves;
            }
            self.make(&step.flips);
        }
        unreachable!("the loop has no other end")
    }

    /// Goes from `bits` to the best point of a walk, as [`Walker::walk_while`](crate::Walker::walk_while) does.
    pub fn walk_while(
        &mut self,
        bits: &mut Bits,
        tenure: Tenure,
        patience: u64,
        most: u64,
        rng: &mut Rng,
        more: &dyn Fn() -> bool,
    ) -> u64 {
        const OFTEN: u64 = 64;
        let tenure = tenure.among(bits.len());
        self.set(bits);
        let (mut value, mut best, mut best_at, mut moves) = (0.0, 0.0, 0, 0);
        while moves < most && moves - best_at < patience && (moves % OFTEN != OFTEN - 1 || more()) {
            let word = rng.next_u64();
            // What leads below all that the walk has seen is free, whenever it was turned over.
            let aspired = best - self.least - value;
            let step = self.best(word as u32, moves, aspired).or_else(|| {
                // Every move was made lately: few are possible, and the walk goes on with the best of them.
                self.free_from.fill(0);
                self.best(word as u32, moves, aspired)
            });
            let Some(Step { gain, flips }) = step else { break };
            value += gain;
            moves += 1;
            let stays = tenure.least + scaled((word >> 32) as u32, tenure.most - tenure.least + 1);
            self.make(&flips);
            flips.bits().iter().for_each(|&bit| self.free_from[bit] = moves + stays);
            if value < best - self.least {
                (best, best_at) = (value, moves);
                bits.copy_from_slice(self.place.bits());
            }
        }
        moves
    }

    /// The best move that is allowed, to bits that are free at this move or with a gain below `aspired`; of several the
    /// first after a place that follows from `word`.
    fn best(&mut self, word: u32, moves: u64, aspired: f64) -> Option<Step> {
        self.update_gains();
        let n = self.slopes.len();
        let mut best: Option<Step> = None;
        let mut lowest = f64::INFINITY;
        // The single moves that break a rule, the lowest gains first.
        let mut firsts: [Option<(Step, Broken)>; FIRSTS] = [None; FIRSTS];
        let mut last = f64::INFINITY;
        let start = scaled(word, n as u64) as usize;
        for bits in [start..n, 0..start] {
            for bit in bits {
                let gain = self.gains[bit];
                // Nearly all are left here.
                if gain >= lowest && gain >= last || gain == f64::INFINITY {
                    continue;
                }
                let free = self.free_from[bit] <= moves;
                if !free && (gain >= aspired || gain >= lowest) {
                    continue;
                }
                let Some(flips) = self.place.single(bit) else { continue };
                match self.place.breaks(&flips) {
                    None if gain < lowest => (lowest, best) = (gain, Some(Step { gain, flips })),
                    Some(broken) if free && gain < last => {
                        let at = firsts.partition_point(|f| f.is_some_and(|f| f.0.gain <= gain));
                        firsts[at..].rotate_right(1);
                        firsts[at] = Some((Step { gain, flips }, broken));
                        last = firsts[FIRSTS - 1].map_or(f64::INFINITY, |f| f.0.gain);
                    }
                    _ => {}
                }
            }
        }
        for (first, broken) in firsts.into_iter().flatten() {
            self.place.mending(broken, |bit| {
                let gain = first.gain + self.gains[bit] + self.between(&first.flips, bit);
                let free = self.free_from[bit] <= moves || gain < aspired;
                if free
                    && gain < lowest
                    && let Some(flips) = self.place.exchange(first.flips, bit)
                    && self.place.allows(&flips)
                {
                    (lowest, best) = (gain, Some(Step { gain, flips }));
                }
            });
        }
        best
    }

    /// What each single move gains; infinity where there is none.
    fn update_gains(&mut self) {
        let n = self.slopes.len();
        let bits = self.place.bits();
        for ((gain, &slope), &bit) in self.gains.iter_mut().zip(&self.slopes).zip(bits.iter()) {
            *gain = if bit { -slope } else { slope };
        }
        for (at, group) in self.rules.groups().iter().enumerate() {
            let set = self.place.chosen(at);
            let (clearing, row) = (self.slopes[set], &self.pairs[set * n..(set + 1) * n]);
            for i in group.clone() {
                self.gains[i] = self.slopes[i] - clearing - row[i];
            }
            self.gains[set] = f64::INFINITY;
        }
        self.fixed.iter().for_each(|&i| self.gains[i] = f64::INFINITY);
    }

    /// What a single move to `bit` gains more where the bits of `first` are turned over before it.
    fn between(&self, first: &Flips, bit: usize) -> f64 {
        let n = self.slopes.len();
        let bits = self.place.bits();
        let chosen = self.rules.group_of(bit).map(|group| self.place.chosen(group));
        let mut sum = 0.0;
        for &i in first.bits() {
            let row = &self.pairs[i * n..(i + 1) * n];
            let pair = match chosen {
                None if bits[bit] => -row[bit],
                None => row[bit],
                Some(set) => row[bit] - row[set],
            };
            sum += if bits[i] { -pair } else { pair };
        }
        sum
    }

    fn make(&mut self, flips: &Flips) {
        let n = self.slopes.len();
        for &i in flips.bits() {
            let row = &self.pairs[i * n..(i + 1) * n];
            match self.place.bits()[i] {
                true => self.slopes.iter_mut().zip(row).for_each(|(slope, a)| *slope -= a),
                false => self.slopes.iter_mut().zip(row).for_each(|(slope, a)| *slope += a),
            }
        }
        self.place.make(flips);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::rng;

    const TENURE: Tenure = Tenure { least: 1, most: 5 };

    fn after(bits: &Bits, flips: &Flips) -> Bits {
        let mut bits = bits.clone();
        flips.bits().iter().for_each(|&bit| bits.flip(bit));
        bits
    }

    #[test]
    fn gains_stay_the_differences_of_values_and_every_move_keeps_the_rules() {
        let mut exchanges = 0;
        for number in 0..100 {
            let problem = golden_constrained::problem(number);
            let f = problem.quadratic().unwrap();
            let rules = Rules::of(problem.layout()).unwrap();
            let rng = &mut rng(number);
            let mut walker = Walker::new(f, &rules, &rules.random(rng).unwrap());
            for moves in 0..30 {
                let Some(step) = walker.best(rng.next_u64() as u32, moves, f64::NEG_INFINITY) else { break };
                let here = walker.bits().clone();
                let there = after(&here, &step.flips);
                let gain = f.value(&there) - f.value(&here);
                assert!((step.gain - gain).abs() <= 1e-10 * f.magnitude(), "{} and {gain}", step.gain);
                assert!(rules.admit(&there));
                exchanges += usize::from(step.flips.bits().len() > 2);
                walker.make(&step.flips);
                step.flips.bits().iter().for_each(|&bit| walker.free_from[bit] = moves + 3);
                assert_eq!(*walker.bits(), there);
            }
        }
        assert!(exchanges > 20, "{exchanges}");
    }

    #[test]
    fn a_descent_ends_where_no_single_move_gains_and_a_walk_no_higher_than_it_began() {
        for number in 0..100 {
            let problem = golden_constrained::problem(number);
            let f = problem.quadratic().unwrap();
            let rules = Rules::of(problem.layout()).unwrap();
            let rng = &mut rng(number);
            let start = rules.random(rng).unwrap();
            let mut walker = Walker::new(f, &rules, &start);
            walker.descend_while(&|| true);
            let end = walker.bits().clone();
            assert!(f.value(&end) <= f.value(&start) && rules.admit(&end));
            let place = Place::new(&rules, &end);
            for flips in
                (0..end.len()).filter_map(|bit| place.single(bit)).filter(|flips| place.allows(flips))
            {
                assert!(f.value(&after(&end, &flips)) >= f.value(&end) - 1e-10 * f.magnitude());
            }
            for most in [0, 1, 7] {
                let mut bits = start.clone();
                let moves = walker.walk_while(&mut bits, TENURE, 100, most, rng, &|| true);
                assert!(moves <= most && f.value(&bits) <= f.value(&start) && rules.admit(&bits));
            }
        }
    }
}
