//! How long a relaxation takes, and a whole answer, on stored problems of four sizes.
//!
//! CVXOPT (the authors' solver) took 0.053 s, 5.2 s and 211 s for relaxations of 20, 50 and 100 bits.

use divan::{Bencher, black_box};
use plugin_api::{Problem, Solver, rng};
use shared_semidefinite::{Spins, lower_bound, relax};
use solver_sdp::Sdp;
use solver_sdp::options::Options;

const NAMES: [&str; 4] = ["bqp_n020_0", "labs_n050_1", "hs_n100_0", "hs_n200_1"];

fn main() {
    divan::main();
}

fn problem(name: &str) -> Problem {
    let found = golden_afo::cases_up_to(200).into_iter().find(|p| p.name == name);
    Problem::new(found.expect("a stored problem").function)
}

fn spins(name: &str) -> Spins {
    Spins::new(problem(name).quadratic().expect("quadratic")).expect("finite")
}

/// To within 1e-7 of the optimum, where a sweep gains 1e-8.
#[divan::bench(args = NAMES)]
fn relaxation(bencher: Bencher, name: &str) {
    let spins = spins(name);
    bencher.bench_local(|| relax(black_box(&spins), 1e-8, &mut rng(1), |_| true));
}

/// The certificate alone.
#[divan::bench(args = NAMES)]
fn bound(bencher: Bencher, name: &str) {
    let spins = spins(name);
    let duals = relax(&spins, 1e-10, &mut rng(1), |_| true).duals(&spins);
    bencher.bench_local(|| lower_bound(black_box(&spins), black_box(&duals)));
}

/// All that the solver does, with default options.
#[divan::bench(args = NAMES)]
fn answer(bencher: Bencher, name: &str) {
    let problem = problem(name);
    let mut solver = Sdp(Options::default());
    bencher.bench_local(|| solver.minimize(black_box(&problem), 1));
}
