//! Contamination control: Σ_i [x_i + ρ/T · #{k : Z_ki > U}], the price of prevention plus that of food above a limit.

use plugin_api::{Benchmark, Error, Evaluation, Point, Result, Space, Variable, export_benchmark};

mod minimum; // the cheapest decisions there are
mod options; // what a manifest may set, and its limits
mod supplies; // how contamination spreads

#[cfg(test)]
mod golden; // values of a reference implementation

use minimum::Costs;
use options::{Offset, Options, Samples};
use supplies::Supplies;

export_benchmark!("contamination", |options: Options, seed: u64| Contamination::new(options, seed));

struct Contamination {
    options: Options,
    space: Space,
    /// The supplies of every evaluation; `None` where each draws its own.
    fixed: Option<Supplies>,
}

/// Rates that an instance may have: 160 MB of them.
const MOST_RATES: usize = 10_000_000;

impl Contamination {
    fn new(options: Options, seed: u64) -> Result<Self> {
        let (stages, simulations) = (options.stages, options.simulations);
        if stages * simulations > MOST_RATES {
            let words =
                format!("{stages} stages of {simulations} simulations are more than {MOST_RATES} rates");
            return Err(Error::option("simulations", words));
        }
        let fixed = match (options.samples, &options.rates) {
            (Samples::Fixed, Some(rates)) => Some(Supplies::given(rates, stages, simulations)?),
            (Samples::Fixed, None) => {
                Some(Supplies::random(stages, simulations, options.seed.unwrap_or(seed)))
            }
            (Samples::Fresh, Some(_)) => {
                return Err(Error::option("rates", "are fixed, but `samples: fresh` draws new ones"));
            }
            (Samples::Fresh, None) => None,
        };
        let stage = |i: usize| Variable::categorical(format!("stage-{i}"), ["leave", "prevent"]);
        Ok(Self { space: Space::new((1..=stages).map(stage).collect())?, options, fixed })
    }

    fn value(&self, supplies: &Supplies, x: &[bool]) -> f64 {
        let Options { rho, limit, epsilon, offset, .. } = self.options;
        let preventions = x.iter().filter(|&&prevent| prevent).count() as f64;
        let share = supplies.violations(x, limit) as f64 / supplies.simulations() as f64;
        let permitted = match offset {
            Offset::Paper => 0.0,
            Offset::Code => epsilon * x.len() as f64,
        };
        preventions + rho * (share - permitted)
    }
}

impl Benchmark for Contamination {
    fn space(&self) -> Result<Space> {
        Ok(self.space.clone())
    }

    fn evaluate(&mut self, point: &Point, seed: u64) -> Result<Evaluation> {
        self.space.check(point)?;
        let x: Vec<bool> = point.iter().map(|&level| level == 1).collect();
        let value = match &self.fixed {
            Some(supplies) => self.value(supplies, &x),
            None => self.value(&Supplies::random(x.len(), self.options.simulations, seed), &x),
        };
        Ok(value.into())
    }

    fn deterministic(&self) -> bool {
        self.fixed.is_some()
    }

    fn optimum(&mut self, l1: f64) -> Result<Option<f64>> {
        let Some(supplies) = &self.fixed else { return Ok(None) };
        let Options { rho, limit, .. } = self.options;
        let costs = Costs { price: 1.0 + l1, violation: rho / supplies.simulations() as f64, limit };
        let penalty = |x: &[bool]| l1 * x.iter().filter(|&&prevent| prevent).count() as f64;
        Ok(minimum::minimum(supplies, &costs).map(|x| self.value(supplies, &x) + penalty(&x)))
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::options::parse;
    use plugin_api::testing::check_benchmark;

    use super::*;
    use crate::golden::golden;
    use crate::options::Rates;

    fn contamination(json: &str, seed: u64) -> Contamination {
        Contamination::new(parse(json).unwrap(), seed).unwrap()
    }

    fn refusal(json: &str) -> String {
        match parse(json).and_then(|options: Options| Contamination::new(options, 1)) {
            Ok(_) => panic!("took {json}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn it_keeps_the_contract_of_a_benchmark() {
        check_benchmark(|| contamination("{}", 3));
        check_benchmark(|| contamination(r#"{ "stages": 1, "simulations": 1 }"#, 3));
        check_benchmark(|| contamination(r#"{ "samples": "fresh", "offset": "code" }"#, 3));
    }

    #[test]
    fn values_and_optima_are_those_of_the_reference() {
        let mut points = 0;
        for case in golden() {
            let rates = Rates { initial: case.initial, spread: case.spread, prevention: case.prevention };
            let options = Options { stages: case.stages, rates: Some(rates), ..Options::default() };
            let mut paper = Contamination::new(options.clone(), 1).unwrap();
            let mut code = Contamination::new(Options { offset: Offset::Code, ..options }, 1).unwrap();
            for (i, x) in case.x.iter().enumerate() {
                let point: Point = x.chars().map(|bit| u32::from(bit == '1')).collect();
                for (benchmark, expected) in [(&mut paper, case.paper[i]), (&mut code, case.code[i])] {
                    let found = benchmark.evaluate(&point, 0).unwrap().value().unwrap();
                    assert!((found - expected).abs() <= 1e-9 * expected, "{x}: {found} for {expected}");
                }
                points += 1;
            }
            if let Some(optimum) = case.optimum {
                let found = [paper.optimum(0.0), code.optimum(0.0)].map(|value| value.unwrap().unwrap());
                assert!((found[0] - optimum).abs() <= 1e-9 * optimum, "{found:?} for {optimum}");
                assert!((found[1] - (optimum - 0.05 * case.stages as f64)).abs() <= 1e-9, "{found:?}");
            }
        }
        assert_eq!(points, 4 * 50);
    }

    #[test]
    fn the_optimum_counts_the_penalty_of_each_prevention() {
        let mut small = contamination(r#"{ "stages": 8, "rho": 3, "offset": "code" }"#, 5);
        for l1 in [0.0, 0.01, 0.5] {
            let penalised = |mask: u32| {
                let point: Point = (0..8).map(|i| mask >> i & 1).collect();
                small.evaluate(&point, 0).unwrap().value().unwrap() + l1 * f64::from(mask.count_ones())
            };
            let exhaustive = (0..256).map(penalised).fold(f64::INFINITY, f64::min);
            let found = small.optimum(l1).unwrap().unwrap();
            assert!((found - exhaustive).abs() <= 1e-12, "{found} for {exhaustive}");
        }
    }

    #[test]
    fn the_paper_s_25_stages_have_a_known_optimum() {
        for seed in 0..5 {
            assert!(contamination("{}", seed).optimum(1e-4).unwrap().is_some(), "seed {seed}");
        }
    }

    #[test]
    fn fresh_samples_follow_the_seed_of_the_evaluation() {
        let mut fresh = contamination(r#"{ "samples": "fresh" }"#, 1);
        let point =
            Point::from(vec![0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]);
        let values: Vec<f64> =
            (0..5).map(|seed| fresh.evaluate(&point, seed).unwrap().value().unwrap()).collect();
        assert!(values.windows(2).any(|pair| pair[0] != pair[1]), "{values:?}");
        assert!(!fresh.deterministic());
        assert_eq!(fresh.optimum(0.0).unwrap(), None);
    }

    #[test]
    fn the_seed_of_the_options_comes_before_that_of_the_trial() {
        let value = |json: &str, seed: u64| {
            contamination(json, seed).evaluate(&Point::from(vec![0; 25]), 0).unwrap().value().unwrap()
        };
        assert_ne!(value("{}", 1), value("{}", 2));
        assert_eq!(value(r#"{ "seed": 1 }"#, 2), value("{}", 1));
    }

    #[test]
    fn rates_that_do_not_fit_are_refused() {
        let with =
            |rates: &str| refusal(&format!(r#"{{ "stages": 2, "simulations": 1, "rates": {rates} }}"#));
        assert_eq!(with("{}"), "`rates.initial`: has 0 numbers, but `simulations` is 1");
        assert_eq!(with(r#"{ "initial": [0.1] }"#), "`rates.spread`: has 0 lists, but `stages` is 2");
        assert_eq!(
            with(r#"{ "initial": [0.1], "spread": [[0.1], [0.1, 0.2]] }"#),
            "`rates.spread[1]`: has 2 numbers, but `simulations` is 1"
        );
        assert_eq!(
            with(r#"{ "initial": [0.1], "spread": [[0.1], [0]], "prevention": [[1], [1.5]] }"#),
            "`rates.prevention[1][0]`: must be in [0, 1], not 1.5"
        );
        let rates = Some(Rates { initial: vec![f64::NAN], ..Rates::default() });
        let options = Options { simulations: 1, rates, ..Options::default() };
        let error = Contamination::new(options, 1).err().unwrap().to_string();
        assert_eq!(error, "`rates.initial[0]`: must be in [0, 1], not NaN");
        assert_eq!(
            refusal(r#"{ "samples": "fresh", "rates": {} }"#),
            "`rates`: are fixed, but `samples: fresh` draws new ones"
        );
    }

    #[test]
    fn sizes_out_of_range_are_refused() {
        assert_eq!(refusal(r#"{ "stages": 0 }"#), "`stages`: must be at least 1, not 0");
        assert_eq!(refusal(r#"{ "stages": 1000000000 }"#), "`stages`: must be at most 1000, not 1000000000");
        assert_eq!(
            refusal(r#"{ "stages": 1000, "simulations": 1000000 }"#),
            "`simulations`: 1000 stages of 1000000 simulations are more than 10000000 rates"
        );
        assert_eq!(refusal(r#"{ "rho": -1 }"#), "`rho`: must be at least 0, not -1");
    }
}
