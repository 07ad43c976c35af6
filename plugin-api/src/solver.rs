//! Minimizes an acquisition function over bits.

use std::ops::Range;
use std::time::Duration;

use crate::{
    Acquisition, AcquisitionKind, Answer, BitMatrix, Constraint, Error, Layout, Quadratic, Result, Rule,
};

/// Minimizes a function of bits, exactly or nearly.
///
/// The host asks once an iteration, for problems of the kinds that the solver [takes](Self::takes). Which rules an
/// answer keeps is for the solver to [say](Self::keeps). The same problem and seed give the same answer, unless the
/// problem has a [time limit](Problem::time_limit).
///
/// A solver may learn from one problem for the next. It then has a state, which it [saves](Self::save): its answer is a
/// function of all problems and seeds since it was made, in their order.
///
/// Descent from a random point, one bit at a time, for problems without rules:
///
/// ```
/// use plugin_api::{AcquisitionKind, Answer, Problem, Quadratic, Result, Solver, rng};
///
/// struct Descent;
///
/// impl Solver for Descent {
///     fn minimize(&mut self, problem: &Problem, seed: u64) -> Result<Answer> {
///         let function = problem.objective();
///         let mut bits = problem.layout().random(&mut rng(seed));
///         while let Some(i) = (0..bits.len()).find(|&i| function.flip_gain(&bits, i) < 0.0) {
///             bits.flip(i);
///         }
///         let value = function.value(&bits);
///         Ok(Answer::new(bits, value))
///     }
///
///     fn takes(&self, _kind: AcquisitionKind) -> bool {
///         true
///     }
/// }
///
/// // x₁ − 2x₂ has its minimum, −2, at 01.
/// let problem = Problem::new(Quadratic::new(0.0, vec![1.0, -2.0], vec![0.0])?);
/// let answer = Descent.minimize(&problem, 1)?;
/// assert_eq!((answer.bits().to_string().as_str(), answer.value()), ("01", -2.0));
/// # Ok::<(), plugin_api::Error>(())
/// ```
pub trait Solver: Send {
    /// Answers bits of low value: as many as the problem has, with their value.
    fn minimize(&mut self, problem: &Problem, seed: u64) -> Result<Answer>;

    /// Whether it takes acquisitions of this kind; quadratic ones alone, unless it says otherwise.
    fn takes(&self, kind: AcquisitionKind) -> bool {
        kind == AcquisitionKind::Quadratic
    }

    /// Whether its answers keep to this rule where a problem has it. To a solver that does not keep the groups, the
    /// host shows none: it adds a penalty to the function, and repairs the answer.
    fn keeps(&self, rule: Rule) -> bool {
        let _ = rule;
        false
    }

    /// Its state, as [`restore`](Self::restore) takes it: from a solver that learns, always, also before its first
    /// problem; `None` from one whose answers do not depend on the problems before.
    fn save(&self) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    /// Goes on exactly from where the solver that gave this state stood.
    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let _ = state;
        Err(no_state())
    }
}

/// Why a state is refused by a solver that has none.
pub(crate) fn no_state() -> Error {
    Error::new("this solver has no saved state")
}

/// What a solver gets: a function with the experiment's penalty in it, rules, points to start from, points not wanted,
/// limits.
///
/// ```
/// use plugin_api::{Constraint, Layout, Literal, Problem, Quadratic};
///
/// let layout = Layout::with_groups(5, vec![0..3])?
///     .with_constraints(vec![Constraint::Fixed(Literal::new(4, 0))])?;
/// let problem = Problem::new(Quadratic::zero(5)).with_layout(&layout).with_work_limit(1000);
/// assert_eq!(problem.dimension(), 5);
/// assert!(problem.admits(&[true, false, false, true, false]));
/// assert!(problem.starts().is_empty());
/// # Ok::<(), plugin_api::Error>(())
/// ```
pub struct Problem {
    objective: Acquisition,
    layout: Layout,
    starts: BitMatrix,
    unwanted: BitMatrix,
    work_limit: Option<u64>,
    time_limit: Option<Duration>,
}

impl Problem {
    /// The problem to minimize `objective`, without rules, points or limits.
    pub fn new(objective: impl Into<Acquisition>) -> Self {
        let objective = objective.into();
        let n = objective.dimension();
        Self {
            objective,
            layout: Layout::free(n),
            starts: BitMatrix::new(n),
            unwanted: BitMatrix::new(n),
            work_limit: None,
            time_limit: None,
        }
    }

    /// With the groups and constraints of `layout`.
    ///
    /// # Panics
    /// Where the layout has another dimension than the objective; likewise for the points below.
    pub fn with_layout(mut self, layout: &Layout) -> Self {
        assert_eq!(layout.dimension(), self.dimension(), "a layout of another dimension");
        self.layout = layout.clone();
        self
    }

    /// With points known to be good, the best first.
    pub fn with_starts(mut self, points: BitMatrix) -> Self {
        assert_eq!(points.dimension(), self.dimension(), "starts of another dimension");
        self.starts = points;
        self
    }

    /// With points that are of no use as an answer.
    pub fn with_unwanted(mut self, points: BitMatrix) -> Self {
        assert_eq!(points.dimension(), self.dimension(), "unwanted points of another dimension");
        self.unwanted = points;
        self
    }

    /// With a limit on the solver's work; see [`work_limit`](Self::work_limit).
    pub fn with_work_limit(mut self, steps: u64) -> Self {
        self.work_limit = Some(steps);
        self
    }

    /// With a limit on time: the answer is then no longer a function of problem and seed.
    pub fn with_time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = Some(limit);
        self
    }

    /// The function to minimize.
    pub fn objective(&self) -> &Acquisition {
        &self.objective
    }

    /// The function to minimize, for a solver that takes quadratic ones only; an error for any other.
    pub fn quadratic(&self) -> Result<&Quadratic> {
        match &self.objective {
            Acquisition::Quadratic(f) => Ok(f),
            other => {
                let kind = other.kind();
                Err(Error::new(format!("this solver takes quadratic functions only, and got a {kind} one")))
            }
        }
    }

    /// How many bits there are.
    pub fn dimension(&self) -> usize {
        self.layout.dimension()
    }

    /// How many bits there are, and the rules between them.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Stretches of bits of which exactly one is to be set.
    pub fn groups(&self) -> &[Range<usize>] {
        self.layout.groups()
    }

    /// What else the answer is to keep to.
    pub fn constraints(&self) -> &[Constraint] {
        self.layout.constraints()
    }

    /// Points known to be good, of the right length, the best first: places to start from. They need not keep to the
    /// rules.
    pub fn starts(&self) -> &BitMatrix {
        &self.starts
    }

    /// Points whose value is known already: the host has no use for them as an answer. A solver may leave them out,
    /// or not look at them; a bound holds for all points nonetheless.
    pub fn unwanted(&self) -> &BitMatrix {
        &self.unwanted
    }

    /// The most of its own main steps a solver may take: cuts, sweeps, nodes, points; each documents which.
    pub fn work_limit(&self) -> Option<u64> {
        self.work_limit
    }

    /// The longest a solver may take. One that stops for it says so with [`Stop::Time`](crate::Stop::Time).
    pub fn time_limit(&self) -> Option<Duration> {
        self.time_limit
    }

    /// Whether `bits` has the right length, exactly one bit set in each group, and keeps to the constraints.
    pub fn admits(&self, bits: &[bool]) -> bool {
        self.layout.admits(bits)
    }
}
