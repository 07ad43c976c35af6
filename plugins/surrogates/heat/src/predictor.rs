//! Posterior mean and variance at points, and at all moves from points.

use plugin_api::ndarray::ArrayView2;

use crate::buffers::Buffer;
use crate::covariance::Factored;
use crate::kernel::{self, Kernel, WIDTH};
use crate::points::Packed;
use crate::posterior::Posterior;
use crate::similarity::Similarity;

/// The lowest variance as a part of the amplitude: below it is rounding.
const LEAST_VARIANCE: f64 = 1e-10;

/// Mean and variance of the process anywhere; or the mean alone.
pub(crate) struct Predictor {
    similarity: Similarity,
    points: Packed,
    /// K⁻¹(y − mean); 0 for points under way and for the padding.
    weights: Vec<f64>,
    /// L⁻¹, packed; without it all variances are 0.
    inverse_factor: Option<Buffer>,
    kernel: Kernel,
    mean: f64,
    amplitude: f64,
}

impl Predictor {
    /// The process given `points`, and given that `pending` will be observed at their means: that leaves the mean as it
    /// is everywhere, and takes from the variance what the observations will take.
    pub(crate) fn new(posterior: &Posterior, points: &Packed, pending: ArrayView2<'_, bool>) -> Self {
        let factored = &posterior.factored;
        let similarity = factored.similarity.clone();
        let (old, count) = (points.len(), points.len() + pending.nrows());
        let size = kernel::padded(count);
        let mut all = points.clone();
        all.extend(pending);
        let narrow = factored.inverse_factor();
        let kernel = factored.kernel;
        let mut lower = factored.buffers.numbers(size * size);
        lower.fill(0.0);
        (0..size).for_each(|i| lower[i * size + i] = 1.0);
        for i in 0..old {
            lower[i * size..][..=i].copy_from_slice(&narrow[i * factored.size..][..=i]);
        }
        for i in old..count {
            // A row (l, d) of L makes the row (−lᵀL⁻¹, 1)/d of L⁻¹; l = L⁻¹k.
            let mut k = similarity.with_all(kernel, &all, i, &all);
            k.truncate(i);
            let (done, rest) = lower.split_at_mut(i * size);
            let row = &mut rest[..=i];
            row[i] = 1.0;
            let mut left = 1.0 + factored.nugget();
            for above in done.chunks_exact(size) {
                let l: f64 = above.iter().zip(&k).map(|(a, k)| a * k).sum();
                left -= l * l;
                row.iter_mut().zip(above).take(i).for_each(|(row, above)| *row -= l * above);
            }
            let diagonal = left.max(factored.nugget()).sqrt();
            row.iter_mut().for_each(|entry| *entry /= diagonal);
        }
        let mut weights = posterior.weights[..old].to_vec();
        weights.resize(size, 0.0);
        let mut inverse_factor = factored.buffers.numbers(0);
        kernel::pack(&lower, size, inverse_factor.vector());
        let (mean, amplitude) = (posterior.mean, posterior.amplitude);
        Self {
            similarity,
            points: all,
            weights,
            inverse_factor: Some(inverse_factor),
            kernel,
            mean,
            amplitude,
        }
    }

    /// mean + k(x, X)w with other weights, without a variance.
    pub(crate) fn of_weights(posterior: &Posterior, points: &Packed, mut weights: Vec<f64>) -> Self {
        let Factored { similarity, kernel, size, .. } = &posterior.factored;
        weights.resize(*size, 0.0);
        Self {
            similarity: similarity.clone(),
            points: points.clone(),
            weights,
            inverse_factor: None,
            kernel: *kernel,
            mean: posterior.mean,
            amplitude: 0.0,
        }
    }

    pub(crate) fn bits(&self) -> usize {
        self.similarity.variables().bits()
    }

    /// Mean and variance of each point, and of it after each of its moves: sets of bits that are turned over.
    pub(crate) fn predict_moves(&self, points: &[(&[bool], Vec<Vec<usize>>)]) -> Vec<(f64, f64)> {
        let mut columns = Columns::new(self, points.iter().map(|(_, moves)| moves.len() + 1).sum());
        points.iter().for_each(|(bits, moves)| self.after_moves(bits, moves, &mut columns));
        columns.finish()
    }

    /// Mean and variance at each of `points`.
    pub(crate) fn predict(&self, points: ArrayView2<'_, bool>) -> Vec<(f64, f64)> {
        let mut asked = Packed::new(self.similarity.variables());
        asked.extend(points);
        let mut columns = Columns::new(self, asked.len());
        for first in (0..asked.len()).step_by(WIDTH) {
            let count = (asked.len() - first).min(WIDTH);
            columns.fill(count, |p| self.similarity.with_block(self.kernel, &self.points, p, &asked, first));
        }
        columns.finish()
    }

    /// Mean and variance of one point, and of it with each of these sets of bits turned over.
    fn after_moves(&self, bits: &[bool], moves: &[Vec<usize>], columns: &mut Columns<'_>) {
        let mut one = Packed::new(self.similarity.variables());
        one.push(bits);
        let here = self.similarity.with_all(self.kernel, &one, 0, &self.points);
        columns.push(|p| here[p]);
        for turned in moves {
            let there = self.similarity.after_move(self.kernel, (bits, &here), turned, &self.points);
            columns.push(|p| there[p]);
        }
    }
}

/// Kernels between points asked for and points known, [`WIDTH`] of the former at once.
struct Columns<'p> {
    predictor: &'p Predictor,
    block: Vec<[f64; WIDTH]>,
    filled: usize,
    out: Vec<(f64, f64)>,
}

impl<'p> Columns<'p> {
    fn new(predictor: &'p Predictor, count: usize) -> Self {
        let block = vec![[0.0; WIDTH]; predictor.weights.len()];
        Self { predictor, block, filled: 0, out: Vec::with_capacity(count) }
    }

    fn push(&mut self, kernel: impl Fn(usize) -> f64) {
        for (p, row) in self.block[..self.predictor.points.len()].iter_mut().enumerate() {
            row[self.filled] = kernel(p);
        }
        self.filled += 1;
        if self.filled == WIDTH {
            self.flush();
        }
    }

    /// `count` columns at once, where none stand in the block.
    fn fill(&mut self, count: usize, kernels: impl Fn(usize) -> [f64; WIDTH]) {
        for (p, row) in self.block[..self.predictor.points.len()].iter_mut().enumerate() {
            *row = kernels(p);
        }
        self.filled = count;
        self.flush();
    }

    fn flush(&mut self) {
        let Predictor { weights, inverse_factor, kernel, mean, amplitude, .. } = self.predictor;
        let explained = match inverse_factor {
            Some(inverse_factor) => kernel.squared_norms(inverse_factor, &self.block),
            None => [0.0; WIDTH],
        };
        let mut means = [*mean; WIDTH];
        for (row, weight) in self.block.iter().zip(weights) {
            means.iter_mut().zip(row).for_each(|(mean, k)| *mean += weight * k);
        }
        let variance = |explained: f64| amplitude * (1.0 - explained).max(LEAST_VARIANCE);
        let both = means.into_iter().zip(explained.map(variance));
        self.out.extend(both.take(self.filled));
        self.filled = 0;
    }

    fn finish(mut self) -> Vec<(f64, f64)> {
        if self.filled > 0 {
            self.flush();
        }
        self.out
    }
}
