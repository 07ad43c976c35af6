//! How an evaluation ends.

/// What an objective answers for a point; that it could not be evaluated at all is an [`Error`](crate::Error).
///
/// ```
/// use plugin_api::Evaluation;
///
/// let measured = Evaluation::from(2.5);
/// assert_eq!(measured.value(), Some(2.5));
/// assert_eq!(Evaluation::infeasible("the mixture does not dissolve").value(), None);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Evaluation {
    /// The point's value, in the objective's own terms.
    Value(f64),
    /// The point has no value and never will, for this reason: a lowercase fragment without a full stop.
    Infeasible(String),
}

impl Evaluation {
    /// A point without a value.
    pub fn infeasible(reason: impl Into<String>) -> Self {
        Self::Infeasible(reason.into())
    }

    /// The value, where the point has one.
    pub fn value(&self) -> Option<f64> {
        match self {
            Self::Value(value) => Some(*value),
            Self::Infeasible(_) => None,
        }
    }
}

impl From<f64> for Evaluation {
    fn from(value: f64) -> Self {
        Self::Value(value)
    }
}
