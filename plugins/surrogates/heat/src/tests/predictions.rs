//! What is predicted.

use super::extended::{Extended, eliminate};
use super::{
    Bits, Layout, Penalty, Rng, Surrogate, covariance, heat, hyperparameters, matrix, normal, observe, rng,
};
use plugin_api::DrawRequest;

#[test]
fn predictions_are_those_of_a_solve_in_extended_precision() {
    let n = 7;
    for options in ["{}", r#"{ "lengthscales": "common" }"#] {
        let mut heat = heat(options, &Layout::free(n));
        let (points, values) = observe(&mut heat, 60, 1);
        let (learned, fitted) = heat.fit(&Penalty::default()).unwrap();
        let (theta, nugget) = hyperparameters(&fitted.factored.parameters, n);
        let k = |a: &Bits, b: &Bits| Extended::from(covariance(&theta, a, b));
        let mut matrix: Vec<Vec<Extended>> =
            points.iter().map(|a| points.iter().map(|b| k(a, b)).collect()).collect();
        (0..60).for_each(|i| matrix[i][i] = matrix[i][i] + Extended::from(nugget));
        let solve = |b: Vec<Extended>| eliminate(matrix.clone(), b);
        let sum = |a: &[Extended]| a.iter().fold(Extended::from(0.0), |sum, x| sum + *x);
        let dot = |a: &[Extended], b: &[Extended]| {
            a.iter().zip(b).fold(Extended::from(0.0), |sum, (a, b)| sum + *a * *b)
        };
        let scaled: Vec<Extended> = learned.values.iter().map(|y| Extended::from(*y)).collect();
        let mean = sum(&solve(scaled.clone())) / sum(&solve(vec![Extended::from(1.0); 60]));
        let residual: Vec<Extended> = scaled.iter().map(|y| *y - mean).collect();
        let weights = solve(residual.clone());
        let amplitude = (dot(&residual, &weights).to_f64() + 1.0) / 61.0;
        assert!(
            (fitted.mean - mean.to_f64()).abs() < 1e-9 && (fitted.amplitude / amplitude - 1.0).abs() < 1e-9
        );
        let average = values.iter().sum::<f64>() / 60.0;
        let unit = (values.iter().map(|y| (y - average) * (y - average)).sum::<f64>() / 60.0).sqrt();

        let (probe, _) = observe(&mut super::heat("{}", &Layout::free(n)), 20, 2);
        let predictions = heat.predict(super::matrix(&probe, n).view()).unwrap().unwrap();
        for (i, x) in probe.iter().enumerate() {
            let here: Vec<Extended> = points.iter().map(|p| k(p, x)).collect();
            let expected = average + unit * (mean + dot(&here, &weights)).to_f64();
            let explained = dot(&here, &solve(here.clone()));
            let left = (Extended::from(1.0) - explained).to_f64().max(1e-10);
            let deviation = unit * (amplitude * (left + nugget - 1e-8)).sqrt();
            assert!((predictions.means()[i] - expected).abs() < 1e-9 * unit, "{x}");
            assert!((predictions.deviations()[i] - deviation).abs() < 1e-6 * deviation, "{x}");
        }
    }
}

#[test]
fn predictions_of_transformed_values_are_near_values_not_seen() {
    for values in ["auto", "vizier", "copula", "log", "winsor"] {
        let n = 8;
        let json = format!(r#"{{ "values": "{values}" }}"#);
        let mut heat = heat(&json, &Layout::free(n));
        observe(&mut heat, 120, 6);
        // Draws in between, with a penalty, change nothing of what is asked for.
        heat.draw(&DrawRequest::new(1).with_penalty(Penalty::l1(2.0))).unwrap();
        let (probe, expected) = observe(&mut super::heat("{}", &Layout::free(n)), 30, 7);
        let predictions = heat.predict(matrix(&probe, n).view()).unwrap().unwrap();
        let centre = expected.iter().sum::<f64>() / 30.0;
        let (mut errors, mut spread, mut surprise) = (0.0, 0.0, 0.0);
        for ((mean, deviation), y) in predictions.means().iter().zip(predictions.deviations()).zip(&expected)
        {
            errors += (mean - y) * (mean - y);
            spread += (y - centre) * (y - centre);
            surprise += (mean - y) * (mean - y) / (deviation * deviation) / 30.0;
        }
        assert!(errors < 0.1 * spread, "{values}: {errors} of {spread}");
        assert!(surprise < 4.0, "{values}: {surprise}");
    }
}

/// Points and values of a draw from the process: the factor of the covariance times normal numbers.
fn from_the_model(n: usize, count: usize, rng: &mut Rng) -> (Vec<Bits>, Vec<f64>) {
    let theta: Vec<f64> = (0..n).map(|_| 0.25 * libm::exp(0.25 * normal(rng))).collect();
    let points: Vec<Bits> = (0..count).map(|_| Layout::free(n).random(rng)).collect();
    let mut l: Vec<Vec<f64>> = Vec::new();
    for i in 0..points.len() {
        let mut row: Vec<f64> = Vec::new();
        for j in 0..=i {
            let noise = if i == j { 1e-4 } else { 0.0 };
            let k = covariance(&theta, &points[i], &points[j]) + noise;
            let left = k - row.iter().zip(l.get(j).unwrap_or(&row)).map(|(a, b)| a * b).sum::<f64>();
            row.push(if i == j { left.sqrt() } else { left / l[j][j] });
        }
        l.push(row);
    }
    let normals: Vec<f64> = points.iter().map(|_| normal(rng)).collect();
    let value = |row: &Vec<f64>| 5.0 + 2.0 * row.iter().zip(&normals).map(|(l, e)| l * e).sum::<f64>();
    let values = l.iter().map(value).collect();
    (points, values)
}

#[test]
fn intervals_of_ninety_per_cent_hold_nine_of_ten_values_drawn_from_the_model() {
    let (n, count, fresh, sets) = (10, 70, 20, 60);
    let (mut within, mut squares) = (0, 0.0);
    let mut rng: Rng = rng(1);
    for _ in 0..sets {
        let (points, values) = from_the_model(n, count + fresh, &mut rng);
        let mut heat = heat("{}", &Layout::free(n));
        (0..count).for_each(|i| heat.observe(&points[i], &values[i].into()).unwrap());
        let predictions = heat.predict(matrix(&points[count..], n).view()).unwrap().unwrap();
        for i in 0..fresh {
            let z = (values[count + i] - predictions.means()[i]) / predictions.deviations()[i];
            within += usize::from(z.abs() < 1.644_853_626_951);
            squares += z * z;
        }
    }
    let total = (sets * fresh) as f64;
    let (coverage, ratio) = (within as f64 / total, squares / total);
    // The deviation of the share is 0.009 where all values are independent, and more as those of a set are not.
    assert!((0.86..0.94).contains(&coverage), "{coverage} of the values");
    assert!((0.8..1.25).contains(&ratio), "squared errors are {ratio} of what is predicted");
}

#[test]
fn intervals_of_transformed_values_hold_most_values_of_a_function_of_a_draw_from_the_model() {
    // exp of a draw: on the logarithm's scale the model is right, and predictions are of the value itself.
    let (n, count, fresh, sets) = (10, 70, 20, 20);
    let (mut within, mut rng) = (0, rng(2));
    for _ in 0..sets {
        let (points, values) = from_the_model(n, count + fresh, &mut rng);
        let mut heat = heat(r#"{ "values": "auto" }"#, &Layout::free(n));
        (0..count).for_each(|i| heat.observe(&points[i], &libm::exp(0.5 * values[i]).into()).unwrap());
        let predictions = heat.predict(matrix(&points[count..], n).view()).unwrap().unwrap();
        for i in 0..fresh {
            let z =
                (libm::exp(0.5 * values[count + i]) - predictions.means()[i]) / predictions.deviations()[i];
            within += usize::from(z.abs() < 2.0);
        }
    }
    let coverage = within as f64 / (sets * fresh) as f64;
    assert!((0.88..0.99).contains(&coverage), "{coverage} of the values");
}

#[test]
fn between_two_levels_an_ordered_variable_is_predicted_to_lie_between_them() {
    let plain = Layout::with_groups(9, vec![0..6, 6..9]).unwrap();
    let ordered = plain.clone().with_ordered_groups(vec![0]).unwrap();
    let error = |layout: &Layout| {
        let mut heat = heat("{}", layout);
        let point =
            |level: usize, other: usize| -> Bits { (0..9).map(|i| i == level || i == 6 + other).collect() };
        let value = |level: usize, other: usize| (level * level) as f64 + 3.0 * other as f64;
        for level in [0, 1, 2, 3, 5] {
            (0..3).for_each(|other| heat.observe(&point(level, other), &value(level, other).into()).unwrap());
        }
        let asked: Vec<Bits> = (0..3).map(|other| point(4, other)).collect();
        let predictions = heat.predict(matrix(&asked, 9).view()).unwrap().unwrap();
        (0..3).map(|other| (predictions.means()[other] - value(4, other)).abs()).sum::<f64>()
    };
    assert!(error(&ordered) < 0.3 * error(&plain), "{} and {}", error(&ordered), error(&plain));
}

/// What the mean of the model gains on average over all points where these bits are set, by its values at each point.
fn by_averages(layout: &Layout, values: &[(Bits, f64)], bits: &[usize]) -> f64 {
    let mean = |set: &[bool]| {
        let those = values.iter().filter(|(x, _)| bits.iter().zip(set).all(|(&i, &set)| x[i] == set));
        let those: Vec<f64> = those.map(|(_, y)| *y).collect();
        those.iter().sum::<f64>() / those.len() as f64
    };
    assert!(values.iter().all(|(x, _)| layout.admits(x)));
    match bits {
        [_] => mean(&[true]) - mean(&[false]),
        _ => mean(&[true, true]) - mean(&[true, false]) - mean(&[false, true]) + mean(&[false, false]),
    }
}

#[test]
fn effects_are_averages_of_the_mean_over_all_points() {
    let layout = Layout::with_groups(10, vec![1..4, 5..9]).unwrap().with_ordered_groups(vec![1]).unwrap();
    let all: Vec<Bits> = (0..1_u32 << 10)
        .map(|mask| (0..10).map(|i| mask >> i & 1 == 1).collect::<Bits>())
        .filter(|x| layout.admits(x))
        .collect();
    for options in ["{}", r#"{ "lengthscales": "common" }"#] {
        let mut heat = heat(options, &layout);
        observe(&mut heat, 25, 18);
        let predictions = heat.predict(matrix(&all, 10).view()).unwrap().unwrap();
        let values: Vec<(Bits, f64)> = all.iter().cloned().zip(predictions.means().iter().copied()).collect();
        let effects = heat.effects().unwrap().unwrap();
        // Ten bits; all pairs but those within the groups.
        assert_eq!(effects.len(), 10 + 45 - 3 - 6);
        for effect in &effects {
            let expected = by_averages(&layout, &values, effect.bits());
            assert!(
                (effect.size() - expected).abs() < 1e-8,
                "{:?}: {} {expected}",
                effect.bits(),
                effect.size()
            );
        }
    }
}

#[test]
fn deviations_of_effects_are_those_of_functions_drawn_from_the_posterior() {
    let layout = Layout::with_groups(6, vec![1..4, 4..6]).unwrap().with_ordered_groups(vec![0]).unwrap();
    let all: Vec<Bits> = (0..64_u32)
        .map(|mask| (0..6).map(|i| mask >> i & 1 == 1).collect::<Bits>())
        .filter(|x| layout.admits(x))
        .collect();
    let mut heat = heat(r#"{ "acquisition": "thompson" }"#, &layout);
    observe(&mut heat, 6, 19);
    (0..30).for_each(|seed| drop(heat.draw(&DrawRequest::new(seed)).unwrap()));
    let effects = heat.effects().unwrap().unwrap();
    let draws = 1000;
    let mut sums = vec![(0.0, 0.0); effects.len()];
    for seed in 0..draws {
        let drawn = heat.draw(&DrawRequest::new(seed)).unwrap();
        let values: Vec<(Bits, f64)> = all.iter().map(|x| (x.clone(), drawn.value(x))).collect();
        for (sum, effect) in sums.iter_mut().zip(&effects) {
            let off = by_averages(&layout, &values, effect.bits()) - effect.size();
            *sum = (sum.0 + off, sum.1 + off * off);
        }
    }
    for ((sum, squares), effect) in sums.into_iter().zip(&effects) {
        let (mean, deviation) = (sum / draws as f64, (squares / draws as f64).sqrt());
        assert!(mean.abs() < 0.2 * effect.deviation(), "{:?}: {mean}", effect.bits());
        assert!((deviation / effect.deviation() - 1.0).abs() < 0.15, "{:?}: {deviation}", effect.bits());
    }
}

#[test]
fn every_family_of_kernels_learns_what_it_has_not_seen() {
    let dictionary = r#"{ "kernel": "dictionary" }"#;
    for options in ["{}", r#"{ "kernel": "overlap" }"#, dictionary, r#"{ "lengthscales": "common" }"#] {
        let n = 8;
        let mut heat = heat(options, &Layout::free(n));
        observe(&mut heat, 120, 6);
        let (probe, expected) = observe(&mut super::heat("{}", &Layout::free(n)), 40, 7);
        let predictions = heat.predict(matrix(&probe, n).view()).unwrap().unwrap();
        let centre = expected.iter().sum::<f64>() / 40.0;
        let (mut errors, mut spread) = (0.0, 0.0);
        for (mean, y) in predictions.means().iter().zip(&expected) {
            errors += (mean - y) * (mean - y);
            spread += (y - centre) * (y - centre);
        }
        assert!(errors < 0.15 * spread, "{options}: {errors} of {spread}");
    }
}
