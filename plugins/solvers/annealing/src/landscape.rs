//! A function seen from a point: what each move would gain.

use plugin_api::{Bits, Function};
// A gain is read off, a flip adds a row of pairs to the slopes.
pub(crate) use shared_one_flip::Landscape as QuadraticLandscape;

/// A point, and what the function gains where bits of it are turned over.
pub(crate) trait Landscape {
    /// Goes to `bits`.
    fn set(&mut self, bits: &Bits);

    fn bits(&self) -> &Bits;

    /// What turning bit `i` over would gain.
    fn flip_gain(&mut self, i: usize) -> f64;

    /// What clearing bit `from` and setting bit `to` would gain; they are set and clear now.
    fn swap_gain(&mut self, from: usize, to: usize) -> f64;

    /// What turning over all of these different bits would gain.
    fn gain(&mut self, bits: &[usize]) -> f64;

    fn flip(&mut self, i: usize);
}

impl Landscape for QuadraticLandscape<'_> {
    fn set(&mut self, bits: &Bits) {
        self.set(bits);
    }

    fn bits(&self) -> &Bits {
        self.bits()
    }

    fn flip_gain(&mut self, i: usize) -> f64 {
        QuadraticLandscape::flip_gain(self, i)
    }

    fn swap_gain(&mut self, from: usize, to: usize) -> f64 {
        QuadraticLandscape::swap_gain(self, from, to)
    }

    fn gain(&mut self, bits: &[usize]) -> f64 {
        QuadraticLandscape::gain(self, bits)
    }

    fn flip(&mut self, i: usize) {
        self.flip(i);
    }
}

/// Any function: it is asked for each gain.
pub(crate) struct GeneralLandscape<'f> {
    f: &'f dyn Function,
    bits: Bits,
}

impl<'f> GeneralLandscape<'f> {
    pub(crate) fn new(f: &'f dyn Function) -> Self {
        Self { f, bits: Bits::zeros(f.dimension()) }
    }
}

impl Landscape for GeneralLandscape<'_> {
    fn set(&mut self, bits: &Bits) {
        self.bits.copy_from_slice(bits);
    }

    fn bits(&self) -> &Bits {
        &self.bits
    }

    fn flip_gain(&mut self, i: usize) -> f64 {
        self.f.flip_gain(&self.bits, i)
    }

    fn swap_gain(&mut self, from: usize, to: usize) -> f64 {
        let cleared = self.f.flip_gain(&self.bits, from);
        self.bits.flip(from);
        let set = self.f.flip_gain(&self.bits, to);
        self.bits.flip(from);
        cleared + set
    }

    fn gain(&mut self, bits: &[usize]) -> f64 {
        let mut gain = 0.0;
        for &i in bits {
            gain += self.f.flip_gain(&self.bits, i);
            self.bits.flip(i);
        }
        bits.iter().for_each(|&i| self.bits.flip(i));
        gain
    }

    fn flip(&mut self, i: usize) {
        self.bits.flip(i);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::rand::RngExt;
    use plugin_api::testing::random_quadratic;
    use plugin_api::{Layout, Quadratic, rng};

    /// x₀x₁x₂ and a quadratic rest.
    struct Cubic(Quadratic);

    impl Function for Cubic {
        fn dimension(&self) -> usize {
            self.0.dimension()
        }
        fn value(&self, bits: &[bool]) -> f64 {
            self.0.value(bits) + if bits[0] && bits[1] && bits[2] { 5.0 } else { 0.0 }
        }
    }

    fn gains_are_differences(mut landscape: impl Landscape, value: impl Fn(&Bits) -> f64, n: usize) {
        let rng = &mut rng(1);
        landscape.set(&Layout::free(n).random(rng));
        for _ in 0..200 {
            let here = landscape.bits().clone();
            for i in 0..n {
                let mut there = here.clone();
                there.flip(i);
                assert!((landscape.flip_gain(i) - (value(&there) - value(&here))).abs() < 1e-12);
                for j in (0..n).filter(|&j| here[i] && !here[j]) {
                    let mut there = there.clone();
                    there.flip(j);
                    assert!((landscape.swap_gain(i, j) - (value(&there) - value(&here))).abs() < 1e-12);
                    assert!((landscape.gain(&[j, i]) - (value(&there) - value(&here))).abs() < 1e-12);
                }
            }
            assert_eq!(*landscape.bits(), here);
            landscape.flip(rng.random_range(0..n));
        }
    }

    #[test]
    fn gains_are_differences_of_values() {
        let f = random_quadratic(&mut rng(7), 9);
        gains_are_differences(QuadraticLandscape::new(&f), |x| f.value(x), 9);
        let cubic = Cubic(f);
        gains_are_differences(GeneralLandscape::new(&cubic), |x| cubic.value(x), 9);
    }
}
