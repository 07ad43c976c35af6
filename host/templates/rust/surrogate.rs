//! A model: what each bit adds to the value on average, drawn with less doubt the more often it was seen.
//!
//! Put your own in its place: it learns in `observe`, and `draw` answers the function that a solver minimises next.

use plugin_api::random::normal;
use plugin_api::{
    Acquisition, Bits, DrawRequest, Evaluation, Layout, Quadratic, Result, Surrogate, export_surrogate,
    options, rng,
};

options! {
    /// What a manifest may set under `surrogate.options`.
    pub struct Options {
        /// How much doubt there is about a bit that was never seen, in units of the values' deviation.
        #[schemars(range(min = 0.0))]
        pub doubt: f64 = 1.0,
    }
}

export_surrogate!("{{name}}", |options: Options, layout: &Layout| Means::new(options, layout));

struct Means {
    options: Options,
    dimension: usize,
    observed: Vec<(Bits, f64)>,
}

impl Means {
    fn new(options: Options, layout: &Layout) -> Self {
        Self { options, dimension: layout.dimension(), observed: Vec::new() }
    }

    /// The mean of the values at points where the bit is as given, and how many there are.
    fn mean(&self, bit: usize, set: bool) -> (f64, f64) {
        let values = self.observed.iter().filter(|(bits, _)| bits[bit] == set).map(|(_, value)| value);
        let count = values.clone().count() as f64;
        (values.sum::<f64>() / count.max(1.0), count)
    }
}

impl Surrogate for Means {
    /// Low values are good, whatever the objective's own sense. A point that is infeasible has none: nothing is learnt here.
    fn observe(&mut self, bits: &Bits, evaluation: &Evaluation) -> Result<()> {
        self.observed.extend(evaluation.value().map(|value| (bits.clone(), value)));
        Ok(())
    }

    /// All randomness comes from the request's seed: the same request after the same observations draws the same function.
    fn draw(&mut self, request: &DrawRequest) -> Result<Acquisition> {
        let mut rng = rng(request.seed());
        let count = self.observed.len().max(1) as f64;
        let mean = self.observed.iter().map(|(_, value)| value).sum::<f64>() / count;
        let variance = self.observed.iter().map(|(_, value)| (value - mean).powi(2)).sum::<f64>() / count;
        let mut drawn = Quadratic::zero(self.dimension);
        for bit in 0..self.dimension {
            let ((on, seen_on), (off, seen_off)) = (self.mean(bit, true), self.mean(bit, false));
            let deviation = self.options.doubt * (variance / (1.0 + seen_on.min(seen_off))).sqrt();
            drawn.add_linear(bit, on - off + deviation * normal(&mut rng));
        }
        // What is drawn is complete: with the experiment's penalty.
        Ok(Acquisition::from(drawn).with_penalty(request.penalty()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contract_is_kept() {
        plugin_api::testing::check_surrogate(|layout| Means::new(Options::default(), layout));
    }
}
