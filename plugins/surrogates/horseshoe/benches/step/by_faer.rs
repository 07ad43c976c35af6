//! Coefficients by faer's dense linear algebra, as one writes it who does not exploit that the terms are 0 or 1: the
//! product of the matrix of all terms with itself (its lower triangle), Cholesky factor, triangular solves, products with vectors.

use std::time::Instant;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{BlockStructure, matmul as triangular_matmul};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, Mat, Par, Spec};
use plugin_api::Rng;
use plugin_api::random::normal;
use shared_linalg::NotPositiveDefinite;
use surrogate_horseshoe::coefficients::{Coefficients, Fit};
use surrogate_horseshoe::regression::Regression;

pub(crate) struct ByFaer {
    /// X, centred where the regression is; a column for each active term.
    x: Mat<f64>,
    y: Mat<f64>,
    scaled: Mat<f64>,
    product: Mat<f64>,
    kept: (Mat<f64>, Mat<f64>),
    tried: (Mat<f64>, Mat<f64>),
    u: Mat<f64>,
    rows: Mat<f64>,
    terms: Mat<f64>,
    memory: MemBuffer,
}

impl ByFaer {
    pub(crate) fn new(regression: &Regression<'_>) -> Self {
        let (design, active) = (regression.design(), regression.active());
        let (n, p) = (design.rows(), active.len());
        let means: Vec<f64> = design.counts().iter().map(|count| count / design.observations()).collect();
        let mut x = Mat::zeros(n, p);
        for k in 0..n {
            let (row, root) = (design.row(k), design.multiplicities()[k].sqrt());
            for (j, term) in active.iter().enumerate() {
                let entry = f64::from(u8::from(row.binary_search(term).is_ok()));
                let mean = if regression.centred() { means[*term as usize] } else { 0.0 };
                x[(k, j)] = root * (entry - mean);
            }
        }
        let scratch = cholesky_in_place_scratch::<f64>(n, Par::Seq, Spec::default());
        Self {
            scaled: x.clone(),
            x,
            y: Mat::from_fn(n, 1, |k, _| regression.values()[k]),
            product: Mat::zeros(n, n),
            kept: (Mat::zeros(n, n), Mat::zeros(n, 1)),
            tried: (Mat::zeros(n, n), Mat::zeros(n, 1)),
            u: Mat::zeros(p, 1),
            rows: Mat::zeros(n, 1),
            terms: Mat::zeros(p, 1),
            memory: MemBuffer::new(scratch),
        }
    }
}

impl Coefficients for ByFaer {
    fn prepare(&mut self, regression: &Regression<'_>, d: &[f64]) {
        for (j, &term) in regression.active().iter().enumerate() {
            let root = d[term as usize].sqrt();
            let (to, from) = (self.scaled.col_as_slice_mut(j), self.x.col_as_slice(j));
            to.iter_mut().zip(from).for_each(|(to, from)| *to = root * from);
        }
        triangular_matmul(
            &mut self.product,
            BlockStructure::TriangularLower,
            Accum::Replace,
            &self.scaled,
            BlockStructure::Rectangular,
            self.scaled.transpose(),
            BlockStructure::Rectangular,
            1.0,
            Par::Seq,
        );
    }

    fn try_scale(&mut self, _: &Regression<'_>, c: f64) -> Result<Fit, NotPositiveDefinite> {
        let (factor, half) = &mut self.tried;
        let n = factor.nrows();
        for k in 0..n {
            let (to, from) = (factor.col_as_slice_mut(k), self.product.col_as_slice(k));
            to[k..].iter_mut().zip(&from[k..]).for_each(|(to, from)| *to = c * from);
            to[k] += 1.0;
        }
        let stack = MemStack::new(&mut self.memory);
        cholesky_in_place(factor.as_mut(), Default::default(), Par::Seq, stack, Spec::default())
            .map_err(|_| NotPositiveDefinite { row: 0 })?;
        half.copy_from(&self.y);
        solve_lower_triangular_in_place(factor.as_ref(), half.as_mut(), Par::Seq);
        let log_determinant = 2.0 * (0..n).map(|k| libm::log(factor[(k, k)])).sum::<f64>();
        Ok(Fit { misfit: half.squared_norm_l2(), log_determinant })
    }

    fn keep(&mut self) {
        std::mem::swap(&mut self.kept, &mut self.tried);
    }

    fn draw(&mut self, regression: &Regression<'_>, d: &[f64], sigma: f64, rng: &mut Rng, beta: &mut [f64]) {
        let active = regression.active();
        for (j, &term) in active.iter().enumerate() {
            self.u[(j, 0)] = d[term as usize].sqrt() * normal(rng);
        }
        for k in 0..self.rows.nrows() {
            self.rows[(k, 0)] = -normal(rng);
        }
        matmul(&mut self.rows, Accum::Add, &self.x, &self.u, -1.0, Par::Seq);
        let (factor, half) = &self.kept;
        solve_lower_triangular_in_place(factor.as_ref(), self.rows.as_mut(), Par::Seq);
        for k in 0..self.rows.nrows() {
            self.rows[(k, 0)] += half[(k, 0)] / sigma;
        }
        solve_upper_triangular_in_place(factor.transpose(), self.rows.as_mut(), Par::Seq);
        matmul(&mut self.terms, Accum::Replace, self.x.transpose(), &self.rows, 1.0, Par::Seq);
        beta.fill(0.0);
        for (j, &term) in active.iter().enumerate() {
            beta[term as usize] = self.u[(j, 0)] + d[term as usize] * self.terms[(j, 0)];
        }
    }
}

/// Multiplications with additions each second, in the product of an n × p matrix with a p × n one.
pub(crate) fn product_rate(n: usize, p: usize) -> f64 {
    let (a, b) = (Mat::from_fn(n, p, |i, j| (i + j) as f64), Mat::from_fn(p, n, |i, j| (i * j % 7) as f64));
    let mut c = Mat::zeros(n, n);
    let mut fastest = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        matmul(&mut c, Accum::Replace, &a, &b, 1.0, Par::Seq);
        fastest = fastest.min(start.elapsed().as_secs_f64());
    }
    std::hint::black_box(&c);
    (n * n * p) as f64 / fastest
}
