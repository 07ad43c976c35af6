//! How long a minimum cut takes, and the paper's whole method: `cargo bench -p solver-psr`.

use divan::{Bencher, black_box};
use plugin_api::random::normal;
use plugin_api::{Problem, Quadratic, Solver, rng};
use shared_cuts::{Relaxation, roof_dual};
use solver_psr::options::{Options, Polish, Step};

fn main() {
    divan::main();
}

/// Real draws and synthetic problems of the tests; where they end, a synthetic one with heavy tails.
fn function(name: &str) -> Quadratic {
    let mut cases = golden_afo::cases_up_to(200).into_iter();
    cases.find(|case| case.name == name).map_or_else(|| heavy_tailed(500), |case| case.function)
}

/// Ratios of normal draws, as the horseshoe's local scales are.
fn heavy_tailed(n: usize) -> Quadratic {
    let mut rng = rng(1);
    let mut draw = || normal(&mut rng) * (normal(&mut rng) / normal(&mut rng)).clamp(-100.0, 100.0);
    let linear = (0..n).map(|_| draw()).collect();
    let pairs = (0..n * (n - 1) / 2).map(|_| draw()).collect();
    Quadratic::new(0.0, linear, pairs).expect("finite coefficients")
}

const NAMES: [&str; 8] = [
    "ising_n024_0",
    "contamination_n025_1",
    "bqp_n050_2",
    "labs_n050_1",
    "dense_n100_1",
    "hs_n100_0",
    "hs_n200_1",
    "heavy_n500",
];

/// The first cut, with all parameters ½ and no flow yet.
#[divan::bench(args = NAMES, min_time = 0.3)]
fn first_cut(bencher: Bencher, name: &str) {
    let f = function(name);
    let parameters = vec![0.5; f.pairs().len()];
    bencher
        .with_inputs(|| Relaxation::new(&f, parameters.clone()))
        .bench_local_refs(|relaxation| relaxation.cut());
}

/// The roof dual: the bound that the best parameters have, and persistencies.
#[divan::bench(args = NAMES, min_time = 0.3)]
fn roof(bencher: Bencher, name: &str) {
    let f = function(name);
    bencher.bench_local(|| roof_dual(black_box(&f)));
}

/// 10 cuts with the authors' steps between them, from the function to the best point and the bound.
#[divan::bench(args = NAMES, min_time = 0.3)]
fn paper(bencher: Bencher, name: &str) {
    whole(
        bencher,
        name,
        Options { steps: 10, step: Step::Authors, polish: Polish::None, ..Options::default() },
    );
}

/// What a manifest gets that says no more than `solver: psr`.
#[divan::bench(args = NAMES, min_time = 0.3)]
fn defaults(bencher: Bencher, name: &str) {
    whole(bencher, name, Options::default());
}

fn whole(bencher: Bencher, name: &str, options: Options) {
    let problem = Problem::new(function(name));
    let mut solver = solver_psr::Psr::new(options);
    bencher.bench_local(|| solver.minimize(black_box(&problem), 1));
}
