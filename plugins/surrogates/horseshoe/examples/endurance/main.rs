//! A million Gibbs steps over data that break samplers:
//! `cargo run --release -p surrogate-horseshoe --example endurance [steps]`.
//!
//! A step that fails ends it with an error: none of the restarts that a chain allows itself are allowed here.

mod data;

use std::time::Instant;

fn main() {
    let steps: u32 = match std::env::args().nth(1).map(|steps| steps.parse()) {
        None => 1_000_000,
        Some(Ok(steps)) => steps,
        Some(Err(error)) => {
            eprintln!("the number of steps: {error}");
            std::process::exit(2);
        }
    };
    let cases = data::cases();
    let each = steps.div_ceil(cases.len() as u32);
    for case in &cases {
        let start = Instant::now();
        let largest = data::walk(case, each);
        let seconds = start.elapsed().as_secs_f64();
        let (rows, terms) = (case.observations.design().rows(), case.observations.design().columns());
        println!(
            "{:<42} {rows:>4} points {terms:>5} terms {each:>7} steps {:>7.4} ms a step, largest |β| {largest:.1e}",
            case.name,
            1e3 * seconds / f64::from(each)
        );
    }
    println!("{} steps without a failure", each as usize * cases.len());
}
