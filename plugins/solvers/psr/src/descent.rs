//! One-flip descent: to a point that no change of a single bit improves.

use plugin_api::{Bits, Quadratic};

/// What descents of one function share.
pub struct Descent<'f> {
    f: &'f Quadratic,
    /// The pairs as a full symmetric matrix by rows.
    pairs: Vec<f64>,
    /// What a flip has to gain. It is far above what rounding can do to a gain, so a descent ends.
    least: f64,
}

impl<'f> Descent<'f> {
    pub fn new(f: &'f Quadratic) -> Self {
        let pairs = f.symmetric();
        let rows = pairs.chunks(f.dimension().max(1));
        let reach = rows.zip(f.linear()).map(|(row, b)| b.abs() + row.iter().map(|a| a.abs()).sum::<f64>());
        Self { f, least: 1e-12 * reach.fold(0.0, f64::max), pairs }
    }

    /// Turns over the bit that gains most, until none gains.
    pub fn descend(&self, bits: &mut Bits) {
        let n = bits.len();
        let row = |i: usize| &self.pairs[i * n..(i + 1) * n];
        // What the function gains when a bit goes from 0 to 1.
        let mut slopes = self.f.linear().to_vec();
        for i in (0..n).filter(|&i| bits[i]) {
            slopes.iter_mut().zip(row(i)).for_each(|(slope, a)| *slope += a);
        }
        loop {
            let gains = bits.iter().zip(&slopes).map(|(&bit, &slope)| if bit { -slope } else { slope });
            let (best, gain) =
                gains.enumerate().fold((0, 0.0), |best, next| if next.1 < best.1 { next } else { best });
            if gain >= -self.least {
                return;
            }
            bits.flip(best);
            let sign = if bits[best] { 1.0 } else { -1.0 };
            slopes.iter_mut().zip(row(best)).for_each(|(slope, a)| *slope += sign * a);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::testing::random_quadratic;
    use plugin_api::{Layout, rng};

    #[test]
    fn a_descent_ends_lower_where_no_flip_gains() {
        for seed in 0..50 {
            let f = random_quadratic(&mut rng(seed), 20);
            let start = Layout::free(20).random(&mut rng(seed + 1000));
            let mut bits = start.clone();
            Descent::new(&f).descend(&mut bits);
            assert!((0..20).all(|i| f.flip_gain(&bits, i) > -1e-10), "{bits}");
            assert!(f.value(&bits) <= f.value(&start));
        }
    }

    #[test]
    fn the_best_flip_comes_first() {
        // Bit 1 gains 3 and then keeps bit 0, which would gain 1, from gaining.
        let f = Quadratic::new(0.0, vec![-1.0, -3.0], vec![2.0]).unwrap();
        let mut bits = Bits::zeros(2);
        Descent::new(&f).descend(&mut bits);
        assert_eq!(bits.to_string(), "01");
    }

    #[test]
    fn a_flat_function_stays_where_it_is() {
        for n in [0, 3] {
            let mut bits = Bits::zeros(n);
            Descent::new(&Quadratic::zero(n)).descend(&mut bits);
            assert_eq!(bits, Bits::zeros(n));
        }
    }
}
