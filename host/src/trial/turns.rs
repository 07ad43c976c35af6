//! The surrogates of a trial: all observe, and each iteration is the next one's.

use plugin_api::{Bits, Evaluation, Result, Solver, Surrogate};

/// A surrogate and the solver that is followed when it has drawn; each with its name.
pub(super) struct Turn {
    pub(super) name: String,
    pub(super) surrogate: Box<dyn Surrogate>,
    pub(super) solver: (String, Box<dyn Solver>),
}

/// One turn or more.
pub(super) struct Turns(Vec<Turn>);

impl Turns {
    pub(super) fn new(turns: Vec<Turn>) -> Self {
        assert!(!turns.is_empty(), "a method has a surrogate");
        Self(turns)
    }

    /// Whose turn it is, counted from 1.
    pub(super) fn at(&mut self, iteration: usize) -> &mut Turn {
        let count = self.0.len();
        &mut self.0[(iteration - 1) % count]
    }

    /// The name of the surrogate whose turn it is, where there is more than one.
    pub(super) fn name(&self, iteration: usize) -> Option<String> {
        (self.0.len() > 1).then(|| self.0[(iteration - 1) % self.0.len()].name.clone())
    }

    pub(super) fn observe(&mut self, bits: &Bits, evaluation: &Evaluation) -> Result<()> {
        self.0.iter_mut().try_for_each(|turn| turn.surrogate.observe(bits, evaluation))
    }

    /// The states of all surrogates; `None` where one of them has none.
    pub(super) fn save(&self) -> Result<Option<Vec<u8>>> {
        let mut states = Vec::new();
        for turn in &self.0 {
            let Some(state) = turn.surrogate.save()? else { return Ok(None) };
            states.push(state);
        }
        Ok(Some(packed(&states)))
    }

    /// Takes what [`save`](Self::save) gave.
    pub(super) fn restore(&mut self, bytes: &[u8]) -> Result<()> {
        let states = unpacked(bytes, self.0.len()).ok_or("these are not the states of its surrogates")?;
        self.0.iter_mut().zip(states).try_for_each(|(turn, state)| turn.surrogate.restore(state))
    }
}

/// Each state after its length.
fn packed(states: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for state in states {
        bytes.extend((state.len() as u64).to_le_bytes());
        bytes.extend(state);
    }
    bytes
}

fn unpacked(mut bytes: &[u8], count: usize) -> Option<Vec<&[u8]>> {
    let mut states = Vec::new();
    for _ in 0..count {
        let (length, rest) = bytes.split_first_chunk::<8>()?;
        let (state, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        states.push(state);
        bytes = rest;
    }
    bytes.is_empty().then_some(states)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn states_survive_being_packed(states in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..5)) {
            let bytes = packed(&states);
            let unpacked = unpacked(&bytes, states.len()).unwrap();
            prop_assert_eq!(unpacked, states.iter().map(Vec::as_slice).collect::<Vec<_>>());
        }

        #[test]
        fn any_bytes_are_states_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..60), count in 0_usize..4) {
            let _ = unpacked(&bytes, count);
        }
    }
}
