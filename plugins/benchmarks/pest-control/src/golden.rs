//! Fields with the values that COMBO's program gave them. The random numbers are cut to 5 decimals, which
//! changes no value.

use plugin_api::{serde, serde_json};

use crate::options::Uniforms;

#[derive(serde::Deserialize)]
#[serde(crate = "plugin_api::serde")]
pub(crate) struct Golden {
    pub(crate) common: Common,
    pub(crate) single: Vec<Single>,
}

/// Many points on the same fields.
#[derive(serde::Deserialize)]
#[serde(crate = "plugin_api::serde")]
pub(crate) struct Common {
    initial: Vec<f64>,
    spread: Vec<Vec<f64>>,
    control: Vec<Vec<f64>>,
    pub(crate) x: Vec<String>,
    pub(crate) value: Vec<f64>,
}

/// One point on fields of its own, which the program drew from Beta distributions itself.
#[derive(serde::Deserialize)]
#[serde(crate = "plugin_api::serde")]
pub(crate) struct Single {
    initial: Vec<f64>,
    /// For each stage the numbers of what happens there: the spread, or the effect of the pesticide used.
    used: Vec<Vec<f64>>,
    pub(crate) x: String,
    pub(crate) value: f64,
}

impl Common {
    pub(crate) fn uniforms(&self) -> Uniforms {
        let (initial, spread, control) = (self.initial.clone(), self.spread.clone(), self.control.clone());
        Uniforms { initial, spread, control }
    }
}

impl Single {
    pub(crate) fn uniforms(&self) -> Uniforms {
        Uniforms { initial: self.initial.clone(), spread: self.used.clone(), control: self.used.clone() }
    }
}

pub(crate) fn golden() -> Golden {
    serde_json::from_str(include_str!("../tests/data/pest-control.json")).unwrap()
}
