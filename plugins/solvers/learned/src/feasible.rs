//! Random points that keep all rules.

use std::ops::Range;

use plugin_api::rand::RngExt;
use plugin_api::{Bits, Constraint, Error, Literal, Problem, Result, Rng};
use shared_descent::make_move;

/// Random points tried for each that is asked for before the last of them is mended.
const TRIES: usize = 20;
/// Moves of a walk that mends a point, for each bit.
const MOVES: usize = 20;

/// This many points that the problem admits. Each is uniform where a random point keeps the rules now and then; where hardly
/// any does, it is one that a walk mended. Where walks end nowhere either, the problem's starts are taken; at least one
/// point is answered.
pub(crate) fn points(problem: &Problem, count: usize, rng: &mut Rng) -> Result<Vec<Bits>> {
    let mut points: Vec<Bits> = (0..count).filter_map(|_| point(problem, rng)).collect();
    if points.is_empty() {
        let starts = problem.starts().rows().filter(|start| problem.admits(start));
        points.extend(starts.take(count).map(Bits::from));
    }
    if points.is_empty() {
        return Err(Error::new(format!(
            "{count} walks from random points found none that keeps all rules, nor is one among the starts"
        )));
    }
    Ok(points)
}

fn point(problem: &Problem, rng: &mut Rng) -> Option<Bits> {
    let mut bits = problem.layout().random(rng);
    for _ in 1..TRIES {
        if problem.admits(&bits) {
            return Some(bits);
        }
        bits = problem.layout().random(rng);
    }
    mend(problem, &mut bits, rng).then_some(bits)
}

/// Walks to a point without a broken rule: each move mends a random one, half of the moves so that the fewest are broken
/// then.
fn mend(problem: &Problem, bits: &mut Bits, rng: &mut Rng) -> bool {
    let rules = problem.constraints();
    let broken = |bits: &Bits| -> Vec<&Constraint> {
        rules.iter().filter(|rule| !rule.holds(|i| u32::from(bits[i]))).collect()
    };
    for _ in 0..=MOVES * bits.len() {
        let rules = broken(bits);
        if rules.is_empty() {
            return true;
        }
        let rule = rules[rng.random_range(0..rules.len())];
        let literals = mending(rule, bits);
        if literals.is_empty() {
            return false;
        }
        let mut chosen = turned(bits, problem.groups(), literals[rng.random_range(0..literals.len())], rng);
        if rng.random() {
            for &literal in &literals {
                let other = turned(bits, problem.groups(), literal, rng);
                if broken(&other).len() < broken(&chosen).len() {
                    chosen = other;
                }
            }
        }
        *bits = chosen;
    }
    false
}

/// The literals of a broken rule of which one should change.
fn mending(rule: &Constraint, bits: &Bits) -> Vec<Literal> {
    let holds = |literal: &Literal| u32::from(bits[literal.index]) == literal.level;
    let all = rule.literals();
    let holding = all.iter().filter(|literal| holds(literal)).count();
    let too_few = match rule {
        Constraint::Exactly { count, .. } => holding < *count,
        Constraint::Fixed(_) => true,
        _ => false,
    };
    all.iter().copied().filter(|literal| holds(literal) != too_few).collect()
}

/// The point with this bit turned over: chosen in its group, or another chosen instead.
fn turned(bits: &Bits, groups: &[Range<usize>], literal: Literal, rng: &mut Rng) -> Bits {
    let mut turned = bits.clone();
    let mut to = literal.index;
    if let Some(group) = groups.iter().find(|group| group.contains(&to)).filter(|_| bits[to])
        && group.len() > 1
    {
        let other = rng.random_range(group.start..group.end - 1);
        to = if other < to { other } else { other + 1 };
    }
    make_move(&mut turned, groups, to);
    turned
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use plugin_api::{BitMatrix, Layout, Quadratic, rng};

    use super::*;

    fn problem(layout: Layout) -> Problem {
        Problem::new(Quadratic::zero(layout.dimension())).with_layout(&layout)
    }

    fn of(all: impl IntoIterator<Item = usize>) -> Vec<Literal> {
        all.into_iter().map(|i| Literal::new(i, 1)).collect()
    }

    #[test]
    fn points_are_uniform_where_random_ones_keep_the_rules() {
        let rule = Constraint::AtMost { count: 1, of: of(0..3) };
        let problem = problem(Layout::free(4).with_constraints(vec![rule]).unwrap());
        let mut counts: BTreeMap<Bits, usize> = BTreeMap::new();
        for point in points(&problem, 8000, &mut rng(1)).unwrap() {
            assert!(problem.admits(&point));
            *counts.entry(point).or_default() += 1;
        }
        // 4 of the 8 points of three bits, times 2: 1,000 each, with a deviation of 30.
        assert!(counts.len() == 8 && counts.values().all(|count| (870..1130).contains(count)), "{counts:?}");
    }

    #[test]
    fn tight_rules_are_kept_by_mended_points() {
        let grouped = Layout::with_groups(60, vec![0..10, 10..20, 20..30]).unwrap();
        let rules = vec![
            Constraint::Exactly { count: 2, of: of(20..60) },
            Constraint::AtMost { count: 0, of: of(0..9) },
            Constraint::Fixed(Literal::new(15, 1)),
            Constraint::Forbidden(vec![Literal::new(9, 1), Literal::new(40, 0)]),
            Constraint::Exactly { count: 1, of: vec![Literal::new(41, 0), Literal::new(42, 0)] },
        ];
        // 0 to 8 never, so 9, so 40; of 20 to 59 one in the group and 40: but one of 41 and 42 is set.
        let impossible = problem(grouped.clone().with_constraints(rules.clone()).unwrap());
        assert!(points(&impossible, 3, &mut rng(1)).unwrap_err().to_string().contains("keeps all rules"));
        let mut rules = rules;
        rules[0] = Constraint::Exactly { count: 3, of: of(20..60) };
        let possible = problem(grouped.with_constraints(rules).unwrap());
        let found = points(&possible, 20, &mut rng(1)).unwrap();
        assert!(found.len() >= 15 && found.iter().all(|point| possible.admits(point)), "{}", found.len());
        let distinct: std::collections::BTreeSet<_> = found.iter().collect();
        assert!(distinct.len() > 5);
    }

    #[test]
    fn starts_are_the_last_resort() {
        // Two rules of which a walk mends one by breaking the other, nearly always.
        let parity = |of: Vec<Literal>| Constraint::Exactly { count: 20, of };
        let layout = Layout::free(40).with_constraints(vec![parity(of(0..40)), parity(of(20..40))]).unwrap();
        let mut start = vec![false; 40];
        start[20..].fill(true);
        let mut starts = BitMatrix::new(40);
        starts.push(&[true; 40]);
        starts.push(&start);
        let problem = problem(layout).with_starts(starts);
        for point in points(&problem, 5, &mut rng(1)).unwrap() {
            assert_eq!(point, Bits::from(start.clone()));
        }
    }
}
