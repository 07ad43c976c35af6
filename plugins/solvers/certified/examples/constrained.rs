//! Constrained problems with what `certified` makes of them, a JSON line each, for other programs to solve:
//! `cargo run --release -p solver-certified --example constrained > constrained.jsonl`.
//!
//! `experiments/peers/constrained.py` does so. With `--nodes N`, branch and bound has that many parts to look at.

use plugin_api::Solver;
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use solver_certified::{Certified, options::Options};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let nodes = match std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => None,
        [flag, nodes] if flag == "--nodes" => Some(nodes.parse()?),
        _ => return Err("only `--nodes N` is known".into()),
    };
    for (name, problem) in golden_constrained::large() {
        let f = problem.quadratic()?;
        // The fastest of several, in processor time: whatever else runs on the machine only adds to it.
        let mut seconds = f64::INFINITY;
        for _ in 0..20 {
            let started = processor_seconds();
            Certified(Options { nodes, ..Options::default() }).minimize(&problem, 1)?;
            seconds = seconds.min(processor_seconds() - started);
        }
        let answer = Certified(Options { nodes, ..Options::default() }).minimize(&problem, 1)?;
        let pairs = (0..f.dimension()).flat_map(|i| (i + 1..).zip(f.row(i)).map(move |(j, a)| (i, j, *a)));
        let line = json!({
            "name": name,
            "n": f.dimension(),
            "constant": f.constant(),
            "linear": f.linear(),
            "pairs": pairs.filter(|(_, _, a)| *a != 0.0).collect::<Vec<_>>(),
            "layout": problem.layout(),
            "value": answer.value(),
            "bound": answer.bound(),
            "counts": answer.counts(),
            "seconds": seconds,
        });
        println!("{line}");
    }
    Ok(())
}

fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}
