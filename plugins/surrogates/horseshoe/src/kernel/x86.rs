//! The eight lanes on x86-64 with AVX2 (two registers) and AVX-512 (one).

use std::arch::asm;
use std::arch::x86_64::*;

use super::lanes::{LANES, Lanes, Table, pair_sums};

/// Proof that the machine has AVX2.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2(());

impl Avx2 {
    pub(super) fn detect() -> Option<Self> {
        std::arch::is_x86_feature_detected!("avx2").then_some(Self(()))
    }
}

/// Proof that the machine has AVX-512F.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512(());

impl Avx512 {
    pub(super) fn detect() -> Option<Self> {
        std::arch::is_x86_feature_detected!("avx512f").then_some(Self(()))
    }
}

// SAFETY of all calls in this implementation: a value of `Avx512` exists only where the machine has AVX-512F, and the
// pointers are those of arrays of the size that is read or written.
impl Lanes for Avx512 {
    const WIDE: bool = true;
    const TALL: bool = true;
    type Numbers = __m512d;
    type Words = __m512i;
    /// The bits above the lowest four are ignored by the permutation.
    type Nibbles = __m512i;

    #[inline(always)]
    fn splat(self, x: f64) -> __m512d {
        // SAFETY: as above.
        unsafe { _mm512_set1_pd(x) }
    }
    #[inline(always)]
    fn load(self, from: &[f64; LANES]) -> __m512d {
        // SAFETY: as above.
        unsafe { _mm512_loadu_pd(from.as_ptr()) }
    }
    #[inline(always)]
    fn store(self, x: __m512d, to: &mut [f64; LANES]) {
        // SAFETY: as above.
        unsafe { _mm512_storeu_pd(to.as_mut_ptr(), x) }
    }
    #[inline(always)]
    fn add(self, a: __m512d, b: __m512d) -> __m512d {
        // SAFETY: as above.
        unsafe { _mm512_add_pd(a, b) }
    }
    #[inline(always)]
    fn sub(self, a: __m512d, b: __m512d) -> __m512d {
        // SAFETY: as above.
        unsafe { _mm512_sub_pd(a, b) }
    }
    #[inline(always)]
    fn mul(self, a: __m512d, b: __m512d) -> __m512d {
        // SAFETY: as above.
        unsafe { _mm512_mul_pd(a, b) }
    }
    #[inline(always)]
    fn mul_by(self, a: __m512d, factor: &f64) -> __m512d {
        // SAFETY: as above.
        unsafe { multiply_by(a, factor) }
    }
    #[inline(always)]
    fn load_words(self, from: &[u64; LANES]) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
    }
    #[inline(always)]
    fn and(self, words: __m512i, mask: u64) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_and_si512(words, _mm512_set1_epi64(mask as i64)) }
    }
    #[inline(always)]
    fn shift(self, words: __m512i, by: u32) -> __m512i {
        // SAFETY: as above.
        unsafe { _mm512_srl_epi64(words, _mm_cvtsi32_si128(by as i32)) }
    }
    #[inline(always)]
    fn nibbles(self, words: __m512i) -> __m512i {
        words
    }
    #[inline(always)]
    fn add_where<const BIT: u32>(self, sum: __m512d, words: __m512i, x: __m512d) -> __m512d {
        // SAFETY: as above.
        unsafe {
            let set = _mm512_test_epi64_mask(words, _mm512_set1_epi64(1 << BIT));
            _mm512_mask_add_pd(sum, set, sum, x)
        }
    }
    #[inline(always)]
    fn table(self, [a, b, c, d]: [f64; 4]) -> Table {
        let mut table = Table::EMPTY;
        let (low, high) = table.0.split_at_mut(LANES);
        // SAFETY: as above; both halves are eight numbers.
        unsafe {
            // The bits of m that stand for a, b and c, for eight m at once.
            let first = _mm512_maskz_mov_pd(0b1010_1010, _mm512_set1_pd(a));
            let first = _mm512_mask_add_pd(first, 0b1100_1100, first, _mm512_set1_pd(b));
            let second = _mm512_maskz_mov_pd(0b1111_0000, _mm512_set1_pd(c));
            _mm512_storeu_pd(low.as_mut_ptr(), _mm512_add_pd(first, second));
            let second = _mm512_add_pd(second, _mm512_set1_pd(d));
            _mm512_storeu_pd(high.as_mut_ptr(), _mm512_add_pd(first, second));
        }
        table
    }
    #[inline(always)]
    fn look_up(self, table: &Table, nibbles: __m512i) -> __m512d {
        // SAFETY: as above; the table has sixteen numbers.
        unsafe {
            let start = table.0.as_ptr();
            _mm512_permutex2var_pd(_mm512_loadu_pd(start), nibbles, _mm512_loadu_pd(start.add(LANES)))
        }
    }
    #[inline(always)]
    fn pair_sums(self, d: [[f64; 4]; 4]) -> [f64; 16] {
        let mut sums = [0.0; 16];
        let (low, high) = sums.split_at_mut(LANES);
        // SAFETY: as above; both halves are eight numbers.
        unsafe {
            let sum = _mm512_maskz_mov_pd(0b1010_1010, _mm512_set1_pd(d[0][0]));
            let sum = _mm512_mask_add_pd(sum, 0b1100_1100, sum, _mm512_set1_pd(d[1][1]));
            let sum = _mm512_mask_add_pd(sum, 0b1000_1000, sum, _mm512_set1_pd(d[0][1]));
            let sum = _mm512_mask_add_pd(sum, 0b1111_0000, sum, _mm512_set1_pd(d[2][2]));
            let sum = _mm512_mask_add_pd(sum, 0b1010_0000, sum, _mm512_set1_pd(d[0][2]));
            let sum = _mm512_mask_add_pd(sum, 0b1100_0000, sum, _mm512_set1_pd(d[1][2]));
            _mm512_storeu_pd(low.as_mut_ptr(), sum);
            let sum = _mm512_add_pd(sum, _mm512_set1_pd(d[3][3]));
            let sum = _mm512_mask_add_pd(sum, 0b1010_1010, sum, _mm512_set1_pd(d[0][3]));
            let sum = _mm512_mask_add_pd(sum, 0b1100_1100, sum, _mm512_set1_pd(d[1][3]));
            let sum = _mm512_mask_add_pd(sum, 0b1111_0000, sum, _mm512_set1_pd(d[2][3]));
            _mm512_storeu_pd(high.as_mut_ptr(), sum);
        }
        sums
    }
    #[inline(always)]
    fn pick(self, entries: &[f64; 16], words: __m512i) -> __m512d {
        // SAFETY: as above.
        unsafe {
            let start = entries.as_ptr();
            _mm512_permutex2var_pd(_mm512_loadu_pd(start), words, _mm512_loadu_pd(start.add(LANES)))
        }
    }
}

/// One instruction, where the compiler would make two of it once several products have a factor in common. A broadcast of
/// its own takes the place of a multiplication on Zen 4, while this one comes with the load.
#[inline]
#[target_feature(enable = "avx512f")]
fn multiply_by(a: __m512d, factor: &f64) -> __m512d {
    let product;
    // SAFETY: the instruction is one of AVX-512F, and reads the eight bytes of `factor`.
    unsafe {
        asm!(
            "vmulpd {product}, {a}, qword ptr [{factor}]{{1to8}}",
            product = lateout(zmm_reg) product,
            a = in(zmm_reg) a,
            factor = in(reg) factor,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    product
}

/// Which of four numbers, as the pair of halves of it that a permutation of 32-bit parts takes: (2i, 2i + 1).
#[derive(Clone, Copy, Debug)]
pub(super) struct Halves {
    /// Which sum of the first two numbers.
    low: __m256i,
    /// Which sum of the last two numbers.
    high: __m256i,
}

// SAFETY of all calls in this implementation: a value of `Avx2` exists only where the machine has AVX2, and the
// pointers are those of arrays of the size that is read or written.
impl Lanes for Avx2 {
    const WIDE: bool = false;
    const TALL: bool = true;
    type Numbers = [__m256d; 2];
    type Words = [__m256i; 2];
    type Nibbles = [Halves; 2];

    #[inline(always)]
    fn splat(self, x: f64) -> [__m256d; 2] {
        // SAFETY: as above.
        unsafe { [_mm256_set1_pd(x); 2] }
    }
    #[inline(always)]
    fn load(self, from: &[f64; LANES]) -> [__m256d; 2] {
        // SAFETY: as above.
        unsafe { [_mm256_loadu_pd(from.as_ptr()), _mm256_loadu_pd(from.as_ptr().add(4))] }
    }
    #[inline(always)]
    fn store(self, [x, y]: [__m256d; 2], to: &mut [f64; LANES]) {
        // SAFETY: as above.
        unsafe {
            _mm256_storeu_pd(to.as_mut_ptr(), x);
            _mm256_storeu_pd(to.as_mut_ptr().add(4), y);
        }
    }
    #[inline(always)]
    fn add(self, a: [__m256d; 2], b: [__m256d; 2]) -> [__m256d; 2] {
        // SAFETY: as above.
        unsafe { [_mm256_add_pd(a[0], b[0]), _mm256_add_pd(a[1], b[1])] }
    }
    #[inline(always)]
    fn sub(self, a: [__m256d; 2], b: [__m256d; 2]) -> [__m256d; 2] {
        // SAFETY: as above.
        unsafe { [_mm256_sub_pd(a[0], b[0]), _mm256_sub_pd(a[1], b[1])] }
    }
    #[inline(always)]
    fn mul(self, a: [__m256d; 2], b: [__m256d; 2]) -> [__m256d; 2] {
        // SAFETY: as above.
        unsafe { [_mm256_mul_pd(a[0], b[0]), _mm256_mul_pd(a[1], b[1])] }
    }
    #[inline(always)]
    fn load_words(self, from: &[u64; LANES]) -> [__m256i; 2] {
        // SAFETY: as above.
        unsafe { [_mm256_loadu_si256(from.as_ptr().cast()), _mm256_loadu_si256(from.as_ptr().add(4).cast())] }
    }
    #[inline(always)]
    fn and(self, [x, y]: [__m256i; 2], mask: u64) -> [__m256i; 2] {
        // SAFETY: as above.
        unsafe {
            let mask = _mm256_set1_epi64x(mask as i64);
            [_mm256_and_si256(x, mask), _mm256_and_si256(y, mask)]
        }
    }
    #[inline(always)]
    fn shift(self, [x, y]: [__m256i; 2], by: u32) -> [__m256i; 2] {
        // SAFETY: as above.
        unsafe {
            let by = _mm_cvtsi32_si128(by as i32);
            [_mm256_srl_epi64(x, by), _mm256_srl_epi64(y, by)]
        }
    }
    #[inline(always)]
    fn nibbles(self, [x, y]: [__m256i; 2]) -> [Halves; 2] {
        [self.halves(x), self.halves(y)]
    }
    #[inline(always)]
    fn add_where<const BIT: u32>(
        self,
        sum: [__m256d; 2],
        words: [__m256i; 2],
        x: [__m256d; 2],
    ) -> [__m256d; 2] {
        // SAFETY: as above.
        unsafe {
            let bit = _mm256_set1_epi64x(1 << BIT);
            let set = [
                _mm256_castsi256_pd(_mm256_cmpeq_epi64(_mm256_and_si256(words[0], bit), bit)),
                _mm256_castsi256_pd(_mm256_cmpeq_epi64(_mm256_and_si256(words[1], bit), bit)),
            ];
            [
                _mm256_add_pd(sum[0], _mm256_and_pd(set[0], x[0])),
                _mm256_add_pd(sum[1], _mm256_and_pd(set[1], x[1])),
            ]
        }
    }
    /// The four sums of the first two numbers, then those of the last two.
    #[inline(always)]
    fn table(self, [a, b, c, d]: [f64; 4]) -> Table {
        Table([0.0, a, b, a + b, 0.0, c, d, c + d, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    }
    #[inline(always)]
    fn look_up(self, table: &Table, [x, y]: [Halves; 2]) -> [__m256d; 2] {
        // SAFETY: as above; the table has sixteen numbers.
        unsafe {
            let low = _mm256_loadu_ps(table.0.as_ptr().cast());
            let high = _mm256_loadu_ps(table.0.as_ptr().add(4).cast());
            let first = [_mm256_permutevar8x32_ps(low, x.low), _mm256_permutevar8x32_ps(low, y.low)];
            let second = [_mm256_permutevar8x32_ps(high, x.high), _mm256_permutevar8x32_ps(high, y.high)];
            [
                _mm256_add_pd(_mm256_castps_pd(first[0]), _mm256_castps_pd(second[0])),
                _mm256_add_pd(_mm256_castps_pd(first[1]), _mm256_castps_pd(second[1])),
            ]
        }
    }
    #[inline(always)]
    fn pair_sums(self, d: [[f64; 4]; 4]) -> [f64; 16] {
        pair_sums(d)
    }
    #[inline(always)]
    fn pick(self, entries: &[f64; 16], [x, y]: [__m256i; 2]) -> [__m256d; 2] {
        // SAFETY: as above; the lowest four bits are a number below sixteen.
        unsafe {
            let nibble = _mm256_set1_epi64x(15);
            [
                _mm256_i64gather_pd::<8>(entries.as_ptr(), _mm256_and_si256(x, nibble)),
                _mm256_i64gather_pd::<8>(entries.as_ptr(), _mm256_and_si256(y, nibble)),
            ]
        }
    }
}

impl Avx2 {
    #[inline(always)]
    fn halves(self, words: __m256i) -> Halves {
        // SAFETY: a value of `Avx2` exists only where the machine has AVX2.
        unsafe {
            let (six, odd) = (_mm256_set1_epi64x(6), _mm256_set1_epi64x(1 << 32));
            let low = _mm256_and_si256(_mm256_slli_epi64::<1>(words), six);
            let high = _mm256_and_si256(_mm256_srli_epi64::<1>(words), six);
            Halves {
                low: _mm256_or_si256(_mm256_or_si256(low, _mm256_slli_epi64::<32>(low)), odd),
                high: _mm256_or_si256(_mm256_or_si256(high, _mm256_slli_epi64::<32>(high)), odd),
            }
        }
    }
}
