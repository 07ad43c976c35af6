//! Simulated food supplies: how contamination spreads from stage to stage, with and without prevention.

use plugin_api::random::open_uniform;
use plugin_api::{Error, Result, rng};

use crate::options::Rates;

/// T supplies with their random rates; lists of rates are by stage, then by supply.
pub(crate) struct Supplies {
    /// Z₀ of each supply.
    pub(crate) initial: Vec<f64>,
    /// Λ.
    spread: Vec<Vec<f64>>,
    /// Γ.
    prevention: Vec<Vec<f64>>,
}

impl Supplies {
    /// Z₀ ~ Beta(1, 30), Λ ~ Beta(1, 17/3), Γ ~ Beta(1, 3/7), all independent.
    pub(crate) fn random(stages: usize, simulations: usize, seed: u64) -> Self {
        let mut rng = rng(seed);
        // Beta(1, b) by inversion: its distribution function is 1 − (1 − z)ᵇ, and 1 − u is as uniform as u.
        let mut draw = |b: f64| -> Vec<f64> {
            (0..simulations).map(|_| 1.0 - libm::pow(open_uniform(&mut rng), 1.0 / b)).collect()
        };
        Self {
            initial: draw(30.0),
            spread: (0..stages).map(|_| draw(17.0 / 3.0)).collect(),
            prevention: (0..stages).map(|_| draw(3.0 / 7.0)).collect(),
        }
    }

    /// Supplies with the rates of a manifest.
    pub(crate) fn given(rates: &Rates, stages: usize, simulations: usize) -> Result<Self> {
        check_rates("rates.initial", &rates.initial, simulations)?;
        for (path, lists) in [("rates.spread", &rates.spread), ("rates.prevention", &rates.prevention)] {
            if lists.len() != stages {
                let words = format!("has {} lists, but `stages` is {stages}", lists.len());
                return Err(Error::option(path, words));
            }
            for (i, list) in lists.iter().enumerate() {
                check_rates(&format!("{path}[{i}]"), list, simulations)?;
            }
        }
        let Rates { initial, spread, prevention } = rates.clone();
        Ok(Self { initial, spread, prevention })
    }

    pub(crate) fn stages(&self) -> usize {
        self.spread.len()
    }

    pub(crate) fn simulations(&self) -> usize {
        self.initial.len()
    }

    /// Takes the contaminated fractions `before` a stage to those `after` it, and counts the supplies that
    /// are then above `limit`.
    pub(crate) fn pass(
        &self,
        stage: usize,
        prevent: bool,
        limit: f64,
        before: &[f64],
        after: &mut [f64],
    ) -> usize {
        let rates = if prevent { &self.prevention[stage] } else { &self.spread[stage] };
        for ((after, &z), &rate) in after.iter_mut().zip(before).zip(rates) {
            // Z_i = Λ_i (1 − x_i)(1 − Z_{i−1}) + (1 − Γ_i x_i) Z_{i−1}
            *after = if prevent { (1.0 - rate) * z } else { rate * (1.0 - z) + z };
        }
        after.iter().filter(|&&z| z > limit).count()
    }

    /// How often a supply is above `limit` after a stage, over all stages.
    pub(crate) fn violations(&self, x: &[bool], limit: f64) -> usize {
        let (mut z, mut after) = (self.initial.clone(), self.initial.clone());
        let pass = |(stage, &prevent): (usize, &bool)| {
            let count = self.pass(stage, prevent, limit, &z, &mut after);
            std::mem::swap(&mut z, &mut after);
            count
        };
        x.iter().enumerate().map(pass).sum()
    }
}

fn check_rates(path: &str, rates: &[f64], simulations: usize) -> Result<()> {
    if rates.len() != simulations {
        let words = format!("has {} numbers, but `simulations` is {simulations}", rates.len());
        return Err(Error::option(path, words));
    }
    match rates.iter().position(|rate| !(0.0..=1.0).contains(rate)) {
        Some(i) => Err(Error::option(format!("{path}[{i}]"), format!("must be in [0, 1], not {}", rates[i]))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_rates_have_the_means_of_their_distributions() {
        let supplies = Supplies::random(2, 100_000, 4);
        // The mean of Beta(1, b) is 1/(1 + b), its variance b/((1 + b)²(2 + b)).
        let lists = [
            (30.0, &supplies.initial),
            (17.0 / 3.0, &supplies.spread[1]),
            (3.0 / 7.0, &supplies.prevention[1]),
        ];
        for (b, rates) in lists {
            let mean = rates.iter().sum::<f64>() / rates.len() as f64;
            let deviation = (b / ((1.0 + b) * (1.0 + b) * (2.0 + b)) / rates.len() as f64).sqrt();
            assert!((mean - 1.0 / (1.0 + b)).abs() < 4.0 * deviation, "{mean} for b = {b}");
            assert!(rates.iter().all(|rate| (0.0..1.0).contains(rate)));
        }
    }

    #[test]
    fn contamination_spreads_or_is_prevented() {
        let rates = Rates {
            initial: vec![0.5],
            spread: vec![vec![0.2], vec![0.1]],
            prevention: vec![vec![0.4], vec![1.0]],
        };
        let supplies = Supplies::given(&rates, 2, 1).unwrap();
        let mut after = [0.0];
        // 0.2·(1 − 0.5) + 0.5 and (1 − 0.4)·0.5.
        assert_eq!((supplies.pass(0, false, 0.5, &[0.5], &mut after), after[0]), (1, 0.6));
        assert_eq!((supplies.pass(0, true, 0.5, &[0.5], &mut after), after[0]), (0, 0.3));
        assert_eq!((supplies.pass(1, true, 0.5, &[0.5], &mut after), after[0]), (0, 0.0));
        assert_eq!(supplies.violations(&[false, false], 0.5), 2);
    }
}
