//! Grids with the values that a reference implementation gave them, in extended precision.

use plugin_api::{serde, serde_json};

use crate::options::Exponent;

#[derive(serde::Deserialize)]
#[serde(crate = "plugin_api::serde")]
pub(crate) struct Case {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// The cells of each edge, the larger first.
    pub(crate) edges: Vec<[usize; 2]>,
    pub(crate) couplings: Vec<f64>,
    pub(crate) x: Vec<String>,
    pub(crate) exponents: Vec<Reference>,
}

#[derive(serde::Deserialize)]
#[serde(crate = "plugin_api::serde")]
pub(crate) struct Reference {
    pub(crate) exponent: Exponent,
    pub(crate) log_z: f64,
    pub(crate) moments: Vec<f64>,
    pub(crate) value: Vec<f64>,
}

pub(crate) fn golden() -> Vec<Case> {
    serde_json::from_str(include_str!("../tests/data/ising.json")).unwrap()
}
