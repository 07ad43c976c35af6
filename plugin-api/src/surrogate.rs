//! A model that learns from observations and draws acquisition functions.

use ndarray::ArrayView2;

use crate::{Acquisition, AcquisitionKind, BitMatrix, Bits, Error, Evaluation, Penalty, Result};

/// Learns the values of points, and draws functions of bits that a solver minimizes.
///
/// Made for one layout. Low values are good: the host turns the sign of objectives to be maximised. The host
/// observes the initial design, then draws and observes in turn.
pub trait Surrogate: Send {
    /// Learns how the evaluation of `bits` ended. A value is finite. A point that is infeasible has none: a model of
    /// values may count it as a bad one, as those of this repository do, or ignore it.
    fn observe(&mut self, bits: &Bits, evaluation: &Evaluation) -> Result<()>;

    /// Draws the function to be minimised, complete with the penalty that the request has.
    /// [`Acquisition::with_penalty`] adds it to a draw of the objective's values.
    ///
    /// The same calls before and the same request now give the same function. It is finite at every point that the
    /// layout admits.
    fn draw(&mut self, request: &DrawRequest) -> Result<Acquisition>;

    /// Which acquisitions it draws.
    fn draws(&self) -> AcquisitionKind {
        AcquisitionKind::Quadratic
    }

    /// Mean and standard deviation of the value that would be observed at each of `points`, a row each, without
    /// penalty; `None` from a model that cannot tell. Asking changes no draw.
    fn predict(&mut self, points: ArrayView2<'_, bool>) -> Result<Option<Predictions>> {
        let _ = points;
        Ok(None)
    }

    /// What each term of the model adds to the value; `None` from a model without terms. Asking changes no draw.
    fn effects(&mut self) -> Result<Option<Vec<Effect>>> {
        Ok(None)
    }

    /// What the last draw decided, as names and words for the record: `("values", "log, shifted by 0.3")`. The host
    /// writes them into the journal and counts them in the report, so they are few, and the same for the same draw.
    fn notes(&self) -> Result<Vec<(String, String)>> {
        Ok(Vec::new())
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

/// What a surrogate is told when it is asked to draw.
///
/// ```
/// use plugin_api::{DrawRequest, Penalty};
///
/// let request = DrawRequest::new(7).with_penalty(Penalty::l1(0.1)).with_iteration(3);
/// assert_eq!((request.seed(), request.penalty().of(&[true, true]), request.best_total()), (7, 0.2, None));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct DrawRequest {
    seed: u64,
    iteration: usize,
    penalty: Penalty,
    noisy: bool,
    best_total: Option<f64>,
    best_points: BitMatrix,
    pending: BitMatrix,
}

impl DrawRequest {
    /// The first draw of a search without a penalty, with nothing known yet.
    pub fn new(seed: u64) -> Self {
        let none = BitMatrix::new(0);
        Self {
            seed,
            iteration: 1,
            penalty: Penalty::default(),
            noisy: false,
            best_total: None,
            best_points: none.clone(),
            pending: none,
        }
    }

    /// With the number of the iteration, counted from 1.
    pub fn with_iteration(mut self, iteration: usize) -> Self {
        self.iteration = iteration;
        self
    }

    /// With what the experiment adds to the values.
    pub fn with_penalty(mut self, penalty: Penalty) -> Self {
        self.penalty = penalty;
        self
    }

    /// For an objective whose values differ from one evaluation of a point to the next, or not.
    pub fn with_noisy(mut self, noisy: bool) -> Self {
        self.noisy = noisy;
        self
    }

    /// With the lowest value and penalty so far.
    pub fn with_best_total(mut self, total: f64) -> Self {
        self.best_total = Some(total);
        self
    }

    /// With the best points so far, the best first.
    pub fn with_best_points(mut self, points: BitMatrix) -> Self {
        self.best_points = points;
        self
    }

    /// With the points that are being evaluated now.
    pub fn with_pending(mut self, points: BitMatrix) -> Self {
        self.pending = points;
        self
    }

    /// All randomness of the draw.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Which draw of the search this is, counted from 1.
    pub fn iteration(&self) -> usize {
        self.iteration
    }

    /// What the experiment adds to the values.
    pub fn penalty(&self) -> &Penalty {
        &self.penalty
    }

    /// Whether a point may have another value when it is evaluated again.
    pub fn noisy(&self) -> bool {
        self.noisy
    }

    /// The lowest value and penalty observed so far, low being good; `None` before the first value.
    pub fn best_total(&self) -> Option<f64> {
        self.best_total
    }

    /// The best points observed so far, by value and penalty, the best first; as many as the host likes to tell.
    pub fn best_points(&self) -> &BitMatrix {
        &self.best_points
    }

    /// Points that were proposed, and are being evaluated now.
    pub fn pending(&self) -> &BitMatrix {
        &self.pending
    }
}

/// Mean and standard deviation of the value at each of several points.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    means: Vec<f64>,
    deviations: Vec<f64>,
}

impl Predictions {
    /// A mean and a standard deviation for each point; refused where there are more of one than of the other.
    pub fn new(means: Vec<f64>, deviations: Vec<f64>) -> Result<Self> {
        if means.len() != deviations.len() {
            let (means, deviations) = (means.len(), deviations.len());
            return Err(Error::new(format!("predictions with {means} means and {deviations} deviations")));
        }
        Ok(Self { means, deviations })
    }

    /// The mean of each value.
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// The standard deviation of each value: of the model and of the noise together.
    pub fn deviations(&self) -> &[f64] {
        &self.deviations
    }
}

/// What a term of a model adds to the value where all its bits are set.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    bits: Vec<usize>,
    size: f64,
    deviation: f64,
}

impl Effect {
    /// The effect of these bits together, with the mean and the standard deviation of what is known of its size.
    pub fn new(bits: impl Into<Vec<usize>>, size: f64, deviation: f64) -> Self {
        Self { bits: bits.into(), size, deviation }
    }

    /// The bits of the term, ascending: one for a main effect, two for an interaction.
    pub fn bits(&self) -> &[usize] {
        &self.bits
    }

    /// What the term adds to the value, on average over what is known of it.
    pub fn size(&self) -> f64 {
        self.size
    }

    /// The standard deviation of what is known of its size.
    pub fn deviation(&self) -> f64 {
        self.deviation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_needs_a_deviation() {
        assert!(Predictions::new(vec![1.0, 2.0], vec![0.1, 0.2]).is_ok());
        let error = Predictions::new(vec![1.0, 2.0], vec![0.1]).unwrap_err();
        assert_eq!(error.to_string(), "predictions with 2 means and 1 deviations");
    }
}
