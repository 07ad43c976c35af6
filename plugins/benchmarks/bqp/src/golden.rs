//! Matrices with the values that a reference implementation gave them.

use plugin_api::{serde, serde_json};

use crate::options::Kernel;

/// Points of one size, and their values under both kernels.
#[derive(serde::Deserialize)]
#[serde(crate = "plugin_api::serde")]
pub(crate) struct Case {
    pub(crate) n: usize,
    pub(crate) alpha: f64,
    pub(crate) x: Vec<String>,
    pub(crate) kernels: Vec<Reference>,
}

#[derive(serde::Deserialize)]
#[serde(crate = "plugin_api::serde")]
pub(crate) struct Reference {
    pub(crate) kernel: Kernel,
    /// K_ij by |i − j|.
    pub(crate) correlation: Vec<f64>,
    pub(crate) matrix: Vec<Vec<f64>>,
    pub(crate) value: Vec<f64>,
    pub(crate) optimum: Vec<Optimum>,
}

/// The best of all points, by enumeration.
#[derive(serde::Deserialize)]
#[serde(crate = "plugin_api::serde")]
pub(crate) struct Optimum {
    pub(crate) l1: f64,
    pub(crate) value: f64,
}

pub(crate) fn golden() -> Vec<Case> {
    serde_json::from_str(include_str!("../tests/data/bqp.json")).unwrap()
}
