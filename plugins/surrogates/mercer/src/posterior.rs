//! The posterior for one choice of hyperparameters, kept up to date from observation to observation.
//!
//! y = α₀ + Φb + noise, b ~ N(0, vD), noise ~ N(0, vr), v ~ IG(1, ½), α₀ with a flat prior. D has t for each s_i and
//! t² for each s_i s_j, divided so that ΦDΦᵀ has ones on its diagonal. With M = ΦDΦᵀ + rI = LLᵀ:
//!
//! - m = 1ᵀM⁻¹y / w, w = 1ᵀM⁻¹1, q = (y − m)ᵀM⁻¹(y − m);
//! - ln evidence = −½ ln|M| − ½ ln w − (N + 1)/2 · ln(q + 1) + a constant;
//! - v ~ IG((N + 1)/2, (q + 1)/2), α₀ | v ~ N(m, v/w);
//! - b | α₀, v by Bhattacharya, Chakraborty & Mallick (2016): u ~ N(0, D), δ ~ N(0, rI), Mc = (y − α₀)/√v − Φu − δ,
//!   b = √v(u + DΦᵀc).

use plugin_api::Rng;
use plugin_api::random::{gamma, normal};
use shared_linalg::{GrowingFactor, NotPositiveDefinite, dot};

use crate::spins::{Overlap, Spins};

/// Prior variances of the features of each kind and of the noise, as multiples of v.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Prior {
    pub(crate) bit: f64,
    pub(crate) pair: f64,
    pub(crate) noise: f64,
}

impl Prior {
    /// For t and r, with `own` features of each kind.
    pub(crate) fn new(t: f64, noise: f64, own: Overlap) -> Self {
        let whole = t * own.bits + t * t * own.pairs;
        let unit = if whole > 0.0 { whole } else { 1.0 };
        Self { bit: t / unit, pair: t * t / unit, noise }
    }

    /// An entry of ΦDΦᵀ.
    pub(crate) fn covariance(&self, overlap: Overlap) -> f64 {
        self.bit * overlap.bits + self.pair * overlap.pairs
    }

    /// Multiplies one number a feature by its prior variance.
    fn scale(&self, features: &mut [f64], bits: usize) {
        let (linear, pairs) = features.split_at_mut(bits);
        linear.iter_mut().for_each(|number| *number *= self.bit);
        pairs.iter_mut().for_each(|number| *number *= self.pair);
    }
}

/// What the points say, without their values.
#[derive(Clone, Debug)]
pub(crate) struct Posterior {
    prior: Prior,
    factor: GrowingFactor,
    /// L⁻¹1.
    ones: Vec<f64>,
    /// ½ ln|M|.
    log_root: f64,
}

/// What some values of these points say of α₀ and v.
pub(crate) struct Fit {
    /// L⁻¹y.
    half: Vec<f64>,
    /// w, m and q.
    weight: f64,
    pub(crate) mean: f64,
    misfit: f64,
}

impl Fit {
    /// −(N + 1)/2 · ln(q + 1).
    pub(crate) fn score(&self) -> f64 {
        -self.shape() * libm::log(self.misfit + 1.0)
    }

    /// The mean of v; of fewer than two values it is infinite, and the one of two is taken.
    pub(crate) fn amplitude(&self) -> f64 {
        (self.misfit + 1.0) / (self.half.len() as f64 - 1.0).max(1.0)
    }

    /// Without values α₀ costs no degree of freedom.
    fn shape(&self) -> f64 {
        (0.5 * (self.half.len() as f64 + 1.0)).max(1.0)
    }
}

impl Posterior {
    /// Without points.
    pub(crate) fn new(prior: Prior) -> Self {
        Self { prior, factor: GrowingFactor::new(), ones: Vec::new(), log_root: 0.0 }
    }

    pub(crate) fn prior(&self) -> Prior {
        self.prior
    }

    /// How many points there are.
    pub(crate) fn points(&self) -> usize {
        self.ones.len()
    }

    /// Adds a point: what it has in common with those before it, and with itself.
    pub(crate) fn push(&mut self, overlaps: &[Overlap]) -> Result<(), NotPositiveDefinite> {
        let mut row: Vec<f64> = overlaps.iter().map(|&overlap| self.prior.covariance(overlap)).collect();
        if let Some(diagonal) = row.last_mut() {
            *diagonal += self.prior.noise;
        }
        self.factor.push(&row)?;
        self.ones.push(self.factor.solve_last(&self.ones, 1.0));
        // The last entry of L⁻¹(0, …, 0, 1) is one by the last of L's diagonal.
        self.log_root -= libm::log(self.factor.solve_last(&vec![0.0; self.points() - 1], 1.0));
        Ok(())
    }

    /// What these values say.
    pub(crate) fn fit(&self, values: &[f64]) -> Fit {
        let half = self.halved(values.to_vec());
        let weight = dot(&self.ones, &self.ones);
        let mean = if weight > 0.0 { dot(&self.ones, &half) / weight } else { 0.0 };
        let misfit = half.iter().zip(&self.ones).map(|(half, one)| half - mean * one).map(|r| r * r).sum();
        Fit { half, weight, mean, misfit }
    }

    /// The log of the density of the values under the prior, up to a constant; 0 of fewer than two.
    pub(crate) fn evidence(&self, fit: &Fit) -> f64 {
        if self.points() < 2 {
            return 0.0;
        }
        fit.score() - self.log_root - 0.5 * libm::log(fit.weight)
    }

    /// The variance of a constant times α₀ and a sum of coefficients, as a multiple of v: its prior variance without α₀, and its
    /// covariance with the value of each point.
    pub(crate) fn variance(&self, fit: &Fit, constant: f64, prior: f64, covariances: Vec<f64>) -> f64 {
        let half = self.halved(covariances);
        let apart = constant - dot(&self.ones, &half);
        (prior - dot(&half, &half) + apart * apart / fit.weight).max(0.0)
    }

    /// The mean of the coefficients, DΦᵀM⁻¹(y − m).
    pub(crate) fn mean(&self, fit: &Fit, spins: &Spins, points: &[Vec<f64>]) -> Vec<f64> {
        let rest = fit.half.iter().zip(&self.ones).map(|(half, one)| half - fit.mean * one).collect();
        self.pull_back(rest, vec![0.0; spins.count()], spins, points)
    }

    /// α₀ and the coefficients, drawn; without values α₀ is 0.
    pub(crate) fn sample(
        &self,
        fit: &Fit,
        spins: &Spins,
        points: &[Vec<f64>],
        rng: &mut Rng,
    ) -> (f64, Vec<f64>) {
        let root = (0.5 * (fit.misfit + 1.0) / gamma(rng, fit.shape())).sqrt();
        let intercept =
            if fit.weight > 0.0 { fit.mean + root / fit.weight.sqrt() * normal(rng) } else { 0.0 };
        let roots = Prior { bit: self.prior.bit.sqrt(), pair: self.prior.pair.sqrt(), noise: 0.0 };
        let mut drawn: Vec<f64> = (0..spins.count()).map(|_| normal(rng)).collect();
        roots.scale(&mut drawn, spins.bits());
        spins.clear_impossible(&mut drawn);
        let noise = self.prior.noise.sqrt();
        let rest = points.iter().map(|point| -spins.sum(&drawn, point) - noise * normal(rng)).collect();
        let mut rest = self.halved(rest);
        for (rest, (half, one)) in rest.iter_mut().zip(fit.half.iter().zip(&self.ones)) {
            *rest += (half - intercept * one) / root;
        }
        let mut drawn = self.pull_back(rest, drawn, spins, points);
        drawn.iter_mut().for_each(|number| *number *= root);
        (intercept, drawn)
    }

    /// start + DΦᵀL⁻ᵀc.
    fn pull_back(&self, mut c: Vec<f64>, start: Vec<f64>, spins: &Spins, points: &[Vec<f64>]) -> Vec<f64> {
        self.factor.solve_transposed(&mut c);
        let mut sums = vec![0.0; spins.count()];
        for (point, c) in points.iter().zip(&c) {
            spins.add(&mut sums, *c, point);
        }
        self.prior.scale(&mut sums, spins.bits());
        spins.clear_impossible(&mut sums);
        sums.iter_mut().zip(start).for_each(|(sum, start)| *sum += start);
        sums
    }

    /// L⁻¹y.
    fn halved(&self, mut values: Vec<f64>) -> Vec<f64> {
        self.factor.solve(&mut values);
        values
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::{Layout, rng};

    use super::*;

    const DRAWS: usize = 40_000;

    struct Case {
        spins: Spins,
        points: Vec<Vec<f64>>,
        values: Vec<f64>,
        posterior: Posterior,
        /// 1 and the features of each point, with the prior variance of each; infinite for the first.
        rows: Vec<Vec<f64>>,
        variances: Vec<f64>,
    }

    /// Points of four bits, two of them a group, one of them twice.
    fn case(count: usize) -> Case {
        let layout = Layout::with_groups(4, std::iter::once(1..3).collect()).unwrap();
        let spins = Spins::new(4, layout.groups());
        let mut rng = rng(11);
        let mut points: Vec<Vec<f64>> = (0..count).map(|_| spins.of(&layout.random(&mut rng))).collect();
        points[count - 1] = points[0].clone();
        let values: Vec<f64> = points.iter().map(|s| s[0] - 0.5 * s[1] * s[3] + normal(&mut rng)).collect();
        let prior = Prior::new(0.3, 0.2, spins.own_overlap());
        let mut posterior = Posterior::new(prior);
        for k in 0..count {
            let overlaps: Vec<Overlap> =
                points[..=k].iter().map(|other| spins.overlap(other, &points[k])).collect();
            posterior.push(&overlaps).unwrap();
        }
        // The pair (1, 2) is inside the group.
        let features = |s: &Vec<f64>| {
            let pairs = [s[0] * s[1], s[0] * s[2], s[0] * s[3], 0.0, s[1] * s[3], s[2] * s[3]];
            [&[1.0], &s[..], &pairs].concat()
        };
        let rows = points.iter().map(features).collect();
        // 4 t + 5 t²
        let unit = 4.0 * 0.3 + 5.0 * 0.09;
        let variances = [vec![f64::INFINITY], vec![0.3 / unit; 4], vec![0.09 / unit; 6]].concat();
        Case { spins, points, values, posterior, rows, variances }
    }

    /// The inverse and the log determinant, by elimination.
    fn inverse(mut a: Vec<Vec<f64>>) -> (Vec<Vec<f64>>, f64) {
        let n = a.len();
        let mut log_determinant = 0.0;
        for (i, row) in a.iter_mut().enumerate() {
            row.extend((0..n).map(|j| f64::from(u8::from(i == j))));
        }
        for k in 0..n {
            let pivot = a[k][k];
            log_determinant += libm::log(pivot);
            a[k].iter_mut().for_each(|entry| *entry /= pivot);
            let row = a[k].clone();
            for (_, other) in a.iter_mut().enumerate().filter(|(i, _)| *i != k) {
                let factor = other[k];
                other.iter_mut().zip(&row).for_each(|(entry, r)| *entry -= factor * r);
            }
        }
        (a.into_iter().map(|row| row[n..].to_vec()).collect(), log_determinant)
    }

    /// Mean of (α₀, b) and its covariance in units of v, from the normal equations.
    fn normal_equations(case: &Case) -> (Vec<f64>, Vec<Vec<f64>>) {
        let noise = case.posterior.prior.noise;
        let p = case.variances.len();
        let entry = |i: usize, j: usize| {
            let sum: f64 = case.rows.iter().map(|row| row[i] * row[j]).sum();
            sum / noise + if i == j { 1.0 / case.variances[i] } else { 0.0 }
        };
        let (covariance, _) = inverse((0..p).map(|i| (0..p).map(|j| entry(i, j)).collect()).collect());
        let product = |i: usize| case.rows.iter().zip(&case.values).map(|(row, y)| row[i] * y).sum::<f64>();
        let mean = covariance.iter().map(|row| (0..p).map(|j| row[j] * product(j) / noise).sum()).collect();
        (mean, covariance)
    }

    #[test]
    fn the_mean_and_variances_are_those_of_the_normal_equations() {
        for count in [3, 6, 20] {
            let case = case(count);
            let (mean, covariance) = normal_equations(&case);
            let fit = case.posterior.fit(&case.values);
            let found = case.posterior.mean(&fit, &case.spins, &case.points);
            for (found, expected) in found.iter().zip(&mean[1..]) {
                assert!((found - expected).abs() < 1e-10, "{found} instead of {expected}");
            }
            assert!((fit.mean - mean[0]).abs() < 1e-10);
            // A new point, and a coefficient.
            let row = &[1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 1.0, 1.0, 0.0, -1.0, 1.0];
            let point = &row[1..5];
            let covariances = |of: &dyn Fn(&Vec<f64>) -> f64| case.points.iter().map(of).collect();
            let prior = case.posterior.prior;
            let k = covariances(&|other| prior.covariance(case.spins.overlap(other, point)));
            let expected: f64 = (0..11)
                .flat_map(|i| (0..11).map(move |j| (i, j)))
                .map(|(i, j)| row[i] * row[j] * covariance[i][j])
                .sum();
            let found = case.posterior.variance(&fit, 1.0, 1.0, k);
            assert!((found - expected).abs() < 1e-10, "{found} instead of {expected}");
            let k = covariances(&|other| prior.pair * other[0] * other[3]);
            let found = case.posterior.variance(&fit, 0.0, prior.pair, k);
            assert!((found - covariance[7][7]).abs() < 1e-10);
        }
    }

    #[test]
    fn the_evidence_is_that_of_the_dense_covariance() {
        // −½ ln|M| − ½ ln 1ᵀM⁻¹1 − (N + 1)/2 ln(yᵀPy + 1) with P = M⁻¹ − M⁻¹11ᵀM⁻¹/1ᵀM⁻¹1.
        for count in [2, 6, 20] {
            let case = case(count);
            let covariance = |a: &Vec<f64>, b: &Vec<f64>| -> f64 {
                (1..11).map(|k| a[k] * b[k] * case.variances[k]).sum()
            };
            let entry = |i: usize, j: usize| {
                covariance(&case.rows[i], &case.rows[j]) + if i == j { 0.2 } else { 0.0 }
            };
            let (m, log_determinant) =
                inverse((0..count).map(|i| (0..count).map(|j| entry(i, j)).collect()).collect());
            let sums: Vec<f64> = m.iter().map(|row| row.iter().sum()).collect();
            let weight: f64 = sums.iter().sum();
            let mut q = 0.0;
            for i in 0..count {
                for j in 0..count {
                    q += case.values[i] * (m[i][j] - sums[i] * sums[j] / weight) * case.values[j];
                }
            }
            let expected = -0.5 * log_determinant
                - 0.5 * libm::log(weight)
                - 0.5 * (count as f64 + 1.0) * libm::log(q + 1.0);
            let found = case.posterior.evidence(&case.posterior.fit(&case.values));
            assert!((found - expected).abs() < 1e-10, "{found} instead of {expected}");
        }
    }

    #[test]
    fn draws_have_the_mean_and_covariance_of_the_normal_equations() {
        // Fewer points than features, and more.
        for count in [8, 20] {
            let case = case(count);
            let (mean, covariance) = normal_equations(&case);
            let fit = case.posterior.fit(&case.values);
            let mut rng = rng(3);
            let draws: Vec<Vec<f64>> = (0..DRAWS)
                .map(|_| {
                    let (intercept, b) = case.posterior.sample(&fit, &case.spins, &case.points, &mut rng);
                    std::iter::once(intercept).chain(b).zip(&mean).map(|(drawn, mean)| drawn - mean).collect()
                })
                .collect();
            // Each is a mean over independent draws, with an error of their spread / √draws.
            let score = |values: &dyn Fn(&Vec<f64>) -> f64, expected: f64| {
                let n = DRAWS as f64;
                let mean = draws.iter().map(values).sum::<f64>() / n;
                let square: f64 =
                    draws.iter().map(|draw| (values(draw) - mean) * (values(draw) - mean)).sum();
                (mean - expected) / (square.sqrt() / n)
            };
            // The pair inside the group is no feature.
            assert!(draws.iter().all(|draw| draw[8] == 0.0));
            for i in (0..11).filter(|&i| i != 8) {
                let z = score(&|draw| draw[i], 0.0);
                assert!(z.abs() < 4.0, "{count} points: the mean of {i} is {z} standard errors away");
                for j in (0..=i).filter(|&j| j != 8) {
                    let z = score(&|draw| draw[i] * draw[j], fit.amplitude() * covariance[i][j]);
                    assert!(
                        z.abs() < 4.5,
                        "{count} points: covariance ({i}, {j}) is {z} standard errors away"
                    );
                }
            }
        }
    }
}
