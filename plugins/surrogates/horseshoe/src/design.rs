//! The design matrix Φ of the regression: a row for each distinct point, a column for each term.
//!
//! It is never written out. Each row keeps what the [kernels](crate::kernel) need: which of its bits the rows after it
//! have too. A new row costs one word for each row before it.

use shared_terms::Terms;

use crate::kernel::lanes::LANES;
use crate::kernel::moments::WORD;
use crate::kernel::sums::{FOUR, Pattern};

/// Rows as bits, with how often each was observed.
#[derive(Clone, Debug)]
pub struct Design {
    terms: Terms,
    rows: Vec<Row>,
    /// The pattern of all bits: which of them each row has.
    all: Row,
    /// For each 64 rows, for each block of eight bits, which of the rows have them.
    columns: Vec<[u64; LANES]>,
    multiplicities: Vec<f64>,
    counts: Vec<f64>,
    observations: f64,
}

/// The bits of a row, and which of them other rows have.
#[derive(Clone, Debug)]
struct Row {
    /// The set bits in ascending order, then the padding bit.
    support: Vec<u32>,
    /// How many of them are bits.
    count: usize,
    /// The block of eight rows in which the others start.
    first_block: usize,
    /// See [`Pattern::words`].
    words: Vec<[u64; LANES]>,
}

impl Row {
    fn new(set: impl Iterator<Item = u32>, padding: u32, first_block: usize) -> Self {
        let mut support: Vec<u32> = set.collect();
        let count = support.len();
        support.resize(count.next_multiple_of(FOUR), padding);
        Self { support, count, first_block, words: Vec::new() }
    }

    /// Notes which of the bits row `k` has.
    fn compare(&mut self, k: usize, bits: &[bool]) {
        let width = self.support.len().div_ceil(WORD);
        let start = (k / LANES - self.first_block) * width;
        if self.words.len() < start + width {
            self.words.resize(start + width, [0; LANES]);
        }
        for (rank, &bit) in self.support[..self.count].iter().enumerate() {
            self.words[start + rank / WORD][k % LANES] |= u64::from(bits[bit as usize]) << (rank % WORD);
        }
    }

    fn pattern(&self) -> Pattern<'_> {
        Pattern { support: &self.support, words: &self.words }
    }
}

impl Design {
    /// A design of these terms, without rows.
    pub fn new(terms: Terms) -> Self {
        let bits = terms.bits();
        Self {
            rows: Vec::new(),
            all: Row::new(0..bits as u32, bits as u32, 0),
            columns: Vec::new(),
            multiplicities: Vec::new(),
            counts: vec![0.0; terms.count()],
            observations: 0.0,
            terms,
        }
    }

    /// Adds a row that has not been observed yet; [`observe`](Self::observe) counts it.
    ///
    /// # Panics
    /// Where `bits` has another length than the terms were made for.
    pub fn push(&mut self, bits: &[bool]) {
        let n = self.terms.bits();
        assert_eq!(bits.len(), n, "a row of another length");
        let (k, blocks) = (self.rows.len(), n.div_ceil(LANES));
        let set = (0..n).filter(|&i| bits[i]);
        self.rows.push(Row::new(set.clone().map(|i| i as u32), n as u32, k / LANES));
        self.rows.iter_mut().for_each(|row| row.compare(k, bits));
        self.all.compare(k, bits);
        if k.is_multiple_of(WORD) {
            self.columns.resize(self.columns.len() + blocks, [0; LANES]);
        }
        let columns = self.columns.len() - blocks;
        set.for_each(|i| self.columns[columns + i / LANES][i % LANES] |= 1 << (k % WORD));
        self.multiplicities.push(0.0);
    }

    /// Counts one observation of row `k`.
    pub fn observe(&mut self, k: usize) {
        self.multiplicities[k] += 1.0;
        self.observations += 1.0;
        for term in self.row(k) {
            self.counts[term as usize] += 1.0;
        }
    }

    /// The terms of the columns.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// How many distinct points there are.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// How many terms there are.
    pub fn columns(&self) -> usize {
        self.counts.len()
    }

    /// The terms that are 1 in row `k`, in ascending order.
    pub fn row(&self, k: usize) -> Vec<u32> {
        let row = &self.rows[k];
        self.terms.of_set(&row.support[..row.count])
    }

    /// How often each row was observed.
    pub fn multiplicities(&self) -> &[f64] {
        &self.multiplicities
    }

    /// In how many observations each term was 1.
    pub fn counts(&self) -> &[f64] {
        &self.counts
    }

    /// How many observations there are, repeated points included.
    pub fn observations(&self) -> f64 {
        self.observations
    }

    /// The bits that the rows have of those of row `k`, from the block of eight rows on that `k` is in.
    pub(crate) fn shared(&self, k: usize) -> Pattern<'_> {
        self.rows[k].pattern()
    }

    /// The bits that the rows have.
    pub(crate) fn all(&self) -> Pattern<'_> {
        self.all.pattern()
    }

    /// For each 64 rows, for each block of eight bits, which of the rows have them.
    pub(crate) fn bit_columns(&self) -> &[[u64; LANES]] {
        &self.columns
    }
}
