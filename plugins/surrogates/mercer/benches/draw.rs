//! The surrogate's part of an iteration, an observation and a draw, beside the horseshoe's on the same points:
//!
//!     cargo build --release -p surrogate-mercer -p surrogate-horseshoe
//!     cargo bench -p surrogate-mercer
//!
//! Both are measured as the host loads them, from 297 observations on, each draw going on from the one before.

use divan::Bencher;
use plugin_api::load::Plugin;
use plugin_api::random::normal;
use plugin_api::serde_json::{Value as Json, json};
use plugin_api::{Bits, DrawRequest, Error, Kind, Layout, Result, Surrogate, rng};

const BITS: usize = 50;
/// Seen before the first draw that is measured.
const OBSERVATIONS: usize = 297;
const ITERATIONS: u32 = 20;

fn main() {
    divan::main();
}

#[divan::bench(sample_count = ITERATIONS, sample_size = 1)]
fn horseshoe(bencher: Bencher<'_, '_>) {
    iterations(bencher, "horseshoe", &json!({}));
}

#[divan::bench(args = ["raw", "auto"], sample_count = ITERATIONS, sample_size = 1)]
fn mercer(bencher: Bencher<'_, '_>, values: &str) {
    iterations(bencher, "mercer", &json!({ "values": values }));
}

fn iterations(bencher: Bencher<'_, '_>, name: &str, options: &Json) {
    let plugin = load(name).expect("build both surrogates first, as the first lines say");
    let mut surrogate = plugin.surrogate(options, &Layout::free(BITS)).expect("options");
    // More than are measured: divan tries the function before.
    let mut data = data(OBSERVATIONS + 4 * ITERATIONS as usize).into_iter();
    for (x, value) in data.by_ref().take(OBSERVATIONS) {
        surrogate.observe(&x, &value.into()).expect("a value");
    }
    // The first draw of all makes its factors.
    surrogate.draw(&DrawRequest::new(1)).expect("a draw");
    bencher.bench_local(|| {
        let (x, value) = data.next().expect("enough points");
        surrogate.observe(&x, &value.into()).expect("a value");
        surrogate.draw(&DrawRequest::new(1)).expect("a draw")
    });
}

/// Random points of a sparse function, with noise.
fn data(points: usize) -> Vec<(Bits, f64)> {
    let (layout, mut random) = (Layout::free(BITS), rng(1));
    let point = |_| {
        let x = layout.random(&mut random);
        let set = |i: usize| f64::from(u8::from(x[i]));
        let value = set(0) - 2.0 * set(1) * set(2) + 0.1 * normal(&mut random);
        (x, value)
    };
    (0..points).map(point).collect()
}

/// The plugin in the folder above that of this program.
fn load(name: &str) -> Result<Plugin> {
    let program = std::env::current_exe().map_err(Error::wrap)?;
    let folder = program.ancestors().nth(2).ok_or_else(|| Error::new("this program has no folder"))?;
    Plugin::load_kind(&folder.join(Kind::Surrogate.file_name(name)), Kind::Surrogate).map_err(Error::wrap)
}
