//! Sums over all 2^cells spin configurations of a grid, exactly, edge by edge (the transfer matrix method).
//!
//! A sweep keeps one number for each state of a line's spins: the logarithm of the sum of the weights of all
//! configurations of the cells behind it. Bit i of a state is the spin at place i. An edge along the line
//! multiplies each state by its weight; an edge across replaces a spin of the line before by that of this
//! one, and sums over the old. Both are symmetric maps, so a sweep backwards is the same steps in reverse.

use crate::grid::{Grid, Place};

/// The logarithms of the weights that an edge gives to configurations; `None` for an edge without weight.
pub(crate) type Weight = Option<LogWeight>;

#[derive(Clone, Copy, Debug)]
pub(crate) struct LogWeight {
    /// Where the spins of its cells are equal.
    pub(crate) equal: f64,
    /// Where they differ.
    pub(crate) unequal: f64,
}

/// log Σ_z Π_e weight_e(z).
pub(crate) fn log_sum(grid: &Grid, weights: &[Weight]) -> f64 {
    let mut line = vec![0.0; 1 << grid.width];
    for step in grid.lines.iter().flatten() {
        apply(step.place, weights[step.edge], &mut line);
    }
    let mut sum = LogSum::default();
    line.iter().for_each(|&x| sum.add(x));
    sum.value()
}

/// E[z_i z_j] for each edge (i, j), where configurations have the probability ∝ exp(Σ_e J_e z_i z_j).
pub(crate) fn moments(grid: &Grid, couplings: &[f64]) -> Vec<f64> {
    let weight = |edge: usize| Some(LogWeight { equal: couplings[edge], unequal: -couplings[edge] });
    // Forwards, what stood before each line is kept; backwards, each line is swept once more from there. That
    // holds a line's worth of vectors in memory, not the grid's.
    let mut line = vec![0.0; 1 << grid.width];
    let mut starts = Vec::with_capacity(grid.lines.len());
    for steps in &grid.lines {
        starts.push(line.clone());
        steps.iter().for_each(|step| apply(step.place, weight(step.edge), &mut line));
    }
    let mut ahead = vec![0.0; 1 << grid.width];
    let mut moments = vec![0.0; grid.edges.len()];
    for (steps, start) in grid.lines.iter().zip(starts).rev() {
        let mut behind = vec![start];
        for step in steps {
            let mut next = behind[behind.len() - 1].clone();
            apply(step.place, weight(step.edge), &mut next);
            behind.push(next);
        }
        for (step, behind) in steps.iter().zip(&behind).rev() {
            // With P(equal)/P(unequal) = eᵈ, the moment P(equal) − P(unequal) is tanh(d/2).
            let odds = log_odds(step.place, behind, &ahead) + 2.0 * couplings[step.edge];
            moments[step.edge] = libm::tanh(0.5 * odds);
            apply(step.place, weight(step.edge), &mut ahead);
        }
    }
    moments
}

/// Takes a line past one edge.
fn apply(place: Place, weight: Weight, line: &mut [f64]) {
    match (place, weight) {
        (Place::Along(_), None) => {}
        (Place::Along(i), Some(LogWeight { equal, unequal })) => {
            for (state, x) in line.iter_mut().enumerate() {
                *x += if are_equal(state, i) { equal } else { unequal };
            }
        }
        (Place::Across(i), None) => for_each_flip(i, line, |x, y| {
            let either = log_add(*x, *y);
            (*x, *y) = (either, either);
        }),
        (Place::Across(i), Some(LogWeight { equal, unequal })) => for_each_flip(i, line, |x, y| {
            (*x, *y) = (log_add(*x + equal, *y + unequal), log_add(*x + unequal, *y + equal));
        }),
    }
}

/// log P(equal)/P(unequal) of an edge's spins without its own weight, from the lines before and after it.
fn log_odds(place: Place, behind: &[f64], ahead: &[f64]) -> f64 {
    let (mut equal, mut unequal) = (LogSum::default(), LogSum::default());
    match place {
        Place::Along(i) => {
            for (state, (b, a)) in behind.iter().zip(ahead).enumerate() {
                if are_equal(state, i) { equal.add(a + b) } else { unequal.add(a + b) }
            }
        }
        Place::Across(i) => {
            for state in 0..behind.len() {
                equal.add(behind[state] + ahead[state]);
                unequal.add(behind[state] + ahead[state ^ 1 << i]);
            }
        }
    }
    equal.value() - unequal.value()
}

/// Whether a state's spins at `place` and at the place before are equal.
pub(crate) fn are_equal(state: usize, place: usize) -> bool {
    (state >> place ^ state >> (place - 1)) & 1 == 0
}

/// Calls `f` with the numbers of any two states that differ at `place` alone.
pub(crate) fn for_each_flip(place: usize, line: &mut [f64], mut f: impl FnMut(&mut f64, &mut f64)) {
    for block in line.chunks_exact_mut(2 << place) {
        let (down, up) = block.split_at_mut(1 << place);
        down.iter_mut().zip(up).for_each(|(x, y)| f(x, y));
    }
}

/// log(eˣ + eʸ), which never overflows.
fn log_add(x: f64, y: f64) -> f64 {
    let (most, least) = if x > y { (x, y) } else { (y, x) };
    most + libm::log1p(libm::exp(least - most))
}

/// log Σ eˣ of numbers that come one at a time.
struct LogSum {
    most: f64,
    /// Σ e^(x − most).
    sum: f64,
}

impl Default for LogSum {
    fn default() -> Self {
        Self { most: f64::NEG_INFINITY, sum: 0.0 }
    }
}

impl LogSum {
    fn add(&mut self, x: f64) {
        if x <= self.most {
            self.sum += libm::exp(x - self.most);
        } else {
            self.sum = self.sum * libm::exp(self.most - x) + 1.0;
            self.most = x;
        }
    }

    fn value(&self) -> f64 {
        self.most + libm::log(self.sum)
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::random::normal;

    use super::*;
    use crate::golden::golden;

    /// log Z and the moment of every edge, by trying every configuration.
    fn enumerate(grid: &Grid, couplings: &[f64], cells: usize) -> (f64, Vec<f64>) {
        let product = |z: u32, &[i, j]: &[usize; 2]| if (z >> i ^ z >> j) & 1 == 0 { 1.0 } else { -1.0 };
        let exponent = |z: u32| grid.edges.iter().zip(couplings).map(|(edge, c)| c * product(z, edge)).sum();
        let exponents: Vec<f64> = (0..1u32 << cells).map(exponent).collect();
        let most = exponents.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = exponents.iter().map(|x| libm::exp(x - most)).collect();
        let sum: f64 = weights.iter().sum();
        let moment = |edge| (0u32..).zip(&weights).map(|(z, w)| w * product(z, edge)).sum::<f64>() / sum;
        (most + libm::log(sum), grid.edges.iter().map(moment).collect())
    }

    fn log_z(grid: &Grid, couplings: &[f64]) -> f64 {
        let weights: Vec<Weight> =
            couplings.iter().map(|&c| Some(LogWeight { equal: c, unequal: -c })).collect();
        log_sum(grid, &weights)
    }

    #[test]
    fn a_sweep_gives_what_enumeration_gives() {
        let mut rng = plugin_api::rng(1);
        let shapes = [
            (1, 2),
            (2, 1),
            (1, 7),
            (7, 1),
            (2, 2),
            (2, 3),
            (3, 2),
            (3, 3),
            (2, 6),
            (6, 2),
            (3, 4),
            (4, 3),
            (4, 4),
        ];
        for (rows, columns) in shapes {
            let grid = Grid::new(rows, columns);
            for scale in [0.3, 2.0, 30.0] {
                let couplings: Vec<f64> = grid.edges.iter().map(|_| scale * normal(&mut rng)).collect();
                let (expected, expected_moments) = enumerate(&grid, &couplings, rows * columns);
                let found = log_z(&grid, &couplings);
                assert!((found - expected).abs() <= 1e-12 * expected.abs(), "{rows} × {columns}: {found}");
                for (m, e) in moments(&grid, &couplings).into_iter().zip(expected_moments) {
                    assert!((m - e).abs() <= 1e-11, "{rows} × {columns}, scale {scale}: {m} for {e}");
                }
            }
        }
    }

    #[test]
    fn an_edge_without_weight_is_a_coupling_of_zero() {
        let grid = Grid::new(3, 3);
        let mut rng = plugin_api::rng(2);
        let couplings: Vec<f64> =
            (0..12).map(|edge| if edge % 3 == 0 { 0.0 } else { normal(&mut rng) }).collect();
        let weight = |&c: &f64| (c != 0.0).then_some(LogWeight { equal: c, unequal: -c });
        let weights: Vec<Weight> = couplings.iter().map(weight).collect();
        assert!((log_sum(&grid, &weights) - log_z(&grid, &couplings)).abs() < 1e-13);
    }

    #[test]
    fn log_z_and_moments_are_those_of_the_reference() {
        for case in golden() {
            let grid = Grid::new(case.rows, case.columns);
            for reference in case.exponents {
                let couplings: Vec<f64> =
                    case.couplings.iter().map(|c| reference.exponent.times() * c).collect();
                let found = log_z(&grid, &couplings);
                assert!((found - reference.log_z).abs() <= 1e-13 * reference.log_z, "{found}");
                for (m, &e) in moments(&grid, &couplings).into_iter().zip(&reference.moments) {
                    assert!((m - e).abs() <= 1e-12 * e.abs(), "{m} for {e}");
                }
            }
        }
    }

    #[test]
    fn the_ising_chain_has_its_textbook_moments() {
        // On a chain E[z_i z_{i+1}] = tanh J, and Z = 2ⁿ Π cosh J.
        let couplings: Vec<f64> = (1..1000).map(|i| 0.01 * f64::from(i % 7) - 0.02).collect();
        let grid = Grid::new(1, 1000);
        let log_cosh = |c: &f64| libm::log(libm::cosh(*c));
        let expected = 1000.0 * std::f64::consts::LN_2 + couplings.iter().map(log_cosh).sum::<f64>();
        assert!((log_z(&grid, &couplings) - expected).abs() < 1e-12 * expected);
        for (m, c) in moments(&grid, &couplings).into_iter().zip(&couplings) {
            assert!((m - libm::tanh(*c)).abs() < 1e-13);
        }
    }
}
