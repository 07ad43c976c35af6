//! A binary quadratic model as D-Wave's dimod writes it (`to_serializable`, schema 3), in lists of numbers.
//!
//! The bits of an answer are in the order of the model's variables; where these are spins, a bit is set where
//! the spin is 1. <https://docs.ocean.dwavesys.com/projects/dimod>

use plugin_api::Quadratic;

use super::spins::{self, Vartype};
use super::terms::Terms;

/// What the object of a model holds; each part is absent until it is read.
#[derive(Default)]
pub(super) struct Model {
    pub(super) vartype: Option<String>,
    pub(super) bits: Option<usize>,
    pub(super) interactions: Option<usize>,
    pub(super) offset: Option<f64>,
    pub(super) linear: Option<Vec<f64>>,
    pub(super) biases: Option<Vec<f64>>,
    pub(super) heads: Option<Vec<u32>>,
    pub(super) tails: Option<Vec<u32>>,
}

impl Model {
    /// The function of bits; an error is a lowercase fragment.
    pub(super) fn function(self) -> Result<Quadratic, String> {
        fn need<T>(part: Option<T>, key: &str) -> Result<T, String> {
            part.ok_or_else(|| format!("missing key `{key}`"))
        }
        let vartype = need(self.vartype, "variable_type")?;
        let bits = need(self.bits, "num_variables")?;
        let linear = need(self.linear, "linear_biases")?;
        let biases = need(self.biases, "quadratic_biases")?;
        let (heads, tails) = (need(self.heads, "quadratic_head")?, need(self.tails, "quadratic_tail")?);

        let interactions = self.interactions.unwrap_or(biases.len());
        let counts = [
            ("linear_biases", linear.len(), bits),
            ("quadratic_biases", biases.len(), interactions),
            ("quadratic_head", heads.len(), interactions),
            ("quadratic_tail", tails.len(), interactions),
        ];
        for (key, found, expected) in counts {
            if found != expected {
                return Err(format!("`{key}` has {found} numbers, not {expected}"));
            }
        }

        let mut terms = Terms::new(bits);
        for (i, &bias) in linear.iter().enumerate() {
            terms.add(i, i, bias, i + 1).expect("each bit once");
        }
        for (at, ((&i, &j), &bias)) in heads.iter().zip(&tails).zip(&biases).enumerate() {
            let most = i.max(j);
            if most as usize >= bits {
                return Err(format!("an interaction with variable {most} of {bits}, counted from 0"));
            }
            if i == j {
                return Err(format!("an interaction of variable {i} with itself"));
            }
            let again = |_| format!("two interactions of variables {i} and {j}, counted from 0");
            terms.add(i as usize, j as usize, bias, at + 1).map_err(again)?;
        }
        let mut function = terms.function();
        function.add_constant(self.offset.unwrap_or(0.0));
        match Vartype::of(&vartype) {
            Some(Vartype::Binary) => Ok(function),
            Some(Vartype::Spin) => spins::to_bits(function)
                .ok_or_else(|| "a coefficient is larger than a number can be".to_owned()),
            None => {
                Err(format!("`variable_type` is `{}`, not BINARY or SPIN", super::lines::quoted(&vartype)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x₀ − 2 x₁ + 3 x₀x₂ + 0.5, or the same with spins.
    fn model() -> Model {
        Model {
            vartype: Some("BINARY".to_owned()),
            bits: Some(3),
            interactions: Some(1),
            offset: Some(0.5),
            linear: Some(vec![1.0, -2.0, 0.0]),
            biases: Some(vec![3.0]),
            heads: Some(vec![2]),
            tails: Some(vec![0]),
        }
    }

    #[test]
    fn a_model_of_bits_is_its_function() {
        let expected = Quadratic::new(0.5, vec![1.0, -2.0, 0.0], vec![0.0, 3.0, 0.0]).unwrap();
        assert_eq!(model().function(), Ok(expected));
    }

    #[test]
    fn a_model_of_spins_has_the_energy_of_the_spins() {
        let f = Model { vartype: Some("SPIN".to_owned()), ..model() }.function().unwrap();
        assert_eq!(f.value(&[false, false, false]), -1.0 + 2.0 + 3.0 + 0.5);
        assert_eq!(f.value(&[true, true, false]), 1.0 - 2.0 - 3.0 + 0.5);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let refusal = |model: Model| model.function().unwrap_err();
        assert_eq!(refusal(Model { heads: None, ..model() }), "missing key `quadratic_head`");
        assert_eq!(
            refusal(Model { tails: Some(vec![0, 1]), ..model() }),
            "`quadratic_tail` has 2 numbers, not 1"
        );
        assert_eq!(refusal(Model { bits: Some(2), ..model() }), "`linear_biases` has 3 numbers, not 2");
        assert_eq!(
            refusal(Model { heads: Some(vec![3]), ..model() }),
            "an interaction with variable 3 of 3, counted from 0"
        );
        assert_eq!(
            refusal(Model { tails: Some(vec![2]), ..model() }),
            "an interaction of variable 2 with itself"
        );
        let twice = Model {
            interactions: None,
            biases: Some(vec![3.0, 4.0]),
            heads: Some(vec![0, 2]),
            tails: Some(vec![2, 0]),
            ..model()
        };
        assert_eq!(refusal(twice), "two interactions of variables 2 and 0, counted from 0");
        let other = Model { vartype: Some("INTEGER".to_owned()), ..model() };
        assert_eq!(refusal(other), "`variable_type` is `INTEGER`, not BINARY or SPIN");
        let large = Model { vartype: Some("SPIN".to_owned()), biases: Some(vec![1e308]), ..model() };
        assert_eq!(refusal(large), "a coefficient is larger than a number can be");
    }
}
