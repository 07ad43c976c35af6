//! Cuts under rules: a Lagrange multiplier for each.
//!
//! For a rule that keeps a sum s from l to u, μ (s − u) with μ ≥ 0 and μ (s − l) with μ ≤ 0 are not positive where it is kept. So
//! the minimum of the relaxed function with such terms is a bound on the least value among these points, whatever the
//! multipliers. The cut says how to better them: μ goes up where its sum is above the limit, and down where it is below.

use std::collections::BTreeSet;

use plugin_api::{Bits, Problem, Quadratic, Result, Stop, rng};
use shared_cuts::{Reduced, magnitude};
use shared_one_flip::{Settings, within::Walker};
use shared_rules::{Rules, Sum};

use crate::options::{Options, Polish};
use crate::subgradient::{End, Iterates};
use crate::{Counts, Found};

/// The best iterate among the points that keep the rules; an error where there is none.
pub(crate) fn iterate(
    options: &Options,
    f: &Quadratic,
    rules: &Rules,
    problem: &Problem,
    in_time: &dyn Fn() -> bool,
    seed: u64,
) -> Result<Found> {
    let rng = &mut rng(seed);
    let first = rules.random(rng)?;
    let mut best = (f.value(&first), first.clone());
    let part = Reduced::new(&without_group_pairs(f, rules), rules.fixed().to_vec());
    let sums = rules.rest(rules.fixed());
    let mut multipliers = vec![0.0; sums.len()];
    let mut walker = Walker::new(f, rules, &first);
    let Settings { tenure, patience, .. } = Settings::under_rules(f.dimension());
    let mut iterates = Iterates::new(&part.function, options, rng);
    let mut polished = BTreeSet::new();
    let stop = loop {
        if iterates.cuts() >= options.steps {
            break Stop::Done;
        }
        if problem.work_limit().is_some_and(|cuts| iterates.cuts() >= cuts) {
            break Stop::Work;
        }
        if !in_time() {
            break Stop::Time;
        }
        let iterate = match iterates.next_while(in_time) {
            Ok(iterate) => iterate,
            Err(End::Proven) => break Stop::Done,
            Err(End::Interrupted) => break Stop::Time,
        };
        if polished.insert(iterate.bits.clone()) {
            // Where no second point is found, the first has to do.
            let mut bits = rules.near(&part.lift(&iterate.bits), rng).unwrap_or_else(|_| first.clone());
            match options.polish {
                Polish::None => {}
                Polish::Descent => {
                    walker.set(&bits);
                    walker.descend_while(in_time);
                    bits.copy_from_slice(walker.bits());
                }
                Polish::Tabu => {
                    walker.walk_while(&mut bits, tenure, patience, u64::MAX, rng, in_time);
                }
            }
            let value = f.value(&bits);
            if value < best.0 {
                best = (value, bits);
            }
        }
        let apart = best.0 - iterate.relaxed_minimum;
        if let Some(Change { constant, linear, rounding }) =
            step(&mut multipliers, &sums, &iterate.bits, apart)
        {
            iterates.add(constant, &linear, rounding);
        }
    };
    // The values of the part are those of the function but for rounding.
    let rounding = (8 * f.dimension() + 16) as f64 * f64::EPSILON * magnitude(f);
    let bound = (iterates.cuts() > 0).then(|| (iterates.bound() - rounding).next_down());
    let (value, bits) = best;
    let name = if options.polish == Polish::Tabu { "walks" } else { "descents" };
    let descents = if options.polish == Polish::None { 0 } else { polished.len() as u64 };
    let counts = Counts { cuts: iterates.cuts(), polished: (name, descents), stop };
    Ok(Found { bits, value, bound, counts })
}

/// The same function where one bit of each group is set: two of them never are.
fn without_group_pairs(f: &Quadratic, rules: &Rules) -> Quadratic {
    let mut f = f.clone();
    for group in rules.groups() {
        for i in group.clone() {
            for j in i + 1..group.end {
                let pair = f.pair(i, j);
                f.add_pair(i, j, -pair);
            }
        }
    }
    f
}

/// A linear function, and the most by which its values are wrong.
struct Change {
    constant: f64,
    linear: Vec<f64>,
    rounding: f64,
}

/// Moves the multipliers along the subgradient at the point of a cut, by the step of Polyak (1969): as far as would close
/// the gap to the best value known, `apart`, if the bound were linear. Answers the change as a linear function, if there
/// is one.
fn step(multipliers: &mut [f64], sums: &[Sum], bits: &Bits, apart: f64) -> Option<Change> {
    let broken: Vec<f64> = sums
        .iter()
        .zip(&*multipliers)
        .map(|(sum, &multiplier)| {
            let value = sum.at(|bit| bits[bit]);
            match sum.least() == sum.most() {
                true => value - sum.most(),
                false if multiplier > 0.0 => value - sum.most(),
                false if multiplier < 0.0 => value - sum.least(),
                false => (value - sum.most()).max(0.0) + (value - sum.least()).min(0.0),
            }
        })
        .collect();
    let squares: f64 = broken.iter().map(|broken| broken * broken).sum();
    let length = apart / squares;
    if squares == 0.0 || !length.is_finite() || length <= 0.0 {
        return None;
    }
    let (mut constant, mut linear) = (0.0, vec![0.0; bits.len()]);
    // The sizes of all that is added up, and how many there are.
    let (mut size, mut additions) = (0.0, 0);
    for ((sum, multiplier), broken) in sums.iter().zip(multipliers).zip(broken) {
        let before = *multiplier;
        let mut now = before + length * broken;
        // Beyond 0, the other limit counts: that is for the next step.
        if sum.least() != sum.most() && before * now < 0.0 {
            now = 0.0;
        }
        *multiplier = now;
        for (multiplier, sign) in [(now, 1.0), (before, -1.0)] {
            let limit = if multiplier > 0.0 { sum.most() } else { sum.least() };
            constant -= sign * multiplier * limit;
            size += (multiplier * limit).abs();
            additions += sum.terms().len() + 2;
            for &(bit, level, weight) in sum.terms() {
                let term = sign * multiplier * weight;
                size += 2.0 * term.abs();
                if level {
                    linear[bit] += term;
                } else {
                    constant += term;
                    linear[bit] -= term;
                }
            }
        }
    }
    Some(Change { constant, linear, rounding: (additions + 4) as f64 * f64::EPSILON * size })
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::testing::random_quadratic;
    use plugin_api::{Constraint, Layout, Literal};

    #[test]
    fn multipliers_bring_the_bound_near_the_least_value_among_the_points_that_keep_the_rules() {
        // Without pairs the relaxation is exact, and so is the best bound of the multipliers.
        let of = (0..20).map(|i| Literal::new(i, 1)).collect();
        let layout = Layout::free(20).with_constraints(vec![Constraint::Exactly { count: 4, of }]).unwrap();
        let rules = Rules::of(&layout).unwrap();
        for seed in 0..10 {
            let linear = random_quadratic(&mut rng(seed), 20).linear().to_vec();
            let mut sorted = linear.clone();
            sorted.sort_by(f64::total_cmp);
            let least: f64 = sorted[..4].iter().sum();
            let f = Quadratic::new(0.0, linear, vec![0.0; 190]).unwrap();
            let problem = Problem::new(f.clone()).with_layout(&layout);
            let found = iterate(&Options::default(), &f, &rules, &problem, &|| true, seed).unwrap();
            assert!((found.value - least).abs() < 1e-12);
            let bound = found.bound.unwrap();
            assert!(bound <= least && bound > least - 0.01, "{bound} for {least}");
        }
    }
}
