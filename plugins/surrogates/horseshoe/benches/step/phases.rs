//! What a step spends its time on, one part at a time.

use plugin_api::random::exponential;
use plugin_api::rng;
use surrogate_horseshoe::kernel::Kernel;
use surrogate_horseshoe::kernel::cholesky::stride;
use surrogate_horseshoe::observations::Observations;
use surrogate_horseshoe::products::Products;

use crate::{TURNS, seconds};

/// Shortest seconds of each part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Phases {
    pub(crate) gram: f64,
    pub(crate) cholesky: f64,
    /// Xu.
    pub(crate) times: f64,
    /// Xᵀw.
    pub(crate) transposed_times: f64,
    /// A normal and two exponential numbers for each term.
    pub(crate) random: f64,
}

impl Phases {
    pub(crate) fn of(observations: &Observations, kernel: Kernel) -> Self {
        let design = observations.design();
        let (rows, mut random) = (design.rows(), rng(3));
        let d: Vec<f64> = (0..design.columns()).map(|_| exponential(&mut random)).collect();
        let mut products = Products::new(design, kernel);
        let (mut g, mut inverses) = (vec![0.0; rows * stride(rows)], vec![0.0; rows]);
        let (mut by_rows, mut by_terms) = (vec![0.0; rows], vec![0.0; d.len()]);
        let mut shortest = [f64::INFINITY; 5];
        for _ in 0..TURNS {
            let mut least = |phase: usize, time: f64| shortest[phase] = shortest[phase].min(time);
            least(0, seconds(|| products.gram(design, &d, &mut g)));
            g.iter_mut().step_by(stride(rows) + 1).for_each(|diagonal| *diagonal += 1.0);
            least(1, seconds(|| kernel.cholesky(&mut g, &mut inverses).expect("positive definite")));
            least(2, seconds(|| products.times(design, &d, &mut by_rows)));
            least(3, seconds(|| products.transposed_times(design, &by_rows, &mut by_terms)));
            let draws = || {
                for term in &mut by_terms {
                    *term = plugin_api::random::normal(&mut random)
                        + exponential(&mut random) * exponential(&mut random);
                }
            };
            least(4, seconds(draws));
        }
        let [gram, cholesky, times, transposed_times, random] = shortest;
        Self { gram, cholesky, times, transposed_times, random }
    }
}
