//! A quadratic function seen from a point: what each flip would gain.

use plugin_api::{Bits, Quadratic};

/// A point, and what the function gains where bits of it are turned over: a gain is read off, a flip adds a
/// row of pairs to the slopes.
pub struct Landscape<'f> {
    f: &'f Quadratic,
    /// The pairs as a full symmetric matrix by rows.
    pairs: Vec<f64>,
    bits: Bits,
    /// What the function gains when a bit goes from 0 to 1.
    slopes: Vec<f64>,
    /// What a flip of a descent has to gain. It is far above what rounding can do to a gain, so a descent ends.
    least: f64,
}

impl<'f> Landscape<'f> {
    /// `f` seen from where no bit is set.
    pub fn new(f: &'f Quadratic) -> Self {
        let pairs = f.symmetric();
        let rows = pairs.chunks(f.dimension().max(1));
        let reach = rows.zip(f.linear()).map(|(row, b)| b.abs() + row.iter().map(|a| a.abs()).sum::<f64>());
        let least = 1e-12 * reach.fold(0.0, f64::max);
        Self { f, pairs, bits: Bits::zeros(f.dimension()), slopes: f.linear().to_vec(), least }
    }

    /// Goes to `bits`.
    pub fn set(&mut self, bits: &Bits) {
        self.bits.fill(false);
        self.slopes.copy_from_slice(self.f.linear());
        (0..bits.len()).filter(|&i| bits[i]).for_each(|i| self.flip(i));
    }

    /// The point.
    pub fn bits(&self) -> &Bits {
        &self.bits
    }

    /// What turning bit `i` over would gain.
    pub fn flip_gain(&self, i: usize) -> f64 {
        if self.bits[i] { -self.slopes[i] } else { self.slopes[i] }
    }

    /// What clearing bit `from` and setting bit `to` would gain; they are set and clear now.
    pub fn swap_gain(&self, from: usize, to: usize) -> f64 {
        self.slopes[to] - self.slopes[from] - self.pairs[from * self.slopes.len() + to]
    }

    /// What turning over all of these different bits would gain.
    pub fn gain(&self, bits: &[usize]) -> f64 {
        let sign = |i: usize| if self.bits[i] { -1.0 } else { 1.0 };
        let mut gain = 0.0;
        for (k, &i) in bits.iter().enumerate() {
            let before = bits[..k].iter().map(|&j| sign(j) * self.pairs[i * self.slopes.len() + j]);
            gain += sign(i) * before.fold(self.slopes[i], |slope, a| slope + a);
        }
        gain
    }

    /// Turns bit `i` over.
    pub fn flip(&mut self, i: usize) {
        self.bits.flip(i);
        let n = self.slopes.len();
        let row = &self.pairs[i * n..(i + 1) * n];
        if self.bits[i] {
            self.slopes.iter_mut().zip(row).for_each(|(slope, a)| *slope += a);
        } else {
            self.slopes.iter_mut().zip(row).for_each(|(slope, a)| *slope -= a);
        }
    }

    /// Turns over the bit that gains most, until none gains.
    pub fn descend(&mut self) {
        self.descend_while(&|| true);
    }

    /// [`descend`](Self::descend) for as long as `more` agrees, which is asked now and then.
    pub fn descend_while(&mut self, more: &dyn Fn() -> bool) {
        /// Flips between two looks: each takes a few microseconds with thousands of bits.
        const OFTEN: u64 = 64;
        for flips in 1_u64.. {
            let gains = (0..self.bits.len()).map(|i| (i, self.flip_gain(i)));
            let (best, gain) = gains.fold((0, 0.0), |best, next| if next.1 < best.1 { next } else { best });
            if gain >= -self.least || flips.is_multiple_of(OFTEN) && !more() {
                return;
            }
            self.flip(best);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::rand::RngExt;
    use plugin_api::testing::random_quadratic;
    use plugin_api::{Layout, rng};

    fn descended(f: &Quadratic, start: &Bits) -> Bits {
        let mut landscape = Landscape::new(f);
        landscape.set(start);
        landscape.descend();
        landscape.bits().clone()
    }

    #[test]
    fn gains_are_differences_of_values() {
        let (n, f) = (9, random_quadratic(&mut rng(7), 9));
        let rng = &mut rng(1);
        let mut landscape = Landscape::new(&f);
        landscape.set(&Layout::free(n).random(rng));
        for _ in 0..200 {
            let here = landscape.bits().clone();
            for i in 0..n {
                let mut there = here.clone();
                there.flip(i);
                assert!((landscape.flip_gain(i) - (f.value(&there) - f.value(&here))).abs() < 1e-12);
                for j in (0..n).filter(|&j| here[i] && !here[j]) {
                    let mut there = there.clone();
                    there.flip(j);
                    assert!((landscape.swap_gain(i, j) - (f.value(&there) - f.value(&here))).abs() < 1e-12);
                    assert!((landscape.gain(&[i, j]) - landscape.swap_gain(i, j)).abs() < 1e-12);
                }
            }
            landscape.flip(rng.random_range(0..n));
        }
    }

    #[test]
    fn a_descent_ends_lower_where_no_flip_gains() {
        for seed in 0..50 {
            let f = random_quadratic(&mut rng(seed), 20);
            let start = Layout::free(20).random(&mut rng(seed + 1000));
            let bits = descended(&f, &start);
            assert!((0..20).all(|i| f.flip_gain(&bits, i) > -1e-10), "{bits}");
            assert!(f.value(&bits) <= f.value(&start));
        }
    }

    #[test]
    fn a_descent_that_is_cut_short_is_lower_than_its_start() {
        let f = random_quadratic(&mut rng(3), 300);
        let start = Layout::free(300).random(&mut rng(4));
        let mut landscape = Landscape::new(&f);
        landscape.set(&start);
        landscape.descend_while(&|| false);
        let (early, end) = (f.value(landscape.bits()), f.value(&descended(&f, &start)));
        assert!(end < early && early < f.value(&start), "{end}, {early}");
    }

    #[test]
    fn the_best_flip_comes_first() {
        // Bit 1 gains 3 and then keeps bit 0, which would gain 1, from gaining.
        let f = Quadratic::new(0.0, vec![-1.0, -3.0], vec![2.0]).unwrap();
        assert_eq!(descended(&f, &Bits::zeros(2)).to_string(), "01");
    }

    #[test]
    fn a_flat_function_stays_where_it_is() {
        for n in [0, 3] {
            assert_eq!(descended(&Quadratic::zero(n), &Bits::zeros(n)), Bits::zeros(n));
        }
    }
}
