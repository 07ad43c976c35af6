use plugin_api::options::parse;
use plugin_api::testing::{check_function, check_surrogate};
use plugin_api::{BitMatrix, Constraint, Literal, Penalty, Problem};

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
    check_surrogate(|layout| forest(r#"{ "choose": "solver" }"#, layout));
    check_surrogate(|layout| forest(r#"{ "values": "auto" }"#, layout));
    check_surrogate(|layout| forest(r#"{ "values": "raw", "choose": "solver", "random": 0 }"#, layout));
}

#[test]
fn the_function_drawn_is_one_whichever_way_it_is_asked() {
    for version in ["2.4", "2.3"] {
        let layout = layout();
        let mut forest =
            forest(&format!(r#"{{ "version": {version}, "random": 0, "choose": "solver" }}"#), &layout);
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
        grown.push(forest.round.as_ref().unwrap().observations);
        teach(&mut forest, 1, 100 + seed);
    }
    assert_eq!(grown, [10, 10, 10, 13, 13, 13, 16]);
    forest.draw(&DrawRequest::new(9).with_penalty(Penalty::l1(0.5))).unwrap();
    assert_eq!(forest.round.as_ref().unwrap().observations, 17);
}

#[test]
fn the_forest_is_grown_again_after_as_many_proposals_even_if_none_was_answered() {
    let mut forest = forest(r#"{ "refit-every": 3 }"#, &layout());
    teach(&mut forest, 10, 1);
    let mut seeds = Vec::new();
    for seed in 0..7 {
        forest.draw(&DrawRequest::new(seed)).unwrap();
        seeds.push(forest.round.as_ref().unwrap().seed);
    }
    assert_eq!(seeds.chunk_by(|a, b| a == b).map(<[u64]>::len).collect::<Vec<_>>(), [3, 3, 1]);
}

#[test]
fn known_points_and_points_under_way_promise_nothing() {
    let layout = layout();
    let mut forest = forest(r#"{ "random": 0, "choose": "solver" }"#, &layout);
    teach(&mut forest, 20, 1);
    let mut pending = BitMatrix::new(12);
    pending.push(&layout.random(&mut rng(77)));
    let drawn = forest.draw(&DrawRequest::new(1).with_pending(pending.clone())).unwrap();
    assert!(forest.observations.iter().all(|(bits, _)| drawn.value(bits) == 0.0));
    assert_eq!(drawn.value(pending.row(0)), 0.0);
    assert!(plugin_api::testing::minimum(&Problem::new(drawn).with_layout(&layout)) < 0.0);
}

/// The point that a draw proposes.
fn proposed(forest: &mut RandomForest, request: &DrawRequest) -> Bits {
    let Acquisition::Quadratic(drawn) = forest.draw(request).unwrap() else { panic!("a general function") };
    assert!(drawn.linear().iter().all(|linear| linear.abs() == 1.0), "a point was chosen");
    drawn.linear().iter().map(|&linear| linear < 0.0).collect()
}

#[test]
fn no_point_is_proposed_twice_or_known_or_under_way_or_against_the_rules() {
    let rule = Constraint::Forbidden(vec![Literal::new(0, 1), Literal::new(1, 1)]);
    let layout = layout().with_constraints(vec![rule]).unwrap();
    for version in ["2.4", "2.3"] {
        let mut forest = forest(&format!(r#"{{ "version": {version} }}"#), &layout);
        let mut seen = Vec::new();
        for seed in 0..280 {
            let mut pending = BitMatrix::new(12);
            pending.extend(seen.iter().skip(seed as usize - seen.len().min(3)));
            let bits = proposed(&mut forest, &DrawRequest::new(seed).with_pending(pending));
            assert!(layout.admits(&bits) && !seen.contains(&bits), "{bits}");
            // Some fail, and some have no value.
            match seed % 10 {
                3 => {}
                5 => forest.learn(&bits, None).unwrap(),
                _ => forest.learn(&bits, Some(value(&bits))).unwrap(),
            }
            seen.push(bits);
        }
    }
}

#[test]
fn challengers_come_in_their_order_between_random_points_and_then_random_points_alone() {
    let layout = Layout::free(12);
    let mut forest = forest("{}", &layout);
    teach(&mut forest, 30, 1);
    for round in 0..20 {
        let mut expected: Option<Vec<Bits>> = None;
        let mut proposals = Vec::new();
        for draw in 0..8 {
            proposals.push(proposed(&mut forest, &DrawRequest::new(8 * round + draw)));
            // What the search found, as it was when the round began.
            expected.get_or_insert_with(|| {
                let round = forest.round.as_ref().unwrap();
                let grown = forest.grow(round.observations, &round.totals, round.seed);
                forest.search(&grown, round.seed)
            });
        }
        let mut challengers = expected.unwrap();
        challengers.reverse();
        challengers.retain(|bits| forest.observations.iter().all(|(known, _)| known != bits));
        let followed: Vec<&Bits> = proposals.iter().filter(|bits| challengers.contains(bits)).collect();
        challengers.dedup();
        let mut order = challengers.iter();
        assert!(followed.iter().all(|bits| order.any(|next| next == *bits)), "the best first");
        for bits in proposals {
            forest.learn(&bits, Some(value(&bits))).unwrap();
        }
    }
}

#[test]
fn where_the_search_has_no_new_points_left_version_2_4_is_random_and_2_3_fits_again() {
    for (version, refits) in [("2.4", false), ("2.3", true)] {
        let mut forest = forest(&format!(r#"{{ "version": {version}, "random": 0 }}"#), &Layout::free(12));
        teach(&mut forest, 20, 1);
        forest.draw(&DrawRequest::new(1)).unwrap();
        let seed = forest.round.as_ref().unwrap().seed;
        forest.round.as_mut().unwrap().challengers.clear();
        forest.draw(&DrawRequest::new(2)).unwrap();
        assert_eq!(forest.round.as_ref().unwrap().seed != seed, refits);
    }
}

#[test]
fn without_values_or_new_points_draws_are_random() {
    let mut forest = forest("{}", &Layout::free(2));
    let mut seen: Vec<Bits> = (1..5).map(|seed| proposed(&mut forest, &DrawRequest::new(seed))).collect();
    seen.sort();
    assert_eq!(seen.iter().map(Bits::to_string).collect::<Vec<_>>(), ["00", "01", "10", "11"]);
    let Acquisition::Quadratic(drawn) = forest.draw(&DrawRequest::new(9)).unwrap() else { panic!() };
    assert!(drawn.linear().iter().all(|linear| linear.abs() != 1.0), "none is left");
}

#[test]
fn one_general_draw_in_five_is_random() {
    let mut forest = forest(r#"{ "choose": "solver" }"#, &layout());
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
    let predict = |l1: f64, levels: &[u32]| {
        let totals = forest.totals(32, &DrawRequest::new(1).with_penalty(Penalty::l1(l1)));
        forest.grow(32, &totals, 1).predict(levels).0
    };
    let (none, all) = ([0, 0, 0, 0, 0, 1], [1, 1, 1, 1, 1, 1]);
    assert!(predict(0.0, &all) < predict(0.0, &none));
    assert!(predict(100.0, &all) > predict(100.0, &none));
}

#[test]
fn a_forest_goes_on_from_its_state_anywhere_between_two_fits() {
    let layout = layout();
    for json in
        ["{}", r#"{ "version": 2.3, "values": "auto" }"#, r#"{ "choose": "solver", "values": "auto" }"#]
    {
        let mut one = forest(json, &layout);
        teach(&mut one, 20, 1);
        let point = layout.random(&mut rng(5));
        let drawn = |forest: &mut RandomForest, seed: u64| {
            let drawn = forest.draw(&DrawRequest::new(seed)).unwrap();
            (drawn.value(&point).to_bits(), drawn.value(&[true; 12]).to_bits(), forest.notes().unwrap())
        };
        for seed in 10..35 {
            let mut two = forest(json, &layout);
            two.restore(&one.save().unwrap().unwrap()).unwrap();
            for later in seed..seed + 4 {
                assert_eq!(drawn(&mut one, later), drawn(&mut two, later));
            }
            assert_eq!(one.save().unwrap(), two.save().unwrap());
            teach(&mut one, 1, seed);
        }
    }
}

#[test]
fn the_improvement_is_of_what_is_learned() {
    let layout = Layout::free(6);
    let drawn = |values: &str| {
        let json = format!(r#"{{ "random": 0, "choose": "solver", "values": "{values}" }}"#);
        let mut forest = forest(&json, &layout);
        teach(&mut forest, 20, 1);
        // An outlier, for `winsor`.
        forest.learn(&Bits::from(vec![true; 6]), Some(1e3)).unwrap();
        let drawn = forest.draw(&DrawRequest::new(1)).unwrap();
        plugin_api::testing::minimum(&Problem::new(drawn).with_layout(&layout))
    };
    let all = ["log", "raw", "auto", "vizier", "copula", "winsor"].map(drawn);
    assert!(all.iter().enumerate().all(|(i, one)| all[..i].iter().all(|other| one != other)), "{all:?}");
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
    let mut refusal = |observations: &str, round: &str| {
        let state = format!(
            r#"{{"forest":2,"observations":[{observations}],"unanswered":[],"round":{{"observations":1,"seed":1,
            "shift":null,"proposed":0,"passed_over":0,{round}}}}}"#
        );
        let error = forest.restore(state.as_bytes()).unwrap_err().to_string();
        error.strip_prefix("not a state of this surrogate: ").unwrap().to_owned()
    };
    let (values, more) = ("its forest has other values than it", "its forest has more observations than it");
    assert_eq!(refusal("", r#""totals":[1.0],"challengers":[]"#), more);
    assert_eq!(refusal(r#"["10",null]"#, r#""totals":[],"challengers":[]"#), values);
    assert_eq!(refusal(r#"["10",1.0]"#, r#""totals":[1.0,2.0],"challengers":[]"#), values);
    let challengers = r#""totals":[1.0],"challengers":["101"]"#;
    assert_eq!(refusal(r#"["10",1.0]"#, challengers), "the bits 101 are not in the layout");
}

/// Whether the first proposal has the first bit, with which points are infeasible; or ignored.
fn proposes_the_first_bit(learns: bool, seed: u64) -> bool {
    let layout = Layout::free(10);
    let mut forest = forest(r#"{ "random": 0 }"#, &layout);
    let random = &mut rng(seed);
    for _ in 0..60 {
        let x = layout.random(random);
        let value = (!x[0]).then(|| -value(&x));
        if learns || value.is_some() {
            forest.learn(&x, value).unwrap();
        }
    }
    forest.draw(&DrawRequest::new(seed)).unwrap();
    forest.unanswered[0][0]
}

#[test]
fn an_infeasible_region_is_left() {
    let [learns, ignores] =
        [true, false].map(|learns| (0..20).filter(|&seed| proposes_the_first_bit(learns, seed)).count());
    assert!(learns <= 2 && ignores >= 5, "{learns} and {ignores}");
}

#[test]
fn before_the_first_value_there_is_no_forest() {
    let mut forest = forest("{}", &layout());
    let x = layout().random(&mut rng(1));
    forest.observe(&x, &Evaluation::infeasible("it burns")).unwrap();
    forest.draw(&DrawRequest::new(1)).unwrap();
    assert!(forest.round.is_none() && forest.asked().is_none());
    forest.observe(&layout().random(&mut rng(2)), &1.0.into()).unwrap();
    forest.draw(&DrawRequest::new(2)).unwrap();
    assert_eq!(forest.round.as_ref().unwrap().totals, [2.0, 1.0]);
}
