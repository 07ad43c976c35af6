//! Minimizes an acquisition function over bits.

use std::ops::Range;
use std::time::Duration;

use crate::{Acquisition, AcquisitionKind, Bits, Error, Layout, Quadratic, Result};

/// Minimizes a function of bits, exactly or nearly.
///
/// The host asks once an iteration. The same problem and seed give the same answer, unless the problem has
/// a [time limit](Problem::time_limit).
pub trait Solver: Send {
    /// Answers bits of low value: as many as the problem has, with their value.
    fn minimize(&mut self, problem: &Problem, seed: u64) -> Result<Answer>;

    /// Which acquisitions it takes.
    fn takes(&self) -> AcquisitionKind {
        AcquisitionKind::Quadratic
    }

    /// Whether its answers have exactly one bit set in each of the problem's groups. For a solver that does
    /// not, the host adds a penalty to the function and repairs the answer; such a solver sees no groups.
    fn keeps_groups(&self) -> bool {
        false
    }
}

/// What a solver gets: a function with the experiment's penalty in it, groups, a good point, limits.
///
/// ```
/// use plugin_api::{Problem, Quadratic};
///
/// let problem = Problem::new(Quadratic::zero(5)).with_work_limit(1000);
/// assert_eq!(problem.dimension(), 5);
/// assert!(problem.groups().is_empty());
/// ```
pub struct Problem {
    objective: Acquisition,
    groups: Vec<Range<usize>>,
    incumbent: Option<Bits>,
    work_limit: Option<u64>,
    time_limit: Option<Duration>,
}

impl Problem {
    /// The problem to minimize `objective`, without groups, incumbent or limits.
    pub fn new(objective: impl Into<Acquisition>) -> Self {
        let objective = objective.into();
        Self { objective, groups: Vec::new(), incumbent: None, work_limit: None, time_limit: None }
    }

    /// With the groups of `layout`, which has the dimension of the objective.
    pub fn with_groups(mut self, layout: &Layout) -> Self {
        assert_eq!(layout.dimension(), self.dimension(), "groups for another dimension");
        self.groups = layout.groups().to_vec();
        self
    }

    /// With a point known to be good, of the dimension of the objective.
    pub fn with_incumbent(mut self, bits: Bits) -> Self {
        assert_eq!(bits.len(), self.dimension(), "an incumbent of another dimension");
        self.incumbent = Some(bits);
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
            Acquisition::General(_) => {
                Err(Error::new("this solver takes quadratic functions only, and got a general one"))
            }
        }
    }

    /// How many bits there are.
    pub fn dimension(&self) -> usize {
        self.objective.dimension()
    }

    /// Stretches of bits of which exactly one is to be set.
    pub fn groups(&self) -> &[Range<usize>] {
        &self.groups
    }

    /// A point known to be good, of the right length: a place to start from.
    pub fn incumbent(&self) -> Option<&Bits> {
        self.incumbent.as_ref()
    }

    /// The most of its own main steps a solver may take: cuts, sweeps, nodes, points; each documents which.
    pub fn work_limit(&self) -> Option<u64> {
        self.work_limit
    }

    /// The longest a solver may take. One that stops for it says so with [`Stop::Time`].
    pub fn time_limit(&self) -> Option<Duration> {
        self.time_limit
    }
}

/// Bits, their value, and what is known of both.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    bits: Bits,
    value: f64,
    bound: Option<f64>,
    counts: Vec<(String, u64)>,
    stop: Stop,
}

/// Why a solver stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// It did all that its options ask for, or proved its answer.
    #[default]
    Done,
    /// It reached the problem's work limit.
    Work,
    /// It reached the problem's time limit: the answer depends on the machine.
    Time,
}

impl Answer {
    /// The answer `bits`, with their value under the problem's objective.
    pub fn new(bits: Bits, value: f64) -> Self {
        Self { bits, value, bound: None, counts: Vec::new(), stop: Stop::Done }
    }

    /// With a proven lower bound on the problem's minimum.
    pub fn with_bound(mut self, bound: f64) -> Self {
        self.bound = Some(bound);
        self
    }

    /// With a count of the work done, such as `("cuts", 10)`.
    pub fn with_count(mut self, name: impl Into<String>, count: u64) -> Self {
        self.counts.push((name.into(), count));
        self
    }

    /// With the reason for stopping.
    pub fn with_stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// The point found.
    pub fn bits(&self) -> &Bits {
        &self.bits
    }

    /// Its value.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// No point has a value below this, where the method can prove such a thing.
    pub fn bound(&self) -> Option<f64> {
        self.bound
    }

    /// Counts of the work done, in the solver's order.
    pub fn counts(&self) -> &[(String, u64)] {
        &self.counts
    }

    /// Why the solver stopped.
    pub fn stop(&self) -> Stop {
        self.stop
    }
}
