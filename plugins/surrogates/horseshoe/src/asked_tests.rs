//! Predictions and effects against the authors' posterior, on draws from the model, and on functions that are known.

use plugin_api::random::exponential;
use plugin_api::serde::Deserialize;
use plugin_api::{BitMatrix, Bits, DrawRequest, Evaluation, Layout, Surrogate, serde_json};
use shared_values::testing;

use super::*;

fn surrogate(json: &str, layout: &Layout) -> Horseshoe {
    Horseshoe::new(plugin_api::options::parse(json).unwrap(), layout).unwrap()
}

#[derive(Deserialize)]
#[serde(crate = "plugin_api::serde")]
struct Case {
    bits: usize,
    points: Vec<String>,
    values: Vec<f64>,
    mean: Vec<f64>,
    sd: Vec<f64>,
    sigma2_quantiles: [f64; 5],
    predicted_points: Vec<String>,
    predicted_mean: Vec<f64>,
    predicted_sd: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(crate = "plugin_api::serde")]
struct Cases {
    cases: Vec<Case>,
}

/// The root mean square, and the largest.
fn sizes(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = values.clone().count() as f64;
    let square = values.clone().map(|value| value * value).sum::<f64>() / count;
    (square.sqrt(), values.fold(0.0, |largest, value| largest.max(value.abs())))
}

#[test]
fn effects_and_predictions_are_those_of_the_authors_long_chains() {
    let cases: Cases = serde_json::from_str(include_str!("../tests/data/posterior.json")).unwrap();
    for case in cases.cases {
        let mut surrogate = surrogate(r#"{ "intercept": "authors" }"#, &Layout::free(case.bits));
        for (point, &value) in case.points.iter().zip(&case.values) {
            surrogate.observe(&point.parse().unwrap(), &value.into()).unwrap();
        }
        let effects = surrogate.effects().unwrap().unwrap();
        assert_eq!(effects.len(), case.mean.len());
        // 1,000 steps are worth at least thirty independent ones, the slowest coefficients included.
        let theirs = effects.iter().zip(case.mean.iter().zip(&case.sd));
        let apart = theirs.clone().map(|(effect, (mean, sd))| (effect.size() - mean) / sd);
        let (typical, worst) = sizes(apart);
        assert!(
            typical < 0.15 && worst < 0.8,
            "{} bits: sizes {typical} and {worst} deviations apart",
            case.bits
        );
        let (typical, worst) = sizes(theirs.map(|(effect, (_, sd))| libm::log(effect.deviation() / sd)));
        assert!(
            typical < 0.35 && worst < 1.0,
            "{} bits: deviations differ by {typical} and {worst}",
            case.bits
        );

        let mut points = BitMatrix::new(case.bits);
        for point in &case.predicted_points {
            points.push(&point.parse::<Bits>().unwrap());
        }
        let predictions = surrogate.predict(points.view()).unwrap().unwrap();
        let mean = case.values.iter().sum::<f64>() / case.values.len() as f64;
        for (i, (found, deviation)) in predictions.means().iter().zip(predictions.deviations()).enumerate() {
            // Theirs are without the intercept, which is the mean, and without the noise.
            let apart = (found - mean - case.predicted_mean[i]).abs();
            assert!(apart < 0.5 * case.predicted_sd[i].max(1e-9), "{} bits, point {i}: {apart}", case.bits);
            let least = case.predicted_sd[i].hypot(case.sigma2_quantiles[1].sqrt());
            let most = case.predicted_sd[i].hypot(case.sigma2_quantiles[4].sqrt());
            assert!((0.85 * least..1.15 * most).contains(deviation), "{least} to {most}, not {deviation}");
        }
    }
}

#[test]
fn intervals_hold_as_often_as_they_say_on_draws_from_the_model() {
    let (layout, mut random) = (Layout::free(6), rng(5));
    let half_cauchy = |random: &mut Rng| (normal(random) / normal(random)).abs();
    let (mut within, mut within_two, mut all) = (0, 0, 0);
    for _ in 0..40 {
        let mut model = surrogate(r#"{ "steps": 50 }"#, &layout);
        let (tau, sigma) = (half_cauchy(&mut random).min(20.0), 1.0 / exponential(&mut random).sqrt());
        let alpha: Vec<f64> =
            (0..21).map(|_| sigma * tau * half_cauchy(&mut random) * normal(&mut random)).collect();
        let terms = model.observations.terms().clone();
        let value = |x: &Bits, random: &mut Rng| {
            30.0 + shared_terms::sum_at(&alpha, &terms.of(x)) + sigma * normal(random)
        };
        for _ in 0..25 {
            let x = layout.random(&mut random);
            let value = value(&x, &mut random);
            model.observe(&x, &value.into()).unwrap();
        }
        let mut points = BitMatrix::new(6);
        let unseen: Vec<Bits> = (0..50).map(|_| layout.random(&mut random)).collect();
        points.extend(&unseen);
        let predictions = model.predict(points.view()).unwrap().unwrap();
        for (i, x) in unseen.iter().enumerate() {
            let z = (value(x, &mut random) - predictions.means()[i]) / predictions.deviations()[i];
            within += u32::from(z.abs() < 1.0);
            within_two += u32::from(z.abs() < 2.0);
            all += 1;
        }
    }
    let share = |count: u32| f64::from(count) / f64::from(all);
    // 68 % and 95 % of a normal distribution; tails heavier than its leave more within one deviation.
    let (one, two) = (share(within), share(within_two));
    assert!((0.64..0.79).contains(&one) && (0.92..0.985).contains(&two), "{one} and {two}");
}

#[test]
fn the_terms_of_a_sparse_function_without_noise_are_found_to_each_order() {
    for (order, terms) in [
        (1, vec![(vec![0], 3.0), (vec![4], -1.5)]),
        (2, vec![(vec![0], 3.0), (vec![1, 2], -2.0)]),
        (3, vec![(vec![3], 1.0), (vec![0, 5], 2.0), (vec![1, 2, 4], -4.0)]),
    ] {
        let layout = Layout::free(7);
        let mut model = surrogate(&format!(r#"{{ "order": {order} }}"#), &layout);
        let value = |x: &[bool]| {
            let term =
                |(bits, size): &(Vec<usize>, f64)| if bits.iter().all(|&i| x[i]) { *size } else { 0.0 };
            1e4 + terms.iter().map(term).sum::<f64>()
        };
        let mut random = rng(3);
        for _ in 0..70 {
            let x = layout.random(&mut random);
            model.observe(&x, &value(&x).into()).unwrap();
        }
        let effects = model.effects().unwrap().unwrap();
        assert_eq!(effects.len(), [7, 28, 63][order - 1]);
        for effect in &effects {
            let found = terms.iter().find(|(bits, _)| bits == effect.bits());
            let size = found.map_or(0.0, |(_, size)| *size);
            assert!((effect.size() - size).abs() < 0.05, "order {order}: {effect:?}");
            assert!(effect.deviation() < 0.1, "order {order}: {effect:?}");
        }
        let mut points = BitMatrix::new(7);
        (0..20).for_each(|_| points.push(&layout.random(&mut random)));
        let predictions = model.predict(points.view()).unwrap().unwrap();
        for (x, mean) in points.rows().zip(predictions.means()) {
            assert!((mean - value(x)).abs() < 0.1, "order {order}: {mean} instead of {}", value(x));
        }
    }
}

#[test]
fn what_no_observation_speaks_of_is_uncertain_and_the_middle_of_it_zero() {
    let mut model = surrogate("{}", &Layout::free(4));
    // Bit 2 is always set, bits 0 and 1 never together.
    for (i, point) in ["1010", "0110", "0010", "1011", "0111", "0011"].iter().enumerate() {
        model.observe(&point.parse().unwrap(), &(i as f64 * 0.3).into()).unwrap();
    }
    let effects = model.effects().unwrap().unwrap();
    let effect = |bits: &[usize]| effects.iter().find(|effect| effect.bits() == bits).unwrap();
    for unspoken in [&[2][..], &[0, 1]] {
        assert_eq!(effect(unspoken).size(), 0.0);
        assert!(effect(unspoken).deviation() > 0.0);
    }
    let mut points = BitMatrix::new(4);
    for point in ["1010", "1110", "1000", "1100"] {
        points.push(&point.parse::<Bits>().unwrap());
    }
    let deviations = model.predict(points.view()).unwrap().unwrap().deviations().to_vec();
    // With the pair that never was; without the bit that always was; with both.
    assert!(deviations[1] > deviations[0] && deviations[2] > deviations[0], "{deviations:?}");
    assert!(deviations[3] > deviations[1] && deviations[3] > deviations[2], "{deviations:?}");
}

#[test]
fn sums_of_coefficients_from_the_prior_grow_in_proportion() {
    let scales = vec![1.0; 4000];
    let mut unspoken = Unspoken::new(&scales);
    assert_eq!(unspoken.deviation(0), 0.0);
    // P(|λz| ≤ q) = 0.6827 at q = 1.41, by numerical integration.
    assert!((unspoken.deviation(1) - within_one_of_the_prior()).abs() < 0.12, "{}", unspoken.deviation(1));
    let ratio = unspoken.deviation(64) / unspoken.deviation(32);
    assert!((1.75..2.35).contains(&ratio), "{ratio}");
    assert_eq!(unspoken.deviation(640), 10.0 * unspoken.deviation(64));
}

/// Where the distribution of |λz|, λ half Cauchy and z normal, reaches what ± one deviation of a normal one holds.
fn within_one_of_the_prior() -> f64 {
    let steps = 20_000;
    // P(|λz| ≤ q) = E over z of (2/π) atan(q/|z|), by the midpoint rule.
    let below = |q: f64| {
        let part = |i: i32| {
            let z = 10.0 * (f64::from(i) + 0.5) / f64::from(steps);
            let density = (2.0 / std::f64::consts::PI).sqrt() * libm::exp(-0.5 * z * z);
            density * 2.0 / std::f64::consts::PI * libm::atan(q / z) * 10.0 / f64::from(steps)
        };
        (0..steps).map(part).sum::<f64>()
    };
    let (mut low, mut high) = (0.0, 100.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if below(middle) < WITHIN_ONE { low = middle } else { high = middle }
    }
    low
}

#[test]
fn questions_have_one_answer_and_change_no_draw_nor_the_state() {
    let layout = Layout::free(5);
    let mut model = surrogate("{}", &layout);
    assert_eq!(model.effects().unwrap(), None);
    let mut random = rng(8);
    let mut points = BitMatrix::new(5);
    for i in 0..40 {
        let x = layout.random(&mut random);
        points.push(&x);
        model.observe(&x, &Evaluation::Value(f64::from(i % 7))).unwrap();
        if i % 10 == 9 {
            model.draw(&plugin_api::DrawRequest::new(i as u64)).unwrap();
        }
    }
    let before = model.save().unwrap();
    let (first, second) = (model.predict(points.view()).unwrap(), model.predict(points.view()).unwrap());
    assert!(first.is_some() && first == second);
    assert_eq!(model.effects().unwrap(), model.effects().unwrap());
    assert_eq!(model.save().unwrap(), before);
}

#[test]
fn of_transformed_values_values_are_predicted_and_there_are_no_effects() {
    // Not `log`, which makes ln 1e-10 of what equals the least value: no sum of few terms follows that.
    for values in ["auto", "vizier", "copula"] {
        let model = surrogate(&format!(r#"{{ "values": "{values}" }}"#), &Layout::free(testing::BITS));
        testing::check_transformed_predictions(model, values);
    }
}

#[test]
fn infeasible_points_alone_predict_nothing_and_beside_values_they_are_left() {
    let mut surrogate = surrogate("{}", &Layout::free(6));
    let mut random = rng(6);
    surrogate.observe(&"100000".parse().unwrap(), &Evaluation::infeasible("it burns")).unwrap();
    let none = BitMatrix::new(6);
    assert_eq!((surrogate.predict(none.view()).unwrap(), surrogate.effects().unwrap()), (None, None));
    for _ in 0..40 {
        let x = surrogate.layout.random(&mut random);
        let value = (!x[0]).then(|| -2.0 * x.count_ones() as f64);
        surrogate.observations.add(&x, value).unwrap();
    }
    let point = |mask: u32| (0..6).map(|i| mask >> i & 1 == 1).collect::<Vec<bool>>();
    let lowest = |seed: u64| {
        let drawn = surrogate.draw(&DrawRequest::new(seed)).unwrap();
        (0..64).map(point).min_by(|a, b| drawn.value(a).total_cmp(&drawn.value(b))).unwrap()
    };
    let infeasible = (1..=20).map(lowest).filter(|x| x[0]).count();
    assert!(infeasible <= 2, "{infeasible} of 20");
}
