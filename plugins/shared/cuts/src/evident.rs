//! Bits whose value in a minimum is evident, before any cut: those that no pair touches, and those whose linear term
//! outweighs all their pairs. Each that is fixed may make others evident.
//!
//! The roof dual fixes more, but takes a flow through eight times as many numbers as there are pairs. This looks at each
//! pair a few times.

use plugin_api::Quadratic;

use crate::relaxation::magnitude;

/// From more bits than this on, solvers take the evident ones out first. Fewer take no time worth saving, and a relaxation
/// of them all shows what it is worth.
pub const MANY: usize = 1000;

/// Bits that some minimum has, and what they cost.
pub struct Evident {
    pub fixed: Vec<Option<bool>>,
    /// The least value with the bits fixed is above the least of all by no more than this, which is 0 but for
    /// rounding. It covers the rounding of [`Reduced`](crate::Reduced), too.
    pub slack: f64,
}

/// The evident bits of `f`, whose coefficients add up to a finite number, as far as `more` agrees to look, which is asked at
/// every row: what it cuts short fixes fewer.
///
/// A bit that goes from 0 to 1 adds something between bᵢ + Σ min(aᵢⱼ, 0) and bᵢ + Σ max(aᵢⱼ, 0), over the pairs with bits
/// that are not fixed, where bᵢ has those with bits fixed at 1. It is 0 in some minimum where the lower end is not below
/// 0, and 1 where the upper end is below 0.
pub fn evident(f: &Quadratic, more: &dyn Fn() -> bool) -> Evident {
    let n = f.dimension();
    let mut fixed = vec![None; n];
    let Some(mut ends) = Ends::of(f, more) else { return Evident { fixed, slack: 0.0 } };
    let mut queue: Vec<usize> = (0..n).rev().collect();
    while let Some(i) = queue.pop() {
        let value = if fixed[i].is_some() {
            continue;
        } else if ends.lower[i] >= 0.0 {
            false
        } else if ends.upper[i] < 0.0 {
            true
        } else {
            continue;
        };
        if !more() {
            break;
        }
        fixed[i] = Some(value);
        for j in (0..n).filter(|&j| fixed[j].is_none()) {
            let a = if j == i { 0.0 } else { f.pair(i, j) };
            if a != 0.0 {
                // Of both ends that a could be at, one is left.
                let at_one = if value { a } else { 0.0 };
                ends.lower[j] += at_one - a.min(0.0);
                ends.upper[j] += at_one - a.max(0.0);
                queue.push(j);
            }
        }
    }
    // An end is a sum of at most 2n parts of coefficients; the ends of all bits have each pair four times at most.
    let rounding = (8 * n + 16) as f64 * f64::EPSILON * magnitude(f) + f64::MIN_POSITIVE;
    let slack = if fixed.iter().any(Option::is_some) { 2.0 * rounding } else { 0.0 };
    Evident { fixed, slack }
}

/// The least and the most that each bit adds when it is set.
struct Ends {
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl Ends {
    fn of(f: &Quadratic, more: &dyn Fn() -> bool) -> Option<Self> {
        let (mut lower, mut upper) = (f.linear().to_vec(), f.linear().to_vec());
        for i in 0..f.dimension() {
            if !more() {
                return None;
            }
            for (j, &a) in (i + 1..).zip(f.row(i)) {
                let (low, high) = (a.min(0.0), a.max(0.0));
                lower[i] += low;
                lower[j] += low;
                upper[i] += high;
                upper[j] += high;
            }
        }
        Some(Self { lower, upper })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Reduced, roof_dual};
    use plugin_api::rand::RngExt;
    use plugin_api::testing::{minimum, random_quadratic};
    use plugin_api::{Problem, Rng, rng};
    use std::cell::Cell;

    fn all(f: &Quadratic) -> Evident {
        evident(f, &|| true)
    }

    /// Few and small pairs beside the linear terms.
    fn mostly_linear(rng: &mut Rng, n: usize) -> Quadratic {
        let f = random_quadratic(rng, n);
        let pairs = f.pairs().iter().map(|a| if rng.random_bool(0.3) { 0.5 * a } else { 0.0 }).collect();
        Quadratic::new(f.constant(), f.linear().to_vec(), pairs).unwrap()
    }

    #[test]
    fn the_least_value_with_the_evident_bits_is_the_least_of_all_however_early_it_is_cut_short() {
        let rng = &mut rng(1);
        let mut count = 0;
        for case in 0..1500 {
            let f = mostly_linear(rng, 1 + case % 10);
            let left = Cell::new(if case % 2 == 0 { u64::MAX } else { (case % 20) as u64 });
            let Evident { fixed, slack } = evident(&f, &|| {
                left.set(left.get().saturating_sub(1));
                left.get() > 0
            });
            count += fixed.iter().flatten().count();
            let rest = Reduced::new(&f, fixed).function;
            let (least, of_rest) = (minimum(&Problem::new(f)), minimum(&Problem::new(rest)));
            assert!(of_rest - slack <= least && of_rest >= least - slack, "{of_rest}, {least}, {slack}");
            assert!(slack < 1e-11);
        }
        assert!(count > 2000, "{count} bits fixed");
    }

    #[test]
    fn the_roof_dual_never_says_otherwise_and_fixes_more() {
        let rng = &mut rng(2);
        let (mut evident, mut by_roof) = (0, 0);
        for _ in 0..200 {
            let f = mostly_linear(rng, 12);
            for (one, other) in all(&f).fixed.into_iter().zip(roof_dual(&f).fixed) {
                assert!(one.is_none() || other.is_none() || one == other, "{one:?}, {other:?}: {f:?}");
                evident += usize::from(one.is_some());
                by_roof += usize::from(other.is_some());
            }
        }
        assert!(by_roof > evident && 2 * evident > by_roof, "{evident}, {by_roof}");
    }

    #[test]
    fn bits_that_no_pair_touches_are_fixed_and_one_makes_the_next_evident() {
        // −x₀ alone; 2x₁ outweighs −x₁x₂, without which x₂ stands alone.
        let f = Quadratic::new(0.0, vec![-1.0, 2.0, 0.5], vec![0.0, 0.0, -1.0]).unwrap();
        assert_eq!(all(&f).fixed, [Some(true), Some(false), Some(false)]);
        let frustrated = Quadratic::new(0.0, vec![-1.0; 3], vec![1.5; 3]).unwrap();
        let Evident { fixed, slack } = all(&frustrated);
        assert_eq!((fixed, slack), (vec![None; 3], 0.0));
    }

    #[test]
    fn without_time_nothing_is_fixed() {
        assert_eq!(evident(&Quadratic::zero(4), &|| false).fixed, [None; 4]);
    }
}
