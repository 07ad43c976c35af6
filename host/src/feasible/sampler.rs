//! Points drawn from all that a space admits.

use plugin_api::{Point, Rng, Space, rng};

use super::choices::Choices;
use super::counted::Counted;
use super::walk;

/// Random points that are looked at before it is decided how points are drawn.
const PROBES: usize = 1000;
/// How many of them have to keep the rules for all others to be drawn like them.
const ENOUGH: usize = 20;

/// Draws points of a space.
pub struct Sampler<'a> {
    space: &'a Space,
    way: Way,
    log_count: Option<f64>,
}

/// How points are drawn.
enum Way {
    /// Levels at random, until all rules are kept: exactly uniform.
    Rejection,
    /// By the number of points that each level leaves: exactly uniform.
    Counted(Choices),
    /// By walks among the points that keep the rules: nearly uniform.
    Walk(Choices),
}

impl<'a> Sampler<'a> {
    /// Decides by the space alone how its points are drawn.
    pub fn new(space: &'a Space) -> Self {
        let choices = Choices::of_space(space);
        let log_count = Counted::new(&choices).map(|counted| counted.log_count());
        let rng = &mut rng(0);
        let mut probes = || (0..PROBES).filter(|_| space.admits(&space.random_point(rng))).count();
        let way = if space.constraints().is_empty() || probes() >= ENOUGH {
            Way::Rejection
        } else if log_count.is_some() {
            Way::Counted(choices)
        } else {
            Way::Walk(choices)
        };
        Self { space, way, log_count }
    }

    /// Whether every point is exactly as likely as any other.
    pub fn is_uniform(&self) -> bool {
        !matches!(self.way, Way::Walk(_))
    }

    /// How many points keep the rules, where that is known; as many as fit, where there are more.
    pub fn count(&self) -> Option<usize> {
        self.log_count.map(|log| libm::round(libm::exp(log)) as usize)
    }

    /// An endless row of points, or one that ends where none can be found.
    pub fn draws<'s>(&'s self, rng: &'s mut Rng) -> Box<dyn Iterator<Item = Point> + 's> {
        match &self.way {
            Way::Rejection => {
                let random = std::iter::repeat_with(|| self.space.random_point(rng));
                Box::new(random.filter(|point| self.space.admits(point)))
            }
            Way::Counted(choices) => {
                let counted = Counted::new(choices).expect("it was counted before");
                let draws = std::iter::from_fn(move || counted.draw(rng).map(Point::from));
                Box::new(draws.filter(|point| self.space.admits(point)))
            }
            Way::Walk(choices) => {
                Box::new(std::iter::from_fn(move || walk::draw(choices, rng).map(Point::from)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use plugin_api::{Constraint, Literal, Variable};

    use super::*;

    fn exactly(count: usize, of: usize) -> Space {
        let of = (0..of).map(|i| Literal::new(i, 1)).collect();
        Space::binary(20).with_constraints(vec![Constraint::Exactly { count, of }]).unwrap()
    }

    #[test]
    fn ten_thousand_points_of_three_in_twenty_are_uniform() {
        let space = exactly(3, 20);
        let sampler = Sampler::new(&space);
        assert!(sampler.is_uniform() && matches!(sampler.way, Way::Counted(_)));
        assert_eq!(sampler.count(), Some(1140));
        let mut counts: BTreeMap<Point, f64> = BTreeMap::new();
        for point in sampler.draws(&mut rng(1)).take(10_000) {
            assert_eq!(point.iter().sum::<u32>(), 3);
            *counts.entry(point).or_default() += 1.0;
        }
        let expected = 10_000.0 / 1140.0;
        let squares = counts.values().map(|count| (count - expected) * (count - expected) / expected);
        let unseen = (1140 - counts.len()) as f64 * expected;
        let statistic = squares.sum::<f64>() + unseen;
        // χ² with 1139 degrees of freedom: 1030 to 1254 are the quantiles of 0.01 and 0.99.
        assert!((1030.0..1254.0).contains(&statistic), "{statistic}");
    }

    #[test]
    fn what_random_points_keep_now_and_then_is_drawn_like_them() {
        let space = exactly(1, 4);
        let sampler = Sampler::new(&space);
        assert!(matches!(sampler.way, Way::Rejection));
        assert_eq!(sampler.count(), Some(4 << 16));
        assert!(sampler.draws(&mut rng(1)).take(100).all(|point| space.admits(&point)));
    }

    #[test]
    fn what_cannot_be_counted_is_walked_and_said_to_be() {
        let thing = |i: usize| Variable::categorical(format!("t{i}"), (0..30).map(|place| place.to_string()));
        let place =
            |level| Constraint::AtMost { count: 1, of: (0..30).map(|i| Literal::new(i, level)).collect() };
        let space = Space::new((0..30).map(thing).collect()).unwrap();
        let space = space.with_constraints((0..30).map(place).collect()).unwrap();
        let sampler = Sampler::new(&space);
        assert!(!sampler.is_uniform() && sampler.count().is_none());
        assert!(sampler.draws(&mut rng(1)).take(3).all(|point| space.admits(&point)));
    }
}
