//! The products of matrices in which the time goes, for whatever vectors the machine has, with the same bits from each.
//!
//! Every loop is written once over plain arrays and compiled for each instruction set. Lanes are outputs: each adds its
//! products in the order that the source says, and no product is fused with a sum. So the instruction set changes the
//! time only.
//!
//! Matrices are square, by rows, of a size that is a multiple of [`WIDTH`]: what is missing is filled with ones on the
//! diagonal.

#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "vector instructions, chosen when the program runs")
)]

mod dense;

/// Columns that are computed at once.
pub(crate) const WIDTH: usize = 8;

/// The matrix is not positive definite, or so nearly not that rounding decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotPositiveDefinite;

/// The size of the matrix that holds `rows`.
pub(crate) fn padded(rows: usize) -> usize {
    rows.next_multiple_of(WIDTH)
}

/// Compiles a function for each instruction set, with as many rows at once as are fastest.
macro_rules! for_each_instruction_set {
    ($(#[$meta:meta])* fn $name:ident($($argument:ident: $type:ty),*) $(-> $output:ty)?) => {
        $(#[$meta])*
        pub(crate) fn $name($($argument: $type),*) $(-> $output)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f")]
                fn avx512($($argument: $type),*) $(-> $output)? {
                    dense::$name::<4>($($argument),*)
                }
                #[target_feature(enable = "avx2")]
                fn avx2($($argument: $type),*) $(-> $output)? {
                    dense::$name::<4>($($argument),*)
                }
                if std::arch::is_x86_feature_detected!("avx512f") {
                    // SAFETY: the machine has AVX-512F.
                    return unsafe { avx512($($argument),*) };
                }
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: the machine has AVX2.
                    return unsafe { avx2($($argument),*) };
                }
            }
            dense::$name::<2>($($argument),*)
        }
    };
}

for_each_instruction_set! {
    /// Turns the upper triangle of a symmetric matrix into Lᵀ. What is left below the diagonal means nothing.
    fn factor(matrix: &mut [f64], size: usize) -> Result<(), NotPositiveDefinite>
}

for_each_instruction_set! {
    /// L⁻¹ from Lᵀ, with the zeros above its diagonal.
    fn invert(transposed: &[f64], size: usize) -> Vec<f64>
}

for_each_instruction_set! {
    /// MᵀM of a lower triangular matrix, of which the part above the diagonal means nothing.
    fn gram(lower: &[f64], size: usize) -> Vec<f64>
}

for_each_instruction_set! {
    /// ‖Mb‖² for each column b of a block; M is [packed](pack).
    fn squared_norms(packed: &[[f64; WIDTH]], block: &[[f64; WIDTH]]) -> [f64; WIDTH]
}

/// A lower triangular matrix, of each [`WIDTH`] rows the columns up to the diagonal, one after another.
pub(crate) fn pack(lower: &[f64], size: usize) -> Vec<[f64; WIDTH]> {
    let mut packed = Vec::with_capacity(size * (size / WIDTH + 1) / 2);
    for first in (0..size).step_by(WIDTH) {
        for k in 0..first + WIDTH {
            packed.push(std::array::from_fn(|r| lower[(first + r) * size + k]));
        }
    }
    packed
}
