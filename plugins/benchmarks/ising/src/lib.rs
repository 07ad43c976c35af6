//! Sparsification of an Ising grid: keep or drop each edge, for the least KL divergence from the whole grid.

use plugin_api::rand::RngExt;
use plugin_api::random::open_uniform;
use plugin_api::{Benchmark, Error, Evaluation, Point, Result, Space, Variable, export_benchmark, rng};

mod grid; // edges, and the order in which a sweep meets them
mod minimum; // the best edges to keep
mod options; // what a manifest may set, and its limits
mod transfer; // exact sums over all spins

#[cfg(test)]
mod golden; // values of a reference implementation

use grid::Grid;
use options::{Exponent, Options};
use transfer::{LogWeight, Weight};

export_benchmark!("ising", |options: Options, seed: u64| Ising::new(options, seed));

struct Ising {
    grid: Grid,
    space: Space,
    /// J_e (z_i z_j − E_p[z_i z_j]) for each edge: the couplings, measured from their mean under p.
    weights: Vec<LogWeight>,
    /// The log sum of the whole grid with these weights.
    whole: f64,
}

/// Steps that an evaluation may take: 16 × 16 cells with 2^16 states of a line.
const MOST_STEPS: usize = 1 << 24;

/// Beyond this the exponents of the configurations have no digits left for the differences that matter.
const LARGEST_COUPLING: f64 = 1e6;

impl Ising {
    fn new(options: Options, seed: u64) -> Result<Self> {
        let (rows, columns) = (options.rows, options.columns);
        if rows * columns == 1 {
            return Err(Error::option(
                "columns",
                "must be at least 2 in a grid of one row: one cell has no edges",
            ));
        }
        let shorter = rows.min(columns);
        if shorter > 16 || (rows * columns) << shorter > MOST_STEPS {
            let words =
                format!("{rows} × {columns} cells are too many: rows · columns · 2^{shorter} is above 2^24");
            return Err(Error::option("rows", words));
        }
        let grid = Grid::new(rows, columns);
        let couplings = match &options.couplings {
            Some(couplings) => check_couplings(couplings, grid.edges.len())?,
            None => random_couplings(grid.edges.len(), options.seed.unwrap_or(seed)),
        };
        let couplings: Vec<f64> = couplings.iter().map(|c| options.exponent.times() * c).collect();
        let moments = transfer::moments(&grid, &couplings);
        let weight = |(&c, m): (&f64, f64)| LogWeight { equal: c * (1.0 - m), unequal: c * (-1.0 - m) };
        let weights: Vec<LogWeight> = couplings.iter().zip(moments).map(weight).collect();
        let variable = |edge| Variable::categorical(grid.name(edge), ["drop", "keep"]);
        let space = Space::new((0..weights.len()).map(variable).collect())?;
        let all: Vec<Weight> = weights.iter().copied().map(Some).collect();
        Ok(Self { whole: transfer::log_sum(&grid, &all), grid, space, weights })
    }

    /// KL(p‖q) = Σ_{e dropped} J_e E_p[z_i z_j] + log Z_q − log Z_p.
    ///
    /// With couplings measured from their means under p, the sum over dropped edges is part of the two log
    /// sums, and these are as small as the entropy of p: their difference keeps its digits.
    fn divergence(&self, kept: impl Iterator<Item = bool>) -> f64 {
        let weights: Vec<Weight> =
            self.weights.iter().zip(kept).map(|(&w, kept)| kept.then_some(w)).collect();
        // Rounding may leave it a little below 0.
        (transfer::log_sum(&self.grid, &weights) - self.whole).max(0.0)
    }
}

impl Exponent {
    /// How often an edge counts.
    fn times(self) -> f64 {
        match self {
            Exponent::Pair => 1.0,
            Exponent::Double => 2.0,
        }
    }
}

/// Uniform in ±[0.05, 5].
fn random_couplings(edges: usize, seed: u64) -> Vec<f64> {
    let mut rng = rng(seed);
    let mut coupling = || {
        let size = 0.05 + 4.95 * open_uniform(&mut rng);
        if rng.random() { size } else { -size }
    };
    (0..edges).map(|_| coupling()).collect()
}

fn check_couplings(couplings: &[f64], edges: usize) -> Result<Vec<f64>> {
    if couplings.len() != edges {
        let words = format!("has {} numbers, but the grid has {edges} edges", couplings.len());
        return Err(Error::option("couplings", words));
    }
    match couplings.iter().position(|c| !(-LARGEST_COUPLING..=LARGEST_COUPLING).contains(c)) {
        Some(i) => {
            let words = format!("must be in [-1e6, 1e6], not {}", couplings[i]);
            Err(Error::option(format!("couplings[{i}]"), words))
        }
        None => Ok(couplings.to_vec()),
    }
}

impl Benchmark for Ising {
    fn space(&self) -> Result<Space> {
        Ok(self.space.clone())
    }

    fn evaluate(&mut self, point: &Point, _seed: u64) -> Result<Evaluation> {
        self.space.check(point)?;
        Ok(self.divergence(point.iter().map(|&level| level == 1)).into())
    }

    fn optimum(&mut self, l1: f64) -> Result<Option<f64>> {
        let penalised = |kept: Vec<bool>| {
            let penalty = l1 * kept.iter().filter(|&&kept| kept).count() as f64;
            self.divergence(kept.into_iter()) + penalty
        };
        // No divergence is below 0, that of the whole grid: where edges cost nothing, it is the best.
        if l1 <= 0.0 {
            return Ok(Some(penalised(vec![true; self.weights.len()])));
        }
        Ok(minimum::minimum(&self.grid, &self.weights, l1).map(penalised))
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::options::parse;
    use plugin_api::testing::check_benchmark;

    use super::*;
    use crate::golden::golden;

    fn ising(json: &str, seed: u64) -> Ising {
        Ising::new(parse(json).unwrap(), seed).unwrap()
    }

    fn refusal(json: &str) -> String {
        match parse(json).and_then(|options: Options| Ising::new(options, 1)) {
            Ok(_) => panic!("took {json}"),
            Err(error) => error.to_string(),
        }
    }

    fn point(mask: u32, edges: usize) -> Point {
        (0..edges).map(|edge| mask >> edge & 1).collect()
    }

    #[test]
    fn it_keeps_the_contract_of_a_benchmark() {
        check_benchmark(|| ising("{}", 3));
        check_benchmark(|| ising(r#"{ "rows": 1, "columns": 2 }"#, 3));
        check_benchmark(|| ising(r#"{ "rows": 3, "columns": 6, "exponent": "double" }"#, 3));
    }

    #[test]
    fn divergences_are_those_of_the_reference() {
        let mut points = 0;
        for case in golden() {
            for reference in case.exponents {
                let mut ising = Ising::new(
                    Options {
                        rows: case.rows,
                        columns: case.columns,
                        exponent: reference.exponent,
                        couplings: Some(case.couplings.clone()),
                        ..Options::default()
                    },
                    1,
                )
                .unwrap();
                for (x, &expected) in case.x.iter().zip(&reference.value) {
                    let point: Point = x.chars().map(|bit| u32::from(bit == '1')).collect();
                    let found = ising.evaluate(&point, 0).unwrap().value().unwrap();
                    assert!((found - expected).abs() <= 1e-9 * expected, "{x}: {found} for {expected}");
                    points += 1;
                }
            }
        }
        assert_eq!(points, 6 * 2 * 50);
    }

    #[test]
    fn the_optimum_is_the_least_of_all_choices() {
        for (rows, columns, seed) in
            [(2, 2, 1), (3, 3, 2), (2, 4, 3), (4, 2, 4), (1, 6, 5), (5, 1, 6), (3, 3, 7)]
        {
            let options = Options { rows, columns, exponent: Exponent::Double, ..Options::default() };
            let mut ising = Ising::new(options, seed).unwrap();
            let edges = ising.weights.len();
            for l1 in [1e-4, 1e-2, 0.3, 10.0] {
                let penalised = |mask: u32| {
                    ising.evaluate(&point(mask, edges), 0).unwrap().value().unwrap()
                        + l1 * f64::from(mask.count_ones())
                };
                let exhaustive = (0..1 << edges).map(penalised).fold(f64::INFINITY, f64::min);
                let found = ising.optimum(l1).unwrap().unwrap();
                assert!((found - exhaustive).abs() <= 1e-12 * exhaustive, "{found} for {exhaustive}");
            }
        }
    }

    #[test]
    fn no_change_of_two_edges_improves_on_the_optimum_of_the_paper_s_grid() {
        let l1 = 0.01;
        let mut ising = ising(r#"{ "exponent": "double" }"#, 1);
        let optimum = ising.optimum(l1).unwrap().unwrap();
        let best = minimum::minimum(&ising.grid, &ising.weights, l1).unwrap();
        let mask = best.iter().rev().fold(0, |mask, &kept| mask << 1 | u32::from(kept));
        let penalised = |mask: u32| {
            ising.divergence((0..24).map(|i| mask >> i & 1 == 1)) + l1 * f64::from(mask.count_ones())
        };
        assert_eq!(penalised(mask), optimum);
        assert!(mask.count_ones() < 24, "the penalty is worth some edges");
        for (i, j) in (0..24).flat_map(|i| (0..=i).map(move |j| (i, j))) {
            let changed = penalised(mask ^ (1 << i | 1 << j));
            assert!(changed >= optimum, "{changed} below {optimum} without edges {i} and {j}");
        }
    }

    #[test]
    fn edges_that_cost_nothing_are_all_kept() {
        let mut large = ising(r#"{ "rows": 6, "columns": 6 }"#, 1);
        assert_eq!(large.optimum(0.0).unwrap(), Some(0.0));
        assert_eq!(large.optimum(-1.0).unwrap(), Some(-60.0));
        assert_eq!(large.optimum(1e-4).unwrap(), None);
    }

    #[test]
    fn large_couplings_neither_overflow_nor_vanish() {
        // A frustrated square: 8 of its 16 configurations have the lowest energy and share p. Without its
        // edges all 16 do, so the divergence is log 2.
        let mut square = ising(r#"{ "rows": 2, "columns": 2, "couplings": [1000, 1000, 1000, -1000] }"#, 1);
        let found = square.evaluate(&Point::from(vec![0; 4]), 0).unwrap().value().unwrap();
        assert!((found - std::f64::consts::LN_2).abs() < 1e-9, "{found}");
        assert_eq!(square.evaluate(&Point::from(vec![1; 4]), 0).unwrap().value().unwrap(), 0.0);
        assert_eq!(square.optimum(0.1).unwrap(), None);
    }

    #[test]
    fn random_couplings_are_uniform_in_two_intervals() {
        let couplings = random_couplings(100_000, 1);
        assert!(couplings.iter().all(|c| (0.05..=5.0).contains(&c.abs())));
        let share = |low: f64, high: f64| {
            couplings.iter().filter(|&&c| c > low && c <= high).count() as f64 / couplings.len() as f64
        };
        for (low, high) in [(-5.0, -2.525), (-2.525, -0.05), (0.05, 2.525), (2.525, 5.0)] {
            // A quarter each; 0.0055 is four standard deviations.
            assert!((share(low, high) - 0.25).abs() < 0.0055, "{low} to {high}: {}", share(low, high));
        }
    }

    #[test]
    fn the_seed_of_the_options_comes_before_that_of_the_trial() {
        let value = |json: &str, seed: u64| {
            ising(json, seed).evaluate(&Point::from(vec![0; 24]), 0).unwrap().value().unwrap()
        };
        assert_ne!(value("{}", 1), value("{}", 2));
        assert_eq!(value(r#"{ "seed": 1 }"#, 2), value("{}", 1));
    }

    #[test]
    fn couplings_that_do_not_fit_are_refused() {
        assert_eq!(
            refusal(r#"{ "couplings": [1, 2] }"#),
            "`couplings`: has 2 numbers, but the grid has 24 edges"
        );
        assert_eq!(
            refusal(r#"{ "rows": 1, "columns": 3, "couplings": [1, 1e7] }"#),
            "`couplings[1]`: must be in [-1e6, 1e6], not 10000000"
        );
        let couplings = Some(vec![f64::NAN]);
        let error = Ising::new(Options { rows: 1, columns: 2, couplings, ..Options::default() }, 1).err();
        assert_eq!(error.unwrap().to_string(), "`couplings[0]`: must be in [-1e6, 1e6], not NaN");
    }

    #[test]
    fn grids_without_edges_or_with_too_many_states_are_refused() {
        assert_eq!(
            refusal(r#"{ "rows": 1, "columns": 1 }"#),
            "`columns`: must be at least 2 in a grid of one row: one cell has no edges"
        );
        assert_eq!(
            refusal(r#"{ "rows": 17, "columns": 17 }"#),
            "`rows`: 17 × 17 cells are too many: rows · columns · 2^17 is above 2^24"
        );
        assert_eq!(
            refusal(r#"{ "rows": 1000, "columns": 16 }"#),
            "`rows`: 1000 × 16 cells are too many: rows · columns · 2^16 is above 2^24"
        );
        assert_eq!(refusal(r#"{ "rows": 1000000000 }"#), "`rows`: must be at most 1000, not 1000000000");
    }
}
