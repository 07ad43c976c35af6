//! Several runs of annealing, within a problem's limits.

use std::time::{Duration, Instant};

use plugin_api::{Answer, Bits, Problem, Rng, Stop};

use crate::anneal::Moves;
use crate::landscape::Landscape;
use crate::options::Options;

/// Random points at which gains are looked at to choose the temperatures. Each counts as a sweep.
const SAMPLES: u64 = 5;

/// The best point of all runs on `landscape`, which is that of the problem's objective.
pub(crate) fn minimize(
    landscape: &mut impl Landscape,
    moves: &mut impl Moves,
    problem: &Problem,
    mut limits: Limits,
    options: &Options,
    rng: &mut Rng,
) -> Answer {
    let scale = typical_gain(landscape, moves, &mut limits, rng);
    let first = problem.starts().rows().next().and_then(|bits| moves.near(bits, rng));
    let mut start = first.unwrap_or_else(|| moves.random(rng));
    let mut best = (problem.objective().value(&start), start.clone());
    let mut runs = 0;
    while runs < options.restarts && limits.stop == Stop::Done {
        runs += 1;
        run(landscape, moves, &start, options, scale, &mut limits, rng);
        let value = problem.objective().value(landscape.bits());
        if value < best.0 || best.0.is_nan() {
            best = (value, landscape.bits().clone());
        }
        start = moves.random(rng);
    }
    let (value, bits) = best;
    Answer::new(bits, value)
        .with_count("sweeps", limits.sweeps)
        .with_count("runs", runs)
        .with_stop(limits.stop)
}

/// The root of the mean square of what moves gain at random points; 0 where the limits leave no time for it.
fn typical_gain(
    landscape: &mut impl Landscape,
    moves: &mut impl Moves,
    limits: &mut Limits,
    rng: &mut Rng,
) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    for _ in 0..SAMPLES.min(limits.left() / 10) {
        if !limits.allow_sweep() {
            break;
        }
        let bits = moves.random(rng);
        moves.set(landscape, &bits);
        let (more, tried) = moves.squared_gains(landscape, rng);
        sum += more;
        count += tried;
    }
    if count == 0 { 0.0 } else { (sum / count as f64).sqrt() }
}

/// Goes from `start` to the best point at the end of a sweep, and from there down.
fn run(
    landscape: &mut impl Landscape,
    moves: &mut impl Moves,
    start: &Bits,
    options: &Options,
    scale: f64,
    limits: &mut Limits,
    rng: &mut Rng,
) {
    moves.set(landscape, start);
    let sweeps = options.sweeps.min(limits.left());
    let ratio = options.coldest / options.hottest;
    let cooling = libm::pow(ratio, 1.0 / sweeps.saturating_sub(1).max(1) as f64);
    let mut temperature = options.hottest * scale;
    let mut gained = 0.0;
    let mut best = (0.0, start.clone());
    for _ in 0..sweeps {
        if !limits.allow_sweep() {
            break;
        }
        gained += moves.sweep(landscape, temperature, rng);
        if gained < best.0 {
            best.0 = gained;
            best.1.copy_from_slice(landscape.bits());
        }
        temperature *= cooling;
    }
    moves.set(landscape, &best.1);
    // A gain has to be more than rounding, or a descent might go round in circles.
    let least = 1e-12 * scale;
    for _ in 0..options.sweeps {
        if !limits.allow_sweep() || !moves.descend(landscape, least) {
            break;
        }
    }
}

/// How far all runs together may go.
pub(crate) struct Limits {
    sweeps: u64,
    most: u64,
    deadline: Option<(Instant, Duration)>,
    stop: Stop,
}

impl Limits {
    /// The limits of `problem`, from now on.
    pub(crate) fn new(problem: &Problem) -> Self {
        let deadline = problem.time_limit().map(|limit| (Instant::now(), limit));
        Self { sweeps: 0, most: problem.work_limit().unwrap_or(u64::MAX), deadline, stop: Stop::Done }
    }

    fn left(&self) -> u64 {
        self.most - self.sweeps
    }

    /// Whether one more sweep may be made; counts it.
    fn allow_sweep(&mut self) -> bool {
        if self.left() == 0 {
            self.stop = Stop::Work;
        } else if self.deadline.is_some_and(|(start, limit)| start.elapsed() >= limit) {
            self.stop = Stop::Time;
        } else {
            self.sweeps += 1;
        }
        self.stop == Stop::Done
    }
}
