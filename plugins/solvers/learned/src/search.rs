//! Descents of the acquisition function from where the heuristic leads.

use std::collections::BTreeSet;

use plugin_api::{Acquisition, Answer, BitMatrix, Bits, Problem, Result, Rng, Stop};
use shared_descent::{Best, Descents, batch};
use shared_rules::points;

use crate::heuristic::{Heuristic, distance};

/// A descent of the acquisition function.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Descent {
    pub(crate) start: Place,
    pub(crate) end: Place,
    /// At its end.
    pub(crate) value: f64,
}

/// A point, and in how many bits it differs from the incumbent of its problem.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Place {
    pub(crate) bits: Bits,
    pub(crate) distance: usize,
}

/// Descends from `restarts` points: random ones, or where the heuristic leads from them.
pub(crate) fn minimize(
    problem: &Problem,
    restarts: usize,
    heuristic: Option<&Heuristic>,
    in_time: &dyn Fn() -> bool,
    rng: &mut Rng,
) -> Result<(Answer, Vec<Descent>)> {
    let mut limits = Limits { problem, in_time, stop: Stop::Done };
    let incumbent = problem.starts().rows().next();
    let random = points(problem.layout(), restarts, rng)?;
    let (starts, guided) = match heuristic {
        None => (random, 0),
        Some(heuristic) => lead(&heuristic.function(incumbent).into(), problem, &random, &mut limits),
    };

    let mut best = Best::new(problem.unwanted());
    let mut descents = Descents::new(problem.objective(), problem.layout()).with_exchanges();
    let mut began: Vec<Bits> = Vec::new();
    for batch in starts.chunks(batch(problem.dimension())) {
        if !began.is_empty() && limits.late() {
            break;
        }
        for (point, value) in batch.iter().zip(evaluate(problem, batch)) {
            best.see(value, point);
            if descents.add(value, point.clone()) {
                began.push(point.clone());
            }
        }
    }

    let mut steps = 0;
    while !descents.done() && !limits.reached(steps) {
        if !descents.step_while(&mut best, in_time) {
            limits.stop = Stop::Time;
            break;
        }
        steps += 1;
    }
    let bits = best.bits().expect("the first starts were seen");
    let value = problem.objective().value(&bits);
    let answer = Answer::new(bits, value)
        .with_count("starts", began.len() as u64)
        .with_count("guided", guided as u64)
        .with_count("steps", steps)
        .with_count("asked", descents.asked())
        .with_stop(limits.stop);
    let place = |bits: &Bits| Place {
        bits: bits.clone(),
        distance: incumbent.map_or(0, |incumbent| distance(bits, incumbent)),
    };
    let descent = |(start, (value, end))| Descent { start: place(start), end: place(end), value };
    Ok((answer, began.iter().zip(descents.ends()).map(descent).collect()))
}

/// Where descents of the heuristic from each of the points end. The first that comes to an end begins there; the others
/// that come to the same one begin where they were, because the same start again would tell nothing. And how many ends
/// there are.
fn lead(
    heuristic: &Acquisition,
    problem: &Problem,
    points: &[Bits],
    limits: &mut Limits<'_>,
) -> (Vec<Bits>, usize) {
    let mut descents = Descents::new(heuristic, problem.layout()).with_exchanges();
    let mut distinct: Vec<&Bits> = Vec::new();
    for point in points {
        if descents.add(heuristic.value(point), point.clone()) {
            distinct.push(point);
        }
    }
    let none = BitMatrix::new(problem.dimension());
    let mut seen = Best::new(&none);
    while !descents.done() && !limits.late() && descents.step_while(&mut seen, limits.in_time) {}
    let mut taken = BTreeSet::new();
    let ends = descents.ends().map(|(_, end)| end);
    let starts = ends.zip(distinct).map(|(end, point)| if taken.insert(end) { end } else { point }.clone());
    (starts.collect(), taken.len())
}

fn evaluate(problem: &Problem, points: &[Bits]) -> Vec<f64> {
    let mut rows = BitMatrix::new(problem.dimension());
    points.iter().for_each(|point| rows.push(point));
    let mut values = vec![0.0; points.len()];
    problem.objective().values(rows.view(), &mut values);
    values
}

/// The limits of a problem, and which of them was reached.
struct Limits<'p> {
    problem: &'p Problem,
    in_time: &'p dyn Fn() -> bool,
    stop: Stop,
}

impl Limits<'_> {
    fn late(&mut self) -> bool {
        if !(self.in_time)() {
            self.stop = Stop::Time;
        }
        self.stop != Stop::Done
    }

    /// Whether no more than these steps may be taken.
    fn reached(&mut self, steps: u64) -> bool {
        if self.stop == Stop::Done && self.problem.work_limit().is_some_and(|limit| steps >= limit) {
            self.stop = Stop::Work;
        }
        self.late()
    }
}
