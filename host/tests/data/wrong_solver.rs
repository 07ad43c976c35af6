//! A solver that breaks the promise that its options name.

use plugin_api::{Answer, Bits, Problem, Result, Rule, Solver, export_solver, options};

options! {
    /// What is wrong.
    pub struct Options {
        /// The promise that is broken.
        pub way: String = "none".to_owned(),
    }
}

export_solver!("wrong", |options: Options| Wrong { way: options.way, calls: 0 });

struct Wrong {
    way: String,
    calls: u64,
}

impl Solver for Wrong {
    fn minimize(&mut self, problem: &Problem, _seed: u64) -> Result<Answer> {
        self.calls += 1;
        let bits = Bits::zeros(problem.dimension());
        let value = problem.objective().value(&bits);
        let answer = Answer::new(bits, value);
        Ok(match self.way.as_str() {
            "length" if problem.dimension() > 30 => Answer::new(Bits::zeros(30), value),
            "value" => Answer::new(Bits::zeros(problem.dimension()), value + 1.0),
            // Below the value of its own answer, and not below the minimum.
            "bound" => answer.with_bound(value - 1e-3),
            "determinism" => answer.with_count("calls", self.calls),
            _ => answer,
        })
    }
    fn keeps(&self, rule: Rule) -> bool {
        self.way == "groups" && rule == Rule::Groups || self.way == "constraints" && rule == Rule::Exactly
    }
    fn restore(&mut self, _state: &[u8]) -> Result<()> {
        match self.way.as_str() {
            "state" => Ok(()),
            _ => Err("it has none".into()),
        }
    }
}
