//! A surrogate as bytes: its observations in the order they came, and where its chain stands, as JSON.

use plugin_api::serde::{Deserialize, Serialize};
use plugin_api::{Bits, Error, Result, serde_json};

use crate::chain::State;
use crate::observations::Observations;
use crate::{Horseshoe, LastDraw};

const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(crate = "plugin_api::serde", deny_unknown_fields)]
struct Saved {
    horseshoe: u32,
    terms: usize,
    points: Vec<Bits>,
    /// Which point, and its value.
    observations: Vec<(usize, f64)>,
    chain: Option<SavedChain>,
}

#[derive(Serialize, Deserialize)]
#[serde(crate = "plugin_api::serde", deny_unknown_fields)]
struct SavedChain {
    tau2: f64,
    lambda2: Vec<f64>,
    burned_in: usize,
}

/// The surrogate's state.
pub(crate) fn write(surrogate: &Horseshoe) -> Result<Vec<u8>> {
    let chain = surrogate.last.as_ref().map(|last| SavedChain {
        tau2: last.state.tau2,
        lambda2: last.state.lambda2.clone(),
        burned_in: last.burned_in,
    });
    let saved = Saved {
        horseshoe: VERSION,
        terms: surrogate.observations.design().columns(),
        points: surrogate.observations.points().into_iter().cloned().collect(),
        observations: surrogate.observations.history().to_vec(),
        chain,
    };
    serde_json::to_vec(&saved).map_err(Error::wrap)
}

/// Makes the surrogate go on from a state; a refused state changes nothing.
pub(crate) fn read(surrogate: &mut Horseshoe, bytes: &[u8]) -> Result<()> {
    let refuse = |why: &str| Error::new(format!("not a state of this surrogate: {why}"));
    let saved: Saved = serde_json::from_slice(bytes).map_err(|error| refuse(&error.to_string()))?;
    if saved.horseshoe != VERSION {
        return Err(refuse(&format!("its version is {}, not {VERSION}", saved.horseshoe)));
    }
    let terms = surrogate.observations.design().columns();
    if saved.terms != terms {
        return Err(refuse(&format!("it has {} terms, not {terms}", saved.terms)));
    }
    let mut observations = Observations::new(&surrogate.layout, usize::from(surrogate.options.order));
    for (point, value) in saved.observations {
        let bits = saved.points.get(point).ok_or_else(|| refuse("an observation of no point"))?;
        observations.add(bits, value).map_err(|error| refuse(error.message()))?;
    }
    let last = saved.chain.map(|chain| LastDraw {
        state: State { tau2: chain.tau2, lambda2: chain.lambda2 },
        burned_in: chain.burned_in,
    });
    if let Some(last) = &last {
        let mut scales = std::iter::once(&last.state.tau2).chain(&last.state.lambda2);
        if last.state.lambda2.len() != terms || !scales.all(|&scale| scale > 0.0 && scale.is_finite()) {
            return Err(refuse("its chain is broken"));
        }
    }
    surrogate.observations = observations;
    surrogate.moments = Default::default();
    surrogate.last = last;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;
    use plugin_api::{Layout, Surrogate};

    fn surrogate(bits: usize) -> Horseshoe {
        Horseshoe::new(Options::default(), &Layout::free(bits)).unwrap()
    }

    fn state() -> String {
        let mut one = surrogate(2);
        for (x, value) in [("10", 0.1), ("01", 1e300), ("10", 0.3)] {
            one.observe(&x.parse().unwrap(), value).unwrap();
        }
        one.draw(1).unwrap();
        String::from_utf8(one.save().unwrap().unwrap()).unwrap()
    }

    #[test]
    fn a_restored_surrogate_saves_the_same_state() {
        let mut other = surrogate(2);
        other.restore(state().as_bytes()).unwrap();
        assert_eq!(other.save().unwrap().unwrap(), state().as_bytes());
    }

    #[test]
    fn what_is_no_state_of_the_surrogate_is_refused_and_changes_nothing() {
        let refusals = [
            (state().replace("\"horseshoe\":1", "\"horseshoe\":2"), "its version is 2, not 1"),
            (state().replace("\"10\"", "\"110\""), "the bits 110 are not in the layout"),
            (state().replace("[1,", "[7,"), "an observation of no point"),
            (state().replace("\"tau2\":", "\"tau2\":-"), "its chain is broken"),
            (state().replace("\"lambda2\":[", "\"lambda2\":[1.0,"), "its chain is broken"),
            (state()[..40].to_string(), "EOF while parsing"),
            ("\0\u{1}\u{2}".to_string(), "expected value at line 1 column 1"),
        ];
        for (state, why) in refusals {
            let mut other = surrogate(2);
            let error = other.restore(state.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(why) && error.starts_with("not a state"), "{error}, not {why}");
            assert_eq!((other.observations.count(), other.last), (0, None));
        }
        let error = surrogate(3).restore(state().as_bytes()).unwrap_err().to_string();
        assert!(error.ends_with("it has 3 terms, not 6"), "{error}");
    }
}
