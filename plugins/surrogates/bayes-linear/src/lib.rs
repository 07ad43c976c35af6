//! Bayesian linear regression of first or second order with a conjugate normal prior, drawn from exactly.
//!
//! The simpler model of BOCS (Baptista & Poloczek 2018): all coefficients have the same normal prior, so none is
//! shrunk more than another, and the posterior is closed: a draw is one exact sample, without a chain. Unlike BOCS's,
//! the prior mean is 0, and the intercept has a flat prior instead of a coefficient's. Pairs of bits inside a
//! one-hot group can't be set together, and have the coefficient 0.
//!
//! With the option `values` it learns transformed totals, standardised, in place of the values as they are; `auto` is then
//! chosen by its own evidence. Predictions and effects are the posterior's, closed as it is; about transformed values it
//! says nothing.

use plugin_api::ndarray::{ArrayView1, ArrayView2};
use plugin_api::serde::{Deserialize, Serialize};
use plugin_api::{
    Acquisition, Bits, DrawRequest, Effect, Error, Evaluation, Layout, Penalty, Predictions, Quadratic,
    Result, Surrogate, export_surrogate, rng,
};
use shared_saved::States;
use shared_terms::Terms;
use shared_values::{Inverse, Shift, Values, standardise};

mod options; // what a manifest may set, and its limits
mod posterior; // the mathematics, unaware of plugins

use options::Options;
use posterior::{Moments, Posterior, Prior, Sample};

export_surrogate!("bayes-linear", |options: Options, layout: &Layout| BayesLinear::new(options, layout));

/// 1000 bits have 500,500 terms.
const MOST_BITS: usize = 1000;
/// Rows of the largest factor: 256 MiB.
const MOST_OBSERVATIONS: usize = 8192;

struct BayesLinear {
    prior: Prior,
    values: Values,
    layout: Layout,
    terms: Terms,
    /// Without a value where a point is infeasible.
    observations: Vec<(Bits, Option<f64>)>,
    posterior: Posterior,
    /// What `auto` chose for the last draw.
    shift: Option<Shift>,
}

impl BayesLinear {
    fn new(options: Options, layout: &Layout) -> Result<Self> {
        if layout.dimension() > MOST_BITS {
            let bits = layout.dimension();
            return Err(Error::new(format!(
                "{bits} bits, more than the {MOST_BITS} of a regression on pairs"
            )));
        }
        let Options { order, variance, shape, rate, values } = options;
        let terms = Terms::new(layout, usize::from(order));
        let prior = Prior { variance, shape, rate };
        let posterior = Posterior::new(prior, terms.count());
        let layout = layout.clone();
        Ok(Self { prior, values, layout, terms, observations: Vec::new(), posterior, shift: None })
    }

    /// Draws the parameters, of a model of the totals where values are transformed.
    fn sample(&mut self, request: &DrawRequest) -> Sample {
        let rng = &mut rng(request.seed());
        if self.values.is_raw() {
            return match self.imputed() {
                Some(values) => self.posterior.sample_of(&values, rng),
                None => self.posterior.sample(rng),
            };
        }
        let totals = self.totals(request.penalty());
        let score = |values: &[f64]| self.posterior.score(values);
        let (transformed, shift) = self.values.transform_by(&totals, self.shift, score);
        self.shift = shift;
        self.posterior.sample_for(&standardise(&transformed).values, rng)
    }

    /// What is learned under the penalty, before the transformation.
    fn totals(&self, penalty: &Penalty) -> Vec<f64> {
        self.values.totals(self.observations.iter().map(|(bits, value)| (bits, *value)), penalty)
    }

    /// What is learned of raw values where some points are infeasible; `None` where none is, and the posterior has learned
    /// the values already.
    fn imputed(&self) -> Option<Vec<f64>> {
        let any = self.observations.iter().any(|(_, value)| value.is_none());
        any.then(|| self.totals(&Penalty::default()))
    }

    /// What raw values say of sums of parameters.
    fn moments(&self) -> Option<Moments<'_>> {
        match self.imputed() {
            Some(values) => self.posterior.moments_of(&values),
            None => self.posterior.moments(),
        }
    }

    fn has_values(&self) -> bool {
        self.observations.iter().any(|(_, value)| value.is_some())
    }

    fn learn(&mut self, bits: &Bits, value: Option<f64>) -> Result<()> {
        if !self.layout.admits(bits) {
            return Err(Error::new(format!("the bits {bits} are not in the layout")));
        }
        value.map_or(Ok(()), |value| shared_values::check_value(bits, value))?;
        if self.observations.len() == MOST_OBSERVATIONS {
            return Err(Error::new(format!("more than {MOST_OBSERVATIONS} observations")));
        }
        // In place of a value that changes with those of others, any does: `imputed` has it.
        self.posterior.observe(self.terms.of(bits), value.unwrap_or(0.0)).map_err(Error::wrap)?;
        self.observations.push((bits.clone(), value));
        Ok(())
    }
}

impl Surrogate for BayesLinear {
    fn observe(&mut self, bits: &Bits, evaluation: &Evaluation) -> Result<()> {
        self.learn(bits, evaluation.value())
    }

    fn draw(&mut self, request: &DrawRequest) -> Result<Acquisition> {
        let Sample { intercept, mut alpha } = self.sample(request);
        for (alpha, impossible) in alpha.iter_mut().zip(self.terms.impossible()) {
            if impossible {
                *alpha = 0.0;
            }
        }
        let (linear, pairs) = self.terms.bits_and_pairs(alpha);
        let drawn = Acquisition::from(Quadratic::new(intercept, linear, pairs)?);
        Ok(self.values.complete(drawn, request.penalty()))
    }

    /// Where values are transformed, those of the inverse transformation, learned without the penalty.
    fn predict(&mut self, points: ArrayView2<'_, bool>) -> Result<Option<Predictions>> {
        if !self.has_values() {
            return Ok(None);
        }
        let inverse = (!self.values.is_raw()).then(|| {
            let values = self.totals(&Penalty::default());
            let score = |values: &[f64]| self.posterior.score(values);
            let learned = standardise(&self.values.transform_by(&values, self.shift, score).0).values;
            (Inverse::new(&learned, &values), learned)
        });
        let moments = match &inverse {
            Some((_, learned)) => self.posterior.moments_for(learned),
            None => self.moments(),
        };
        let Some(moments) = moments else { return Ok(None) };
        let value = |bits: ArrayView1<'_, bool>| {
            let (mean, deviation) = moments.value(&self.terms.of(&bits.to_vec()));
            match &inverse {
                Some((inverse, _)) => inverse.moments(mean, deviation),
                None => (mean, deviation),
            }
        };
        let (means, deviations) = points.rows().into_iter().map(value).unzip();
        Predictions::new(means, deviations).map(Some)
    }

    /// Of raw values alone: what is learned of transformed ones is no sum of effects on values.
    fn effects(&mut self) -> Result<Option<Vec<Effect>>> {
        let asked = self.values.is_raw() && self.has_values();
        let Some(moments) = self.moments().filter(|_| asked) else { return Ok(None) };
        let effect = |(term, bits): (usize, Vec<usize>)| {
            let (size, deviation) = moments.coefficient(term as u32);
            Effect::new(bits, size, deviation)
        };
        Ok(Some(self.terms.possible().map(effect).collect()))
    }

    fn notes(&self) -> Result<Vec<(String, String)>> {
        Ok(Vec::from_iter(self.shift.map(Shift::note)))
    }

    fn save(&self) -> Result<Option<Vec<u8>>> {
        let shift = self.shift.map(Shift::index);
        STATES.write(&Saved { observations: self.observations.clone(), shift })
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let saved: Saved = STATES.read(state)?;
        let unknown = |index| STATES.refused(format_args!("it has the shift {index} of values"));
        let shift = saved.shift.map(|index| Shift::from_index(index).ok_or_else(|| unknown(index)));
        let mut restored = Self {
            prior: self.prior,
            values: self.values,
            shift: shift.transpose()?,
            layout: self.layout.clone(),
            terms: self.terms.clone(),
            observations: Vec::new(),
            posterior: Posterior::new(self.prior, self.terms.count()),
        };
        STATES.replay(&saved.observations, |bits, value| restored.learn(bits, value))?;
        *self = restored;
        Ok(())
    }
}

const STATES: States = States::of_surrogate("bayes_linear", 1);

/// A draw depends on nothing but the observations, its seed, and the shift of the last one.
#[derive(Serialize, Deserialize)]
#[serde(crate = "plugin_api::serde", deny_unknown_fields)]
struct Saved {
    observations: Vec<(Bits, Option<f64>)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shift: Option<u8>,
}

#[cfg(test)]
mod tests {
    use plugin_api::options::parse;
    use plugin_api::testing::check_surrogate;
    use shared_values::testing;

    use super::*;

    fn surrogate(json: &str, layout: &Layout) -> BayesLinear {
        BayesLinear::new(parse(json).unwrap(), layout).unwrap()
    }

    fn draw(surrogate: &mut BayesLinear, seed: u64) -> Quadratic {
        match surrogate.draw(&DrawRequest::new(seed)).unwrap() {
            Acquisition::Quadratic(drawn) => drawn,
            _ => panic!("drew a general function"),
        }
    }

    #[test]
    fn it_keeps_the_contract_under_all_options() {
        check_surrogate(|layout| surrogate("{}", layout));
        check_surrogate(|layout| surrogate(r#"{ "order": 1, "variance": 1e6 }"#, layout));
        for values in ["auto", "vizier", "copula", "log", "winsor"] {
            check_surrogate(|layout| surrogate(&format!(r#"{{ "values": "{values}" }}"#), layout));
        }
    }

    /// Twelve random points of six bits, with a value for the number of bits set.
    fn observed(json: &str, value: fn(f64) -> f64) -> BayesLinear {
        let layout = Layout::free(6);
        let (mut surrogate, mut random) = (surrogate(json, &layout), rng(5));
        for _ in 0..12 {
            let x = layout.random(&mut random);
            surrogate.learn(&x, Some(value(x.count_ones() as f64))).unwrap();
        }
        surrogate
    }

    #[test]
    fn transformed_totals_have_the_penalty_in_them() {
        let mut surrogate = observed(r#"{ "values": "copula" }"#, libm::exp);
        let mut at = |l1: f64| surrogate.draw(&DrawRequest::new(3).with_penalty(Penalty::l1(l1))).unwrap();
        // The values order the points by their bits already, so a penalty leaves the ranks as they are, and a negative one
        // (which the host never has) turns them round.
        let (without, with, turned) = (at(0.0), at(1e9), at(-1e9));
        let gain = |drawn: &Acquisition| drawn.value(&[true; 6]) - drawn.value(&[false; 6]);
        assert_eq!(without.value(&[true; 6]), with.value(&[true; 6]));
        assert!(gain(&with) > gain(&turned) + 1.0, "{} and {}", gain(&with), gain(&turned));
    }

    #[test]
    fn raw_draws_have_the_bits_that_they_always_had() {
        let mut surrogate = observed("{}", |ones| ones * ones * 1.5);
        let drawn = draw(&mut surrogate, 9);
        let fold = |hash: u64, number: f64| (hash ^ number.to_bits()).wrapping_mul(0x0100_0000_01b3);
        let numbers = drawn.linear().iter().chain(drawn.pairs()).copied().chain([drawn.constant()]);
        assert_eq!(numbers.fold(0xcbf2_9ce4_8422_2325u64, fold), 5_813_733_388_701_297_650);
    }

    #[test]
    fn the_shift_of_values_is_saved_and_an_unknown_one_refused() {
        let mut surrogate = observed(r#"{ "values": "auto" }"#, libm::exp);
        surrogate.draw(&DrawRequest::new(1)).unwrap();
        let shift = surrogate.shift.unwrap();
        assert!(shift.factor().is_finite(), "values that grow exponentially are transformed");
        let words = format!("log, shifted by {}", shift.factor());
        assert_eq!(surrogate.notes().unwrap(), [("values".to_owned(), words)]);
        let state = String::from_utf8(surrogate.save().unwrap().unwrap()).unwrap();
        let mut other = observed(r#"{ "values": "auto" }"#, libm::exp);
        other.restore(state.as_bytes()).unwrap();
        assert_eq!(other.shift, Some(shift));
        let wrong = state.replace(&format!("\"shift\":{}", shift.index()), "\"shift\":99");
        let error = other.restore(wrong.as_bytes()).unwrap_err().to_string();
        assert_eq!(error, "not a state of this surrogate: it has the shift 99 of values");
    }

    #[test]
    fn only_pairs_inside_a_group_have_no_coefficient() {
        let mut surrogate = surrogate("{}", &Layout::with_groups(5, vec![0..2, 2..4]).unwrap());
        surrogate.observe(&"10011".parse().unwrap(), &1.0.into()).unwrap();
        let drawn = draw(&mut surrogate, 1);
        for i in 0..5 {
            for j in i + 1..5 {
                assert_eq!(drawn.pair(i, j) == 0.0, [(0, 1), (2, 3)].contains(&(i, j)), "({i}, {j})");
            }
        }
    }

    #[test]
    fn a_wide_prior_finds_a_quadratic_function_far_from_zero() {
        let mut surrogate = surrogate(r#"{ "variance": 1e6, "rate": 1e-8 }"#, &Layout::free(4));
        let value = |mask: u32| 1e6 + f64::from(mask & 1) * 3.0 - 2.0 * f64::from(mask >> 1 & mask >> 2 & 1);
        let point = |mask: u32| -> Bits { (0..4).map(|i| mask >> i & 1 == 1).collect() };
        for mask in (0..16).chain([5, 5, 5]) {
            surrogate.observe(&point(mask), &value(mask).into()).unwrap();
        }
        let drawn = draw(&mut surrogate, 1);
        for mask in 0..16 {
            assert!((drawn.value(&point(mask)) - value(mask)).abs() < 5e-3, "at {}", point(mask));
        }
    }

    #[test]
    fn predictions_and_effects_find_a_quadratic_function_and_pairs_of_a_group_have_none() {
        let group = 1..3;
        let layout = Layout::with_groups(5, vec![group]).unwrap();
        let mut surrogate = surrogate(r#"{ "variance": 1e4, "rate": 1e-8 }"#, &layout);
        let value =
            |x: &[bool]| 50.0 + 3.0 * f64::from(u8::from(x[0])) - 2.0 * f64::from(u8::from(x[3] && x[4]));
        let (mut random, mut seen) = (rng(4), plugin_api::BitMatrix::new(5));
        assert_eq!(surrogate.predict(seen.view()).unwrap(), None);
        for _ in 0..60 {
            let x = layout.random(&mut random);
            surrogate.learn(&x, Some(value(&x))).unwrap();
            seen.push(&x);
        }
        let predictions = surrogate.predict(seen.view()).unwrap().unwrap();
        for (x, (mean, deviation)) in
            seen.rows().zip(predictions.means().iter().zip(predictions.deviations()))
        {
            assert!((mean - value(x)).abs() < 0.01 && *deviation < 0.05, "{mean} ± {deviation}");
        }
        let effects = surrogate.effects().unwrap().unwrap();
        assert_eq!(effects.len(), 5 + 10 - 1);
        assert!(effects.iter().all(|effect| effect.bits() != [1, 2]));
        let size = |bits: &[usize]| effects.iter().find(|effect| effect.bits() == bits).unwrap().size();
        assert!((size(&[3, 4]) + 2.0).abs() < 0.05, "{}", size(&[3, 4]));
        // One of bits 1 and 2 is set, so x₀ = x₀x₁ + x₀x₂: the smallest coefficients that add up to 3 are 2, 1 and 1.
        assert!((size(&[0]) - 2.0).abs() < 0.05 && (size(&[0, 1]) - 1.0).abs() < 0.05);
        assert!(size(&[0, 3]).abs() < 0.05 && size(&[3]).abs() < 0.05);
        let mut transformed = observed(r#"{ "values": "copula" }"#, libm::exp);
        assert_eq!(transformed.effects().unwrap(), None);
    }

    #[test]
    fn equal_and_extreme_values_give_finite_draws() {
        for values in [[0.0; 4], [7.5; 4], [1e150, -1e150, 1e149, 0.0], [1e-300, 0.0, -1e-300, 5e-324]] {
            let mut surrogate = surrogate("{}", &Layout::free(2));
            for (x, value) in ["10", "01", "11", "11"].into_iter().zip(values) {
                surrogate.observe(&x.parse().unwrap(), &value.into()).unwrap();
                surrogate.draw(&DrawRequest::new(1)).unwrap();
            }
        }
    }

    #[test]
    fn what_no_regression_can_use_is_refused() {
        let mut surrogate = surrogate("{}", &Layout::free(2));
        let mut refusal =
            |x: &str, value: f64| surrogate.learn(&x.parse().unwrap(), Some(value)).unwrap_err().to_string();
        assert_eq!(refusal("10", f64::NAN), "the value of 10 is NaN, not within ±1e150");
        assert_eq!(refusal("10", 1e300), "the value of 10 is 1e300, not within ±1e150");
        assert_eq!(refusal("1", 0.0), "the bits 1 are not in the layout");
        let error = BayesLinear::new(Options::default(), &Layout::free(1_000_000_000)).err().unwrap();
        assert_eq!(error.to_string(), "1000000000 bits, more than the 1000 of a regression on pairs");
    }

    #[test]
    fn a_state_of_another_layout_or_version_is_refused_and_changes_nothing() {
        let mut one = surrogate("{}", &Layout::free(2));
        one.learn(&"10".parse().unwrap(), Some(0.1)).unwrap();
        let state = String::from_utf8(one.save().unwrap().unwrap()).unwrap();
        let mut other = surrogate("{}", &Layout::free(3));
        other.learn(&"101".parse().unwrap(), Some(3.0)).unwrap();
        let before = other.save().unwrap();
        let error = other.restore(state.as_bytes()).unwrap_err().to_string();
        assert_eq!(error, "not a state of this surrogate: the bits 10 are not in the layout");
        let error = other.restore(state.replace(":1,", ":9,").as_bytes()).unwrap_err().to_string();
        assert_eq!(error, "not a state of this surrogate: its version is 9, not 1");
        assert_eq!(other.save().unwrap(), before);
    }

    #[test]
    fn of_transformed_values_values_are_predicted_and_there_are_no_effects() {
        for values in ["auto", "vizier", "copula", "log"] {
            let model = surrogate(&format!(r#"{{ "values": "{values}" }}"#), &Layout::free(testing::BITS));
            testing::check_transformed_predictions(model, values);
        }
    }

    /// Of forty random points those with the first bit are infeasible, and told; or ignored.
    fn limited(json: &str, learns: bool) -> BayesLinear {
        let layout = Layout::free(6);
        let (mut surrogate, mut random) = (surrogate(json, &layout), rng(6));
        for _ in 0..40 {
            let x = layout.random(&mut random);
            let value = (!x[0]).then(|| 1e3 - 2.0 * x.count_ones() as f64);
            if learns || value.is_some() {
                surrogate.learn(&x, value).unwrap();
            }
        }
        surrogate
    }

    #[test]
    fn an_infeasible_region_is_left() {
        let point = |mask: u32| (0..6).map(|i| mask >> i & 1 == 1).collect::<Vec<bool>>();
        for values in ["raw", "copula", "auto"] {
            let json = format!(r#"{{ "values": "{values}" }}"#);
            let [learns, ignores] = [true, false].map(|learns| {
                let mut surrogate = limited(&json, learns);
                let lowest = |seed: u64| {
                    let drawn = draw(&mut surrogate, seed);
                    (0..64).map(point).min_by(|a, b| drawn.value(a).total_cmp(&drawn.value(b))).unwrap()
                };
                (1..=20).map(lowest).filter(|x| x[0]).count()
            });
            assert!(learns <= 2 && ignores >= 5, "{values}: {learns} and {ignores}");
        }
    }

    #[test]
    fn an_infeasible_point_is_learned_as_if_the_worst_value_had_been_observed() {
        let mut told = limited("{}", true);
        let worst = told.observations.iter().filter_map(|(_, value)| *value).fold(f64::MIN, f64::max);
        let mut observed = surrogate("{}", &Layout::free(6));
        told.observations.iter().for_each(|(x, value)| {
            observed.learn(x, value.or(Some(worst))).unwrap();
        });
        let (one, other) = (draw(&mut told, 3), draw(&mut observed, 3));
        assert_eq!(
            (one.linear(), one.pairs(), one.constant()),
            (other.linear(), other.pairs(), other.constant())
        );
        assert_eq!(told.effects().unwrap(), observed.effects().unwrap());
    }

    #[test]
    fn infeasible_points_alone_predict_nothing() {
        let mut model = surrogate("{}", &Layout::free(2));
        model.observe(&"10".parse().unwrap(), &Evaluation::infeasible("it burns")).unwrap();
        let points = plugin_api::BitMatrix::new(2);
        assert_eq!((model.predict(points.view()).unwrap(), model.effects().unwrap()), (None, None));
        draw(&mut model, 1);
    }
}
