//! The first points, before there is anything to learn from.

use std::collections::BTreeSet;

use plugin_api::{Point, Rng, Space, rng};

use super::TrialError;
use crate::feasible::{Choices, Found, Sampler, WORK, search, shuffle};
use crate::manifest::Settings;
use crate::manifest::keys::initial::Design;
use crate::plan::{GivenPoint, Seeds};

/// Draws in a row that are there already, before the first point that is not is searched for.
const MOST_MISSES: usize = 100_000;
/// Points of which a balanced design takes the one with the levels that it has least of.
const CANDIDATES: usize = 30;

/// The points to be evaluated first: given ones without a known result, then, up to `budget.initial` with all that are given,
/// points that the space admits. All are different.
pub(super) fn initial_design(
    space: &Space,
    keys: &Settings,
    given: &[GivenPoint],
    seeds: &Seeds,
) -> Result<Vec<Point>, TrialError> {
    let rng = &mut rng(seeds.initial_design());
    let sampler = Sampler::new(space);
    let known = given.iter().map(|given| given.point.clone()).collect();
    let open = given.iter().filter(|given| given.known.is_none());
    let all: Vec<Point> = open.map(|given| given.point.clone()).collect();
    let count = all.len() + keys.budget.initial.saturating_sub(given.len());
    let mut points = Points { space, all, known };
    match keys.initial.design {
        Design::Uniform => points.fill(count, &mut *sampler.draws(rng))?,
        Design::Balanced if space.constraints().is_empty() => {
            let mut columns = Columns::new(space);
            for _ in points.all.len()..count {
                points.add(columns.next(&points.known, rng));
            }
            points.fill(count, &mut *sampler.draws(rng))?;
        }
        Design::Balanced => {
            let mut draws = sampler.draws(rng);
            let mut used: Vec<Vec<usize>> =
                space.variables().iter().map(|variable| vec![0; variable.levels().len()]).collect();
            while points.all.len() < count {
                let before = points.all.len();
                let candidates =
                    draws.by_ref().take(CANDIDATES).filter(|point| !points.known.contains(point));
                // Each level counts as often as it was used, so that those of common levels weigh less than rare ones.
                let uses = |point: &Point| -> usize {
                    used.iter().zip(point.iter()).map(|(used, &level)| used[level as usize]).sum()
                };
                match candidates.min_by_key(uses) {
                    Some(point) => points.add(point),
                    None => points.fill(before + 1, &mut *draws)?,
                }
                for (used, &level) in used.iter_mut().zip(points.all[before].iter()) {
                    used[level as usize] += 1;
                }
            }
        }
    }
    Ok(points.all)
}

/// Points, each once.
struct Points<'a> {
    space: &'a Space,
    all: Vec<Point>,
    known: BTreeSet<Point>,
}

impl Points<'_> {
    fn add(&mut self, point: Point) {
        if self.known.insert(point.clone()) {
            self.all.push(point);
        }
    }

    /// Takes draws until there are `count` points; where nothing new is drawn, what a search finds.
    fn fill(&mut self, count: usize, draws: &mut dyn Iterator<Item = Point>) -> Result<(), TrialError> {
        let mut misses = 0;
        while self.all.len() < count {
            let before = self.all.len();
            match draws.next() {
                Some(point) if misses < MOST_MISSES => self.add(point),
                _ => self.search(count)?,
            }
            misses = if self.all.len() > before { 0 } else { misses + 1 };
        }
        Ok(())
    }

    fn search(&mut self, count: usize) -> Result<(), TrialError> {
        let wanted = &mut |levels: &[u32]| !self.known.contains(&Point::from(levels.to_vec()));
        let why = match search(&Choices::of_space(self.space), WORK, wanted) {
            Found::Point(levels) => {
                self.add(Point::from(levels));
                return Ok(());
            }
            Found::Nothing => "no other point keeps the constraints",
            Found::GaveUp => "no other point that keeps the constraints was found",
        };
        Err(TrialError::InitialDesign(format!(
            "only {} of {count} initial points are there: {why}",
            self.all.len()
        )))
    }
}

/// Points in which each variable goes through all its levels, in a random order each time: after any number of points no
/// level was used more than once more than another.
struct Columns<'a> {
    space: &'a Space,
    left: Vec<Vec<u32>>,
}

impl<'a> Columns<'a> {
    fn new(space: &'a Space) -> Self {
        Self { space, left: vec![Vec::new(); space.dimension()] }
    }

    /// The next point, one that is not known where a few tries find it.
    fn next(&mut self, known: &BTreeSet<Point>, rng: &mut Rng) -> Point {
        const TRIES: usize = 30;
        for _ in 1..TRIES {
            let point = self.draw(rng);
            if !known.contains(&point) {
                return point;
            }
            for (left, &level) in self.left.iter_mut().zip(point.iter()) {
                left.push(level);
                shuffle(left, rng);
            }
        }
        self.draw(rng)
    }

    fn draw(&mut self, rng: &mut Rng) -> Point {
        let variables = self.space.variables().iter().zip(&mut self.left);
        let level = |(variable, left): (&plugin_api::Variable, &mut Vec<u32>)| {
            if left.is_empty() {
                left.extend(0..variable.levels().len() as u32);
                shuffle(left, rng);
            }
            left.pop().expect("a variable has a level")
        };
        variables.map(level).collect()
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::{Constraint, Literal, Variable};

    use super::*;

    fn keys(count: usize, design: Design) -> Settings {
        let keys = serde_json::json!({ "budget": { "initial": count, "evaluations": 1 }, "initial": { "design": design } });
        serde_json::from_value(keys).unwrap()
    }

    fn design(space: &Space, count: usize, design: Design, seed: u64) -> Vec<Point> {
        initial_design(space, &keys(count, design), &[], &Seeds::new("x", seed)).unwrap()
    }

    fn exactly(count: usize, of: usize) -> Space {
        let literals = (0..of).map(|variable| Literal::new(variable, 1)).collect();
        Space::binary(of).with_constraints(vec![Constraint::Exactly { count, of: literals }]).unwrap()
    }

    fn mixed() -> Space {
        let levels = |count: usize| (0..count).map(|level| format!("l{level}"));
        Space::new(vec![
            Variable::categorical("a", levels(5)),
            Variable::binary("b"),
            Variable::categorical("c", levels(3)),
            Variable::categorical("d", levels(1)),
            Variable::categorical("e", levels(7)),
        ])
        .unwrap()
    }

    #[test]
    fn the_points_differ_even_when_they_are_all_there_are() {
        for way in [Design::Uniform, Design::Balanced] {
            for space in [Space::binary(3), exactly(1, 8), exactly(7, 8)] {
                let design = design(&space, 8, way, 1);
                assert_eq!(design.iter().collect::<BTreeSet<_>>().len(), 8);
                assert!(design.iter().all(|point| space.admits(point)));
            }
        }
    }

    #[test]
    fn another_seed_is_another_design_and_a_longer_one_starts_the_same() {
        for way in [Design::Uniform, Design::Balanced] {
            for space in [Space::binary(20), exactly(3, 20)] {
                let ten = design(&space, 10, way, 1);
                assert_ne!(ten, design(&space, 10, way, 2));
                assert_eq!(ten, design(&space, 20, way, 1)[..10]);
            }
        }
    }

    #[test]
    fn every_point_keeps_the_constraints_and_too_few_of_them_are_an_error() {
        let space = exactly(1, 6);
        let all = design(&space, 6, Design::Uniform, 1);
        assert!(all.iter().all(|point| point.iter().sum::<u32>() == 1));
        for way in [Design::Uniform, Design::Balanced] {
            let error =
                initial_design(&space, &keys(7, way), &[], &Seeds::new("x", 1)).unwrap_err().to_string();
            assert_eq!(error, "only 6 of 7 initial points are there: no other point keeps the constraints");
        }
    }

    fn uses(design: &[Point], variable: usize, levels: usize) -> Vec<usize> {
        let mut uses = vec![0; levels];
        design.iter().for_each(|point| uses[point[variable] as usize] += 1);
        uses
    }

    #[test]
    fn a_balanced_design_has_each_level_equally_often_but_for_one() {
        let space = mixed();
        for count in [7, 10, 30] {
            let design = design(&space, count, Design::Balanced, 3);
            for (i, variable) in space.variables().iter().enumerate() {
                let uses = uses(&design, i, variable.levels().len());
                let (least, most) = (uses.iter().min().unwrap(), uses.iter().max().unwrap());
                assert!(most - least <= 1, "{uses:?} of {count}");
            }
        }
    }

    #[test]
    fn under_constraints_a_balanced_design_is_more_even_than_a_uniform_one() {
        let space = exactly(3, 20);
        let spread = |way: Design| -> usize {
            let squares = |seed: u64| {
                let design = design(&space, 40, way, seed);
                (0..20).map(|i| uses(&design, i, 2)[1]).map(|used| used * used).sum::<usize>()
            };
            (0..10).map(squares).sum()
        };
        // 120 choices over 20 variables: 720 in squares where each is used six times.
        let (balanced, uniform) = (spread(Design::Balanced), spread(Design::Uniform));
        assert!(balanced < 7400 && uniform > 7600, "{balanced} and {uniform}");
    }

    #[test]
    fn what_is_given_counts_and_is_not_chosen_again() {
        let given = |levels: [u32; 3], known: Option<f64>| GivenPoint {
            point: levels.to_vec().into(),
            known: known.map(crate::plan::points::Known::Value),
        };
        let all = [given([0, 0, 1], Some(1.0)), given([1, 1, 1], None), given([0, 1, 1], None)];
        for way in [Design::Uniform, Design::Balanced] {
            let design = |count| {
                initial_design(&Space::binary(3), &keys(count, way), &all, &Seeds::new("x", 1)).unwrap()
            };
            let eight = design(8);
            assert_eq!(eight[..2], [all[1].point.clone(), all[2].point.clone()]);
            let points: BTreeSet<&Point> = eight.iter().collect();
            assert!(eight.len() == 7 && points.len() == 7 && !points.contains(&all[0].point));
            // More than asked for: those without a value are evaluated all the same.
            assert_eq!(design(1), eight[..2]);
        }
    }
}
