//! The best placement of few elements, by trying every one that could be better than the best so far.

use crate::graph::Graph;

/// Placements that are looked at before the best is not known.
const MOST_PLACEMENTS: u64 = 10_000_000;

/// The least cost; `None` where there are too many placements.
pub(crate) fn minimum(
    graph: &Graph,
    positions: usize,
    distance: &dyn Fn(usize, usize) -> f64,
) -> Option<f64> {
    let mut placements = 1u64;
    for taken in 0..graph.names.len() {
        placements = placements.checked_mul((positions - taken) as u64)?;
        if placements > MOST_PLACEMENTS {
            return None;
        }
    }
    let mut before = vec![Vec::new(); graph.names.len()];
    graph.edges.iter().for_each(|&(i, j, amount)| before[i].push((j, amount)));
    let mut search = Search { before, positions, distance, best: f64::INFINITY };
    search.place(&mut Vec::new(), &mut vec![false; positions], 0.0);
    Some(search.best)
}

struct Search<'a> {
    /// For each element, those before it and what they send each other.
    before: Vec<Vec<(usize, f64)>>,
    positions: usize,
    distance: &'a dyn Fn(usize, usize) -> f64,
    best: f64,
}

impl Search<'_> {
    fn place(&mut self, placed: &mut Vec<usize>, taken: &mut Vec<bool>, cost: f64) {
        if cost >= self.best {
            return;
        }
        let next = placed.len();
        if next == self.before.len() {
            self.best = cost;
            return;
        }
        for position in 0..self.positions {
            if taken[position] {
                continue;
            }
            let ways =
                self.before[next].iter().map(|&(j, amount)| amount * (self.distance)(position, placed[j]));
            let cost = cost + ways.sum::<f64>();
            placed.push(position);
            taken[position] = true;
            self.place(placed, taken, cost);
            taken[position] = false;
            placed.pop();
        }
    }
}
