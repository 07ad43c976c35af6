//! An objective: a space, and the value of each of its points.

use crate::{Evaluation, Point, Result, Space};

/// Whether low or high values are good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sense {
    /// Low values are good.
    #[default]
    Minimize,
    /// High values are good.
    Maximize,
}

/// An expensive function of discrete choices.
///
/// The host makes one for each trial, asks for its space once, then evaluates one point after another.
/// Values are in the objective's own terms: the host turns the sign where [`sense`](Self::sense) says so.
pub trait Benchmark: Send {
    /// The variables and the rules between them; the same at each call, and the same for every instance made
    /// from the same options.
    ///
    /// Options that give no space are an [`Error::option`](crate::Error::option) with the place of the wrong one;
    /// the host then makes no benchmark.
    fn space(&self) -> Result<Space>;

    /// The value of `point`, which the space [admits](Space::admits).
    ///
    /// The same point and seed give the same answer. An objective without noise ignores the seed. A point that
    /// turns out to be impossible is [`Evaluation::Infeasible`], an evaluation that went wrong is an error.
    fn evaluate(&mut self, point: &Point, seed: u64) -> Result<Evaluation>;

    /// Whether low or high values are good.
    fn sense(&self) -> Sense {
        Sense::Minimize
    }

    /// Whether the value is the same for every seed; where it is, no point is evaluated twice.
    fn deterministic(&self) -> bool {
        true
    }

    /// The best value there is, where it is known; it may take seconds to find, and is asked for at most once.
    ///
    /// `l1` is the experiment's penalty for each bit set: the answer is the best penalised value, in the
    /// objective's own sense (minimum of value + l1·bits, or maximum of value − l1·bits).
    fn optimum(&mut self, l1: f64) -> Result<Option<f64>> {
        let _ = l1;
        Ok(None)
    }
}
