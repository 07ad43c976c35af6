//! What an evaluation by a program costs: `cargo bench -p benchmark-command`.
//!
//! The program is `sed`, which answers every line with the same value. `a_pipe` is the reference: the same line there and
//! back through two pipes, and nothing else. What `persistent` takes beyond it is the price of the plugin; `python` is a
//! function under the decorator of `workbench.py`.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command as Process, Stdio};

use benchmark_command::Command;
use benchmark_command::options::Options;
use divan::Bencher;
use plugin_api::serde_json::{Value, json};
use plugin_api::{Benchmark, Point, options};

fn main() {
    divan::main();
}

const SED: [&str; 6] = ["sed", "-u", "-e", r#"1s/.*/{"hello": 1}/"#, "-e", r#"1!s/.*/{"value": 1}/"#];
const VARIABLES: usize = 25;

fn options(options: Value) -> Options {
    options::parse(&options.to_string()).expect("valid options")
}

fn variables() -> Value {
    (0..VARIABLES)
        .map(|i| (format!("x{i}"), json!([0, 1])))
        .collect::<plugin_api::serde_json::Map<_, _>>()
        .into()
}

#[divan::bench]
fn a_pipe(bencher: Bencher<'_, '_>) {
    let mut child: Child = Process::new(SED[0])
        .args(&SED[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("sed");
    let (mut input, output) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
    let (mut output, mut line) = (BufReader::new(output), String::new());
    let point: Value = (0..VARIABLES)
        .map(|i| (format!("x{i}"), json!(1)))
        .collect::<plugin_api::serde_json::Map<_, _>>()
        .into();
    let request = format!("{}\n", json!({ "point": point, "seed": 1 }));
    bencher.bench_local(|| {
        input.write_all(request.as_bytes()).expect("sed reads");
        line.clear();
        output.read_line(&mut line).expect("sed answers")
    });
    drop(input);
    child.wait().expect("sed ends");
}

fn measure(bencher: Bencher<'_, '_>, options: Options) {
    let mut command = Command::new(options, 1).expect("a benchmark");
    let point = Point::from(vec![1; VARIABLES]);
    bencher.bench_local(|| command.evaluate(&point, 1).expect("a value"));
}

#[divan::bench]
fn persistent(bencher: Bencher<'_, '_>) {
    measure(bencher, options(json!({ "run": SED, "variables": variables() })));
}

#[divan::bench]
fn python(bencher: Bencher<'_, '_>) {
    let script = "from workbench import objective\nobjective(lambda **x: 1.0).serve()";
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../plugin-api/python");
    let run = json!(["python3", "-B", "-c", script]);
    measure(bencher, options(json!({ "run": run, "variables": variables(), "directory": folder })));
}

#[divan::bench]
fn once(bencher: Bencher<'_, '_>) {
    measure(
        bencher,
        options(
            json!({ "run": ["echo", "1"], "variables": variables(), "mode": "once", "pass": "environment" }),
        ),
    );
}
