//! Eight numbers side by side: the few operations that the kernels are written in, and their portable form.

/// Numbers in a vector.
pub const LANES: usize = 8;

/// A subset-sum table: entry `m` is the sum of those of four numbers whose bit is set in `m`.
///
/// How the sixteen numbers are arranged is the instruction set's own affair.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Table(pub(super) [f64; 16]);

impl Table {
    /// The sums of no numbers.
    pub const EMPTY: Self = Self([0.0; 16]);
}

/// Operations on eight lanes, each the same to the bit for every instruction set, but for the sign of a zero.
///
/// A value of the type is the proof that the machine has the instructions.
pub trait Lanes: Copy {
    /// Whether 24 sums of eight lanes stay in registers.
    const WIDE: bool;
    /// Whether four do.
    const TALL: bool;
    /// Eight numbers.
    type Numbers: Copy;
    /// Eight words of 64 bits.
    type Words: Copy;
    /// Four bits of each word, as [`look_up`](Self::look_up) takes them.
    type Nibbles: Copy;

    fn splat(self, x: f64) -> Self::Numbers;
    fn load(self, from: &[f64; LANES]) -> Self::Numbers;
    fn store(self, x: Self::Numbers, to: &mut [f64; LANES]);
    fn add(self, a: Self::Numbers, b: Self::Numbers) -> Self::Numbers;
    fn sub(self, a: Self::Numbers, b: Self::Numbers) -> Self::Numbers;
    fn mul(self, a: Self::Numbers, b: Self::Numbers) -> Self::Numbers;
    /// Each number times `factor`, which is read where it stands.
    #[inline(always)]
    fn mul_by(self, a: Self::Numbers, factor: &f64) -> Self::Numbers {
        self.mul(a, self.splat(*factor))
    }

    fn load_words(self, from: &[u64; LANES]) -> Self::Words;
    /// Each word AND `mask`.
    fn and(self, words: Self::Words, mask: u64) -> Self::Words;
    /// Each word without its lowest `by` bits.
    fn shift(self, words: Self::Words, by: u32) -> Self::Words;
    /// The lowest four bits of each word.
    fn nibbles(self, words: Self::Words) -> Self::Nibbles;
    /// `sum` + `x` where bit `BIT` of the word is set, else `sum`.
    fn add_where<const BIT: u32>(
        self,
        sum: Self::Numbers,
        words: Self::Words,
        x: Self::Numbers,
    ) -> Self::Numbers;

    /// The sums (a + b) + (c + d) over all subsets of four numbers.
    fn table(self, numbers: [f64; 4]) -> Table;
    /// For each lane the entry of the table that its nibble names.
    fn look_up(self, table: &Table, nibbles: Self::Nibbles) -> Self::Numbers;
    /// The sums over all subsets of four bits of what each bit has, `d[t][t]`, and each pair, `d[s][t]` for s < t;
    /// in the order 00, 11, 01, 22, 02, 12, 33, 03, 13, 23.
    fn pair_sums(self, d: [[f64; 4]; 4]) -> [f64; 16];
    /// For each lane the one of sixteen plain numbers that the lowest four bits of its word name.
    fn pick(self, entries: &[f64; 16], words: Self::Words) -> Self::Numbers;
}

/// Plain Rust, which compilers turn into whatever vectors the target always has.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

impl Lanes for Portable {
    const WIDE: bool = false;
    const TALL: bool = false;
    type Numbers = [f64; LANES];
    type Words = [u64; LANES];
    type Nibbles = [u8; LANES];

    #[inline(always)]
    fn splat(self, x: f64) -> Self::Numbers {
        [x; LANES]
    }
    #[inline(always)]
    fn load(self, from: &[f64; LANES]) -> Self::Numbers {
        *from
    }
    #[inline(always)]
    fn store(self, x: Self::Numbers, to: &mut [f64; LANES]) {
        *to = x;
    }
    #[inline(always)]
    fn add(self, a: Self::Numbers, b: Self::Numbers) -> Self::Numbers {
        std::array::from_fn(|lane| a[lane] + b[lane])
    }
    #[inline(always)]
    fn sub(self, a: Self::Numbers, b: Self::Numbers) -> Self::Numbers {
        std::array::from_fn(|lane| a[lane] - b[lane])
    }
    #[inline(always)]
    fn mul(self, a: Self::Numbers, b: Self::Numbers) -> Self::Numbers {
        std::array::from_fn(|lane| a[lane] * b[lane])
    }
    #[inline(always)]
    fn load_words(self, from: &[u64; LANES]) -> Self::Words {
        *from
    }
    #[inline(always)]
    fn and(self, words: Self::Words, mask: u64) -> Self::Words {
        words.map(|word| word & mask)
    }
    #[inline(always)]
    fn shift(self, words: Self::Words, by: u32) -> Self::Words {
        words.map(|word| word >> by)
    }
    #[inline(always)]
    fn nibbles(self, words: Self::Words) -> Self::Nibbles {
        words.map(|word| (word & 15) as u8)
    }
    #[inline(always)]
    fn add_where<const BIT: u32>(
        self,
        sum: Self::Numbers,
        words: Self::Words,
        x: Self::Numbers,
    ) -> Self::Numbers {
        std::array::from_fn(|lane| sum[lane] + if words[lane] >> BIT & 1 == 1 { x[lane] } else { 0.0 })
    }
    #[inline(always)]
    fn table(self, [a, b, c, d]: [f64; 4]) -> Table {
        let (low, high) = ([0.0, a, b, a + b], [0.0, c, d, c + d]);
        Table(std::array::from_fn(|m| low[m % 4] + high[m / 4]))
    }
    #[inline(always)]
    fn look_up(self, table: &Table, nibbles: Self::Nibbles) -> Self::Numbers {
        nibbles.map(|nibble| table.0[usize::from(nibble & 15)])
    }
    #[inline(always)]
    fn pair_sums(self, d: [[f64; 4]; 4]) -> [f64; 16] {
        pair_sums(d)
    }
    #[inline(always)]
    fn pick(self, entries: &[f64; 16], words: Self::Words) -> Self::Numbers {
        words.map(|word| entries[(word & 15) as usize])
    }
}

/// [`Lanes::pair_sums`] in plain Rust.
#[inline(always)]
pub(super) fn pair_sums(d: [[f64; 4]; 4]) -> [f64; 16] {
    let mut sums = [0.0; 16];
    for top in 0..4 {
        for below in 0..1 << top {
            let mut sum = sums[below] + d[top][top];
            for (other, d) in d.iter().enumerate().take(top) {
                if below >> other & 1 == 1 {
                    sum += d[top];
                }
            }
            sums[below | 1 << top] = sum;
        }
    }
    sums
}
