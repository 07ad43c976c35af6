//! The semidefinite relaxation among the points that keep rules: an augmented Lagrangian.
//!
//! Each rule's sum s, from l to u, is folded into the function with two multipliers (see [`shared_rules::folded`]): μ (s − u)
//! or μ (s − l), and ρ (s − l)(s − u). Whatever they are, the bound holds for the points that keep the rules. Good ones come
//! from the relaxation itself: after each round μ moves by 2ρ times what the sum is out of its limits in the mean, and ρ,
//! where the product can be negative, up or down with its mean.

use plugin_api::{Quadratic, Result, Rng};
use shared_rules::{Folded, Multipliers, Sum, folded};

use crate::bound::lower_bound_while;
use crate::relaxation::{Relaxation, relax};
use crate::spins::Spins;

/// Rounds of better multipliers.
const ROUNDS: usize = 4;
/// How well each of them but the last is solved.
const ROUGHLY: f64 = 1e-4;
/// ρ of a rule with m terms of weight 1, of the size of a typical slope: this by √m.
const SQUARED: f64 = 2.5;
/// The same for a rule whose product can be negative.
const WIDE: f64 = 0.5;

/// A relaxation of a function with rules folded in.
pub struct Within {
    pub relaxation: Relaxation,
    /// The form that was relaxed.
    pub spins: Spins,
    /// Sweeps of all rounds.
    pub sweeps: u64,
    /// What rounding may add to a bound.
    slack: f64,
}

/// Relaxes `f` among the points that keep the rules that `sums` stand for, for as long as `more` (asked with the sweeps
/// done) agrees. Without sums it is the relaxation of `f`.
pub fn relax_within(
    f: &Quadratic,
    sums: &[Sum],
    tolerance: f64,
    rng: &mut Rng,
    mut more: impl FnMut(u64) -> bool,
) -> Result<Within> {
    let mut multipliers = first_multipliers(f, sums);
    let Folded { function, slack } = folded(f, sums, &multipliers);
    let mut spins = Spins::new(&function)?;
    if sums.is_empty() {
        let relaxation = relax(&spins, tolerance, rng, more);
        return Ok(Within { sweeps: relaxation.sweeps, relaxation, spins, slack: 0.0 });
    }
    let mut slack = slack;
    let mut relaxation = relax(&spins, ROUGHLY, rng, &mut more);
    let mut sweeps = relaxation.sweeps;
    for round in 1..ROUNDS {
        if !more(sweeps) {
            break;
        }
        better(&mut multipliers, sums, &relaxation);
        let again = folded(f, sums, &multipliers);
        (spins, slack) = (Spins::new(&again.function)?, again.slack);
        let precisely = if round + 1 == ROUNDS { tolerance } else { ROUGHLY };
        relaxation = relaxation.relax_again(&spins, precisely, |more_sweeps| more(sweeps + more_sweeps));
        sweeps += relaxation.sweeps;
    }
    Ok(Within { relaxation, spins, sweeps, slack })
}

impl Within {
    /// A number that no value is below at a point that keeps the rules, as far as `more` allows to prove one.
    pub fn lower_bound_while(&self, mut more: impl FnMut() -> bool) -> Option<f64> {
        let duals = self.relaxation.duals_while(&self.spins, &mut more);
        let bound = lower_bound_while(&self.spins, &duals, more)?;
        let bound = if self.slack > 0.0 { (bound - self.slack).next_down() } else { bound };
        bound.is_finite().then_some(bound)
    }
}

/// No shift, and squares of the size of typical slopes.
fn first_multipliers(f: &Quadratic, sums: &[Sum]) -> Multipliers {
    if sums.is_empty() {
        return Multipliers { squared: Vec::new(), linear: Vec::new() };
    }
    let n = f.dimension();
    let mut squares: Vec<f64> = f.linear().iter().map(|b| b * b).collect();
    for i in 0..n {
        for (j, a) in (i + 1..).zip(f.row(i)) {
            squares[i] += a * a / 4.0;
            squares[j] += a * a / 4.0;
        }
    }
    let squared = |sum: &Sum| {
        let terms = sum.terms().len() as f64;
        let typical = sum.terms().iter().map(|&(bit, _, _)| squares[bit].sqrt()).sum::<f64>() / terms;
        let weights = sum.terms().iter().map(|(_, _, weight)| weight * weight).sum::<f64>() / terms;
        let size = if is_wide(sum) { WIDE } else { SQUARED };
        let rho = size / terms.sqrt() * typical / weights;
        if rho.is_finite() { rho } else { 0.0 }
    };
    Multipliers { squared: sums.iter().map(squared).collect(), linear: vec![0.0; sums.len()] }
}

/// Whether (s − l)(s − u) is negative at some values of the sum.
fn is_wide(sum: &Sum) -> bool {
    sum.most() - sum.least() > 1.0 || !sum.is_whole()
}

/// Moves the multipliers along what the relaxation breaks.
fn better(multipliers: &mut Multipliers, sums: &[Sum], relaxation: &Relaxation) {
    let rank = relaxation.rank();
    let rows = relaxation.rows();
    let mut rows: Vec<&[f64]> = rows.chunks_exact(rank).collect();
    let last = rows.pop().expect("the last spin");
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    for (c, sum) in sums.iter().enumerate() {
        // s as a vector: xᵢ = (v + vᵢ)/2 with the last vector v for 1.
        let mut s = vec![0.0; rank];
        for &(bit, level, weight) in sum.terms() {
            let side = if level { weight / 2.0 } else { -weight / 2.0 };
            for ((s, x), one) in s.iter_mut().zip(rows[bit]).zip(last) {
                *s += side * x + weight / 2.0 * one;
            }
        }
        let (mean, square) = (product(&s, last), product(&s, &s));
        let (least, most) = (sum.least(), sum.most());
        let spread = square - (least + most) * mean + least * most;
        let squared = &mut multipliers.squared[c];
        let linear = &mut multipliers.linear[c];
        let step = 2.0 * *squared;
        if least == most {
            *linear += step * (mean - most);
        } else {
            // The limit that is broken has a multiplier; that of the other is 0.
            let (above, below) = (*linear + step * (mean - most), *linear + step * (mean - least));
            *linear = if above > 0.0 { above } else { below.min(0.0) };
        }
        if is_wide(sum) {
            *squared *= if spread < 0.0 { 0.5 } else { 1.5 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::rng;
    use plugin_api::testing::minimum;
    use shared_rules::Rules;

    #[test]
    fn bounds_are_never_above_the_least_value_among_the_points_that_keep_the_rules() {
        let (mut without, mut with) = (0.0, 0.0);
        for number in 0..400 {
            let problem = golden_constrained::problem(number);
            let f = problem.quadratic().unwrap();
            let rules = Rules::of(problem.layout()).unwrap();
            let exact = minimum(&problem);
            let size = f.magnitude();
            for sweeps in [1, 10, 1000] {
                let sums = rules.rest(&vec![None; f.dimension()]);
                let found = relax_within(f, &sums, 1e-6, &mut rng(number), |done| done < sweeps).unwrap();
                let bound = found.lower_bound_while(|| true).expect("a finite bound");
                assert!(bound <= exact, "{number}: {bound} above {exact}");
                if sweeps == 1000 && f.magnitude() > 0.0 {
                    let plain = relax_within(f, &[], 1e-6, &mut rng(number), |done| done < sweeps).unwrap();
                    without += (exact - plain.lower_bound_while(|| true).expect("a bound")) / size;
                    with += (exact - bound) / size;
                }
            }
        }
        // What the rules are worth, of the size of the functions.
        assert!(with < 0.15 * without, "{with} with the rules, {without} without");
    }
}
