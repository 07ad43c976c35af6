//! The course of a trial: what each evaluation gave, and when it ended.

use crate::record::event::Phase;
use crate::record::{Evaluation, Step, TrialFiles};

/// Value and time of each evaluation. Small: there are a million of them in a large run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Course {
    /// The total of each evaluation; NaN where it has no value.
    pub totals: Vec<f64>,
    /// Seconds of the trial's own work when each evaluation had ended: drawing, minimising, evaluating and observing, without shadows
    /// and questions. Shorter where times are not recorded.
    pub ended_at: Vec<f32>,
}

impl Course {
    pub(crate) fn of(trial: &TrialFiles) -> Self {
        let totals =
            trial.evaluations.iter().map(|evaluation| evaluation.ended.total.unwrap_or(f64::NAN)).collect();
        Self { totals, ended_at: ended_at(trial) }
    }

    /// How many evaluations had ended after this many seconds.
    pub(crate) fn evaluations_after(&self, seconds: f64) -> usize {
        self.ended_at.partition_point(|&end| f64::from(end) <= seconds)
    }
}

fn ended_at(trial: &TrialFiles) -> Vec<f32> {
    let count = trial.evaluations.len();
    let first = trial.evaluations.iter().filter(|evaluation| evaluation.phase != Phase::Search).count();
    // Each step goes to the evaluation that waits for it.
    let mut spent: Vec<[Option<f64>; 4]> = vec![[None; 4]; count];
    for timed in &trial.times {
        let (kind, evaluation) = match timed.step {
            Step::Fit { iteration } => (0, first + iteration),
            Step::Solve { iteration, followed: true, .. } => (1, first + iteration),
            Step::Evaluate { evaluation } => (2, evaluation),
            Step::Observe { evaluation } => (3, evaluation + 1),
            Step::Solve { .. } | Step::Ask { .. } | Step::Await { .. } => continue,
        };
        if let Some(place) = evaluation.checked_sub(1).and_then(|i| spent.get_mut(i)) {
            // Of two, the first: the second was timed when the trial went through it again.
            place[kind].get_or_insert(timed.seconds);
        }
    }
    let timed = |(evaluation, steps): &(&Evaluation, [Option<f64>; 4])| {
        steps[2].is_some() || evaluation.phase == Phase::Given
    };
    let timed: Vec<_> = trial.evaluations.iter().zip(spent).take_while(timed).collect();
    let mut now = 0.0;
    let mut ended = Vec::with_capacity(count);
    // The points of a round are chosen one after the other, and evaluated at the same time.
    for round in timed.chunk_by(|(a, _), (b, _)| a.round == b.round) {
        let sum = |kinds: &[usize]| -> f64 {
            round.iter().flat_map(|(_, steps)| kinds.iter().filter_map(|&kind| steps[kind])).sum()
        };
        now += sum(&[0, 1, 3]);
        let begun = now;
        for (_, steps) in round {
            now = f64::max(now, begun + steps[2].unwrap_or_default());
            ended.push(now as f32);
        }
    }
    ended
}
