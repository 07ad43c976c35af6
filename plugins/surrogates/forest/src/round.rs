//! What is proposed between two fits of the forest.

use plugin_api::rand::RngExt;
use plugin_api::serde::{Deserialize, Serialize};
use plugin_api::{Bits, Layout, Rng};

/// Challengers that are passed over because they are known, before the rest of them is given up: SMAC's.
const MOST_KNOWN: usize = 16;
/// Random points that are tried for one that is new and admitted.
const TRIES: usize = 10_000;

/// Where a proposal is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Search,
    /// Interleaved at random.
    Random,
    /// Random, because nothing was found or is left.
    Fallback,
    Solver,
}

impl Origin {
    /// In words, for the record.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Search => "found by the search",
            Self::Random => "random",
            Self::Fallback => "random, the search has no new points",
            Self::Solver => "left to the solver",
        }
    }
}

/// A fit of the forest, and what is still to be proposed of what was found by it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(crate = "plugin_api::serde", deny_unknown_fields)]
pub(crate) struct Round {
    /// How many of the observations the forest was grown on.
    pub(crate) observations: usize,
    /// What was learned of them.
    pub(crate) totals: Vec<f64>,
    /// Of the forest.
    pub(crate) seed: u64,
    /// What `values: auto` chose, as a place in its grid.
    pub(crate) shift: Option<u8>,
    /// How many proposals were made.
    pub(crate) proposed: usize,
    /// What the search found and is still to be proposed, the best last.
    pub(crate) challengers: Vec<Bits>,
    /// How many candidates were passed over because they were known.
    pub(crate) passed_over: usize,
}

impl Round {
    /// The next challenger, or with this probability a uniformly random point, that is not known; `None` where no
    /// challengers are left.
    pub(crate) fn next(
        &mut self,
        random: f64,
        layout: &Layout,
        is_known: impl Fn(&Bits) -> bool,
        rng: &mut Rng,
    ) -> Option<(Bits, Origin)> {
        while !self.challengers.is_empty() {
            let is_random = rng.random::<f64>() < random;
            let interleaved = is_random.then(|| random_point(layout, |_| false, rng)).flatten();
            let (candidate, origin) = match interleaved {
                Some(point) => (point, Origin::Random),
                None => (self.challengers.pop()?, Origin::Search),
            };
            if !is_known(&candidate) {
                return Some((candidate, origin));
            }
            self.passed_over += 1;
            if self.passed_over == MOST_KNOWN {
                self.challengers.clear();
            }
        }
        None
    }
}

/// A uniformly random point that is not known; `None` where none was found.
pub(crate) fn random_point(layout: &Layout, is_known: impl Fn(&Bits) -> bool, rng: &mut Rng) -> Option<Bits> {
    (0..TRIES).map(|_| layout.random(rng)).find(|bits| layout.admits(bits) && !is_known(bits))
}

#[cfg(test)]
mod tests {
    use plugin_api::rng;

    use super::*;

    fn round(challengers: Vec<Bits>) -> Round {
        Round {
            observations: 1,
            totals: vec![0.0],
            seed: 1,
            shift: None,
            proposed: 0,
            challengers,
            passed_over: 0,
        }
    }

    #[test]
    fn one_proposal_in_five_is_random_and_takes_no_challenger() {
        let (layout, rng) = (Layout::free(40), &mut rng(1));
        let challengers = [Bits::from(vec![false; 40]), Bits::from(vec![true; 40])];
        let mut random = 0;
        for _ in 0..2000 {
            let mut round = round(challengers.to_vec());
            let (next, origin) = round.next(0.2, &layout, |_| false, rng).unwrap();
            let is_random = next != challengers[1];
            assert_eq!((round.challengers.len() == 2, origin == Origin::Random), (is_random, is_random));
            random += usize::from(is_random);
        }
        // Five standard deviations, of √(2000·.2·.8) each.
        assert!((310..=490).contains(&random), "{random} of 2000");
    }

    #[test]
    fn a_challenger_comes_in_the_place_of_a_random_point_where_rules_leave_none_to_be_found() {
        let of = (0..64).map(|bit| plugin_api::Literal::new(bit, 1)).collect();
        let rule = plugin_api::Constraint::Exactly { count: 1, of };
        let layout = Layout::free(64).with_constraints(vec![rule]).unwrap();
        let challenger: Bits = (0..64).map(|i| i == 5).collect();
        let next = round(vec![challenger.clone()]).next(1.0, &layout, |_| false, &mut rng(1));
        assert_eq!(next, Some((challenger, Origin::Search)));
    }

    #[test]
    fn sixteen_known_candidates_end_a_list_of_challengers() {
        let (known, new) = (Bits::from(vec![false; 5]), Bits::from(vec![true; 5]));
        for (count, is_reached) in [(15, true), (16, false)] {
            let mut round = round([vec![new.clone()], vec![known.clone(); count]].concat());
            let next = round.next(0.0, &Layout::free(5), |bits| *bits == known, &mut rng(1));
            assert_eq!(next == Some((new.clone(), Origin::Search)), is_reached, "{count}");
        }
    }

    #[test]
    fn a_random_point_is_new_or_none() {
        let layout = Layout::free(2);
        let point = |known: &str| random_point(&layout, |bits| bits.to_string() != known, &mut rng(1));
        assert_eq!(point("10").unwrap().to_string(), "10");
        assert_eq!(point("none of them"), None);
    }
}
