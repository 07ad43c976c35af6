//! The covariance of the observations and its factor, at given hyperparameters.

use std::cell::OnceCell;

use crate::buffers::{Buffer, Buffers};
use crate::kernel::{self, Kernel, WIDTH};
use crate::points::{Packed, Variables};
use crate::similarity::Similarity;

const JITTER: f64 = 1e-8;

/// What the points are, and how to compute with them; whatever the hyperparameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Points<'p> {
    pub(crate) variables: &'p Variables,
    pub(crate) packed: &'p Packed,
    pub(crate) kernel: Kernel,
    pub(crate) buffers: &'p Buffers,
}

/// The covariance of the observations at some hyperparameters, whatever their values are.
#[derive(Debug)]
pub(crate) struct Factored {
    /// log θ of each variable, or of all, then the logarithm of the noise.
    pub(crate) parameters: Vec<f64>,
    pub(crate) similarity: Similarity,
    pub(crate) kernel: Kernel,
    pub(crate) buffers: Buffers,
    /// The upper triangle has K, padded to `size`.
    covariance: Buffer,
    /// The upper triangle has Lᵀ of K = LLᵀ.
    transposed: Buffer,
    /// L⁻¹, once it has been asked for.
    inverse: OnceCell<Buffer>,
    pub(crate) count: usize,
    pub(crate) size: usize,
    /// The variance of the noise as a multiple of the amplitude.
    pub(crate) noise: f64,
}

/// Values explained by a factored covariance.
#[derive(Debug)]
pub(crate) struct Explained {
    /// The mean by generalised least squares.
    pub(crate) mean: f64,
    /// L⁻¹(y − mean)
    whitened: Vec<f64>,
    /// (y − mean)ᵀK⁻¹(y − mean)
    pub(crate) misfit: f64,
}

impl Factored {
    /// The factor at these hyperparameters; `None` where the matrix is not positive definite.
    pub(crate) fn new(points: &Points<'_>, parameters: &[f64]) -> Option<Self> {
        let Points { variables, packed, kernel, buffers, .. } = *points;
        let (log_theta, log_noise) = parameters.split_at(parameters.len() - 1);
        let similarity = Similarity::new(variables, log_theta);
        let noise = libm::exp(log_noise[0]);
        let (count, size) = (packed.len(), kernel::padded(packed.len()));
        let mut covariance = buffers.numbers(size * size);
        for (i, row) in covariance.chunks_exact_mut(size).enumerate() {
            if i < count {
                for first in (i / WIDTH * WIDTH..size).step_by(WIDTH) {
                    let kernels = similarity.with_block(kernel, packed, i, packed, first);
                    row[first..first + WIDTH].copy_from_slice(&kernels);
                }
                row[count..].fill(0.0);
                row[i] = 1.0 + noise + JITTER;
            } else {
                row.fill(0.0);
                row[i] = 1.0;
            }
        }
        let mut transposed = buffers.numbers(size * size);
        transposed.copy_from_slice(&covariance);
        kernel.factor(&mut transposed, size).ok()?;
        let (parameters, inverse, buffers) = (parameters.to_vec(), OnceCell::new(), buffers.clone());
        Some(Self {
            parameters,
            similarity,
            kernel,
            buffers,
            covariance,
            transposed,
            inverse,
            count,
            size,
            noise,
        })
    }

    pub(crate) fn explain(&self, values: &[f64]) -> Explained {
        // The padding has neither a value nor a mean.
        let (mut whitened, mut ones) = (values.to_vec(), vec![1.0; self.count]);
        whitened.resize(self.size, 0.0);
        ones.resize(self.size, 0.0);
        self.solve(&mut whitened);
        self.solve(&mut ones);
        let mean = dot(&ones, &whitened) / dot(&ones, &ones);
        whitened.iter_mut().zip(&ones).for_each(|(whitened, one)| *whitened -= mean * one);
        let misfit = dot(&whitened, &whitened);
        Explained { mean, whitened, misfit }
    }

    /// K⁻¹(y − mean), padded.
    pub(crate) fn weights(&self, explained: Explained) -> Vec<f64> {
        let mut weights = explained.whitened;
        self.solve_transposed(&mut weights);
        weights
    }

    /// K⁻¹b, padded.
    pub(crate) fn solved(&self, mut b: Vec<f64>) -> Vec<f64> {
        b.resize(self.size, 0.0);
        self.solve(&mut b);
        self.solve_transposed(&mut b);
        b
    }

    /// The log likelihood of values with the amplitude integrated out, up to what is the same for all values.
    pub(crate) fn score(&self, values: &[f64]) -> f64 {
        -0.5 * self.degrees() * libm::log(self.explain(values).misfit + 1.0)
    }

    /// The amplitude has an inverse gamma prior of shape and rate ½.
    pub(crate) fn degrees(&self) -> f64 {
        self.count as f64 + 1.0
    }

    /// ½ ln |K|
    pub(crate) fn half_log_determinant(&self) -> f64 {
        (0..self.count).map(|i| libm::log(self.transposed[i * self.size + i])).sum()
    }

    /// L⁻¹, padded.
    pub(crate) fn inverse_factor(&self) -> &[f64] {
        self.inverse.get_or_init(|| {
            let mut inverse = self.buffers.numbers(self.size * self.size);
            self.kernel.invert(&self.transposed, self.size, &mut inverse);
            inverse
        })
    }

    /// The variance of an observation as a multiple of the amplitude, beside that of the process.
    pub(crate) fn nugget(&self) -> f64 {
        self.noise + JITTER
    }

    /// With C = K⁻¹ − saaᵀ: for each variable ½⟨C, ∂K/∂log θ⟩, and the trace of C.
    pub(crate) fn contract(&self, packed: &Packed, a: &[f64], s: f64) -> (Vec<f64>, f64) {
        let Self { kernel, size, count, .. } = *self;
        let mut product = self.buffers.numbers(size * size);
        kernel.gram(self.inverse_factor(), size, &mut product);
        let trace = (0..count).map(|i| product[i * size + i] - s * a[i] * a[i]).sum();
        kernel.multiply_less(&mut product, size, a, s, &self.covariance);
        (self.similarity.slopes(kernel, &product, size, packed), trace)
    }

    /// Solves Lx = b in place.
    fn solve(&self, b: &mut [f64]) {
        for i in 0..self.size {
            let column = &self.transposed[i * self.size + i..(i + 1) * self.size];
            let (x, below) = b[i..].split_first_mut().expect("an entry for each row");
            *x /= column[0];
            let factor = *x;
            below.iter_mut().zip(&column[1..]).for_each(|(b, entry)| *b -= factor * entry);
        }
    }

    /// Solves Lᵀx = b in place.
    fn solve_transposed(&self, b: &mut [f64]) {
        for i in (0..self.size).rev() {
            let row = &self.transposed[i * self.size + i..(i + 1) * self.size];
            let (x, below) = b[i..].split_first_mut().expect("an entry for each row");
            *x = (*x - dot(&row[1..], below)) / row[0];
        }
    }
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
