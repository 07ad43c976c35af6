//! The Gibbs chain of the horseshoe regression (Makalic & Schmidt 2015).
//!
//! y = Xα + σε, α_k = σβ_k, β_k ~ N(0, λ_k² τ²), λ_k and τ ~ C⁺(0, 1), σ² ~ 1/σ². A step draws, with D = τ² diag(λ²):
//!
//! - every fourth time, τ² | λ without σ and β, by a Metropolis move (Johndrow, Orenstein & Bhattacharya 2020);
//! - σ² | λ, τ ~ IG(N/2, yᵀ(X D Xᵀ + I)⁻¹y/2), without β;
//! - β | σ, λ, τ ~ N(A⁻¹Xᵀy/σ, A⁻¹), A = XᵀX + D⁻¹;
//! - ν_k | λ_k ~ IG(1, 1 + 1/λ_k²), λ_k² | ν_k, β_k, τ ~ IG(1, 1/ν_k + β_k²/2τ²);
//! - ξ | τ ~ IG(1, 1 + 1/τ²), τ² | ξ, β, λ ~ IG((p+1)/2, 1/ξ + Σ β_k²/2λ_k²).
//!
//! Without the Metropolis move τ creeps after β: on the authors' own data sets it takes 180 to 1,700 steps to forget
//! where it stood (integrated autocorrelation time), with it 30 to 120, for a tenth more work.

use plugin_api::random::{exponential, gamma, normal, open_uniform};
use plugin_api::{Error, Result, Rng};
use shared_linalg::NotPositiveDefinite;

use crate::coefficients::{Coefficients, Fit};
use crate::regression::Regression;

/// Where a chain stands: a step starts from τ and λ alone, and they have no unit.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// τ².
    pub tau2: f64,
    /// λ² of each term of the model, also of those that no observation speaks of.
    pub lambda2: Vec<f64>,
}

impl State {
    /// Where a chain of this many terms starts.
    pub fn cold(terms: usize) -> Self {
        Self { tau2: 1.0, lambda2: vec![1.0; terms] }
    }

    /// Whether a chain can stand there.
    pub(crate) fn is_valid(&self) -> bool {
        let valid = |&scale2: &f64| (LEAST_SCALE2..=1.0 / LEAST_SCALE2).contains(&scale2);
        std::iter::once(&self.tau2).chain(&self.lambda2).all(valid)
    }
}

/// The prior of σ²: an inverse gamma distribution, with a floor.
///
/// Without noise in the data σ² goes to 0 and D to infinity, until the identity is lost beside X D Xᵀ.
#[derive(Clone, Copy, Debug)]
pub struct NoisePrior {
    /// Its shape; with a rate of 0 too, it is 1/σ².
    pub shape: f64,
    pub rate: f64,
    /// σ² is at least this part of the variance of the values.
    pub floor: f64,
}

impl Default for NoisePrior {
    /// The model's.
    fn default() -> Self {
        Self { shape: 0.0, rate: 0.0, floor: 1e-6 }
    }
}

/// σ² is at most this many times the variance of the values: two values alone leave it a tail without mean.
const MOST_SIGMA2: f64 = 1e6;
/// λ² and τ² stay between this and its inverse.
const LEAST_SCALE2: f64 = 1e-15;
/// τ²λ² as the regression sees it: up to 1e5 standard deviations of the noise, far below where the rounding of X D Xᵀ
/// (some 1e-14 of it) reaches the identity added to it.
const D_RANGE: (f64, f64) = (1e-15, 1e10);
/// Steps from one Metropolis move to the next: it costs a factorisation, which is a third of a step.
const METROPOLIS_EVERY: u32 = 4;
/// Standard deviation of the move of log τ²; a quarter to two thirds of the moves are accepted.
const METROPOLIS_WIDTH: f64 = 2.5;
/// How often a run goes back to its last good state before it gives up.
const RESTARTS: usize = 20;

/// A chain on one regression, with its working memory: a step allocates nothing.
pub struct Chain<'a> {
    regression: &'a Regression<'a>,
    coefficients: &'a mut dyn Coefficients,
    prior: NoisePrior,
    steps: u32,
    d: Vec<f64>,
    sigma2: f64,
    beta: Vec<f64>,
    /// Of each active term.
    scales: Vec<Scales>,
}

/// What the next λ² of a term is made of.
#[derive(Clone, Copy, Default)]
struct Scales {
    lambda2: f64,
    /// β², then β²/λ².
    square: f64,
    /// Exponential draws, for ν and for λ².
    first: f64,
    second: f64,
}

impl<'a> Chain<'a> {
    /// A chain that draws its coefficients by the given way.
    pub fn new(
        regression: &'a Regression<'a>,
        coefficients: &'a mut dyn Coefficients,
        prior: NoisePrior,
    ) -> Self {
        let columns = regression.design().columns();
        let (d, beta) = (vec![0.0; columns], vec![0.0; columns]);
        let scales = vec![Scales::default(); regression.active().len()];
        Self { regression, coefficients, prior, steps: 0, d, sigma2: 1.0, beta, scales }
    }

    /// σ² of the last step, for values of variance 1.
    pub fn sigma2(&self) -> f64 {
        self.sigma2
    }

    /// α/σ of the last step, 0 for terms that are not active.
    pub fn beta(&self) -> &[f64] {
        &self.beta
    }

    /// Takes `steps` steps; goes back to the last good state where one fails, a bounded number of times.
    pub fn run(&mut self, state: &mut State, steps: u32, rng: &mut Rng) -> Result<()> {
        let (mut good, mut before) = (State::cold(state.lambda2.len()), state.clone());
        let (mut done, mut failures) = (0, 0);
        while done < steps {
            before.clone_from(state);
            if self.step(state, rng).is_ok() {
                std::mem::swap(&mut good, &mut before);
                done += 1;
                continue;
            }
            failures += 1;
            if failures > RESTARTS {
                return Err(Error::new(format!(
                    "the regression on {} points broke down {failures} times, last after {done} of {steps} steps",
                    self.regression.design().rows()
                )));
            }
            state.clone_from(&good);
        }
        Ok(())
    }

    /// Draws every variable once, given the others.
    pub fn step(&mut self, state: &mut State, rng: &mut Rng) -> Result<(), Breakdown> {
        for &term in self.regression.active() {
            let term = term as usize;
            self.d[term] = within(state.tau2 * state.lambda2[term], D_RANGE);
        }
        self.coefficients.prepare(self.regression, &self.d);
        let mut fit = self.coefficients.try_scale(self.regression, 1.0)?;
        self.coefficients.keep();
        self.steps = self.steps.wrapping_add(1);
        if self.steps.is_multiple_of(METROPOLIS_EVERY) {
            fit = self.move_tau2(fit, state, rng);
        }
        self.sigma2 = within(self.draw_sigma2(fit, rng), self.sigma2_range());
        self.coefficients.draw(self.regression, &self.d, self.sigma2.sqrt(), rng, &mut self.beta);
        self.draw_scales(state, rng)
    }

    /// Proposes c·τ² with log c ~ N(0, width²), and answers the fit of what is accepted.
    fn move_tau2(&mut self, fit: Fit, state: &mut State, rng: &mut Rng) -> Fit {
        let c = libm::exp(METROPOLIS_WIDTH * normal(rng));
        let largest = self.d.iter().fold(0.0, |largest: f64, d| largest.max(c * d));
        if largest > D_RANGE.1 {
            return fit;
        }
        let Ok(proposed) = self.coefficients.try_scale(self.regression, c) else { return fit };
        // The σ² that goes with the proposal may not be where it is cut off: the move knows nothing of that.
        let sigma2 = self.draw_sigma2(proposed, rng);
        let range = self.sigma2_range();
        let gain = self.log_density(proposed, c * state.tau2) - self.log_density(fit, state.tau2);
        if sigma2 != within(sigma2, range) || libm::log(open_uniform(rng)) >= gain {
            return fit;
        }
        self.coefficients.keep();
        self.d.iter_mut().for_each(|d| *d *= c);
        state.tau2 *= c;
        proposed
    }

    /// The logarithm of the density of y and log τ² given λ, without σ and β.
    fn log_density(&self, fit: Fit, tau2: f64) -> f64 {
        let (shape, rate) = self.sigma2_posterior(fit);
        let data = if rate > 0.0 { shape * libm::log(rate) } else { 0.0 };
        // τ ~ C⁺(0, 1) is 1/(1 + τ²) in τ, and τ/(1 + τ²) in log τ².
        -0.5 * fit.log_determinant - data + 0.5 * libm::log(tau2) - libm::log1p(tau2)
    }

    fn draw_sigma2(&self, fit: Fit, rng: &mut Rng) -> f64 {
        let (shape, rate) = self.sigma2_posterior(fit);
        // Equal values, or none, have no spread: σ then is their size.
        if rate > 0.0 { rate / gamma(rng, shape) } else { 1.0 }
    }

    /// Shape and rate of the inverse gamma distribution of σ² | λ, τ.
    fn sigma2_posterior(&self, fit: Fit) -> (f64, f64) {
        let shape = self.prior.shape + 0.5 * self.regression.degrees();
        let rate = self.prior.rate + 0.5 * (fit.misfit + self.regression.within());
        (shape, rate)
    }

    fn sigma2_range(&self) -> (f64, f64) {
        (self.prior.floor, MOST_SIGMA2)
    }

    fn draw_scales(&mut self, state: &mut State, rng: &mut Rng) -> Result<(), Breakdown> {
        let active = self.regression.active();
        for (scales, &term) in self.scales.iter_mut().zip(active) {
            let (beta, lambda2) = (self.beta[term as usize], state.lambda2[term as usize]);
            *scales =
                Scales { lambda2, square: beta * beta, first: exponential(rng), second: exponential(rng) };
        }
        // IG(1, b) is b/Exp(1). Apart from the random numbers, so that the divisions are of several at once.
        let half = 0.5 / state.tau2;
        for Scales { lambda2, square, first, second } in &mut self.scales {
            let inverse_nu = *first * *lambda2 / (1.0 + *lambda2);
            *lambda2 = scale2((inverse_nu + half * *square) / *second);
            *square /= *lambda2;
        }
        let mut sum = 0.0;
        for (scales, &term) in self.scales.iter().zip(active) {
            state.lambda2[term as usize] = scales.lambda2;
            sum += scales.square;
        }
        if !sum.is_finite() {
            return Err(Breakdown);
        }
        let inverse_xi = exponential(rng) / (1.0 + 1.0 / state.tau2);
        let shape = 0.5 * (active.len() as f64 + 1.0);
        state.tau2 = scale2((inverse_xi + 0.5 * sum) / gamma(rng, shape));
        Ok(())
    }

    /// The coefficients α of the last step. Those that no observation speaks of come from their prior, which is their
    /// posterior; the impossible ones are 0.
    pub fn coefficients(&self, state: &mut State, impossible: &[bool], rng: &mut Rng) -> Vec<f64> {
        let sigma = self.sigma2.sqrt();
        let mut alpha: Vec<f64> = self.beta.iter().map(|beta| sigma * beta).collect();
        let mut active = self.regression.active().iter().peekable();
        for (term, alpha) in alpha.iter_mut().enumerate() {
            if active.next_if(|&&next| next as usize == term).is_some() || impossible[term] {
                continue;
            }
            // The ratio of two normal draws is Cauchy.
            let lambda = normal(rng) / normal(rng);
            state.lambda2[term] = scale2(lambda * lambda);
            let d = within(state.tau2 * state.lambda2[term], D_RANGE);
            *alpha = sigma * d.sqrt() * normal(rng);
        }
        alpha
    }
}

/// A step met a matrix without a factor, or numbers that are not finite.
#[derive(Clone, Copy, Debug)]
pub struct Breakdown;

impl From<NotPositiveDefinite> for Breakdown {
    fn from(_: NotPositiveDefinite) -> Self {
        Self
    }
}

/// `x` or the nearer end of the range; the lower end for what is not a number.
fn within(x: f64, (low, high): (f64, f64)) -> f64 {
    x.max(low).min(high)
}

fn scale2(x: f64) -> f64 {
    within(x, (LEAST_SCALE2, 1.0 / LEAST_SCALE2))
}

#[cfg(test)]
mod tests {
    use plugin_api::{Layout, rng};

    use super::*;
    use crate::by_rows::ByRows;
    use crate::kernel::Kernel;
    use crate::observations::Observations;

    /// Coefficients that break down a number of times, then are those of a regression.
    struct Broken(usize, ByRows);

    impl Coefficients for Broken {
        fn prepare(&mut self, regression: &Regression<'_>, d: &[f64]) {
            self.1.prepare(regression, d);
        }
        fn try_scale(&mut self, regression: &Regression<'_>, c: f64) -> Result<Fit, NotPositiveDefinite> {
            if self.0 > 0 {
                self.0 -= 1;
                return Err(NotPositiveDefinite { row: 0 });
            }
            self.1.try_scale(regression, c)
        }
        fn keep(&mut self) {
            self.1.keep();
        }
        fn draw(&mut self, r: &Regression<'_>, d: &[f64], sigma: f64, rng: &mut Rng, beta: &mut [f64]) {
            self.1.draw(r, d, sigma, rng, beta);
        }
    }

    fn run(failures: usize) -> Result<State> {
        let mut observations = Observations::new(&Layout::free(2), 2);
        for (point, value) in [("10", 1.0), ("01", 3.0)] {
            observations.add(&point.parse()?, value)?;
        }
        let regression = Regression::new(&observations, &observations.targets(), true);
        let mut broken = Broken(failures, ByRows::new(&regression, Kernel::fastest()));
        let mut state = State::cold(3);
        Chain::new(&regression, &mut broken, NoisePrior::default()).run(&mut state, 10, &mut rng(1))?;
        Ok(state)
    }

    #[test]
    fn a_chain_survives_some_breakdowns() {
        let state = run(RESTARTS).unwrap();
        assert!(state.tau2 != 1.0 && state.tau2.is_finite());
    }

    #[test]
    fn a_chain_that_keeps_breaking_down_ends_in_an_error() {
        assert_eq!(
            run(usize::MAX).unwrap_err().to_string(),
            "the regression on 2 points broke down 21 times, last after 0 of 10 steps"
        );
    }

    #[test]
    fn numbers_out_of_range_come_to_its_ends() {
        assert_eq!(within(f64::NAN, (1.0, 2.0)), 1.0);
        assert_eq!(within(f64::INFINITY, (1.0, 2.0)), 2.0);
        assert_eq!(within(1.5, (1.0, 2.0)), 1.5);
    }
}
