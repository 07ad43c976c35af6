//! What a call through the boundary costs, beside the same call through a box in one program.

#[path = "../tests/boundary/dylibs.rs"]
#[expect(dead_code, reason = "the tests patch the api as well")]
mod dylibs;
#[path = "../tests/fixtures/trivial.rs"]
mod trivial;

use std::path::Path;
use std::sync::OnceLock;

use divan::{Bencher, black_box};
use dylibs::{Built, Stage};
use plugin_api::load::Plugin;
use plugin_api::ndarray::Array2;
use plugin_api::serde_json::json;
use plugin_api::testing::random_quadratic;
use plugin_api::{
    Acquisition, Benchmark, BitMatrix, DrawRequest, Encoder, Kind, Layout, Point, Problem, Solver, Space,
    Surrogate, rng,
};
use trivial::Trivial;

fn main() {
    dylib("benchmark"); // built before anything is measured
    divan::main();
}

/// Where the plugin is.
#[derive(Clone, Copy, Debug)]
enum Way {
    Box,
    Dylib,
}

const WAYS: [Way; 2] = [Way::Box, Way::Dylib];

fn dylib(kind: &str) -> &'static Path {
    static BUILT: OnceLock<Built> = OnceLock::new();
    let build = || {
        let stage = Stage { name: "fixture", patches: &[] };
        let fixtures = ["trivial-benchmark", "trivial-encoder", "trivial-surrogate", "trivial-solver"];
        stage.build(&fixtures, &["--release"])
    };
    &BUILT.get_or_init(build)[&format!("trivial-{kind}")]
}

fn plugin(kind: &str) -> Plugin {
    Plugin::load(dylib(kind)).unwrap_or_else(|error| panic!("{error}"))
}

#[divan::bench(args = WAYS)]
fn evaluate(bencher: Bencher<'_, '_>, way: Way) {
    let mut benchmark: Box<dyn Benchmark> = black_box(match way {
        Way::Box => Box::new(Trivial),
        Way::Dylib => Box::new(plugin("benchmark").benchmark(&json!({}), 1).expect("a benchmark")),
    });
    let point = Point::from(vec![1; 25]);
    bencher.bench_local(|| benchmark.evaluate(black_box(&point), 1));
}

/// The example in C, through its table of functions; nothing where there is no compiler.
#[divan::bench]
fn evaluate_in_c(bencher: Bencher<'_, '_>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join(Kind::Benchmark.file_name("knapsack"));
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let mut build = std::process::Command::new(compiler);
    build.args(["-std=c99", "-O2", "-shared", "-fPIC", "-I"]).arg(root.join("include"));
    build.arg(root.join("../plugins/c/knapsack.c")).arg("-o").arg(&library);
    if !build.status().is_ok_and(|status| status.success()) {
        return eprintln!("skipped: no C compiler");
    }
    let plugin = Plugin::load(&library).unwrap_or_else(|error| panic!("{error}"));
    let mut benchmark = plugin.benchmark(&json!({}), 1).expect("a benchmark");
    let point = Point::from(vec![1; benchmark.space().expect("a space").dimension()]);
    bencher.bench_local(|| benchmark.evaluate(black_box(&point), 1));
}

#[divan::bench(args = WAYS)]
fn encode(bencher: Bencher<'_, '_>, way: Way) {
    let encoder: Box<dyn Encoder> = black_box(match way {
        Way::Box => Box::new(Trivial),
        Way::Dylib => {
            Box::new(plugin("encoder").encoder(&json!({}), &Space::binary(25)).expect("an encoder"))
        }
    });
    let point = Point::from(vec![1; 25]);
    bencher.bench_local(|| encoder.encode(black_box(&point)));
}

#[divan::bench(args = WAYS, consts = [25, 100])]
fn minimize<const N: usize>(bencher: Bencher<'_, '_>, way: Way) {
    let mut solver: Box<dyn Solver> = black_box(match way {
        Way::Box => Box::new(Trivial),
        Way::Dylib => Box::new(plugin("solver").solver(&json!({})).expect("a solver")),
    });
    let problem = Problem::new(random_quadratic(&mut rng(1), N));
    bencher.bench_local(|| solver.minimize(black_box(&problem), 1));
}

/// The number of bits set, of 100: as cheap as a general function can be.
fn general_function(way: Way) -> Acquisition {
    let mut surrogate: Box<dyn Surrogate> = black_box(match way {
        Way::Box => Box::new(Trivial),
        Way::Dylib => {
            let plugin = plugin("surrogate");
            Box::new(plugin.surrogate(&json!({}), &Layout::free(100)).expect("a surrogate"))
        }
    });
    surrogate.draw(&DrawRequest::new(1).with_iteration(100)).expect("a function")
}

/// The gains of all moves from a point, in a call each.
#[divan::bench(args = WAYS)]
fn gains_one_by_one(bencher: Bencher<'_, '_>, way: Way) {
    let (f, point, mut gains) = (general_function(way), [true; 100], [0.0; 100]);
    bencher.bench_local(|| {
        let f = black_box(&f);
        gains.iter_mut().enumerate().for_each(|(i, gain)| *gain = f.flip_gain(black_box(&point), i));
    });
}

/// The same in one call.
#[divan::bench(args = WAYS)]
fn gains_at_once(bencher: Bencher<'_, '_>, way: Way) {
    let (f, mut gains) = (general_function(way), Array2::zeros((1, 100)));
    let mut point = BitMatrix::new(100);
    point.push(&[true; 100]);
    bencher.bench_local(|| black_box(&f).move_gains(black_box(&point).view(), &[], gains.view_mut()));
}
