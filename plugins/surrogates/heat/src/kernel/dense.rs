//! The loops, for `R` rows at once; `R` divides [`WIDTH`].

use super::{NotPositiveDefinite, WIDTH};

/// Adds the products of a and b to each sum.
///
/// Rows are written out, not a loop: a loop of this size is sometimes unrolled and sometimes not, and where it is not,
/// sums stay in memory and take five times as long.
#[inline(always)]
fn add_products<const R: usize>(sums: &mut [[f64; WIDTH]; R], a: [f64; R], b: [f64; WIDTH]) {
    const { assert!(R <= 8, "as many as are written out") };
    add_product(sums, a, b, 0);
    add_product(sums, a, b, 1);
    add_product(sums, a, b, 2);
    add_product(sums, a, b, 3);
    add_product(sums, a, b, 4);
    add_product(sums, a, b, 5);
    add_product(sums, a, b, 6);
    add_product(sums, a, b, 7);
}

#[inline(always)]
fn add_product<const R: usize>(sums: &mut [[f64; WIDTH]; R], a: [f64; R], b: [f64; WIDTH], r: usize) {
    if r < R {
        for (sum, b) in sums[r].iter_mut().zip(b) {
            *sum += a[r] * b;
        }
    }
}

/// Adds `Σₖ a[k][r]·b[k][w]` to each sum, in the order of k; row k of b starts at `start + k · size`.
#[inline(always)]
fn add_all_products<const R: usize>(
    mut sums: [[f64; WIDTH]; R],
    a: &[[f64; R]],
    b: &[f64],
    size: usize,
    start: usize,
) -> [[f64; WIDTH]; R] {
    for (a, row) in a.iter().zip(b.chunks_exact(size)) {
        let b = row[start..].first_chunk::<WIDTH>().expect("the size is a multiple of the width");
        add_products(&mut sums, *a, *b);
    }
    sums
}

/// Columns `first` to `first + R` of `rows`, times `sign`.
#[inline(always)]
fn columns<const R: usize>(rows: &[f64], size: usize, first: usize, sign: f64) -> Vec<[f64; R]> {
    rows.chunks_exact(size).map(|row| std::array::from_fn(|r| sign * row[first + r])).collect()
}

#[inline(always)]
pub(super) fn factor<const R: usize>(matrix: &mut [f64], size: usize) -> Result<(), NotPositiveDefinite> {
    for first in (0..size).step_by(R) {
        let (above, rest) = matrix.split_at_mut(first * size);
        let rows = &mut rest[..R * size];
        let a = columns::<R>(above, size, first, -1.0);
        for start in (first / WIDTH * WIDTH..size).step_by(WIDTH) {
            let mut sums = [[0.0; WIDTH]; R];
            for (sums, row) in sums.iter_mut().zip(rows.chunks_exact(size)) {
                sums.copy_from_slice(&row[start..start + WIDTH]);
            }
            let sums = add_all_products(sums, &a, above, size, start);
            for (sums, row) in sums.iter().zip(rows.chunks_exact_mut(size)) {
                row[start..start + WIDTH].copy_from_slice(sums);
            }
        }
        for r in 0..R {
            let i = first + r;
            let (done, rest) = rows.split_at_mut(r * size);
            let row = &mut rest[i..size];
            for above in done.chunks_exact(size) {
                let factor = -above[i];
                row.iter_mut().zip(&above[i..]).for_each(|(entry, above)| *entry += factor * above);
            }
            if !(row[0] > 0.0 && row[0].is_finite()) {
                return Err(NotPositiveDefinite);
            }
            let root = row[0].sqrt();
            row.iter_mut().for_each(|entry| *entry /= root);
        }
    }
    Ok(())
}

#[inline(always)]
pub(super) fn invert<const R: usize>(transposed: &[f64], size: usize, inverse: &mut [f64]) {
    inverse.fill(0.0);
    for first in (0..size).step_by(R) {
        let (above, rest) = inverse.split_at_mut(first * size);
        let rows = &mut rest[..R * size];
        let a = columns::<R>(&transposed[..first * size], size, first, -1.0);
        // Above row `start`, those columns are 0.
        for start in (0..first).step_by(WIDTH) {
            let none = [[0.0; WIDTH]; R];
            let sums = add_all_products(none, &a[start..], &above[start * size..], size, start);
            for (sums, row) in sums.iter().zip(rows.chunks_exact_mut(size)) {
                row[start..start + WIDTH].copy_from_slice(sums);
            }
        }
        for r in 0..R {
            let i = first + r;
            let (done, rest) = rows.split_at_mut(r * size);
            let row = &mut rest[..=i];
            row[i] = 1.0;
            for (k, above) in done.chunks_exact(size).enumerate() {
                let factor = -transposed[(first + k) * size + i];
                row.iter_mut().zip(above).for_each(|(entry, above)| *entry += factor * above);
            }
            let diagonal = transposed[i * size + i];
            row.iter_mut().for_each(|entry| *entry /= diagonal);
        }
    }
}

#[inline(always)]
pub(super) fn gram<const R: usize>(lower: &[f64], size: usize, product: &mut [f64]) {
    for first in (0..size).step_by(R) {
        let a = columns::<R>(&lower[first * size..], size, first, 1.0);
        for start in (first / WIDTH * WIDTH..size).step_by(WIDTH) {
            // Above row `start`, its columns are 0.
            let from = start.max(first);
            let sums =
                add_all_products([[0.0; WIDTH]; R], &a[from - first..], &lower[from * size..], size, start);
            for (sums, row) in sums.iter().zip(product[first * size..].chunks_exact_mut(size)) {
                row[start..start + WIDTH].copy_from_slice(sums);
            }
        }
    }
}

#[inline(always)]
pub(super) fn multiply_less<const R: usize>(
    matrix: &mut [f64],
    size: usize,
    vector: &[f64],
    scale: f64,
    by: &[f64],
) {
    for (i, (row, by)) in matrix.chunks_exact_mut(size).zip(by.chunks_exact(size)).enumerate() {
        let factor = scale * vector[i];
        for ((entry, v), by) in row[i..].iter_mut().zip(&vector[i..]).zip(&by[i..]) {
            *entry = (*entry - factor * v) * by;
        }
    }
}

#[inline(always)]
pub(super) fn quadratic_forms<const R: usize>(
    upper: &[f64],
    size: usize,
    vectors: &[[f64; WIDTH]],
) -> [f64; WIDTH] {
    let mut forms = [0.0; WIDTH];
    for first in (0..size).step_by(R) {
        let rows: [&[f64]; R] = std::array::from_fn(|r| &upper[(first + r) * size..][..size]);
        let mut sums = [[0.0; WIDTH]; R];
        for (r, sums) in sums.iter_mut().enumerate() {
            for j in first + r + 1..first + R {
                add_products(std::array::from_mut(sums), [rows[r][j]], vectors[j]);
            }
        }
        for (j, vector) in vectors.iter().enumerate().skip(first + R) {
            add_products(&mut sums, rows.map(|row| row[j]), *vector);
        }
        for (sums, vector) in sums.iter().zip(&vectors[first..]) {
            for ((form, sum), x) in forms.iter_mut().zip(sums).zip(vector) {
                *form += sum * x;
            }
        }
    }
    forms
}

#[inline(always)]
pub(super) fn squared_norms<const R: usize>(packed: &[f64], block: &[[f64; WIDTH]]) -> [f64; WIDTH] {
    let mut norms = [0.0; WIDTH];
    let mut packed = packed;
    for first in (0..block.len()).step_by(WIDTH) {
        let panel;
        (panel, packed) = packed.split_at((first + WIDTH) * WIDTH);
        for offset in (0..WIDTH).step_by(R) {
            let mut sums = [[0.0; WIDTH]; R];
            for (a, b) in panel.chunks_exact(WIDTH).zip(block) {
                let a = a[offset..].first_chunk::<R>().expect("R divides the width");
                add_products(&mut sums, *a, *b);
            }
            for sums in &sums {
                for (norm, sum) in norms.iter_mut().zip(sums) {
                    *norm += sum * sum;
                }
            }
        }
    }
    norms
}

#[cfg(test)]
mod tests {
    use plugin_api::random::normal;
    use plugin_api::rng;

    use super::super::{Kernel, pack};
    use super::*;

    /// BBᵀ + I for a random matrix B.
    fn positive(size: usize) -> Vec<f64> {
        let mut rng = rng(size as u64);
        let b: Vec<f64> = (0..size * size).map(|_| normal(&mut rng)).collect();
        let entry = |i: usize, j: usize| (0..size).map(|k| b[i * size + k] * b[j * size + k]).sum::<f64>();
        (0..size * size)
            .map(|ij| entry(ij / size, ij % size) + if ij / size == ij % size { 1.0 } else { 0.0 })
            .collect()
    }

    #[test]
    fn the_product_of_the_inverse_factors_is_the_inverse() {
        for size in [8, 16, 40] {
            let matrix = positive(size);
            let mut upper = matrix.clone();
            let kernel = Kernel::available()[0];
            kernel.factor(&mut upper, size).unwrap();
            let [mut lower, mut inverse] = [vec![f64::NAN; size * size], vec![f64::NAN; size * size]];
            kernel.invert(&upper, size, &mut lower);
            kernel.gram(&lower, size, &mut inverse);
            let at = |i: usize, j: usize| inverse[i.min(j) * size + i.max(j)];
            for i in 0..size {
                for j in 0..size {
                    let product: f64 = (0..size).map(|k| matrix[i * size + k] * at(k, j)).sum();
                    assert!((product - f64::from(i == j)).abs() < 1e-9, "size {size}");
                }
            }
        }
    }

    #[test]
    fn norms_are_those_of_the_product() {
        let size = 24;
        let lower: Vec<f64> =
            (0..size * size).map(|ij| if ij % size <= ij / size { ij as f64 - 90.5 } else { 0.0 }).collect();
        let block: Vec<[f64; WIDTH]> =
            (0..size).map(|k| std::array::from_fn(|w| (k * w) as f64 * 0.1 - 1.0)).collect();
        let mut packed = vec![5.0];
        pack(&lower, size, &mut packed);
        let norms = Kernel::available()[0].squared_norms(&packed, &block);
        for (w, norm) in norms.into_iter().enumerate() {
            let row = |i: usize| (0..size).map(|k| lower[i * size + k] * block[k][w]).sum::<f64>();
            let expected: f64 = (0..size).map(|i| row(i) * row(i)).sum();
            assert!((norm - expected).abs() < 1e-9 * expected, "column {w}");
        }
    }

    #[test]
    fn forms_are_those_of_the_pairs() {
        let size = 16;
        let upper: Vec<f64> = (0..size * size).map(|ij| (ij % 37) as f64 - 11.5).collect();
        let vectors: Vec<[f64; WIDTH]> =
            (0..size).map(|i| std::array::from_fn(|w| ((i * 5 + w * 3) % 7) as f64 - 3.0)).collect();
        let forms = Kernel::available()[0].quadratic_forms(&upper, size, &vectors);
        for (w, form) in forms.into_iter().enumerate() {
            let pairs = (0..size).flat_map(|i| (i + 1..size).map(move |j| (i, j)));
            let expected: f64 = pairs.map(|(i, j)| vectors[i][w] * upper[i * size + j] * vectors[j][w]).sum();
            assert!((form - expected).abs() < 1e-9, "{w}: {form} and {expected}");
        }
    }

    #[test]
    fn every_instruction_set_gives_the_same_bits() {
        let all = |kernel: Kernel, size: usize| {
            let mut upper = positive(size);
            kernel.factor(&mut upper, size).unwrap();
            let [mut inverse, mut product] = [vec![0.0; size * size], vec![0.0; size * size]];
            kernel.invert(&upper, size, &mut inverse);
            kernel.gram(&inverse, size, &mut product);
            let block: Vec<[f64; WIDTH]> = (0..size).map(|k| [0.1 * k as f64 - 1.0; WIDTH]).collect();
            let mut packed = Vec::new();
            pack(&inverse, size, &mut packed);
            let norms = kernel.squared_norms(&packed, &block);
            (0..size).for_each(|i| product[i * size..][..i].fill(0.0));
            let forms = kernel.quadratic_forms(&product, size, &block);
            let vector: Vec<f64> = (0..size).map(|i| 0.3 * i as f64 - 2.0).collect();
            kernel.multiply_less(&mut product, size, &vector, 0.7, &inverse);
            (inverse, product, norms, forms)
        };
        for size in [8, 48] {
            let [fastest, others @ ..] = &Kernel::available()[..] else { panic!("no instructions") };
            let expected = all(*fastest, size);
            others.iter().for_each(|other| assert_eq!(all(*other, size), expected, "{}", other.name()));
        }
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_is_refused() {
        let mut matrix = positive(16);
        matrix[9 * 16 + 9] = -1.0;
        assert_eq!(Kernel::available()[0].factor(&mut matrix, 16), Err(NotPositiveDefinite));
    }
}
