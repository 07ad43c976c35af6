//! Where to begin: random points, the neighbours of the best starts, and points a few moves away from the best.

use plugin_api::rand::RngExt;
use plugin_api::{BitMatrix, Bits, Problem, Result, Rng};
use shared_descent::make_move;
use shared_rules::Rules;

use crate::options::Options;

/// Points that the problem admits; at least one.
pub(crate) fn candidates(problem: &Problem, options: &Options, rng: &mut Rng) -> Result<BitMatrix> {
    let mut points = BitMatrix::new(problem.dimension());
    points.extend(&shared_rules::points(problem.layout(), options.points, rng)?);
    let constrained = !problem.constraints().is_empty();
    let rules = if constrained { Some(Rules::of(problem.layout())?) } else { None };
    let starts = || problem.starts().rows().filter(|start| problem.admits(start));
    for start in starts().take(options.neighbourhoods.max(1)) {
        points.push(start);
    }
    for start in starts().take(options.neighbourhoods) {
        for i in 0..problem.dimension() {
            let mut neighbour = Bits::from(start);
            make_move(&mut neighbour, problem.groups(), i);
            if neighbour[..] != *start {
                push(problem, &mut points, &neighbour);
            }
        }
    }
    if let Some(best) = starts().next().filter(|best| !best.is_empty()) {
        for _ in 0..options.shaken {
            let mut shaken = Bits::from(best);
            for _ in 0..rng.random_range(options.fewest_moves..=options.most_moves) {
                make_move(&mut shaken, problem.groups(), rng.random_range(0..best.len()));
            }
            match &rules {
                None => points.push(&shaken),
                // A few moves break most rules; the nearest point that keeps them is a few moves away, too.
                Some(rules) => rules.near(&shaken, rng).into_iter().for_each(|near| points.push(&near)),
            }
        }
    }
    Ok(points)
}

fn push(problem: &Problem, points: &mut BitMatrix, bits: &Bits) {
    if problem.constraints().is_empty() || problem.admits(bits) {
        points.push(bits);
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::{Constraint, Layout, Literal, Quadratic, rng};

    use super::*;

    #[test]
    fn candidates_are_as_many_as_asked_for_and_all_admitted() {
        let layout = Layout::with_groups(7, vec![0..3, 4..6])
            .unwrap()
            .with_constraints(vec![Constraint::Fixed(Literal::new(6, 0))])
            .unwrap();
        let mut starts = BitMatrix::new(7);
        starts.push(&[true, false, false, true, true, false, false]);
        starts.push(&[true; 7]);
        let problem = Problem::new(Quadratic::zero(7)).with_layout(&layout).with_starts(starts);
        let options = Options { points: 10, shaken: 0, ..Options::default() };
        let points = candidates(&problem, &options, &mut rng(1)).unwrap();
        assert!(points.rows().all(|bits| problem.admits(bits)));
        // 10 random points, the admitted start, 2 and 1 moves in its groups, and the free bit 3; bit 6 is fixed.
        assert_eq!(points.len(), 10 + 1 + 2 + 1 + 1);
    }

    #[test]
    fn shaken_points_are_few_moves_away() {
        let mut starts = BitMatrix::new(40);
        starts.push(&[false; 40]);
        let problem = Problem::new(Quadratic::zero(40)).with_starts(starts);
        let options = Options { points: 1, neighbourhoods: 0, ..Options::default() };
        let points = candidates(&problem, &options, &mut rng(1)).unwrap();
        let moves: Vec<usize> =
            points.rows().skip(2).map(|bits| bits.iter().filter(|&&bit| bit).count()).collect();
        assert_eq!(moves.len(), 200);
        assert!(moves.iter().all(|&moves| moves <= 6) && moves.contains(&6) && moves.contains(&2));
    }
}
