//! What is saved between two draws.

use plugin_api::serde::{Deserialize, Serialize};
use plugin_api::{Bits, Error, Result};

use crate::RandomForest;
use crate::round::Round;

const VERSION: u32 = 2;

/// A draw depends on this and its request. The forest is grown again from its round, where it is needed.
#[derive(Serialize, Deserialize)]
#[serde(crate = "plugin_api::serde", deny_unknown_fields)]
pub(crate) struct Saved {
    forest: u32,
    observations: Vec<(Bits, Option<f64>)>,
    unanswered: Vec<Bits>,
    round: Option<Round>,
}

impl Saved {
    pub(crate) fn of(forest: &RandomForest) -> Self {
        Self {
            forest: VERSION,
            observations: forest.observations.clone(),
            unanswered: forest.unanswered.clone(),
            round: forest.round.clone(),
        }
    }

    /// Brings a new forest to this state.
    pub(crate) fn into_forest(self, mut new: RandomForest) -> Result<RandomForest> {
        if self.forest != VERSION {
            return Err(Error::new(format!("its version is {}, not {VERSION}", self.forest)));
        }
        for (bits, value) in &self.observations {
            new.learn(bits, *value)?;
        }
        if let Some(round) = &self.round {
            check(round, &new)?;
        }
        (new.unanswered, new.round) = (self.unanswered, self.round);
        Ok(new)
    }
}

/// Whether a round could be of a forest's observations.
fn check(round: &Round, forest: &RandomForest) -> Result<()> {
    let Some(first) = forest.observations.get(..round.observations) else {
        return Err(Error::new("its forest has more observations than it"));
    };
    let feasible = first.iter().any(|(_, value)| value.is_some());
    if !feasible || first.len() != round.totals.len() || round.totals.iter().any(|total| !total.is_finite()) {
        return Err(Error::new("its forest has other values than it"));
    }
    match round.challengers.iter().find(|bits| !forest.layout.admits(bits)) {
        Some(bits) => Err(Error::new(format!("the bits {bits} are not in the layout"))),
        None => Ok(()),
    }
}
