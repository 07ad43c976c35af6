//! Milliseconds for a Gibbs step, of which every fourth has a Metropolis move: `cargo bench -p surrogate-horseshoe`.

use divan::Bencher;
use plugin_api::random::normal;
use plugin_api::{Layout, rng};
use surrogate_horseshoe::by_rows::ByRows;
use surrogate_horseshoe::by_terms::Moments;
use surrogate_horseshoe::chain::{Chain, NoisePrior, State};
use surrogate_horseshoe::coefficients::{Coefficients, choose};
use surrogate_horseshoe::gram::{LANES, gram};
use surrogate_horseshoe::observations::Observations;
use surrogate_horseshoe::regression::Regression;

fn main() {
    divan::main();
}

/// A sparse function of random points, with noise.
fn observations(bits: usize, count: usize) -> Observations {
    let layout = Layout::free(bits);
    let mut rng = rng(1);
    let mut observations = Observations::new(&layout, 2);
    for _ in 0..count {
        let x = layout.random(&mut rng);
        let value =
            f64::from(u8::from(x[0])) - 2.0 * f64::from(u8::from(x[1] && x[2])) + 0.1 * normal(&mut rng);
        observations.add(&x, value).expect("a point of the layout");
    }
    observations
}

#[divan::bench(args = [(10, 150), (24, 170), (25, 270), (50, 300), (100, 300)])]
fn step(bencher: Bencher<'_, '_>, (bits, count): (usize, usize)) {
    let observations = observations(bits, count);
    let regression = Regression::new(&observations, &observations.targets(), true);
    let mut coefficients = choose(&regression, &observations, &mut Moments::default());
    let mut chain = Chain::new(&regression, coefficients.as_mut(), NoisePrior::default());
    let mut state = State::cold(observations.design().columns());
    let mut rng = rng(2);
    bencher.bench_local(|| chain.step(&mut state, &mut rng).expect("a step"));
}

#[divan::bench(args = [(24, 170), (50, 300), (100, 300)])]
fn product(bencher: Bencher<'_, '_>, (bits, count): (usize, usize)) {
    let observations = observations(bits, count);
    let design = observations.design();
    let d = vec![0.5; design.columns()];
    let mut panel = vec![0.0; d.len() * LANES];
    let mut g = vec![0.0; design.rows() * design.rows()];
    bencher.bench_local(|| gram(design, &d, &mut panel, &mut g));
}

#[divan::bench(args = [(24, 170), (50, 300), (100, 300)])]
fn factor(bencher: Bencher<'_, '_>, (bits, count): (usize, usize)) {
    let observations = observations(bits, count);
    let regression = Regression::new(&observations, &observations.targets(), true);
    let mut by_rows = ByRows::new(&regression);
    let d = vec![0.5; observations.design().columns()];
    by_rows.prepare(&regression, &d);
    bencher.bench_local(|| by_rows.try_scale(&regression, 1.0).expect("positive definite"));
}
