//! Variables and rules in one form: every rule bounds a sum over the levels chosen.

use std::collections::BTreeMap;
use std::ops::Range;

use plugin_api::{Bits, Constraint, Layout, Literal, Space};

/// A level for each variable, under rules.
#[derive(Clone, Debug)]
pub struct Choices {
    /// How many levels each variable has.
    pub(super) sizes: Vec<usize>,
    pub(super) rules: Vec<Sum>,
    /// In which rules each variable stands.
    pub(super) within: Vec<Vec<usize>>,
}

/// least ≤ Σ weight of the level of each variable ≤ most, with some room for rounding.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sum {
    pub(super) terms: Vec<Term>,
    pub(super) least: f64,
    pub(super) most: f64,
}

/// What the levels of a variable weigh: those that are not here, 0.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Term {
    pub(super) variable: usize,
    pub(super) weights: Vec<(u32, f64)>,
}

impl Term {
    pub(super) fn weight(&self, level: u32) -> f64 {
        self.weights.iter().find(|(of, _)| *of == level).map_or(0.0, |(_, weight)| *weight)
    }
}

impl Sum {
    pub(super) fn holds(&self, levels: &[u32]) -> bool {
        let sum: f64 = self.terms.iter().map(|term| term.weight(levels[term.variable])).sum();
        (self.least..=self.most).contains(&sum)
    }
}

impl Choices {
    /// The variables of a space under these constraints.
    pub fn new<'a>(space: &Space, constraints: impl IntoIterator<Item = &'a Constraint>) -> Self {
        let sizes = space.variables().iter().map(|variable| variable.levels().len()).collect();
        let mut choices = Self::free(sizes);
        constraints.into_iter().for_each(|constraint| choices.add(constraint, |literal| (literal, true)));
        choices
    }

    /// A space with its own constraints.
    pub fn of_space(space: &Space) -> Self {
        Self::new(space, space.constraints())
    }

    /// The bits of a layout: a variable for each group and each bit that is in none, in their order.
    pub fn of_layout(layout: &Layout) -> Self {
        let places = places(layout);
        let size = |place: &Range<usize>| if is_group(layout, place) { place.len() } else { 2 };
        let mut choices = Self::free(places.iter().map(size).collect());
        let variable = |bit: usize| places.partition_point(|place| place.end <= bit);
        for constraint in layout.constraints() {
            choices.add(constraint, |Literal { index, level }| {
                let variable = variable(index);
                let place = &places[variable];
                match is_group(layout, place) {
                    true => (Literal::new(variable, (index - place.start) as u32), level == 1),
                    false => (Literal::new(variable, level), true),
                }
            });
        }
        choices
    }

    fn free(sizes: Vec<usize>) -> Self {
        Self { within: vec![Vec::new(); sizes.len()], sizes, rules: Vec::new() }
    }

    /// With another constraint; `means` has what each of its literals says, and whether it says so or denies it.
    fn add(&mut self, constraint: &Constraint, means: impl Fn(Literal) -> (Literal, bool)) {
        let of = constraint.literals();
        let (weights, least, most) = match constraint {
            Constraint::AtMost { count, .. } => (vec![1.0; of.len()], f64::NEG_INFINITY, *count as f64),
            Constraint::Exactly { count, .. } => (vec![1.0; of.len()], *count as f64, *count as f64),
            Constraint::Fixed(_) => (vec![1.0], 1.0, 1.0),
            Constraint::Forbidden(_) => (vec![1.0; of.len()], f64::NEG_INFINITY, of.len() as f64 - 1.0),
            Constraint::Capacity { limit, weights, .. } => {
                (weights.clone(), f64::NEG_INFINITY, limit + constraint.rounding())
            }
            unknown => unreachable!("a rule that this host does not know: {unknown}"),
        };
        let mut terms: BTreeMap<usize, Vec<(u32, f64)>> = BTreeMap::new();
        let mut constant = 0.0;
        for (&literal, weight) in of.iter().zip(weights) {
            let (Literal { index, level }, so) = means(literal);
            if !so {
                constant += weight;
            }
            let weight = if so { weight } else { -weight };
            let weights = terms.entry(index).or_default();
            match weights.iter_mut().find(|(of, _)| *of == level) {
                Some((_, sum)) => *sum += weight,
                None => weights.push((level, weight)),
            }
        }
        let terms: Vec<Term> =
            terms.into_iter().map(|(variable, weights)| Term { variable, weights }).collect();
        terms.iter().for_each(|term| self.within[term.variable].push(self.rules.len()));
        self.rules.push(Sum { terms, least: least - constant, most: most - constant });
    }

    /// Whether these levels keep all rules.
    pub fn admits(&self, levels: &[u32]) -> bool {
        self.rules.iter().all(|rule| rule.holds(levels))
    }

    /// How many variables there are.
    pub fn variables(&self) -> usize {
        self.sizes.len()
    }
}

/// The bits that say the level of each variable of a layout: a group, or a single bit.
fn places(layout: &Layout) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    let mut next = 0;
    for group in layout.groups() {
        places.extend((next..group.start).map(|bit| bit..bit + 1));
        places.push(group.clone());
        next = group.end;
    }
    places.extend((next..layout.dimension()).map(|bit| bit..bit + 1));
    places
}

fn is_group(layout: &Layout, place: &Range<usize>) -> bool {
    place.len() > 1 || layout.groups().contains(place)
}

/// The bits of these levels of [`Choices::of_layout`].
pub fn bits_of(layout: &Layout, levels: &[u32]) -> Bits {
    let mut bits = Bits::zeros(layout.dimension());
    for (place, &level) in places(layout).iter().zip(levels) {
        match is_group(layout, place) {
            true => bits[place.start + level as usize] = true,
            false => bits[place.start] = level == 1,
        }
    }
    bits
}

#[cfg(test)]
pub(super) mod tests {
    use plugin_api::rand::RngExt;
    use plugin_api::{Rng, Variable, rng};

    use super::*;

    /// Up to six variables of one to four levels, with up to five rules of all sorts.
    pub(crate) fn random_space(seed: u64) -> Space {
        let rng = &mut rng(seed);
        let variable = |i: usize, rng: &mut Rng| {
            let levels = rng.random_range(1..=4);
            Variable::categorical(format!("v{i}"), (0..levels).map(|level: u32| level.to_string()))
        };
        let variables = (0..rng.random_range(1..=6)).map(|i| variable(i, rng)).collect();
        let space = Space::new(variables).unwrap();
        let mut constraints = Vec::new();
        for _ in 0..rng.random_range(0..=5) {
            let mut of: Vec<Literal> = Vec::new();
            for (index, variable) in space.variables().iter().enumerate() {
                let levels = 0..variable.levels().len() as u32;
                of.extend(levels.filter(|_| rng.random_bool(0.4)).map(|level| Literal::new(index, level)));
            }
            if of.is_empty() {
                continue;
            }
            let count = rng.random_range(0..=of.len().min(4));
            constraints.push(match rng.random_range(0..5) {
                0 => Constraint::AtMost { count, of },
                1 => Constraint::Exactly { count, of },
                2 => Constraint::Fixed(of[0]),
                3 => Constraint::Forbidden(of),
                _ => {
                    let weights = of.iter().map(|_| f64::from(rng.random_range(0..=9u8)) / 2.0).collect();
                    Constraint::Capacity { limit: f64::from(rng.random_range(0..=12u8)) / 2.0, of, weights }
                }
            });
        }
        space.with_constraints(constraints).unwrap()
    }

    /// Every point of some sizes.
    pub(crate) fn all_points(sizes: &[usize]) -> Vec<Vec<u32>> {
        sizes.iter().fold(vec![vec![]], |points, &size| {
            let longer =
                |point: Vec<u32>| (0..size as u32).map(move |level| [point.clone(), vec![level]].concat());
            points.into_iter().flat_map(longer).collect()
        })
    }

    #[test]
    fn sums_admit_what_the_constraints_admit() {
        for seed in 0..300 {
            let space = random_space(seed);
            let choices = Choices::of_space(&space);
            for point in all_points(&choices.sizes) {
                assert_eq!(
                    choices.admits(&point),
                    space.admits(&point.clone().into()),
                    "{space:?} {point:?}"
                );
            }
        }
    }

    #[test]
    fn a_layout_has_a_variable_for_each_group_and_each_other_bit() {
        let groups = vec![1..4, 4..5, 6..8];
        let of = |all: &[(usize, u32)]| all.iter().map(|&(bit, level)| Literal::new(bit, level)).collect();
        let rules = vec![
            Constraint::AtMost { count: 1, of: of(&[(0, 1), (2, 0), (6, 1), (5, 0)]) },
            Constraint::Forbidden(of(&[(3, 0), (7, 0)])),
        ];
        let layout = Layout::with_groups(9, groups).unwrap().with_constraints(rules).unwrap();
        let choices = Choices::of_layout(&layout);
        assert_eq!(choices.sizes, [2, 3, 1, 2, 2, 2]);
        let points = all_points(&choices.sizes);
        assert_eq!(points.len(), 2 * 3 * 2 * 2 * 2);
        for levels in points {
            let bits = bits_of(&layout, &levels);
            assert!(layout.keeps_groups(&bits));
            assert_eq!(choices.admits(&levels), layout.admits(&bits), "{levels:?} {bits}");
        }
    }
}
