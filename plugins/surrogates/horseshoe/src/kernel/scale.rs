//! What is done to each entry of a symmetric matrix, on and right of the diagonal.
//!
//! Plain loops: an entry is computed from its own numbers alone, so any vectors give the same.

use super::cholesky::stride;
use super::lanes::{LANES, Lanes};
use super::{Kernel, Work};

impl Kernel {
    /// Replaces the entries a_kl of the upper triangle by r_k r_l (a_kl − s_k − s_l).
    ///
    /// # Panics
    /// Where `roots` and `shifts` are not padded, or `a` is not padded rows of that length.
    pub fn centre(self, a: &mut [f64], roots: &[f64], shifts: &[f64]) {
        let padded = roots.len();
        assert!(padded.is_multiple_of(LANES) && shifts.len() == padded, "vectors that are not padded");
        assert!(
            padded == 0 || a.len().is_multiple_of(padded) && a.len() / padded <= padded,
            "not padded rows"
        );
        self.run(Centre { a, roots, shifts });
    }

    /// Writes the upper triangle of c·A + I, for a matrix of `n` padded rows.
    ///
    /// # Panics
    /// Where the slices are not n padded rows.
    pub fn scale(self, a: &[f64], c: f64, n: usize, scaled: &mut [f64]) {
        assert_eq!((a.len(), scaled.len()), (n * stride(n), n * stride(n)), "not {n} padded rows");
        self.run(Scale { a, c, scaled, padded: stride(n) });
    }
}

struct Centre<'a> {
    a: &'a mut [f64],
    roots: &'a [f64],
    shifts: &'a [f64],
}

impl Work for Centre<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        for (k, row) in self.a.chunks_exact_mut(self.roots.len().max(1)).enumerate() {
            let (root, shift, from) = (self.roots[k], self.shifts[k], k - k % LANES);
            let others = self.roots[from..].iter().zip(&self.shifts[from..]);
            for (entry, (other_root, other_shift)) in row[from..].iter_mut().zip(others) {
                *entry = root * other_root * (*entry - shift - other_shift);
            }
        }
    }
}

struct Scale<'a> {
    a: &'a [f64],
    c: f64,
    scaled: &'a mut [f64],
    padded: usize,
}

impl Work for Scale<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let rows = self.a.chunks_exact(self.padded.max(1));
        for (k, (row, scaled)) in rows.zip(self.scaled.chunks_exact_mut(self.padded.max(1))).enumerate() {
            let from = k - k % LANES;
            for (scaled, entry) in scaled[from..].iter_mut().zip(&row[from..]) {
                *scaled = self.c * entry;
            }
            scaled[k] += 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_on_and_right_of_the_diagonal_are_scaled() {
        for n in [0, 1, 7, 8, 19] {
            let padded = stride(n);
            let a: Vec<f64> = (0..n * padded).map(|k| (k * k % 101) as f64).collect();
            let vector = |by: usize| -> Vec<f64> { (0..padded).map(|k| ((k + by) % 5) as f64).collect() };
            let (roots, shifts) = (vector(1), vector(3));
            for kernel in Kernel::available() {
                let (mut centred, mut scaled) = (a.clone(), vec![0.0; a.len()]);
                kernel.centre(&mut centred, &roots, &shifts);
                kernel.scale(&a, 3.0, n, &mut scaled);
                for k in 0..n {
                    for l in k..n {
                        let entry = a[k * padded + l];
                        let expected = roots[k] * roots[l] * (entry - shifts[k] - shifts[l]);
                        assert_eq!(centred[k * padded + l], expected, "({k}, {l})");
                        assert_eq!(scaled[k * padded + l], 3.0 * entry + f64::from(u8::from(k == l)));
                    }
                }
            }
        }
    }
}
