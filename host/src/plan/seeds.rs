//! One seed per trial, iteration and role.
//!
//! A seed depends on the experiment's name, the trial's seed, the iteration and the role, and on nothing
//! else: not on the order or number of workers, and not on the method. All methods and all points of a sweep
//! see the same instances, initial designs and noise, so that their differences are their own.

use sha2::{Digest, Sha256};

/// The seeds of all trials of an experiment that share a seed.
#[derive(Clone, Debug)]
pub struct Seeds {
    experiment: String,
    seed: u64,
}

impl Seeds {
    pub fn new(experiment: &str, seed: u64) -> Self {
        Self { experiment: experiment.to_owned(), seed }
    }

    /// For the benchmark's instance.
    pub fn instance(&self) -> u64 {
        self.derive("instance", 0)
    }

    pub fn initial_design(&self) -> u64 {
        self.derive("initial design", 0)
    }

    /// For other names of the levels.
    pub fn relabel(&self) -> u64 {
        self.derive("relabel", 0)
    }

    /// For the noise of an evaluation.
    pub fn evaluation(&self, evaluation: usize) -> u64 {
        self.derive("evaluation", evaluation)
    }

    /// For the noise of the recommended point's evaluations after this many others.
    pub fn recommended(&self, evaluations: usize) -> u64 {
        self.derive("recommended", evaluations)
    }

    /// For the surrogate's draw.
    pub fn draw(&self, iteration: usize) -> u64 {
        self.derive("draw", iteration)
    }

    /// For a solver, followed or shadow alike: the same solver gives the same answer in both roles.
    pub fn solve(&self, iteration: usize) -> u64 {
        self.derive("solve", iteration)
    }

    /// For the search of a point not seen before.
    pub fn unseen(&self, iteration: usize) -> u64 {
        self.derive("unseen", iteration)
    }

    /// The first 8 bytes of a hash of the parts, which no part can run into another of.
    fn derive(&self, role: &str, index: usize) -> u64 {
        first_bytes(&format!("{}\0{}\0{role}\0{index}", self.experiment, self.seed))
    }
}

/// The seed of each of several evaluations of one point, counted from 0: the first has the seed that a single one would have.
pub fn repetition(seed: u64, i: usize) -> u64 {
    match i {
        0 => seed,
        _ => first_bytes(&format!("{seed}\0repetition\0{i}")),
    }
}

fn first_bytes(text: &str) -> u64 {
    let hash = Sha256::digest(text);
    u64::from_le_bytes(hash[..8].try_into().expect("a hash has 32 bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_role_iteration_seed_and_experiment_has_a_seed_of_its_own() {
        let mut seen = BTreeSet::new();
        for (experiment, seed) in [("a", 1), ("a", 2), ("b", 1)] {
            let seeds = Seeds::new(experiment, seed);
            seen.extend([seeds.instance(), seeds.initial_design(), seeds.relabel()]);
            for i in 0..10 {
                seen.extend([seeds.evaluation(i), seeds.draw(i), seeds.solve(i), seeds.unseen(i)]);
                seen.extend([seeds.recommended(i), repetition(seeds.evaluation(1), i + 1)]);
            }
        }
        assert_eq!(seen.len(), 3 * 63);
    }

    #[test]
    fn seeds_never_change() {
        // A changed seed changes every journal: computed once with `printf 'ising\0001\000draw\0007' | sha256sum`.
        assert_eq!(Seeds::new("ising", 1).draw(7), SEED);
    }
    const SEED: u64 = 18369738059903068462;
}
