//! No model: a draw is a linear function with coefficients from N(0, 1), whatever was observed.
//!
//! Its minimum is at a point chosen uniformly: each bit is set where its coefficient is negative, and of a one-hot
//! group the bit with the least coefficient, which is any of them with the same probability. So every solver that
//! minimises linear functions makes random search of it: the baseline that a surrogate has to beat. A penalty on bits
//! set shifts the coefficients, and makes points with fewer bits more likely.

use plugin_api::random::normal;
use plugin_api::{
    Acquisition, Bits, DrawRequest, Error, Evaluation, Layout, Quadratic, Result, Surrogate,
    export_surrogate, rng,
};

plugin_api::options! {
    /// There is nothing to set.
    pub struct Options {}
}

export_surrogate!("random", |_options: Options, layout: &Layout| Random::new(layout));

/// As for the other surrogates: a function of 1000 bits has 499,500 pairs.
const MOST_BITS: usize = 1000;
/// All of its state: which version of this crate's states it is.
const STATE: [u8; 1] = [1];

struct Random {
    bits: usize,
}

impl Random {
    fn new(layout: &Layout) -> Result<Self> {
        match layout.dimension() {
            bits @ 0..=MOST_BITS => Ok(Self { bits }),
            bits => {
                Err(Error::new(format!("{bits} bits, more than the {MOST_BITS} of a function with pairs")))
            }
        }
    }
}

impl Surrogate for Random {
    fn observe(&mut self, _bits: &Bits, _evaluation: &Evaluation) -> Result<()> {
        Ok(())
    }

    fn draw(&mut self, request: &DrawRequest) -> Result<Acquisition> {
        let rng = &mut rng(request.seed());
        let mut drawn = Quadratic::zero(self.bits);
        (0..self.bits).for_each(|i| drawn.add_linear(i, normal(rng)));
        Ok(Acquisition::from(drawn).with_penalty(request.penalty()))
    }

    fn save(&self) -> Result<Option<Vec<u8>>> {
        Ok(Some(STATE.to_vec()))
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        if state == STATE { Ok(()) } else { Err(Error::new("not a state of this surrogate")) }
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::Problem;
    use plugin_api::testing::{check_surrogate, minimum};

    use super::*;

    #[test]
    fn it_keeps_the_contract() {
        check_surrogate(|layout| Random::new(layout).unwrap());
    }

    #[test]
    fn the_minimum_is_at_each_admitted_point_equally_often() {
        let layout = Layout::with_groups(6, vec![1..4, 4..6]).unwrap();
        let mut random = Random::new(&layout).unwrap();
        let point = |mask: u32| -> Vec<bool> { (0..6).map(|i| mask >> i & 1 == 1).collect() };
        let points: Vec<Vec<bool>> = (0..64).map(point).filter(|bits| layout.admits(bits)).collect();
        let (draws, mut counts) = (12_000, vec![0.0; points.len()]);
        for seed in 0..draws {
            let drawn = random.draw(&DrawRequest::new(seed)).unwrap();
            let values: Vec<f64> = points.iter().map(|bits| drawn.value(bits)).collect();
            let least = minimum(&Problem::new(drawn).with_layout(&layout));
            counts[values.iter().position(|&value| value == least).unwrap()] += 1.0;
        }
        // Twelve points: χ² with 11 degrees of freedom is above 31.3 once in a thousand times.
        let expected = draws as f64 / points.len() as f64;
        let chi2: f64 = counts.iter().map(|count| (count - expected) * (count - expected) / expected).sum();
        assert!(points.len() == 12 && chi2 < 31.3, "χ² of {chi2}: {counts:?}");
    }

    #[test]
    fn too_many_bits_are_refused() {
        let error = Random::new(&Layout::free(1_000_000_000)).err().unwrap();
        assert_eq!(error.to_string(), "1000000000 bits, more than the 1000 of a function with pairs");
    }
}
