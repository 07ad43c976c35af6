//! Problems with mixed rules.

use std::ops::Range;

use plugin_api::rand::RngExt;
use plugin_api::testing::{minimum, random_quadratic};
use plugin_api::{BitMatrix, Bits, Constraint, Layout, Literal, Problem, Quadratic, Rng, rng};

/// The most bits that a problem has.
const MOST_BITS: usize = 12;

/// A problem of this number, which some point keeps all rules of.
pub fn problem(number: u64) -> Problem {
    let rng = &mut rng(number);
    let layout = loop {
        let layout = grouped(rng);
        // The rules are made so that this point keeps them.
        let hidden = layout.random(rng);
        let constraints = (0..rng.random_range(0..5)).filter_map(|_| kept_by(&hidden, rng)).collect();
        let layout = layout.with_constraints(constraints).expect("valid constraints");
        if !layout.groups().is_empty() || !layout.constraints().is_empty() {
            break layout;
        }
    };
    with_starts(function(layout.dimension(), rng), &layout, rng)
}

/// A problem of this number, which no point keeps all rules of.
pub fn unsatisfiable(number: u64) -> Problem {
    let rng = &mut rng(!number);
    loop {
        let layout = grouped(rng);
        // Rules that different points keep contradict each other now and then.
        let constraints = (0..rng.random_range(2..6)).filter_map(|_| kept_by(&layout.random(rng), rng));
        let constraints = constraints.collect();
        let layout = layout.with_constraints(constraints).expect("valid constraints");
        let problem = with_starts(function(layout.dimension(), rng), &layout, rng);
        if minimum(&problem) == f64::INFINITY {
            return problem;
        }
    }
}

/// One of a few bits, free or in groups.
fn grouped(rng: &mut Rng) -> Layout {
    let n = rng.random_range(1..=MOST_BITS);
    let mut groups: Vec<Range<usize>> = Vec::new();
    let mut next = 0;
    let (share, longest) = (rng.random_range(0..4), rng.random_range(1..6));
    while next < n {
        let length = rng.random_range(1..=longest).min(n - next);
        if rng.random_range(0..3) < share {
            groups.push(next..next + length);
        }
        next += length;
    }
    Layout::with_groups(n, groups).expect("groups in order")
}

/// A rule that this point keeps; none where the sort that is drawn leaves none.
fn kept_by(hidden: &Bits, rng: &mut Rng) -> Option<Constraint> {
    let n = hidden.len();
    let plain = rng.random::<bool>();
    let mut left: Vec<usize> = (0..n).collect();
    let mut literals = |rng: &mut Rng, count: usize| -> Vec<Literal> {
        let draw = |_| {
            let index = left.swap_remove(rng.random_range(0..left.len()));
            Literal::new(index, u32::from(plain || rng.random()))
        };
        (0..count).map(draw).collect()
    };
    let holds = |literal: &Literal| u32::from(hidden[literal.index]) == literal.level;
    let count = rng.random_range(1..=n);
    let sort = rng.random_range(0..5);
    let mut of = literals(rng, if sort == 3 { count.min(3) } else { count });
    let held = of.iter().filter(|literal| holds(literal)).count();
    Some(match sort {
        0 => Constraint::AtMost { count: held + usize::from(rng.random_range(0..3) == 0), of },
        1 => Constraint::Exactly { count: held, of },
        2 => Constraint::Fixed(Literal::new(of[0].index, u32::from(hidden[of[0].index]))),
        3 => {
            if held == of.len() {
                of[0].level = 1 - of[0].level;
            }
            Constraint::Forbidden(of)
        }
        _ => {
            let whole = rng.random::<bool>();
            let weight = |rng: &mut Rng| {
                let weight: f64 = rng.random_range(0.0..5.0);
                if whole { weight.round() } else { weight }
            };
            let weights: Vec<f64> = of.iter().map(|_| weight(rng)).collect();
            let held: f64 =
                of.iter().zip(&weights).filter(|(of, _)| holds(of)).map(|(_, weight)| weight).sum();
            let room = [0.0, 0.0, 1.0, 2.5][rng.random_range(0..4)];
            Constraint::Capacity { limit: held + room, of, weights }
        }
    })
}

/// Of several kinds: normal coefficients, whole ones, sparse, submodular, flat, and of another size.
fn function(n: usize, rng: &mut Rng) -> Quadratic {
    let f = random_quadratic(rng, n);
    let kind = rng.random_range(0..6);
    let mut change = |value: f64, pair: bool| match kind {
        1 => (2.0 * value).round(),
        2 if pair && rng.random_range(0..4) > 0 => 0.0,
        3 if pair => -value.abs(),
        4 => f64::from(u8::from(value > 1.0)),
        5 => 1e6 * value,
        _ => value,
    };
    let linear = f.linear().iter().map(|&value| change(value, false)).collect();
    let pairs = f.pairs().iter().map(|&value| change(value, true)).collect();
    Quadratic::new(change(f.constant(), false), linear, pairs).expect("finite coefficients")
}

/// Every second one with starts, which need not keep the rules.
fn with_starts(f: Quadratic, layout: &Layout, rng: &mut Rng) -> Problem {
    let mut starts = BitMatrix::new(layout.dimension());
    for _ in 0..rng.random_range(0..3) {
        starts.push(&Layout::free(layout.dimension()).random(rng));
    }
    Problem::new(f).with_layout(layout).with_starts(starts)
}
