//! The memory of a long run, iterations of `heat` and `ascent`, both loaded as the host loads them:
//!
//!     cargo build --release -p surrogate-heat -p solver-ascent
//!     cargo run --release -p surrogate-heat --example memory EVALUATIONS
//!
//! Shows what the program holds while the observations grow, three times: what a model needs grows with the square of its
//! observations, and later runs should need no more than the ones before. Linux only.

use plugin_api::load::Plugin;
use plugin_api::serde_json::json;
use plugin_api::{
    BitMatrix, Bits, DrawRequest, Error, Kind, Layout, Problem, Result, Solver, Surrogate, rng,
};

const BITS: usize = 25;

fn main() -> Result<()> {
    let evaluations = std::env::args().nth(1).and_then(|argument| argument.parse().ok()).unwrap_or(1000);
    for run in 1..=3 {
        let mut heat =
            load(Kind::Surrogate, "heat")?.surrogate(&json!({ "values": "auto" }), &Layout::free(BITS))?;
        let mut ascent = load(Kind::Solver, "ascent")?.solver(&json!({}))?;
        let mut random = rng(run);
        let mut seen = BitMatrix::new(BITS);
        for evaluation in 1..=evaluations {
            let x = if evaluation <= 20 {
                Layout::free(BITS).random(&mut random)
            } else {
                let drawn = heat.draw(&DrawRequest::new(evaluation))?;
                let problem = Problem::new(drawn).with_unwanted(seen.clone());
                ascent.minimize(&problem, evaluation)?.bits().clone()
            };
            heat.observe(&x, &value(&x).into())?;
            seen.push(&x);
            if evaluation % (evaluations / 5).max(1) == 0 {
                println!("run {run}, {evaluation} evaluations: {:.1} MB", megabytes());
            }
        }
    }
    Ok(())
}

/// An uneven function.
fn value(x: &Bits) -> f64 {
    let pairs =
        x.windows(2).enumerate().map(|(i, pair)| f64::from(pair[0] ^ pair[1]) * ((i * 7 % 11) as f64 - 5.0));
    libm::exp(0.2 * pairs.sum::<f64>())
}

/// What the program holds in memory.
fn megabytes() -> f64 {
    let statistics = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: f64 =
        statistics.split_whitespace().nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(f64::NAN);
    pages * 4096.0 / 1e6
}

/// The plugin in the folder above that of this program.
fn load(kind: Kind, name: &str) -> Result<Plugin> {
    let program = std::env::current_exe().map_err(Error::wrap)?;
    let folder = program.ancestors().nth(2).ok_or_else(|| Error::new("this program has no folder"))?;
    Plugin::load_kind(&folder.join(kind.file_name(name)), kind).map_err(Error::wrap)
}
