//! Supplies with the values that a reference implementation gave them. The rates are cut to 7 decimals, which
//! changes no value.

use plugin_api::{serde, serde_json};

#[derive(serde::Deserialize)]
#[serde(crate = "plugin_api::serde")]
pub(crate) struct Case {
    pub(crate) stages: usize,
    pub(crate) initial: Vec<f64>,
    pub(crate) spread: Vec<Vec<f64>>,
    pub(crate) prevention: Vec<Vec<f64>>,
    pub(crate) x: Vec<String>,
    pub(crate) paper: Vec<f64>,
    pub(crate) code: Vec<f64>,
    /// The least value of the paper's kind, by enumeration, where there are 10 stages.
    pub(crate) optimum: Option<f64>,
}

pub(crate) fn golden() -> Vec<Case> {
    serde_json::from_str(include_str!("../tests/data/contamination.json")).unwrap()
}
