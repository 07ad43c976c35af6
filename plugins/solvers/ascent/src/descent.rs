//! Steepest descent from several points in lockstep.

use std::collections::BTreeSet;
use std::time::Instant;

use plugin_api::ndarray::Array2;
use plugin_api::{Answer, BitMatrix, Bits, Problem, Result, Rng, Stop};

use crate::candidates::{candidates, make_move};
use crate::options::Options;

/// Points of one call for values: few enough that a limit on time is kept.
const BATCH: usize = 256;

pub(crate) fn minimize(problem: &Problem, options: &Options, rng: &mut Rng) -> Result<Answer> {
    let deadline = problem.time_limit().map(|limit| (Instant::now(), limit));
    let late = || deadline.is_some_and(|(start, limit)| start.elapsed() >= limit);
    let points = candidates(problem, options, rng)?;
    let mut best = Best::new(problem);
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

    // No point is visited twice: a descent that comes to where another has been would go the same way.
    let mut visited: BTreeSet<Bits> = BTreeSet::new();
    let mut active: Vec<(f64, Bits)> = Vec::new();
    for &i in &order {
        if active.len() < options.descents && visited.insert(points.row(i).into()) {
            active.push((values[i], points.row(i).into()));
        }
    }
    let mut steps = 0;
    while stop == Stop::Done && !active.is_empty() {
        if problem.work_limit().is_some_and(|limit| steps >= limit) {
            stop = Stop::Work;
        } else if late() {
            stop = Stop::Time;
        } else {
            steps += 1;
            step(problem, &mut active, &mut visited, &mut best);
        }
    }
    let bits = best.bits();
    let value = problem.objective().value(&bits);
    let answer = Answer::new(bits, value).with_count("points", values.len() as u64);
    Ok(answer.with_count("steps", steps).with_stop(stop))
}

/// Each point takes its best move; those without one that gains are done.
fn step(problem: &Problem, active: &mut Vec<(f64, Bits)>, visited: &mut BTreeSet<Bits>, best: &mut Best<'_>) {
    let n = problem.dimension();
    let mut points = BitMatrix::new(n);
    active.iter().for_each(|(_, bits)| points.push(bits));
    let mut gains = Array2::zeros((points.len(), n));
    problem.objective().move_gains(points.view(), problem.groups(), gains.view_mut());
    let mut order: Vec<usize> = Vec::with_capacity(n);
    let mut row = 0;
    active.retain_mut(|(value, bits)| {
        let gains = gains.row(row);
        row += 1;
        order.clear();
        // A bit that is set in its group is no move: its gain is 0, and choosing it changes nothing.
        order.extend((0..n).filter(|&i| gains[i].is_finite()));
        order.sort_by(|&i, &j| gains[i].total_cmp(&gains[j]));
        // Less than this is rounding.
        let least = 1e-12 * (1.0 + value.abs());
        let mut next = None;
        for &i in &order {
            let there = *value + gains[i];
            let descends = next.is_none() && gains[i] < -least;
            if !descends && !best.would_take(there) {
                break;
            }
            let mut moved = bits.clone();
            make_move(&mut moved, problem.groups(), i);
            if problem.constraints().is_empty() || problem.admits(&moved) {
                best.see(there, &moved);
                if descends {
                    next = Some((there, moved));
                }
            }
        }
        match next.filter(|(_, moved)| visited.insert(moved.clone())) {
            Some(moved) => {
                (*value, *bits) = moved;
                true
            }
            None => false,
        }
    });
}

/// The best point seen, and the best of those that are wanted.
struct Best<'p> {
    unwanted: BTreeSet<&'p [bool]>,
    any: Option<(f64, Bits)>,
    wanted: Option<(f64, Bits)>,
}

impl<'p> Best<'p> {
    fn new(problem: &'p Problem) -> Self {
        Self { unwanted: problem.unwanted().rows().collect(), any: None, wanted: None }
    }

    /// Whether a point of this value would be the best wanted one.
    fn would_take(&self, value: f64) -> bool {
        is_below(value, &self.wanted)
    }

    fn see(&mut self, value: f64, bits: &[bool]) {
        if is_below(value, &self.any) {
            self.any = Some((value, bits.into()));
        }
        if is_below(value, &self.wanted) && !self.unwanted.contains(bits) {
            self.wanted = Some((value, bits.into()));
        }
    }

    fn bits(self) -> Bits {
        self.wanted.or(self.any).expect("the candidates were seen").1
    }
}

fn is_below(value: f64, best: &Option<(f64, Bits)>) -> bool {
    best.as_ref().is_none_or(|(best, _)| value < *best)
}
