use plugin_api::options::parse;
use plugin_api::testing::{check_function, check_surrogate};
use plugin_api::{BitMatrix, Problem};

use super::*;

fn forest(json: &str, layout: &Layout) -> RandomForest {
    RandomForest::new(parse(json).unwrap(), layout).unwrap()
}

fn layout() -> Layout {
    Layout::with_groups(12, vec![2..5, 7..11]).unwrap()
}

fn value(bits: &Bits) -> f64 {
    bits.iter().enumerate().map(|(i, &bit)| if bit { i as f64 } else { 0.0 }).sum()
}

fn teach(forest: &mut RandomForest, count: usize, seed: u64) {
    let rng = &mut rng(seed);
    for _ in 0..count {
        let bits = forest.layout.random(rng);
        forest.observe(&bits, &value(&bits).into()).unwrap();
    }
}

#[test]
fn it_keeps_the_contract_under_all_options() {
    check_surrogate(|layout| forest("{}", layout));
    check_surrogate(|layout| forest(r#"{ "version": 2.3, "refit-every": 1, "random": 0 }"#, layout));
    check_surrogate(|layout| forest(r#"{ "random": 1, "trees": 1 }"#, layout));
}

#[test]
fn the_function_drawn_is_one_whichever_way_it_is_asked() {
    for version in ["2.4", "2.3"] {
        let layout = layout();
        let mut forest = forest(&format!(r#"{{ "version": {version}, "random": 0 }}"#), &layout);
        teach(&mut forest, 40, 1);
        let Acquisition::General(drawn) = forest.draw(&DrawRequest::new(1)).unwrap() else { panic!() };
        check_function(drawn, &layout);
    }
}

#[test]
fn the_forest_is_grown_again_after_as_many_observations_as_the_options_say() {
    let mut forest = forest(r#"{ "random": 0, "refit-every": 3 }"#, &layout());
    teach(&mut forest, 10, 1);
    let mut grown = Vec::new();
    for seed in 0..7 {
        forest.draw(&DrawRequest::new(seed)).unwrap();
        grown.push(forest.grown.as_ref().unwrap().0.observations);
        teach(&mut forest, 1, 100 + seed);
    }
    assert_eq!(grown, [10, 10, 10, 13, 13, 13, 16]);
    forest.draw(&DrawRequest::new(9).with_penalty(Penalty::l1(0.5))).unwrap();
    assert_eq!(forest.grown.as_ref().unwrap().0.observations, 17);
}

#[test]
fn known_points_and_points_under_way_promise_nothing() {
    let layout = layout();
    let mut forest = forest(r#"{ "random": 0 }"#, &layout);
    teach(&mut forest, 20, 1);
    let mut pending = BitMatrix::new(12);
    pending.push(&layout.random(&mut rng(77)));
    let drawn = forest.draw(&DrawRequest::new(1).with_pending(pending.clone())).unwrap();
    assert!(forest.observations.iter().all(|(bits, _)| drawn.value(bits) == 0.0));
    assert_eq!(drawn.value(pending.row(0)), 0.0);
    assert!(plugin_api::testing::minimum(&Problem::new(drawn).with_layout(&layout)) < 0.0);
}

#[test]
fn one_draw_in_five_is_random() {
    let mut forest = forest("{}", &layout());
    teach(&mut forest, 20, 1);
    let is_random =
        |seed: &u64| forest.draw(&DrawRequest::new(*seed)).unwrap().kind() == AcquisitionKind::Quadratic;
    let random = (0..2000).filter(is_random).count();
    // Five standard deviations, of √(2000·.2·.8) each.
    assert!((310..=490).contains(&random), "{random} of 2000");
}

#[test]
fn predictions_tell_good_points_from_bad_ones() {
    let layout = layout();
    let mut forest = forest("{}", &layout);
    assert_eq!(forest.predict(BitMatrix::new(12).view()).unwrap(), None);
    teach(&mut forest, 200, 1);
    let (mut points, rng) = (BitMatrix::new(12), &mut rng(2));
    (0..100).for_each(|_| points.push(&layout.random(rng)));
    let predictions = forest.predict(points.view()).unwrap().unwrap();
    let truth: Vec<f64> = points.rows().map(|bits| value(&bits.into())).collect();
    let mean = truth.iter().sum::<f64>() / 100.0;
    let left: f64 = truth.iter().zip(predictions.means()).map(|(y, m)| (y - m) * (y - m)).sum();
    let all: f64 = truth.iter().map(|y| (y - mean) * (y - mean)).sum();
    assert!(left < 0.3 * all, "{left} of {all}");
}

#[test]
fn the_penalty_is_learned_with_the_value() {
    let mut forest = forest(r#"{ "random": 0 }"#, &Layout::free(6));
    for mask in 0..32u32 {
        let bits: Bits = (0..6).map(|i| mask >> i & 1 == 1).collect();
        forest.observe(&bits, &(-f64::from(mask)).into()).unwrap();
    }
    let grow =
        |l1: f64| forest.grow(&Growth { observations: 32, seed: 1, penalty: Penalty::l1(l1) }).unwrap();
    let (none, all) = ([0, 0, 0, 0, 0, 1], [1, 1, 1, 1, 1, 1]);
    assert!(grow(0.0).predict(&all).0 < grow(0.0).predict(&none).0);
    assert!(grow(100.0).predict(&all).0 > grow(100.0).predict(&none).0);
}

#[test]
fn a_forest_goes_on_from_its_state_between_two_fits() {
    let layout = layout();
    let mut one = forest("{}", &layout);
    teach(&mut one, 20, 1);
    one.draw(&DrawRequest::new(1)).unwrap();
    teach(&mut one, 3, 2);
    let mut two = forest("{}", &layout);
    two.restore(&one.save().unwrap().unwrap()).unwrap();
    let point = layout.random(&mut rng(5));
    for seed in 10..30 {
        let drawn = |f: &mut RandomForest| f.draw(&DrawRequest::new(seed)).unwrap().value(&point).to_bits();
        assert_eq!(drawn(&mut one), drawn(&mut two));
        teach(&mut one, 1, seed);
        teach(&mut two, 1, seed);
    }
}

#[test]
fn what_no_forest_can_use_is_refused() {
    let refusal = |json: &str| match parse(json).and_then(|options| RandomForest::new(options, &layout())) {
        Ok(_) => panic!("took {json}"),
        Err(error) => error.to_string(),
    };
    assert_eq!(refusal(r#"{ "version": 2.5 }"#), "`version`: must be 2.4 or 2.3, not 2.5");
    let mut forest = forest("{}", &Layout::free(2));
    let mut refusal =
        |x: &str, value: f64| forest.learn(&x.parse().unwrap(), Some(value)).unwrap_err().to_string();
    assert_eq!(refusal("10", f64::NAN), "the value of 10 is NaN, not within ±1e150");
    assert_eq!(refusal("1", 0.0), "the bits 1 are not in the layout");
    let state =
        br#"{"forest":1,"observations":[],"growth":{"observations":1,"seed":1,"penalty": { "l1": 0.0 }}}"#;
    let error = forest.restore(state).unwrap_err().to_string();
    assert_eq!(error, "not a state of this surrogate: its forest has more observations than it");
}
