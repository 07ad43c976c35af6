//! How long tabu search takes to the best known value: `cargo bench -p shared-one-flip`.
//!
//! Each run has a seed of its own and ends at the target, or after a thousand walks, which fails the bench. The
//! reference beside it is one-flip descent from random points, given as many starts as it needs.

use divan::Bencher;
use plugin_api::{Layout, Quadratic, rng};
use shared_one_flip::{Landscape, Search, Settings};

fn main() {
    divan::main();
}

const NAMES: [&str; 8] = [
    "contamination_n025_1",
    "bqp_n050_2",
    "labs_n050_1",
    "hs_n100_0",
    "dense_n100_1",
    "dense_n200_0",
    "uniform_n250_1",
    "uniform_n500_1",
];

fn problem(name: &str) -> (Quadratic, f64) {
    let afo =
        golden_afo::cases_up_to(200).into_iter().map(|case| (case.name, case.function, case.best_known));
    let generated = golden_instances::instances_up_to(500).into_iter();
    let generated = generated.map(|instance| (instance.name, instance.function, instance.best_known));
    let found = afo.chain(generated).find(|(other, ..)| other == name);
    let (_, function, best) = found.expect("a known problem");
    (function, best + 1e-9 * best.abs())
}

#[divan::bench(args = NAMES, max_time = 2)]
fn tabu(bencher: Bencher, name: &str) {
    let (f, target) = problem(name);
    let mut seed = 0;
    bencher.bench_local(|| {
        seed += 1;
        let rng = &mut rng(seed);
        let mut search = Search::new(&f, Settings::of_dimension(f.dimension()));
        search.start_from(Layout::free(f.dimension()).random(rng));
        while search.best().is_none_or(|(value, _)| value > target) {
            assert!(search.walks() < 1000, "{name}: the target is out of reach with seed {seed}");
            search.walk(u64::MAX, rng);
        }
        search.moves()
    });
}

// Beyond these, descent alone does not get there in seconds.
#[divan::bench(args = &NAMES[..5], max_time = 2)]
fn descent_from_random_points(bencher: Bencher, name: &str) {
    let (f, target) = problem(name);
    let mut landscape = Landscape::new(&f);
    let mut seed = 0;
    bencher.bench_local(|| {
        seed += 1;
        let rng = &mut rng(seed);
        loop {
            landscape.set(&Layout::free(f.dimension()).random(rng));
            landscape.descend();
            if f.value(landscape.bits()) <= target {
                return;
            }
        }
    });
}
