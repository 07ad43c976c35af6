//! What the plugin promises as a whole.

use plugin_api::BitMatrix;
use plugin_api::options::parse;
use plugin_api::random::normal;
use plugin_api::testing::check_surrogate;
use shared_values::testing;

use super::*;

fn mercer(json: &str, layout: &Layout) -> Mercer {
    Mercer::new(parse(json).unwrap(), layout).unwrap()
}

fn draw(surrogate: &mut Mercer, request: &DrawRequest) -> Quadratic {
    match surrogate.draw(request).unwrap() {
        Acquisition::Quadratic(drawn) => drawn,
        _ => panic!("drew a general function"),
    }
}

/// A quadratic function without noise.
fn value(x: &[bool]) -> f64 {
    let set = |i: usize| f64::from(u8::from(x[i]));
    1e4 + 3.0 * set(0) - 2.0 * set(1) * set(2) + set(3) * set(5) - set(4)
}

fn observed(json: &str, layout: &Layout, count: usize) -> Mercer {
    let (mut surrogate, mut random) = (mercer(json, layout), rng(6));
    for _ in 0..count {
        let x = layout.random(&mut random);
        surrogate.learn(&x, Some(value(&x))).unwrap();
    }
    surrogate
}

#[test]
fn it_keeps_the_contract_under_all_options() {
    for values in ["raw", "auto", "vizier", "copula", "log", "winsor"] {
        check_surrogate(|layout| mercer(&format!(r#"{{ "values": "{values}" }}"#), layout));
    }
}

#[test]
fn a_quadratic_function_far_from_zero_is_found() {
    let layout = Layout::free(6);
    let mut surrogate = observed("{}", &layout, 60);
    let drawn = draw(&mut surrogate, &DrawRequest::new(1));
    let mut points = BitMatrix::new(6);
    for mask in 0..64 {
        let x: Vec<bool> = (0..6).map(|i| mask >> i & 1 == 1).collect();
        assert!((drawn.value(&x) - value(&x)).abs() < 0.05, "{} at {x:?}", drawn.value(&x) - value(&x));
        points.push(&x);
    }
    let predictions = surrogate.predict(points.view()).unwrap().unwrap();
    for ((x, mean), deviation) in points.rows().zip(predictions.means()).zip(predictions.deviations()) {
        assert!((mean - value(x)).abs() < 0.02 && *deviation < 0.02, "{mean} ± {deviation} at {x:?}");
    }
    let effects = surrogate.effects().unwrap().unwrap();
    assert_eq!(effects.len(), 21);
    for effect in effects {
        let expected = match effect.bits() {
            [0] => 3.0,
            [1, 2] => -2.0,
            [3, 5] => 1.0,
            [4] => -1.0,
            _ => 0.0,
        };
        let bits = effect.bits();
        assert!((effect.size() - expected).abs() < 0.05 && effect.deviation() < 0.05, "{bits:?}");
    }
}

#[test]
fn effects_are_the_mean_and_spread_of_draws() {
    let layout = Layout::with_groups(6, std::iter::once(1..4).collect()).unwrap();
    let mut surrogate = mercer("{}", &layout);
    let mut random = rng(2);
    for _ in 0..14 {
        let x = layout.random(&mut random);
        surrogate.learn(&x, Some(value(&x) + normal(&mut random))).unwrap();
    }
    let effects = surrogate.effects().unwrap().unwrap();
    // 6 bits and 15 pairs, three of them inside the group.
    assert_eq!(effects.len(), 18);
    let draws: Vec<Quadratic> =
        (0..20_000).map(|seed| draw(&mut surrogate, &DrawRequest::new(seed))).collect();
    for effect in effects {
        let sizes = draws.iter().map(|drawn| match *effect.bits() {
            [i] => drawn.linear()[i],
            [i, j] => drawn.pair(i, j),
            _ => panic!("a term of {:?}", effect.bits()),
        });
        let sizes: Vec<f64> = sizes.collect();
        let mean = sizes.iter().sum::<f64>() / 20_000.0;
        let variance = sizes.iter().map(|size| (size - mean) * (size - mean)).sum::<f64>() / 20_000.0;
        let deviation = variance.sqrt();
        let error = (mean - effect.size()).abs() / (deviation / 20_000f64.sqrt());
        assert!(error < 4.5, "{:?}: {mean} instead of {}", effect.bits(), effect.size());
        let ratio = deviation / effect.deviation();
        assert!((ratio - 1.0).abs() < 0.05, "{:?}: {ratio}", effect.bits());
    }
}

#[test]
fn only_pairs_inside_a_group_have_no_coefficient() {
    let mut surrogate = mercer("{}", &Layout::with_groups(5, vec![0..2, 2..4]).unwrap());
    for observed in [None, Some("10011")] {
        if let Some(x) = observed {
            surrogate.learn(&x.parse().unwrap(), Some(1.0)).unwrap();
        }
        let drawn = draw(&mut surrogate, &DrawRequest::new(1));
        for i in 0..5 {
            for j in i + 1..5 {
                assert_eq!(drawn.pair(i, j) == 0.0, [(0, 1), (2, 3)].contains(&(i, j)), "({i}, {j})");
            }
        }
    }
}

#[test]
fn a_penalty_is_added_to_raw_draws_and_learned_with_the_others() {
    let layout = Layout::free(6);
    let gain = |json: &str, l1: f64| {
        let mut surrogate = observed(json, &layout, 30);
        let drawn = draw(&mut surrogate, &DrawRequest::new(4).with_penalty(Penalty::l1(l1)));
        drawn.value(&[true; 6]) - drawn.value(&[false; 6])
    };
    assert!((gain("{}", 5.0) - gain("{}", 0.0) - 30.0).abs() < 1e-9);
    // A penalty that is all there is makes ranks of the number of bits: about ±2 between none and all.
    let copula = gain(r#"{ "values": "copula" }"#, 1e6);
    assert!((2.0..6.0).contains(&copula), "{copula}");
}

#[test]
fn equal_and_extreme_values_give_finite_draws() {
    for values in [[0.0; 4], [7.5; 4], [1e150, -1e150, 1e149, 0.0], [1e-300, 0.0, -1e-300, 5e-324]] {
        for json in ["{}", r#"{ "values": "auto" }"#] {
            let mut surrogate = mercer(json, &Layout::free(2));
            for (x, value) in ["10", "01", "11", "11"].into_iter().zip(values) {
                surrogate.learn(&x.parse().unwrap(), Some(value)).unwrap();
                draw(&mut surrogate, &DrawRequest::new(1));
                surrogate.effects().unwrap();
            }
        }
    }
    draw(&mut mercer("{}", &Layout::free(0)), &DrawRequest::new(1));
}

#[test]
fn the_same_value_at_the_same_point_is_counted_once() {
    let mut surrogate = mercer("{}", &Layout::free(2));
    for value in [1.0, 1.0, 2.0, 1.0] {
        surrogate.learn(&"10".parse().unwrap(), Some(value)).unwrap();
    }
    assert_eq!(surrogate.observations.len(), 2);
}

#[test]
fn draws_have_the_same_bits_on_every_machine() {
    let layout = Layout::with_groups(9, std::iter::once(2..5).collect()).unwrap();
    for (json, expected) in
        [("{}", 79_112_054_559_244_184), (r#"{ "values": "auto" }"#, 7_324_889_660_629_535_874)]
    {
        let (mut surrogate, mut random) = (mercer(json, &layout), rng(7));
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        for count in 1..=70 {
            let x = layout.random(&mut random);
            surrogate.learn(&x, Some(libm::exp(x.count_ones() as f64 + normal(&mut random)))).unwrap();
            if count > 2 && count % 10 != 0 {
                continue;
            }
            let (constant, linear, pairs) =
                draw(&mut surrogate, &DrawRequest::new(count).with_penalty(Penalty::l1(0.1))).into_parts();
            for number in linear.iter().chain(&pairs).chain([&constant]) {
                hash = (hash ^ number.to_bits()).wrapping_mul(0x0100_0000_01b3);
            }
        }
        assert_eq!(hash, expected, "{json}: another order of summation: old journals can't be resumed");
    }
}

#[test]
fn a_settled_search_goes_on_from_its_state() {
    let layout = Layout::free(6);
    let mut one = mercer(r#"{ "values": "auto" }"#, &layout);
    let mut random = rng(6);
    for step in 0..66 {
        let x = layout.random(&mut random);
        one.learn(&x, Some(libm::exp(value(&x) - 1e4) + 0.01 * normal(&mut random))).unwrap();
        if step < 58 {
            continue;
        }
        let mut other = mercer(r#"{ "values": "auto" }"#, &layout);
        other.restore(&one.save().unwrap().unwrap()).unwrap();
        let request = DrawRequest::new(step).with_penalty(Penalty::l1(0.1));
        assert_eq!(draw(&mut one, &request).into_parts(), draw(&mut other, &request).into_parts());
        assert_eq!(one.save().unwrap(), other.save().unwrap());
    }
    assert!(one.chosen.shift.unwrap().factor().is_finite());
}

#[test]
fn what_no_regression_can_use_is_refused() {
    let mut surrogate = mercer("{}", &Layout::free(2));
    let mut refusal =
        |x: &str, value: f64| surrogate.learn(&x.parse().unwrap(), Some(value)).unwrap_err().to_string();
    assert_eq!(refusal("10", f64::NAN), "the value of 10 is NaN, not within ±1e150");
    assert_eq!(refusal("1", 0.0), "the bits 1 are not in the layout");
    let error = Mercer::new(Options::default(), &Layout::free(1_000_000_000)).err().unwrap();
    assert_eq!(error.to_string(), "1000000000 bits, more than the 1000 of a regression on pairs");
}

#[test]
fn a_state_of_another_layout_version_or_grid_is_refused_and_changes_nothing() {
    let mut one = mercer("{}", &Layout::free(2));
    one.learn(&"10".parse().unwrap(), Some(0.1)).unwrap();
    one.draw(&DrawRequest::new(1)).unwrap();
    let state = String::from_utf8(one.save().unwrap().unwrap()).unwrap();
    let mut other = mercer("{}", &Layout::free(3));
    other.learn(&"101".parse().unwrap(), Some(3.0)).unwrap();
    let before = other.save().unwrap();
    for (state, why) in [
        (state.clone(), "the bits 10 are not in the layout"),
        (state.replace("\"mercer\":1", "\"mercer\":9"), "its version is 9, not 1"),
        (state.replace("[2,4]", "[7,4]"), "its hyperparameters are not in the grid"),
        (state.replace("\"shift\":null", "\"shift\":8"), "its hyperparameters are not in the grid"),
    ] {
        let error = other.restore(state.as_bytes()).unwrap_err().to_string();
        assert_eq!(error, format!("not a state of this surrogate: {why}"));
    }
    assert_eq!(other.save().unwrap(), before);
}

#[test]
fn of_transformed_values_values_are_predicted_and_there_are_no_effects() {
    // Not `log`: a sixteenth of all points has the least value, of which it makes ln 1e-10.
    for values in ["auto", "vizier", "copula"] {
        let model = mercer(&format!(r#"{{ "values": "{values}" }}"#), &Layout::free(testing::BITS));
        testing::check_transformed_predictions(model, values);
    }
}

/// How many of twenty draws are lowest where the first of six bits is set, which is where points are infeasible; or ignored.
fn draws_with_the_first_bit(json: &str, learns: bool) -> usize {
    let layout = Layout::free(6);
    let (mut surrogate, mut random) = (mercer(json, &layout), rng(6));
    for _ in 0..40 {
        let x = layout.random(&mut random);
        let value = (!x[0]).then(|| value(&x));
        if learns || value.is_some() {
            surrogate.learn(&x, value).unwrap();
        }
    }
    let point = |mask: u32| (0..6).map(|i| mask >> i & 1 == 1).collect::<Vec<bool>>();
    let lowest = |seed: u64| {
        let drawn = draw(&mut surrogate, &DrawRequest::new(seed));
        (0..64).map(point).min_by(|a, b| drawn.value(a).total_cmp(&drawn.value(b))).unwrap()
    };
    (1..=20).map(lowest).filter(|x| x[0]).count()
}

#[test]
fn an_infeasible_region_is_left() {
    for values in ["raw", "copula", "auto"] {
        let json = format!(r#"{{ "values": "{values}" }}"#);
        let (learns, ignores) =
            (draws_with_the_first_bit(&json, true), draws_with_the_first_bit(&json, false));
        assert!(learns <= 2 && ignores >= 5, "{values}: {learns} and {ignores}");
    }
}

#[test]
fn infeasible_points_alone_predict_nothing_and_count_once() {
    let mut surrogate = mercer("{}", &Layout::free(2));
    for x in ["10", "10", "11"] {
        surrogate.observe(&x.parse().unwrap(), &Evaluation::infeasible("it burns")).unwrap();
    }
    assert_eq!(surrogate.observations.len(), 2);
    assert_eq!(
        (surrogate.predict(BitMatrix::new(2).view()).unwrap(), surrogate.effects().unwrap()),
        (None, None)
    );
    draw(&mut surrogate, &DrawRequest::new(1));
}
