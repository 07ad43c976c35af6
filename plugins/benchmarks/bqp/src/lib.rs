//! Binary quadratic programming: maximise xᵀQx, Q = M ∘ K, M gaussian and K falling with the distance of two bits.

use plugin_api::{Benchmark, Evaluation, Point, Result, Sense, Space, export_benchmark};

mod matrix; // Q: random, or given
mod maximum; // the best bits there are
mod options; // what a manifest may set, and its limits

#[cfg(test)]
mod golden; // values of a reference implementation

use matrix::Matrix;
use options::Options;

export_benchmark!("bqp", |options: Options, seed: u64| Bqp::new(options, seed));

struct Bqp {
    matrix: Matrix,
    space: Space,
}

impl Bqp {
    fn new(options: Options, seed: u64) -> Result<Self> {
        let matrix = Matrix::new(&options, seed)?;
        Ok(Self { space: Space::binary(matrix.n), matrix })
    }
}

impl Benchmark for Bqp {
    fn space(&self) -> Result<Space> {
        Ok(self.space.clone())
    }

    fn evaluate(&mut self, point: &Point, _seed: u64) -> Result<Evaluation> {
        self.space.check(point)?;
        let x: Vec<bool> = point.iter().map(|&level| level == 1).collect();
        Ok(self.matrix.value(&x).into())
    }

    fn sense(&self) -> Sense {
        Sense::Maximize
    }

    fn optimum(&mut self, l1: f64) -> Result<Option<f64>> {
        let best = maximum::maximum(&self.matrix, l1);
        let penalty = |x: &[bool]| l1 * x.iter().filter(|&&set| set).count() as f64;
        Ok(best.map(|x| self.matrix.value(&x) - penalty(&x)))
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::options::parse;
    use plugin_api::testing::check_benchmark;

    use super::*;
    use crate::golden::golden;

    fn bqp(json: &str, seed: u64) -> Bqp {
        Bqp::new(parse(json).unwrap(), seed).unwrap()
    }

    fn refusal(json: &str) -> String {
        match parse(json).and_then(|options: Options| Bqp::new(options, 1)) {
            Ok(_) => panic!("took {json}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn it_keeps_the_contract_of_a_benchmark() {
        check_benchmark(|| bqp("{}", 3));
        check_benchmark(|| bqp(r#"{ "n": 1 }"#, 3));
        check_benchmark(|| bqp(r#"{ "n": 40, "alpha": 10, "kernel": "code" }"#, 3));
    }

    #[test]
    fn values_and_optima_are_those_of_the_reference() {
        let mut points = 0;
        for case in golden() {
            for reference in case.kernels {
                let options = Options {
                    n: case.n,
                    matrix: Some(reference.matrix),
                    seed: Some(9),
                    ..Options::default()
                };
                let mut bqp = Bqp::new(options, 1).unwrap();
                for (x, &expected) in case.x.iter().zip(&reference.value) {
                    let point: Point = x.chars().map(|bit| u32::from(bit == '1')).collect();
                    let found = bqp.evaluate(&point, 0).unwrap().value().unwrap();
                    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{x}: {found} for {expected}");
                    points += 1;
                }
                for optimum in reference.optimum {
                    let found = bqp.optimum(optimum.l1).unwrap().unwrap();
                    assert!((found - optimum.value).abs() <= 1e-9 * optimum.value, "l1 = {}", optimum.l1);
                }
            }
        }
        assert_eq!(points, 6 * 2 * 50);
    }

    #[test]
    fn the_seed_of_the_options_comes_before_that_of_the_trial() {
        let value = |json: &str, seed: u64| {
            bqp(json, seed).evaluate(&Point::from(vec![1; 10]), 0).unwrap().value().unwrap()
        };
        assert_ne!(value("{}", 1), value("{}", 2));
        assert_eq!(value(r#"{ "seed": 1 }"#, 2), value("{}", 1));
    }

    #[test]
    fn thirty_bits_as_in_the_authors_script_have_a_known_optimum() {
        for alpha in ["1", "10", "100"] {
            let json = format!(r#"{{ "n": 30, "alpha": {alpha} }}"#);
            assert!(bqp(&json, 1).optimum(1e-3).unwrap().is_some(), "{json}");
        }
    }

    #[test]
    fn the_smallest_program_is_its_one_number() {
        let mut one = bqp(r#"{ "n": 1, "matrix": [[2.5]] }"#, 1);
        assert_eq!(
            one.evaluate(&Point::from(vec![0]), 0).unwrap().value().unwrap().to_bits(),
            0.0f64.to_bits()
        );
        assert_eq!(one.evaluate(&Point::from(vec![1]), 0).unwrap().value().unwrap(), 2.5);
        assert_eq!(one.optimum(0.5).unwrap(), Some(2.0));
        assert_eq!(one.optimum(3.0).unwrap(), Some(0.0));
    }

    #[test]
    fn matrices_that_do_not_fit_are_refused() {
        assert_eq!(refusal(r#"{ "matrix": [[1]] }"#), "`matrix`: has 1 rows, but `n` is 10");
        assert_eq!(
            refusal(r#"{ "n": 2, "matrix": [[1, 2], [3]] }"#),
            "`matrix[1]`: has 1 numbers, but `n` is 2"
        );
        assert_eq!(
            refusal(r#"{ "n": 2, "matrix": [[1e308, 1e308], [3, 4]] }"#),
            "`matrix`: adds up to more than a number can hold"
        );
        let matrix = Some(vec![vec![1.0, f64::NAN], vec![0.0, 0.0]]);
        let error = Bqp::new(Options { n: 2, matrix, ..Options::default() }, 1).err().unwrap();
        assert_eq!(error.to_string(), "`matrix[0][1]`: is NaN, not a number");
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        assert_eq!(refusal(r#"{ "n": 0 }"#), "`n`: must be at least 1, not 0");
        assert_eq!(refusal(r#"{ "n": 1000000000 }"#), "`n`: must be at most 1000, not 1000000000");
        assert_eq!(refusal(r#"{ "alpha": 0 }"#), "`alpha`: must be above 0, not 0");
    }
}
