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

use std::ffi::OsStr;

use plugin_api::{Error, Result};

mod dense; // matrices
mod lookup; // products of numbers from tables

/// Columns that are computed at once.
pub(crate) const WIDTH: usize = 8;

/// The matrix is not positive definite, or so nearly not that rounding decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotPositiveDefinite;

/// The size of the matrix that holds `rows`.
pub(crate) fn padded(rows: usize) -> usize {
    rows.next_multiple_of(WIDTH)
}

/// An instruction set that the machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kernel(Set);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Kernel {
    /// All that this machine has, the fastest first.
    pub(crate) fn available() -> Vec<Self> {
        #[cfg(target_arch = "x86_64")]
        let vectors = [
            std::arch::is_x86_feature_detected!("avx512f").then_some(Set::Avx512),
            std::arch::is_x86_feature_detected!("avx2").then_some(Set::Avx2),
        ];
        #[cfg(not(target_arch = "x86_64"))]
        let vectors: [Option<Set>; 0] = [];
        vectors.into_iter().flatten().chain([Set::Portable]).map(Self).collect()
    }

    /// The fastest, or the one that the environment variable `HEAT_KERNEL` names: for tests and measurements.
    pub(crate) fn from_environment() -> Result<Self> {
        std::env::var_os("HEAT_KERNEL").map_or_else(|| Ok(Self::available()[0]), |name| Self::named(&name))
    }

    fn named(name: &OsStr) -> Result<Self> {
        let known = Self::available().into_iter().find(|kernel| name == kernel.name());
        known.ok_or_else(|| {
            let names: Vec<&str> = Self::available().into_iter().map(Self::name).collect();
            let (name, names) = (name.display(), names.join(", "));
            Error::new(format!("HEAT_KERNEL is `{name}`, not one that this machine has: {names}"))
        })
    }

    /// Its name: `portable`, `avx2` or `avx512`.
    pub(crate) fn name(self) -> &'static str {
        match self.0 {
            Set::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => "avx512",
        }
    }
}

/// Compiles a function for each instruction set, with as many rows at once as are fastest: with AVX-512, with
/// AVX2, and without.
macro_rules! for_each_instruction_set {
    ($(#[$meta:meta])* $module:ident::$name:ident<$avx512:literal, $avx2:literal, $portable:literal>($($argument:ident: $type:ty),*) $(-> $output:ty)?) => {
        impl Kernel {
            $(#[$meta])*
            pub(crate) fn $name(self, $($argument: $type),*) $(-> $output)? {
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx512f")]
                fn avx512($($argument: $type),*) $(-> $output)? {
                    $module::$name::<$avx512>($($argument),*)
                }
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx2")]
                fn avx2($($argument: $type),*) $(-> $output)? {
                    $module::$name::<$avx2>($($argument),*)
                }
                match self.0 {
                    Set::Portable => $module::$name::<$portable>($($argument),*),
                    // SAFETY: the value exists only where the machine has AVX2.
                    #[cfg(target_arch = "x86_64")]
                    Set::Avx2 => unsafe { avx2($($argument),*) },
                    // SAFETY: the value exists only where the machine has AVX-512F.
                    #[cfg(target_arch = "x86_64")]
                    Set::Avx512 => unsafe { avx512($($argument),*) },
                }
            }
        }
    };
}

for_each_instruction_set! {
    /// Turns the upper triangle of a symmetric matrix into Lᵀ. What is left below the diagonal means nothing.
    dense::factor<8, 4, 2>(matrix: &mut [f64], size: usize) -> std::result::Result<(), NotPositiveDefinite>
}

for_each_instruction_set! {
    /// Writes L⁻¹ from Lᵀ, with the zeros above its diagonal.
    dense::invert<8, 4, 2>(transposed: &[f64], size: usize, inverse: &mut [f64])
}

for_each_instruction_set! {
    /// Writes the upper triangle of MᵀM of a lower triangular matrix. What is below the diagonal means nothing.
    dense::gram<8, 4, 2>(lower: &[f64], size: usize, product: &mut [f64])
}

for_each_instruction_set! {
    /// (M − svvᵀ)∘B in place, in the upper triangle.
    dense::multiply_less<1, 1, 1>(matrix: &mut [f64], size: usize, vector: &[f64], scale: f64, by: &[f64])
}

for_each_instruction_set! {
    /// Σ xᵢ Mᵢⱼ xⱼ over i < j for each column x of the vectors.
    dense::quadratic_forms<8, 4, 2>(upper: &[f64], size: usize, vectors: &[[f64; WIDTH]]) -> [f64; WIDTH]
}

for_each_instruction_set! {
    /// ‖Mb‖² for each column b of a block; M is [packed](pack).
    dense::squared_norms<4, 4, 2>(packed: &[f64], block: &[[f64; WIDTH]]) -> [f64; WIDTH]
}

for_each_instruction_set! {
    /// For each of [`WIDTH`] columns, the product over k of `tables[k][row[k] ^ columns[k][w]]`.
    lookup::products<1, 1, 1>(tables: &[[f64; 256]], row: &[u8], columns: &[[u8; WIDTH]]) -> [f64; WIDTH]
}

for_each_instruction_set! {
    /// For each of [`WIDTH`] columns, the sum over k of `scales[k] (row[k] − columns[k][w])²`.
    lookup::distances<1, 1, 1>(scales: &[f64], row: &[f64], columns: &[[f64; WIDTH]]) -> [f64; WIDTH]
}

for_each_instruction_set! {
    /// The sum of weights, each negative where an odd number of the bits in its mask are set in the point. There are as
    /// many masks for each weight as the point has words.
    lookup::signed_sum<1, 1, 1>(masks: &[[u64; WIDTH]], weights: &[[f64; WIDTH]], point: &[u64]) -> f64
}

/// Writes a lower triangular matrix: of each [`WIDTH`] rows the columns up to the diagonal, one after another.
pub(crate) fn pack(lower: &[f64], size: usize, packed: &mut Vec<f64>) {
    packed.clear();
    packed.reserve(size * (size + WIDTH) / 2);
    for first in (0..size).step_by(WIDTH) {
        let rows: [&[f64]; WIDTH] = std::array::from_fn(|r| &lower[(first + r) * size..][..first + WIDTH]);
        for k in 0..first + WIDTH {
            packed.extend(rows.map(|row| row[k]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_known_by_name() {
        for kernel in Kernel::available() {
            assert_eq!(Kernel::named(kernel.name().as_ref()).unwrap(), kernel);
        }
        let error = Kernel::named("sse9".as_ref()).unwrap_err().to_string();
        assert!(error.starts_with("HEAT_KERNEL is `sse9`, not one that this machine has: "), "{error}");
        assert!(error.ends_with("portable"), "{error}");
    }
}
