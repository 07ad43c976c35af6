#![doc = include_str!("../README.md")]

use std::collections::BTreeSet;
use std::sync::Arc;

use plugin_api::serde::{Deserialize, Serialize};
use plugin_api::{
    Acquisition, AcquisitionKind, Bits, DrawRequest, Error, Evaluation, Function, Layout, Penalty, Result,
    Rng, Surrogate, export_surrogate, rng, serde_json,
};
use shared_variables::{Variables, distance};

mod options; // what a manifest may set, and its limits
mod parzen; // densities over levels, unaware of plugins

use options::{Choose, Options};
use parzen::Parzen;

export_surrogate!("tpe", |options: Options, layout: &Layout| Tpe::new(options, layout));

/// As for the other surrogates.
const MOST_BITS: usize = 1000;
/// Samples that are thrown away because none of their points is new, or admitted, before one of them is taken.
const SAMPLES: usize = 10;

struct Tpe {
    options: Options,
    layout: Layout,
    variables: Variables,
    /// In the order of their evaluation; without a value where a point is infeasible.
    observations: Vec<(Bits, Option<f64>)>,
}

impl Tpe {
    fn new(options: Options, layout: &Layout) -> Result<Self> {
        if layout.dimension() > MOST_BITS {
            return Err(Error::new(format!("{} bits, more than {MOST_BITS}", layout.dimension())));
        }
        let variables = Variables::of(layout);
        Ok(Self { options, layout: layout.clone(), variables, observations: Vec::new() })
    }

    fn learn(&mut self, bits: &Bits, value: Option<f64>) -> Result<()> {
        if !self.layout.admits(bits) {
            return Err(Error::new(format!("the bits {bits} are not in the layout")));
        }
        if let Some(value) = value.filter(|value| !value.is_finite()) {
            return Err(Error::new(format!("the value of {bits} is {value}")));
        }
        self.observations.push((bits.clone(), value));
        Ok(())
    }

    /// Which observations are good: the tenth of lowest value and penalty, at most 25. Infeasible ones come last.
    fn good(&self, penalty: &Penalty) -> Vec<bool> {
        let count = self.observations.len();
        let total = |i: usize| match &self.observations[i] {
            (bits, Some(value)) => value + penalty.of(bits),
            (_, None) => f64::INFINITY,
        };
        let mut order: Vec<usize> = (0..count).collect();
        // Stable: of equal ones, the older is the better.
        order.sort_by(|&i, &j| total(i).total_cmp(&total(j)));
        let mut good = vec![false; count];
        for &i in order.iter().take(good_count(count)) {
            good[i] = true;
        }
        good
    }

    fn densities(&self, request: &DrawRequest) -> Ratio {
        let good = self.good(request.penalty());
        let of = |which: bool| {
            let chosen = self.observations.iter().zip(&good).filter(move |(_, good)| **good == which);
            chosen.map(|((bits, _), _)| &bits[..])
        };
        let prior = self.options.prior_weight;
        // A point under way counts as one of the others, as with Optuna's `constant_liar`.
        let others = of(false).chain(request.pending().rows());
        Ratio {
            good: Parzen::new(&self.variables, of(true), prior),
            others: Parzen::new(&self.variables, others, prior),
        }
    }

    /// The best of a sample from the good points' density, among the points that are admitted and, but for `repeats`, new.
    fn choose(&self, ratio: &Ratio, pending: impl Iterator<Item = Bits>, rng: &mut Rng) -> Bits {
        let mut seen = BTreeSet::new();
        if !self.options.repeats {
            seen.extend(self.observations.iter().map(|(bits, _)| bits.clone()).chain(pending));
        }
        for _ in 0..SAMPLES {
            let sample = (0..self.options.candidates).map(|_| ratio.good.sample(rng)).collect::<Vec<_>>();
            let new = sample.into_iter().filter(|bits| self.layout.admits(bits) && !seen.contains(bits));
            let valued = new.map(|bits| (ratio.value(&bits), bits));
            if let Some((_, best)) = valued.min_by(|(one, _), (two, _)| one.total_cmp(two)) {
                return best;
            }
        }
        ratio.good.sample(rng)
    }
}

/// How many of so many observations are good.
fn good_count(observations: usize) -> usize {
    ((0.1 * observations as f64).ceil() as usize).min(25)
}

/// −log(l/g).
struct Ratio {
    /// l, the density of good points.
    good: Parzen,
    /// g, the density of all others.
    others: Parzen,
}

impl Function for Ratio {
    fn dimension(&self) -> usize {
        self.good.dimension()
    }

    fn value(&self, bits: &[bool]) -> f64 {
        self.others.log_density(bits) - self.good.log_density(bits)
    }
}

impl Surrogate for Tpe {
    fn observe(&mut self, bits: &Bits, evaluation: &Evaluation) -> Result<()> {
        self.learn(bits, evaluation.value())
    }

    /// The total is what is ranked, so the penalty is in the densities, and not added to the draw.
    fn draw(&mut self, request: &DrawRequest) -> Result<Acquisition> {
        let ratio = self.densities(request);
        match self.options.choose {
            Choose::Solver => Ok(Acquisition::General(Arc::new(ratio))),
            Choose::Sample => {
                let pending = request.pending().rows().map(Bits::from);
                let chosen = self.choose(&ratio, pending, &mut rng(request.seed()));
                Ok(distance(&chosen, ratio.value(&chosen)).into())
            }
        }
    }

    fn draws(&self) -> AcquisitionKind {
        match self.options.choose {
            Choose::Sample => AcquisitionKind::Quadratic,
            Choose::Solver => AcquisitionKind::General,
        }
    }

    fn save(&self) -> Result<Option<Vec<u8>>> {
        let saved = Saved { tpe: VERSION, observations: self.observations.clone() };
        serde_json::to_vec(&saved).map(Some).map_err(Error::wrap)
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let refuse = |why: String| Error::new(format!("not a state of this surrogate: {why}"));
        let saved: Saved = serde_json::from_slice(state).map_err(|error| refuse(error.to_string()))?;
        if saved.tpe != VERSION {
            return Err(refuse(format!("its version is {}, not {VERSION}", saved.tpe)));
        }
        let mut restored = Self::new(self.options.clone(), &self.layout)?;
        for (bits, value) in &saved.observations {
            restored.learn(bits, *value).map_err(|error| refuse(error.to_string()))?;
        }
        *self = restored;
        Ok(())
    }
}

const VERSION: u32 = 1;

/// A draw depends on nothing but the observations and its request.
#[derive(Serialize, Deserialize)]
#[serde(crate = "plugin_api::serde", deny_unknown_fields)]
struct Saved {
    tpe: u32,
    observations: Vec<(Bits, Option<f64>)>,
}

#[cfg(test)]
mod tests {
    use plugin_api::options::parse;
    use plugin_api::testing::check_surrogate;
    use plugin_api::{BitMatrix, Constraint, Literal, Problem};

    use super::*;

    fn tpe(json: &str, layout: &Layout) -> Tpe {
        Tpe::new(parse(json).unwrap(), layout).unwrap()
    }

    /// Forty random points, valued by their number of bits set.
    fn taught(json: &str, layout: &Layout) -> Tpe {
        let (mut tpe, rng) = (tpe(json, layout), &mut rng(4));
        for _ in 0..40 {
            let bits = layout.random(rng);
            tpe.observe(&bits, &(bits.count_ones() as f64).into()).unwrap();
        }
        tpe
    }

    #[test]
    fn it_keeps_the_contract_under_all_options() {
        check_surrogate(|layout| tpe("{}", layout));
        check_surrogate(|layout| tpe(r#"{ "choose": "solver" }"#, layout));
        check_surrogate(|layout| tpe(r#"{ "candidates": 1, "prior-weight": 1e6 }"#, layout));
        check_surrogate(|layout| tpe(r#"{ "repeats": true }"#, layout));
    }

    #[test]
    fn a_tenth_is_good_and_at_most_25() {
        let counts = [0, 1, 10, 11, 20, 30, 241, 250, 1000].map(good_count);
        assert_eq!(counts, [0, 1, 1, 2, 2, 3, 25, 25, 25]);
    }

    #[test]
    fn the_lowest_totals_are_good_and_infeasible_points_never_before_them() {
        let mut tpe = tpe("{}", &Layout::free(3));
        tpe.learn(&"000".parse().unwrap(), None).unwrap();
        for (x, value) in [("111", 1.0), ("100", 2.0), ("000", 2.5), ("011", 1.0)] {
            tpe.learn(&x.parse().unwrap(), Some(value)).unwrap();
        }
        for _ in 0..6 {
            tpe.learn(&"001".parse().unwrap(), Some(9.0)).unwrap();
        }
        let good = |l1: f64| -> Vec<usize> {
            tpe.good(&Penalty::l1(l1)).iter().enumerate().filter(|(_, good)| **good).map(|(i, _)| i).collect()
        };
        assert_eq!(good(0.0), [1, 4]);
        assert_eq!(good(1.0), [2, 3]);
    }

    #[test]
    fn the_minimum_drawn_is_the_best_of_the_sample() {
        let layout = Layout::with_groups(12, vec![2..5, 7..11]).unwrap();
        let mut tpe = taught("{}", &layout);
        for seed in 0..20 {
            let request = DrawRequest::new(seed).with_penalty(Penalty::l1(0.1));
            let drawn = tpe.draw(&request).unwrap();
            let ratio = tpe.densities(&request);
            let rng = &mut rng(seed);
            let sample: Vec<Bits> = (0..24).map(|_| ratio.good.sample(rng)).collect();
            let seen = |bits: &Bits| tpe.observations.iter().any(|(known, _)| known == bits);
            let new = sample.iter().filter(|bits| !seen(bits)).map(|bits| ratio.value(bits));
            let best = new.fold(f64::INFINITY, f64::min);
            let least = plugin_api::testing::minimum(&Problem::new(drawn).with_layout(&layout));
            assert!((least - best).abs() < 1e-9, "{least} for {best}");
        }
    }

    #[test]
    fn few_bits_are_proposed_where_few_are_good() {
        let mut tpe = taught("{}", &Layout::free(12));
        let ones = |seed: u64| {
            let Acquisition::Quadratic(drawn) = tpe.draw(&DrawRequest::new(seed)).unwrap() else {
                panic!("drew a general function");
            };
            (0..12).filter(|&i| drawn.linear()[i] < 0.0).count()
        };
        let mean = (0..50).map(ones).sum::<usize>() as f64 / 50.0;
        assert!(mean < 4.5, "{mean} of 12 bits");
    }

    #[test]
    fn points_known_or_under_way_or_against_the_rules_are_not_chosen() {
        let rule = Constraint::Forbidden(vec![Literal::new(0, 1), Literal::new(1, 1)]);
        let layout = Layout::free(3).with_constraints(vec![rule]).unwrap();
        let mut tpe = tpe("{}", &layout);
        for x in ["000", "001", "010", "100"] {
            tpe.learn(&x.parse().unwrap(), Some(0.0)).unwrap();
        }
        let mut pending = BitMatrix::new(3);
        pending.push(&[false, true, true]);
        for seed in 0..20 {
            let request = DrawRequest::new(seed).with_pending(pending.clone());
            let Acquisition::Quadratic(drawn) = tpe.draw(&request).unwrap() else { panic!() };
            let chosen: Vec<bool> = (0..3).map(|i| drawn.linear()[i] < 0.0).collect();
            assert_eq!(chosen, [true, false, true]);
        }
    }

    #[test]
    fn known_points_are_chosen_again_where_repeats_are_wanted() {
        for (json, is_chosen) in [("{}", false), (r#"{ "repeats": true }"#, true)] {
            let mut tpe = tpe(json, &Layout::free(6));
            let best: Bits = "111111".parse().unwrap();
            tpe.learn(&best, Some(-9.0)).unwrap();
            let mut chosen = (0..50).map(|seed| {
                let Acquisition::Quadratic(drawn) = tpe.draw(&DrawRequest::new(seed)).unwrap() else {
                    panic!()
                };
                drawn.linear().iter().map(|&linear| linear < 0.0).collect::<Bits>()
            });
            assert_eq!(chosen.any(|bits| bits == best), is_chosen, "{json}");
        }
    }

    #[test]
    fn what_no_model_can_use_is_refused() {
        let mut tpe = tpe("{}", &Layout::free(2));
        let mut refusal =
            |x: &str, value: f64| tpe.learn(&x.parse().unwrap(), Some(value)).unwrap_err().to_string();
        assert_eq!(refusal("10", f64::NAN), "the value of 10 is NaN");
        assert_eq!(refusal("1", 0.0), "the bits 1 are not in the layout");
        let error = Tpe::new(Options::default(), &Layout::free(1_000_000_000)).err().unwrap();
        assert_eq!(error.to_string(), "1000000000 bits, more than 1000");
    }
}
