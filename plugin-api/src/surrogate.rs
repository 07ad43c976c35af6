//! A model that learns from observations and draws acquisition functions.

use crate::{Acquisition, AcquisitionKind, Bits, Error, Result};

/// Learns the values of points, and draws functions of bits that a solver minimizes.
///
/// Made for one layout. Low values are good: the host turns the sign of objectives to be maximised. The host
/// observes the initial design, then draws once and observes once in each iteration.
pub trait Surrogate: Send {
    /// Learns that `bits` had `value`, which is finite.
    fn observe(&mut self, bits: &Bits, value: f64) -> Result<()>;

    /// Draws an acquisition function; the same observations, draws and seeds before, and the same seed now,
    /// give the same function.
    fn draw(&mut self, seed: u64) -> Result<Acquisition>;

    /// Which acquisitions it draws.
    fn draws(&self) -> AcquisitionKind {
        AcquisitionKind::Quadratic
    }

    /// Its state, as [`restore`](Self::restore) takes it, or `None` where the host should replay instead.
    fn save(&self) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    /// Goes on exactly from where the surrogate that gave this state stood.
    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let _ = state;
        Err(Error::new("this surrogate has no saved state"))
    }
}
