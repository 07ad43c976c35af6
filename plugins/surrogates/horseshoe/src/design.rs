//! The design matrix Φ of the regression: a row for each distinct point, a column for each term.

/// Rows as lists of the terms that are 1, with how often each row was observed.
#[derive(Clone, Debug)]
pub struct Design {
    /// All rows' terms, one row after another.
    terms: Vec<u32>,
    /// Where each row ends in `terms`.
    ends: Vec<usize>,
    multiplicities: Vec<f64>,
    counts: Vec<f64>,
    observations: f64,
}

impl Design {
    /// A design of `columns` terms, without rows.
    pub fn new(columns: usize) -> Self {
        Self {
            terms: Vec::new(),
            ends: Vec::new(),
            multiplicities: Vec::new(),
            counts: vec![0.0; columns],
            observations: 0.0,
        }
    }

    /// Adds a row that has not been observed yet; [`observe`](Self::observe) counts it.
    pub fn push(&mut self, terms: &[u32]) {
        self.terms.extend(terms);
        self.ends.push(self.terms.len());
        self.multiplicities.push(0.0);
    }

    /// Counts one observation of row `k`.
    pub fn observe(&mut self, k: usize) {
        self.multiplicities[k] += 1.0;
        self.observations += 1.0;
        for &term in &self.terms[span(&self.ends, k)] {
            self.counts[term as usize] += 1.0;
        }
    }

    /// How many distinct points there are.
    pub fn rows(&self) -> usize {
        self.ends.len()
    }

    /// How many terms there are.
    pub fn columns(&self) -> usize {
        self.counts.len()
    }

    /// The terms that are 1 in row `k`, in ascending order.
    pub fn row(&self, k: usize) -> &[u32] {
        &self.terms[span(&self.ends, k)]
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
}

fn span(ends: &[usize], k: usize) -> std::ops::Range<usize> {
    let start = if k == 0 { 0 } else { ends[k - 1] };
    start..ends[k]
}
