//! The surrogate's part of an iteration as evaluations come in:
//! `cargo run --release -p surrogate-mercer --example draws BITS EVALUATIONS [FROM [VALUES]]`.
//!
//! As the example `iterations` of the horseshoe: each iteration observes a random point of a sparse function and draws; `FROM` says
//! how many are observed before the first draw, `VALUES` what is learned of them. Prints the mean time of some iterations in a
//! row, of the processor where the system tells it.

use std::time::Instant;

use plugin_api::random::normal;
use plugin_api::{DrawRequest, Layout, Surrogate, rng};

fn main() -> plugin_api::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).and_then(|argument| argument.parse::<usize>().ok());
    let (Some(bits), Some(evaluations)) = (number(0), number(1)) else {
        eprintln!("how many bits, and how many evaluations?");
        std::process::exit(2);
    };
    let from = number(2).unwrap_or(0);
    let values = arguments.get(3).map_or("raw", String::as_str);
    let (layout, mut random) = (Layout::free(bits), rng(1));
    let mut surrogate = surrogate_mercer::surrogate(&format!(r#"{{ "values": "{values}" }}"#), &layout)?;
    let began = Instant::now();
    let (mut start, every) = (0.0, (evaluations.saturating_sub(from) / 10).max(1));
    for evaluation in 1..=evaluations {
        let x = layout.random(&mut random);
        let set = |i: usize| f64::from(u8::from(x[i % bits]));
        let value = set(0) - 2.0 * set(1) * set(2) + 0.1 * normal(&mut random);
        surrogate.observe(&x, &value.into())?;
        if evaluation > from {
            surrogate.draw(&DrawRequest::new(evaluation as u64))?;
        }
        // The first draw of all makes its factors.
        if evaluation == from + 1 {
            start = seconds(began);
        } else if evaluation > from && (evaluation - from - 1).is_multiple_of(every) {
            let now = seconds(began);
            println!("{evaluation:>5} evaluations {:>9.3} ms", 1e3 * (now - start) / every as f64);
            start = now;
        }
    }
    Ok(())
}

/// Seconds that the program had a processor (Linux), or since it began.
fn seconds(began: Instant) -> f64 {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds: Option<f64> = statistics.split_whitespace().next().and_then(|first| first.parse().ok());
    nanoseconds.map_or_else(|| began.elapsed().as_secs_f64(), |nanoseconds| 1e-9 * nanoseconds)
}
