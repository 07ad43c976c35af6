//! How long a whole answer takes: `cargo bench -p solver-certified`.

use divan::{Bencher, black_box};
use plugin_api::{Problem, Quadratic, Solver, rng};
use shared_one_flip::within::Walker;
use shared_rules::Rules;
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

const CONSTRAINED: [&str; 6] = [
    "categories_10_5",
    "categories_25_5",
    "exactly_20_200",
    "at-most_10_200",
    "capacity_200",
    "placement_12_16",
];

fn constrained(name: &str) -> Problem {
    let found = golden_constrained::large().into_iter().find(|(other, _)| other == name);
    found.expect("a known problem").1
}

#[divan::bench(args = CONSTRAINED, max_time = 2)]
fn answer_under_rules(bencher: Bencher, name: &str) {
    let problem = constrained(name);
    let mut solver = Certified(Options::default());
    bencher.bench_local(|| solver.minimize(black_box(&problem), 1));
}

/// Beside it, what it takes to find the same value by descents from random points that keep the rules, without a bound; at most
/// 5,000 of them.
#[divan::bench(args = CONSTRAINED, max_time = 2)]
fn descents_to_the_same_value(bencher: Bencher, name: &str) {
    let problem = constrained(name);
    let value = Certified(Options::default()).minimize(&problem, 1).expect("an answer").value();
    let f = problem.quadratic().expect("a quadratic function");
    let rules = Rules::of(problem.layout()).expect("rules");
    let mut seed = 0;
    bencher.bench_local(|| {
        seed += 1;
        let rng = &mut rng(seed);
        let mut walker = Walker::new(f, &rules, &rules.random(rng).expect("a point"));
        for _ in 0..5000 {
            walker.set(&rules.random(rng).expect("a point"));
            walker.descend_while(&|| true);
            if f.value(walker.bits()) <= value {
                break;
            }
        }
    });
}
