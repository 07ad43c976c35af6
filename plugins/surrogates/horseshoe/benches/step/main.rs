//! Milliseconds for a Gibbs step: `cargo bench -p surrogate-horseshoe --features faer`.
//!
//! Beside each other in one run, by turns, the shortest time of each: the chain with each instruction set that the machine
//! has; the same chain with its linear algebra by [faer](by_faer); and what a product of matrices of the same size takes
//! (N²p + N³/3 multiplications and additions, at the rate that faer's product reaches at this size). Every fourth step
//! of a chain has a Metropolis move, as always.

mod by_faer; // the same draws by a library of linear algebra
mod phases; // the parts of a step

use std::time::Instant;

use phases::Phases;
use plugin_api::random::normal;
use plugin_api::{Layout, Rng, rng};
use surrogate_horseshoe::by_terms::Moments;
use surrogate_horseshoe::chain::{Chain, NoisePrior, State};
use surrogate_horseshoe::coefficients::{Coefficients, choose};
use surrogate_horseshoe::kernel::Kernel;
use surrogate_horseshoe::observations::Observations;
use surrogate_horseshoe::regression::Regression;

/// Bits and observations.
const SIZES: [(usize, usize); 8] =
    [(10, 50), (24, 100), (24, 170), (25, 270), (50, 150), (50, 300), (100, 200), (100, 300)];
/// Turns, of which the shortest counts.
const TURNS: usize = 40;
/// Steps to a turn: a multiple of four, for the Metropolis moves.
const STEPS: u32 = 12;

fn main() {
    let kernels = Kernel::available();
    let names: Vec<&str> = kernels.iter().map(|kernel| kernel.name()).collect();
    print!("   n    N |");
    names.iter().for_each(|name| print!("{name:>9}"));
    println!("     faer   product | faer/first  first/product  faer/{}", names[names.len().min(2) - 1]);
    for (bits, count) in SIZES {
        let observations = observations(bits, count);
        let regression = Regression::new(&observations, &observations.targets(), true);
        let mut ways: Vec<Box<dyn Coefficients>> = kernels
            .iter()
            .map(|&kernel| choose(&regression, &observations, &mut Moments::default(), kernel))
            .collect();
        ways.push(Box::new(by_faer::ByFaer::new(&regression)));
        let mut runs: Vec<Run<'_>> = ways.iter_mut().map(|way| Run::new(&regression, way.as_mut())).collect();

        let mut times = vec![f64::INFINITY; runs.len()];
        let mut rate = 0.0f64;
        for _ in 0..TURNS {
            for (time, run) in times.iter_mut().zip(&mut runs) {
                *time = time.min(seconds(|| run.steps()) / f64::from(STEPS));
            }
            rate = rate.max(by_faer::product_rate(count, observations.design().columns()));
        }
        let (n, p) = (count as f64, observations.design().columns() as f64);
        times.push((n * n * p + n * n * n / 3.0) / rate);
        print!("{bits:>4} {count:>4} |");
        times.iter().for_each(|time| print!("{:>9.4}", 1e3 * time));
        let (faer, product) = (times[kernels.len()], times[kernels.len() + 1]);
        let second = times[kernels.len().min(2) - 1];
        println!(" | {:>10.2}  {:>13.2}  {:>10.2}", faer / times[0], times[0] / product, faer / second);
    }
    print_phases(kernels[0]);
}

/// What the fastest instruction set spends on each part; the rates are of multiplications with additions.
fn print_phases(kernel: Kernel) {
    println!(
        "\n   n    N |     gram cholesky       Xu      Xᵀw   random | cholesky/s product/s ({})",
        kernel.name()
    );
    for (bits, count) in SIZES {
        let observations = observations(bits, count);
        let parts = Phases::of(&observations, kernel);
        print!("{bits:>4} {count:>4} |");
        for time in [parts.gram, parts.cholesky, parts.times, parts.transposed_times, parts.random] {
            print!("{:>9.4}", 1e3 * time);
        }
        let factor = (count * count * count) as f64 / 6.0 / parts.cholesky;
        let product = (0..TURNS)
            .map(|_| by_faer::product_rate(count, observations.design().columns()))
            .fold(0.0, f64::max);
        println!(" | {factor:>10.2e}  {product:>8.2e}");
    }
}

/// A chain, with its state and random numbers.
struct Run<'a> {
    chain: Chain<'a>,
    state: State,
    rng: Rng,
}

impl<'a> Run<'a> {
    fn new(regression: &'a Regression<'a>, way: &'a mut dyn Coefficients) -> Self {
        let state = State::cold(regression.design().columns());
        let mut run = Self { chain: Chain::new(regression, way, NoisePrior::default()), state, rng: rng(2) };
        run.steps();
        run
    }

    fn steps(&mut self) {
        for _ in 0..STEPS {
            self.chain.step(&mut self.state, &mut self.rng).expect("a step");
        }
    }
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// A sparse function of random points, with noise.
fn observations(bits: usize, count: usize) -> Observations {
    let layout = Layout::free(bits);
    let mut rng = rng(1);
    let mut observations = Observations::new(&layout, 2);
    while observations.design().rows() < count {
        let x = layout.random(&mut rng);
        let set = |i: usize| f64::from(u8::from(x[i]));
        let value = set(0) - 2.0 * set(1) * set(2) + 0.1 * normal(&mut rng);
        observations.add(&x, value).expect("a point of the layout");
    }
    observations
}
