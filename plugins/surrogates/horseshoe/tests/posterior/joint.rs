//! Parameters drawn from the prior, data drawn from the parameters, then some steps of the chain given the data: the
//! parameters still have the prior, unless a conditional is wrong (after Geweke 2004, with independent repetitions in
//! place of one long chain, so that the errors of the means are known).
//!
//! It needs a proper prior for σ²: IG(1, 1) here. An intercept with a flat prior has none, but a centred
//! regression does not see it, so the data are drawn without one.

use std::f64::consts::PI;

use plugin_api::random::{exponential, normal};
use plugin_api::{Layout, Rng, rng};
use surrogate_horseshoe::chain::{Chain, NoisePrior, State};
use surrogate_horseshoe::observations::{Observations, Targets};
use surrogate_horseshoe::regression::Regression;

use crate::{By, Means, assert_by_chance, observe};

/// Some points repeated, no term constant.
const POINTS: [&str; 11] =
    ["1000", "0111", "1000", "1101", "0011", "1110", "1011", "0110", "0101", "0111", "1000"];

/// All different, so that every observation counts; no more is made of them.
const VALUES: [f64; 11] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0];

/// Values at the observed points, drawn from the model.
pub(crate) fn targets(
    observations: &Observations,
    alpha: &[f64],
    sigma: f64,
    centred: bool,
    rng: &mut Rng,
) -> Targets {
    let design = observations.design();
    let multiplicities = design.multiplicities();
    let (mut points, mut within) = (Vec::new(), 0.0);
    for (k, &m) in multiplicities.iter().enumerate() {
        let expected: f64 = design.row(k).iter().map(|&term| alpha[term as usize]).sum();
        let noise: Vec<f64> = (0..m as usize).map(|_| sigma * normal(rng)).collect();
        let mean = noise.iter().sum::<f64>() / m;
        within += noise.iter().map(|noise| (noise - mean) * (noise - mean)).sum::<f64>();
        points.push(expected + mean);
    }
    if centred {
        let sum: f64 = points.iter().zip(multiplicities).map(|(value, m)| value * m).sum();
        let mean = sum / design.observations();
        points.iter_mut().for_each(|value| *value -= mean);
    }
    Targets { mean: 0.0, scale: 1.0, points, within }
}

/// λ² or τ² from its prior.
pub(crate) fn half_cauchy2(rng: &mut Rng) -> f64 {
    let ratio = normal(rng) / normal(rng);
    ratio * ratio
}

/// Functions of the parameters that tell where they stand, with bounded variance.
fn functions(sigma2: f64, state: &State, alpha: &[f64], active: &[u32], values: &mut Vec<f64>) {
    // Uniform under the prior.
    let angle = |square: f64| libm::atan(square.sqrt()) * 2.0 / PI;
    let (tau, sigma) = (angle(state.tau2), libm::exp(-1.0 / sigma2));
    values.clear();
    values.extend([tau, tau * tau, sigma, sigma * sigma, tau * sigma]);
    for &term in active {
        let lambda2 = state.lambda2[term as usize];
        let z = alpha[term as usize] / (sigma2 * state.tau2 * lambda2).sqrt();
        let near = f64::from(u8::from(z.abs() < 0.674_489_750_196_081_7));
        let lambda = angle(lambda2);
        values.extend([lambda, lambda * lambda, lambda * tau, z, z * z, near, near * sigma]);
    }
}

const COMMON: [&str; 5] = ["τ", "τ squared", "σ", "σ squared", "τ and σ"];
const OF_TERM: [&str; 7] = ["λ", "λ squared", "λ and τ", "z", "z squared", "z near 0", "z near 0 and σ"];

/// The mean change of each function over eight steps (two with a Metropolis move), in standard errors.
fn changes(count: usize, centred: bool, by: By) -> Vec<(String, f64)> {
    let observations = observe(&Layout::free(4), 2, &POINTS[..count], &VALUES);
    let p = observations.design().columns();
    let active = Regression::new(&observations, &observations.targets(), centred).active().to_vec();
    let prior = NoisePrior { shape: 1.0, rate: 1.0, floor: 1e-12 };
    let mut rng = rng(6);
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let means = Means::of(4000, 5, COMMON.len() + OF_TERM.len() * active.len(), |values| {
        let sigma2 = 1.0 / exponential(&mut rng);
        let mut state =
            State { tau2: half_cauchy2(&mut rng), lambda2: (0..p).map(|_| half_cauchy2(&mut rng)).collect() };
        let mut alpha = vec![0.0; p];
        for &term in &active {
            let lambda2 = state.lambda2[term as usize];
            alpha[term as usize] = (sigma2 * state.tau2 * lambda2).sqrt() * normal(&mut rng);
        }
        functions(sigma2, &state, &alpha, &active, &mut before);
        let targets = targets(&observations, &alpha, sigma2.sqrt(), centred, &mut rng);
        let regression = Regression::new(&observations, &targets, centred);
        let mut coefficients = by.coefficients(&regression, &observations);
        let mut chain = Chain::new(&regression, coefficients.as_mut(), prior);
        chain.run(&mut state, 8, &mut rng).expect("a run");
        let sigma = chain.sigma2().sqrt();
        let alpha: Vec<f64> = chain.beta().iter().map(|beta| sigma * beta).collect();
        functions(chain.sigma2(), &state, &alpha, &active, &mut after);
        values.iter_mut().zip(after.iter().zip(&before)).for_each(|(value, (a, b))| *value = a - b);
    });
    let names = COMMON.into_iter().chain(active.iter().flat_map(|_| OF_TERM));
    let score = |(i, name)| {
        let case = format!("{name} ({i}) by {by:?}, {count} observations, centred {centred}");
        (case, means.mean(i) / means.error(i))
    };
    names.enumerate().map(score).collect()
}

#[test]
fn steps_given_data_from_the_prior_keep_the_prior() {
    let mut scores = Vec::new();
    for centred in [false, true] {
        scores.extend(changes(6, centred, By::Rows));
        scores.extend(changes(11, centred, By::Terms));
    }
    assert_by_chance(&scores, 4.5);
}
