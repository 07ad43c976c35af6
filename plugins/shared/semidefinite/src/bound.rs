//! A lower bound that holds whatever the relaxation came to, rounding errors included.

use shared_linalg::factor_while;

use crate::spins::Spins;

/// A proven lower bound on the function over all bits, from dual variables that need not be good.
///
/// Where S = C − diag(y) + δI is positive semidefinite, zᵀCz = Σy − (n+1)δ + zᵀSz ≥ Σy − (n+1)δ for all
/// spins z. The smallest such δ is found to a factor of two, by Cholesky factorizations.
///
/// Rounding (u = 2⁻⁵³, N = n+1): a factorization that succeeds proves λ_min(S) ≥ −(N+2)u·tr S to first order (Rump 2006),
/// which zᵀz = N multiplies; sums of N terms err by at most N·u times the sum of their sizes. The margin
/// below is at least twice the sum of all these, and of what [`Quadratic::value`](plugin_api::Quadratic::value) itself
/// may err by: so the bound is not above any value as computed either.
///
/// `None` where it is beyond the range of numbers.
pub fn lower_bound(spins: &Spins, duals: &[f64]) -> Option<f64> {
    lower_bound_while(spins, duals, || true)
}

/// [`lower_bound`] for as long as `more` agrees. What was proven until then holds, however loose it is, and so does
/// −Σ|Cᵢⱼ|, which is what remains where there was no time for more.
pub fn lower_bound_while(spins: &Spins, duals: &[f64], mut more: impl FnMut() -> bool) -> Option<f64> {
    let size = spins.size();
    let radii: Vec<f64> = (0..size).map(|i| spins.row(i).iter().map(|c| c.abs()).sum()).collect();
    // With this δ, S is diagonally dominant.
    let largest = 2.0 * radii.iter().zip(duals).map(|(radius, y)| radius + y.abs()).fold(0.0, f64::max);
    let (sum, sizes) = duals.iter().fold((0.0, 0.0), |(sum, sizes), y| (sum + y, sizes + y.abs()));
    let n = size as f64;

    let (mut shift, mut trace, mut whole) = (0.0, 0.0, true);
    if largest > 0.0 {
        // δ = largest / 2^halvings: bisection for the most halvings that leave S positive definite.
        let (mut possible, mut impossible) = (0, 53);
        let shift_after = |halvings: i32| libm::scalbn(largest, -halvings);
        let mut matrix = Vec::new();
        while impossible - possible > 1 && more() {
            let middle = (possible + impossible) / 2;
            matrix.clear();
            matrix.extend_from_slice(spins.matrix());
            for (i, y) in duals.iter().enumerate() {
                matrix[i * size + i] = shift_after(middle) - y;
            }
            match factor_while(&mut matrix, size, &mut more) {
                Ok(true) => possible = middle,
                Ok(false) => break,
                Err(_) => impossible = middle,
            }
        }
        whole = impossible - possible == 1;
        shift = shift_after(possible);
        trace = duals.iter().map(|y| (shift - y).abs()).sum();
    }
    let margin = 4.0 * (n + 3.0) * (f64::EPSILON / 2.0);
    let mut form = sum - n * shift - margin * (spins.weight + sizes + n * trace);
    if !whole {
        let total: f64 = radii.iter().sum();
        form = form.max(-total - margin * (spins.weight + total));
    }
    let bound = spins.value(form) - margin * spins.constant.abs();
    bound.is_finite().then(|| bound.next_down().next_down())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relaxation::relax;
    use plugin_api::random::normal;
    use plugin_api::testing::{minimum, random_quadratic};
    use plugin_api::{Problem, Quadratic, Rng, rand::RngExt, rng};

    fn bound_after(f: &Quadratic, sweeps: u64, seed: u64) -> f64 {
        let spins = Spins::new(f).unwrap();
        let relaxation = relax(&spins, 1e-14, &mut rng(seed), |done| done < sweeps);
        lower_bound(&spins, &relaxation.duals(&spins)).expect("a finite bound")
    }

    fn assert_holds(f: &Quadratic, seed: u64) {
        let exact = minimum(&Problem::new(f.clone()));
        for sweeps in [0, 1, 4, 1000] {
            let bound = bound_after(f, sweeps, seed);
            assert!(bound <= exact, "{bound:e} above {exact:e} after {sweeps} sweeps of {f:?}");
        }
    }

    /// `f` times a factor.
    fn scaled(f: &Quadratic, factor: f64) -> Quadratic {
        let times = |values: &[f64]| values.iter().map(|value| value * factor).collect();
        Quadratic::new(f.constant() * factor, times(f.linear()), times(f.pairs())).unwrap()
    }

    /// Small integers, many of them 0: values are exact, and many relaxations tight.
    fn random_integers(rng: &mut Rng, n: usize) -> Quadratic {
        let mut draw = || f64::from(rng.random_range(-3..=3) * rng.random_range(0..=1));
        let linear = (0..n).map(|_| draw()).collect();
        let pairs = (0..n * n.saturating_sub(1) / 2).map(|_| draw()).collect();
        Quadratic::new(draw(), linear, pairs).unwrap()
    }

    #[test]
    fn it_is_never_above_the_minimum() {
        let mut rng = rng(1);
        for case in 0..2000 {
            let n = 1 + case % 8;
            let f = random_quadratic(&mut rng, n);
            let factor = [1.0, 1e8, 1e-8, 1e150, 1e-300][case % 5];
            assert_holds(&scaled(&f, factor), case as u64);
            assert_holds(&random_integers(&mut rng, n), case as u64);
        }
    }

    #[test]
    fn it_is_never_above_the_minimum_beside_a_large_constant_or_a_large_coefficient() {
        let mut rng = rng(2);
        for case in 0..500 {
            let mut f = random_quadratic(&mut rng, 1 + case % 6);
            let large = [1e8, -1e8, 1e16, -1e16][case % 4];
            if case % 3 == 0 {
                f.add_constant(large)
            } else {
                f.add_linear(0, large)
            }
            assert_holds(&f, case as u64);
        }
    }

    #[test]
    fn it_holds_for_any_dual_variables() {
        let mut rng = rng(3);
        for n in [1, 2, 5, 8] {
            let f = random_quadratic(&mut rng, n);
            let spins = Spins::new(&f).unwrap();
            let exact = minimum(&Problem::new(f));
            for size in [0.0, 1e-9, 1.0, 1e9] {
                let duals: Vec<f64> = (0..=n).map(|_| size * normal(&mut rng)).collect();
                assert!(lower_bound(&spins, &duals).unwrap() <= exact);
            }
        }
    }

    #[test]
    fn it_holds_wherever_it_is_cut_short() {
        let mut rng = rng(5);
        for n in [1, 4, 8] {
            let f = random_quadratic(&mut rng, n);
            let spins = Spins::new(&f).unwrap();
            let exact = minimum(&Problem::new(f));
            let mut last = f64::NEG_INFINITY;
            for asked in 0..200 {
                let mut left = asked;
                let mut more = || {
                    left -= i32::from(left > 0);
                    left > 0
                };
                let relaxation = relax(&spins, 1e-14, &mut plugin_api::rng(1), |done| done < 100);
                let duals = relaxation.duals_while(&spins, &mut more);
                let bound = lower_bound_while(&spins, &duals, &mut more).expect("a finite bound");
                assert!(bound <= exact, "{bound} above {exact}, cut short after {asked} looks");
                last = bound;
            }
            let whole = relax(&spins, 1e-14, &mut plugin_api::rng(1), |done| done < 100).duals(&spins);
            assert_eq!(Some(last), lower_bound(&spins, &whole), "with time enough it is the whole bound");
        }
    }

    #[test]
    fn it_is_tight_where_the_relaxation_is() {
        // One bit, or no pairs: the relaxation has the minimum of the function.
        let mut rng = rng(4);
        for n in [1, 1, 1, 10, 20] {
            let linear: Vec<f64> = (0..n).map(|_| normal(&mut rng)).collect();
            let exact: f64 = linear.iter().map(|b| b.min(0.0)).sum();
            let pairs = vec![0.0; n * (n - 1) / 2];
            let bound = bound_after(&Quadratic::new(0.0, linear, pairs).unwrap(), 1000, 1);
            assert!(bound <= exact && exact - bound < 1e-6, "{bound} for {exact}");
        }
        let constant =
            bound_after(&scaled(&Quadratic::new(1.0, vec![0.0; 3], vec![0.0; 3]).unwrap(), 7.0), 9, 1);
        assert!((7.0 - 1e-13..=7.0).contains(&constant));
    }

    #[test]
    fn beyond_the_range_of_numbers_there_is_none() {
        let f = Quadratic::new(-f64::MAX, vec![-f64::MAX; 2], vec![0.0]).unwrap();
        let spins = Spins::new(&f).unwrap();
        assert_eq!(lower_bound(&spins, &[0.0; 3]), None);
    }
}
