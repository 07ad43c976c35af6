//! What is done to each entry of the Gram matrix before it is factored.
//!
//! Plain loops: an entry is computed from its own numbers alone, so any vectors give the same.

use super::lanes::{LANES, Lanes};
use super::{Kernel, Work};

impl Kernel {
    /// Writes the upper triangle of c·B + I, where b_kl = r_k r_l (a_kl − s_k − s_l).
    ///
    /// # Panics
    /// Where `roots` and `shifts` are not padded, or the matrices are not padded rows of that length.
    pub fn centre_and_scale(self, a: &[f64], roots: &[f64], shifts: &[f64], c: f64, scaled: &mut [f64]) {
        let padded = roots.len();
        assert!(padded.is_multiple_of(LANES) && shifts.len() == padded, "vectors that are not padded");
        assert_eq!(a.len(), scaled.len(), "matrices that differ in size");
        assert!(
            padded == 0 || a.len().is_multiple_of(padded) && a.len() / padded <= padded,
            "not padded rows"
        );
        self.run(CentreAndScale { a, roots, shifts, c, scaled });
    }
}

struct CentreAndScale<'a> {
    a: &'a [f64],
    roots: &'a [f64],
    shifts: &'a [f64],
    c: f64,
    scaled: &'a mut [f64],
}

impl Work for CentreAndScale<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let padded = self.roots.len().max(1);
        let rows = self.a.chunks_exact(padded).zip(self.scaled.chunks_exact_mut(padded));
        for (k, (row, scaled)) in rows.enumerate() {
            let (root, shift, from) = (self.roots[k], self.shifts[k], k - k % LANES);
            let others = self.roots[from..].iter().zip(&self.shifts[from..]);
            let entries = scaled[from..].iter_mut().zip(&row[from..]);
            for ((scaled, entry), (other_root, other_shift)) in entries.zip(others) {
                *scaled = self.c * (root * other_root * (entry - shift - other_shift));
            }
            scaled[k] += 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::cholesky::stride;
    use super::*;

    #[test]
    fn entries_on_and_right_of_the_diagonal_are_centred_and_scaled() {
        for n in [0, 1, 7, 8, 19] {
            let padded = stride(n);
            let a: Vec<f64> = (0..n * padded).map(|k| (k * k % 101) as f64).collect();
            let vector = |by: usize| -> Vec<f64> { (0..padded).map(|k| ((k + by) % 5) as f64).collect() };
            let (roots, shifts) = (vector(1), vector(3));
            for kernel in Kernel::available() {
                let mut scaled = vec![0.0; a.len()];
                kernel.centre_and_scale(&a, &roots, &shifts, 3.0, &mut scaled);
                for k in 0..n {
                    for l in k..n {
                        let centred = roots[k] * roots[l] * (a[k * padded + l] - shifts[k] - shifts[l]);
                        let expected = 3.0 * centred + f64::from(u8::from(k == l));
                        assert_eq!(scaled[k * padded + l], expected, "({k}, {l})");
                    }
                }
            }
        }
    }
}
