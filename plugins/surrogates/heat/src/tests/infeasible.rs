//! Points that are infeasible.

use super::*;

/// Observes random points, of which those with the first bit are infeasible; or ignores these.
fn observed(json: &str, learns: bool, seed: u64) -> Heat {
    let mut heat = heat(json, &Layout::free(8));
    let mut rng = rng(seed);
    for _ in 0..40 {
        let x = heat.layout.random(&mut rng);
        let ones = x.count_ones() as f64;
        let evaluation = if x[0] { Evaluation::infeasible("it burns") } else { (-ones * ones).into() };
        if learns || !x[0] {
            heat.observe(&x, &evaluation).unwrap();
        }
    }
    heat
}

/// The lowest of all points in a draw.
fn proposed(heat: &mut Heat, request: &DrawRequest) -> Bits {
    let drawn = heat.draw(request).unwrap();
    let points = (0..256_u32).map(|mask| -> Bits { (0..8).map(|i| mask >> i & 1 == 1).collect() });
    let seen = |x: &Bits| heat.observations.iter().any(|(other, _)| other == x);
    points.filter(|x| !seen(x)).min_by(|a, b| drawn.value(a).total_cmp(&drawn.value(b))).unwrap()
}

#[test]
fn an_infeasible_region_is_left() {
    let request = DrawRequest::new(1).with_best_total(-49.0);
    let proposed = |values: &str, learns: bool| {
        let json = format!(r#"{{ "values": "{values}" }}"#);
        (0..10).filter(|&seed| proposed(&mut observed(&json, learns, seed), &request)[0]).count()
    };
    for values in ["raw", "copula", "auto", "vizier", "log", "winsor"] {
        let count = proposed(values, true);
        assert!(count <= 1, "{values}: {count} of 10");
    }
    assert!(proposed("raw", false) >= 4, "where it is not told, it goes there");
}

#[test]
fn a_region_without_a_value_is_predicted_to_be_bad() {
    let mut heat = observed("{}", true, 3);
    let points: Vec<Bits> = vec!["11111111".parse().unwrap(), "01111111".parse().unwrap()];
    let told = heat.predict(matrix(&points, 8).view()).unwrap().unwrap();
    assert!(told.means()[0] > told.means()[1] + 10.0, "{:?}", told.means());
}

#[test]
fn what_counts_for_an_infeasible_point_is_nothing_to_improve_on() {
    for json in [r#"{ "values": "raw" }"#, r#"{ "values": "copula" }"#] {
        let mut heat = heat(json, &Layout::free(3));
        heat.observe(&"111".parse().unwrap(), &1.0.into()).unwrap();
        heat.observe(&"110".parse().unwrap(), &2.0.into()).unwrap();
        heat.observe(&"000".parse().unwrap(), &Evaluation::infeasible("it burns")).unwrap();
        for noisy in [false, true] {
            // The penalty of the infeasible point alone is low.
            let request = DrawRequest::new(1).with_noisy(noisy).with_penalty(Penalty::l1(100.0));
            let (learned, fitted) = heat.fit(request.penalty()).unwrap();
            let best = heat.incumbent(&learned, &fitted, &request);
            let penalty = learned.drawn_penalty(request.penalty());
            let means: Vec<f64> = fitted.means(&learned.values).collect();
            let values = if noisy { &means } else { &learned.values };
            let total =
                |row: usize, bits: &[bool]| learned.drawn_scale().from(values[row]) + penalty.of(bits);
            assert_eq!(
                best,
                f64::min(total(0, &[true; 3]), total(1, &[true, true, false])),
                "{json} {noisy}"
            );
        }
    }
}

#[test]
fn before_the_first_value_all_points_are_alike() {
    let mut heat = heat("{}", &Layout::free(4));
    for x in ["1010", "0110"] {
        heat.observe(&x.parse().unwrap(), &Evaluation::infeasible("it burns")).unwrap();
    }
    let drawn = heat.draw(&DrawRequest::new(1).with_penalty(Penalty::l1(0.5))).unwrap();
    assert_eq!((drawn.value(&[false; 4]), drawn.value(&[true, false, true, true])), (0.0, 1.5));
    let points = matrix(&["1111".parse().unwrap()], 4);
    assert_eq!((heat.predict(points.view()).unwrap(), heat.effects().unwrap()), (None, None));
}

#[test]
fn a_state_has_the_points_without_a_value() {
    let mut one = observed("{}", true, 3);
    let state = one.save().unwrap().unwrap();
    let mut other = heat("{}", &Layout::free(8));
    other.restore(&state).unwrap();
    assert_eq!(other.observations, one.observations);
    let request = DrawRequest::new(1).with_best_total(-49.0);
    assert_eq!(proposed(&mut one, &request), proposed(&mut other, &request));
}
