//! A solver whose options are read by hand: it takes names that it does not know, and values beyond its limits.

use plugin_api::schemars::JsonSchema;
use plugin_api::serde::{Deserialize, Serialize};
use plugin_api::{Answer, Bits, Error, Problem, Result, Solver, export_solver};

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(crate = "plugin_api::serde", default)]
#[schemars(crate = "plugin_api::schemars")]
pub struct Options {
    /// At least 1, as its documentation has it; nobody looks.
    pub steps: f64,
    /// Whether it fails with its defaults.
    pub hopeless: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { steps: 10.0, hopeless: true }
    }
}

export_solver!("lenient", |options: Options| match options.hopeless {
    true => Err(Error::new("these defaults cannot work")),
    false => Ok(Lenient),
});

struct Lenient;

impl Solver for Lenient {
    fn minimize(&mut self, problem: &Problem, _seed: u64) -> Result<Answer> {
        let bits = Bits::zeros(problem.dimension());
        let value = problem.objective().value(&bits);
        Ok(Answer::new(bits, value))
    }
}
