//! The generated instances and their lowest known values.
//!
//! What is marked as proven is proven up to 24 bits by enumeration and for banded instances by dynamic programming, in
//! the tests below; for the rest by branch and bound: up to 80 bits in its tests, larger ones by
//! `cargo run -p golden-instances --example write NAME > p.sparse` and
//! `host solve p.sparse --solver 'branch-and-bound[nodes=1000000]'`, whose gap is then 0. What is not proven is the lowest
//! value of 20 tabu searches; the semidefinite bound is 8 to 16 % below it.

use crate::{Family, Instance};

use Family::{Banded, Glover, Halved, HeavyTailed, Sparse, Uniform};

const BANDED: Family = Banded { width: 8 };

/// The family, the number of bits, the seed, the lowest known value, and whether it is proven.
const INSTANCES: [(Family, usize, u64, i64, bool); 32] = [
    (Uniform { percent: 100 }, 20, 1, -2623, true),
    (Glover, 20, 1, -125, true),
    (Sparse { neighbours: 3 }, 20, 1, -1611, true),
    (HeavyTailed, 20, 1, -1119, true),
    (BANDED, 24, 1, -2973, true),
    (Uniform { percent: 50 }, 24, 2, -3323, true),
    (Uniform { percent: 50 }, 30, 1, -4546, true),
    (HeavyTailed, 30, 1, -2014, true),
    (Glover, 40, 1, -144, true),
    (Uniform { percent: 10 }, 50, 1, -2658, true),
    (Uniform { percent: 10 }, 50, 2, -4404, true),
    (Uniform { percent: 30 }, 50, 3, -5493, true),
    (Halved { percent: 100 }, 50, 1, -5298, true),
    (HeavyTailed, 50, 1, -5708, true),
    (Glover, 60, 1, -159, true),
    (Uniform { percent: 10 }, 80, 1, -7175, true),
    (Sparse { neighbours: 3 }, 80, 1, -6199, true),
    (Uniform { percent: 10 }, 100, 1, -11306, true),
    (Uniform { percent: 10 }, 100, 2, -10505, true),
    (Uniform { percent: 50 }, 100, 3, -19039, true),
    (Glover, 100, 1, -137, true),
    (Sparse { neighbours: 3 }, 100, 1, -8675, true),
    (HeavyTailed, 100, 1, -13402, false),
    (BANDED, 100, 1, -14325, true),
    (Halved { percent: 30 }, 120, 1, -11169, true),
    (Uniform { percent: 10 }, 250, 1, -38389, false),
    (Uniform { percent: 10 }, 250, 2, -43687, false),
    (Halved { percent: 10 }, 250, 1, -19995, false),
    (BANDED, 250, 1, -32807, true),
    (Sparse { neighbours: 3 }, 250, 1, -19035, true),
    (Uniform { percent: 10 }, 500, 1, -111949, false),
    (BANDED, 500, 1, -67270, true),
];

/// The instances of at most `n` bits, smallest first.
pub fn instances_up_to(n: usize) -> Vec<Instance> {
    let small = INSTANCES.into_iter().take_while(|(_, size, ..)| *size <= n);
    let made = |(family, n, seed, best, proven): (Family, usize, u64, i64, bool)| Instance {
        name: format!("{}_n{n:03}_{seed}", family.word()),
        function: family.function(n, seed),
        best_known: best as f64,
        proven,
    };
    small.map(made).collect()
}

/// The instance of this name.
///
/// # Panics
/// Where there is none.
pub fn instance(name: &str) -> Instance {
    let found = instances_up_to(usize::MAX).into_iter().find(|instance| instance.name == name);
    found.unwrap_or_else(|| panic!("no instance `{name}`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::Quadratic;

    /// The minimum over all points, each of which differs from the last in one bit (Gray code).
    fn by_enumeration(f: &Quadratic) -> f64 {
        let n = f.dimension();
        let matrix = f.symmetric();
        let mut bits = vec![false; n];
        // What turning a bit on adds; whole numbers, so nothing is rounded.
        let mut gains = f.linear().to_vec();
        let (mut value, mut least) = (f.constant(), f.constant());
        for step in 1..1u32 << n {
            let i = step.trailing_zeros() as usize;
            let sign = if bits[i] { -1.0 } else { 1.0 };
            value += sign * gains[i];
            bits[i] = !bits[i];
            gains.iter_mut().zip(&matrix[i * n..]).for_each(|(gain, pair)| *gain += sign * pair);
            least = f64::min(least, value);
        }
        least
    }

    /// The minimum of a function without pairs of bits more than `width` apart, by dynamic programming: of all
    /// choices of the bits before the last `width` only the best matters.
    fn by_dynamic_programming(f: &Quadratic, width: usize) -> f64 {
        let states = 1 << width; // the last bits, the newest lowest
        let mut least = vec![f64::INFINITY; states];
        least[0] = f.constant();
        for i in 0..f.dimension() {
            let mut next = vec![f64::INFINITY; states];
            for (state, &value) in least.iter().enumerate() {
                let set = (0..width.min(i)).filter(|back| state >> back & 1 == 1);
                let on = f.linear()[i] + set.map(|back| f.pair(i - 1 - back, i)).sum::<f64>();
                for (bit, added) in [(0, 0.0), (1, on)] {
                    let after = (state << 1 | bit) % states;
                    next[after] = f64::min(next[after], value + added);
                }
            }
            least = next;
        }
        least.into_iter().fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn names_differ_and_small_instances_come_first() {
        let instances = instances_up_to(usize::MAX);
        let names: std::collections::BTreeSet<&str> = instances.iter().map(|i| &*i.name).collect();
        assert_eq!(names.len(), INSTANCES.len());
        assert!(instances.is_sorted_by_key(|instance| instance.function.dimension()));
    }

    #[test]
    fn enumeration_proves_the_minima_of_few_bits() {
        for Instance { name, function, best_known, proven } in instances_up_to(24) {
            assert_eq!((by_enumeration(&function), true), (best_known, proven), "{name}");
        }
    }

    #[test]
    fn dynamic_programming_proves_the_minima_of_banded_instances() {
        let Banded { width } = BANDED else { unreachable!("a banded family") };
        let banded = instances_up_to(usize::MAX).into_iter().filter(|i| i.name.starts_with("banded"));
        for Instance { name, function, best_known, proven } in banded {
            assert_eq!((by_dynamic_programming(&function, width), true), (best_known, proven), "{name}");
        }
    }

    #[test]
    fn the_files_of_the_hosts_tests_are_instances_of_the_table() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../host/tests/data");
        for name in ["glover_n020_1", "uniform_n050_3", "uniform_n100_1"] {
            let text = std::fs::read_to_string(format!("{folder}/{name}.sparse")).unwrap();
            assert_eq!(text, crate::to_sparse(&instance(name).function), "{name}");
        }
    }
}
