//! One observation more, and 200 steps on from where the chain stood: a draw from there is one from the new posterior.
//!
//! Many such draws, each from its own stretch of a chain on the observations before, beside a long chain on all of them.

use plugin_api::random::normal;
use plugin_api::{Layout, rng};
use surrogate_horseshoe::by_terms::Moments;
use surrogate_horseshoe::chain::{Chain, NoisePrior, State};
use surrogate_horseshoe::coefficients::choose;
use surrogate_horseshoe::kernel::Kernel;
use surrogate_horseshoe::observations::Observations;
use surrogate_horseshoe::regression::Regression;

use crate::{Means, assert_by_chance};

const BITS: usize = 6;
/// Of 21 terms.
const COUNT: usize = 14;
/// What `steps` is by default.
const STEPS: u32 = 200;
const WARM: usize = 1500;
const LONG: usize = 150_000;

fn observations(count: usize) -> Observations {
    let (layout, mut rng) = (Layout::free(BITS), rng(21));
    let mut observations = Observations::new(&layout, 2);
    while observations.count() < count {
        let x = layout.random(&mut rng);
        let set = |i: usize| f64::from(u8::from(x[i]));
        // The last value is far from what the others say: the posterior has to move.
        let surprise = if observations.count() == COUNT { 4.0 } else { 0.0 };
        let value = 3.0 * set(0) - 2.0 * set(1) * set(2) + 0.5 * normal(&mut rng) + surprise;
        observations.add(&x, value).expect("a point of the layout");
    }
    observations
}

/// Coefficients, σ² and τ², in functions of which mean and variance exist.
fn functions(chain: &Chain<'_>, state: &State, scale: f64, values: &mut [f64]) {
    let bounded = |x: f64| x / (1.0 + x.abs());
    let sigma = scale * chain.sigma2().sqrt();
    values[0] = libm::log(chain.sigma2() * scale * scale);
    values[1] = libm::log(state.tau2);
    let (means, spreads) = values[2..].split_at_mut(chain.beta().len());
    for ((mean, spread), beta) in means.iter_mut().zip(spreads).zip(chain.beta()) {
        let alpha = bounded(sigma * beta);
        (*mean, *spread) = (alpha, alpha.abs());
    }
}

#[test]
fn a_draw_200_steps_after_an_observation_is_one_from_the_posterior() {
    let (before, after) = (observations(COUNT), observations(COUNT + 1));
    let (old_targets, targets) = (before.targets(), after.targets());
    let old = Regression::new(&before, &old_targets, true);
    let new = Regression::new(&after, &targets, true);
    let p = after.design().columns();
    let kernel = Kernel::fastest();
    let mut old_way = choose(&old, &before, &mut Moments::default(), kernel);
    let mut new_way = choose(&new, &after, &mut Moments::default(), kernel);
    let mut old_chain = Chain::new(&old, old_way.as_mut(), NoisePrior::default());
    let mut new_chain = Chain::new(&new, new_way.as_mut(), NoisePrior::default());
    let (mut rng, mut state) = (rng(22), State::cold(p));

    old_chain.run(&mut state, 1000, &mut rng).expect("a run");
    let warm = Means::of(WARM, 1, 2 + 2 * p, |values| {
        old_chain.run(&mut state, STEPS, &mut rng).expect("a run");
        let mut warm = state.clone();
        new_chain.run(&mut warm, STEPS, &mut rng).expect("a run");
        functions(&new_chain, &warm, targets.scale, values);
    });
    new_chain.run(&mut state, 1000, &mut rng).expect("a run");
    let long = Means::of(100, LONG / 100, 2 + 2 * p, |values| {
        new_chain.step(&mut state, &mut rng).expect("a step");
        functions(&new_chain, &state, targets.scale, values);
    });
    let scores: Vec<(String, f64)> = (0..2 + 2 * p)
        .map(|i| {
            let error = warm.error(i).hypot(long.error(i));
            (format!("function {i}"), (warm.mean(i) - long.mean(i)) / error)
        })
        .collect();
    assert_by_chance(&scores, 4.5);
}
