//! The roof dual (Hammer, Hansen & Simeone 1984): the best bound of all submodular relaxations, and bits whose
//! value in a minimum it proves, by one minimum cut (Boros, Hammer & Tavares 2006).
//!
//! Each bit xᵢ gets a second one, yᵢ, for 1 − xᵢ. With h = a/2 for a positive pair and −a/4 for a negative one,
//!
//! ```text
//! G(x, y) = c + Σ tᵢ (xᵢ + 1 − yᵢ) + Σ h [(1 − yᵢ) xⱼ + (1 − yⱼ) xᵢ]                               a > 0
//!                                  + Σ h [(1 − xᵢ) xⱼ + (1 − xⱼ) xᵢ + (1 − yᵢ) yⱼ + (1 − yⱼ) yᵢ]   a < 0
//! ```
//!
//! where tᵢ is bᵢ/2 and a/4 of each negative pair of i. It is f(x) where y = 1 − x, it is a network's function, and
//! it has the same value at the *mirror image* (1 − y, 1 − x). So its minimum is a bound.
//!
//! A flow makes it K + Σ eₖ zₖ + Σ rₖₗ (1 − zₖ) zₗ with r ≥ 0. Let T be the sink's side of the cut. To set all of T
//! to 1 costs at most d = Σ max(eₖ, 0) over T and Σ rₖₗ over the arcs into T: for a maximum flow, 0. So does
//! setting the mirror image of T to 0. Both together, from any x and y = 1 − x, leave y = 1 − x: every point has
//! one beside it with the bits of T as they are there, whose value is higher by no more than 2d.

use plugin_api::Quadratic;

use crate::max_flow::Network;
use crate::relaxation::magnitude;

/// What one cut says of a function's minimum.
pub struct RoofDual {
    /// A number that no value is below, rounding accounted for.
    pub bound: f64,
    /// The bits whose value is proven: every minimum has them, or one within `slack` of it.
    pub fixed: Vec<Option<bool>>,
    /// The least value with the bits fixed is above the least of all by no more than this, which is 0 but for
    /// rounding. It covers the rounding of [`Reduced`](crate::Reduced), too.
    pub slack: f64,
}

/// The roof dual of `f`, whose coefficients add up to a finite number.
pub fn roof_dual(f: &Quadratic) -> RoofDual {
    roof_dual_while(f, &|| true).expect("nothing ends it early")
}

/// [`roof_dual`], unless `more` disagrees before it is done, which is asked now and then: thousands of bits take seconds.
pub fn roof_dual_while(f: &Quadratic, more: &dyn Fn() -> bool) -> Option<RoofDual> {
    let n = f.dimension();
    let mut terminals: Vec<f64> = f.linear().iter().map(|b| b / 2.0).collect();
    let mut capacities = vec![0.0; 4 * n * n];
    for i in 0..n {
        if !more() {
            return None;
        }
        for (j, &a) in (i + 1..).zip(f.row(i)) {
            // Most pairs of large functions are 0, and so is what they would be written over.
            if a == 0.0 {
                continue;
            }
            for (from, to) in arcs(n, i, j, a) {
                capacities[from * 2 * n + to] = capacity(a);
                capacities[to * 2 * n + from] = if a < 0.0 { capacity(a) } else { 0.0 };
            }
            if a < 0.0 {
                terminals[i] += a / 4.0;
                terminals[j] += a / 4.0;
            }
        }
    }
    let constant = f.constant() + terminals.iter().sum::<f64>();
    terminals.extend_from_within(..);
    terminals[n..].iter_mut().for_each(|t| *t = -*t);

    let mut network = Network::new_while(2 * n, capacities, more)?;
    network.set_terminals(&terminals);
    if !network.maximize_flow_while(more) {
        return None;
    }
    let side = network.sink_side_while(more)?;
    let mut fixed: Vec<Option<bool>> = (0..n)
        .map(|i| match (side[i], side[n + i]) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        })
        .collect();

    // Excess and residuals again, from a flow within the capacities: errors made on the way to it may make it worse,
    // but what follows from it stays true.
    let (mut excess, mut into_side) = (terminals, 0.0);
    for i in 0..n {
        if !more() {
            return None;
        }
        for (j, &a) in (i + 1..).zip(f.row(i)).filter(|(_, a)| **a != 0.0) {
            let there = capacity(a);
            let back = if a < 0.0 { there } else { 0.0 };
            for (from, to) in arcs(n, i, j, a) {
                let flow = (there - network.residuals()[from * 2 * n + to]).max(-back);
                excess[from] -= flow;
                excess[to] += flow;
                match (side[from], side[to]) {
                    (false, true) => into_side += there - flow,
                    (true, false) => into_side += back + flow,
                    _ => {}
                }
            }
        }
    }
    let unmet: f64 = excess.iter().map(|excess| excess.min(0.0)).sum();
    let above: f64 = excess.iter().zip(&side).filter(|(_, side)| **side).map(|(e, _)| e.max(0.0)).sum();
    if (0..n).any(|i| side[i] && side[n + i]) {
        // Only rounding can bring a bit and its complement to the same side; nothing is proven then.
        fixed.fill(None);
    }
    let rounding = rounding(f);
    Some(RoofDual { bound: constant + unmet - rounding, fixed, slack: 2.0 * (above + into_side + rounding) })
}

/// The arcs of a pair, each with the same capacity; those of a negative pair both ways.
fn arcs(n: usize, i: usize, j: usize, a: f64) -> [(usize, usize); 2] {
    if a < 0.0 { [(i, j), (n + i, n + j)] } else { [(n + j, i), (n + i, j)] }
}

fn capacity(a: f64) -> f64 {
    if a < 0.0 { -a / 4.0 } else { a / 2.0 }
}

/// The most that rounding can add to the bound, or take from the slack.
///
/// Both are sums in which the parts of a coefficient add up to at most five times its size, and take part in at
/// most 6n + 10 additions, each wrong by at most ε/2 of its result. The least numbers are halved inexactly.
fn rounding(f: &Quadratic) -> f64 {
    (16 * f.dimension() + 32) as f64 * f64::EPSILON * magnitude(f) + f64::MIN_POSITIVE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Relaxation;
    use golden_afo::cases_up_to;
    use plugin_api::rand::RngExt;
    use plugin_api::testing::random_quadratic;
    use plugin_api::{Rng, rng};

    fn all_values(f: &Quadratic) -> Vec<(Vec<bool>, f64)> {
        let n = f.dimension();
        let points = (0..1u32 << n).map(|mask| (0..n).map(|i| mask >> i & 1 == 1).collect::<Vec<bool>>());
        points.map(|bits| (bits.clone(), f.value(&bits))).collect()
    }

    /// Small integers, most of them 0 where `sparse`: values are exact, and ties are many.
    fn random_integers(rng: &mut Rng, n: usize, sparse: bool) -> Quadratic {
        let mut draw =
            || f64::from(rng.random_range(-2..=2) * if sparse { rng.random_range(0..=1) } else { 1 });
        let linear = (0..n).map(|_| 2.0 * draw()).collect();
        let pairs = (0..n * n.saturating_sub(1) / 2).map(|_| draw()).collect();
        Quadratic::new(draw(), linear, pairs).unwrap()
    }

    /// Few and small pairs beside the linear terms, as late in a run: most bits are fixed.
    fn mostly_linear(rng: &mut Rng, n: usize) -> Quadratic {
        let f = random_quadratic(rng, n);
        let pairs = f.pairs().iter().map(|a| 0.4 * a).collect();
        Quadratic::new(f.constant(), f.linear().to_vec(), pairs).unwrap()
    }

    #[test]
    fn the_bound_is_never_above_the_minimum_and_fixed_bits_are_those_of_every_minimum() {
        let rng = &mut rng(1);
        let mut count = [0; 4];
        for case in 0..4000 {
            let n = case % 10;
            let kind = case % 4;
            let f = match kind {
                0 => random_quadratic(rng, n),
                1 => mostly_linear(rng, n),
                2 => random_integers(rng, n, true),
                _ => random_integers(rng, n, false),
            };
            let RoofDual { bound, fixed, slack } = roof_dual(&f);
            let values = all_values(&f);
            let least = values.iter().map(|(_, value)| *value).fold(f64::INFINITY, f64::min);
            assert!(bound <= least, "{bound} above {least}: {f:?}");
            assert!((0.0..1e-11).contains(&slack), "{slack}");
            // Every minimum has the fixed bits: strong persistency. (Drawn from continuous distributions, there is
            // one minimum; among integers there are many.)
            for (bits, _) in values.iter().filter(|(_, value)| *value == least) {
                let agrees =
                    bits.iter().zip(&fixed).all(|(bit, fixed)| fixed.is_none_or(|fixed| fixed == *bit));
                assert!(agrees, "{bits:?} is a minimum, and {fixed:?}: {f:?}");
            }
            count[kind] += fixed.iter().flatten().count();
        }
        assert!(count.iter().all(|&count| count > 1000), "{count:?} bits fixed");
    }

    #[test]
    fn it_ends_wherever_it_is_cut_short_and_is_whole_with_looks_enough() {
        let f = random_quadratic(&mut rng(3), 20);
        let whole = roof_dual(&f);
        let mut done = 0;
        for looks in 0..200_u64 {
            let left = std::cell::Cell::new(looks);
            let found = roof_dual_while(&f, &|| left.replace(left.get().saturating_sub(1)) > 0);
            assert!(looks > 40 || found.is_none(), "no row is filled in without a look");
            if let Some(found) = found {
                assert_eq!((found.bound, &found.fixed), (whole.bound, &whole.fixed));
                done += 1;
            }
        }
        assert!(done > 50, "{done}");
    }

    #[test]
    fn scales_beyond_all_reason_keep_the_bound() {
        let rng = &mut rng(2);
        for case in 0..500 {
            let factor = [1e150, 1e-150, 1e-300, 5e-324][case % 4];
            let f = random_quadratic(rng, 1 + case % 7);
            let times = |values: &[f64]| values.iter().map(|value| value * factor).collect();
            let mut f = Quadratic::new(f.constant() * factor, times(f.linear()), times(f.pairs())).unwrap();
            if case % 3 == 0 {
                f.add_linear(0, [1e16, -1e16][case % 2]);
            }
            let least = all_values(&f).iter().map(|(_, value)| *value).fold(f64::INFINITY, f64::min);
            assert!(roof_dual(&f).bound <= least);
        }
    }

    #[test]
    fn it_is_the_best_of_all_relaxations() {
        for case in cases_up_to(50) {
            let f = &case.function;
            let roof = roof_dual(f).bound;
            let best_iterate = case.psr_relaxed_minima.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert!(roof >= best_iterate - 1e-9 * roof.abs(), "{}: {roof}, {best_iterate}", case.name);
            assert!(roof <= case.best_known);
            // It is also reached: the subgradient method comes close to it from below.
            let mut relaxation = Relaxation::new(f, vec![0.5; f.pairs().len()]);
            let largest = f.pairs().iter().fold(0.0, |largest: f64, &a| largest.max(a));
            let mut reached = f64::NEG_INFINITY;
            for t in 0..2000 {
                let cut = relaxation.cut();
                reached = reached.max(cut.relaxed_minimum);
                relaxation.ascend(&cut.bits, 0.5 / largest / f64::from(t + 1).sqrt());
            }
            let short = (roof - reached) / roof.abs();
            assert!((-1e-9..0.05).contains(&short), "{}: {roof}, {reached}", case.name);
        }
    }

    #[test]
    fn it_is_exact_without_positive_pairs_and_fixes_what_no_pair_touches() {
        for seed in 0..20 {
            let f = random_quadratic(&mut rng(seed), 9);
            let negative = f.pairs().iter().map(|a| -a.abs()).collect();
            let f = Quadratic::new(f.constant(), f.linear().to_vec(), negative).unwrap();
            let least = all_values(&f).iter().map(|(_, value)| *value).fold(f64::INFINITY, f64::min);
            let RoofDual { bound, fixed, .. } = roof_dual(&f);
            assert!((least - bound).abs() < 1e-11 && fixed.iter().all(Option::is_some));
        }
        let lone = roof_dual(&Quadratic::new(0.0, vec![1.0, -1.0, 0.0], vec![0.0; 3]).unwrap());
        assert_eq!(lone.fixed, [Some(false), Some(true), None]);
    }

    #[test]
    fn a_frustrated_triangle_fixes_nothing() {
        let f = Quadratic::new(0.0, vec![-1.0; 3], vec![1.0; 3]).unwrap();
        let RoofDual { bound, fixed, .. } = roof_dual(&f);
        assert!(fixed.iter().all(Option::is_none) && (bound + 1.5).abs() < 1e-12);
    }

    #[test]
    fn most_bits_of_real_draws_are_fixed_and_none_of_them_wrong() {
        let (mut fixed, mut bits) = (0, 0);
        for case in cases_up_to(25) {
            for (found, best) in roof_dual(&case.function).fixed.iter().zip(case.best_known_bits.iter()) {
                assert!(found.is_none_or(|found| found == *best), "{}", case.name);
                fixed += usize::from(found.is_some());
                bits += 1;
            }
        }
        assert!(10 * fixed > 7 * bits, "{fixed} of {bits}");
    }

    #[test]
    fn no_bits_are_a_constant() {
        let mut f = Quadratic::zero(0);
        f.add_constant(2.0);
        assert!((roof_dual(&f).bound - 2.0).abs() < 1e-12);
    }
}
