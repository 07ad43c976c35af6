//! The best edges to keep, by trying every choice.

use crate::grid::{Grid, Place, Step};
use crate::transfer::{LogWeight, are_equal, for_each_flip};

/// Edges whose every subset is tried: 2^25 of them take seconds.
const MOST_EDGES: usize = 25;

/// Where no product of weights is beyond e^±600, sums of them neither overflow nor underflow.
const MOST_EXPONENT: f64 = 600.0;

/// The edges to keep for the least log Σ_z Π_{e kept} weight_e(z) + l1·#kept; `None` where there are too many
/// choices, or the weights too far apart.
///
/// The choices are made in the order of a sweep, so that all which begin alike share the beginning of theirs.
pub(crate) fn minimum(grid: &Grid, weights: &[LogWeight], l1: f64) -> Option<Vec<bool>> {
    let largest: f64 = weights.iter().map(|w| w.equal.abs().max(w.unequal.abs())).sum();
    let edges = weights.len(); // one at least
    if edges > MOST_EDGES || largest > MOST_EXPONENT {
        return None;
    }
    let weight = |step: &Step| {
        let LogWeight { equal, unequal } = weights[step.edge];
        Choice { step: *step, equal: libm::exp(equal), unequal: libm::exp(unequal) }
    };
    let choices = grid.lines.iter().flatten().map(weight).collect();
    let mut search = Search { choices, best: vec![(f64::INFINITY, 0); edges + 1] };
    let mut scratch = vec![vec![0.0; 1 << grid.width]; edges - 1];
    search.descend(0, 0, &vec![1.0; 1 << grid.width], &mut scratch);

    let penalised = |(kept, (sum, mask)): (usize, (f64, u32))| (libm::log(sum) + l1 * kept as f64, mask);
    let least = search.best.into_iter().enumerate().map(penalised).min_by(|x, y| x.0.total_cmp(&y.0));
    least.map(|(_, mask)| (0..edges).map(|edge| mask >> edge & 1 == 1).collect())
}

/// Whether to keep an edge: its place in the sweep, and its weights if it is kept.
struct Choice {
    step: Step,
    equal: f64,
    unequal: f64,
}

struct Search {
    choices: Vec<Choice>,
    /// By the number of edges kept: the least sum, and the edges as bits. The penalty is added at the end, so
    /// that no logarithm is taken of each of the sums.
    best: Vec<(f64, u32)>,
}

impl Search {
    /// Drops and keeps the edge at `depth` of the sweep, and all after it; `line` is the sum of weights for
    /// each state behind it, and `mask` the edges kept so far.
    fn descend(&mut self, depth: usize, mask: u32, line: &[f64], scratch: &mut [Vec<f64>]) {
        let Choice { step, equal, unequal } = self.choices[depth];
        let kept = mask | 1 << step.edge;
        let Some((after, scratch)) = scratch.split_first_mut() else {
            let (sum_equal, sum_unequal) = sums(step.place, line);
            self.note(mask, sum_equal + sum_unequal);
            self.note(kept, equal * sum_equal + unequal * sum_unequal);
            return;
        };
        match step.place {
            Place::Along(i) => {
                self.descend(depth + 1, mask, line, scratch);
                for (state, (after, x)) in after.iter_mut().zip(line).enumerate() {
                    *after = x * if are_equal(state, i) { equal } else { unequal };
                }
            }
            Place::Across(i) => {
                after.copy_from_slice(line);
                for_each_flip(i, after, |x, y| (*x, *y) = (*x + *y, *x + *y));
                self.descend(depth + 1, mask, after, scratch);
                after.copy_from_slice(line);
                for_each_flip(i, after, |x, y| {
                    (*x, *y) = (equal * *x + unequal * *y, unequal * *x + equal * *y);
                });
            }
        }
        self.descend(depth + 1, kept, after, scratch);
    }

    fn note(&mut self, mask: u32, sum: f64) {
        let best = &mut self.best[mask.count_ones() as usize];
        if sum < best.0 {
            *best = (sum, mask);
        }
    }
}

/// The sums of a line's configurations, after one more edge, where the spins of the edge are equal and where
/// they are not.
fn sums(place: Place, line: &[f64]) -> (f64, f64) {
    match place {
        Place::Along(i) => line.iter().enumerate().fold((0.0, 0.0), |(equal, unequal), (state, x)| {
            if are_equal(state, i) { (equal + x, unequal) } else { (equal, unequal + x) }
        }),
        // Each state meets an equal spin and an unequal one.
        Place::Across(_) => {
            let sum = line.iter().sum();
            (sum, sum)
        }
    }
}
