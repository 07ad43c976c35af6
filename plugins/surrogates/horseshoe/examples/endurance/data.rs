//! Data that break samplers, and a walk of a chain through them.

use plugin_api::random::{exponential, normal};
use plugin_api::{Bits, Layout, Rng, rng};
use surrogate_horseshoe::by_terms::Moments;
use surrogate_horseshoe::chain::{Chain, NoisePrior, State};
use surrogate_horseshoe::coefficients::choose;
use surrogate_horseshoe::kernel::Kernel;
use surrogate_horseshoe::observations::Observations;
use surrogate_horseshoe::regression::Regression;

pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) observations: Observations,
    centred: bool,
}

/// Points and values that are hard in one way each.
pub(crate) fn cases() -> Vec<Case> {
    let set = |x: &Bits, i: usize| f64::from(u8::from(x[i]));
    let sparse = move |x: &Bits| 3.0 * set(x, 0) - 2.0 * set(x, 1) * set(x, 2) + 5.0;
    let mut cases = Vec::new();
    let mut add =
        |name, bits, order, count, value: &mut dyn FnMut(&Bits, usize, &mut Rng) -> f64, repeats: bool| {
            for centred in [true, false] {
                let (layout, mut rng) = (Layout::free(bits), rng(11));
                let mut observations = Observations::new(&layout, order);
                let mut points: Vec<Bits> = Vec::new();
                for k in 0..count {
                    let again = repeats && k % 3 != 0;
                    let x =
                        if again { points[k * 7 % points.len()].clone() } else { layout.random(&mut rng) };
                    let y = value(&x, k, &mut rng);
                    observations.add(&x, y).expect("a point of the layout");
                    points.push(x);
                }
                cases.push(Case { name, observations, centred });
            }
        };
    let free = &mut |x: &Bits, _: usize, _: &mut Rng| sparse(x);
    add("without noise, fewer points than terms", 12, 2, 40, free, false);
    add("without noise, more points than terms", 5, 2, 60, free, false);
    add("without noise, repeated points", 10, 2, 60, free, true);
    add("interpolating: as many points as terms", 8, 2, 36, &mut |_, _, rng| normal(rng), false);
    add("noise, repeated points", 9, 2, 60, &mut |x, _, rng| sparse(x) + normal(rng), true);
    add("noise alone, more points than terms", 6, 2, 200, &mut |_, _, rng| normal(rng), true);
    add("one value", 8, 2, 30, &mut |_, _, _| 7.3, false);
    add("zeros", 8, 2, 30, &mut |_, _, _| 0.0, true);
    add("one point", 8, 2, 1, &mut |_, _, _| 2.0, false);
    add("one bit", 1, 2, 9, &mut |x, _, rng| set(x, 0) + normal(rng), true);
    add("one value far away", 10, 2, 40, &mut |x, k, _| if k == 3 { 1e12 } else { sparse(x) }, false);
    add("far from 0", 10, 2, 40, &mut |x, _, _| 1e9 + sparse(x), false);
    add("heavy tails", 10, 2, 40, &mut |_, _, rng| 1.0 / exponential(rng), false);
    add("values of 1e300", 10, 2, 40, &mut |x, _, _| 1e300 * sparse(x), false);
    add("values of 1e-300", 10, 2, 40, &mut |x, _, _| 1e-300 * sparse(x), true);
    add("two values, 1e-12 apart", 10, 2, 40, &mut |x, _, _| 1.0 + 1e-12 * set(x, 3), false);
    add("first order", 20, 1, 15, &mut |x, _, rng| sparse(x) + normal(rng), false);
    add(
        "third order, without noise",
        7,
        3,
        40,
        &mut |x, _, _| sparse(x) + 4.0 * set(x, 3) * set(x, 4) * set(x, 5),
        true,
    );
    cases
}

/// Takes `steps` steps, and answers the largest coefficient seen.
pub(crate) fn walk(case: &Case, steps: u32) -> f64 {
    let observations = &case.observations;
    let regression = Regression::new(observations, &observations.targets(), case.centred);
    let mut way = choose(&regression, observations, &mut Moments::default(), Kernel::fastest());
    let mut chain = Chain::new(&regression, way.as_mut(), NoisePrior::default());
    let (mut state, mut rng) = (State::cold(observations.design().columns()), rng(12));
    let mut largest = 0.0;
    for step in 0..steps {
        if chain.step(&mut state, &mut rng).is_err() {
            panic!("{}: step {step} failed", case.name);
        }
        let size = chain.beta().iter().fold(0.0, |size: f64, beta| size.max(beta.abs()));
        assert!(size.is_finite() && chain.sigma2() > 0.0, "{}: not finite after step {step}", case.name);
        largest = f64::max(largest, size);
    }
    largest
}
