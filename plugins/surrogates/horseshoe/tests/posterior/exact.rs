//! Two terms and nine observations: the posterior is a threefold integral over λ₀, λ₁ and τ.
//!
//! Given these, everything is closed: σ² ~ IG(ν/2, S/2) with S = yᵀ(X D Xᵀ + I)⁻¹y + what repeated points add, and
//! α ~ N(m, σ²A⁻¹), m = A⁻¹Xᵀy; the density of the data is proportional to |XᵀXD + I|^(−1/2) S^(−ν/2).

use std::f64::consts::PI;

use plugin_api::{Layout, rng};
use surrogate_horseshoe::chain::{Chain, NoisePrior, State};
use surrogate_horseshoe::observations::Observations;
use surrogate_horseshoe::regression::Regression;

use crate::{By, Means, assert_by_chance, observe};

const POINTS: [&str; 9] = ["10", "00", "01", "11", "10", "11", "10", "00", "10"];
const VALUES: [f64; 9] = [1.3, -0.4, 0.3, 0.6, 0.9, 1.8, 0.2, 0.5, 2.0];
const DEGREES_BEFORE_CENTRING: f64 = 9.0;

/// What is compared: expectations of α₀, α₁, 1/σ², α₀/σ², α₀²/σ², log σ², λ₀²/(1+λ₀²), τ²/(1+τ²).
const NAMES: [&str; 8] = ["α₀", "α₁", "1/σ²", "α₀/σ²", "α₀²/σ²", "log σ²", "λ₀", "τ"];

fn functions(alpha: [f64; 2], sigma2: f64, lambda2: f64, tau2: f64, values: &mut [f64]) {
    values.copy_from_slice(&[
        alpha[0],
        alpha[1],
        1.0 / sigma2,
        alpha[0] / sigma2,
        alpha[0] * alpha[0] / sigma2,
        libm::log(sigma2),
        lambda2 / (1.0 + lambda2),
        tau2 / (1.0 + tau2),
    ]);
}

/// ψ(k/2) by recurrence from ψ(½) = −γ − 2 log 2 and ψ(1) = −γ.
fn digamma_of_half(k: usize) -> f64 {
    let gamma = 0.577_215_664_901_532_9;
    let (mut x, mut psi) =
        if k % 2 == 1 { (0.5, -gamma - 2.0 * std::f64::consts::LN_2) } else { (1.0, -gamma) };
    while 2.0 * x < k as f64 {
        psi += 1.0 / x;
        x += 1.0;
    }
    psi
}

/// The expectations by the midpoint rule in the angles of λ₀, λ₁ and τ, under which the prior is uniform.
fn integrated(centred: bool) -> [f64; 8] {
    let column = |i: usize| POINTS.map(|point| f64::from(point.as_bytes()[i] - b'0'));
    let less_mean = |column: [f64; 9], centred: bool| {
        let mean = column.iter().sum::<f64>() / 9.0;
        column.map(|value| if centred { value - mean } else { value })
    };
    let inner = |a: &[f64; 9], b: &[f64; 9]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (x0, x1) = (less_mean(column(0), centred), less_mean(column(1), centred));
    let y = less_mean(VALUES, true); // the authors take the mean from the values too
    let (a, b, c) = (inner(&x0, &x0), inner(&x0, &x1), inner(&x1, &x1));
    let (r0, r1) = (inner(&x0, &y), inner(&x1, &y));
    let degrees = DEGREES_BEFORE_CENTRING - f64::from(u8::from(centred));

    let nodes = 160;
    let squares: Vec<f64> = (0..nodes)
        .map(|i| libm::tan((i as f64 + 0.5) / nodes as f64 * PI / 2.0))
        .map(|tangent| tangent * tangent)
        .collect();
    let psi = digamma_of_half(degrees as usize);
    let (mut total, mut sums) = (0.0, [0.0; 8]);
    for &tau2 in &squares {
        for &lambda2 in &squares {
            for &other2 in &squares {
                let (d0, d1) = (tau2 * lambda2, tau2 * other2);
                let (p, q) = (a + 1.0 / d0, c + 1.0 / d1);
                let determinant = p * q - b * b;
                let (m0, m1) = ((q * r0 - b * r1) / determinant, (p * r1 - b * r0) / determinant);
                let s = inner(&y, &y) - m0 * r0 - m1 * r1;
                let density = libm::pow(s, -0.5 * degrees) / (determinant * d0 * d1).sqrt();
                let precision = degrees / s;
                let expected = [
                    m0,
                    m1,
                    precision,
                    m0 * precision,
                    m0 * m0 * precision + q / determinant,
                    libm::log(0.5 * s) - psi,
                    lambda2 / (1.0 + lambda2),
                    tau2 / (1.0 + tau2),
                ];
                total += density;
                sums.iter_mut().zip(expected).for_each(|(sum, value)| *sum += density * value);
            }
        }
    }
    sums.map(|sum| sum / total)
}

fn sampled(observations: &Observations, centred: bool, by: By, batch: usize) -> Means {
    let targets = observations.targets();
    let regression = Regression::new(observations, &targets, centred);
    let mut coefficients = by.coefficients(&regression, observations);
    let mut chain = Chain::new(&regression, coefficients.as_mut(), NoisePrior::default());
    let (mut state, mut rng) = (State::cold(2), rng(4));
    chain.run(&mut state, 1000, &mut rng).expect("a run");
    Means::of(100, batch, NAMES.len(), |values| {
        chain.step(&mut state, &mut rng).expect("a run");
        let sigma = chain.sigma2().sqrt() * targets.scale;
        let alpha = [sigma * chain.beta()[0], sigma * chain.beta()[1]];
        functions(alpha, sigma * sigma, state.lambda2[0], state.tau2, values);
    })
}

#[test]
fn the_posterior_is_its_integral() {
    let observations = observe(&Layout::free(2), 1, &POINTS, &VALUES);
    let mut scores = Vec::new();
    for centred in [false, true] {
        let exact = integrated(centred);
        for (by, batch) in [(By::Rows, 5_000), (By::Terms, 10_000)] {
            let means = sampled(&observations, centred, by, batch);
            for (i, name) in NAMES.iter().enumerate() {
                let score = (means.mean(i) - exact[i]) / means.error(i);
                scores.push((format!("{name} by {by:?}, centred {centred}"), score));
                assert!(means.error(i) < 0.02, "{name}: an error of {}", means.error(i));
            }
        }
    }
    assert_by_chance(&scores, 4.5);
}
