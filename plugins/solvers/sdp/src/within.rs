//! Relaxation and rounding under rules.

use std::time::Instant;

use plugin_api::random::normal;
use plugin_api::{Answer, Bits, Problem, Quadratic, Result, Stop, rng};
use shared_cuts::{Reduced, magnitude};
use shared_one_flip::within::Walker;
use shared_rules::Rules;
use shared_semidefinite::relax_within;

use crate::options::{Options, Polish};

/// The best rounding among the points that keep the rules, with a bound on the least value there; an error where there is no
/// such point.
pub(crate) fn minimize(
    options: &Options,
    f: &Quadratic,
    rules: &Rules,
    problem: &Problem,
    seed: u64,
) -> Result<Answer> {
    let deadline = problem.time_limit().map(|limit| (Instant::now(), limit));
    // Bound and roundings follow the sweeps: each has its share of the time.
    let within = |share: f64| deadline.is_none_or(|(start, limit)| start.elapsed() < limit.mul_f64(share));
    let in_work = |sweeps| problem.work_limit().is_none_or(|limit| sweeps < limit);
    let more = |sweeps| sweeps < options.max_sweeps && in_work(sweeps) && within(0.6);

    let rng = &mut rng(seed);
    let first = rules.random(rng)?;
    let part = Reduced::new(f, rules.fixed().to_vec());
    let found = relax_within(&part.function, &rules.rest(rules.fixed()), options.tolerance, rng, more)?;
    // The values of the part are those of the function but for rounding.
    let rounding = (8 * f.dimension() + 16) as f64 * f64::EPSILON * magnitude(f);
    let bound = found.lower_bound_while(|| within(0.8)).map(|bound| (bound - rounding).next_down());

    let (rows, rank) = (found.relaxation.rows(), found.relaxation.rank());
    let mut walker = Walker::new(f, rules, &first);
    let mut best = (f.value(&first), first.clone());
    let (mut roundings, mut moves) = (0, 0);
    while roundings < options.roundings as u64 && (roundings == 0 || within(0.95)) {
        roundings += 1;
        let direction: Vec<f64> = (0..rank).map(|_| normal(rng)).collect();
        let product = |row: &[f64]| row.iter().zip(&direction).map(|(x, y)| x * y).sum::<f64>();
        let mut sides: Vec<f64> = rows.chunks_exact(rank).map(product).collect();
        // Relative to the last vector, which stands for 1.
        let last = sides.pop().expect("the last spin");
        let wish: Bits = part.lift(&sides.iter().map(|side| side * last > 0.0).collect());
        let mut sure = vec![f64::INFINITY; f.dimension()];
        sides.iter().enumerate().for_each(|(k, side)| sure[part.place(k)] = side.abs());
        let mut order: Vec<usize> = (0..f.dimension()).collect();
        order.sort_by(|&i, &j| sure[j].total_cmp(&sure[i]));
        // Where no second point is found, the first has to do.
        let near = rules.near_in_order(&wish, order, rng);
        walker.set(near.as_ref().unwrap_or(&first));
        if options.polish != Some(Polish::None) {
            moves += walker.descend_while(&|| within(1.0));
        }
        let value = f.value(walker.bits());
        if value < best.0 {
            best = (value, walker.bits().clone());
        }
    }
    let sweeps = found.sweeps;
    let swept = found.relaxation.converged || sweeps >= options.max_sweeps;
    let stop = if swept && roundings == options.roundings as u64 {
        Stop::Done
    } else if in_work(sweeps) {
        Stop::Time
    } else {
        Stop::Work
    };
    let answer = Answer::new(best.1, best.0)
        .with_count("sweeps", sweeps)
        .with_count("roundings", roundings)
        .with_count("moves", moves)
        .with_stop(stop);
    Ok(match bound {
        Some(bound) => answer.with_bound(bound),
        None => answer,
    })
}
