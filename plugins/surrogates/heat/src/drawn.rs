//! The acquisition function: posterior mean and variance at points and at all moves from points.

use std::ops::Range;

use plugin_api::Function;
use plugin_api::ndarray::{ArrayView2, ArrayViewMut2};

use crate::buffers::Buffer;
use crate::improvement::log_expected_excess;
use crate::kernel::{self, Kernel, WIDTH};
use crate::posterior::Posterior;
use crate::similarity::{Packed, Similarity};
use crate::values::{Penalty, Scale};

/// The lowest variance as a part of the amplitude: below it is rounding.
const LEAST_VARIANCE: f64 = 1e-10;

/// Mean and variance of the process anywhere.
pub(crate) struct Predictor {
    similarity: Similarity,
    points: Packed,
    /// K⁻¹(y − mean); 0 for points under way and for the padding.
    weights: Vec<f64>,
    /// L⁻¹, packed.
    inverse_factor: Buffer,
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
        Self { similarity, points: all, weights, inverse_factor, kernel, mean, amplitude }
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
        let mut factors = Vec::new();
        for turned in moves {
            self.similarity.after_move(bits, turned, &self.points, &mut factors);
            columns.push(|p| here[p] * factors[p]);
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
        let explained = kernel.squared_norms(inverse_factor, &self.block);
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

/// What is made of mean and variance, to be minimised.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Merit {
    /// −log of the expected improvement on `best`.
    Improvement {
        /// The lowest value and penalty so far.
        best: f64,
    },
    /// mean − κ · deviation.
    Bound {
        /// κ
        kappa: f64,
    },
}

/// A draw.
pub(crate) struct Drawn {
    pub(crate) predictor: Predictor,
    pub(crate) scale: Scale,
    pub(crate) merit: Merit,
    /// What is added to the values of the model.
    pub(crate) penalty: Penalty,
}

impl Drawn {
    /// The merit of a point with this penalty.
    fn merit(&self, (mean, variance): (f64, f64), penalty: f64) -> f64 {
        let deviation = variance.sqrt();
        match self.merit {
            Merit::Improvement { best } => {
                let z = (self.scale.to(best - penalty) - mean) / deviation;
                -(log_expected_excess(z) + libm::log(deviation) + libm::log(self.scale.unit))
            }
            Merit::Bound { kappa } => self.scale.from(mean - kappa * deviation) + penalty,
        }
    }
}

impl Function for Drawn {
    fn dimension(&self) -> usize {
        self.predictor.similarity.variables().bits()
    }

    fn value(&self, bits: &[bool]) -> f64 {
        let mut value = [0.0];
        let point = ArrayView2::from_shape((1, bits.len()), bits).expect("a row of bits");
        self.values(point, &mut value);
        value[0]
    }

    fn values(&self, points: ArrayView2<'_, bool>, values: &mut [f64]) {
        let points = points.as_standard_layout();
        let predictions = self.predictor.predict(points.view());
        for ((value, prediction), bits) in values.iter_mut().zip(predictions).zip(points.rows()) {
            *value = self.merit(prediction, self.penalty.of(bits.to_slice().expect("rows in order")));
        }
    }

    fn move_gains(
        &self,
        points: ArrayView2<'_, bool>,
        groups: &[Range<usize>],
        mut gains: ArrayViewMut2<'_, f64>,
    ) {
        let n = self.dimension();
        let mut group_of = vec![None; n];
        for group in groups {
            group_of[group.clone()].fill(Some(group));
        }
        let points = points.as_standard_layout();
        let mut columns = Columns::new(&self.predictor, points.nrows() * (n + 1));
        // For each column its row, its bit (none for the point itself), and the penalty there.
        let mut places: Vec<(usize, Option<usize>, f64)> = Vec::new();
        for (row, bits) in points.rows().into_iter().enumerate() {
            let bits = bits.to_slice().expect("rows in order");
            let mut moved = bits.to_vec();
            let mut moves = Vec::with_capacity(n);
            places.push((row, None, self.penalty.of(bits)));
            for i in 0..n {
                let turned = match group_of[i] {
                    None => vec![i],
                    Some(_) if bits[i] => continue,
                    Some(group) => group.clone().filter(|&set| bits[set]).take(1).chain([i]).collect(),
                };
                turned.iter().for_each(|&i| moved[i] = !moved[i]);
                places.push((row, Some(i), self.penalty.of(&moved)));
                turned.iter().for_each(|&i| moved[i] = !moved[i]);
                moves.push(turned);
            }
            self.predictor.after_moves(bits, &moves, &mut columns);
        }
        gains.fill(0.0);
        let mut here = 0.0;
        for ((row, bit, penalty), prediction) in places.into_iter().zip(columns.finish()) {
            let value = self.merit(prediction, penalty);
            match bit {
                None => here = value,
                Some(i) => gains[(row, i)] = value - here,
            }
        }
    }
}
