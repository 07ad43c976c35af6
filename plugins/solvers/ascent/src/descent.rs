//! Descents from the best of the candidates.

use std::time::Instant;

use plugin_api::{Answer, Problem, Result, Rng, Stop};
use shared_descent::{Best, Descents, batch};

use crate::candidates::candidates;
use crate::options::Options;

/// The share of the time that the candidates may take: of thousands of bits, looking at all of them would leave none for the
/// descents.
const OF_CANDIDATES: f64 = 0.3;

pub(crate) fn minimize(problem: &Problem, options: &Options, rng: &mut Rng) -> Result<Answer> {
    let deadline = problem.time_limit().map(|limit| (Instant::now(), limit));
    let within = |share: f64| deadline.is_none_or(|(start, limit)| start.elapsed() < limit.mul_f64(share));
    let in_time = || within(1.0);
    let points = candidates(problem, options, rng)?;
    let mut best = Best::new(problem.unwanted());
    let mut values = Vec::new();
    let at_once = batch(problem.dimension());
    for first in (0..points.len()).step_by(at_once) {
        if first > 0 && !within(OF_CANDIDATES) {
            break;
        }
        let batch = first..points.len().min(first + at_once);
        values.resize(batch.end, f64::NAN);
        let rows = points.view().slice_move(plugin_api::ndarray::s![batch.clone(), ..]);
        problem.objective().values(rows, &mut values[batch]);
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
    order.iter().for_each(|&i| best.see(values[i], points.row(i)));

    let mut descents = Descents::new(problem.objective(), problem.layout()).with_exchanges();
    for &i in &order {
        if descents.count() < options.descents {
            descents.add(values[i], points.row(i).into());
        }
    }
    let mut steps = 0;
    let mut stop = if values.len() < points.len() { Stop::Time } else { Stop::Done };
    while !descents.done() {
        if problem.work_limit().is_some_and(|limit| steps >= limit) {
            stop = Stop::Work;
            break;
        }
        if !in_time() || !descents.step_while(&mut best, &in_time) {
            stop = Stop::Time;
            break;
        }
        steps += 1;
    }
    let bits = best.bits().expect("the candidates were seen");
    let value = problem.objective().value(&bits);
    let answer = Answer::new(bits, value).with_count("points", values.len() as u64);
    Ok(answer.with_count("steps", steps).with_stop(stop))
}
