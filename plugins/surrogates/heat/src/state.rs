//! What is saved of a surrogate, so that another goes on from there.

use plugin_api::serde::{Deserialize, Serialize};
use plugin_api::{Bits, Error, Result, serde_json};
use shared_values::Shift;

use crate::Heat;
use crate::options::Family;

const VERSION: u32 = 1;

/// A draw depends on nothing but its request, the observations, and the hyperparameters and the choice of the last draw.
#[derive(Serialize, Deserialize)]
#[serde(crate = "plugin_api::serde", deny_unknown_fields)]
struct Saved {
    heat: u32,
    /// Without a value where a point is infeasible.
    observations: Vec<(Bits, Option<f64>)>,
    parameters: Vec<f64>,
    /// Which transformation `auto` chose; older states have none.
    #[serde(default)]
    shift: Option<u8>,
    /// The seed of the dictionary.
    #[serde(default)]
    dictionary: u64,
}

/// The state as bytes.
pub(crate) fn save(heat: &Heat) -> Result<Vec<u8>> {
    let saved = Saved {
        heat: VERSION,
        observations: heat.observations.clone(),
        parameters: heat.parameters.clone(),
        shift: heat.shift.map(Shift::index),
        dictionary: heat.dictionary,
    };
    serde_json::to_vec(&saved).map_err(Error::wrap)
}

/// A surrogate in this state, with the options and the layout of `heat`.
pub(crate) fn restored(heat: &Heat, state: &[u8]) -> Result<Heat> {
    let refuse = |why: String| Error::new(format!("not a state of this surrogate: {why}"));
    let saved: Saved = serde_json::from_slice(state).map_err(|error| refuse(error.to_string()))?;
    if saved.heat != VERSION {
        return Err(refuse(format!("its version is {}, not {VERSION}", saved.heat)));
    }
    let shift = saved.shift.and_then(Shift::from_index);
    if shift.is_none() && saved.shift.is_some() {
        return Err(refuse("no transformation has its number".to_owned()));
    }
    let mut restored = Heat::new(heat.options.clone(), &heat.layout)?;
    if heat.options.kernel == Family::Dictionary {
        restored.draw_dictionary(saved.dictionary)?;
    }
    for (bits, value) in &saved.observations {
        restored.learn(bits, *value).map_err(|error| refuse(error.to_string()))?;
    }
    let (found, expected) = (saved.parameters.len(), restored.parameters.len());
    if found != expected {
        return Err(refuse(format!("it has {found} hyperparameters, not {expected}")));
    }
    let bounds = restored.prior.bounds();
    if !saved.parameters.iter().zip(bounds).all(|(x, (low, high))| (low..=high).contains(x)) {
        return Err(refuse("a hyperparameter is beyond its bounds".to_owned()));
    }
    (restored.parameters, restored.shift) = (saved.parameters, shift);
    Ok(restored)
}
