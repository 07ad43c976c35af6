//! Coefficients given their scales: what the two ways to draw them have in common.

use plugin_api::Rng;
use shared_linalg::{NotPositiveDefinite, dot};

use crate::by_rows::ByRows;
use crate::by_terms::{ByTerms, Moments};
use crate::kernel::Kernel;
use crate::kernel::aligned::Aligned;
use crate::kernel::cholesky::stride;
use crate::observations::Observations;
use crate::regression::Regression;

/// Draws β ~ N(A⁻¹Xᵀy/σ, A⁻¹) for A = XᵀX + D⁻¹.
pub trait Coefficients {
    /// Takes the variances `d` of the prior, one for each term, 0 for terms that are not active.
    fn prepare(&mut self, regression: &Regression<'_>, d: &[f64]);

    /// Factors for the variances c·D, and says how well these explain the data.
    fn try_scale(&mut self, regression: &Regression<'_>, c: f64) -> Result<Fit, NotPositiveDefinite>;

    /// Keeps what was last tried for [`draw`](Self::draw).
    fn keep(&mut self);

    /// Draws β given σ and the variances `d`, which are those kept; 0 for terms that are not active.
    fn draw(&mut self, regression: &Regression<'_>, d: &[f64], sigma: f64, rng: &mut Rng, beta: &mut [f64]);
}

/// How well variances D explain the data: y ~ N(0, σ²(X D Xᵀ + I)).
#[derive(Clone, Copy, Debug)]
pub struct Fit {
    /// yᵀ(X D Xᵀ + I)⁻¹y.
    pub misfit: f64,
    /// log |X D Xᵀ + I|, up to a number that c does not change.
    pub log_determinant: f64,
}

/// The cheaper of the two ways for a regression; `moments` are brought up to date where they are needed.
pub fn choose(
    regression: &Regression<'_>,
    observations: &Observations,
    moments: &mut Moments,
    kernel: Kernel,
) -> Box<dyn Coefficients> {
    if regression.design().rows() < regression.active().len() {
        return Box::new(ByRows::new(regression, kernel));
    }
    moments.update(observations, regression.active());
    Box::new(ByTerms::new(regression, moments, kernel))
}

/// The factor of a matrix, and half of the solution with a right-hand side.
#[derive(Clone, Debug)]
pub(crate) struct Factor {
    /// R with RᵀR the matrix, by padded rows.
    root: Aligned,
    /// 1/r_kk.
    inverses: Vec<f64>,
    /// R⁻ᵀy, padded.
    half: Vec<f64>,
}

impl Factor {
    /// Memory for a matrix of this size.
    pub(crate) fn new(size: usize) -> Self {
        let padded = stride(size);
        Self { root: Aligned::zeros(size * padded), inverses: vec![0.0; size], half: vec![0.0; padded] }
    }

    /// Factors the matrix that `write` writes, given where and the stride of its rows.
    pub(crate) fn factor(
        &mut self,
        kernel: Kernel,
        y: &[f64],
        write: impl FnOnce(&mut [f64], usize),
    ) -> Result<(), NotPositiveDefinite> {
        write(&mut self.root, self.half.len());
        kernel.cholesky(&mut self.root, &mut self.inverses)?;
        self.half.fill(0.0);
        self.half[..y.len()].copy_from_slice(y);
        kernel.solve_transposed(&self.root, &self.inverses, &mut self.half);
        Ok(())
    }

    /// Overwrites b by R⁻¹(R⁻ᵀ(y/σ) + R⁻ᵀb).
    pub(crate) fn solve(&self, kernel: Kernel, sigma: f64, b: &mut [f64]) {
        kernel.solve_transposed(&self.root, &self.inverses, b);
        self.solve_half(kernel, sigma, b);
    }

    /// Overwrites b by R⁻¹(R⁻ᵀ(y/σ) + b).
    pub(crate) fn solve_half(&self, kernel: Kernel, sigma: f64, b: &mut [f64]) {
        b.iter_mut().zip(&self.half).for_each(|(b, half)| *b += half / sigma);
        kernel.solve(&self.root, &self.inverses, b);
    }

    /// |R⁻ᵀy|².
    pub(crate) fn square(&self) -> f64 {
        let half = &self.half[..self.inverses.len()];
        dot(half, half)
    }

    /// 2 Σ log r_kk: the logarithm of the determinant of the matrix.
    pub(crate) fn log_determinant(&self) -> f64 {
        // One logarithm for sixteen factors: none is beyond 1e±10, so their product is a number.
        let products = self.inverses.chunks(16).map(|inverses| inverses.iter().product::<f64>());
        -2.0 * products.map(libm::log).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::random::{exponential, normal};
    use plugin_api::{Layout, rng};

    use super::*;
    use crate::products::Products;

    /// Points of four bits, some repeated; the third bit is always set, the pair of the first two never.
    const POINTS: [&str; 9] = ["1010", "0110", "1010", "0011", "0111", "1011", "0010", "1010", "0110"];
    const SIGMA: f64 = 0.7;

    fn observations() -> Observations {
        let mut observations = Observations::new(&Layout::free(4), 2);
        for (i, point) in POINTS.iter().enumerate() {
            let value = libm::sin(1.0 + i as f64 * i as f64) + i as f64 / 5.0;
            observations.add(&point.parse().unwrap(), value).unwrap();
        }
        observations
    }

    /// Both ways on one regression, with the name of each.
    fn ways(
        regression: &Regression<'_>,
        observations: &Observations,
    ) -> [(&'static str, Box<dyn Coefficients>); 2] {
        let mut moments = Moments::default();
        moments.update(observations, regression.active());
        let kernel = Kernel::fastest();
        [
            ("rows", Box::new(ByRows::new(regression, kernel))),
            ("terms", Box::new(ByTerms::new(regression, &moments, kernel))),
        ]
    }

    fn variances(regression: &Regression<'_>) -> Vec<f64> {
        let (mut rng, mut d) = (rng(2), vec![0.0; regression.design().columns()]);
        for &term in regression.active() {
            let e = exponential(&mut rng);
            d[term as usize] = 20.0 * e * e * e;
        }
        d
    }

    /// One row an observation, one column an active term, the mean taken out where asked; and the values.
    fn plain(observations: &Observations, active: &[u32], centred: bool) -> (Vec<Vec<f64>>, Vec<f64>) {
        let targets = observations.targets();
        let design = observations.design();
        let entry = |row: usize, term: u32| f64::from(u8::from(design.row(row).contains(&term)));
        let total = observations.count() as f64;
        let history = observations.history();
        let mean = |term| history.iter().map(|&(row, _)| entry(row, term)).sum::<f64>() / total;
        let shift: Vec<f64> = active.iter().map(|&term| if centred { mean(term) } else { 0.0 }).collect();
        let row = |&(row, _): &(usize, Option<f64>)| {
            active.iter().zip(&shift).map(|(&term, shift)| entry(row, term) - shift).collect()
        };
        let values = history.iter().filter_map(|(_, value)| *value);
        let y = values.map(|value| (value - targets.mean) / targets.scale).collect();
        (history.iter().map(row).collect(), y)
    }

    /// The inverse and determinant of a small matrix, by Gauss and Jordan.
    fn inverse(mut a: Vec<Vec<f64>>) -> (Vec<Vec<f64>>, f64) {
        let n = a.len();
        let mut determinant = 1.0;
        for (i, row) in a.iter_mut().enumerate() {
            row.extend((0..n).map(|j| f64::from(u8::from(i == j))));
        }
        for k in 0..n {
            let pivot = a[k][k];
            determinant *= pivot;
            a[k].iter_mut().for_each(|x| *x /= pivot);
            let row = a[k].clone();
            for (_, other) in a.iter_mut().enumerate().filter(|(i, _)| *i != k) {
                let factor = other[k];
                other.iter_mut().zip(&row).for_each(|(x, r)| *x -= factor * r);
            }
        }
        (a.into_iter().map(|row| row[n..].to_vec()).collect(), determinant)
    }

    #[test]
    fn both_ways_draw_from_the_same_normal_distribution() {
        let observations = observations();
        for centred in [false, true] {
            let regression = Regression::new(&observations, &observations.targets(), centred);
            let active = regression.active();
            // Of ten terms, one was never set, and one always.
            assert_eq!(active.len(), if centred { 8 } else { 9 });
            let d = variances(&regression);
            let (x, y) = plain(&observations, active, centred);
            let p = active.len();
            let mut a = vec![vec![0.0; p]; p];
            for (i, &term) in active.iter().enumerate() {
                for j in 0..p {
                    a[i][j] = x.iter().map(|row| row[i] * row[j]).sum();
                }
                a[i][i] += 1.0 / d[term as usize];
            }
            let (covariance, _) = inverse(a);
            let product = |i: usize| x.iter().zip(&y).map(|(row, y)| row[i] * y).sum::<f64>();
            let mean: Vec<f64> =
                (0..p).map(|i| (0..p).map(|j| covariance[i][j] * product(j) / SIGMA).sum()).collect();

            for (name, mut way) in ways(&regression, &observations) {
                way.prepare(&regression, &d);
                way.try_scale(&regression, 1.0).unwrap();
                way.keep();
                let draws = 40_000;
                let (mut rng, mut beta) = (rng(8), vec![0.0; d.len()]);
                let (mut sums, mut products) = (vec![0.0; p], vec![vec![0.0; p]; p]);
                for _ in 0..draws {
                    way.draw(&regression, &d, SIGMA, &mut rng, &mut beta);
                    let apart: Vec<f64> = (0..p).map(|i| beta[active[i] as usize] - mean[i]).collect();
                    for i in 0..p {
                        sums[i] += apart[i];
                        (0..p).for_each(|j| products[i][j] += apart[i] * apart[j]);
                    }
                    assert!((0..d.len()).all(|term| active.contains(&(term as u32)) || beta[term] == 0.0));
                }
                let draws = f64::from(draws);
                for i in 0..p {
                    let z = sums[i] / (covariance[i][i] * draws).sqrt();
                    assert!(z.abs() < 4.0, "by {name}: the mean of {i} is {z} standard errors away");
                    for j in 0..p {
                        let c = covariance[i][j];
                        let error = ((covariance[i][i] * covariance[j][j] + c * c) / draws).sqrt();
                        let z = (products[i][j] / draws - c) / error;
                        assert!(
                            z.abs() < 4.5,
                            "by {name}: covariance ({i}, {j}) is {z} standard errors away"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn both_ways_agree_how_well_variances_explain_the_data() {
        let observations = observations();
        for centred in [false, true] {
            let regression = Regression::new(&observations, &observations.targets(), centred);
            let d = variances(&regression);
            let (x, y) = plain(&observations, regression.active(), centred);
            let n = y.len();
            // The density of all nine values, repeated ones apart: yᵀM⁻¹y and |M| with M = c X D Xᵀ + I.
            let direct = |c: f64| {
                let entry = |k: usize, l: usize| {
                    let d = regression.active().iter().map(|&term| c * d[term as usize]);
                    let sum: f64 = d.enumerate().map(|(i, d)| d * x[k][i] * x[l][i]).sum();
                    sum + f64::from(u8::from(k == l))
                };
                let (inverse, determinant) =
                    inverse((0..n).map(|k| (0..n).map(|l| entry(k, l)).collect()).collect());
                let misfit =
                    (0..n).map(|k| (0..n).map(|l| y[k] * inverse[k][l] * y[l]).sum::<f64>()).sum::<f64>();
                (misfit, libm::log(determinant))
            };
            for (name, mut way) in ways(&regression, &observations) {
                way.prepare(&regression, &d);
                let one = way.try_scale(&regression, 1.0).unwrap();
                let three = way.try_scale(&regression, 3.0).unwrap();
                for (c, fit) in [(1.0, one), (3.0, three)] {
                    let misfit = fit.misfit + regression.within();
                    assert!((misfit - direct(c).0).abs() < 1e-9, "by {name}, c = {c}: {misfit}");
                }
                let change = three.log_determinant - one.log_determinant;
                assert!((change - direct(3.0).1 + direct(1.0).1).abs() < 1e-9, "by {name}: {change}");
            }
        }
    }

    #[test]
    fn the_residual_by_rows_is_noise_plus_weights() {
        let observations = observations();
        for centred in [false, true] {
            let regression = Regression::new(&observations, &observations.targets(), centred);
            let d = variances(&regression);
            let mut by_rows = ByRows::new(&regression, Kernel::fastest());
            by_rows.prepare(&regression, &d);
            by_rows.try_scale(&regression, 1.0).unwrap();
            by_rows.keep();
            let mut beta: Vec<f64> = (0..d.len()).map(|_| normal(&mut rng(1))).collect();
            by_rows.draw(&regression, &d, SIGMA, &mut rng(3), &mut beta);
            let mut fitted = vec![0.0; regression.design().rows()];
            let mut products = Products::new(regression.design(), Kernel::fastest());
            regression.times(&mut products, &beta, &mut fitted);
            for (k, fitted) in fitted.iter().enumerate() {
                // y − Xα = σ(δ + w), with α = σβ
                let residual = regression.y[k] - SIGMA * fitted;
                let expected = SIGMA * (by_rows.noise[k] + by_rows.weights[k]);
                assert!((residual - expected).abs() < 1e-10, "row {k}: {residual} for {expected}");
            }
        }
    }
}
