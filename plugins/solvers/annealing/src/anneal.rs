//! Simulated annealing (Kirkpatrick, Gelatt & Vecchi 1983) by sweeps over all moves.
//!
//! A free bit is turned over; in a group, the set bit moves to another place. So every point on the way keeps
//! the groups.

use std::ops::Range;

use plugin_api::rand::RngExt;
use plugin_api::random::exponential;
use plugin_api::{Bits, Layout, Rng};

use crate::landscape::Landscape;

/// The moves between the points that a problem admits. A landscape is moved together with them.
pub(crate) trait Moves {
    /// A random point.
    fn random(&mut self, rng: &mut Rng) -> Bits;

    /// A point near `start`, or `start` itself.
    fn near(&mut self, start: &[bool], rng: &mut Rng) -> Option<Bits>;

    /// Goes to `bits`.
    fn set(&mut self, landscape: &mut impl Landscape, bits: &Bits);

    /// The sum of the squares of what moves would gain, and how many there are.
    fn squared_gains(&mut self, landscape: &mut impl Landscape, rng: &mut Rng) -> (f64, u64);

    /// Tries a move from every bit, and takes it with the probability of Metropolis: min(1, exp(−gain/temperature)).
    /// Answers what the moves taken gained.
    fn sweep(&mut self, landscape: &mut impl Landscape, temperature: f64, rng: &mut Rng) -> f64;

    /// Takes every move that gains more than `least` below 0, once through all. Answers whether there was one.
    fn descend(&mut self, landscape: &mut impl Landscape, least: f64) -> bool;
}

/// Whether a move of this gain is taken, given an exponential draw.
pub(crate) fn takes(gain: f64, temperature: f64, draw: impl FnOnce() -> f64) -> bool {
    // The probability that an exponential draw exceeds gain/temperature; beyond 40 it isn't worth the draw.
    gain <= 0.0 || gain < 40.0 * temperature && gain < temperature * draw()
}

/// Where there are no rules but groups.
pub(crate) struct Grouped<'l> {
    layout: &'l Layout,
    moves: Vec<Move>,
}

impl<'l> Grouped<'l> {
    pub(crate) fn new(layout: &'l Layout) -> Self {
        Self { layout, moves: moves(layout) }
    }
}

impl Moves for Grouped<'_> {
    fn random(&mut self, rng: &mut Rng) -> Bits {
        self.layout.random(rng)
    }

    fn near(&mut self, start: &[bool], _rng: &mut Rng) -> Option<Bits> {
        Some(start.into()).filter(|bits: &Bits| self.layout.keeps_groups(bits))
    }

    fn set(&mut self, landscape: &mut impl Landscape, bits: &Bits) {
        landscape.set(bits);
    }

    fn squared_gains(&mut self, landscape: &mut impl Landscape, _rng: &mut Rng) -> (f64, u64) {
        squared_gains(landscape, &self.moves)
    }

    fn sweep(&mut self, landscape: &mut impl Landscape, temperature: f64, rng: &mut Rng) -> f64 {
        sweep(landscape, &self.moves, temperature, rng)
    }

    fn descend(&mut self, landscape: &mut impl Landscape, least: f64) -> bool {
        descend(landscape, &self.moves, least)
    }
}

/// What a sweep tries.
enum Move {
    /// To turn over a free bit.
    Flip(usize),
    /// To set another bit of a group, as often as it has others.
    Swap(Range<usize>),
}

/// The moves between the points that `layout` admits.
fn moves(layout: &Layout) -> Vec<Move> {
    let mut moves = Vec::new();
    let mut next = 0;
    for group in layout.groups() {
        moves.extend((next..group.start).map(Move::Flip));
        moves.push(Move::Swap(group.clone()));
        next = group.end;
    }
    moves.extend((next..layout.dimension()).map(Move::Flip));
    moves
}

fn squared_gains(landscape: &mut impl Landscape, moves: &[Move]) -> (f64, u64) {
    let (mut sum, mut count) = (0.0, 0);
    let mut add = |gain: f64| {
        if gain.is_finite() {
            sum += gain * gain;
            count += 1;
        }
    };
    for step in moves {
        match step {
            Move::Flip(i) => add(landscape.flip_gain(*i)),
            Move::Swap(group) => {
                let from = set_bit(landscape, group);
                group.clone().filter(|&to| to != from).for_each(|to| add(landscape.swap_gain(from, to)));
            }
        }
    }
    (sum, count)
}

fn sweep(landscape: &mut impl Landscape, moves: &[Move], temperature: f64, rng: &mut Rng) -> f64 {
    let takes = |gain: f64, rng: &mut Rng| takes(gain, temperature, || exponential(rng));
    let mut gained = 0.0;
    for step in moves {
        match step {
            Move::Flip(i) => {
                let gain = landscape.flip_gain(*i);
                if takes(gain, rng) {
                    landscape.flip(*i);
                    gained += gain;
                }
            }
            Move::Swap(group) => {
                let mut from = set_bit(landscape, group);
                for _ in 1..group.len() {
                    // Any of the others with the same probability: taken in order, the swaps would favour some.
                    let other = rng.random_range(group.start..group.end - 1);
                    let to = if other < from { other } else { other + 1 };
                    let gain = landscape.swap_gain(from, to);
                    if takes(gain, rng) {
                        landscape.flip(from);
                        landscape.flip(to);
                        from = to;
                        gained += gain;
                    }
                }
            }
        }
    }
    gained
}

fn descend(landscape: &mut impl Landscape, moves: &[Move], least: f64) -> bool {
    let mut moved = false;
    for step in moves {
        match step {
            Move::Flip(i) => {
                if landscape.flip_gain(*i) < -least {
                    landscape.flip(*i);
                    moved = true;
                }
            }
            Move::Swap(group) => {
                for to in group.clone() {
                    let from = set_bit(landscape, group);
                    if from != to && landscape.swap_gain(from, to) < -least {
                        landscape.flip(from);
                        landscape.flip(to);
                        moved = true;
                    }
                }
            }
        }
    }
    moved
}

fn set_bit(landscape: &impl Landscape, group: &Range<usize>) -> usize {
    let bits: &Bits = landscape.bits();
    group.clone().find(|&i| bits[i]).expect("every point on the way has one bit set in each group")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::landscape::QuadraticLandscape;
    use plugin_api::testing::random_quadratic;
    use plugin_api::{Quadratic, rng};
    use std::collections::BTreeMap;

    fn all_points(layout: &Layout) -> Vec<Bits> {
        let n = layout.dimension();
        let bits = (0..1u32 << n).map(|mask| (0..n).map(|i| mask >> i & 1 == 1).collect::<Bits>());
        bits.filter(|bits| layout.admits(bits)).collect()
    }

    #[test]
    fn sweeps_at_one_temperature_draw_from_the_boltzmann_distribution() {
        let layout = Layout::with_groups(7, vec![1..3, 3..6]).unwrap();
        let moves = moves(&layout);
        let f = random_quadratic(&mut rng(1), 7);
        let (temperature, draws) = (1.3, 400_000);

        let weights: BTreeMap<Bits, f64> = all_points(&layout)
            .into_iter()
            .map(|x| (x.clone(), libm::exp(-f.value(&x) / temperature)))
            .collect();
        let total: f64 = weights.values().sum();

        let rng = &mut rng(2);
        let mut landscape = QuadraticLandscape::new(&f);
        landscape.set(&layout.random(rng));
        let mut seen: BTreeMap<Bits, f64> = BTreeMap::new();
        for _ in 0..draws {
            sweep(&mut landscape, &moves, temperature, rng);
            *seen.entry(landscape.bits().clone()).or_default() += 1.0 / f64::from(draws);
        }
        for (bits, weight) in weights {
            let (expected, found) = (weight / total, seen.get(&bits).copied().unwrap_or(0.0));
            // Sweeps are not independent: twice the error of independent draws, times four.
            let error = 8.0 * (expected * (1.0 - expected) / f64::from(draws)).sqrt();
            assert!((found - expected).abs() < error, "{bits}: {found}, not {expected} ± {error}");
        }
    }

    #[test]
    fn a_sweep_answers_what_it_gained() {
        let layout = Layout::with_groups(12, vec![2..5, 8..12]).unwrap();
        let f = random_quadratic(&mut rng(3), 12);
        let mut landscape = QuadraticLandscape::new(&f);
        let rng = &mut rng(4);
        landscape.set(&layout.random(rng));
        for _ in 0..100 {
            let before = f.value(landscape.bits());
            let gained = sweep(&mut landscape, &moves(&layout), 1.0, rng);
            assert!((f.value(landscape.bits()) - before - gained).abs() < 1e-12);
            assert!(layout.admits(landscape.bits()));
        }
    }

    #[test]
    fn a_descent_ends_where_no_move_gains() {
        let layout = Layout::with_groups(12, vec![2..5, 8..12]).unwrap();
        let free = [0, 1, 5, 6, 7];
        for seed in 0..20 {
            let f = random_quadratic(&mut rng(seed), 12);
            let mut landscape = QuadraticLandscape::new(&f);
            landscape.set(&layout.random(&mut rng(seed)));
            while descend(&mut landscape, &moves(&layout), 1e-12) {}
            for i in free {
                assert!(landscape.flip_gain(i) > -1e-11);
            }
            for group in layout.groups() {
                let from = set_bit(&landscape, group);
                for to in group.clone().filter(|&to| to != from) {
                    assert!(landscape.swap_gain(from, to) > -1e-11);
                }
            }
        }
    }

    #[test]
    fn gains_are_measured_over_every_move() {
        let f = Quadratic::new(0.0, vec![3.0, 1.0, 2.0, 5.0], vec![0.0; 6]).unwrap();
        let mut landscape = QuadraticLandscape::new(&f);
        landscape.set(&"0100".parse().unwrap());
        let layout = Layout::with_groups(4, vec![1..3, 3..4]).unwrap();
        // Bit 0 gains 3, the swap in the first group 1; the second has no other bit.
        landscape.flip(3);
        assert_eq!(squared_gains(&mut landscape, &moves(&layout)), (10.0, 2));
    }
}
