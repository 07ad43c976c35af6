//! Sequences with the energies that a reference implementation gave them.

use plugin_api::{serde, serde_json};

use crate::energy::sequence;

#[derive(serde::Deserialize)]
#[serde(crate = "plugin_api::serde")]
pub(crate) struct Golden {
    pub(crate) cases: Vec<Case>,
    pub(crate) best: Vec<Best>,
}

/// Sequences of one length.
#[derive(serde::Deserialize)]
#[serde(crate = "plugin_api::serde")]
pub(crate) struct Case {
    pub(crate) n: usize,
    pub(crate) s: Vec<String>,
    pub(crate) energy: Vec<u64>,
    pub(crate) merit_factor: Vec<f64>,
}

/// The best sequence found of one length.
#[derive(serde::Deserialize)]
#[serde(crate = "plugin_api::serde")]
pub(crate) struct Best {
    pub(crate) n: usize,
    pub(crate) energy: u64,
    s: String,
}

impl Best {
    pub(crate) fn sequence(&self) -> u128 {
        assert_eq!(self.s.len(), self.n);
        sequence(self.s.chars().map(|sign| sign == '+'))
    }
}

pub(crate) fn golden() -> Golden {
    serde_json::from_str(include_str!("../tests/data/labs.json")).unwrap()
}
