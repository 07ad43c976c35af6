//! The moves of annealing under constraints: between points that keep all of them.

use plugin_api::rand::RngExt;
use plugin_api::random::exponential;
use plugin_api::{Bits, Result, Rng};
use shared_rules::{Broken, Flips, Place, Rules};

use crate::anneal::{Moves, takes};
use crate::landscape::Landscape;

/// With how many partners a descent tries a move that breaks a rule: a function may take long for each.
const PARTNERS: usize = 32;

/// Single moves, and exchanges: where a single one breaks a rule, a random one that mends it comes with it.
pub(crate) struct Within<'r> {
    rules: &'r Rules,
    place: Place<'r>,
    /// Room for the bits of which one is to mend a rule.
    mending: Vec<usize>,
}

impl<'r> Within<'r> {
    /// The moves between points that keep the rules; an error where there is none.
    pub(crate) fn new(rules: &'r Rules, rng: &mut Rng) -> Result<Self> {
        let place = Place::new(rules, &rules.random(rng)?);
        Ok(Self { rules, place, mending: Vec::new() })
    }

    /// A move that begins with `bit` and keeps all rules; of several the one that chance picks.
    fn propose(&mut self, bit: usize, rng: &mut Rng) -> Option<Flips> {
        let bit = match self.rules.group_of(bit).map(|group| self.rules.groups()[group].clone()) {
            // Any of the group with the same probability: taken in order, the moves would favour some.
            Some(group) => rng.random_range(group),
            None => bit,
        };
        let single = self.place.single(bit)?;
        let Some(broken) = self.place.breaks(&single) else { return Some(single) };
        self.mending.clear();
        let mending = &mut self.mending;
        self.place.mending(broken, |bit| mending.push(bit));
        if mending.is_empty() {
            return None;
        }
        let second = mending[rng.random_range(0..mending.len())];
        self.place.exchange(single, second).filter(|both| self.place.allows(both))
    }

    /// The exchange with `single`, which breaks a rule, that gains most, and more than `least`; of many partners some.
    fn best_exchange(
        &mut self,
        landscape: &mut impl Landscape,
        single: Flips,
        broken: Broken,
        least: f64,
    ) -> Option<Flips> {
        self.mending.clear();
        let mending = &mut self.mending;
        self.place.mending(broken, |bit| mending.push(bit));
        let (mut best, mut lowest) = (None, -least);
        for &second in mending.iter().step_by(mending.len().div_ceil(PARTNERS).max(1)) {
            let Some(both) = self.place.exchange(single, second) else { continue };
            let gain = landscape.gain(both.bits());
            if gain < lowest && self.place.allows(&both) {
                (best, lowest) = (Some(both), gain);
            }
        }
        best
    }

    fn make(&mut self, landscape: &mut impl Landscape, flips: &Flips) {
        self.place.make(flips);
        flips.bits().iter().for_each(|&bit| landscape.flip(bit));
    }
}

impl Moves for Within<'_> {
    fn random(&mut self, rng: &mut Rng) -> Bits {
        // Rules so tight that no second point is found leave the one that is known.
        self.rules.random(rng).unwrap_or_else(|_| self.place.bits().clone())
    }

    fn near(&mut self, start: &[bool], rng: &mut Rng) -> Option<Bits> {
        self.rules.near(start, rng).ok()
    }

    fn set(&mut self, landscape: &mut impl Landscape, bits: &Bits) {
        landscape.set(bits);
        self.place.set(bits);
    }

    fn squared_gains(&mut self, landscape: &mut impl Landscape, rng: &mut Rng) -> (f64, u64) {
        let (mut sum, mut count) = (0.0, 0);
        for bit in 0..self.rules.dimension() {
            let gain = self.propose(bit, rng).map(|flips| landscape.gain(flips.bits()));
            if let Some(gain) = gain.filter(|gain| gain.is_finite()) {
                sum += gain * gain;
                count += 1;
            }
        }
        (sum, count)
    }

    fn sweep(&mut self, landscape: &mut impl Landscape, temperature: f64, rng: &mut Rng) -> f64 {
        let mut gained = 0.0;
        for bit in 0..self.rules.dimension() {
            let Some(flips) = self.propose(bit, rng) else { continue };
            let gain = landscape.gain(flips.bits());
            if takes(gain, temperature, || exponential(rng)) {
                self.make(landscape, &flips);
                gained += gain;
            }
        }
        gained
    }

    fn descend(&mut self, landscape: &mut impl Landscape, least: f64) -> bool {
        let mut moved = false;
        for bit in 0..self.rules.dimension() {
            let Some(single) = self.place.single(bit) else { continue };
            let best = match self.place.breaks(&single) {
                None => Some(single).filter(|flips| landscape.gain(flips.bits()) < -least),
                Some(broken) => self.best_exchange(landscape, single, broken, least),
            };
            if let Some(flips) = best {
                self.make(landscape, &flips);
                moved = true;
            }
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::landscape::QuadraticLandscape;
    use plugin_api::rng;

    #[test]
    fn sweeps_and_descents_keep_the_rules_and_gain_what_they_say() {
        for number in 0..100 {
            let problem = golden_constrained::problem(number);
            let f = problem.quadratic().unwrap();
            let rules = Rules::of(problem.layout()).unwrap();
            let rng = &mut rng(number);
            let mut moves = Within::new(&rules, rng).unwrap();
            let mut landscape = QuadraticLandscape::new(f);
            let start = moves.random(rng);
            moves.set(&mut landscape, &start);
            for temperature in [100.0, 1.0, 0.1] {
                let before = f.value(landscape.bits());
                let gained = moves.sweep(&mut landscape, temperature, rng);
                let value = f.value(landscape.bits());
                assert!((value - before - gained).abs() <= 1e-10 * f.magnitude());
                assert!(rules.admit(landscape.bits()) && landscape.bits() == moves.place.bits());
            }
            let before = f.value(landscape.bits());
            while moves.descend(&mut landscape, 1e-9 * f.magnitude()) {}
            assert!(f.value(landscape.bits()) <= before && rules.admit(landscape.bits()));
        }
    }
}
