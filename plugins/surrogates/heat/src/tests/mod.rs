use plugin_api::options::parse;
use plugin_api::random::normal;
use plugin_api::testing::check_surrogate;
use plugin_api::{BitMatrix, Rng, rng};

use super::*;

mod draws;
mod extended; // numbers of twice the digits
mod infeasible;
mod predictions;
mod symmetry;

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
    check_surrogate(|layout| heat(r#"{ "kernel": "overlap" }"#, layout));
    check_surrogate(|layout| heat(r#"{ "kernel": "dictionary", "dictionary-size": 20 }"#, layout));
    let thompson = r#"{ "kernel": "dictionary", "dictionary-size": 10, "acquisition": "thompson" }"#;
    check_surrogate(|layout| heat(thompson, layout));
    check_surrogate(|layout| heat(r#"{ "hyperparameters": "sampled" }"#, layout));
    check_surrogate(|layout| heat(r#"{ "hyperparameters": "sampled", "acquisition": "bound" }"#, layout));
    for values in ["auto", "vizier", "copula", "log", "winsor"] {
        check_surrogate(|layout| heat(&format!(r#"{{ "values": "{values}" }}"#), layout));
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
    let mut refusal =
        |x: &str, value: f64| heat.learn(&x.parse().unwrap(), Some(value)).unwrap_err().to_string();
    assert_eq!(refusal("10", f64::NAN), "the value of 10 is NaN, not within ±1e150");
    assert_eq!(refusal("1", 0.0), "the bits 1 are not in the layout");
}

#[test]
fn a_state_of_another_layout_or_version_is_refused_and_changes_nothing() {
    let mut one = heat("{}", &Layout::free(2));
    one.learn(&"10".parse().unwrap(), Some(0.1)).unwrap();
    let state = String::from_utf8(one.save().unwrap().unwrap()).unwrap();
    let mut other = heat("{}", &Layout::free(3));
    other.learn(&"101".parse().unwrap(), Some(3.0)).unwrap();
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
