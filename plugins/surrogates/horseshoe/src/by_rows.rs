//! Coefficients of fewer rows than terms: all work is in as many dimensions as there are rows.
//!
//! Bhattacharya, Chakraborty & Mallick (2016), Fast sampling with Gaussian scale mixture priors, algorithm 3.2.

use plugin_api::Rng;
use plugin_api::random::normal;
use shared_linalg::{NotPositiveDefinite, cholesky, dot, solve, solve_transposed};
use shared_terms::sum_at;

use crate::coefficients::{Coefficients, Fit, log_determinant};
use crate::gram::{LANES, gram};
use crate::regression::Regression;

/// Draws coefficients through the factor of X D Xᵀ + I.
#[derive(Clone, Debug)]
pub struct ByRows {
    panel: Vec<f64>,
    /// The upper triangle of X D Xᵀ.
    product: Vec<f64>,
    kept: Factor,
    tried: Factor,
    /// δ ~ N(0, I) of the last draw.
    pub noise: Vec<f64>,
    /// w of the last draw: y/σ − Xβ = δ + w.
    pub weights: Vec<f64>,
    /// One number a row.
    rows: Vec<f64>,
    /// One number a term.
    terms: Vec<f64>,
}

#[derive(Clone, Debug)]
struct Factor {
    /// R with RᵀR = X D Xᵀ + I.
    root: Vec<f64>,
    /// R⁻ᵀy.
    half: Vec<f64>,
}

impl ByRows {
    /// Working memory for a regression.
    pub fn new(regression: &Regression<'_>) -> Self {
        let (rows, columns) = (regression.design().rows(), regression.design().columns());
        let factor = Factor { root: vec![0.0; rows * rows], half: vec![0.0; rows] };
        Self {
            panel: vec![0.0; columns * LANES],
            product: vec![0.0; rows * rows],
            kept: factor.clone(),
            tried: factor,
            noise: vec![0.0; rows],
            weights: vec![0.0; rows],
            rows: vec![0.0; rows],
            terms: vec![0.0; columns],
        }
    }

    /// Finds s such that the centred G has the entries G_kl − s_k − s_l.
    ///
    /// Φ less its column means c/N: (φ_k − c/N)ᵀD(φ_l − c/N) = G_kl − φ_kᵀDc/N − φ_lᵀDc/N + cᵀDc/N².
    fn centre(&mut self, regression: &Regression<'_>, d: &[f64]) {
        if !regression.centred() {
            return self.rows.fill(0.0);
        }
        let design = regression.design();
        for (scaled, (d, count)) in self.terms.iter_mut().zip(d.iter().zip(design.counts())) {
            *scaled = d * count;
        }
        let observations = design.observations().max(1.0);
        let half = 0.5 * dot(&self.terms, design.counts()) / (observations * observations);
        for (k, shift) in self.rows.iter_mut().enumerate() {
            *shift = sum_at(&self.terms, design.row(k)) / observations - half;
        }
    }
}

impl Coefficients for ByRows {
    fn prepare(&mut self, regression: &Regression<'_>, d: &[f64]) {
        gram(regression.design(), d, &mut self.panel, &mut self.product);
        self.centre(regression, d);
        let n = regression.y.len();
        for k in 0..n {
            let (root, shift) = (regression.roots[k], self.rows[k]);
            let others = regression.roots[k..].iter().zip(&self.rows[k..]);
            let row = &mut self.product[k * n + k..(k + 1) * n];
            for (entry, (other_root, other_shift)) in row.iter_mut().zip(others) {
                *entry = root * other_root * (*entry - shift - other_shift);
            }
        }
    }

    fn try_scale(&mut self, regression: &Regression<'_>, c: f64) -> Result<Fit, NotPositiveDefinite> {
        let n = regression.y.len();
        let Factor { root, half } = &mut self.tried;
        for k in 0..n {
            let upper = k * n + k..(k + 1) * n;
            for (entry, product) in root[upper.clone()].iter_mut().zip(&self.product[upper]) {
                *entry = c * product;
            }
            root[k * n + k] += 1.0;
        }
        cholesky(root, n)?;
        half.copy_from_slice(&regression.y);
        solve_transposed(root, half);
        Ok(Fit { misfit: dot(half, half), log_determinant: log_determinant(root, n) })
    }

    fn keep(&mut self) {
        std::mem::swap(&mut self.kept, &mut self.tried);
    }

    fn draw(&mut self, regression: &Regression<'_>, d: &[f64], sigma: f64, rng: &mut Rng, beta: &mut [f64]) {
        // u ~ N(0, D), δ ~ N(0, I), (X D Xᵀ + I)w = y/σ − Xu − δ, β = u + D Xᵀw
        beta.fill(0.0);
        for &term in regression.active() {
            beta[term as usize] = d[term as usize].sqrt() * normal(rng);
        }
        self.noise.fill_with(|| normal(rng));
        regression.times(beta, &mut self.rows);
        for (weight, (product, noise)) in self.weights.iter_mut().zip(self.rows.iter().zip(&self.noise)) {
            *weight = -product - noise;
        }
        solve_transposed(&self.kept.root, &mut self.weights);
        for (weight, half) in self.weights.iter_mut().zip(&self.kept.half) {
            *weight += half / sigma;
        }
        solve(&self.kept.root, &mut self.weights);
        regression.transposed_times(&self.weights, &mut self.terms);
        for &term in regression.active() {
            beta[term as usize] += d[term as usize] * self.terms[term as usize];
        }
    }
}
