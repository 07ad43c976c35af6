//! Descents from the best of the candidates.

use std::time::Instant;

use plugin_api::{Answer, Problem, Result, Rng, Stop};
use shared_descent::{Best, Descents};

use crate::candidates::candidates;
use crate::options::Options;

/// Points of one call for values: few enough that a limit on time is kept.
const BATCH: usize = 256;

pub(crate) fn minimize(problem: &Problem, options: &Options, rng: &mut Rng) -> Result<Answer> {
    let deadline = problem.time_limit().map(|limit| (Instant::now(), limit));
    let late = || deadline.is_some_and(|(start, limit)| start.elapsed() >= limit);
    let points = candidates(problem, options, rng)?;
    let mut best = Best::new(problem.unwanted());
    let (mut values, mut stop) = (Vec::new(), Stop::Done);
    for first in (0..points.len()).step_by(BATCH) {
        if first > 0 && late() {
            stop = Stop::Time;
            break;
        }
        let batch = first..points.len().min(first + BATCH);
        values.resize(batch.end, f64::NAN);
        let rows = points.view().slice_move(plugin_api::ndarray::s![batch.clone(), ..]);
        problem.objective().values(rows, &mut values[batch]);
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
    order.iter().for_each(|&i| best.see(values[i], points.row(i)));

    let mut descents = Descents::new(problem.objective(), problem.layout());
    for &i in &order {
        if descents.count() < options.descents {
            descents.add(values[i], points.row(i).into());
        }
    }
    let mut steps = 0;
    while stop == Stop::Done && !descents.done() {
        if problem.work_limit().is_some_and(|limit| steps >= limit) {
            stop = Stop::Work;
        } else if late() {
            stop = Stop::Time;
        } else {
            steps += 1;
            descents.step(&mut best);
        }
    }
    let bits = best.bits().expect("the candidates were seen");
    let value = problem.objective().value(&bits);
    let answer = Answer::new(bits, value).with_count("points", values.len() as u64);
    Ok(answer.with_count("steps", steps).with_stop(stop))
}
