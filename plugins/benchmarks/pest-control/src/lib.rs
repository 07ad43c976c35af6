//! Pest control: the price of the pesticide chosen at each stage, plus the share of fields that are infested.
//!
//! From Oh, Tomczak, Gavves & Welling, "Combinatorial Bayesian optimization using the graph Cartesian
//! product" (COMBO), NeurIPS 2019. A categorical relative of contamination control.

use plugin_api::{Benchmark, Error, Evaluation, Point, Result, Space, Variable, export_benchmark};

mod fields; // how the pest spreads, and what it costs
mod options; // what a manifest may set, and its limits

#[cfg(test)]
mod golden; // values of a reference implementation

use fields::Fields;
use options::{Options, Samples};

export_benchmark!("pest-control", |options: Options, seed: u64| PestControl::new(options, seed));

struct PestControl {
    options: Options,
    space: Space,
    /// The fields of every evaluation; `None` where each draws its own.
    fixed: Option<Fields>,
}

/// Random numbers of each kind that an instance may have: 160 MB in all.
const MOST_UNIFORMS: usize = 10_000_000;

impl PestControl {
    fn new(options: Options, seed: u64) -> Result<Self> {
        let (stages, simulations) = (options.stages, options.simulations);
        if stages * simulations > MOST_UNIFORMS {
            let words =
                format!("{stages} stages of {simulations} simulations are more than {MOST_UNIFORMS} in all");
            return Err(Error::option("simulations", words));
        }
        let fixed = match (options.samples, &options.uniforms) {
            (Samples::Fixed, Some(uniforms)) => Some(Fields::given(uniforms, stages, simulations)?),
            (Samples::Fixed, None) => Some(Fields::random(stages, simulations, options.seed.unwrap_or(seed))),
            (Samples::Fresh, Some(_)) => {
                return Err(Error::option("uniforms", "are fixed, but `samples: fresh` draws new ones"));
            }
            (Samples::Fresh, None) => None,
        };
        let stage = |i: usize| Variable::categorical(format!("stage-{i}"), fields::CHOICES);
        Ok(Self { space: Space::new((1..=stages).map(stage).collect())?, options, fixed })
    }
}

impl Benchmark for PestControl {
    fn space(&self) -> Result<Space> {
        Ok(self.space.clone())
    }

    fn evaluate(&mut self, point: &Point, seed: u64) -> Result<Evaluation> {
        self.space.check(point)?;
        let Options { stages, simulations, limit, .. } = self.options;
        let value = match &self.fixed {
            Some(fields) => fields.cost(point, limit),
            None => Fields::random(stages, simulations, seed).cost(point, limit),
        };
        Ok(value.into())
    }

    fn deterministic(&self) -> bool {
        self.fixed.is_some()
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::options::parse;
    use plugin_api::testing::check_benchmark;

    use super::*;
    use crate::golden::golden;
    use crate::options::Uniforms;

    fn pest_control(json: &str, seed: u64) -> PestControl {
        PestControl::new(parse(json).unwrap(), seed).unwrap()
    }

    fn refusal(json: &str) -> String {
        match parse(json).and_then(|options: Options| PestControl::new(options, 1)) {
            Ok(_) => panic!("took {json}"),
            Err(error) => error.to_string(),
        }
    }

    fn with(uniforms: Uniforms) -> PestControl {
        PestControl::new(Options { uniforms: Some(uniforms), ..Options::default() }, 1).unwrap()
    }

    fn assert_value(benchmark: &mut PestControl, x: &str, expected: f64) {
        let point: Point = x.chars().map(|level| level.to_digit(5).unwrap()).collect();
        let found = benchmark.evaluate(&point, 0).unwrap().value().unwrap();
        assert!((found - expected).abs() <= 1e-9 * expected, "{x}: {found} for {expected}");
    }

    #[test]
    fn it_keeps_the_contract_of_a_benchmark() {
        check_benchmark(|| pest_control("{}", 3));
        check_benchmark(|| pest_control(r#"{ "stages": 1, "simulations": 1 }"#, 3));
        check_benchmark(|| pest_control(r#"{ "samples": "fresh" }"#, 3));
    }

    #[test]
    fn values_are_those_of_the_reference() {
        let golden = golden();
        let mut benchmark = with(golden.common.uniforms());
        assert_eq!((golden.common.x.len(), golden.common.value.len()), (50, 50));
        for (x, &expected) in golden.common.x.iter().zip(&golden.common.value) {
            assert_value(&mut benchmark, x, expected);
        }
    }

    #[test]
    fn values_under_the_reference_s_own_draws_are_its_values() {
        let golden = golden();
        assert_eq!(golden.single.len(), 10);
        for single in golden.single {
            assert_value(&mut with(single.uniforms()), &single.x, single.value);
        }
    }

    #[test]
    fn random_fields_have_the_mean_of_their_distributions() {
        // Without pesticides −log(1 − z) is a sum of an exponential variable of rate 30 and, for each stage
        // past, one of rate 17/3; it exceeds −log 0.9 at 23.6262 of 25 stages (by numerical integration). The
        // mean of 100,000 fields is within 0.016 of that: four standard deviations.
        let mut benchmark = pest_control(r#"{ "simulations": 100000 }"#, 1);
        let found = benchmark.evaluate(&Point::from(vec![0; 25]), 0).unwrap().value().unwrap();
        assert!((found - 23.6262).abs() < 0.016, "{found}");
    }

    #[test]
    fn fresh_samples_follow_the_seed_of_the_evaluation() {
        let mut fresh = pest_control(r#"{ "samples": "fresh" }"#, 1);
        let values: Vec<f64> = (0..5)
            .map(|seed| fresh.evaluate(&Point::from(vec![0; 25]), seed).unwrap().value().unwrap())
            .collect();
        assert!(values.windows(2).any(|pair| pair[0] != pair[1]), "{values:?}");
        assert!(!fresh.deterministic());
    }

    #[test]
    fn the_seed_of_the_options_comes_before_that_of_the_trial() {
        let value = |json: &str, seed: u64| {
            pest_control(json, seed).evaluate(&Point::from(vec![0; 25]), 0).unwrap().value().unwrap()
        };
        assert_ne!(value("{}", 1), value("{}", 2));
        assert_eq!(value(r#"{ "seed": 1 }"#, 2), value("{}", 1));
    }

    #[test]
    fn a_point_reads_as_pesticides() {
        let space = pest_control(r#"{ "stages": 2 }"#, 1).space().unwrap();
        assert_eq!(space.describe(&Point::from(vec![0, 4])), "stage-1=none stage-2=pesticide-4");
    }

    #[test]
    fn uniforms_that_do_not_fit_are_refused() {
        let with = |uniforms: &str| {
            refusal(&format!(r#"{{ "stages": 2, "simulations": 1, "uniforms": {uniforms} }}"#))
        };
        assert_eq!(with("{}"), "`uniforms.initial`: has 0 numbers, but `simulations` is 1");
        assert_eq!(with(r#"{ "initial": [0.1] }"#), "`uniforms.spread`: has 0 lists, but `stages` is 2");
        assert_eq!(
            with(r#"{ "initial": [0.1], "spread": [[0.1], [0.1, 0.2]] }"#),
            "`uniforms.spread[1]`: has 2 numbers, but `simulations` is 1"
        );
        assert_eq!(
            with(r#"{ "initial": [0.1], "spread": [[0.1], [0]], "control": [[1], [1.5]] }"#),
            "`uniforms.control[1][0]`: must be in [0, 1], not 1.5"
        );
        let uniforms = Some(Uniforms { initial: vec![f64::NAN], ..Uniforms::default() });
        let error = PestControl::new(Options { simulations: 1, uniforms, ..Options::default() }, 1).err();
        assert_eq!(error.unwrap().to_string(), "`uniforms.initial[0]`: must be in [0, 1], not NaN");
        assert_eq!(
            refusal(r#"{ "samples": "fresh", "uniforms": {} }"#),
            "`uniforms`: are fixed, but `samples: fresh` draws new ones"
        );
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        assert_eq!(refusal(r#"{ "stages": 0 }"#), "`stages`: must be at least 1, not 0");
        assert_eq!(
            refusal(r#"{ "simulations": 1000000000 }"#),
            "`simulations`: must be at most 1000000, not 1000000000"
        );
        assert_eq!(
            refusal(r#"{ "stages": 1000, "simulations": 1000000 }"#),
            "`simulations`: 1000 stages of 1000000 simulations are more than 10000000 in all"
        );
    }
}
