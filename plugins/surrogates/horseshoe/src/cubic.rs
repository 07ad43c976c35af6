//! A function of bits with terms of up to three: what a regression of third order draws.

use plugin_api::{Error, Function, Quadratic, Result};

/// A quadratic function and a coefficient for each three bits.
pub(crate) struct Cubic {
    quadratic: Quadratic,
    /// For each bit i a square by rows, in which (j, m) with j < m is the coefficient of i, j and m in any order:
    /// what turning i over gains is then a sum over rows. Three times the memory of one copy of each.
    of_three: Vec<f64>,
}

impl Cubic {
    /// Coefficients of three bits stand in the order (0,1,2), (0,1,3), …, (0,2,3), …; all have to be finite.
    pub(crate) fn new(quadratic: Quadratic, triples: &[f64]) -> Result<Self> {
        if let Some(bad) = triples.iter().find(|coefficient| !coefficient.is_finite()) {
            return Err(Error::new(format!("a coefficient is {bad}")));
        }
        let n = quadratic.dimension();
        let (mut of_three, mut triples) = (vec![0.0; n * n * n], triples.iter());
        for i in 0..n {
            for j in i + 1..n {
                for (m, &coefficient) in (j + 1..n).zip(&mut triples) {
                    for (bit, first, second) in [(i, j, m), (j, i, m), (m, i, j)] {
                        of_three[(bit * n + first) * n + second] = coefficient;
                    }
                }
            }
        }
        Ok(Self { quadratic, of_three })
    }

    /// The sum of the coefficients of bit `i` with two of `set`, which are in ascending order.
    fn with_two(&self, i: usize, set: &[usize]) -> f64 {
        let n = self.dimension();
        let square = &self.of_three[i * n * n..][..n * n];
        let row = |(rank, &j): (usize, &usize)| {
            let row = &square[j * n..][..n];
            set[rank + 1..].iter().map(|&m| row[m]).sum::<f64>()
        };
        set.iter().enumerate().map(row).sum()
    }
}

impl Function for Cubic {
    fn dimension(&self) -> usize {
        self.quadratic.dimension()
    }

    fn value(&self, bits: &[bool]) -> f64 {
        let set: Vec<usize> = (0..bits.len()).filter(|&i| bits[i]).collect();
        let with_later = |(rank, &i): (usize, &usize)| self.with_two(i, &set[rank + 1..]);
        self.quadratic.value(bits) + set.iter().enumerate().map(with_later).sum::<f64>()
    }

    fn flip_gain(&self, bits: &[bool], i: usize) -> f64 {
        let others: Vec<usize> = (0..bits.len()).filter(|&j| bits[j] && j != i).collect();
        let gain = self.with_two(i, &others);
        self.quadratic.flip_gain(bits, i) + if bits[i] { -gain } else { gain }
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::random::normal;
    use plugin_api::testing::random_quadratic;
    use plugin_api::{Layout, rng};
    use shared_terms::Terms;

    use super::*;

    fn example(n: usize) -> (Cubic, Vec<f64>) {
        let mut rng = rng(3);
        let quadratic = random_quadratic(&mut rng, n);
        let (constant, linear, pairs) = quadratic.clone().into_parts();
        assert_eq!(constant, quadratic.constant());
        let mut all = [linear, pairs].concat();
        let quadratic_terms = all.len();
        all.resize_with(Terms::new(&Layout::free(n), 3).count(), || normal(&mut rng));
        (Cubic::new(quadratic, &all[quadratic_terms..]).unwrap(), all)
    }

    #[test]
    fn the_value_is_the_sum_over_the_terms() {
        for n in [1, 2, 3, 8] {
            let (cubic, coefficients) = example(n);
            for mask in 0..1u32 << n {
                let bits: Vec<bool> = (0..n).map(|i| mask >> i & 1 == 1).collect();
                let terms = Terms::new(&Layout::free(n), 3).of(&bits);
                let sum: f64 = terms.iter().map(|&term| coefficients[term as usize]).sum();
                assert!((cubic.value(&bits) - cubic.quadratic.constant() - sum).abs() < 1e-12, "{bits:?}");
            }
        }
    }

    #[test]
    fn a_flip_gains_the_difference_of_two_values() {
        let (cubic, _) = example(20);
        let mut rng = rng(4);
        for _ in 0..50 {
            let bits = Layout::free(20).random(&mut rng);
            for i in 0..20 {
                let mut flipped = bits.clone();
                flipped.flip(i);
                let difference = cubic.value(&flipped) - cubic.value(&bits);
                assert!((cubic.flip_gain(&bits, i) - difference).abs() < 1e-11);
            }
        }
    }

    #[test]
    fn a_coefficient_that_is_not_finite_is_refused() {
        let error = Cubic::new(Quadratic::zero(3), &[f64::INFINITY]).err().unwrap();
        assert_eq!(error.to_string(), "a coefficient is inf");
    }
}
