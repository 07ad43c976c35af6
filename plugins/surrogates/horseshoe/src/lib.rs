//! Sparse Bayesian regression of first to third order with a horseshoe prior, drawn from by Gibbs sampling.
//!
//! The surrogate of BOCS (Baptista & Poloczek 2018): value = α₀ + Σ α_i x_i + Σ α_ij x_i x_j + noise, with most α near
//! 0 and some far from it. A draw is the coefficients at the end of a chain, so a point is proposed with the
//! probability that it is the best one. A term that no observation speaks of (a pair of bits that were never set
//! together) has a heavy-tailed prior, which is its posterior: such draws are what makes the search look there. Pairs
//! inside a one-hot group can't be set together, and have the coefficient 0.
//!
//! Better than the published code, each by measurement or by proof: the intercept is integrated out, the chain goes
//! on from draw to draw, a point observed with several values counts as often, σ² has a floor (noise-free data
//! drive it to 0 and the linear algebra with it), and a chain that breaks down ends in an error, not in a loop.
//!
//! Predictions and effects are averages over a chain that goes on from the last draw's.
//!
//! The time goes into the [kernels](kernel), of which the `README.md` beside tells the idea, the measurements and the limits.
//! They give the same bits on every machine; the environment variable `HORSESHOE_KERNEL` forces one of them.

use std::sync::Arc;

use plugin_api::ndarray::ArrayView2;
use plugin_api::random::normal;
use plugin_api::{
    Acquisition, AcquisitionKind, Bits, DrawRequest, Effect, Error, Evaluation, Layout, Penalty, Predictions,
    Quadratic, Result, Surrogate, export_surrogate, rng,
};

mod asked; // predictions and effects
#[doc(hidden)]
pub mod by_rows; // coefficients where there are fewer rows than terms
#[doc(hidden)]
pub mod by_terms; // coefficients where there are not
#[doc(hidden)]
pub mod chain; // the Gibbs sampler
#[doc(hidden)]
pub mod coefficients; // what both ways have in common
mod cubic; // what third order draws
#[doc(hidden)]
pub mod design; // the matrix of the regression
#[doc(hidden)]
pub mod kernel; // the loops in which the time goes
#[doc(hidden)]
pub mod observations; // points and values, and their scale
mod options; // what a manifest may set, and its limits
#[doc(hidden)]
pub mod products; // products with the matrix of the regression
#[doc(hidden)]
pub mod regression; // weights and centring
mod saved; // a surrogate as bytes

use by_terms::Moments;
use chain::{Chain, NoisePrior, State};
use cubic::Cubic;
use kernel::Kernel;
use observations::{Observations, Targets};
use options::{Intercept, Options};
use regression::Regression;

export_surrogate!("horseshoe", |options: Options, layout: &Layout| Horseshoe::new(options, layout));

/// The plugin as the host makes it, for measurements of the whole; the options as JSON.
#[doc(hidden)]
pub fn surrogate(options: &str, layout: &Layout) -> Result<impl Surrogate + use<>> {
    Horseshoe::new(plugin_api::options::parse(options)?, layout)
}

/// Steps until a chain has forgotten where it started.
const BURN_IN: u32 = 1000;
/// For each order: 1000 bits have 500,500 terms of up to two, 140 bits 457,450 of up to three.
const MOST_BITS: [usize; 3] = [1000, 1000, 140];
/// Rows of the largest matrix factored: 128 MiB.
const LARGEST_MATRIX: usize = 4096;

struct Horseshoe {
    options: Options,
    layout: Layout,
    kernel: Kernel,
    observations: Observations,
    moments: Moments,
    last: Option<LastDraw>,
}

/// Where the chain stood after the last draw.
#[derive(Clone, Debug, PartialEq)]
struct LastDraw {
    state: State,
    /// How many observations there were when the chain last burned in.
    burned_in: usize,
}

impl Horseshoe {
    fn new(options: Options, layout: &Layout) -> Result<Self> {
        let (bits, order) = (layout.dimension(), options.order);
        let most = MOST_BITS[usize::from(order) - 1];
        if bits > most {
            return Err(Error::new(format!(
                "{bits} bits, more than the {most} of a regression of order {order}"
            )));
        }
        let observations = Observations::new(layout, usize::from(options.order));
        let (layout, kernel) = (layout.clone(), Kernel::from_environment()?);
        Ok(Self { options, layout, kernel, observations, moments: Moments::default(), last: None })
    }

    /// The state that the chain starts from, how many steps it takes, and when it burned in.
    fn start(&self) -> (State, u32, usize) {
        let (steps, observed) = (self.options.steps, self.observations.count());
        let cold = || State::cold(self.observations.design().columns());
        match &self.last {
            _ if !self.options.warm => (cold(), steps, observed),
            None => (cold(), steps.max(BURN_IN), observed),
            // The posterior of twice the observations is another one: the chain has to find it first.
            Some(last) if observed > last.burned_in && observed >= 2 * last.burned_in => {
                (last.state.clone(), steps.max(BURN_IN), observed)
            }
            Some(last) => (last.state.clone(), steps, last.burned_in),
        }
    }

    /// What the regression learns under the penalty. `auto` goes by the normal likelihood: the horseshoe's own evidence has
    /// no closed form.
    fn targets(&self, penalty: &Penalty) -> Targets {
        let values = self.options.values;
        if values.is_raw() {
            return self.observations.targets();
        }
        self.observations.targets_of(&values.transform(&self.observations.totals(values, penalty)))
    }

    /// Runs the chain, and takes the parameters at its end.
    fn sample(&mut self, seed: u64, targets: &Targets) -> Result<Sample> {
        let rng = &mut rng(seed);
        let integrated = self.options.intercept == Intercept::Integrated;
        let regression = Regression::new(&self.observations, targets, integrated);
        check_size(&regression)?;
        let (mut state, steps, burned_in) = self.start();
        let mut coefficients =
            coefficients::choose(&regression, &self.observations, &mut self.moments, self.kernel);
        let mut chain = Chain::new(&regression, coefficients.as_mut(), NoisePrior::default());
        chain.run(&mut state, steps, rng)?;
        let mut alpha = chain.coefficients(&mut state, &self.observations.terms().impossible(), rng);

        let sigma = chain.sigma2().sqrt();
        let intercept = match self.options.intercept {
            // α₀ | α, σ ~ N(mean of y − Φα, σ²/N); without observations any number is as good as another.
            Intercept::Integrated => {
                let observed = self.observations.count().max(1) as f64;
                sigma / observed.sqrt() * normal(rng) - regression.mean(&alpha)
            }
            Intercept::Authors => 0.0,
        };
        self.last = Some(LastDraw { state, burned_in });
        let scale = targets.scale;
        alpha.iter_mut().for_each(|alpha| *alpha *= scale);
        Ok(Sample { intercept: targets.mean + scale * intercept, alpha, sigma: scale * sigma })
    }
}

/// Refuses a regression whose matrices would be too large.
fn check_size(regression: &Regression<'_>) -> Result<()> {
    let (points, terms) = (regression.design().rows(), regression.active().len());
    if points.min(terms) > LARGEST_MATRIX {
        return Err(Error::new(format!(
            "{points} points and {terms} terms, both more than the {LARGEST_MATRIX} of the largest regression"
        )));
    }
    Ok(())
}

/// Parameters drawn from the posterior, in the units of the values.
struct Sample {
    intercept: f64,
    alpha: Vec<f64>,
    sigma: f64,
}

impl Surrogate for Horseshoe {
    fn observe(&mut self, bits: &Bits, evaluation: &Evaluation) -> Result<()> {
        self.observations.add(bits, evaluation.value())
    }

    fn draw(&mut self, request: &DrawRequest) -> Result<Acquisition> {
        let targets = self.targets(request.penalty());
        let Sample { intercept, mut alpha, sigma } = self.sample(request.seed(), &targets)?;
        let too_large = |error| Error::new(format!("values too large, with noise of {sigma:e}: {error}"));
        let bits = self.layout.dimension();
        let quadratic_terms = bits + bits * bits.saturating_sub(1) / 2;
        let triples = alpha.split_off(alpha.len().min(quadratic_terms));
        // A model of first order has no pairs.
        alpha.resize(quadratic_terms, 0.0);
        let pairs = alpha.split_off(bits);
        let drawn = Quadratic::new(intercept, alpha, pairs).map_err(too_large)?;
        let drawn = match self.options.order {
            3 => Acquisition::General(Arc::new(Cubic::new(drawn, &triples).map_err(too_large)?)),
            _ => drawn.into(),
        };
        Ok(self.options.values.complete(drawn, request.penalty()))
    }

    fn draws(&self) -> AcquisitionKind {
        if self.options.order == 3 { AcquisitionKind::General } else { AcquisitionKind::Quadratic }
    }

    fn predict(&mut self, points: ArrayView2<'_, bool>) -> Result<Option<Predictions>> {
        self.predictions(points)
    }

    fn effects(&mut self) -> Result<Option<Vec<Effect>>> {
        self.posterior_effects()
    }

    fn save(&self) -> Result<Option<Vec<u8>>> {
        saved::write(self).map(Some)
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        saved::read(self, state)
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::random::exponential;
    use plugin_api::testing::check_surrogate;

    use super::*;

    fn surrogate(json: &str, layout: &Layout) -> Horseshoe {
        Horseshoe::new(plugin_api::options::parse(json).unwrap(), layout).unwrap()
    }

    fn draw(surrogate: &mut Horseshoe, seed: u64) -> Quadratic {
        match surrogate.draw(&DrawRequest::new(seed)).unwrap() {
            Acquisition::Quadratic(drawn) => drawn,
            _ => panic!("drew a general function"),
        }
    }

    fn sample(surrogate: &mut Horseshoe, seed: u64) -> Sample {
        let targets = surrogate.targets(&Penalty::default());
        surrogate.sample(seed, &targets).unwrap()
    }

    fn bits(text: &str) -> Bits {
        text.parse().unwrap()
    }

    /// All points of five bits with a sparse function without noise, some of them twice.
    fn noise_free(surrogate: &mut Horseshoe, unit: f64) {
        for mask in (0..32u32).chain([3, 3, 17]) {
            let x: Bits = (0..5).map(|i| mask >> i & 1 == 1).collect();
            surrogate.observe(&x, &(unit * sparse(&x)).into()).unwrap();
        }
    }

    fn sparse(x: &[bool]) -> f64 {
        let set = |i: usize| f64::from(u8::from(x[i]));
        10.0 + 3.0 * set(0) - 2.0 * set(1) * set(2) - set(3) + 1.5 * set(3) * set(4)
    }

    #[test]
    fn it_keeps_the_contract_under_all_options() {
        for json in [
            "{}",
            r#"{ "intercept": "authors" }"#,
            r#"{ "order": 1, "steps": 50 }"#,
            r#"{ "order": 3, "steps": 50 }"#,
            r#"{ "steps": 100, "warm": false }"#,
            r#"{ "steps": 50, "values": "auto" }"#,
            r#"{ "steps": 50, "values": "copula" }"#,
        ] {
            check_surrogate(|layout| surrogate(json, layout));
        }
    }

    #[test]
    fn transformed_totals_have_the_penalty_in_them_and_the_draws_have_none_more() {
        let mut ranked = surrogate(r#"{ "values": "copula" }"#, &Layout::free(5));
        noise_free(&mut ranked, 1.0);
        // A penalty that is all there is: normal quantiles of the number of bits, -2 to 2 for none to all of five.
        let drawn = ranked.draw(&DrawRequest::new(1).with_penalty(Penalty::l1(1e6))).unwrap();
        let gain = drawn.value(&[true; 5]) - drawn.value(&[false; 5]);
        assert!((2.5..6.5).contains(&gain), "{gain}");
        // The values that are learned of a logarithm are those of the model that observes it.
        let mut logs = surrogate("{}", &Layout::free(5));
        let mut observed = surrogate(r#"{ "values": "log" }"#, &Layout::free(5));
        noise_free(&mut observed, 1.0);
        let values = observed.observations.totals(shared_values::Values::Raw, &Penalty::default());
        let points: Vec<Bits> = observed.observations.points().into_iter().cloned().collect();
        let transformed = shared_values::Values::Log.transform(&values);
        for (&(row, _), value) in observed.observations.history().iter().zip(transformed) {
            logs.observe(&points[row], &value.into()).unwrap();
        }
        assert_eq!(draw(&mut observed, 7).into_parts(), draw(&mut logs, 7).into_parts());
    }

    #[test]
    fn a_draw_before_any_observation_comes_from_the_prior() {
        let mut surrogate = surrogate("{}", &Layout::with_groups(6, vec![1..4, 4..6]).unwrap());
        let drawn = draw(&mut surrogate, 1);
        assert!(drawn.linear().iter().all(|&a| a != 0.0));
        for (i, j) in [(1, 2), (1, 3), (2, 3), (4, 5)] {
            assert_eq!(drawn.pair(i, j), 0.0, "a pair inside a group");
        }
        assert!(drawn.pair(0, 1) != 0.0 && drawn.pair(3, 4) != 0.0);
    }

    #[test]
    fn noise_free_data_with_repeated_points_are_learned() {
        for json in ["{}", r#"{ "intercept": "authors" }"#] {
            let mut surrogate = surrogate(json, &Layout::free(5));
            noise_free(&mut surrogate, 1.0);
            for seed in 0..5 {
                let drawn = draw(&mut surrogate, seed);
                for mask in 0..32 {
                    let x: Vec<bool> = (0..5).map(|i| mask >> i & 1 == 1).collect();
                    // The authors' way has no intercept of its own, and must miss it.
                    let most = if json == "{}" { 0.05 } else { 5.0 };
                    let apart = (drawn.value(&x) - sparse(&x)).abs();
                    assert!(apart < most, "{json}: {apart} away at {x:?}");
                }
            }
        }
    }

    #[test]
    fn a_draw_has_the_scale_of_the_values() {
        let draws = |unit: f64| {
            let mut surrogate = surrogate("{}", &Layout::free(5));
            noise_free(&mut surrogate, unit);
            draw(&mut surrogate, 3)
        };
        // A power of two changes no digit.
        let (one, other) = (draws(1.0), draws(libm::scalbn(1.0, 900)));
        for (a, b) in one.pairs().iter().zip(other.pairs()).chain(one.linear().iter().zip(other.linear())) {
            assert_eq!(a * libm::scalbn(1.0, 900), *b);
        }
    }

    /// A hash of all bits of some draws of fewer points than terms, then of more; the options as JSON.
    fn hash_of_draws(json: &str, kernel: Kernel) -> u64 {
        let layout = Layout::free(9);
        let mut surrogate = surrogate(json, &layout);
        surrogate.kernel = kernel;
        let (mut random, mut hash) = (rng(7), 0xcbf2_9ce4_8422_2325u64);
        for count in [30, 60, 200] {
            while surrogate.observations.count() < count {
                let x = layout.random(&mut random);
                surrogate.observe(&x, &(x.count_ones() as f64 + normal(&mut random)).into()).unwrap();
            }
            let Sample { intercept, alpha, sigma } = sample(&mut surrogate, count as u64);
            for number in alpha.iter().chain([&intercept, &sigma]) {
                hash = (hash ^ number.to_bits()).wrapping_mul(0x0100_0000_01b3);
            }
        }
        hash
    }

    #[test]
    fn draws_have_the_same_bits_on_every_machine() {
        // Of 45 terms, 9 terms, 129 terms.
        for (json, expected) in [
            ("{}", 12_803_788_731_172_781_470),
            (r#"{ "order": 1, "intercept": "authors" }"#, 9_855_998_429_731_959_346),
            (r#"{ "order": 3, "steps": 50 }"#, 17_033_533_988_651_702_868),
        ] {
            for kernel in Kernel::available() {
                assert_eq!(
                    hash_of_draws(json, kernel),
                    expected,
                    "{json}, {kernel:?}: another order of summation, or of random numbers: old journals can't be resumed"
                );
            }
        }
    }

    #[test]
    fn third_order_learns_what_three_bits_do_together() {
        let f = |x: &[bool]| sparse(x) + if x[0] && x[2] && x[4] { 4.0 } else { 0.0 };
        let mut surrogate = surrogate(r#"{ "order": 3 }"#, &Layout::free(5));
        let points = (0..32).map(|mask| (0..5).map(|i| mask >> i & 1 == 1).collect::<Bits>());
        // One point is left out, and predicted.
        for x in points.clone().filter(|x| x.to_string() != "10111") {
            surrogate.observe(&x, &f(&x).into()).unwrap();
        }
        for seed in 0..5 {
            let drawn = surrogate.draw(&DrawRequest::new(seed)).unwrap();
            assert_eq!(
                (drawn.kind(), surrogate.draws()),
                (AcquisitionKind::General, AcquisitionKind::General)
            );
            for x in points.clone() {
                let apart = (drawn.value(&x) - f(&x)).abs();
                assert!(apart < 0.2, "{apart} away at {x}");
            }
        }
    }

    #[test]
    fn the_intercept_scatters_around_the_mean_residual_with_the_noise() {
        let mut surrogate = surrogate(r#"{ "steps": 1 }"#, &Layout::free(4));
        let layout = Layout::free(4);
        let mut random = rng(5);
        let mut observed = Vec::new();
        for _ in 0..7 {
            let x = layout.random(&mut random);
            let value = 2.0 + 3.0 * f64::from(u8::from(x[1])) + normal(&mut random);
            surrogate.observe(&x, &value.into()).unwrap();
            observed.push((x, value));
        }
        let (draws, mut sum, mut squares) = (4000, 0.0, 0.0);
        for seed in 0..draws {
            let Sample { intercept, alpha, sigma } = sample(&mut surrogate, seed);
            let terms = surrogate.observations.terms();
            let fitted = |x: &Bits| intercept + shared_terms::sum_at(&alpha, &terms.of(x));
            let mean = observed.iter().map(|(x, value)| value - fitted(x)).sum::<f64>() / 7.0;
            let z = mean / (sigma / 7.0f64.sqrt());
            sum += z;
            squares += z * z;
        }
        let draws = draws as f64;
        assert!((sum / draws.sqrt()).abs() < 4.0, "a mean of {}", sum / draws);
        assert!(
            (squares / draws - 1.0).abs() < 4.0 * (2.0 / draws).sqrt(),
            "a variance of {}",
            squares / draws
        );
    }

    #[test]
    fn a_term_that_no_observation_speaks_of_keeps_its_heavy_tails() {
        let mut surrogate = surrogate(r#"{ "steps": 20 }"#, &Layout::free(3));
        // The first two bits are never set together, the third always.
        for (x, value) in [("101", 1.0), ("011", 2.0), ("001", 0.5), ("101", 1.2), ("011", 1.9)] {
            surrogate.observe(&bits(x), &value.into()).unwrap();
        }
        let (draws, mut inside) = (4000, 0);
        for seed in 0..draws {
            let Sample { alpha, sigma, .. } = sample(&mut surrogate, seed);
            let tau = surrogate.last.as_ref().unwrap().state.tau2.sqrt();
            inside += u32::from(alpha[3].abs() < sigma * tau);
        }
        // α = στλz. The mean of P(|z| < 1/λ) over λ = tan(θ), by the midpoint rule:
        let nodes = 10_000;
        let angle = |i: u32| (f64::from(i) + 0.5) / f64::from(nodes) * std::f64::consts::FRAC_PI_2;
        let inside_given = |i| libm::erf(1.0 / (libm::tan(angle(i)) * std::f64::consts::SQRT_2));
        let expected = (0..nodes).map(inside_given).sum::<f64>() / f64::from(nodes);
        let found = f64::from(inside) / draws as f64;
        let error = (expected * (1.0 - expected) / draws as f64).sqrt();
        assert!((found - expected).abs() < 4.0 * error, "{found} for {expected} ± {error}");
    }

    #[test]
    fn odd_data_give_finite_draws() {
        let mut random = rng(1);
        let constant = |value: f64| (0..6u32).map(move |i| (i, value)).collect::<Vec<_>>();
        let cases: Vec<(&str, Vec<(u32, f64)>)> = vec![
            ("one value", vec![(5, 3.0)]),
            ("one value of 0", vec![(0, 0.0)]),
            ("two values", vec![(5, 3.0), (6, -3.0)]),
            ("equal values", constant(7.3)),
            ("zeros", constant(0.0)),
            ("one point again and again", (0..9).map(|i| (5, f64::from(i))).collect()),
            ("one point, one value", vec![(5, 2.0); 9]),
            ("large", (0..16).map(|i| (i, 1e300 * f64::from(i % 5))).collect()),
            ("small", (0..16).map(|i| (i, 1e-300 * f64::from(i % 5))).collect()),
            ("the smallest", (0..16).map(|i| (i, 5e-324 * f64::from(i % 5))).collect()),
            ("one far away", (0..16).map(|i| (i, if i == 3 { 1e12 } else { f64::from(i) })).collect()),
            ("far from 0", (0..16).map(|i| (i, 1e9 + f64::from(i % 5))).collect()),
            ("heavy tails", (0..16).map(|i| (i, 1.0 / exponential(&mut random))).collect()),
        ];
        for json in ["{}", r#"{ "intercept": "authors" }"#, r#"{ "order": 1 }"#, r#"{ "order": 3 }"#] {
            for (name, observed) in &cases {
                let mut surrogate = surrogate(json, &Layout::free(4));
                for (i, &(mask, value)) in observed.iter().enumerate() {
                    let x: Bits = (0..4).map(|bit| mask >> bit & 1 == 1).collect();
                    surrogate.observe(&x, &value.into()).unwrap();
                    let drawn = surrogate.draw(&DrawRequest::new(i as u64));
                    assert!(drawn.is_ok(), "{json}, {name}: {}", drawn.err().unwrap());
                }
            }
        }
        let mut nothing = surrogate("{}", &Layout::free(0));
        nothing.observe(&bits(""), &2.0.into()).unwrap();
        assert_eq!(draw(&mut nothing, 1).dimension(), 0);
    }

    #[test]
    fn coefficients_beyond_the_largest_number_are_an_error() {
        let mut surrogate = surrogate("{}", &Layout::free(2));
        for (x, sign) in [("00", 1.0), ("10", -1.0), ("01", -1.0), ("11", 1.0)] {
            surrogate.observe(&bits(x), &(sign * f64::MAX).into()).unwrap();
        }
        let error = (0..20).find_map(|seed| surrogate.draw(&DrawRequest::new(seed)).err()).expect("an error");
        assert!(error.to_string().starts_with("values too large, with noise of "), "{error}");
    }

    #[test]
    fn the_chain_burns_in_first_and_whenever_the_observations_have_doubled() {
        let mut surrogate = surrogate("{}", &Layout::free(4));
        let mut steps = Vec::new();
        for i in 0..9u32 {
            steps.push(surrogate.start().1);
            draw(&mut surrogate, 1);
            let x: Bits = (0..4).map(|bit| i >> bit & 1 == 1).collect();
            surrogate.observe(&x, &f64::from(i).into()).unwrap();
        }
        assert_eq!(steps, [1000, 1000, 1000, 200, 1000, 200, 200, 200, 1000]);
        assert_eq!(super::tests::surrogate(r#"{ "warm": false }"#, &Layout::free(4)).start().1, 200);
    }

    #[test]
    fn too_many_bits_are_refused() {
        let error = Horseshoe::new(Options::default(), &Layout::free(1_000_000_000)).err().unwrap();
        assert_eq!(error.to_string(), "1000000000 bits, more than the 1000 of a regression of order 2");
    }
}
