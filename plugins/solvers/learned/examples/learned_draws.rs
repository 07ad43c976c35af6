//! Who finds lower values of the functions that a surrogate draws, and how often each solver asks for a value:
//!
//!     cargo build --release
//!     cargo run --release -p solver-learned --example learned_draws heat 30 5 180
//!
//! The surrogate, the number of bits of a low autocorrelation problem, the number of searches, and the number of descents
//! that make `ascent` ask as often as `learned` does. Each search observes 20
//! random points, then 80 that `ascent` finds; `learned`, the same without learning, and both with more descents solve
//! every problem too. A function's values count one each, the gains of all moves of a point as many as it has bits.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use plugin_api::load::{LoadedSolver, Plugin};
use plugin_api::ndarray::{ArrayView2, ArrayViewMut2};
use plugin_api::serde_json::{Value, json};
use plugin_api::{
    Acquisition, BitMatrix, Bits, DrawRequest, Error, Function, Kind, Layout, Problem, Result, Solver,
    Surrogate, rng,
};

const INITIAL: u64 = 20;
const EVALUATIONS: u64 = 80;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, bits, searches, descents] = arguments.as_slice() else {
        eprintln!("which surrogate, how many bits, how many searches, and how many descents of ascent?");
        std::process::exit(2);
    };
    let bits: usize = bits.parse().map_err(Error::wrap)?;
    let searches: u64 = searches.parse().map_err(Error::wrap)?;
    let descents: usize = descents.parse().map_err(Error::wrap)?;
    let more = format!("`ascent`, {descents} descents");
    let solvers: [(&str, &str, Value); 5] = [
        ("`ascent`", "ascent", json!({})),
        (&more, "ascent", json!({ "descents": descents })),
        ("`learned`", "learned", json!({})),
        ("`learned`, `learn: false`", "learned", json!({ "learn": false })),
        ("`learned`, 60 restarts", "learned", json!({ "restarts": 60 })),
    ];
    let mut tallies = solvers.each_ref().map(|_| Tally::default());
    for seed in 0..searches {
        let mut made = Vec::new();
        for (_, plugin, options) in &solvers {
            made.push(load(Kind::Solver, plugin)?.solver(options)?);
        }
        search(name, bits, seed, &mut made, &mut tallies)?;
    }
    println!("{name}, {bits} bits, {} draws", searches * EVALUATIONS);
    println!("| solver | lowest | lower than `learned` | higher | evaluations |");
    println!("| --- | --- | --- | --- | --- |");
    for ((label, _, _), tally) in solvers.iter().zip(&tallies) {
        let count = (searches * EVALUATIONS) as f64;
        println!(
            "| {label} | {} | {} | {} | {:.0} |",
            tally.lowest,
            tally.below,
            tally.above,
            tally.evaluations as f64 / count
        );
    }
    Ok(())
}

#[derive(Default)]
struct Tally {
    lowest: u64,
    /// Than what `learned` found.
    below: u64,
    above: u64,
    evaluations: u64,
}

fn search(
    name: &str,
    bits: usize,
    seed: u64,
    solvers: &mut [LoadedSolver],
    tallies: &mut [Tally],
) -> Result<()> {
    let layout = Layout::free(bits);
    let mut surrogate = load(Kind::Surrogate, name)?.surrogate(&json!({}), &layout)?;
    let mut random = rng(seed);
    let mut seen: Vec<(f64, Bits)> = Vec::new();
    for evaluation in 0..INITIAL + EVALUATIONS {
        let x = if evaluation < INITIAL {
            layout.random(&mut random)
        } else {
            seen.sort_by(|one, other| one.0.total_cmp(&other.0));
            let mut points = BitMatrix::new(bits);
            points.extend(seen.iter().map(|(_, bits)| bits));
            let mut best = BitMatrix::new(bits);
            best.extend(seen.iter().take(10).map(|(_, bits)| bits));
            let iteration = (evaluation - INITIAL) as usize + 1;
            let request = DrawRequest::new(1000 * seed + evaluation)
                .with_iteration(iteration)
                .with_best_total(seen[0].0)
                .with_best_points(best.clone());
            let drawn = surrogate.draw(&request)?;
            let counted = Arc::new(Counted { drawn, evaluations: AtomicU64::new(0) });
            let function = Acquisition::General(counted.clone());
            let mut answers = Vec::new();
            for (solver, tally) in solvers.iter_mut().zip(tallies.iter_mut()) {
                let problem =
                    Problem::new(function.clone()).with_starts(best.clone()).with_unwanted(points.clone());
                answers.push(solver.minimize(&problem, 1000 * seed + evaluation)?);
                tally.evaluations += counted.evaluations.swap(0, Ordering::Relaxed);
            }
            let lowest = answers.iter().map(|answer| answer.value()).fold(f64::INFINITY, f64::min);
            let least = 1e-9 * (1.0 + lowest.abs());
            let learned = answers[2].value();
            for (answer, tally) in answers.iter().zip(tallies.iter_mut()) {
                tally.lowest += u64::from(answer.value() <= lowest + least);
                tally.below += u64::from(answer.value() < learned - least);
                tally.above += u64::from(answer.value() > learned + least);
            }
            answers[0].bits().clone()
        };
        let value = -merit_factor(&x);
        surrogate.observe(&x, &value.into())?;
        seen.push((value, x));
    }
    Ok(())
}

/// A function that counts how often it is asked.
struct Counted {
    drawn: Acquisition,
    evaluations: AtomicU64,
}

impl Counted {
    fn count(&self, evaluations: usize) {
        self.evaluations.fetch_add(evaluations as u64, Ordering::Relaxed);
    }
}

impl Function for Counted {
    fn dimension(&self) -> usize {
        self.drawn.dimension()
    }
    fn value(&self, bits: &[bool]) -> f64 {
        self.count(1);
        self.drawn.value(bits)
    }
    fn flip_gain(&self, bits: &[bool], i: usize) -> f64 {
        self.count(1);
        self.drawn.flip_gain(bits, i)
    }
    fn values(&self, points: ArrayView2<'_, bool>, values: &mut [f64]) {
        self.count(points.nrows());
        self.drawn.values(points, values);
    }
    fn move_gains(
        &self,
        points: ArrayView2<'_, bool>,
        groups: &[Range<usize>],
        gains: ArrayViewMut2<'_, f64>,
    ) {
        self.count(points.len());
        self.drawn.move_gains(points, groups, gains);
    }
}

/// The plugin in the folder above that of this program.
fn load(kind: Kind, name: &str) -> Result<Plugin> {
    let program = std::env::current_exe().map_err(Error::wrap)?;
    let folder =
        program.parent().and_then(|examples| examples.parent()).ok_or("no folder above this program")?;
    Plugin::load_kind(&folder.join(kind.file_name(name)), kind).map_err(Error::wrap)
}

/// n²/2E.
fn merit_factor(bits: &[bool]) -> f64 {
    let spins: Vec<f64> = bits.iter().map(|&bit| if bit { 1.0 } else { -1.0 }).collect();
    let n = spins.len();
    let energy: f64 = (1..n)
        .map(|k| (0..n - k).map(|i| spins[i] * spins[i + k]).sum::<f64>())
        .map(|correlation| correlation * correlation)
        .sum();
    (n * n) as f64 / (2.0 * energy)
}
