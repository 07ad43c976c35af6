//! Weighted MaxSAT: −Σ weights of satisfied clauses, minimised, for clauses from a DIMACS WCNF file or random ones.
//!
//! The third benchmark of COMBO (Oh et al. 2019), whose three instances come from the MaxSAT competition of 2018, with
//! weights standardised. An assignment that violates a hard clause is infeasible.

use plugin_api::{Benchmark, Evaluation, Point, Result, Space, export_benchmark};

mod instance; // from a file, or random; the weights
mod minimum; // the best assignment of few variables
mod options; // what a manifest may set, and its limits
mod wcnf; // clauses, and the file formats

use options::Options;
use wcnf::Wcnf;

export_benchmark!("max-sat", |options: Options, seed: u64| MaxSat::new(&options, seed));

struct MaxSat {
    wcnf: Wcnf,
    space: Space,
}

impl MaxSat {
    fn new(options: &Options, seed: u64) -> Result<Self> {
        let wcnf = instance::instance(options, seed)?;
        Ok(Self { space: Space::binary(wcnf.variables), wcnf })
    }

    fn value(&self, x: &[bool]) -> f64 {
        let satisfied = self.wcnf.clauses.iter().filter(|clause| clause.holds(x));
        // From 0.0, because minus the sum of no weights is −0.0.
        satisfied.filter_map(|clause| clause.weight).fold(0.0, |value, weight| value - weight)
    }
}

impl Benchmark for MaxSat {
    fn space(&self) -> Result<Space> {
        Ok(self.space.clone())
    }

    fn evaluate(&mut self, point: &Point, _seed: u64) -> Result<Evaluation> {
        self.space.check(point)?;
        let x: Vec<bool> = point.iter().map(|&level| level == 1).collect();
        let mut hard = (1..).zip(&self.wcnf.clauses).filter(|(_, clause)| clause.weight.is_none());
        if let Some((number, clause)) = hard.find(|(_, clause)| !clause.holds(&x)) {
            return Ok(Evaluation::infeasible(format!("the hard clause {number} does not hold: {clause}")));
        }
        Ok(self.value(&x).into())
    }

    /// Of up to 25 variables, by trying all assignments.
    fn optimum(&mut self, l1: f64) -> Result<Option<f64>> {
        let best = minimum::minimum(&self.wcnf, l1);
        let penalty = |x: &[bool]| l1 * x.iter().filter(|&&set| set).count() as f64;
        Ok(best.map(|x| self.value(&x) + penalty(&x)))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use plugin_api::options::parse;
    use plugin_api::rand::RngExt;
    use plugin_api::testing::check_benchmark;
    use plugin_api::{Sense, rng};

    use super::*;

    fn max_sat(json: &str, seed: u64) -> MaxSat {
        MaxSat::new(&parse(json).unwrap(), seed).unwrap()
    }

    fn refusal(json: &str) -> String {
        match parse(json).and_then(|options: Options| MaxSat::new(&options, 1)) {
            Ok(_) => panic!("took {json}"),
            Err(error) => error.to_string(),
        }
    }

    /// x1 ∨ x2 is hard; ¬x1, ¬x2 and x1 ∨ ¬x3 are worth 1, 2 and 4.
    fn by_hand() -> MaxSat {
        let wcnf = wcnf::parse(b"h 1 2 0\n1 -1 0\n2 -2 0\n4 1 -3 0\n").unwrap();
        MaxSat { space: Space::binary(3), wcnf }
    }

    fn every(n: usize) -> impl Iterator<Item = Point> {
        (0..1u32 << n).map(move |mask| (0..n).map(|i| mask >> i & 1).collect())
    }

    #[test]
    fn it_keeps_the_contract_of_a_benchmark() {
        check_benchmark(|| max_sat("{}", 3));
        check_benchmark(|| max_sat(r#"{ "variables": 3, "clauses": 1, "weights": "plain" }"#, 3));
        check_benchmark(by_hand);
        assert_eq!(by_hand().sense(), Sense::Minimize);
    }

    #[test]
    fn an_instance_made_by_hand_has_the_values_counted_by_hand() {
        let mut instance = by_hand();
        let ends: Vec<Evaluation> = every(3).map(|point| instance.evaluate(&point, 0).unwrap()).collect();
        let infeasible = Evaluation::infeasible("the hard clause 1 does not hold: x1 ∨ x2");
        // In the order 000, 100, 010, 110, 001, 101, 011, 111.
        let expected = [
            infeasible.clone(),
            Evaluation::from(-6.0),
            Evaluation::from(-5.0),
            Evaluation::from(-4.0),
            infeasible,
            Evaluation::from(-6.0),
            Evaluation::from(-1.0),
            Evaluation::from(-4.0),
        ];
        assert_eq!(ends, expected);
        assert_eq!(instance.optimum(0.0).unwrap(), Some(-6.0));
        assert_eq!(instance.optimum(0.5).unwrap(), Some(-5.5));
    }

    #[test]
    fn the_optimum_is_the_lowest_of_all_values() {
        for (json, seed) in [
            (r#"{ "variables": 10, "clauses": 40 }"#, 1),
            (r#"{ "variables": 12, "clauses": 70, "length": 2, "weights": "plain" }"#, 2),
            (r#"{ "variables": 13, "clauses": 50, "length": 5, "largest-weight": 1000 }"#, 3),
        ] {
            let mut instance = max_sat(json, seed);
            // Some clauses hard, of which a point may violate any.
            instance.wcnf.clauses.iter_mut().step_by(17).for_each(|clause| clause.weight = None);
            for l1 in [0.0, 0.3] {
                let mut least = f64::INFINITY;
                for point in every(instance.space.dimension()) {
                    let ones = point.iter().sum::<u32>();
                    let value = instance.evaluate(&point, 0).unwrap().value();
                    least = least.min(value.map_or(f64::INFINITY, |value| value + l1 * f64::from(ones)));
                }
                let found = instance.optimum(l1).unwrap().unwrap();
                assert!((found - least).abs() < 1e-12 * (1.0 + least.abs()), "{json}: {found} for {least}");
            }
        }
    }

    #[test]
    fn an_optimum_is_known_up_to_25_variables_and_where_there_is_one() {
        assert!(max_sat(r#"{ "variables": 18 }"#, 1).optimum(0.0).unwrap().is_some());
        assert_eq!(max_sat(r#"{ "variables": 26 }"#, 1).optimum(0.0).unwrap(), None);
        assert_eq!(max_sat(r#"{ "variables": 25, "clauses": 100000 }"#, 1).optimum(0.0).unwrap(), None);
        let wcnf = wcnf::parse(b"h 1 0\nh -1 0\n1 1 0\n").unwrap();
        assert_eq!(MaxSat { space: Space::binary(1), wcnf }.optimum(0.0).unwrap(), None);
    }

    /// Flips as long as one gains, from random assignments; the lowest value of all.
    fn local_search(instance: &MaxSat, restarts: usize) -> f64 {
        let (n, rng) = (instance.space.dimension(), &mut rng(1));
        let mut least = f64::INFINITY;
        for _ in 0..restarts {
            let mut x: Vec<bool> = (0..n).map(|_| rng.random()).collect();
            let mut value = instance.value(&x);
            let mut since = 0;
            for i in (0..n).cycle() {
                x[i] = !x[i];
                let there = instance.value(&x);
                if there < value - 1e-12 {
                    (value, since) = (there, 0);
                } else {
                    x[i] = !x[i];
                    since += 1;
                }
                if since == n {
                    break;
                }
            }
            least = least.min(value);
        }
        least
    }

    #[test]
    fn the_best_known_value_of_combos_instance_is_reached_and_not_passed() {
        let path = "../../../../shared/golden/maxsat/maxcut-johnson8-2-4.clq.wcnf";
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        if !path.exists() {
            eprintln!("skipped: {} does not exist", path.display());
            return;
        }
        let options = Options { file: Some(path.to_str().unwrap().to_owned()), ..Options::default() };
        let instance = MaxSat::new(&options, 1).unwrap();
        assert_eq!((instance.space.dimension(), instance.wcnf.clauses.len()), (28, 420));
        let found = local_search(&instance, 300);
        assert!((found + 38.162).abs() < 1e-3, "{found}");
    }

    #[test]
    fn options_that_give_no_instance_are_refused() {
        assert_eq!(refusal(r#"{ "variables": 2 }"#), "`length`: must be at most `variables`, 2, not 3");
        assert_eq!(
            refusal(r#"{ "largest-weight": 1 }"#),
            "`weights`: cannot be standardised, because they are all the same or too large: `weights: plain` leaves \
             them as they are"
        );
        let missing = refusal(r#"{ "file": "no/such.wcnf" }"#);
        assert!(missing.starts_with("`file`: `no/such.wcnf`: cannot be read from "), "{missing}");
        assert_eq!(refusal(r#"{ "file": "src" }"#), "`file`: `src`: is not a file");
        assert_eq!(
            refusal(r#"{ "file": "Cargo.toml" }"#),
            "`file`: `Cargo.toml`: line 1, column 1: `[package]` is not a weight, a number from 0 on"
        );
    }
}
