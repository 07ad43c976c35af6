//! Coefficients of at least as many rows as terms: all work is in as many dimensions as there are active terms.

use plugin_api::Rng;
use plugin_api::random::normal;
use shared_linalg::{NotPositiveDefinite, dot};

use crate::coefficients::{Coefficients, Factor, Fit};
use crate::kernel::Kernel;
use crate::kernel::cholesky::stride;
use crate::observations::Observations;
use crate::products::Products;
use crate::regression::Regression;

/// ΦᵀMΦ of the active terms: in how many observations each two of them were both 1.
///
/// Kept between draws, so that an observation costs its own terms only.
#[derive(Clone, Debug, Default)]
pub struct Moments {
    active: Vec<u32>,
    seen: usize,
    counts: Vec<f64>,
}

impl Moments {
    /// Takes in the observations since the last time; all of them where other terms are active now.
    pub fn update(&mut self, observations: &Observations, active: &[u32]) {
        if self.active != active {
            *self = Self { active: active.to_vec(), seen: 0, counts: vec![0.0; active.len() * active.len()] };
        }
        let size = active.len();
        for &(row, _) in &observations.history()[self.seen..] {
            let terms = observations.design().row(row);
            let ranks: Vec<usize> = terms.iter().filter_map(|term| active.binary_search(term).ok()).collect();
            for (position, &i) in ranks.iter().enumerate() {
                ranks[position..].iter().for_each(|&j| self.counts[i * size + j] += 1.0);
            }
        }
        self.seen = observations.count();
    }
}

/// Draws coefficients through the factor of A = XᵀX + D⁻¹.
#[derive(Clone, Debug)]
pub struct ByTerms {
    kernel: Kernel,
    /// The upper triangle of XᵀX of the active terms, by padded rows.
    moments: Vec<f64>,
    /// Xᵀy of the active terms.
    products: Vec<f64>,
    /// yᵀy.
    square: f64,
    /// 1/d of the active terms.
    precisions: Vec<f64>,
    kept: Factor,
    tried: Factor,
    /// Padded.
    drawn: Vec<f64>,
}

impl ByTerms {
    /// Working memory for a regression, whose moments are up to date.
    pub fn new(regression: &Regression<'_>, moments: &Moments, kernel: Kernel) -> Self {
        let active = regression.active();
        let (size, counts) = (active.len(), regression.design().counts());
        let padded = stride(size);
        let observations = regression.design().observations().max(1.0);
        let mut centred = vec![0.0; size * padded];
        for (i, &one) in active.iter().enumerate() {
            for (j, &other) in active.iter().enumerate().skip(i) {
                let mean = counts[one as usize] * counts[other as usize] / observations;
                let shift = if regression.centred() { mean } else { 0.0 };
                centred[i * padded + j] = moments.counts[i * size + j] - shift;
            }
        }
        let mut products = vec![0.0; counts.len()];
        let mut working = Products::new(regression.design(), kernel);
        regression.transposed_times(&mut working, &mut regression.y.clone(), &mut products);
        Self {
            kernel,
            products: active.iter().map(|&term| products[term as usize]).collect(),
            square: dot(&regression.y, &regression.y),
            moments: centred,
            precisions: vec![0.0; size],
            kept: Factor::new(size),
            tried: Factor::new(size),
            drawn: vec![0.0; padded],
        }
    }
}

impl Coefficients for ByTerms {
    fn prepare(&mut self, regression: &Regression<'_>, d: &[f64]) {
        for (precision, &term) in self.precisions.iter_mut().zip(regression.active()) {
            *precision = 1.0 / d[term as usize];
        }
    }

    fn try_scale(&mut self, _: &Regression<'_>, c: f64) -> Result<Fit, NotPositiveDefinite> {
        self.tried.factor(self.kernel, &self.products, |root, padded| {
            root.copy_from_slice(&self.moments);
            for (diagonal, precision) in root.iter_mut().step_by(padded + 1).zip(&self.precisions) {
                *diagonal += precision / c;
            }
        })?;
        Ok(Fit {
            // yᵀ(X D Xᵀ + I)⁻¹y = yᵀy − yᵀX A⁻¹Xᵀy and |X D Xᵀ + I| = |A| |D|
            misfit: (self.square - self.tried.square()).max(0.0),
            log_determinant: self.tried.log_determinant() + self.precisions.len() as f64 * libm::log(c),
        })
    }

    fn keep(&mut self) {
        std::mem::swap(&mut self.kept, &mut self.tried);
    }

    fn draw(&mut self, regression: &Regression<'_>, _: &[f64], sigma: f64, rng: &mut Rng, beta: &mut [f64]) {
        let size = self.precisions.len();
        self.drawn[..size].fill_with(|| normal(rng));
        self.kept.solve_half(self.kernel, sigma, &mut self.drawn);
        beta.fill(0.0);
        for (&term, &drawn) in regression.active().iter().zip(&self.drawn) {
            beta[term as usize] = drawn;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::Layout;

    #[test]
    fn moments_taken_in_one_by_one_are_those_taken_in_at_once() {
        let mut observations = Observations::new(&Layout::free(3), 2);
        let mut moments = Moments::default();
        for (i, point) in ["110", "011", "110", "101", "111", "000"].iter().enumerate() {
            observations.add(&point.parse().unwrap(), i as f64).unwrap();
            // Other terms become active on the way.
            let active: Vec<u32> =
                (0..6).filter(|&term| observations.design().counts()[term as usize] > 0.0).collect();
            moments.update(&observations, &active);
        }
        let mut at_once = Moments::default();
        at_once.update(&observations, &[0, 1, 2, 3, 4, 5]);
        assert_eq!(moments.counts, at_once.counts);
        // The first two bits are both set in three observations.
        assert_eq!((moments.counts[1], moments.counts[3]), (3.0, 3.0));
    }
}
