//! A whole iteration, by `heat` and `ascent` as the host loads them, and by a textbook:
//!
//!     cargo build --release -p surrogate-heat -p solver-ascent
//!     cargo bench -p surrogate-heat
//!
//! An iteration observes a value, fits the hyperparameters, draws the expected improvement and searches for its best
//! point. `textbook` does the same by the plainest loops, with a gradient step in place of L-BFGS's. `limit` is one
//! product of matrices with as many multiplications and additions as an iteration has at least, by ndarray, which fuses
//! them.

use divan::Bencher;
use plugin_api::load::Plugin;
use plugin_api::ndarray::Array2;
use plugin_api::rand::RngExt;
use plugin_api::serde_json::json;
use plugin_api::{
    BitMatrix, Bits, DrawRequest, Error, Kind, Layout, Problem, Result, Rng, Solver, Surrogate, rng,
};

/// Bits and observations.
const SIZES: [(usize, usize); 3] = [(25, 270), (60, 270), (100, 500)];

fn main() {
    divan::main();
}

#[divan::bench(args = SIZES, sample_count = 20)]
fn heat_and_ascent(bencher: Bencher<'_, '_>, (bits, observations): (usize, usize)) {
    let (points, values) = data(bits, observations);
    let (last, best) = (observations - 1, lowest(&values));
    let plugin = load(Kind::Surrogate, "heat").expect("build surrogate-heat first, as the first lines say");
    let solver = load(Kind::Solver, "ascent").expect("build solver-ascent first, as the first lines say");
    let make = || plugin.surrogate(&json!({}), &Layout::free(bits)).expect("options");
    let mut earlier = make();
    for (x, y) in points.iter().zip(&values).take(last) {
        earlier.observe(x, &(*y).into()).expect("a value");
    }
    // So that the fit goes on from the one before, as in a run.
    (0..3).for_each(|_| drop(earlier.draw(&DrawRequest::new(1)).expect("a draw")));
    let state = earlier.save().expect("a state").expect("a state");
    let mut seen = BitMatrix::new(bits);
    let mut order: Vec<usize> = (0..observations).collect();
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
    order.iter().for_each(|&i| seen.push(&points[i]));
    bencher
        .with_inputs(|| {
            let (mut heat, ascent) = (make(), solver.solver(&json!({})).expect("options"));
            heat.restore(&state).expect("its own state");
            (heat, ascent, seen.clone())
        })
        .bench_values(|(mut heat, mut ascent, seen)| {
            heat.observe(&points[last], &values[last].into()).expect("a value");
            let drawn = heat.draw(&DrawRequest::new(1).with_best_total(best)).expect("a draw");
            let problem = Problem::new(drawn).with_starts(seen.clone()).with_unwanted(seen);
            ascent.minimize(&problem, 1).expect("an answer")
        });
}

#[divan::bench(args = &SIZES[..2], sample_count = 2, sample_size = 1)]
fn textbook(bencher: Bencher<'_, '_>, (bits, observations): (usize, usize)) {
    let (points, values) = data(bits, observations);
    bencher.bench_local(|| {
        let mut log_theta = vec![libm::log(2.0 / bits as f64); bits];
        // Two evaluations of the gradient: a step, and whether it is the last.
        for _ in 0..2 {
            let gradient = plain::gradient(&points, &values, &log_theta);
            log_theta.iter_mut().zip(gradient).for_each(|(log, g)| *log -= 0.01 * g.clamp(-10.0, 10.0));
        }
        plain::search(&plain::Process::new(&points, &values, &log_theta), lowest(&values), &mut rng(1))
    });
}

/// 2N³ for two evaluations of the fit, and N² for each value of the acquisition function at 1,275 candidates: what every
/// iteration does at least.
#[divan::bench(args = SIZES, sample_count = 20)]
fn limit(bencher: Bencher<'_, '_>, (_, observations): (usize, usize)) {
    let matrix =
        |rows: usize, columns: usize| Array2::from_shape_fn((rows, columns), |(i, j)| (i ^ j) as f64);
    let (a, b) = (matrix(observations, observations), matrix(observations, observations + 1275 / 2));
    bencher.bench_local(|| a.dot(&b));
}

/// Random points of a low autocorrelation problem.
fn data(bits: usize, observations: usize) -> (Vec<Bits>, Vec<f64>) {
    let mut rng = rng(1);
    let points: Vec<Bits> = (0..observations).map(|_| Layout::free(bits).random(&mut rng)).collect();
    let value = |x: &Bits| {
        let product = |i: usize, j: usize| if x[i] == x[j] { 1.0 } else { -1.0 };
        let correlation = |k: usize| (0..bits - k).map(|i| product(i, i + k)).sum::<f64>();
        -((bits * bits) as f64) / (1..bits).map(|k| correlation(k) * correlation(k)).sum::<f64>()
    };
    let values: Vec<f64> = points.iter().map(value).collect();
    (points, values)
}

fn lowest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The plugin in the folder above that of this program.
fn load(kind: Kind, name: &str) -> Result<Plugin> {
    let program = std::env::current_exe().map_err(Error::wrap)?;
    let folder = program.ancestors().nth(2).ok_or_else(|| Error::new("this program has no folder"))?;
    Plugin::load_kind(&folder.join(kind.file_name(name)), kind).map_err(Error::wrap)
}

/// The same iteration by the plainest loops.
mod plain {
    use super::{Bits, Layout, Rng, RngExt};

    const NOISE: f64 = 1e-4;

    pub(crate) struct Process<'p> {
        points: &'p [Bits],
        theta: Vec<f64>,
        lower: Vec<Vec<f64>>,
        weights: Vec<f64>,
        amplitude: f64,
    }

    fn covariance(theta: &[f64], a: &Bits, b: &Bits) -> f64 {
        let differ = theta.iter().zip(a.iter().zip(b.iter())).filter(|(_, (a, b))| a != b);
        libm::exp(-differ.map(|(theta, _)| theta).sum::<f64>())
    }

    fn cholesky(mut a: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        for i in 0..a.len() {
            for j in 0..=i {
                let sum: f64 = (0..j).map(|k| a[i][k] * a[j][k]).sum();
                a[i][j] = if i == j { (a[i][i] - sum).sqrt() } else { (a[i][j] - sum) / a[j][j] };
            }
        }
        a
    }

    fn forward(lower: &[Vec<f64>], b: &[f64]) -> Vec<f64> {
        let mut x: Vec<f64> = Vec::with_capacity(b.len());
        for (row, b) in lower.iter().zip(b) {
            let sum: f64 = row.iter().zip(&x).map(|(l, x)| l * x).sum();
            x.push((b - sum) / row[x.len()]);
        }
        x
    }

    fn backward(lower: &[Vec<f64>], b: &[f64]) -> Vec<f64> {
        let mut x = b.to_vec();
        for i in (0..x.len()).rev() {
            let sum: f64 = (i + 1..x.len()).map(|k| lower[k][i] * x[k]).sum();
            x[i] = (x[i] - sum) / lower[i][i];
        }
        x
    }

    impl<'p> Process<'p> {
        pub(crate) fn new(points: &'p [Bits], values: &[f64], log_theta: &[f64]) -> Self {
            let theta: Vec<f64> = log_theta.iter().map(|log| libm::exp(*log)).collect();
            let mut matrix: Vec<Vec<f64>> =
                points.iter().map(|a| points.iter().map(|b| covariance(&theta, a, b)).collect()).collect();
            (0..points.len()).for_each(|i| matrix[i][i] += NOISE);
            let lower = cholesky(matrix);
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let residual: Vec<f64> = values.iter().map(|y| y - mean).collect();
            let weights = backward(&lower, &forward(&lower, &residual));
            let misfit: f64 = residual.iter().zip(&weights).map(|(r, w)| r * w).sum();
            let amplitude = (misfit + 1.0) / (values.len() as f64 + 1.0);
            Self { points, theta, lower, weights, amplitude }
        }

        /// The negative improvement on `best`, crude where it is small.
        fn value(&self, best: f64, x: &Bits) -> f64 {
            let kernels: Vec<f64> = self.points.iter().map(|p| covariance(&self.theta, p, x)).collect();
            let mean: f64 = kernels.iter().zip(&self.weights).map(|(k, w)| k * w).sum();
            let explained: f64 = forward(&self.lower, &kernels).iter().map(|x| x * x).sum();
            let deviation = (self.amplitude * (1.0 - explained).max(1e-10)).sqrt();
            let z = (best - mean) / deviation;
            -deviation * libm::exp(-0.5 * z * z) / (1.0 + z * z)
        }
    }

    /// −θᵢ⟨Dᵢ∘K, ½(K⁻¹ − aaᵀ/v)⟩
    pub(crate) fn gradient(points: &[Bits], values: &[f64], log_theta: &[f64]) -> Vec<f64> {
        let process = Process::new(points, values, log_theta);
        let unit = |i: usize| (0..points.len()).map(|j| f64::from(u8::from(i == j))).collect::<Vec<_>>();
        let inverse: Vec<Vec<f64>> =
            (0..points.len()).map(|i| backward(&process.lower, &forward(&process.lower, &unit(i)))).collect();
        let mut sums = vec![0.0; log_theta.len()];
        for (i, a) in points.iter().enumerate() {
            for (j, b) in points.iter().enumerate() {
                let weight = inverse[i][j] - process.weights[i] * process.weights[j] / process.amplitude;
                let weight = 0.5 * weight * covariance(&process.theta, a, b);
                let differ = sums.iter_mut().zip(a.iter().zip(b.iter())).filter(|(_, (a, b))| a != b);
                differ.for_each(|(sum, _)| *sum += weight);
            }
        }
        sums.iter().zip(&process.theta).map(|(sum, theta)| -theta * sum).collect()
    }

    /// 1,275 random points, then steepest descent from the 20 best.
    pub(crate) fn search(process: &Process<'_>, best: f64, rng: &mut Rng) -> Bits {
        let n = process.theta.len();
        let mut starts: Vec<(f64, Bits)> = (0..1275)
            .map(|_| {
                let x = if rng.random_bool(0.8) {
                    Layout::free(n).random(rng)
                } else {
                    process.points[rng.random_range(0..process.points.len())].clone()
                };
                (process.value(best, &x), x)
            })
            .collect();
        starts.sort_by(|a, b| a.0.total_cmp(&b.0));
        starts.truncate(20);
        for (value, x) in &mut starts {
            loop {
                let neighbours = (0..n).map(|i| {
                    let mut there = x.clone();
                    there.flip(i);
                    (process.value(best, &there), there)
                });
                let Some((lower, there)) = neighbours.min_by(|a, b| a.0.total_cmp(&b.0)) else { break };
                if lower >= *value {
                    break;
                }
                (*value, *x) = (lower, there);
            }
        }
        starts.swap_remove(0).1
    }
}
