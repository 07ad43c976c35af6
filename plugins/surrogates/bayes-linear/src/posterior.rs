//! The posterior of a linear model with a conjugate prior, kept up to date from observation to observation.
//!
//! y = α₀ + Φα + σε, α ~ N(0, σ²v I), σ² ~ IG(a, b), α₀ with a flat prior. With M = I + vΦΦᵀ, which has as many rows
//! as there are observations and whose factor L grows with them:
//!
//! - σ² ~ IG(a + (N−1)/2, b + S/2), S = ‖L⁻¹y − m L⁻¹1‖² with m = 1ᵀM⁻¹y / 1ᵀM⁻¹1;
//! - α₀ | σ² ~ N(m, σ²/1ᵀM⁻¹1);
//! - α | α₀, σ² by Bhattacharya, Chakraborty & Mallick (2016): u ~ N(0, v I), δ ~ N(0, I),
//!   Mw = (y − α₀)/σ − Φu − δ, α = σ(u + vΦᵀw).
//!
//! A sum i·α₀ + φᵀα, which is a value where i = 1 and a coefficient where i = 0 and φ has one entry, is distributed as
//! Student's t, with k = vΦφ:
//!
//! - its mean is im + kᵀM⁻¹(y − m1);
//! - its variance is E[σ²] (vφᵀφ − kᵀM⁻¹k + (i − 1ᵀM⁻¹k)²/1ᵀM⁻¹1), E[σ²] that of the inverse gamma distribution.

use plugin_api::Rng;
use plugin_api::random::{gamma, normal};
use shared_linalg::{GrowingFactor, NotPositiveDefinite, dot};
use shared_terms::{add_at, sum_at};

/// The prior: v, a and b.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prior {
    pub(crate) variance: f64,
    pub(crate) shape: f64,
    pub(crate) rate: f64,
}

/// The observations so far.
#[derive(Clone, Debug)]
pub(crate) struct Posterior {
    prior: Prior,
    columns: usize,
    /// The terms that are 1 in each row of Φ.
    rows: Vec<Vec<u32>>,
    factor: GrowingFactor,
    /// L⁻¹1.
    ones: Vec<f64>,
    /// L⁻¹(y − first value): a flat prior of α₀ makes the shift exact, and small numbers keep their digits.
    half: Vec<f64>,
    first: f64,
}

/// Parameters drawn from the posterior.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) intercept: f64,
    pub(crate) alpha: Vec<f64>,
}

/// What is known of σ² and α₀: σ² ~ IG(shape, rate), α₀ | σ² ~ N(mean, σ²/weight).
struct Fit {
    weight: f64,
    mean: f64,
    shape: f64,
    rate: f64,
}

impl Posterior {
    /// Without observations.
    pub(crate) fn new(prior: Prior, columns: usize) -> Self {
        let factor = GrowingFactor::new();
        Self { prior, columns, rows: Vec::new(), factor, ones: Vec::new(), half: Vec::new(), first: 0.0 }
    }

    /// Adds an observation: the terms that are 1, and the value.
    pub(crate) fn observe(&mut self, terms: Vec<u32>, value: f64) -> Result<(), NotPositiveDefinite> {
        let mut row: Vec<f64> =
            self.rows.iter().map(|other| self.prior.variance * shared(other, &terms)).collect();
        row.push(1.0 + self.prior.variance * terms.len() as f64);
        self.factor.push(&row)?;
        if self.rows.is_empty() {
            self.first = value;
        }
        self.rows.push(terms);
        self.ones.push(self.factor.solve_last(&self.ones, 1.0));
        self.half.push(self.factor.solve_last(&self.half, value - self.first));
        Ok(())
    }

    /// Draws the parameters; without observations α₀ is 0.
    pub(crate) fn sample(&self, rng: &mut Rng) -> Sample {
        self.sample_by(&self.half, self.first, rng)
    }

    /// Draws the parameters as if these had been the values observed.
    pub(crate) fn sample_for(&self, values: &[f64], rng: &mut Rng) -> Sample {
        self.sample_by(&self.halved(values), 0.0, rng)
    }

    /// The same for values far from 0, of which only the differences to the first have to be small.
    pub(crate) fn sample_of(&self, values: &[f64], rng: &mut Rng) -> Sample {
        let (half, first) = self.halved_from_first(values);
        self.sample_by(&half, first, rng)
    }

    /// The log likelihood of other values of the same points, up to a constant.
    pub(crate) fn score(&self, values: &[f64]) -> f64 {
        let fit = self.fit(&self.halved(values));
        -fit.shape * libm::log(fit.rate)
    }

    /// L⁻¹y.
    fn halved(&self, values: &[f64]) -> Vec<f64> {
        let mut half = values.to_vec();
        self.factor.solve(&mut half);
        half
    }

    /// L⁻¹(y − first value), and that value.
    fn halved_from_first(&self, values: &[f64]) -> (Vec<f64>, f64) {
        let first = values.first().copied().unwrap_or(0.0);
        let apart: Vec<f64> = values.iter().map(|value| value - first).collect();
        (self.halved(&apart), first)
    }

    fn fit(&self, half: &[f64]) -> Fit {
        let Prior { shape, rate, .. } = self.prior;
        let weight = dot(&self.ones, &self.ones);
        let mean = if weight > 0.0 { dot(&self.ones, half) / weight } else { 0.0 };
        let misfit: f64 =
            half.iter().zip(&self.ones).map(|(half, one)| half - mean * one).map(|r| r * r).sum();
        let degrees = self.rows.len().saturating_sub(1) as f64;
        Fit { weight, mean, shape: shape + 0.5 * degrees, rate: rate + 0.5 * misfit }
    }

    /// What can be said about the mean and the deviation of sums of parameters; `None` without observations, and while σ²
    /// has no mean.
    pub(crate) fn moments(&self) -> Option<Moments<'_>> {
        self.moments_by(&self.half, self.first)
    }

    /// The same as if these had been the values observed.
    pub(crate) fn moments_for(&self, values: &[f64]) -> Option<Moments<'_>> {
        self.moments_by(&self.halved(values), 0.0)
    }

    /// The same for values far from 0.
    pub(crate) fn moments_of(&self, values: &[f64]) -> Option<Moments<'_>> {
        let (half, first) = self.halved_from_first(values);
        self.moments_by(&half, first)
    }

    fn moments_by(&self, half: &[f64], first: f64) -> Option<Moments<'_>> {
        let fit = self.fit(half);
        if self.rows.is_empty() || fit.shape <= 1.0 {
            return None;
        }
        let mut misfit: Vec<f64> =
            half.iter().zip(&self.ones).map(|(half, one)| half - fit.mean * one).collect();
        self.factor.solve_transposed(&mut misfit);
        let sigma2 = fit.rate / (fit.shape - 1.0);
        Some(Moments { posterior: self, misfit, weight: fit.weight, mean: first + fit.mean, sigma2 })
    }

    fn sample_by(&self, half: &[f64], first: f64, rng: &mut Rng) -> Sample {
        let variance = self.prior.variance;
        let Fit { weight, mean, shape, rate } = self.fit(half);
        let sigma = (rate / gamma(rng, shape)).sqrt();
        let intercept = if weight > 0.0 { mean + sigma / weight.sqrt() * normal(rng) } else { 0.0 };

        let root = variance.sqrt();
        let mut beta: Vec<f64> = (0..self.columns).map(|_| root * normal(rng)).collect();
        let mut w: Vec<f64> = self.rows.iter().map(|row| -sum_at(&beta, row) - normal(rng)).collect();
        self.factor.solve(&mut w);
        for (w, (half, one)) in w.iter_mut().zip(half.iter().zip(&self.ones)) {
            *w += (half - intercept * one) / sigma;
        }
        self.factor.solve_transposed(&mut w);
        for (row, w) in self.rows.iter().zip(&w) {
            add_at(&mut beta, row, variance * w);
        }
        beta.iter_mut().for_each(|beta| *beta *= sigma);
        Sample { intercept: first + intercept, alpha: beta }
    }
}

/// Means and deviations of sums of parameters.
pub(crate) struct Moments<'p> {
    posterior: &'p Posterior,
    /// M⁻¹(y − m1).
    misfit: Vec<f64>,
    /// 1ᵀM⁻¹1.
    weight: f64,
    /// m
    mean: f64,
    /// E[σ²].
    sigma2: f64,
}

impl Moments<'_> {
    /// Mean and deviation of a value that would be observed where these terms are 1.
    pub(crate) fn value(&self, terms: &[u32]) -> (f64, f64) {
        let variance = self.posterior.prior.variance;
        let covariances = self.posterior.rows.iter().map(|row| variance * shared(row, terms)).collect();
        let (mean, part) = self.sum(1.0, variance * terms.len() as f64, covariances);
        (self.mean + mean, (self.sigma2 * (1.0 + part)).sqrt())
    }

    /// Mean and deviation of the coefficient of a term.
    pub(crate) fn coefficient(&self, term: u32) -> (f64, f64) {
        let variance = self.posterior.prior.variance;
        let covariance = |row: &Vec<u32>| if row.binary_search(&term).is_ok() { variance } else { 0.0 };
        let (mean, part) = self.sum(0.0, variance, self.posterior.rows.iter().map(covariance).collect());
        (mean, (self.sigma2 * part).sqrt())
    }

    /// For i = `intercept`, vφᵀφ = `own` and k: the mean without im, and the variance as a part of E[σ²].
    fn sum(&self, intercept: f64, own: f64, mut covariances: Vec<f64>) -> (f64, f64) {
        let mean = dot(&covariances, &self.misfit);
        self.posterior.factor.solve(&mut covariances);
        let left = intercept - dot(&self.posterior.ones, &covariances);
        // Rounding could leave less than nothing of what is known exactly.
        let known = own - dot(&covariances, &covariances);
        (mean, known.max(0.0) + left * left / self.weight)
    }
}

/// How many terms two ascending lists have in common.
fn shared(one: &[u32], other: &[u32]) -> f64 {
    let (mut i, mut j, mut count) = (0, 0, 0u32);
    while i < one.len() && j < other.len() {
        let (a, b) = (one[i], other[j]);
        count += u32::from(a == b);
        i += usize::from(a <= b);
        j += usize::from(b <= a);
    }
    f64::from(count)
}

#[cfg(test)]
mod tests {
    use plugin_api::rng;

    use super::*;

    const PRIOR: Prior = Prior { variance: 0.6, shape: 5.0, rate: 3.0 };
    const COLUMNS: usize = 4;
    const DRAWS: usize = 60_000;

    /// Terms that are 1, and values; one row twice.
    fn observations() -> Vec<(Vec<u32>, f64)> {
        vec![
            (vec![0, 2], 11.0),
            (vec![1], 9.0),
            (vec![0, 1, 3], 13.5),
            (vec![], 10.0),
            (vec![0, 2], 12.5),
            (vec![2, 3], 8.0),
            (vec![0, 1, 2, 3], 14.0),
        ]
    }

    /// Mean and covariance of (α₀, α) from the normal equations: precision XᵀX + diag(0, 1/v, …) times 1/σ².
    fn closed(observations: &[(Vec<u32>, f64)]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let p = COLUMNS + 1;
        let row = |terms: &[u32]| -> Vec<f64> {
            (0..p).map(|k| f64::from(u8::from(k == 0 || terms.contains(&(k as u32 - 1))))).collect()
        };
        let x: Vec<Vec<f64>> = observations.iter().map(|(terms, _)| row(terms)).collect();
        let mut a = vec![vec![0.0; 2 * p]; p];
        for i in 0..p {
            for j in 0..p {
                a[i][j] = x.iter().map(|row| row[i] * row[j]).sum();
            }
            a[i][i] += if i == 0 { 0.0 } else { 1.0 / PRIOR.variance };
            a[i][p + i] = 1.0;
        }
        for k in 0..p {
            let pivot = a[k][k];
            a[k].iter_mut().for_each(|entry| *entry /= pivot);
            let row = a[k].clone();
            for (_, other) in a.iter_mut().enumerate().filter(|(i, _)| *i != k) {
                let factor = other[k];
                other.iter_mut().zip(&row).for_each(|(entry, r)| *entry -= factor * r);
            }
        }
        let y: Vec<f64> = observations.iter().map(|(_, value)| *value).collect();
        let product = |i: usize| x.iter().zip(&y).map(|(row, y)| row[i] * y).sum::<f64>();
        let mean: Vec<f64> = (0..p).map(|i| (0..p).map(|j| a[i][p + j] * product(j)).sum()).collect();
        let explained: f64 = (0..p).map(|i| mean[i] * product(i)).sum();
        let misfit = y.iter().map(|y| y * y).sum::<f64>() - explained;
        let shape = PRIOR.shape + 0.5 * (y.len() as f64 - 1.0);
        let sigma2 = (PRIOR.rate + 0.5 * misfit) / (shape - 1.0);
        let covariance = a.iter().map(|row| row[p..].iter().map(|entry| sigma2 * entry).collect()).collect();
        (mean, covariance)
    }

    #[test]
    fn draws_have_the_mean_and_covariance_of_the_closed_form() {
        // Fewer rows than coefficients, and more.
        for count in [3, 7] {
            let observations = &observations()[..count];
            let mut posterior = Posterior::new(PRIOR, COLUMNS);
            for (terms, value) in observations {
                posterior.observe(terms.clone(), *value).unwrap();
            }
            let (mean, covariance) = closed(observations);
            let mut rng = rng(3);
            let draws: Vec<Vec<f64>> = (0..DRAWS)
                .map(|_| {
                    let Sample { intercept, alpha } = posterior.sample(&mut rng);
                    let all = std::iter::once(intercept).chain(alpha);
                    all.zip(&mean).map(|(drawn, mean)| drawn - mean).collect()
                })
                .collect();
            // Each is a mean over independent draws, with an error of their spread / √draws.
            let score = |values: &dyn Fn(&Vec<f64>) -> f64, expected: f64| {
                let n = DRAWS as f64;
                let mean = draws.iter().map(values).sum::<f64>() / n;
                let square =
                    draws.iter().map(|draw| (values(draw) - mean) * (values(draw) - mean)).sum::<f64>();
                (mean - expected) / (square.sqrt() / n)
            };
            for i in 0..=COLUMNS {
                let z = score(&|draw| draw[i], 0.0);
                assert!(z.abs() < 4.0, "{count} rows: the mean of {i} is {z} standard errors away");
                for j in 0..=i {
                    let z = score(&|draw| draw[i] * draw[j], covariance[i][j]);
                    assert!(z.abs() < 4.5, "{count} rows: covariance ({i}, {j}) is {z} standard errors away");
                }
            }
        }
    }

    #[test]
    fn means_and_deviations_are_those_of_the_normal_equations() {
        // Fewer rows than coefficients, and more.
        for count in [1, 3, 7] {
            let observations = &observations()[..count];
            let mut posterior = Posterior::new(PRIOR, COLUMNS);
            for (terms, value) in observations {
                posterior.observe(terms.clone(), *value).unwrap();
            }
            let (mean, covariance) = closed(observations);
            let sigma2 = {
                // The noise: what the closed form has for a row beyond that of its parameters.
                let shape = PRIOR.shape + 0.5 * (count as f64 - 1.0);
                posterior.fit(&posterior.half).rate / (shape - 1.0)
            };
            let moments = posterior.moments().unwrap();
            for mask in 0..16u32 {
                let terms: Vec<u32> = (0..4).filter(|k| mask >> k & 1 == 1).collect();
                let entries: Vec<usize> =
                    std::iter::once(0).chain(terms.iter().map(|&k| k as usize + 1)).collect();
                let expected: f64 = entries.iter().map(|&i| mean[i]).sum();
                let sum = |i: &usize| entries.iter().map(|&j| covariance[*i][j]).sum::<f64>();
                let deviation = (sigma2 + entries.iter().map(sum).sum::<f64>()).sqrt();
                let found = moments.value(&terms);
                assert!((found.0 - expected).abs() < 1e-9 && (found.1 - deviation).abs() < 1e-9, "{found:?}");
            }
            for k in 0..COLUMNS {
                let found = moments.coefficient(k as u32);
                let expected = (mean[k + 1], covariance[k + 1][k + 1].sqrt());
                assert!((found.0 - expected.0).abs() < 1e-9 && (found.1 - expected.1).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn deviations_are_calibrated_on_draws_from_the_model() {
        let mut rng = rng(8);
        let (mut squares, mut within, trials) = (0.0, 0, 20_000);
        for _ in 0..trials {
            let sigma = (PRIOR.rate / gamma(&mut rng, PRIOR.shape)).sqrt();
            let root = sigma * PRIOR.variance.sqrt();
            let alpha: Vec<f64> = (0..COLUMNS).map(|_| root * normal(&mut rng)).collect();
            let mut value = |terms: &[u32]| 100.0 + sum_at(&alpha, terms) + sigma * normal(&mut rng);
            let mut posterior = Posterior::new(PRIOR, COLUMNS);
            for (terms, _) in observations() {
                posterior.observe(terms.clone(), value(&terms)).unwrap();
            }
            let unseen = [1, 2];
            let (mean, deviation) = posterior.moments().unwrap().value(&unseen);
            let z = (value(&unseen) - mean) / deviation;
            squares += z * z / f64::from(trials);
            within += u32::from(z.abs() < 1.0);
        }
        // t with 16 degrees of freedom has variance 8/7: 0.70 of it are within one deviation. Both within 4 errors.
        assert!((squares - 1.0).abs() < 0.05, "{squares}");
        let share = f64::from(within) / f64::from(trials);
        assert!((share - 0.6995).abs() < 0.013, "{share}");
    }

    #[test]
    fn other_values_of_the_same_points_are_learned_as_if_they_had_been_observed() {
        let [mut one, mut other] = [Posterior::new(PRIOR, COLUMNS), Posterior::new(PRIOR, COLUMNS)];
        let values: Vec<f64> = observations().iter().map(|(_, value)| value * value - 100.0).collect();
        for ((terms, value), &square) in observations().into_iter().zip(&values) {
            one.observe(terms.clone(), value).unwrap();
            other.observe(terms, square).unwrap();
        }
        let (one, other) = (one.sample_for(&values, &mut rng(1)), other.sample(&mut rng(1)));
        let pairs = one.alpha.iter().zip(&other.alpha).chain([(&one.intercept, &other.intercept)]);
        pairs.for_each(|(a, b)| assert!((a - b).abs() < 1e-12 * (1.0 + b.abs()), "{a} instead of {b}"));
    }

    #[test]
    fn the_score_is_the_density_of_the_values() {
        // y | σ² is normal with covariance σ²(I + vΦΦᵀ) around a flat α₀; σ² is integrated numerically.
        let mut posterior = Posterior::new(PRIOR, COLUMNS);
        observations().into_iter().for_each(|(terms, value)| posterior.observe(terms, value).unwrap());
        let values: Vec<f64> = observations().iter().map(|(_, value)| 0.2 * value).collect();
        let other: Vec<f64> = (0..7).map(|i| f64::from(i % 3)).collect();
        let density = |values: &[f64]| {
            let misfit = 2.0 * (posterior.fit(&posterior.halved(values)).rate - PRIOR.rate);
            let integrand = |s: f64| {
                // N − 1 = 6 degrees of freedom.
                let likelihood = libm::exp(-0.5 * misfit / s) / (s * s * s);
                likelihood * libm::pow(s, -PRIOR.shape - 1.0) * libm::exp(-PRIOR.rate / s)
            };
            (1..400_000).map(|i| integrand(1e-4 * f64::from(i))).sum::<f64>()
        };
        let ratio = libm::log(density(&values)) - libm::log(density(&other));
        assert!((posterior.score(&values) - posterior.score(&other) - ratio).abs() < 1e-6);
    }

    #[test]
    fn without_observations_draws_come_from_the_prior() {
        let posterior = Posterior::new(PRIOR, COLUMNS);
        let mut rng = rng(3);
        let mut squares = 0.0;
        for _ in 0..DRAWS {
            let Sample { intercept, alpha } = posterior.sample(&mut rng);
            assert_eq!(intercept, 0.0);
            squares += alpha[1] * alpha[1];
        }
        // E[α²] = v b/(a − 1)
        assert!((squares / DRAWS as f64 - 0.6 * 3.0 / 4.0).abs() < 0.015, "{}", squares / DRAWS as f64);
    }

    #[test]
    fn common_terms_are_counted() {
        assert_eq!(shared(&[0, 2, 5, 9], &[1, 2, 3, 9, 11]), 2.0);
        assert_eq!(shared(&[], &[1]), 0.0);
    }
}
