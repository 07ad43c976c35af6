//! The time of an iteration, fit and draw by `heat` and the search by `ascent`, both loaded as the host loads them:
//!
//!     cargo build --release -p surrogate-heat -p solver-ascent
//!     cargo run --release -p surrogate-heat --example iteration BITS OBSERVATIONS
//!
//! Observes random points of a low autocorrelation problem, then goes through ten iterations that end with as many
//! observations. The first fit starts from the prior, and is shown apart. Times are of the processor where the system
//! tells them, so that other programs don't count.

use std::time::Instant;

use plugin_api::load::Plugin;
use plugin_api::serde_json::json;
use plugin_api::{
    BitMatrix, Bits, DrawRequest, Error, Kind, Layout, Problem, Result, Solver, Surrogate, rng,
};

const ITERATIONS: usize = 10;

fn main() -> Result<()> {
    let arguments: Vec<usize> =
        std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let &[bits, observations] = arguments.as_slice() else {
        eprintln!("how many bits, and how many observations?");
        std::process::exit(2);
    };
    let layout = Layout::free(bits);
    let mut heat = load(Kind::Surrogate, "heat")?.surrogate(&json!({}), &layout)?;
    let mut ascent = load(Kind::Solver, "ascent")?.solver(&json!({}))?;
    let mut random = rng(1);
    let mut seen: Vec<(f64, Bits)> = Vec::new();
    let began = Instant::now();
    let (mut fits, mut searches) = (Vec::new(), Vec::new());
    for evaluation in 0..observations {
        let x = if evaluation + ITERATIONS < observations {
            layout.random(&mut random)
        } else {
            seen.sort_by(|one, other| one.0.total_cmp(&other.0));
            let mut points = BitMatrix::new(bits);
            points.extend(seen.iter().map(|(_, bits)| bits));
            let start = seconds(began);
            let drawn = heat.draw(&DrawRequest::new(1).with_best_total(seen[0].0))?;
            let fitted = seconds(began);
            let problem = Problem::new(drawn).with_starts(points.clone()).with_unwanted(points);
            let answer = ascent.minimize(&problem, evaluation as u64)?;
            fits.push(1e3 * (fitted - start));
            searches.push(1e3 * (seconds(began) - fitted));
            answer.bits().clone()
        };
        let value = -merit_factor(&x);
        heat.observe(&x, &value.into())?;
        seen.push((value, x));
    }
    let mean = |times: &[f64]| times.iter().sum::<f64>() / times.len() as f64;
    println!("{bits} bits, {observations} observations, milliseconds:");
    println!("first fit {:.1}, fit {:.1}, search {:.1}", fits[0], mean(&fits[1..]), mean(&searches));
    Ok(())
}

/// The plugin in the folder above that of this program.
fn load(kind: Kind, name: &str) -> Result<Plugin> {
    let program = std::env::current_exe().map_err(Error::wrap)?;
    let folder = program.ancestors().nth(2).ok_or_else(|| Error::new("this program has no folder"))?;
    Plugin::load_kind(&folder.join(kind.file_name(name)), kind).map_err(Error::wrap)
}

/// n²/(2E) with the energy E of the sequence.
fn merit_factor(x: &Bits) -> f64 {
    let n = x.len();
    let product = |i: usize, j: usize| if x[i] == x[j] { 1.0 } else { -1.0 };
    let correlation = |k: usize| (0..n - k).map(|i| product(i, i + k)).sum::<f64>();
    let energy: f64 = (1..n).map(|k| correlation(k) * correlation(k)).sum();
    (n * n) as f64 / (2.0 * energy)
}

/// Seconds that the program had a processor (Linux), or since it began.
fn seconds(began: Instant) -> f64 {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds: Option<f64> = statistics.split_whitespace().next().and_then(|first| first.parse().ok());
    nanoseconds.map_or_else(|| began.elapsed().as_secs_f64(), |nanoseconds| 1e-9 * nanoseconds)
}
