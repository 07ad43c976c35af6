//! Which hyperparameters: the best evidence on a grid.
//!
//! With few observations the whole grid is tried at each draw, then the neighbours of the last choice: by then it moves
//! rarely, and each place that is tried costs a factor that has to grow with the observations.

use std::collections::BTreeMap;

use shared_linalg::NotPositiveDefinite;

use crate::posterior::{Posterior, Prior};
use crate::spins::{Overlap, Spins};

/// t = 10^(−i/2).
const SCALES: u8 = 7;
/// r = 10^(−j/2).
const NOISES: u8 = 13;
/// From this many observations on, the choice moves by one step of the grid at a time.
const SETTLED: usize = 60;
/// Evidences that differ by less are equal: it is rounding.
const EQUAL: f64 = 1e-9;

/// A place in the grid: i and j.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place(pub(crate) u8, pub(crate) u8);

impl Place {
    /// Before anything is known: t = 0.1 and r = 0.01.
    pub(crate) const START: Self = Self(2, 4);

    pub(crate) fn is_valid(self) -> bool {
        self.0 < SCALES && self.1 < NOISES
    }

    /// t, the prior variance of a pair beside that of a bit.
    pub(crate) fn scale(self) -> f64 {
        libm::pow(10.0, -0.5 * f64::from(self.0))
    }

    /// r, the variance of the noise beside that of the function.
    pub(crate) fn noise(self) -> f64 {
        libm::pow(10.0, -0.5 * f64::from(self.1))
    }

    fn all() -> Vec<Self> {
        (0..SCALES).flat_map(|i| (0..NOISES).map(move |j| Self(i, j))).collect()
    }

    /// Itself and its neighbours.
    fn around(self) -> Vec<Self> {
        let Self(i, j) = self;
        let around = [(i, j), (i + 1, j), (i, j + 1), (i.wrapping_sub(1), j), (i, j.wrapping_sub(1))];
        around.into_iter().map(|(i, j)| Self(i, j)).filter(|place| place.is_valid()).collect()
    }
}

/// The points observed, as spins, and the posteriors in use. These are a function of the points: what is kept saves time alone.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    spins: Spins,
    own: Overlap,
    points: Vec<Vec<f64>>,
    kept: BTreeMap<Place, Posterior>,
}

impl Grid {
    pub(crate) fn new(spins: Spins) -> Self {
        let own = spins.own_overlap();
        Self { spins, own, points: Vec::new(), kept: BTreeMap::new() }
    }

    pub(crate) fn push(&mut self, bits: &[bool]) {
        self.points.push(self.spins.of(bits));
    }

    pub(crate) fn spins(&self) -> &Spins {
        &self.spins
    }

    pub(crate) fn points(&self) -> &[Vec<f64>] {
        &self.points
    }

    /// The posterior at the place last chosen, without a change of what is kept.
    ///
    /// # Panics
    /// Where it has not been chosen, nor asked for by [`at`](Self::at).
    pub(crate) fn chosen(&self, place: Place) -> &Posterior {
        &self.kept[&place]
    }

    /// The posterior at any place.
    pub(crate) fn at(&mut self, place: Place) -> Result<&Posterior, NotPositiveDefinite> {
        if self.kept.get(&place).is_none_or(|kept| kept.points() < self.points.len()) {
            let kept = self.kept.remove(&place);
            let mut one = BTreeMap::from([(place, kept.unwrap_or_else(|| self.prior(place)))]);
            self.grow(&mut one, self.points.len())?;
            self.kept.extend(one);
        }
        Ok(&self.kept[&place])
    }

    /// The place with the best evidence for these values: of all, or around the last choice.
    pub(crate) fn choose(
        &mut self,
        values: &[f64],
        last: Option<Place>,
    ) -> Result<Place, NotPositiveDefinite> {
        let few = values.len() < SETTLED;
        let start = match last {
            Some(place) => place,
            None if few => Place::START,
            // Many at once: the whole grid for some of them.
            None => {
                let mut all = Place::all().into_iter().map(|place| (place, self.prior(place))).collect();
                self.grow(&mut all, SETTLED - 1)?;
                best(&all, &values[..SETTLED - 1], Place::START)
            }
        };
        let tried = if few { Place::all() } else { start.around() };
        let mut kept = std::mem::take(&mut self.kept);
        kept.retain(|place, _| tried.contains(place));
        for &place in &tried {
            kept.entry(place).or_insert_with(|| self.prior(place));
        }
        self.grow(&mut kept, values.len())?;
        self.kept = kept;
        Ok(best(&self.kept, values, start))
    }

    fn prior(&self, place: Place) -> Posterior {
        Posterior::new(Prior::new(place.scale(), place.noise(), self.own))
    }

    /// Brings posteriors up to the first `count` points.
    fn grow(&self, grown: &mut BTreeMap<Place, Posterior>, count: usize) -> Result<(), NotPositiveDefinite> {
        let first = grown.values().map(Posterior::points).min().unwrap_or(count);
        for k in first..count {
            let overlap = |other: &Vec<f64>| self.spins.overlap(other, &self.points[k]);
            let overlaps: Vec<Overlap> = self.points[..=k].iter().map(overlap).collect();
            grown.values_mut().filter(|one| one.points() == k).try_for_each(|one| one.push(&overlaps))?;
        }
        Ok(())
    }
}

/// The place with the best evidence; `start`, where none is better.
fn best(posteriors: &BTreeMap<Place, Posterior>, values: &[f64], start: Place) -> Place {
    let evidence = |posterior: &Posterior| posterior.evidence(&posterior.fit(values));
    let mut best = (start, posteriors.get(&start).map_or(f64::NEG_INFINITY, evidence));
    for (&place, posterior) in posteriors.iter().filter(|(place, _)| **place != start) {
        let found = evidence(posterior);
        if found > best.1 + EQUAL {
            best = (place, found);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use plugin_api::random::normal;
    use plugin_api::{Layout, rng};

    use super::*;

    /// Random points of ten bits, and values of a function of the bits alone (or of pairs alone) with noise.
    fn observed(count: usize, pairs: bool, noise: f64) -> (Grid, Vec<f64>) {
        let (layout, mut rng) = (Layout::free(10), rng(8));
        let mut grid = Grid::new(Spins::new(10, &[]));
        let values = (0..count).map(|_| {
            let x = layout.random(&mut rng);
            grid.push(&x);
            let s = grid.spins.of(&x);
            let terms = (0..10).map(|i| if pairs { s[i] * s[(i + 3) % 10] } else { s[i] });
            (0.3 * terms.sum::<f64>()) + noise * normal(&mut rng)
        });
        let values = values.collect();
        (grid, values)
    }

    #[test]
    fn the_evidence_tells_bits_from_pairs_and_noise_from_none() {
        let place = |pairs: bool, noise: f64| {
            let (mut grid, values) = observed(59, pairs, noise);
            grid.choose(&values, None).unwrap()
        };
        assert!(place(false, 0.1).scale() < 0.05 && place(true, 0.1).scale() > 0.3);
        assert!(place(false, 0.0).noise() < 1e-5 && place(false, 1.0).noise() > 0.1);
    }

    #[test]
    fn a_settled_choice_moves_by_one_step_to_a_better_place() {
        let (mut grid, values) = observed(80, false, 0.1);
        let mut place = Place(0, 0);
        let mut evidence = f64::NEG_INFINITY;
        loop {
            let next = grid.choose(&values, Some(place)).unwrap();
            if next == place {
                break;
            }
            assert_eq!(u8::abs_diff(next.0, place.0) + u8::abs_diff(next.1, place.1), 1);
            let posterior = grid.at(next).unwrap();
            let found = posterior.evidence(&posterior.fit(&values));
            assert!(found > evidence);
            (place, evidence) = (next, found);
        }
        assert!(grid.kept.len() <= 5 && place.scale() < 0.05);
    }

    #[test]
    fn what_is_kept_changes_no_choice() {
        let (whole, values) = observed(75, true, 0.3);
        let mut grown = Grid::new(whole.spins.clone());
        let mut place = None;
        for k in 0..75 {
            grown.points.push(whole.points[k].clone());
            place = Some(grown.choose(&values[..=k], place).unwrap());
            let mut fresh = Grid { points: grown.points.clone(), ..Grid::new(whole.spins.clone()) };
            let evidence = |grid: &mut Grid, place: Place| {
                let posterior = grid.at(place).unwrap();
                posterior.evidence(&posterior.fit(&values[..=k]))
            };
            assert_eq!(evidence(&mut grown, Place(1, 3)), evidence(&mut fresh, Place(1, 3)));
        }
    }

    #[test]
    fn many_points_at_once_need_no_whole_grid_of_them() {
        let (mut grid, values) = observed(120, true, 0.1);
        let place = grid.choose(&values, None).unwrap();
        assert!(place.scale() > 0.3 && grid.kept.len() <= 5);
    }
}
