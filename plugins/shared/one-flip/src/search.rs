//! Many tabu walks, each from where the best of the earlier ones point.

use plugin_api::rand::RngExt;
use plugin_api::{Bits, Layout, Quadratic, Result, Rng};
use shared_rules::Rules;

use crate::walk::{Tenure, Walker};
use crate::within;

/// How walks are made, and how many.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub tenure: Tenure,
    /// Moves in a row without a better point that end a walk.
    pub patience: u64,
    /// Walks in a row without a better point that end the search.
    pub idle_walks: u64,
}

impl Settings {
    /// For `n` bits: what found the best known value most often for its time, on acquisition functions and the Biq Mac
    /// library. Of 200 seeds, one missed on the hardest of 100 bits and none on the hardest of 200 and 250.
    pub fn of_dimension(n: usize) -> Self {
        let n = n as u64;
        let tenure = Tenure { least: n / 100 + 1, most: n / 100 + 10 };
        Self { tenure, patience: 2 * n, idle_walks: (2 * n / 5).max(40) }
    }

    /// For `n` bits under rules, whose moves take longer, and where far fewer walks find the best known value: in one of
    /// the first four of nearly every search of groups, of "exactly" and "at most" among 125 to 200 bits.
    pub fn under_rules(n: usize) -> Self {
        Self { patience: n as u64, idle_walks: (n as u64 / 12).max(16), ..Self::of_dimension(n) }
    }
}

/// The best points that are kept for crossings.
const ELITES: usize = 8;
/// A crossing of two points that differ in fewer bits than this leads back to one of them.
const NEAR: usize = 4;

/// A search that goes on for as long as it is asked to.
///
/// The first walks start from given points, then from random ones; the later ones from crossings, which have
/// the bits that two of the best points agree on and random ones elsewhere (Lü, Glover & Hao 2010).
pub struct Search<'f> {
    f: &'f Quadratic,
    walks_on: Ground<'f>,
    settings: Settings,
    /// Points to start from before any other, the next one last.
    given: Vec<Bits>,
    /// Values and points, all different, the best first.
    elites: Vec<(f64, Bits)>,
    walks: u64,
    moves: u64,
    /// Walks since the best point changed.
    idle: u64,
}

/// Where walks go: anywhere, or from one point that keeps all rules to the next.
enum Ground<'f> {
    Free(Walker<'f>),
    Within(&'f Rules, within::Walker<'f>),
}

impl<'f> Search<'f> {
    /// A search of `f`, which has made no walk yet.
    pub fn new(f: &'f Quadratic, settings: Settings) -> Self {
        Self::on(f, Ground::Free(Walker::new(f)), settings)
    }

    /// A search of `f` among the points that keep the rules. Its first walk starts from one near `start`, or from any; an
    /// error where there is none.
    pub fn within(
        f: &'f Quadratic,
        rules: &'f Rules,
        start: Option<&[bool]>,
        settings: Settings,
        rng: &mut Rng,
    ) -> Result<Self> {
        let first = match start {
            Some(start) => rules.near(start, rng)?,
            None => rules.random(rng)?,
        };
        let walker = within::Walker::new(f, rules, &first);
        let mut search = Self::on(f, Ground::Within(rules, walker), settings);
        search.start_from(first);
        Ok(search)
    }

    fn on(f: &'f Quadratic, walks_on: Ground<'f>, settings: Settings) -> Self {
        Self { f, walks_on, settings, given: Vec::new(), elites: Vec::new(), walks: 0, moves: 0, idle: 0 }
    }

    /// With a point for the next walk to start from, which itself is among those that have been seen. Where there are
    /// rules, it keeps them.
    pub fn start_from(&mut self, bits: Bits) {
        self.keep(bits.clone());
        self.given.push(bits);
    }

    /// Makes a walk of at most `most` moves.
    pub fn walk(&mut self, most: u64, rng: &mut Rng) {
        self.walk_while(most, rng, &|| true);
    }

    /// [`walk`](Self::walk) for as long as `more` agrees, which is asked now and then.
    pub fn walk_while(&mut self, most: u64, rng: &mut Rng, more: &dyn Fn() -> bool) {
        let mut bits = self.given.pop().unwrap_or_else(|| self.start(rng));
        let Settings { tenure, patience, .. } = self.settings;
        self.moves += match &mut self.walks_on {
            Ground::Free(walker) => walker.walk_while(&mut bits, tenure, patience, most, rng, more),
            Ground::Within(_, walker) => walker.walk_while(&mut bits, tenure, patience, most, rng, more),
        };
        self.walks += 1;
        self.idle += 1;
        self.keep(bits);
    }

    /// Whether there have been as many walks in a row without a better point as the settings ask for.
    pub fn is_done(&self) -> bool {
        self.idle >= self.settings.idle_walks
    }

    /// The best point seen and its value; none before the first point.
    pub fn best(&self) -> Option<(f64, &Bits)> {
        self.elites.first().map(|(value, bits)| (*value, bits))
    }

    /// How many walks there have been.
    pub fn walks(&self) -> u64 {
        self.walks
    }

    /// How many moves all walks made.
    pub fn moves(&self) -> u64 {
        self.moves
    }

    fn start(&self, rng: &mut Rng) -> Bits {
        let mut bits = match &self.walks_on {
            Ground::Free(_) => Layout::free(self.f.dimension()).random(rng),
            Ground::Within(rules, _) => rules.layout().random(rng),
        };
        let parents = self.parents(rng);
        if let Some((one, other)) = parents {
            for (i, bit) in bits.iter_mut().enumerate() {
                *bit = if one[i] == other[i] { one[i] } else { *bit };
            }
        }
        match &self.walks_on {
            Ground::Free(_) => bits,
            Ground::Within(rules, _) => {
                let firm = |i: usize| parents.is_some_and(|(one, other)| one[i] == other[i]);
                let near = rules.near_most(&bits, firm, rng);
                // Rules so tight that no second point is found leave the best one.
                near.unwrap_or_else(|_| self.elites[0].1.clone())
            }
        }
    }

    /// Two points to cross, once there are enough of them.
    fn parents(&self, rng: &mut Rng) -> Option<(&Bits, &Bits)> {
        let elites = self.elites.len();
        if elites < ELITES {
            return None;
        }
        let one = rng.random_range(0..elites);
        let other = (one + rng.random_range(1..elites)) % elites;
        let (one, other) = (&self.elites[one].1, &self.elites[other].1);
        (one.iter().zip(other.iter()).filter(|(a, b)| a != b).count() >= NEAR).then_some((one, other))
    }

    fn keep(&mut self, bits: Bits) {
        let value = self.f.value(&bits);
        if value.is_nan() || self.elites.iter().any(|(_, elite)| *elite == bits) {
            return;
        }
        let place = self.elites.partition_point(|(other, _)| *other <= value);
        if place == 0 {
            self.idle = 0;
        }
        self.elites.insert(place, (value, bits));
        self.elites.truncate(ELITES);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use golden_afo::cases_up_to;
    use plugin_api::rng;
    use plugin_api::testing::random_quadratic;

    fn searched(f: &Quadratic, seed: u64) -> Search<'_> {
        let mut search = Search::new(f, Settings::of_dimension(f.dimension()));
        let rng = &mut rng(seed);
        while !search.is_done() {
            search.walk(u64::MAX, rng);
        }
        search
    }

    #[test]
    fn best_known_values_are_found() {
        for case in cases_up_to(usize::MAX) {
            for seed in 0..3 {
                let (value, _) = searched(&case.function, seed).best().expect("a point");
                let gap = (value - case.best_known) / case.best_known.abs();
                let most = if case.function.dimension() <= 100 { 1e-9 } else { 1e-4 };
                assert!(gap.abs() < most, "{}, seed {seed}: {gap} above", case.name);
            }
        }
    }

    #[test]
    fn the_best_point_has_its_value_and_elites_differ() {
        let case = cases_up_to(100).pop().expect("a case");
        let f = &case.function;
        let search = searched(f, 2);
        for (i, (value, bits)) in search.elites.iter().enumerate() {
            assert_eq!(*value, f.value(bits));
            assert!(search.elites[..i].iter().all(|(lower, other)| lower <= value && other != bits));
        }
        assert_eq!(search.elites.len(), ELITES);
    }

    #[test]
    fn a_given_point_counts_as_seen() {
        let f = random_quadratic(&mut rng(3), 30);
        let mut search = Search::new(&f, Settings::of_dimension(30));
        assert!(search.best().is_none());
        let start = Layout::free(30).random(&mut rng(4));
        search.start_from(start.clone());
        assert_eq!(search.best(), Some((f.value(&start), &start)));
        search.walk(0, &mut rng(5));
        assert_eq!((search.walks(), search.moves(), search.best().unwrap().1), (1, 0, &start));
    }

    #[test]
    fn crossings_keep_what_two_points_agree_on() {
        let f = Quadratic::zero(64);
        let mut search = Search::new(&f, Settings::of_dimension(64));
        let rng = &mut rng(6);
        for _ in 0..ELITES {
            let mut bits = Layout::free(64).random(rng);
            bits[..16].fill(true);
            search.keep(bits);
        }
        let starts: Vec<Bits> = (0..50).map(|_| search.start(rng)).collect();
        assert!(starts.iter().all(|start| start[..16].iter().all(|&bit| bit)));
        assert!(starts.iter().any(|start| *start != starts[0]));
    }

    #[test]
    fn all_points_of_a_search_within_rules_keep_them_and_small_minima_are_found() {
        use plugin_api::testing::minimum;
        let mut missed = 0;
        for number in 0..200 {
            let problem = golden_constrained::problem(number);
            let f = problem.quadratic().unwrap();
            let rules = Rules::of(problem.layout()).unwrap();
            let rng = &mut rng(number);
            let settings = Settings::of_dimension(f.dimension());
            let mut search = Search::within(f, &rules, None, settings, rng).unwrap();
            while !search.is_done() {
                search.walk(u64::MAX, rng);
            }
            assert!(search.elites.iter().all(|(value, bits)| rules.admit(bits) && *value == f.value(bits)));
            let gap = search.best().expect("a point").0 - minimum(&problem);
            missed += usize::from(gap > 1e-9 * f.magnitude());
        }
        assert_eq!(missed, 0, "of 200 minima");
    }

    #[test]
    fn flat_functions_and_no_bits_end() {
        for n in [0, 1, 2, 9] {
            let f = Quadratic::zero(n);
            let search = searched(&f, 1);
            assert_eq!(search.best().expect("a point").0, 0.0);
            assert!(search.walks() <= 50);
        }
    }
}
