//! Problems of the sizes that are met, for benchmarks and for other programs to solve.

use plugin_api::rand::RngExt;
use plugin_api::random::normal;
use plugin_api::{Constraint, Layout, Literal, Problem, Quadratic, Rng, rng};

/// Named problems with whole coefficients, which exact programs can take as they are.
///
/// `categories_G_L`: G groups of L bits each, as of an objective with G variables of L levels; `exactly_K_N` and `at-most_K_N`:
/// that many of N bits; `capacity_N`: weights of a fifth of all; `placement_E_P`: E elements on P positions of a grid, at most
/// one each, traffic times distance.
pub fn large() -> Vec<(String, Problem)> {
    let problems =
        [(0, 8, 5), (1, 10, 5), (2, 25, 5)].map(|(seed, groups, levels)| categories(seed, groups, levels));
    let counted = [(3, 4, 40, true), (4, 20, 200, true), (5, 4, 40, false), (6, 10, 200, false)]
        .map(|(seed, count, n, exactly)| counted(seed, count, n, exactly));
    let others = [capacity(7, 40), capacity(8, 200), placement(9, 6, 9), placement(10, 12, 16)];
    problems.into_iter().chain(counted).chain(others).collect()
}

fn categories(seed: u64, groups: usize, levels: usize) -> (String, Problem) {
    let n = groups * levels;
    let ranges = (0..groups).map(|group| group * levels..(group + 1) * levels).collect();
    let layout = Layout::with_groups(n, ranges).expect("groups in order");
    (format!("categories_{groups}_{levels}"), problem(heavy_tailed(n, &mut rng(seed)), &layout))
}

fn counted(seed: u64, count: usize, n: usize, exactly: bool) -> (String, Problem) {
    let (word, rule) = match exactly {
        true => ("exactly", Constraint::Exactly { count, of: set(0..n) }),
        false => ("at-most", Constraint::AtMost { count, of: set(0..n) }),
    };
    let layout = Layout::free(n).with_constraints(vec![rule]).expect("a rule");
    (format!("{word}_{count}_{n}"), problem(heavy_tailed(n, &mut rng(seed)), &layout))
}

fn capacity(seed: u64, n: usize) -> (String, Problem) {
    let rng = &mut rng(seed);
    let weights: Vec<f64> = (0..n).map(|_| f64::from(rng.random_range(1..=20))).collect();
    let limit = (weights.iter().sum::<f64>() / 5.0).floor();
    let rule = Constraint::Capacity { limit, of: set(0..n), weights };
    let layout = Layout::free(n).with_constraints(vec![rule]).expect("a rule");
    (format!("capacity_{n}"), problem(heavy_tailed(n, rng), &layout))
}

fn placement(seed: u64, elements: usize, positions: usize) -> (String, Problem) {
    let rng = &mut rng(seed);
    let n = elements * positions;
    let groups = (0..elements).map(|element| element * positions..(element + 1) * positions).collect();
    let at = |position: usize| set((0..elements).map(|element| element * positions + position));
    let rules = (0..positions).map(|position| Constraint::AtMost { count: 1, of: at(position) }).collect();
    let layout =
        Layout::with_groups(n, groups).and_then(|layout| layout.with_constraints(rules)).expect("rules");
    let side = (1..).find(|side| side * side >= positions).expect("a square");
    let distance = |p: usize, q: usize| (p / side).abs_diff(q / side) + (p % side).abs_diff(q % side);
    let mut f = Quadratic::zero(n);
    for one in 0..elements {
        for other in one + 1..elements {
            let traffic = if rng.random_range(0..5) < 2 { rng.random_range(1..10) } else { 0 };
            for (p, q) in (0..positions).flat_map(|p| (0..positions).map(move |q| (p, q))) {
                f.add_pair(one * positions + p, other * positions + q, (traffic * distance(p, q)) as f64);
            }
        }
    }
    (format!("placement_{elements}_{positions}"), problem(f, &layout))
}

fn set(bits: impl IntoIterator<Item = usize>) -> Vec<Literal> {
    bits.into_iter().map(|bit| Literal::new(bit, 1)).collect()
}

/// Whole coefficients whose sizes are spread as those of a horseshoe's draws are: most small, a few large.
fn heavy_tailed(n: usize, rng: &mut Rng) -> Quadratic {
    let mut draw = || {
        let scale = (normal(rng) / normal(rng)).clamp(-30.0, 30.0);
        (20.0 * normal(rng) * scale).round()
    };
    let linear = (0..n).map(|_| draw()).collect();
    let pairs = (0..n * (n - 1) / 2).map(|_| draw()).collect();
    Quadratic::new(0.0, linear, pairs).expect("finite coefficients")
}

fn problem(f: Quadratic, layout: &Layout) -> Problem {
    Problem::new(f).with_layout(layout)
}
