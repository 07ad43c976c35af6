//! A hidden model of what chosen items are worth: alone, in pairs, in triples; and the best choice of few items.

use plugin_api::rand::RngExt;
use plugin_api::random::normal;
use plugin_api::rng;

use crate::options::Options;

/// Sets of items that are looked at before the best is not known.
const MOST_SETS: u64 = 5_000_000;

/// What items are worth.
pub(crate) struct Worth {
    alone: Vec<f64>,
    /// For each item, those before it with which it has something to do, and how much.
    pairs: Vec<Vec<(usize, f64)>>,
    triples: Vec<Vec<(usize, usize, f64)>>,
}

impl Worth {
    /// Normal numbers: for each item, for some of the pairs and some of the triples.
    pub(crate) fn random(options: &Options, seed: u64) -> Self {
        let &Options { items, pairs, triples, .. } = options;
        let rng = &mut rng(seed);
        let alone = (0..items).map(|_| normal(rng)).collect();
        let mut worth = Self { alone, pairs: vec![Vec::new(); items], triples: vec![Vec::new(); items] };
        for i in 0..items {
            for j in 0..i {
                if rng.random::<f64>() < pairs {
                    worth.pairs[i].push((j, normal(rng)));
                }
                // Without triples there is nothing to draw for them.
                for m in (0..j).filter(|_| triples > 0.0) {
                    if rng.random::<f64>() < triples {
                        worth.triples[i].push((m, j, normal(rng)));
                    }
                }
            }
        }
        worth
    }

    /// What these items are worth together.
    pub(crate) fn of(&self, chosen: &[bool]) -> f64 {
        (0..chosen.len()).filter(|&i| chosen[i]).map(|i| self.gain(i, chosen)).sum()
    }

    /// What item `i` adds to those before it.
    fn gain(&self, i: usize, chosen: &[bool]) -> f64 {
        let pairs = self.pairs[i].iter().filter(|(j, _)| chosen[*j]).map(|(_, worth)| worth);
        let triples = self.triples[i].iter().filter(|(m, j, _)| chosen[*m] && chosen[*j]);
        self.alone[i] + pairs.sum::<f64>() + triples.map(|(_, _, worth)| worth).sum::<f64>()
    }

    /// The most that `count` items are worth, by trying each set; `None` where these are too many.
    pub(crate) fn best(&self, count: usize) -> Option<f64> {
        let items = self.alone.len() as u64;
        let mut sets = 1u64;
        for i in 0..count.min(self.alone.len() - count) as u64 {
            sets = sets.checked_mul(items - i)? / (i + 1);
            if sets > MOST_SETS {
                return None;
            }
        }
        let mut best = f64::NEG_INFINITY;
        let mut chosen = vec![false; self.alone.len()];
        self.extend(0, count, 0.0, &mut chosen, &mut best);
        Some(best)
    }

    fn extend(&self, from: usize, left: usize, worth: f64, chosen: &mut Vec<bool>, best: &mut f64) {
        if left == 0 {
            *best = best.max(worth);
            return;
        }
        for i in from..=self.alone.len() - left {
            let gain = self.gain(i, chosen);
            chosen[i] = true;
            self.extend(i + 1, left - 1, worth + gain, chosen, best);
            chosen[i] = false;
        }
    }
}
