//! Coefficients of fewer rows than terms: all work is in as many dimensions as there are rows.
//!
//! Bhattacharya, Chakraborty & Mallick (2016), Fast sampling with Gaussian scale mixture priors, algorithm 3.2.

use plugin_api::Rng;
use plugin_api::random::normal;
use shared_linalg::{NotPositiveDefinite, dot};

use crate::coefficients::{Coefficients, Factor, Fit};
use crate::kernel::Kernel;
use crate::kernel::aligned::Aligned;
use crate::kernel::cholesky::stride;
use crate::products::Products;
use crate::regression::Regression;

/// Draws coefficients through the factor of X D Xᵀ + I.
#[derive(Clone, Debug)]
pub struct ByRows {
    kernel: Kernel,
    products: Products,
    /// The upper triangle of Φ D Φᵀ, by padded rows.
    product: Aligned,
    /// s of each row, padded: what [`centre`](Self::centre) finds.
    shifts: Vec<f64>,
    kept: Factor,
    tried: Factor,
    /// δ ~ N(0, I) of the last draw.
    pub noise: Vec<f64>,
    /// w of the last draw: y/σ − Xβ = δ + w.
    pub weights: Vec<f64>,
    /// One number a row, padded.
    rows: Vec<f64>,
    /// √m of each row, padded.
    roots: Vec<f64>,
    /// One number a term.
    terms: Vec<f64>,
}

impl ByRows {
    /// Working memory for a regression.
    pub fn new(regression: &Regression<'_>, kernel: Kernel) -> Self {
        let (rows, columns) = (regression.design().rows(), regression.design().columns());
        let padded = stride(rows);
        let mut roots = regression.roots.clone();
        roots.resize(padded, 0.0);
        Self {
            kernel,
            products: Products::new(regression.design(), kernel),
            product: Aligned::zeros(rows * padded),
            shifts: vec![0.0; padded],
            kept: Factor::new(rows),
            tried: Factor::new(rows),
            noise: vec![0.0; rows],
            weights: vec![0.0; rows],
            rows: vec![0.0; padded],
            roots,
            terms: vec![0.0; columns],
        }
    }

    /// Finds s such that the centred G = Φ D Φᵀ has the entries G_kl − s_k − s_l.
    ///
    /// Φ less its column means c/N: (φ_k − c/N)ᵀD(φ_l − c/N) = G_kl − φ_kᵀDc/N − φ_lᵀDc/N + cᵀDc/N².
    fn centre(&mut self, regression: &Regression<'_>, d: &[f64]) {
        if !regression.centred() {
            return self.shifts.fill(0.0);
        }
        let design = regression.design();
        for (scaled, (d, count)) in self.terms.iter_mut().zip(d.iter().zip(design.counts())) {
            *scaled = d * count;
        }
        let observations = design.observations().max(1.0);
        let half = 0.5 * dot(&self.terms, design.counts()) / (observations * observations);
        let shifts = &mut self.shifts[..design.rows()];
        self.products.times(design, &self.terms, shifts);
        for shift in shifts {
            *shift = *shift / observations - half;
        }
    }
}

impl Coefficients for ByRows {
    fn prepare(&mut self, regression: &Regression<'_>, d: &[f64]) {
        self.centre(regression, d);
        self.products.gram(regression.design(), d, &mut self.product);
    }

    fn try_scale(&mut self, regression: &Regression<'_>, c: f64) -> Result<Fit, NotPositiveDefinite> {
        self.tried.factor(self.kernel, &regression.y, |root, _| {
            self.kernel.centre_and_scale(&self.product, &self.roots, &self.shifts, c, root);
        })?;
        Ok(Fit { misfit: self.tried.square(), log_determinant: self.tried.log_determinant() })
    }

    fn keep(&mut self) {
        std::mem::swap(&mut self.kept, &mut self.tried);
    }

    fn draw(&mut self, regression: &Regression<'_>, d: &[f64], sigma: f64, rng: &mut Rng, beta: &mut [f64]) {
        // u ~ N(0, D), δ ~ N(0, I), (X D Xᵀ + I)w = y/σ − Xu − δ, β = u + D Xᵀw
        let rows = self.noise.len();
        beta.fill(0.0);
        for &term in regression.active() {
            beta[term as usize] = normal(rng);
        }
        beta.iter_mut().zip(d).for_each(|(beta, d)| *beta *= d.sqrt());
        self.noise.fill_with(|| normal(rng));
        regression.times(&mut self.products, beta, &mut self.rows[..rows]);
        for (weight, noise) in self.rows.iter_mut().zip(&self.noise) {
            *weight = -*weight - noise;
        }
        self.kept.solve(self.kernel, sigma, &mut self.rows);
        self.weights.copy_from_slice(&self.rows[..rows]);
        regression.transposed_times(&mut self.products, &mut self.rows[..rows], &mut self.terms);
        // d is 0 where a term is not active.
        for (beta, (d, product)) in beta.iter_mut().zip(d.iter().zip(&self.terms)) {
            *beta += d * product;
        }
    }
}
