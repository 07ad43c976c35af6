//! Low autocorrelation binary sequences: n²/E(s), with E(s) = Σ_k (Σ_i s_i s_{i+k})², for s ∈ {±1}ⁿ.

use plugin_api::{Benchmark, Evaluation, Point, Result, Sense, Space, Variable, export_benchmark};

mod energy; // the energy of a sequence, and the least there is
mod options; // what a manifest may set, and its limits

#[cfg(test)]
mod golden; // values of a reference implementation

use options::{Options, Value};

export_benchmark!("labs", |options: Options, _seed: u64| Labs::new(options));

struct Labs {
    options: Options,
    space: Space,
}

impl Labs {
    fn new(options: Options) -> Result<Self> {
        let element = |i: usize| Variable::categorical(format!("s{i}"), ["-1", "+1"]);
        Ok(Self { space: Space::new((1..=options.n).map(element).collect())?, options })
    }

    fn value(&self, energy: u64) -> f64 {
        let n = self.options.n as f64;
        match self.options.value {
            Value::MeritFactor => n * n / energy as f64,
            Value::Energy => energy as f64,
        }
    }
}

impl Benchmark for Labs {
    fn space(&self) -> Result<Space> {
        Ok(self.space.clone())
    }

    fn evaluate(&mut self, point: &Point, _seed: u64) -> Result<Evaluation> {
        self.space.check(point)?;
        let sequence = energy::sequence(point.iter().map(|&level| level == 1));
        Ok(self.value(energy::energy(sequence, self.options.n as u32)).into())
    }

    fn sense(&self) -> Sense {
        match self.options.value {
            Value::MeritFactor => Sense::Maximize,
            Value::Energy => Sense::Minimize,
        }
    }

    fn optimum(&mut self, l1: f64) -> Result<Option<f64>> {
        // With a penalty on the +1s, another sequence than the one of least energy may be the best.
        let known = energy::least_energy(self.options.n).filter(|_| l1 == 0.0);
        Ok(known.map(|energy| self.value(energy)))
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::options::parse;
    use plugin_api::testing::check_benchmark;

    use super::*;
    use crate::golden::golden;

    fn labs(json: &str) -> Labs {
        Labs::new(parse(json).unwrap()).unwrap()
    }

    #[test]
    fn it_keeps_the_contract_of_a_benchmark() {
        check_benchmark(|| labs("{}"));
        check_benchmark(|| labs(r#"{ "n": 2 }"#));
        check_benchmark(|| labs(r#"{ "n": 128, "value": "energy" }"#));
    }

    #[test]
    fn energies_and_merit_factors_are_those_of_the_reference() {
        let golden = golden();
        assert_eq!(golden.cases.iter().map(|case| case.n).collect::<Vec<_>>(), [13, 27, 50, 61]);
        for case in golden.cases {
            let mut merit = labs(&format!(r#"{{ "n": {} }}"#, case.n));
            let mut energy = labs(&format!(r#"{{ "n": {}, "value": "energy" }}"#, case.n));
            assert_eq!((case.s.len(), case.energy.len(), case.merit_factor.len()), (50, 50, 50));
            for (i, s) in case.s.iter().enumerate() {
                let point: Point = s.chars().map(|sign| u32::from(sign == '+')).collect();
                assert_eq!(
                    energy.evaluate(&point, 0).unwrap().value().unwrap(),
                    case.energy[i] as f64,
                    "{s}"
                );
                let (found, expected) =
                    (merit.evaluate(&point, 0).unwrap().value().unwrap(), case.merit_factor[i]);
                assert!((found - expected).abs() <= 1e-9 * expected, "{s}: {found} for {expected}");
            }
        }
    }

    #[test]
    fn the_merit_factor_is_maximised_and_the_energy_minimised() {
        assert_eq!(labs("{}").sense(), Sense::Maximize);
        assert_eq!(labs(r#"{ "value": "energy" }"#).sense(), Sense::Minimize);
    }

    #[test]
    fn the_optimum_is_known_without_a_penalty_up_to_66() {
        // The Barker sequence of length 13 has the energy 6.
        assert_eq!(labs(r#"{ "n": 13 }"#).optimum(0.0).unwrap(), Some(169.0 / 6.0));
        assert_eq!(labs(r#"{ "n": 13, "value": "energy" }"#).optimum(0.0).unwrap(), Some(6.0));
        assert_eq!(labs(r#"{ "n": 13 }"#).optimum(0.1).unwrap(), None);
        assert_eq!(labs(r#"{ "n": 67 }"#).optimum(0.0).unwrap(), None);
    }

    #[test]
    fn lengths_out_of_range_are_refused() {
        let refusal = |json: &str| parse::<Options>(json).unwrap_err().to_string();
        assert_eq!(refusal(r#"{ "n": 1 }"#), "`n`: must be at least 2, not 1");
        assert_eq!(refusal(r#"{ "n": 1000000000 }"#), "`n`: must be at most 128, not 1000000000");
    }

    #[test]
    fn a_point_reads_as_a_sequence() {
        let labs = labs(r#"{ "n": 3 }"#);
        assert_eq!(labs.space().unwrap().describe(&Point::from(vec![1, 0, 1])), "s1=+1 s2=-1 s3=+1");
    }
}
