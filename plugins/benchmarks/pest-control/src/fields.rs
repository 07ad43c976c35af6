//! Simulated fields: how a pest spreads from stage to stage, what a pesticide does to it, and what that costs.

use plugin_api::random::open_uniform;
use plugin_api::{Error, Result, rng};

use crate::options::Uniforms;

/// One of the pesticides, as in COMBO's benchmark.
struct Pesticide {
    price: f64,
    /// The part of the price that is saved where every stage uses this pesticide; for fewer, in proportion.
    discount: f64,
    /// b of the Beta(1, b) of its effect at the first use; the larger, the weaker.
    resistance: f64,
    /// What b would gain if every stage used it: the pest grows tolerant.
    tolerance: f64,
}

#[rustfmt::skip]
const PESTICIDES: [Pesticide; 4] = [
    Pesticide { price: 1.0, discount: 0.2, resistance: 2.0 / 7.0, tolerance: 1.0 / 7.0 },
    Pesticide { price: 0.8, discount: 0.3, resistance: 3.0 / 7.0, tolerance: 2.5 / 7.0 },
    Pesticide { price: 0.7, discount: 0.3, resistance: 3.0 / 7.0, tolerance: 2.0 / 7.0 },
    Pesticide { price: 0.5, discount: 0.0, resistance: 5.0 / 7.0, tolerance: 0.5 / 7.0 },
];

/// What people call the choices at a stage, in the order of their levels.
pub(crate) const CHOICES: [&str; 5] = ["none", "pesticide-1", "pesticide-2", "pesticide-3", "pesticide-4"];

/// Fields with their random rates; lists are by stage, then by field.
pub(crate) struct Fields {
    /// The infested fraction before the first stage.
    initial: Vec<f64>,
    /// The fraction of what is healthy that becomes infested at a stage without pesticide.
    spread: Vec<Vec<f64>>,
    /// Uniform numbers, from which the rates of control are made: their distribution depends on what was
    /// used before.
    control: Vec<Vec<f64>>,
}

impl Fields {
    pub(crate) fn random(stages: usize, simulations: usize, seed: u64) -> Self {
        let mut rng = rng(seed);
        let mut draw = || -> Vec<f64> { (0..simulations).map(|_| open_uniform(&mut rng)).collect() };
        Self::from_uniforms(Uniforms {
            initial: draw(),
            spread: (0..stages).map(|_| draw()).collect(),
            control: (0..stages).map(|_| draw()).collect(),
        })
    }

    /// Fields with the random numbers of a manifest.
    pub(crate) fn given(uniforms: &Uniforms, stages: usize, simulations: usize) -> Result<Self> {
        check_uniforms("uniforms.initial", &uniforms.initial, simulations)?;
        for (path, lists) in [("uniforms.spread", &uniforms.spread), ("uniforms.control", &uniforms.control)]
        {
            if lists.len() != stages {
                let words = format!("has {} lists, but `stages` is {stages}", lists.len());
                return Err(Error::option(path, words));
            }
            for (i, list) in lists.iter().enumerate() {
                check_uniforms(&format!("{path}[{i}]"), list, simulations)?;
            }
        }
        Ok(Self::from_uniforms(uniforms.clone()))
    }

    fn from_uniforms(uniforms: Uniforms) -> Self {
        let beta_each =
            |list: Vec<f64>, b: f64| -> Vec<f64> { list.into_iter().map(|u| beta(u, b)).collect() };
        Self {
            initial: beta_each(uniforms.initial, 30.0),
            spread: uniforms.spread.into_iter().map(|list| beta_each(list, 17.0 / 3.0)).collect(),
            control: uniforms.control,
        }
    }

    /// The price of the pesticides, plus the share of fields above `limit` before each stage.
    ///
    /// The state after the last stage does not count: that is how COMBO's program has it.
    pub(crate) fn cost(&self, choices: &[u32], limit: f64) -> f64 {
        let stages = choices.len() as f64;
        let mut resistances = PESTICIDES.map(|pesticide| pesticide.resistance);
        let mut infested = self.initial.clone();
        let (mut price, mut violations) = (0.0, 0);
        for (i, &choice) in choices.iter().enumerate() {
            violations += infested.iter().filter(|&&z| z > limit).count();
            let Some(used) = (choice as usize).checked_sub(1) else {
                let spread = infested.iter_mut().zip(&self.spread[i]);
                spread.for_each(|(z, rate)| *z += rate * (1.0 - *z));
                continue;
            };
            let pesticide = &PESTICIDES[used];
            let resistance = &mut resistances[used];
            let controlled = infested.iter_mut().zip(&self.control[i]);
            controlled.for_each(|(z, &u)| *z *= 1.0 - beta(u, *resistance));
            *resistance += pesticide.tolerance / stages;
            let uses = choices.iter().filter(|&&other| other == choice).count() as f64;
            price += pesticide.price * (1.0 - pesticide.discount * uses / stages);
        }
        price + violations as f64 / self.initial.len() as f64
    }
}

/// The u-quantile of Beta(1, b), whose distribution function is 1 − (1 − z)ᵇ.
fn beta(u: f64, b: f64) -> f64 {
    1.0 - libm::pow(1.0 - u, 1.0 / b)
}

fn check_uniforms(path: &str, uniforms: &[f64], simulations: usize) -> Result<()> {
    if uniforms.len() != simulations {
        let words = format!("has {} numbers, but `simulations` is {simulations}", uniforms.len());
        return Err(Error::option(path, words));
    }
    match uniforms.iter().position(|u| !(0.0..=1.0).contains(u)) {
        Some(k) => {
            Err(Error::option(format!("{path}[{k}]"), format!("must be in [0, 1], not {}", uniforms[k])))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One field, infested beyond any limit, where every pesticide is without effect.
    fn hopeless(stages: usize) -> Fields {
        let none = vec![vec![0.0]; stages];
        Fields::given(&Uniforms { initial: vec![1.0], spread: none.clone(), control: none }, stages, 1)
            .unwrap()
    }

    #[test]
    fn prices_fall_with_every_use() {
        // Two of four stages use pesticide 2: 0.8·(1 − 0.3·2/4) each; one uses pesticide 4, without discount.
        let expected = 2.0 * 0.8 * 0.85 + 0.5 + 4.0;
        assert!((hopeless(4).cost(&[2, 0, 2, 4], 0.1) - expected).abs() < 1e-12);
    }

    #[test]
    fn the_pest_grows_tolerant_of_what_is_used() {
        // In three stages, each use of pesticide 1 adds 1/21 to its b, and nothing to that of another.
        let u = 0.5;
        let left = |b: f64| libm::pow(1.0 - u, 1.0 / b);
        let uniforms = Uniforms {
            initial: vec![1.0],
            spread: vec![vec![0.0]; 3],
            control: vec![vec![u], vec![u], vec![0.0]],
        };
        let fields = Fields::given(&uniforms, 3, 1).unwrap();
        let violates = |choices: &[u32], limit: f64| {
            let price = fields.cost(choices, 1.0);
            (fields.cost(choices, limit) - price).round()
        };
        let first = left(2.0 / 7.0);
        let tolerant = first * left(2.0 / 7.0 + 1.0 / 21.0);
        // The state before the third stage is just above, or just below, a limit.
        assert_eq!(violates(&[1, 1, 0], tolerant * 0.999), 3.0);
        assert_eq!(violates(&[1, 1, 0], tolerant * 1.001), 2.0);
        let fresh = first * left(3.0 / 7.0);
        assert_eq!(violates(&[1, 2, 0], fresh * 0.999), 3.0);
        assert_eq!(violates(&[1, 2, 0], fresh * 1.001), 2.0);
    }

    #[test]
    fn the_state_before_each_stage_counts_and_the_last_does_not() {
        let uniforms =
            Uniforms { initial: vec![0.0], spread: vec![vec![1.0]; 2], control: vec![vec![1.0]; 2] };
        let fields = Fields::given(&uniforms, 2, 1).unwrap();
        // Clean before the first stage, all infested before the second.
        assert_eq!(fields.cost(&[0, 0], 0.1), 1.0);
    }
}
