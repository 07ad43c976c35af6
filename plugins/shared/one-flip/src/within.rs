//! Walks between points that keep all rules: at each move the best that is allowed, be it up or down.
//!
//! A move turns over a free bit, chooses another bit of a group, or exchanges: a single move that breaks a rule together
//! with one that mends it. Of those that break a rule, the few with the lowest gains are looked at with all their partners.

use plugin_api::rand::Rng as _;
use plugin_api::{Bits, Quadratic, Rng};
use shared_rules::{Broken, Flips, Place, Rules};

use crate::walk::{Tenure, scaled};

/// How many single moves that break a rule are tried with every partner.
const FIRSTS: usize = 6;

/// Walks on one function under one set of rules.
pub struct Walker<'f> {
    f: &'f Quadratic,
    /// The pairs as a symmetric matrix by rows.
    pairs: Vec<f64>,
    /// What the function gains when a bit goes from 0 to 1.
    slopes: Vec<f64>,
    place: Place<'f>,
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
        let mut walker = Self { f, pairs, slopes: vec![0.0; n], place, free_from: vec![0; n], least };
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
    fn best(&self, word: u32, moves: u64, aspired: f64) -> Option<Step> {
        let n = self.slopes.len();
        let mut best: Option<Step> = None;
        // The single moves that break a rule, the lowest gains first.
        let mut firsts: [Option<(Step, Broken)>; FIRSTS] = [None; FIRSTS];
        let start = scaled(word, n as u64) as usize;
        for bit in (start..n).chain(0..start) {
            let Some(flips) = self.place.single(bit) else { continue };
            let gain = self.gain(&flips);
            let free = self.free_from[bit] <= moves || gain < aspired;
            let below = |other: Option<f64>| other.is_none_or(|other| gain < other);
            let may_be_best = free && below(best.map(|step| step.gain));
            let may_be_first = self.free_from[bit] <= moves && below(firsts[FIRSTS - 1].map(|f| f.0.gain));
            if !may_be_best && !may_be_first || gain.is_nan() {
                continue;
            }
            match self.place.breaks(&flips) {
                None if may_be_best => best = Some(Step { gain, flips }),
                Some(broken) if may_be_first => {
                    let at = firsts.partition_point(|f| f.is_some_and(|f| f.0.gain <= gain));
                    firsts[at..].rotate_right(1);
                    firsts[at] = Some((Step { gain, flips }, broken));
                }
                _ => {}
            }
        }
        for (first, broken) in firsts.into_iter().flatten() {
            self.place.exchanges(first.flips, broken, |bit, flips| {
                let gain = self.gain(&flips);
                let free = self.free_from[bit] <= moves || gain < aspired;
                if free && best.is_none_or(|best| gain < best.gain) && self.place.allows(&flips) {
                    best = Some(Step { gain, flips });
                }
            });
        }
        best
    }

    /// Σ dᵢ slopeᵢ + Σ dᵢ dⱼ aᵢⱼ over the bits that are turned over, where d is 1 for a bit that is set and −1 for one that is
    /// cleared.
    fn gain(&self, flips: &Flips) -> f64 {
        let n = self.slopes.len();
        let bits = self.place.bits();
        let sign = |i: usize| if bits[i] { -1.0 } else { 1.0 };
        let mut gain = 0.0;
        for (k, &i) in flips.bits().iter().enumerate() {
            let before = flips.bits()[..k].iter().map(|&j| sign(j) * self.pairs[i * n + j]);
            gain += sign(i) * before.fold(self.slopes[i], |slope, a| slope + a);
        }
        gain
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
