//! The cheapest decisions for fixed supplies, by branch and bound.

use crate::supplies::Supplies;

/// Steps of the search, a second of work: beyond that the minimum stays unknown.
const STEPS: usize = 1 << 30;

/// Differences of cost below this are rounding.
const ROUNDING: f64 = 1e-12;

/// What decisions cost: each prevention its `price`, each supply above `limit` after a stage `violation`,
/// which is not negative.
pub(crate) struct Costs {
    pub(crate) price: f64,
    pub(crate) violation: f64,
    pub(crate) limit: f64,
}

/// The decisions of least cost, or `None` where it takes too long to prove them.
///
/// What the stages from i on cost is least where the food is clean before them: both ways through a stage
/// keep the order of Z. So the problem of the last stage with clean food before it is solved first, then that
/// of the last two, and so on, each with the minima of those before as its bounds (Russian doll search);
/// last, the whole.
pub(crate) fn minimum(supplies: &Supplies, costs: &Costs) -> Option<Vec<bool>> {
    let n = supplies.stages();
    let mut search = Search {
        supplies,
        costs,
        bounds: vec![0.0; n + 1],
        x: vec![false; n],
        best: vec![false; n],
        least: f64::INFINITY,
        steps: 0,
    };
    let mut scratch = vec![vec![0.0; supplies.simulations()]; n];
    let clean = vec![0.0; supplies.simulations()];
    for first in (1..n).rev() {
        search.least = f64::INFINITY;
        search.descend(first, 0, 0, &clean, &mut scratch[first..])?;
        search.bounds[first] = search.least;
    }
    search.least = f64::INFINITY;
    search.descend(0, 0, 0, &supplies.initial, &mut scratch)?;
    Some(search.best)
}

struct Search<'a> {
    supplies: &'a Supplies,
    costs: &'a Costs,
    /// What the stages from each on cost at least.
    bounds: Vec<f64>,
    x: Vec<bool>,
    best: Vec<bool>,
    least: f64,
    steps: usize,
}

impl Search<'_> {
    /// Tries both decisions at `stage` and all after it, with the fractions `z` before it, and the counts of
    /// what was spent up to it. Answers `None` where the steps ran out.
    fn descend(
        &mut self,
        stage: usize,
        preventions: usize,
        violations: usize,
        z: &[f64],
        scratch: &mut [Vec<f64>],
    ) -> Option<()> {
        let cost = self.costs.price * preventions as f64 + self.costs.violation * violations as f64;
        if cost + self.bounds[stage] >= self.least - ROUNDING {
            return Some(());
        }
        let Some((after, scratch)) = scratch.split_first_mut() else {
            self.least = cost;
            self.best.copy_from_slice(&self.x);
            return Some(());
        };
        for prevent in [true, false] {
            self.steps += z.len();
            if self.steps > STEPS {
                return None;
            }
            self.x[stage] = prevent;
            let above = self.supplies.pass(stage, prevent, self.costs.limit, z, after);
            self.descend(stage + 1, preventions + usize::from(prevent), violations + above, after, scratch)?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exhaustive(supplies: &Supplies, costs: &Costs) -> f64 {
        let n = supplies.stages();
        let every = (0..1u32 << n).map(|mask| (0..n).map(|i| mask >> i & 1 == 1).collect());
        every.map(|x: Vec<bool>| cost(supplies, costs, &x)).fold(f64::INFINITY, f64::min)
    }

    fn cost(supplies: &Supplies, costs: &Costs, x: &[bool]) -> f64 {
        let preventions = x.iter().filter(|&&prevent| prevent).count() as f64;
        costs.price * preventions + costs.violation * supplies.violations(x, costs.limit) as f64
    }

    #[test]
    fn no_decisions_are_cheaper_than_the_minimum() {
        for stages in [1, 2, 5, 10] {
            for seed in 0..6 {
                let supplies = Supplies::random(stages, 30, seed);
                for (price, rho, limit) in
                    [(1.0, 1.0, 0.1), (1.01, 1.0, 0.1), (0.2, 1.0, 0.3), (-0.1, 1.0, 0.1), (1.0, 5.0, 0.05)]
                {
                    let costs = Costs { price, violation: rho / 30.0, limit };
                    let found = cost(&supplies, &costs, &minimum(&supplies, &costs).unwrap());
                    assert!((found - exhaustive(&supplies, &costs)).abs() < 1e-10, "{stages} {seed} {price}");
                }
            }
        }
    }

    #[test]
    fn a_search_that_would_take_too_long_gives_up() {
        let supplies = Supplies::random(200, 1000, 1);
        let costs = Costs { price: 1.0, violation: 1e-3, limit: 0.1 };
        assert_eq!(minimum(&supplies, &costs), None);
    }
}
