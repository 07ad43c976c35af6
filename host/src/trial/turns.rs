//! The surrogates of a trial: all observe, and each iteration is the next one's; and the solvers of their draws.

use plugin_api::{BitMatrix, Bits, Effect, Evaluation, Predictions, Result, Solver, Surrogate};

/// A solver with its name.
pub(super) type NamedSolver = (String, Box<dyn Solver>);

/// A surrogate and the solver that is followed when it has drawn; each with its name.
pub(super) struct Turn {
    pub(super) name: String,
    pub(super) surrogate: Box<dyn Surrogate>,
    pub(super) solver: NamedSolver,
}

/// One turn or more, and the solvers that are not followed.
pub(super) struct Turns {
    turns: Vec<Turn>,
    shadows: Vec<NamedSolver>,
}

impl Turns {
    pub(super) fn new(turns: Vec<Turn>, shadows: Vec<NamedSolver>) -> Self {
        assert!(!turns.is_empty(), "a method has a surrogate");
        Self { turns, shadows }
    }

    /// Whose turn it is, counted from 1.
    fn at(&self, iteration: usize) -> usize {
        (iteration - 1) % self.turns.len()
    }

    /// The surrogate whose turn it is.
    pub(super) fn surrogate(&mut self, iteration: usize) -> &mut dyn Surrogate {
        let at = self.at(iteration);
        self.turns[at].surrogate.as_mut()
    }

    /// The name of the surrogate whose turn it is, where there is more than one.
    pub(super) fn name(&self, iteration: usize) -> Option<String> {
        (self.turns.len() > 1).then(|| self.turns[self.at(iteration)].name.clone())
    }

    pub(super) fn count(&self) -> usize {
        self.turns.len()
    }

    /// What each surrogate has learned, with its name.
    pub(super) fn effects(&mut self) -> Vec<(String, Result<Option<Vec<Effect>>>)> {
        self.turns.iter_mut().map(|turn| (turn.name.clone(), turn.surrogate.effects())).collect()
    }

    /// What each surrogate expects of these points, with its name.
    pub(super) fn predict(&mut self, points: &BitMatrix) -> Vec<(String, Result<Option<Predictions>>)> {
        let turns = self.turns.iter_mut();
        turns.map(|turn| (turn.name.clone(), turn.surrogate.predict(points.view()))).collect()
    }

    /// The solver that is followed, then the shadows.
    pub(super) fn solvers(&mut self, iteration: usize) -> impl Iterator<Item = &mut NamedSolver> {
        let at = self.at(iteration);
        std::iter::once(&mut self.turns[at].solver).chain(&mut self.shadows)
    }

    pub(super) fn observe(&mut self, bits: &Bits, evaluation: &Evaluation) -> Result<()> {
        self.turns.iter_mut().try_for_each(|turn| turn.surrogate.observe(bits, evaluation))
    }

    /// The states of all surrogates and of the solvers that have one; `None` where a surrogate has none, since the
    /// trial is then replayed from its start, and the solvers solve everything again.
    pub(super) fn save(&self) -> Result<Option<Vec<u8>>> {
        let mut states = Vec::new();
        for turn in &self.turns {
            let Some(state) = turn.surrogate.save()? else { return Ok(None) };
            states.push(Some(state));
            states.push(turn.solver.1.save()?);
        }
        for (_, shadow) in &self.shadows {
            states.push(shadow.save()?);
        }
        Ok(Some(packed(&states)))
    }

    /// Takes what [`save`](Self::save) gave. After an error, nobody knows what is left of them.
    pub(super) fn restore(&mut self, bytes: &[u8]) -> Result<()> {
        let foreign = "these are not the states of its surrogates and solvers";
        let count = 2 * self.turns.len() + self.shadows.len();
        let mut states = unpacked(bytes, count).ok_or(foreign)?.into_iter();
        let mut next = || states.next().flatten();
        for turn in &mut self.turns {
            turn.surrogate.restore(next().ok_or(foreign)?)?;
            restore_solver(&mut turn.solver, next())?;
        }
        self.shadows.iter_mut().try_for_each(|shadow| restore_solver(shadow, next()))
    }
}

fn restore_solver((name, solver): &mut NamedSolver, state: Option<&[u8]>) -> Result<()> {
    match (state, solver.save()?.is_some()) {
        (Some(state), _) => solver.restore(state),
        (None, false) => Ok(()),
        (None, true) => Err(format!("no state of the solver `{name}` was saved").into()),
    }
}

/// What stands for the length where there is no state.
const NONE: u64 = u64::MAX;

/// Each state after its length.
fn packed(states: &[Option<Vec<u8>>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for state in states {
        let length = state.as_ref().map_or(NONE, |state| state.len() as u64);
        bytes.extend(length.to_le_bytes());
        bytes.extend(state.iter().flatten());
    }
    bytes
}

fn unpacked(mut bytes: &[u8], count: usize) -> Option<Vec<Option<&[u8]>>> {
    let mut states = Vec::new();
    for _ in 0..count {
        let (length, rest) = bytes.split_first_chunk::<8>()?;
        bytes = rest;
        let length = u64::from_le_bytes(*length);
        if length == NONE {
            states.push(None);
        } else {
            let (state, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
            states.push(Some(state));
            bytes = rest;
        }
    }
    bytes.is_empty().then_some(states)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn states_survive_being_packed(states in proptest::collection::vec(proptest::option::of(proptest::collection::vec(any::<u8>(), 0..40)), 0..5)) {
            let bytes = packed(&states);
            let unpacked = unpacked(&bytes, states.len()).unwrap();
            prop_assert_eq!(unpacked, states.iter().map(Option::as_deref).collect::<Vec<_>>());
        }

        #[test]
        fn any_bytes_are_states_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..60), count in 0_usize..4) {
            let _ = unpacked(&bytes, count);
        }
    }
}
