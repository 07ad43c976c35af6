//! The regression y = Xα + σε that a chain samples: observations, centred as the intercept asks.
//!
//! A point observed m times is one row, its mean value, with noise σ²/m; multiplied by √m it has noise σ² like the
//! rest. What the values of one point differ by tells of σ² alone. This is the same posterior as with m rows.
//! To integrate out an intercept with a flat prior is to take the mean from y and from each column, which costs
//! one degree of freedom. Both together: X = P √M Φ with P the projection that takes out the direction √m.

use shared_linalg::dot;

use crate::design::Design;
use crate::observations::{Observations, Targets};
use crate::products::Products;

/// Observations as a regression without intercept, on the terms of which they say something.
#[derive(Clone, Debug)]
pub struct Regression<'a> {
    design: &'a Design,
    centred: bool,
    /// The terms that vary; the others' coefficients have their prior as posterior, and are left out.
    active: Vec<u32>,
    /// √m of each row.
    pub(crate) roots: Vec<f64>,
    /// √m times the value of each row.
    pub(crate) y: Vec<f64>,
    within: f64,
}

impl<'a> Regression<'a> {
    /// The regression of `targets` on the observed points, `centred` where an intercept is integrated out.
    pub fn new(observations: &'a Observations, targets: &Targets, centred: bool) -> Self {
        let design = observations.design();
        let constant = if centred { design.observations() } else { 0.0 };
        let varies = |&term: &u32| {
            let count = design.counts()[term as usize];
            count != 0.0 && count != constant
        };
        let roots: Vec<f64> = design.multiplicities().iter().map(|m| m.sqrt()).collect();
        Self {
            design,
            centred,
            active: (0..design.columns() as u32).filter(varies).collect(),
            y: targets.points.iter().zip(&roots).map(|(value, root)| value * root).collect(),
            roots,
            within: targets.within,
        }
    }

    /// The values, each times √m.
    pub fn values(&self) -> &[f64] {
        &self.y
    }

    /// The design matrix before weights and centring.
    pub fn design(&self) -> &'a Design {
        self.design
    }

    /// The terms of which the observations say something.
    pub fn active(&self) -> &[u32] {
        &self.active
    }

    /// Whether the mean is taken from each column.
    pub fn centred(&self) -> bool {
        self.centred
    }

    /// What repeated points add to the residual sum of squares, whatever the coefficients.
    pub fn within(&self) -> f64 {
        self.within
    }

    /// How many numbers the noise had freedom to differ in.
    pub fn degrees(&self) -> f64 {
        let observations = self.design.observations();
        if self.centred { (observations - 1.0).max(0.0) } else { observations }
    }

    /// The mean of Φu over all observations.
    pub fn mean(&self, u: &[f64]) -> f64 {
        dot(self.design.counts(), u) / self.design.observations().max(1.0)
    }

    /// Xu.
    pub(crate) fn times(&self, products: &mut Products, u: &[f64], product: &mut [f64]) {
        let mean = if self.centred { self.mean(u) } else { 0.0 };
        products.times(self.design, u, product);
        for (product, root) in product.iter_mut().zip(&self.roots) {
            *product = root * (*product - mean);
        }
    }

    /// Xᵀw, correct for the active terms. What it takes out of `w` on the way is not put back.
    pub(crate) fn transposed_times(&self, products: &mut Products, w: &mut [f64], product: &mut [f64]) {
        w.iter_mut().zip(&self.roots).for_each(|(w, root)| *w *= root);
        products.transposed_times(self.design, w, product);
        if self.centred {
            let share = w.iter().sum::<f64>() / self.design.observations().max(1.0);
            for (product, count) in product.iter_mut().zip(self.design.counts()) {
                *product -= count * share;
            }
        }
    }
}
