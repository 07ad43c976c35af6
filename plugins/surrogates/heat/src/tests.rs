use plugin_api::options::parse;
use plugin_api::random::normal;
use plugin_api::testing::check_surrogate;
use plugin_api::{BitMatrix, Rng, rng};

use super::*;

fn heat(json: &str, layout: &Layout) -> Heat {
    Heat::new(parse(json).unwrap(), layout).unwrap()
}

fn matrix(points: &[Bits], n: usize) -> BitMatrix {
    let mut matrix = BitMatrix::new(n);
    matrix.extend(points);
    matrix
}

/// Solves Ax = b by Gauss-Jordan elimination with pivots: another way than the factor's.
fn eliminate(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for i in 0..n {
        let pivot = (i..n).max_by(|&p, &q| a[p][i].abs().total_cmp(&a[q][i].abs())).unwrap();
        a.swap(i, pivot);
        b.swap(i, pivot);
        for row in (0..n).filter(|&row| row != i) {
            let factor = a[row][i] / a[i][i];
            let pivot = a[i].clone();
            a[row].iter_mut().zip(&pivot).for_each(|(entry, pivot)| *entry -= factor * pivot);
            b[row] -= factor * b[i];
        }
    }
    (0..n).map(|i| b[i] / a[i][i]).collect()
}

/// θ for each free bit and the nugget of a surrogate of free bits.
fn hyperparameters(parameters: &[f64], n: usize) -> (Vec<f64>, f64) {
    let theta = (0..n).map(|i| libm::exp(parameters[i.min(parameters.len() - 2)])).collect();
    (theta, libm::exp(*parameters.last().unwrap()) + 1e-8)
}

fn covariance(theta: &[f64], a: &[bool], b: &[bool]) -> f64 {
    let differ = theta.iter().zip(a.iter().zip(b)).filter(|(_, (a, b))| a != b);
    libm::exp(-differ.map(|(theta, _)| theta).sum::<f64>())
}

/// Observations of an uneven function.
fn observe(heat: &mut Heat, count: usize, seed: u64) -> (Vec<Bits>, Vec<f64>) {
    let mut rng = rng(seed);
    let points: Vec<Bits> = (0..count).map(|_| heat.layout.random(&mut rng)).collect();
    let value =
        |x: &Bits| 3.0 * f64::from(x[0] ^ x[1]) - f64::from(x[2]) + 0.2 * x.count_ones() as f64 + 10.0;
    let values: Vec<f64> = points.iter().map(value).collect();
    points.iter().zip(&values).for_each(|(x, y)| heat.observe(x, &(*y).into()).unwrap());
    (points, values)
}

#[test]
fn it_keeps_the_contract_under_all_options() {
    check_surrogate(|layout| heat("{}", layout));
    check_surrogate(|layout| heat(r#"{ "lengthscales": "common" }"#, layout));
    check_surrogate(|layout| heat(r#"{ "acquisition": "bound", "kappa": 1.0, "spread": 1.0 }"#, layout));
    check_surrogate(|layout| heat(r#"{ "acquisition": "thompson" }"#, layout));
    check_surrogate(|layout| heat(r#"{ "acquisition": "thompson", "values": "copula" }"#, layout));
    for values in ["auto", "vizier", "copula", "log", "winsor"] {
        check_surrogate(|layout| heat(&format!(r#"{{ "values": "{values}" }}"#), layout));
    }
}

#[test]
fn predictions_are_those_of_a_dense_solve() {
    let n = 7;
    for options in ["{}", r#"{ "lengthscales": "common" }"#] {
        let mut heat = heat(options, &Layout::free(n));
        let (points, values) = observe(&mut heat, 30, 1);
        let (_, fitted) = heat.fit(Penalty::NONE).unwrap();
        let (theta, nugget) = hyperparameters(&fitted.factored.parameters, n);
        let mut k: Vec<Vec<f64>> =
            (0..30).map(|i| (0..30).map(|j| covariance(&theta, &points[i], &points[j])).collect()).collect();
        (0..30).for_each(|i| k[i][i] += nugget);
        let average = values.iter().sum::<f64>() / 30.0;
        let unit = (values.iter().map(|y| (y - average) * (y - average)).sum::<f64>() / 30.0).sqrt();
        let scaled: Vec<f64> = values.iter().map(|y| (y - average) / unit).collect();
        let (by_ones, by_values) =
            (eliminate(k.clone(), vec![1.0; 30]), eliminate(k.clone(), scaled.clone()));
        let mean = by_values.iter().sum::<f64>() / by_ones.iter().sum::<f64>();
        let residual: Vec<f64> = scaled.iter().map(|y| y - mean).collect();
        let weights = eliminate(k.clone(), residual.clone());
        let misfit: f64 = residual.iter().zip(&weights).map(|(r, a)| r * a).sum();
        let amplitude = (misfit + 1.0) / 31.0;

        let (probe, _) = observe(&mut self::heat("{}", &Layout::free(n)), 20, 2);
        let predictions = heat.predict(matrix(&probe, n).view()).unwrap().unwrap();
        for (i, x) in probe.iter().enumerate() {
            let here: Vec<f64> = points.iter().map(|p| covariance(&theta, p, x)).collect();
            let solved = eliminate(k.clone(), here.clone());
            let expected = mean + here.iter().zip(&weights).map(|(k, a)| k * a).sum::<f64>();
            let explained: f64 = here.iter().zip(&solved).map(|(a, b)| a * b).sum();
            let deviation = unit * (amplitude * (1.0 - explained + nugget - 1e-8)).sqrt();
            assert!((predictions.means()[i] - (average + unit * expected)).abs() < 1e-7);
            assert!((predictions.deviations()[i] - deviation).abs() < 1e-6 * unit);
        }
    }
}

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
    let (learned, fitted) = heat.fit(Penalty::NONE).unwrap();
    let noise = learned.scale.unit * (fitted.amplitude * fitted.factored.noise).sqrt();
    let drawn = heat.draw(&DrawRequest::new(1).with_l1(l1).with_best_total(best)).unwrap();
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
    let (_, fitted) = heat.fit(Penalty { l1 }).unwrap();
    let drawn = heat.draw(&DrawRequest::new(1).with_l1(l1).with_best_total(1e9)).unwrap();
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
fn predictions_of_transformed_values_are_near_values_not_seen() {
    for values in ["auto", "vizier", "copula", "log", "winsor"] {
        let n = 8;
        let json = format!(r#"{{ "values": "{values}" }}"#);
        let mut heat = heat(&json, &Layout::free(n));
        observe(&mut heat, 120, 6);
        // Draws in between, with a penalty, change nothing of what is asked for.
        heat.draw(&DrawRequest::new(1).with_l1(2.0)).unwrap();
        let (probe, expected) = observe(&mut self::heat("{}", &Layout::free(n)), 30, 7);
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

#[test]
fn auto_notes_its_choice_and_goes_on_from_it_when_restored() {
    let mut heat = heat(r#"{ "values": "auto" }"#, &Layout::free(6));
    let mut rng = rng(8);
    for _ in 0..40 {
        let x = Layout::free(6).random(&mut rng);
        let value = libm::exp(2.0 * x.count_ones() as f64 - 3.0 * f64::from(x[0] ^ x[1]));
        heat.observe(&x, &value.into()).unwrap();
    }
    assert!(heat.notes().unwrap().is_empty());
    heat.draw(&DrawRequest::new(1)).unwrap();
    let notes = heat.notes().unwrap();
    assert!(notes.len() == 1 && notes[0].1.starts_with("log, shifted by 0.0"), "{notes:?}");
    let state = String::from_utf8(heat.save().unwrap().unwrap()).unwrap();
    let mut other = self::heat(r#"{ "values": "auto" }"#, &Layout::free(6));
    other.restore(state.as_bytes()).unwrap();
    assert_eq!(other.notes().unwrap(), notes);
    let at = |heat: &mut Heat| heat.draw(&DrawRequest::new(2)).unwrap().value(&[true; 6]).to_bits();
    assert_eq!(at(&mut heat), at(&mut other));
    let wrong = state.replace(r#""shift":"#, r#""shift":9"#);
    let error = other.restore(wrong.as_bytes()).unwrap_err().to_string();
    assert_eq!(error, "not a state of this surrogate: no transformation has its number");
}

#[test]
fn a_noisy_objective_is_improved_on_the_lowest_mean_at_evaluated_points() {
    let (n, l1) = (5, 0.4);
    for values in ["raw", "copula"] {
        let mut heat = heat(&format!(r#"{{ "values": "{values}" }}"#), &Layout::free(n));
        let (points, _) = observe(&mut heat, 40, 9);
        assert!(!heat.repeats_differ);
        let request = DrawRequest::new(1).with_l1(l1).with_best_total(-100.0);
        let (learned, fitted) = heat.fit(Penalty { l1 }).unwrap();
        let plain = heat.incumbent(&learned, &fitted, &request, false);
        let lowest = learned.values.iter().copied().fold(f64::INFINITY, f64::min);
        assert_eq!(plain, if values == "raw" { -100.0 } else { lowest });

        // A lucky value, then others at the same point.
        for noise in [-6.0, 1.0, 2.0, 0.5] {
            heat.observe(&points[0], &(11.0 + noise).into()).unwrap();
        }
        assert!(heat.repeats_differ);
        let (learned, fitted) = heat.fit(Penalty { l1 }).unwrap();
        let noisy = heat.incumbent(&learned, &fitted, &request, true);
        // The means at the evaluated points as the draw of a bound without deviation has them.
        let json = format!(r#"{{ "values": "{values}", "acquisition": "bound", "kappa": 0.0 }}"#);
        let mut mean = self::heat(&json, &Layout::free(n));
        heat.observations.iter().for_each(|(x, y)| mean.observe(x, &(*y).into()).unwrap());
        let means = mean.draw(&request).unwrap();
        let expected = points.iter().map(|x| means.value(x)).fold(f64::INFINITY, f64::min);
        assert!((noisy - expected).abs() < 1e-6, "{values}: {noisy} and {expected}");
        let unlucky = heat.incumbent(&learned, &fitted, &DrawRequest::new(1).with_l1(l1), false);
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
    let (learned, fitted) = bound.fit(Penalty::NONE).unwrap();
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
fn a_bit_turned_over_everywhere_turns_it_over_in_the_proposals() {
    let n = 9;
    let propose = |turn: &[usize]| -> Vec<Bits> {
        let turned = |x: &Bits| {
            let mut x = x.clone();
            turn.iter().for_each(|&i| x.flip(i));
            x
        };
        let (mut original, mut heat) = (heat("{}", &Layout::free(n)), heat("{}", &Layout::free(n)));
        let (points, values) = observe(&mut original, 25, 5);
        points.iter().zip(&values).for_each(|(x, y)| heat.observe(&turned(x), &(*y).into()).unwrap());
        let drawn = heat.draw(&DrawRequest::new(1)).unwrap();
        let mut all: Vec<Bits> =
            (0..512u32).map(|mask| (0..n).map(|i| mask >> i & 1 == 1).collect()).collect();
        all.sort_by(|a, b| drawn.value(a).total_cmp(&drawn.value(b)));
        all.iter().take(20).map(turned).collect()
    };
    let original = propose(&[]);
    assert_eq!(propose(&[3]), original);
    assert_eq!(propose(&[0, 1, 8]), original);
}

#[test]
fn predictions_of_draws_from_the_model_are_calibrated() {
    let (n, count, fresh) = (10, 80, 40);
    let (mut squares, mut total) = (0.0, 0.0);
    for seed in 0..5 {
        let mut rng: Rng = rng(seed);
        let theta: Vec<f64> = (0..n).map(|_| 0.25 * libm::exp(0.3 * normal(&mut rng))).collect();
        let points: Vec<Bits> = (0..count + fresh).map(|_| Layout::free(n).random(&mut rng)).collect();
        // A draw from the process: the factor of the covariance times normal numbers.
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
        let normals: Vec<f64> = points.iter().map(|_| normal(&mut rng)).collect();
        let values: Vec<f64> = l
            .iter()
            .map(|row| 5.0 + 2.0 * row.iter().zip(&normals).map(|(l, e)| l * e).sum::<f64>())
            .collect();
        let mut heat = heat("{}", &Layout::free(n));
        (0..count).for_each(|i| heat.observe(&points[i], &values[i].into()).unwrap());
        let predictions = heat.predict(matrix(&points[count..], n).view()).unwrap().unwrap();
        for i in 0..fresh {
            let z = (values[count + i] - predictions.means()[i]) / predictions.deviations()[i];
            squares += z * z;
            total += 1.0;
        }
    }
    let ratio = squares / total;
    assert!((0.6..1.6).contains(&ratio), "squared errors are {ratio} of what is predicted");
}

#[test]
fn every_instruction_set_gives_the_same_draws_and_states() {
    let layout = Layout::with_groups(21, vec![2..5, 9..16]).unwrap().with_ordered_groups(vec![1]).unwrap();
    let run = |kernel: Kernel, options: &str| {
        let mut heat = heat(options, &layout);
        heat.kernel = kernel;
        observe(&mut heat, 30, 11);
        let mut rng = rng(12);
        let mut bits = Vec::new();
        for seed in 0..6 {
            let mut pending = BitMatrix::new(21);
            (0..seed % 3).for_each(|_| pending.push(&layout.random(&mut rng)));
            let request = DrawRequest::new(seed).with_l1(0.1).with_pending(pending);
            let drawn = heat.draw(&request).unwrap();
            let points: Vec<Bits> = (0..20).map(|_| layout.random(&mut rng)).collect();
            let mut values = vec![0.0; 20];
            drawn.values(matrix(&points, 21).view(), &mut values);
            let mut gains = plugin_api::ndarray::Array2::zeros((20, 21));
            drawn.move_gains(matrix(&points, 21).view(), layout.groups(), gains.view_mut());
            bits.extend(values.iter().chain(&gains).map(|value| value.to_bits()));
            let best = (0..20).min_by(|&i, &j| values[i].total_cmp(&values[j])).unwrap();
            heat.observe(&points[best], &(values[best].abs() + 1.0).into()).unwrap();
        }
        (bits, heat.save().unwrap())
    };
    for options in [r#"{ "values": "auto" }"#, r#"{ "lengthscales": "common" }"#] {
        let [fastest, others @ ..] = &Kernel::available()[..] else { panic!("no instructions") };
        let expected = run(*fastest, options);
        others.iter().for_each(|other| assert_eq!(run(*other, options), expected, "{}", other.name()));
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
    let (learned, fitted) = heat.fit(Penalty::NONE).unwrap();
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
    for options in ["{}", r#"{ "acquisition": "bound" }"#, r#"{ "acquisition": "thompson" }"#] {
        gains_are_differences(options);
    }
}

fn gains_are_differences(options: &str) {
    let layout = Layout::with_groups(14, vec![2..5, 6..11]).unwrap().with_ordered_groups(vec![1]).unwrap();
    let mut heat = heat(options, &layout);
    observe(&mut heat, 30, 13);
    let drawn = heat.draw(&DrawRequest::new(1).with_l1(0.2)).unwrap();
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

#[test]
fn equal_and_extreme_values_give_finite_draws() {
    for values in [[0.0; 4], [7.5; 4], [1e150, -1e150, 1e149, 0.0], [1e-300, 0.0, -1e-300, 5e-324]] {
        let mut heat = heat("{}", &Layout::free(2));
        for (x, value) in ["10", "01", "11", "11"].into_iter().zip(values) {
            heat.observe(&x.parse().unwrap(), &value.into()).unwrap();
            let drawn = heat.draw(&DrawRequest::new(1)).unwrap();
            assert!(drawn.value(&[false, false]).is_finite());
        }
    }
}

#[test]
fn what_the_model_cannot_use_is_refused() {
    let mut heat = heat("{}", &Layout::free(2));
    let mut refusal = |x: &str, value: f64| heat.learn(&x.parse().unwrap(), value).unwrap_err().to_string();
    assert_eq!(refusal("10", f64::NAN), "the value of 10 is NaN, not within ±1e150");
    assert_eq!(refusal("1", 0.0), "the bits 1 are not in the layout");
}

#[test]
fn a_state_of_another_layout_or_version_is_refused_and_changes_nothing() {
    let mut one = heat("{}", &Layout::free(2));
    one.learn(&"10".parse().unwrap(), 0.1).unwrap();
    let state = String::from_utf8(one.save().unwrap().unwrap()).unwrap();
    let mut other = heat("{}", &Layout::free(3));
    other.learn(&"101".parse().unwrap(), 3.0).unwrap();
    let before = other.save().unwrap();
    let mut refusal = |state: &str| other.restore(state.as_bytes()).unwrap_err().to_string();
    assert_eq!(refusal(&state), "not a state of this surrogate: the bits 10 are not in the layout");
    assert_eq!(
        refusal(&state.replacen(":1,", ":9,", 1)),
        "not a state of this surrogate: its version is 9, not 1"
    );
    let wrong = state.replace("-9.0]", "-19.0]").replace(r#""10""#, r#""101""#);
    assert_eq!(refusal(&wrong), "not a state of this surrogate: it has 3 hyperparameters, not 4");
    assert_eq!(other.save().unwrap(), before);
    let wrong = state.replace("-9.0]", "-19.0]");
    let error = one.restore(wrong.as_bytes()).unwrap_err().to_string();
    assert_eq!(error, "not a state of this surrogate: a hyperparameter is beyond its bounds");
}
