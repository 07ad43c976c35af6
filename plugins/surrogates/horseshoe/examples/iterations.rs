//! The surrogate's part of an iteration as evaluations come in, and the memory that it holds:
//! `cargo run --release -p surrogate-horseshoe --example iterations BITS EVALUATIONS [STEPS [FROM]]`.
//!
//! Each iteration observes a random point of a sparse function and draws; `FROM` says how many are observed before
//! the first draw. Prints the mean time of some iterations in a row (of the processor where the system tells it, so that
//! other programs don't count), and the resident memory.

use std::time::Instant;

use plugin_api::random::normal;
use plugin_api::{DrawRequest, Layout, Surrogate, rng};

fn main() -> plugin_api::Result<()> {
    let arguments: Vec<usize> =
        std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let &[bits, evaluations, ref rest @ ..] = arguments.as_slice() else {
        eprintln!("how many bits, and how many evaluations?");
        std::process::exit(2);
    };
    let steps = rest.first().copied().unwrap_or(200);
    let from = rest.get(1).copied().unwrap_or(0);
    let (layout, mut random) = (Layout::free(bits), rng(1));
    let mut surrogate = surrogate_horseshoe::surrogate(&format!(r#"{{ "steps": {steps} }}"#), &layout)?;
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
        // The first draw of all takes a thousand steps.
        if evaluation == from + 1 {
            start = seconds(began);
        } else if evaluation > from && (evaluation - from - 1).is_multiple_of(every) {
            let now = seconds(began);
            let each = 1e3 * (now - start) / every as f64;
            println!("{evaluation:>5} evaluations {each:>9.2} ms {:>8} KiB", resident());
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

/// KiB, or 0 where the system does not say.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
