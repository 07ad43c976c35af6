//! The contract of each kind, ready to call in a plugin's own tests.
//!
//! Each `check_…` function panics with a sentence at the first promise that is not kept. Each `examine_…` answers a verdict on
//! every promise instead: `host plugins check` shows these for a plugin that is built.
//!
//! ```
//! use plugin_api::{Answer, Bits, Problem, Result, Solver, testing::check_solver};
//!
//! struct Nothing;
//! impl Solver for Nothing {
//!     fn minimize(&mut self, problem: &Problem, _seed: u64) -> Result<Answer> {
//!         let bits = Bits::zeros(problem.dimension());
//!         let value = problem.objective().value(&bits);
//!         Ok(Answer::new(bits, value))
//!     }
//! }
//! check_solver(|| Nothing);
//! ```

mod benchmark;
mod encoder;
mod findings;
mod function;
mod solver;
mod surrogate;

use crate::random::normal;
use crate::{Problem, Quadratic, Rng};

pub use benchmark::{check_benchmark, examine_benchmark};
pub use encoder::{check_encoder, examine_encoder};
pub use findings::{Verdict, Watcher};
pub use function::check_function;
pub use solver::{check_solver, examine_solver};
pub use surrogate::{check_surrogate, examine_surrogate};

/// A quadratic function with coefficients from N(0, 1), a third of the pairs 0.
pub fn random_quadratic(rng: &mut Rng, n: usize) -> Quadratic {
    let mut f = Quadratic::zero(n);
    f.add_constant(normal(rng));
    for i in 0..n {
        f.add_linear(i, normal(rng));
        for j in i + 1..n {
            let a = normal(rng);
            if a.abs() > 0.43 {
                f.add_pair(i, j, a);
            }
        }
    }
    f
}

/// The least value of a problem over all strings of bits that it [admits](Problem::admits), by trying each; infinite
/// where there are none.
///
/// # Panics
/// Above 24 bits.
pub fn minimum(problem: &Problem) -> f64 {
    let n = problem.dimension();
    assert!(n <= 24, "trying 2^{n} points");
    let bits = |mask: u32| -> Vec<bool> { (0..n).map(|i| mask >> i & 1 == 1).collect() };
    let admitted = (0..1u32 << n).map(bits).filter(|bits| problem.admits(bits));
    admitted.map(|bits| problem.objective().value(&bits)).fold(f64::INFINITY, f64::min)
}
