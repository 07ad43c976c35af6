//! Saved states of plugins as JSON: the plugin's name with the version of its states, then their content.
//!
//! ```
//! use plugin_api::Bits;
//! use plugin_api::serde::{Deserialize, Serialize};
//! use shared_saved::States;
//!
//! const STATES: States = States::of_surrogate("nearest", 1);
//!
//! #[derive(Serialize, Deserialize)]
//! #[serde(crate = "plugin_api::serde", deny_unknown_fields)]
//! struct Saved {
//!     observations: Vec<(Bits, f64)>,
//! }
//!
//! let state = STATES.write(&Saved { observations: vec![("10".parse()?, 0.1)] })?;
//! assert_eq!(state.as_deref(), Some(br#"{"nearest":1,"observations":[["10",0.1]]}"#.as_slice()));
//! let saved: Saved = STATES.read(&state.unwrap_or_default())?;
//! STATES.replay(&saved.observations, |_bits, _value| Ok(()))?;
//! # Ok::<(), plugin_api::Error>(())
//! ```

use std::fmt::Display;

use plugin_api::serde::Serialize;
use plugin_api::serde::de::DeserializeOwned;
use plugin_api::serde_json::{self, Map, Value};
use plugin_api::{Bits, Error, Result};

/// The states of one plugin.
#[derive(Clone, Copy, Debug)]
pub struct States {
    kind: &'static str,
    name: &'static str,
    version: u32,
}

impl States {
    /// The states of the surrogate with this name, which is no key of their content. The version goes up when a state of
    /// the one before cannot be read any more.
    pub const fn of_surrogate(name: &'static str, version: u32) -> Self {
        Self { kind: "surrogate", name, version }
    }

    /// Likewise of a solver.
    pub const fn of_solver(name: &'static str, version: u32) -> Self {
        Self { kind: "solver", name, version }
    }

    /// A state with this content, a struct, as `save` answers it.
    pub fn write(&self, content: &impl Serialize) -> Result<Option<Vec<u8>>> {
        let content = serde_json::to_vec(content).map_err(Error::wrap)?;
        let fields = content.strip_prefix(b"{").ok_or("the content of a state is a struct")?;
        let comma = if fields == b"}" { "" } else { "," };
        let mut state = format!("{{\"{}\":{}{comma}", self.name, self.version).into_bytes();
        state.extend(fields);
        Ok(Some(state))
    }

    /// The content of a state, where it is one of this plugin and version.
    pub fn read<T: DeserializeOwned>(&self, state: &[u8]) -> Result<T> {
        let mut content: Map<String, Value> =
            serde_json::from_slice(state).map_err(|error| self.refused(error))?;
        let Self { kind: _, name, version } = *self;
        match content.remove(name) {
            None => return Err(self.refused(format_args!("it does not say `{name}`"))),
            Some(found) if found != version => {
                return Err(self.refused(format_args!("its version is {found}, not {version}")));
            }
            Some(_) => {}
        }
        serde_json::from_value(content.into()).map_err(|error| self.refused(error))
    }

    /// Learns the observations of a state in their order; `learn` refuses what does not fit.
    pub fn replay<V: Copy>(
        &self,
        observations: &[(Bits, V)],
        mut learn: impl FnMut(&Bits, V) -> Result<()>,
    ) -> Result<()> {
        let mut observations = observations.iter();
        observations.try_for_each(|(bits, value)| learn(bits, *value)).map_err(|error| self.refused(error))
    }

    /// Why a state is not taken.
    pub fn refused(&self, why: impl Display) -> Error {
        Error::new(format!("not a state of this {}: {why}", self.kind))
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::serde::Deserialize;

    use super::*;

    const STATES: States = States::of_solver("s", 2);

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(crate = "plugin_api::serde", deny_unknown_fields)]
    struct Content {
        numbers: Vec<f64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        more: Option<u8>,
    }

    #[derive(Debug, Serialize, Deserialize)]
    #[serde(crate = "plugin_api::serde", deny_unknown_fields)]
    struct Nothing {}

    #[test]
    fn what_is_written_is_read_to_the_bit() {
        let numbers = vec![0.1 + 0.2, -0.0, 5e-324, f64::MAX, f64::MIN_POSITIVE, 1.0 / 3.0];
        let content = Content { numbers, more: Some(7) };
        let state = STATES.write(&content).unwrap().unwrap();
        let read: Content = STATES.read(&state).unwrap();
        assert_eq!(read, content);
        assert!(read.numbers.iter().zip(&content.numbers).all(|(a, b)| a.to_bits() == b.to_bits()));
        assert_eq!(STATES.write(&Nothing {}).unwrap().unwrap(), br#"{"s":2}"#);
        STATES.read::<Nothing>(br#"{"s":2}"#).unwrap();
    }

    #[test]
    fn what_is_no_state_is_refused_in_words() {
        let refusal = |state: &str| STATES.read::<Content>(state.as_bytes()).unwrap_err().to_string();
        let begins = "not a state of this solver: ";
        assert_eq!(refusal(r#"{"numbers":[]}"#), format!("{begins}it does not say `s`"));
        assert_eq!(refusal(r#"{"s":1,"numbers":[]}"#), format!("{begins}its version is 1, not 2"));
        assert_eq!(refusal(r#"{"s":"2","numbers":[]}"#), format!("{begins}its version is \"2\", not 2"));
        assert!(
            refusal(r#"{"s":2,"numbers":[],"fewer":1}"#)
                .starts_with(&format!("{begins}unknown field `fewer`"))
        );
        assert!(refusal("garbage").starts_with(begins) && refusal("[1]").starts_with(begins));
        let learn = |_: &Bits, value: f64| if value > 0.0 { Ok(()) } else { Err("too low".into()) };
        let error = STATES.replay(&[(Bits::zeros(1), 1.0), (Bits::zeros(1), -1.0)], learn).unwrap_err();
        assert_eq!(error.to_string(), format!("{begins}too low"));
        assert!(STATES.write(&[1, 2]).is_err());
    }
}
