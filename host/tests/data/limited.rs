//! Choose exactly two of five; some pairs turn out to be infeasible, and no more than four are to choose from.

use plugin_api::{
    Benchmark, Constraint, Error, Evaluation, Literal, Point, Result, Space, export_benchmark, options,
};

options! {
    /// How it is limited.
    pub struct Options {
        /// How many there are to choose from.
        pub items: usize = 5,
        /// Whether the rule is declared.
        pub declared: bool = true,
    }
}

export_benchmark!("limited", |options: Options, _seed: u64| Limited(options));

struct Limited(Options);

impl Benchmark for Limited {
    fn space(&self) -> Result<Space> {
        if self.0.items > 20 {
            return Err(Error::option("items", format!("must be at most 20 to have a space, not {}", self.0.items)));
        }
        let of = (0..self.0.items).map(|item| Literal::new(item, 1)).collect();
        let rules = if self.0.declared { vec![Constraint::Exactly { count: 2, of }] } else { vec![] };
        Space::binary(self.0.items).with_constraints(rules)
    }

    fn evaluate(&mut self, point: &Point, _seed: u64) -> Result<Evaluation> {
        if point[0] == 1 && point[1] == 1 {
            return Ok(Evaluation::infeasible("the first two do not go together"));
        }
        Ok(point.iter().zip(1..).map(|(&level, weight)| f64::from(level * weight)).sum::<f64>().into())
    }
}
