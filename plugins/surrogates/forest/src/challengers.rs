//! SMAC's search for points of large expected improvement: the best of many random points and the best known ones, each
//! improved by local search.

use std::collections::BTreeSet;

use plugin_api::rand::RngExt;
use plugin_api::{Bits, Layout, Rng};
use shared_variables::Variables;

/// Uniformly random points, of which the best are starts.
const CANDIDATES: usize = 10_000;
/// Draws for one of them where a layout has constraints, on average, before fewer of them do.
const DRAWS: usize = 10;
/// Starts from the random points, and from the known ones each.
const STARTS: usize = 10;
/// Steps that a local search takes to points that are as good, in all.
const PLATEAU_STEPS: usize = 10;

/// Where to search, and for what.
pub(crate) struct Search<'s> {
    pub(crate) layout: &'s Layout,
    pub(crate) variables: &'s Variables,
    /// Large is good.
    pub(crate) improvement: &'s dyn Fn(&[u32]) -> f64,
    /// What is predicted; low is good.
    pub(crate) cost: &'s dyn Fn(&[u32]) -> f64,
}

impl Search<'_> {
    /// What the local searches found, the best first; the same point as often as it was found.
    pub(crate) fn challengers(&self, known: BTreeSet<Bits>, rng: &mut Rng) -> Vec<Bits> {
        let found = self.starts(known, rng).into_iter().map(|start| self.climb(start, rng));
        let mut found: Vec<_> = found.map(|(improvement, levels)| (-improvement, levels)).collect();
        sort_with_random_ties(&mut found, rng);
        found.into_iter().map(|(_, levels)| self.variables.to_bits(&levels)).collect()
    }

    /// The random points of the largest improvement and the known ones of the lowest cost, each once. Random points stand in
    /// for known ones where these are few.
    fn starts(&self, known: BTreeSet<Bits>, rng: &mut Rng) -> Vec<Vec<u32>> {
        let mut known: Vec<_> = known
            .into_iter()
            .map(|bits| self.variables.of_bits(&bits))
            .map(|levels| ((self.cost)(&levels), levels))
            .collect();
        sort_with_random_ties(&mut known, rng);
        known.truncate(STARTS);
        let missing = STARTS - known.len();
        let mut random = self.random_points(missing + CANDIDATES, rng).into_iter();
        let fill: Vec<Vec<u32>> = random.by_ref().take(missing).collect();
        let mut random: Vec<_> = random.map(|levels| (-(self.improvement)(&levels), levels)).collect();
        sort_with_random_ties(&mut random, rng);
        random.truncate(STARTS);
        let mut starts = Vec::new();
        for start in fill.into_iter().chain(known.into_iter().chain(random).map(|(_, levels)| levels)) {
            if !starts.contains(&start) {
                starts.push(start);
            }
        }
        starts
    }

    /// This many uniformly random points that the layout admits; fewer where these are rare.
    fn random_points(&self, count: usize, rng: &mut Rng) -> Vec<Vec<u32>> {
        let points = (0..DRAWS * count).map(|_| self.layout.random(rng));
        let admitted = points.filter(|bits| self.layout.admits(bits)).take(count);
        admitted.map(|bits| self.variables.of_bits(&bits)).collect()
    }

    /// Goes to the first better neighbour, in random order, as long as there is one; else to the first that is as good, a few
    /// times in all. Answers the improvement and the point.
    fn climb(&self, mut here: Vec<u32>, rng: &mut Rng) -> (f64, Vec<u32>) {
        let mut best = (self.improvement)(&here);
        let mut plateau_steps = 0;
        while plateau_steps < PLATEAU_STEPS {
            let (mut better, mut equal) = (None, None);
            for (variable, level) in self.moves(&here, rng) {
                let old = std::mem::replace(&mut here[variable], level);
                if self.admits(&here) {
                    let improvement = (self.improvement)(&here);
                    if improvement > best {
                        better = Some(improvement);
                        break;
                    }
                    if improvement == best && equal.is_none() {
                        equal = Some((variable, level));
                    }
                }
                here[variable] = old;
            }
            match (better, equal) {
                (Some(improvement), _) => best = improvement,
                (None, Some((variable, level))) => {
                    here[variable] = level;
                    plateau_steps += 1;
                }
                (None, None) => break,
            }
        }
        (best, here)
    }

    fn admits(&self, levels: &[u32]) -> bool {
        // Levels keep the groups.
        self.layout.constraints().is_empty() || self.layout.admits(&self.variables.to_bits(levels))
    }

    /// Every other level of every variable, in random order: each time, all variables with levels left are as likely.
    fn moves(&self, here: &[u32], rng: &mut Rng) -> Vec<(usize, u32)> {
        let mut left: Vec<(usize, Vec<u32>)> = Vec::new();
        for (v, variable) in self.variables.iter().enumerate() {
            let mut levels: Vec<u32> = (0..variable.levels() as u32).filter(|&l| l != here[v]).collect();
            shuffle(&mut levels, rng);
            if !levels.is_empty() {
                left.push((v, levels));
            }
        }
        let mut moves = Vec::new();
        while !left.is_empty() {
            let chosen = rng.random_range(0..left.len());
            let (variable, levels) = &mut left[chosen];
            moves.extend(levels.pop().map(|level| (*variable, level)));
            if levels.is_empty() {
                left.swap_remove(chosen);
            }
        }
        moves
    }
}

/// The lowest first, equal ones in random order.
fn sort_with_random_ties<T>(items: &mut [(f64, T)], rng: &mut Rng) {
    shuffle(items, rng);
    items.sort_by(|(one, _), (two, _)| one.total_cmp(two));
}

pub(crate) fn shuffle<T>(items: &mut [T], rng: &mut Rng) {
    for i in (1..items.len()).rev() {
        items.swap(i, rng.random_range(0..=i));
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::{Constraint, Literal, rng};

    use super::*;

    fn layout() -> Layout {
        Layout::with_groups(12, vec![2..5, 7..11]).unwrap()
    }

    fn observed(layout: &Layout, count: usize) -> BTreeSet<Bits> {
        let rng = &mut rng(8);
        let points = (0..1000).map(|_| layout.random(rng)).filter(|bits| layout.admits(bits));
        points.take(count).collect()
    }

    /// A number that looks random, the same for the same levels.
    fn rugged(levels: &[u32]) -> f64 {
        let hash = levels.iter().fold(17u64, |hash, &level| {
            (hash ^ u64::from(level)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
        });
        (hash >> 11) as f64
    }

    fn neighbours(search: &Search<'_>, levels: &[u32]) -> Vec<Vec<u32>> {
        let mut neighbours = Vec::new();
        for (v, variable) in search.variables.iter().enumerate() {
            for level in (0..variable.levels() as u32).filter(|&level| level != levels[v]) {
                let mut other = levels.to_vec();
                other[v] = level;
                neighbours.push(other);
            }
        }
        neighbours.retain(|other| search.layout.admits(&search.variables.to_bits(other)));
        neighbours
    }

    #[test]
    fn without_plateaus_all_that_is_found_is_a_local_maximum_and_the_best_is_first() {
        let rule = Constraint::Forbidden(vec![Literal::new(0, 1), Literal::new(1, 1)]);
        for layout in [layout(), layout().with_constraints(vec![rule]).unwrap()] {
            let variables = Variables::of(&layout);
            let search =
                Search { layout: &layout, variables: &variables, improvement: &rugged, cost: &rugged };
            let found = search.challengers(observed(&layout, 30), &mut rng(1));
            assert!(!found.is_empty() && found.iter().all(|bits| layout.admits(bits)));
            let values: Vec<f64> = found.iter().map(|bits| rugged(&variables.of_bits(bits))).collect();
            assert!(values.is_sorted_by(|one, two| one >= two));
            for bits in &found {
                let levels = variables.of_bits(bits);
                let best = neighbours(&search, &levels).iter().map(|other| rugged(other)).fold(0.0, f64::max);
                assert!(best < rugged(&levels), "{bits} has a better neighbour");
            }
        }
    }

    #[test]
    fn starts_are_the_ten_best_random_points_and_the_ten_cheapest_known_ones() {
        let layout = Layout::free(40);
        let variables = Variables::of(&layout);
        let ones = |levels: &[u32]| levels.iter().sum::<u32>() as f64;
        let zeros = |levels: &[u32]| 40.0 - ones(levels);
        let known = observed(&layout, 30);
        let search = Search { layout: &layout, variables: &variables, improvement: &ones, cost: &zeros };
        let starts = search.starts(known.clone(), &mut rng(1));
        assert_eq!(starts.len(), 20);
        let mut counts: Vec<f64> = known.iter().map(|bits| bits.count_ones() as f64).collect();
        counts.sort_by(|one, two| two.total_cmp(one));
        let cheapest: Vec<f64> = starts[..10].iter().map(|levels| ones(levels)).collect();
        assert_eq!(cheapest, counts[..10]);
        assert!(starts[..10].iter().all(|levels| known.contains(&variables.to_bits(levels))));
        // Of 10,000 draws from Bin(40, ½), 32 are expected to be 29 or more.
        assert!(starts[10..].iter().all(|levels| ones(levels) >= 29.0));
    }

    #[test]
    fn random_points_stand_in_for_known_ones_where_these_are_few() {
        let layout = Layout::free(40);
        let variables = Variables::of(&layout);
        let search = Search { layout: &layout, variables: &variables, improvement: &rugged, cost: &rugged };
        for known in [0, 1, 9, 10, 11] {
            assert_eq!(search.starts(observed(&layout, known), &mut rng(1)).len(), 20, "{known}");
        }
    }

    #[test]
    fn on_a_plateau_ten_steps_are_taken() {
        let layout = Layout::free(400);
        let variables = Variables::of(&layout);
        let search = Search { layout: &layout, variables: &variables, improvement: &|_| 1.0, cost: &rugged };
        let distances: BTreeSet<u32> =
            (0..20).map(|seed| search.climb(vec![0; 400], &mut rng(seed)).1.iter().sum()).collect();
        // A step back makes it two less.
        assert!(distances.contains(&10) && distances.iter().all(|d| d % 2 == 0 && *d <= 10), "{distances:?}");
    }

    #[test]
    fn a_better_point_is_found_at_the_end_of_a_plateau() {
        let layout = Layout::free(3);
        let variables = Variables::of(&layout);
        // All but one point are equal: the corner is one to three steps away.
        let corner = |levels: &[u32]| f64::from(u8::from(levels == [1, 1, 1]));
        let search = Search { layout: &layout, variables: &variables, improvement: &corner, cost: &rugged };
        let found = (0..100).filter(|&seed| search.climb(vec![0; 3], &mut rng(seed)).0 == 1.0).count();
        // A walk of ten steps over the cube misses it seldom.
        assert!(found > 60, "{found} of 100");
    }

    #[test]
    fn all_moves_come_once_and_each_variable_is_first_as_often() {
        let layout = layout();
        let variables = Variables::of(&layout);
        let search = Search { layout: &layout, variables: &variables, improvement: &rugged, cost: &rugged };
        let (here, rng) = (vec![0; variables.count()], &mut rng(4));
        let mut first = vec![0; variables.count()];
        for _ in 0..7000 {
            let moves = search.moves(&here, rng);
            let distinct: BTreeSet<_> = moves.iter().collect();
            assert_eq!((moves.len(), distinct.len()), (10, 10));
            assert!(moves.iter().all(|&(variable, level)| level != here[variable]));
            first[moves[0].0] += 1;
        }
        // Seven variables; five standard deviations of √(7000·1/7·6/7).
        assert!(first.iter().all(|count| (854..=1146).contains(count)), "{first:?}");
    }
}
