//! The point of least value of a quadratic function, by trying each.
//!
//! Choices are made from the last to the first. Each adds to the slopes of the bits before it, so that most of
//! the additions serve many points. The first few choices are not made one by one: all their points together
//! are a block, whose values are added up side by side. A value is a sum along one way through the choices, so
//! no error builds up from point to point.

use plugin_api::{Bits, Quadratic};

use crate::budget::Budget;
use crate::choices::{Choice, first_point};

/// The most points of a block: enough to make the rest cheap, and few enough to stay in the nearest cache.
const BLOCK: usize = 64;

/// The best point that the budget allows to try; the first of those that are equal.
pub(crate) fn minimize(f: &Quadratic, choices: &[Choice], budget: &mut Budget) -> Bits {
    let n = f.dimension();
    let (block, others) = choices.split_at(block_length(choices));
    let points = block_points(block);
    let mut search = Search {
        pairs: f.symmetric(),
        block,
        within: points.iter().map(|bits| pairs_within(f, bits)).collect(),
        sums: vec![0.0; points.len()],
        points,
        chosen: vec![None; others.len()],
        best: f64::INFINITY,
        best_bits: first_point(n, choices),
        budget,
    };
    let mut room = vec![0.0; others.iter().map(|choice| choice.bits.start).sum()];
    search.visit(others, f.constant(), f.linear(), &mut room);
    search.best_bits
}

/// How many of the first choices make a block.
fn block_length(choices: &[Choice]) -> usize {
    let sizes = choices.iter().scan(1usize, |points, choice| {
        *points = points.saturating_mul(choice.count());
        Some(*points)
    });
    sizes.take_while(|&points| points <= BLOCK).count()
}

/// The bits set in each point of a block, in the order of [`Search::visit_block`].
fn block_points(block: &[Choice]) -> Vec<Vec<usize>> {
    block.iter().fold(vec![vec![]], |points, choice| {
        let with =
            |way: Option<usize>| points.iter().map(move |bits| bits.iter().copied().chain(way).collect());
        choice.ways().flat_map(with).collect()
    })
}

/// The sum of the pairs among `bits`, which are in order.
fn pairs_within(f: &Quadratic, bits: &[usize]) -> f64 {
    let pairs = bits.iter().enumerate().flat_map(|(k, &j)| bits[..k].iter().map(move |&i| f.pair(i, j)));
    pairs.sum()
}

struct Search<'a> {
    /// The pairs as a full symmetric matrix by rows.
    pairs: Vec<f64>,
    block: &'a [Choice],
    points: Vec<Vec<usize>>,
    /// For each point of the block, what its own pairs add to its value; and room for all that is linear.
    within: Vec<f64>,
    sums: Vec<f64>,
    /// How the choices after the block are made.
    chosen: Vec<Option<usize>>,
    best: f64,
    best_bits: Bits,
    budget: &'a mut Budget,
}

impl Search<'_> {
    /// Tries every way to make `choices` and those of the block, the others being made; `false` ends the search.
    ///
    /// The point without a bit set in them has `value`, and gains `slopes` by each of their bits. `room` is for
    /// the slopes of the calls within.
    fn visit(&mut self, choices: &[Choice], value: f64, slopes: &[f64], room: &mut [f64]) -> bool {
        let Some((choice, others)) = choices.split_last() else { return self.visit_block(value, slopes) };
        let (next, room) = room.split_at_mut(choice.bits.start);
        for way in choice.ways() {
            self.chosen[others.len()] = way;
            let go_on = match way {
                None => self.visit(others, value, &slopes[..next.len()], room),
                Some(bit) => {
                    let row = &self.pairs[bit * self.best_bits.len()..];
                    next.iter_mut().zip(slopes).zip(row).for_each(|((next, slope), a)| *next = slope + a);
                    self.visit(others, value + slopes[bit], next, room)
                }
            };
            if !go_on {
                return false;
            }
        }
        true
    }

    fn visit_block(&mut self, value: f64, slopes: &[f64]) -> bool {
        self.sums[0] = value;
        let mut length = 1;
        for choice in self.block {
            let (done, open) = self.sums.split_at_mut(length);
            let mut ways = choice.ways();
            let first = ways.next().flatten();
            for (way, sums) in ways.zip(open.chunks_mut(length)) {
                let slope = way.map_or(0.0, |bit| slopes[bit]);
                sums.iter_mut().zip(&*done).for_each(|(sum, before)| *sum = before + slope);
            }
            if let Some(bit) = first {
                done.iter_mut().for_each(|sum| *sum += slopes[bit]);
            }
            length *= choice.count();
        }
        let allowed = self.budget.spend(length);
        let values = self.sums[..allowed].iter().zip(&self.within).map(|(sum, within)| sum + within);
        // Whether any is better first, because that seldom happens, and takes many of them at a time.
        if values.clone().fold(false, |any, value| any | (value < self.best)) {
            let least = |least: (usize, f64), next: (usize, f64)| if next.1 < least.1 { next } else { least };
            let (point, value) = values.enumerate().fold((0, self.best), least);
            self.best = value;
            self.best_bits.fill(false);
            let bits = self.chosen.iter().flatten().chain(&self.points[point]);
            bits.for_each(|&bit| self.best_bits[bit] = true);
        }
        allowed == length
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choices::{choices, layouts, point_count};
    use crate::general;
    use plugin_api::testing::random_quadratic;
    use plugin_api::{Problem, rng};

    #[test]
    fn the_least_value_of_all_points_is_found() {
        for (seed, layout) in layouts().iter().enumerate() {
            let f = random_quadratic(&mut rng(seed as u64), layout.dimension());
            let problem = Problem::new(f.clone());
            let choices = choices(layout.dimension(), layout.groups());
            let (mut budget, mut other) = (Budget::new(&problem, 1), Budget::new(&problem, 1));
            let bits = minimize(&f, &choices, &mut budget);
            let one_by_one = general::minimize(&problem, &choices, &mut other);
            assert_eq!(Some(bits), one_by_one, "{layout:?}");
            assert_eq!(Some(budget.points()), point_count(&choices));
        }
    }

    #[test]
    fn any_point_can_be_the_best() {
        // The value is the number of bits that differ from a target.
        let layout = &layouts()[7];
        let choices = choices(layout.dimension(), layout.groups());
        for seed in 0..100 {
            let target = layout.random(&mut rng(seed));
            let linear = target.iter().map(|&bit| if bit { -1.0 } else { 1.0 }).collect::<Vec<f64>>();
            let pairs = vec![0.0; linear.len() * (linear.len() - 1) / 2];
            let f = Quadratic::new(0.0, linear, pairs).unwrap();
            assert_eq!(minimize(&f, &choices, &mut Budget::new(&Problem::new(f.clone()), 1)), target);
        }
    }
}
