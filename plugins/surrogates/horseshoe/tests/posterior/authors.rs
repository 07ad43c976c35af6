//! The authors' sampler, run for long on four data sets of their benchmarks.

use plugin_api::serde::Deserialize;
use plugin_api::{Layout, rng, serde_json};
use surrogate_horseshoe::by_terms::Moments;
use surrogate_horseshoe::chain::{Chain, NoisePrior, State};
use surrogate_horseshoe::coefficients::choose;
use surrogate_horseshoe::kernel::Kernel;
use surrogate_horseshoe::regression::Regression;

use crate::{Means, assert_by_chance, observe};

#[derive(Deserialize)]
#[serde(crate = "plugin_api::serde")]
struct Case {
    instance: String,
    bits: usize,
    points: Vec<String>,
    values: Vec<f64>,
    mean: Vec<f64>,
    mean_error: Vec<f64>,
    sd: Vec<f64>,
    median: Vec<f64>,
    sigma2_quantiles: [f64; 5],
    log_tau2_quantiles: [f64; 5],
    sigma2_chain_medians: [f64; 4],
    log_tau2_chain_medians: [f64; 4],
    predicted_points: Vec<String>,
    predicted_mean: Vec<f64>,
    predicted_sd: Vec<f64>,
    predicted_chain_means: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
#[serde(crate = "plugin_api::serde")]
struct Cases {
    cases: Vec<Case>,
}

/// Of each chain.
const BATCHES: usize = 5;

fn agrees(instance: &str, chains: u64, batch: usize) {
    let cases: Cases = serde_json::from_str(include_str!("../data/posterior.json")).expect("the data");
    let case = cases.cases.into_iter().find(|case| case.instance == instance).expect("a case of this name");
    let points: Vec<&str> = case.points.iter().map(String::as_str).collect();
    let observations = observe(&Layout::free(case.bits), 2, &points, &case.values);
    let targets = observations.targets();
    let regression = Regression::new(&observations, &targets, false);
    let terms = observations.terms();
    let predicted: Vec<Vec<u32>> = case
        .predicted_points
        .iter()
        .map(|point| terms.of(&point.bytes().map(|bit| bit == b'1').collect::<Vec<_>>()))
        .collect();

    // Every statistic is a mean over draws. Where each kind of them starts:
    let p = terms.count();
    let (squares, fourths, below_medians, quantiles) = (p, 2 * p, 3 * p, 4 * p);
    let (predictions, predicted_squares) = (4 * p + 18, 4 * p + 18 + predicted.len());
    let mut means = Means(Vec::new());
    for seed in 0..chains {
        let mut rng = rng(seed);
        let mut coefficients = choose(&regression, &observations, &mut Moments::default(), Kernel::fastest());
        // The authors' σ² has no floor.
        let prior = NoisePrior { floor: 1e-12, ..NoisePrior::default() };
        let mut chain = Chain::new(&regression, coefficients.as_mut(), prior);
        let mut state = State::cold(p);
        chain.run(&mut state, 500, &mut rng).expect("a run");
        let part = Means::of(BATCHES, batch, predicted_squares + predicted.len(), |values| {
            chain.run(&mut state, 1, &mut rng).expect("a run");
            let scale = chain.sigma2().sqrt() * targets.scale;
            for k in 0..p {
                let alpha = scale * chain.beta()[k];
                let square = (alpha - case.mean[k]) * (alpha - case.mean[k]);
                (values[k], values[squares + k], values[fourths + k]) = (alpha, square, square * square);
                values[below_medians + k] = indicator(alpha < case.median[k]);
            }
            let limits = case.sigma2_quantiles.iter().chain(&case.sigma2_chain_medians);
            for (value, &limit) in values[quantiles..].iter_mut().zip(limits) {
                *value = indicator(scale * scale < limit);
            }
            let limits = case.log_tau2_quantiles.iter().chain(&case.log_tau2_chain_medians);
            for (value, &limit) in values[quantiles + 9..].iter_mut().zip(limits) {
                *value = indicator(libm::log(state.tau2) < limit);
            }
            for (i, terms) in predicted.iter().enumerate() {
                let value = scale * terms.iter().map(|&term| chain.beta()[term as usize]).sum::<f64>();
                let apart = value - case.predicted_mean[i];
                (values[predictions + i], values[predicted_squares + i]) = (value, apart * apart);
            }
        });
        means.0.extend(part.0);
    }

    let mut scores = Vec::new();
    let mut compare = |what: String, i: usize, theirs: f64, their_error: f64| {
        let error = means.error(i).hypot(their_error);
        // The prediction without any bit set is 0 in every draw.
        if error > 0.0 {
            scores.push((what, (means.mean(i) - theirs) / error));
        } else {
            assert_eq!(means.mean(i), theirs, "{what}, which never varies");
        }
    };
    // Their errors come from four chains each, so they are averaged over the terms, and not below each one's own. The
    // errors of squares and of parts below the median follow from the number of independent draws they amount to.
    let ratio = |k: usize| case.mean_error[k] / case.sd[k];
    let typical = ((0..p).map(|k| ratio(k) * ratio(k)).sum::<f64>() / p as f64).sqrt();
    for k in 0..p {
        let ratio = ratio(k).max(typical);
        compare(format!("mean of {k}"), k, case.mean[k], ratio * case.sd[k]);
        compare(format!("median of {k}"), below_medians + k, 0.5, ratio * 0.5);
        let square = case.sd[k] * case.sd[k];
        let spread = (means.mean(fourths + k) - square * square).max(0.0).sqrt();
        compare(format!("sd of {k}"), squares + k, square, ratio * spread);
    }
    for (start, name) in [(quantiles, "σ²"), (quantiles + 9, "τ²")] {
        // Where their chains' medians stand among our draws says how far their chains are apart.
        let apart = (start + 5..start + 9).map(|i| (means.mean(i) - 0.5) * (means.mean(i) - 0.5));
        let their_error = (apart.sum::<f64>() / 3.0).sqrt() / 2.0;
        for (q, quantile) in [0.05, 0.25, 0.5, 0.75, 0.95].into_iter().enumerate() {
            compare(format!("{name} at {quantile}"), start + q, quantile, their_error);
        }
    }
    for i in 0..predicted.len() {
        let apart = case.predicted_chain_means.iter().map(|chain| chain[i] - case.predicted_mean[i]);
        let own = (apart.map(|apart| apart * apart).sum::<f64>() / 3.0).sqrt() / 2.0;
        let their_error = own.max(typical * case.predicted_sd[i]);
        compare(format!("prediction {i}"), predictions + i, case.predicted_mean[i], their_error);
        let square = case.predicted_sd[i] * case.predicted_sd[i];
        let their_error = 2.0 * their_error * case.predicted_sd[i];
        compare(format!("sd of prediction {i}"), predicted_squares + i, square, their_error);
    }
    assert_by_chance(&scores, 5.0);
}

fn indicator(is: bool) -> f64 {
    f64::from(u8::from(is))
}

#[test]
fn the_posterior_of_fewer_points_than_terms_is_the_authors() {
    agrees("bqp_n010_1", 8, 500);
}

#[test]
fn the_posterior_of_more_points_than_terms_is_the_authors() {
    agrees("bqp_n010_3", 8, 400);
}

#[test]
fn the_posterior_of_pure_noise_is_the_authors() {
    agrees("labs_n013_2", 8, 400);
}

#[test]
fn the_posterior_of_many_terms_is_the_authors() {
    agrees("ising_n024_2", 8, 400);
}
