//! How long a whole answer takes: `cargo bench -p solver-certified`.

use divan::{Bencher, black_box};
use plugin_api::{Problem, Quadratic, Solver};
use solver_certified::{Certified, options::Options};

fn main() {
    divan::main();
}

const NAMES: [&str; 7] = [
    "ising_n024_0",
    "labs_n050_1",
    "hs_n100_0",
    "dense_n100_1",
    "hs_n200_1",
    "uniform_n250_1",
    "uniform_n500_1",
];

fn function(name: &str) -> Quadratic {
    let afo = golden_afo::cases_up_to(200).into_iter().map(|case| (case.name, case.function));
    let generated = golden_instances::instances_up_to(500).into_iter().map(|i| (i.name, i.function));
    afo.chain(generated).find(|(other, _)| other == name).expect("a known function").1
}

#[divan::bench(args = NAMES, max_time = 2)]
fn answer(bencher: Bencher, name: &str) {
    let problem = Problem::new(function(name));
    let mut solver = Certified(Options::default());
    bencher.bench_local(|| solver.minimize(black_box(&problem), 1));
}
