//! Simulation-based calibration (Talts et al. 2018): parameters from the prior, data from the parameters, a chain from its
//! cold start. Among draws from the chain the true parameters have every rank with the same probability, unless
//! the chain samples something else than the posterior, or had not found it when the draws began.
//!
//! As in the test of the joint distribution, σ² has the proper prior IG(1, 1), and the data no intercept.

use plugin_api::random::{exponential, normal};
use plugin_api::{Layout, rng};
use surrogate_horseshoe::chain::{Chain, NoisePrior, State};
use surrogate_horseshoe::regression::Regression;

use crate::joint::{half_cauchy2, targets};
use crate::{By, observe};

const POINTS: [&str; 8] = ["100", "011", "110", "101", "010", "111", "001", "100"];
const VALUES: [f64; 8] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
/// Draws from each chain, so ranks go from 0 to this.
const DRAWS: usize = 9;
const DATA_SETS: usize = 1500;
/// Steps before the first draw, and from one draw to the next.
const BURN_IN: u32 = 200;
const THINNING: u32 = 40;

/// What is ranked: log τ², log σ², each α, and the value of the model at each of two points.
fn functions(tau2: f64, sigma2: f64, alpha: &[f64]) -> Vec<f64> {
    let mut values = vec![tau2, sigma2, alpha[0] + alpha[1] + alpha[3], alpha.iter().sum()];
    values.extend(alpha);
    values
}

/// χ² of each function's ranks against equal frequencies.
fn deviations(count: usize, centred: bool, by: By) -> Vec<f64> {
    let observations = observe(&Layout::free(3), 2, &POINTS[..count], &VALUES);
    let p = observations.design().columns();
    let prior = NoisePrior { shape: 1.0, rate: 1.0, floor: 1e-12 };
    let mut rng = rng(9);
    let mut frequencies: Vec<[f64; DRAWS + 1]> = Vec::new();
    for _ in 0..DATA_SETS {
        let sigma2 = 1.0 / exponential(&mut rng);
        let tau2 = half_cauchy2(&mut rng);
        let alpha: Vec<f64> =
            (0..p).map(|_| (sigma2 * tau2 * half_cauchy2(&mut rng)).sqrt() * normal(&mut rng)).collect();
        let truth = functions(tau2, sigma2, &alpha);
        let targets = targets(&observations, &alpha, sigma2.sqrt(), centred, &mut rng);
        let regression = Regression::new(&observations, &targets, centred);
        assert_eq!(regression.active().len(), p, "every term varies");
        let mut coefficients = by.coefficients(&regression, &observations);
        let mut chain = Chain::new(&regression, coefficients.as_mut(), prior);
        let mut state = State::cold(p);
        chain.run(&mut state, BURN_IN, &mut rng).expect("a run");
        let mut ranks = vec![0; truth.len()];
        for _ in 0..DRAWS {
            chain.run(&mut state, THINNING, &mut rng).expect("a run");
            let sigma = chain.sigma2().sqrt();
            let alpha: Vec<f64> = chain.beta().iter().map(|beta| sigma * beta).collect();
            let drawn = functions(state.tau2, chain.sigma2(), &alpha);
            for (rank, (drawn, truth)) in ranks.iter_mut().zip(drawn.iter().zip(&truth)) {
                *rank += usize::from(drawn < truth);
            }
        }
        frequencies.resize(truth.len(), [0.0; DRAWS + 1]);
        frequencies.iter_mut().zip(ranks).for_each(|(frequencies, rank)| frequencies[rank] += 1.0);
    }
    let expected = DATA_SETS as f64 / (DRAWS + 1) as f64;
    let deviation = |frequencies: &[f64; DRAWS + 1]| {
        frequencies.iter().map(|found| (found - expected) * (found - expected) / expected).sum()
    };
    frequencies.iter().map(deviation).collect()
}

#[test]
fn the_truth_has_every_rank_among_draws_with_the_same_probability() {
    for (count, centred, by) in [(5, false, By::Rows), (8, true, By::Terms)] {
        let deviations = deviations(count, centred, by);
        println!("{by:?}: {deviations:.1?}");
        // 9 degrees of freedom: 33.7 is exceeded once in 10,000 times.
        assert!(deviations.iter().all(|&deviation| deviation < 33.7), "{by:?}: {deviations:.1?}");
        let mean = deviations.iter().sum::<f64>() / deviations.len() as f64;
        assert!(mean < 15.0, "{by:?}: a mean of {mean}, not 9");
    }
}
