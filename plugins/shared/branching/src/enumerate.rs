//! The least value of a small part, by trying every point of it that keeps the rules.

use plugin_api::{Bits, Quadratic};
use shared_rules::{Partial, Rules};

/// The point of least value, with its value under `g`, among those that keep the rules and have the bits that `decided` has;
/// `free` has the places of the others, which are the bits of `g`. None where there is none.
pub(crate) fn least(
    g: &Quadratic,
    rules: &Rules,
    decided: &mut Partial<'_>,
    free: &[usize],
) -> Option<(f64, Bits)> {
    let n = g.dimension();
    let mut slopes = vec![0.0; n * (n + 1)];
    slopes[..n].copy_from_slice(g.linear());
    let mut search = Enumeration { g, rules, free, slopes, best: None };
    search.visit(decided, 0, g.constant());
    search.best
}

struct Enumeration<'a> {
    g: &'a Quadratic,
    rules: &'a Rules,
    free: &'a [usize],
    /// For each number of bits that are chosen, what setting each of the others adds.
    slopes: Vec<f64>,
    best: Option<(f64, Bits)>,
}

impl Enumeration<'_> {
    /// Tries all values of the bits from `at` on, where those before it give `value`.
    fn visit(&mut self, decided: &mut Partial<'_>, at: usize, value: f64) {
        let n = self.free.len();
        if at == n {
            if self.best.as_ref().is_some_and(|(best, _)| value >= *best) {
                return;
            }
            let bits: Bits = decided.values().iter().map(|bit| bit.unwrap_or(false)).collect();
            // Sums of weights that are not whole are decided here.
            if self.rules.admit(&bits) {
                self.best = Some((value, bits));
            }
            return;
        }
        let known = decided.values()[self.free[at]];
        for bit in [false, true] {
            let mark = decided.mark();
            if known.is_none_or(|known| known == bit) && decided.set(self.free[at], bit) {
                let (here, next) = self.slopes[at * n..(at + 2) * n].split_at_mut(n);
                let slope = here[at];
                next.copy_from_slice(here);
                if bit {
                    next[at + 1..].iter_mut().zip(self.g.row(at)).for_each(|(next, a)| *next += a);
                }
                self.visit(decided, at + 1, if bit { value + slope } else { value });
            }
            decided.undo(mark);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::testing::minimum;
    use shared_cuts::Reduced;

    #[test]
    fn the_least_value_of_a_part_is_that_of_its_best_point() {
        for number in 0..300 {
            let problem = golden_constrained::problem(number);
            let f = problem.quadratic().unwrap();
            let rules = Rules::of(problem.layout()).unwrap();
            let mut decided = Partial::from_rules(&rules);
            let part = Reduced::new(f, decided.values().to_vec());
            let free: Vec<usize> = (0..part.function.dimension()).map(|k| part.place(k)).collect();
            let (value, bits) = least(&part.function, &rules, &mut decided, &free).expect("a point");
            assert!(rules.admit(&bits));
            assert!((value - minimum(&problem)).abs() <= 1e-12 * f.magnitude());
            assert!((value - f.value(&bits)).abs() <= 1e-12 * f.magnitude());
            assert_eq!(decided.values(), rules.fixed(), "all is undone");
        }
    }
}
