//! What is drawn.

use super::*;

#[test]
fn the_draw_is_the_improvement_on_the_best_total() {
    let n = 6;
    let mut heat = heat("{}", &Layout::free(n));
    let (points, values) = observe(&mut heat, 15, 3);
    let l1 = 0.3;
    let total = |i: usize| values[i] + l1 * points[i].count_ones() as f64;
    let best = (0..15).map(total).fold(f64::INFINITY, f64::min);
    let probe: Vec<Bits> = (0..64u32).map(|mask| (0..n).map(|i| mask >> i & 1 == 1).collect()).collect();
    let predictions = heat.predict(matrix(&probe, n).view()).unwrap().unwrap();
    let (learned, fitted) = heat.fit(&Penalty::default()).unwrap();
    let noise = learned.scale.unit * (fitted.amplitude * fitted.factored.noise).sqrt();
    let drawn = heat.draw(&DrawRequest::new(1).with_penalty(Penalty::l1(l1)).with_best_total(best)).unwrap();
    for (i, x) in probe.iter().enumerate().filter(|(_, x)| !points.contains(x)) {
        // E[max(best − total, 0)] by the sum over many quantiles of the normal distribution.
        let observed = predictions.deviations()[i];
        let deviation = (observed * observed - noise * noise).sqrt();
        let mean = predictions.means()[i] + l1 * x.count_ones() as f64;
        let z = (best - mean) / deviation;
        if z < -4.0 {
            continue;
        }
        let (steps, width) = (40_000, 12.0 / 40_000.0);
        let improvement: f64 = (0..steps)
            .map(|k| -6.0 - 4.0 + (f64::from(k) + 0.5) * width * 1.5)
            .map(|e| libm::exp(-0.5 * e * e) * (z - e).max(0.0) * width * 1.5)
            .sum();
        let expected = -libm::log(deviation * improvement / (2.0 * std::f64::consts::PI).sqrt());
        assert!((drawn.value(x) - expected).abs() < 1e-3, "{x}: {} and {expected}", drawn.value(x));
    }
}

#[test]
fn the_draw_of_transformed_values_is_the_improvement_on_the_lowest_transformed_total() {
    let (n, l1) = (6, 0.3);
    let mut heat = heat(r#"{ "values": "copula" }"#, &Layout::free(n));
    let (points, values) = observe(&mut heat, 15, 3);
    let totals: Vec<f64> = points.iter().zip(&values).map(|(x, y)| y + l1 * x.count_ones() as f64).collect();
    let learned = shared_values::standardise(&shared_values::Values::Copula.transform(&totals)).values;
    let (_, fitted) = heat.fit(&Penalty::l1(l1)).unwrap();
    let drawn = heat.draw(&DrawRequest::new(1).with_penalty(Penalty::l1(l1)).with_best_total(1e9)).unwrap();
    let (theta, nugget) = hyperparameters(&fitted.factored.parameters, n);
    let mut k: Vec<Vec<f64>> =
        points.iter().map(|a| points.iter().map(|b| covariance(&theta, a, b)).collect()).collect();
    (0..15).for_each(|i| k[i][i] += nugget);
    let residual: Vec<f64> = learned.iter().map(|z| z - fitted.mean).collect();
    let weights = eliminate(k.clone(), residual);
    let best = learned.iter().copied().fold(f64::INFINITY, f64::min);
    for mask in 0..64u32 {
        let x: Bits = (0..n).map(|i| mask >> i & 1 == 1).collect();
        let here: Vec<f64> = points.iter().map(|p| covariance(&theta, p, &x)).collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let variance = fitted.amplitude * (1.0 - dot(&here, &eliminate(k.clone(), here.clone()))).max(1e-10);
        let z = (best - fitted.mean - dot(&here, &weights)) / variance.sqrt();
        let expected = -(improvement::log_expected_excess(z) + 0.5 * libm::log(variance));
        // The variance of an observed point is a small difference, of which few digits are right.
        let tolerance = if points.contains(&x) { 0.05 } else { 1e-6 };
        assert!(
            (drawn.value(&x) - expected).abs() < tolerance * expected.abs(),
            "{x}: {} {expected}",
            drawn.value(&x)
        );
    }
}

#[test]
fn a_noisy_objective_is_improved_on_the_lowest_mean_at_evaluated_points() {
    let (n, l1) = (5, 0.4);
    for values in ["raw", "copula"] {
        let mut heat = heat(&format!(r#"{{ "values": "{values}" }}"#), &Layout::free(n));
        let (points, _) = observe(&mut heat, 40, 9);
        let request = DrawRequest::new(1).with_penalty(Penalty::l1(l1)).with_best_total(-100.0);
        let (learned, fitted) = heat.fit(&Penalty::l1(l1)).unwrap();
        let plain = heat.incumbent(&learned, &fitted, &request);
        let lowest = learned.values.iter().copied().fold(f64::INFINITY, f64::min);
        assert_eq!(plain, if values == "raw" { -100.0 } else { lowest });

        // A lucky value, then others at the same point.
        for noise in [-6.0, 1.0, 2.0, 0.5] {
            heat.observe(&points[0], &(11.0 + noise).into()).unwrap();
        }
        let (learned, fitted) = heat.fit(&Penalty::l1(l1)).unwrap();
        let noisy = heat.incumbent(&learned, &fitted, &request.clone().with_noisy(true));
        // The means at the evaluated points as the draw of a bound without deviation has them.
        let json = format!(r#"{{ "values": "{values}", "acquisition": "bound", "kappa": 0.0 }}"#);
        let mut mean = super::heat(&json, &Layout::free(n));
        heat.observations.iter().for_each(|(x, y)| mean.observe(x, &y.unwrap().into()).unwrap());
        let means = mean.draw(&request).unwrap();
        let expected = points.iter().map(|x| means.value(x)).fold(f64::INFINITY, f64::min);
        assert!((noisy - expected).abs() < 1e-6, "{values}: {noisy} and {expected}");
        let unlucky = heat.incumbent(&learned, &fitted, &DrawRequest::new(1).with_penalty(Penalty::l1(l1)));
        assert!(noisy > unlucky + 0.1, "{values}: {noisy} and {unlucky}");
    }
}

#[test]
fn a_pending_point_is_as_an_observation_of_its_mean() {
    let n = 6;
    let json = r#"{ "acquisition": "bound", "kappa": 0.0 }"#;
    let (mut mean, mut bound) =
        (heat(json, &Layout::free(n)), heat(r#"{ "acquisition": "bound" }"#, &Layout::free(n)));
    let (points, _) = observe(&mut mean, 12, 4);
    observe(&mut bound, 12, 4);
    let pending: Vec<Bits> = vec!["101010".parse().unwrap(), "011011".parse().unwrap()];
    assert!(pending.iter().all(|x| !points.contains(x)));
    let request = DrawRequest::new(1).with_pending(matrix(&pending, n));
    let (means, still) = (mean.draw(&DrawRequest::new(1)).unwrap(), mean.draw(&request).unwrap());
    let (learned, fitted) = bound.fit(&Penalty::default()).unwrap();
    let drawn = bound.draw(&request).unwrap();
    let (theta, nugget) = hyperparameters(&fitted.factored.parameters, n);
    let all: Vec<&Bits> = points.iter().chain(&pending).collect();
    let k: Vec<Vec<f64>> = (0..14)
        .map(|i| {
            (0..14).map(|j| covariance(&theta, all[i], all[j]) + if i == j { nugget } else { 0.0 }).collect()
        })
        .collect();
    for mask in 0..64u32 {
        let x: Bits = (0..n).map(|i| mask >> i & 1 == 1).collect();
        assert!((means.value(&x) - still.value(&x)).abs() < 0.05, "the mean moves at {x}");
        let here: Vec<f64> = all.iter().map(|p| covariance(&theta, p, &x)).collect();
        let explained: f64 = here.iter().zip(eliminate(k.clone(), here.clone())).map(|(a, b)| a * b).sum();
        let deviation = learned.scale.unit * (fitted.amplitude * (1.0 - explained).max(1e-10)).sqrt();
        let expected = means.value(&x) - 2.0 * deviation;
        assert!((drawn.value(&x) - expected).abs() < 1e-5, "{x}: {} and {expected}", drawn.value(&x));
    }
}

#[test]
fn functions_drawn_from_the_posterior_have_its_mean_and_covariance() {
    let layout = Layout::with_groups(7, vec![1..4, 4..7]).unwrap().with_ordered_groups(vec![1]).unwrap();
    let mut heat = heat(r#"{ "acquisition": "thompson" }"#, &layout);
    let (points, _) = observe(&mut heat, 9, 16);
    let mut rng = rng(17);
    let asked: Vec<Bits> = (0..5).map(|_| layout.random(&mut rng)).chain([points[0].clone()]).collect();
    heat.draw(&DrawRequest::new(0)).unwrap();
    // From here on the hyperparameters hardly move: a draw goes on from those of the last.
    (0..30).for_each(|_| drop(heat.draw(&DrawRequest::new(0)).unwrap()));
    let (learned, fitted) = heat.fit(&Penalty::default()).unwrap();
    let (kernel, similarity) = (heat.kernel, &fitted.factored.similarity);
    let mut packed = Packed::new(&heat.variables);
    asked.iter().for_each(|x| packed.push(x));
    let of = |i: usize, with: &Packed| similarity.with_all(kernel, &packed, i, with);
    let mut k: Vec<Vec<f64>> =
        (0..9).map(|i| similarity.with_all(kernel, &heat.points, i, &heat.points)).collect();
    (0..9).for_each(|i| k[i][i] += fitted.factored.nugget());
    let draws = 2000;
    let values: Vec<Vec<f64>> = (0..draws)
        .map(|seed| {
            let drawn = heat.draw(&DrawRequest::new(seed)).unwrap();
            asked.iter().map(|x| drawn.value(x)).collect()
        })
        .collect();
    let count = draws as f64;
    let mean = |i: usize| values.iter().map(|v| v[i]).sum::<f64>() / count;
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let unit = learned.scale.unit;
    for i in 0..6 {
        let solved = eliminate(k.clone(), of(i, &heat.points));
        let residual: Vec<f64> = learned.values.iter().map(|z| z - fitted.mean).collect();
        let expected = learned.scale.from(fitted.mean + dot(&solved, &residual));
        let variance = |j: usize| {
            unit * unit * fitted.amplitude * (of(i, &packed)[j] - dot(&solved, &of(j, &heat.points)))
        };
        let deviation = variance(i).max(0.0).sqrt();
        assert!(
            (mean(i) - expected).abs() < 5.0 * deviation / count.sqrt() + 1e-3,
            "{i}: {} {expected}",
            mean(i)
        );
        for j in 0..6 {
            let found = values.iter().map(|v| (v[i] - mean(i)) * (v[j] - mean(j))).sum::<f64>() / count;
            let size = (variance(i).abs() * variance(i).abs()).sqrt().max(1e-4 * unit * unit);
            assert!(
                (found - variance(j)).abs() < 0.2 * size.max(unit * unit * 0.02),
                "{i} {j}: {found} {}",
                variance(j)
            );
        }
    }
}

#[test]
fn gains_of_moves_are_differences_of_values_for_all_kinds_of_variables() {
    let sampled = r#"{ "hyperparameters": "sampled" }"#;
    let dictionary = r#"{ "kernel": "dictionary", "lengthscales": "common" }"#;
    for options in
        ["{}", sampled, dictionary, r#"{ "acquisition": "bound" }"#, r#"{ "acquisition": "thompson" }"#]
    {
        gains_are_differences(options);
    }
}

fn gains_are_differences(options: &str) {
    let layout = Layout::with_groups(14, vec![2..5, 6..11]).unwrap().with_ordered_groups(vec![1]).unwrap();
    let mut heat = heat(options, &layout);
    observe(&mut heat, 30, 13);
    let drawn = heat.draw(&DrawRequest::new(1).with_penalty(Penalty::l1(0.2))).unwrap();
    let mut rng = rng(14);
    let points: Vec<Bits> = (0..10).map(|_| layout.random(&mut rng)).collect();
    for groups in [layout.groups(), &[]] {
        let mut gains = plugin_api::ndarray::Array2::zeros((10, 14));
        drawn.move_gains(matrix(&points, 14).view(), groups, gains.view_mut());
        for (row, x) in points.iter().enumerate() {
            for i in 0..14 {
                let mut there = x.clone();
                there[i] = !there[i];
                if let Some(group) = groups.iter().find(|group| group.contains(&i)) {
                    there[group.clone()].fill(false);
                    there[i] = true;
                }
                let expected = drawn.value(&there) - drawn.value(x);
                assert!((gains[(row, i)] - expected).abs() < 1e-6 * (1.0 + expected.abs()), "{x} {i}");
            }
        }
    }
}

#[test]
fn the_improvement_of_sampled_hyperparameters_is_the_average_of_improvements() {
    let n = 6;
    let mut heat = heat(r#"{ "hyperparameters": "sampled" }"#, &Layout::free(n));
    let (points, _) = observe(&mut heat, 12, 21);
    let request = DrawRequest::new(5).with_best_total(9.0);
    let (learned, fitted) = heat.fit(&Penalty::default()).unwrap();
    let parts = heat.parts(&learned, &fitted, &request);
    assert_eq!(parts.len(), sampled::SAMPLES);
    let scale = learned.scale;
    let drawn = heat.draw(&request).unwrap();
    for mask in (0..64u32).step_by(7) {
        let x: Bits = (0..n).map(|i| mask >> i & 1 == 1).collect();
        if points.contains(&x) {
            continue;
        }
        let improvement = |(predictor, _): &(Predictor, Merit)| {
            let (mean, variance) = predictor.predict(matrix(std::slice::from_ref(&x), n).view())[0];
            let deviation = scale.unit * variance.sqrt();
            deviation * libm::exp(improvement::log_expected_excess((9.0 - scale.from(mean)) / deviation))
        };
        let improvements: Vec<f64> = parts.iter().map(improvement).collect();
        let expected = -libm::log(improvements.iter().sum::<f64>() / 10.0);
        let spread = improvements.iter().fold(0.0_f64, |most, i| most.max((i / improvements[0] - 1.0).abs()));
        assert!(spread > 0.01, "the samples differ: {improvements:?}");
        assert!(
            (drawn.value(&x) - expected).abs() < 1e-6 * (1.0 + expected.abs()),
            "{} {expected}",
            drawn.value(&x)
        );
    }
}
