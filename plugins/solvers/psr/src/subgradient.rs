//! The iterates of the projected subgradient method on the parameters of a relaxation.

use plugin_api::rand::RngExt;
use plugin_api::{Bits, Quadratic, Rng};
use shared_cuts::{Cut, Relaxation};

use crate::options::{Initial, Options, Step};

/// Cuts of a relaxation with better and better parameters. They end where the parameters stay as they are: the
/// last cut then minimizes the function itself, and all that follow would be the same.
pub struct Iterates<'f> {
    f: &'f Quadratic,
    relaxation: Relaxation<'f>,
    /// The size of the first step.
    scale: f64,
    cuts: u64,
    /// The point of the last cut.
    last: Option<Bits>,
    /// Whether a function was added since.
    added: bool,
    best_relaxed_minimum: f64,
    bound: f64,
}

/// A minimum of a relaxed function.
pub struct Iterate {
    pub bits: Bits,
    /// The value of `bits` under the function itself.
    pub value: f64,
    pub relaxed_minimum: f64,
}

impl<'f> Iterates<'f> {
    pub fn new(f: &'f Quadratic, options: &Options, rng: &mut Rng) -> Self {
        let parameters = match options.initial {
            Initial::Half => vec![0.5; f.pairs().len()],
            Initial::Random => f.pairs().iter().map(|_| rng.random()).collect(),
        };
        let largest = f.pairs().iter().fold(0.0, |largest: f64, &a| largest.max(a));
        let scale = match options.step {
            Step::Authors => 1.0,
            // Finite even without a positive pair, where steps times 0 have to be 0.
            Step::Scaled => (0.5 / largest).min(f64::MAX),
        };
        Self {
            f,
            relaxation: Relaxation::new(f, parameters),
            scale,
            cuts: 0,
            last: None,
            added: false,
            best_relaxed_minimum: f64::NEG_INFINITY,
            bound: f64::NEG_INFINITY,
        }
    }

    /// Adds a linear function, wrong by no more than `rounding`, to what is relaxed from the next iterate on. The bounds so far stay: they are those of whatever
    /// has no higher values than each of the functions.
    pub fn add(&mut self, constant: f64, linear: &[f64], rounding: f64) {
        self.relaxation.add(constant, linear, rounding);
        self.added = true;
    }

    /// A number that no value of the function is below, from the iterates so far.
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// How many cuts there have been.
    pub fn cuts(&self) -> u64 {
        self.cuts
    }
}

/// Why there is no next iterate.
pub enum End {
    /// The last one is a minimum of the function.
    Proven,
    /// In the middle of its cut.
    Interrupted,
}

impl Iterates<'_> {
    /// The next iterate, unless `more` disagrees before it is found, which is asked now and then.
    pub fn next_while(&mut self, more: &dyn Fn() -> bool) -> Result<Iterate, End> {
        if let Some(bits) = &self.last {
            let step = self.scale / (self.cuts as f64).sqrt();
            if !self.relaxation.ascend(bits, step) && !self.added {
                return Err(End::Proven);
            }
            self.added = false;
        }
        let Cut { bits, relaxed_minimum } = self.relaxation.cut_while(more).ok_or(End::Interrupted)?;
        self.cuts += 1;
        if relaxed_minimum > self.best_relaxed_minimum {
            self.best_relaxed_minimum = relaxed_minimum;
            self.bound = self.bound.max(self.relaxation.proven_bound());
        }
        self.last = Some(bits.clone());
        Ok(Iterate { value: self.f.value(&bits), bits, relaxed_minimum })
    }
}

impl Iterator for Iterates<'_> {
    type Item = Iterate;

    fn next(&mut self) -> Option<Iterate> {
        self.next_while(&|| true).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use golden_afo::{Case, cases_up_to};
    use plugin_api::rng;
    use plugin_api::testing::random_quadratic;

    fn paper() -> Options {
        Options { step: Step::Authors, ..Options::default() }
    }

    fn assert_close(found: f64, expected: f64, what: &str) {
        assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{what}: {found}, not {expected}");
    }

    #[test]
    fn the_iterates_are_those_of_the_paper() {
        for Case { name, function, psr_values, psr_relaxed_minima, .. } in cases_up_to(usize::MAX) {
            let mut iterates = Iterates::new(&function, &paper(), &mut rng(0));
            for (t, (&value, &relaxed)) in psr_values.iter().zip(&psr_relaxed_minima).enumerate() {
                let iterate = iterates.next().expect("none of the cases is proven in 10 steps");
                assert_close(iterate.value, value, &format!("{name}: value of iterate {t}"));
                assert_close(iterate.relaxed_minimum, relaxed, &format!("{name}: relaxed minimum {t}"));
            }
            let best = psr_relaxed_minima.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert_close(iterates.bound(), best, &format!("{name}: bound"));
            assert!(iterates.bound() < best, "{name}: the bound leaves no room for rounding");
        }
    }

    #[test]
    fn scaled_steps_bring_better_bounds() {
        let f = &cases_up_to(25).pop().expect("a case").function;
        let bound = |options: &Options| {
            let mut iterates = Iterates::new(f, options, &mut rng(0));
            iterates.by_ref().take(50).for_each(drop);
            iterates.bound()
        };
        assert!(bound(&Options::default()) > bound(&paper()) + 0.01);
    }

    #[test]
    fn without_positive_pairs_one_cut_is_all() {
        let f = random_quadratic(&mut rng(5), 8);
        let f =
            Quadratic::new(0.0, f.linear().to_vec(), f.pairs().iter().map(|a| -a.abs()).collect()).unwrap();
        for options in [paper(), Options::default()] {
            assert_eq!(Iterates::new(&f, &options, &mut rng(0)).count(), 1);
        }
    }

    #[test]
    fn random_parameters_follow_the_seed() {
        let f = random_quadratic(&mut rng(6), 20);
        let options = Options { initial: Initial::Random, ..Options::default() };
        let first = |seed| Iterates::new(&f, &options, &mut rng(seed)).next().expect("a cut").relaxed_minimum;
        assert_eq!(first(1).to_bits(), first(1).to_bits());
        assert_ne!(first(1), first(2));
    }
}
