//! An objective: which items to pack, so that they are worth much and not too heavy.
//!
//! Put your own in its place: what may be set is in `Options`, the variables are in `space`, the value is in `evaluate`.

use plugin_api::{Benchmark, Error, Evaluation, Point, Result, Sense, Space, Variable, export_benchmark, options};

options! {
    /// What a manifest may set under `benchmark.options`, with limits and defaults.
    pub struct Options {
        /// The weight of each item.
        #[schemars(length(min = 1), inner(range(min = 0.0)))]
        pub weights: Vec<f64> = vec![3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0],
        /// The value of each item; as many as weights.
        pub values: Vec<f64> = vec![2.0, 7.0, 1.0, 8.0, 2.0, 8.0, 1.0, 8.0],
        /// The most that can be carried; what is above it costs 10 a unit.
        #[schemars(range(min = 0.0))]
        pub limit: f64 = 12.0,
    }
}

// The seed is that of the instance: for an objective that is drawn at random. This one is always the same.
export_benchmark!("{{name}}", |options: Options, _seed: u64| Objective::new(options));

struct Objective(Options);

impl Objective {
    /// What the limits above cannot say is refused here; the host shows its place in the manifest.
    fn new(options: Options) -> Result<Self> {
        let count = options.weights.len();
        if options.values.len() != count {
            return Err(Error::option("values", format!("must be {count}, as many as weights")));
        }
        Ok(Self(options))
    }
}

impl Benchmark for Objective {
    fn space(&self) -> Result<Space> {
        let item = |i| Variable::categorical(format!("item{i}"), ["left", "packed"]);
        Space::new((1..=self.0.weights.len()).map(item).collect())
    }

    /// A point has the level of each variable, counted from 0. The seed is for noise; this objective has none.
    fn evaluate(&mut self, point: &Point, _seed: u64) -> Result<Evaluation> {
        let sum = |of: &[f64]| point.iter().zip(of).map(|(&packed, x)| f64::from(packed) * x).sum::<f64>();
        let excess = sum(&self.0.weights) - self.0.limit;
        if excess > self.0.limit {
            // A point that has no value and never will. Where only this time went wrong, answer an `Error`.
            return Ok(Evaluation::infeasible("the knapsack tears"));
        }
        Ok((sum(&self.0.values) - 10.0 * excess.max(0.0)).into())
    }

    fn sense(&self) -> Sense {
        Sense::Maximize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contract_is_kept() {
        plugin_api::testing::check_benchmark(|| Objective(Options::default()));
    }
}
