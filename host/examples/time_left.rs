//! How good the time left is that a run shows: runs an experiment, and holds what was said against what was true.
//!
//! `cargo run --release -p host --example time_left -- target/release/host experiments/ising.yaml [ARGUMENTS]`
//!
//! The run's end is that of its report. Errors are parts of the time that was really left, from a quarter of the run on.

use std::io::{BufRead, BufReader};
use std::process::{Command, ExitCode, Stdio};

use serde_json::Value as Json;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(host), Some(manifest)) = (arguments.next(), arguments.next()) else {
        eprintln!("time_left HOST MANIFEST [ARGUMENTS OF host run]");
        return ExitCode::from(2);
    };
    let mut command = Command::new(host);
    command.args(["run", &manifest, "--log-format", "json"]).args(arguments);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            eprintln!("cannot run it: {error}");
            return ExitCode::FAILURE;
        }
    };
    let lines = BufReader::new(child.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    let said: Vec<Json> = lines.filter_map(|line| serde_json::from_str(&line).ok()).collect();
    let _ = child.wait();
    let reported = said.iter().find(|line| line["progress"] == "reported");
    let Some(end) = reported.and_then(|line| line["seconds"].as_f64()) else {
        eprintln!("the run did not come to its report");
        return ExitCode::FAILURE;
    };
    let estimates: Vec<(f64, f64)> = said
        .iter()
        .filter_map(|line| Some((line["seconds"].as_f64()?, line["seconds_left"].as_f64()?)))
        .filter(|(seconds, _)| (0.25 * end..0.95 * end).contains(seconds))
        .collect();
    let mut errors: Vec<f64> =
        estimates.iter().map(|(seconds, left)| (left - (end - seconds)) / (end - seconds)).collect();
    errors.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let within = errors.iter().filter(|error| error.abs() <= 0.2).count();
    let percent = |place: usize| errors.get(place).map_or(f64::NAN, |error| 100.0 * error);
    println!(
        "{manifest}: {end:.1} s; {} estimates from 25 % to 95 % of it: median error {:+.0} %, worst {:+.0} %, \
         {within} within 20 %",
        errors.len(),
        percent(errors.len() / 2),
        percent(errors.len().saturating_sub(1))
    );
    for share in [0.25, 0.5, 0.75, 0.9] {
        let at = estimates.iter().find(|(seconds, _)| *seconds >= share * end);
        if let Some((seconds, left)) = at {
            println!("  after {seconds:6.1} s: {left:6.1} s left were shown, {:6.1} s were", end - seconds);
        }
    }
    ExitCode::SUCCESS
}
