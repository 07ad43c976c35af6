//! The values that a function of whole coefficients can have.

use plugin_api::Quadratic;

/// Values are `constant` and a multiple of `step`.
pub struct Grid {
    constant: f64,
    step: f64,
}

/// Up to here, sums of whole numbers are exact.
const EXACT: f64 = (1u64 << 52) as f64;

impl Grid {
    /// The grid of a function with whole coefficients; none for another, or where sums may not be exact.
    pub fn of(f: &Quadratic) -> Option<Self> {
        let mut sum = f.constant().abs();
        let mut step = 0;
        for &coefficient in f.linear().iter().chain(f.pairs()) {
            sum += coefficient.abs();
            if coefficient.trunc() != coefficient || sum.is_nan() || sum > EXACT {
                return None;
            }
            if coefficient != 0.0 {
                step = greatest_common_divisor(coefficient.abs() as u64, step);
            }
        }
        let whole = f.constant().trunc() == f.constant() && sum <= EXACT;
        (whole && step > 0).then(|| Self { constant: f.constant(), step: step as f64 })
    }

    /// The least value on the grid that is not below `bound`.
    ///
    /// Rounding is monotone: a bound not above a value of the grid is not above it in any step of this either.
    pub fn raise(&self, bound: f64) -> f64 {
        self.constant + self.step * ((bound - self.constant) / self.step).ceil()
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_raised_to_the_next_possible_value() {
        let f = Quadratic::new(1.0, vec![6.0, -9.0, 0.0], vec![0.0, 3.0, -12.0]).unwrap();
        let grid = Grid::of(&f).unwrap();
        assert_eq!((grid.constant, grid.step), (1.0, 3.0));
        for (bound, raised) in [(-8.0, -8.0), (-8.0 - 1e-9, -8.0), (-8.0 + 1e-9, -5.0), (1.0, 1.0)] {
            assert_eq!(grid.raise(bound), raised);
        }
    }

    #[test]
    fn other_functions_have_none() {
        let grid = |coefficient| Grid::of(&Quadratic::new(0.0, vec![coefficient], vec![]).unwrap());
        assert!(grid(0.5).is_none() && grid(1e300).is_none() && grid(0.0).is_none() && grid(-7.0).is_some());
        let mut f = Quadratic::zero(1);
        f.add_linear(0, f64::NAN);
        assert!(Grid::of(&f).is_none());
    }
}
