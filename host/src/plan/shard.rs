//! A part of a plan's trials, to be run anywhere: `3/16` is the third of sixteen.
//!
//! Which trials it has follows from the plan alone, so that parts that know nothing of each other have every trial once.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Plan, Trial};

/// One of several parts of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    of: usize,
    /// From 1.
    part: usize,
}

/// A text that names no part.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoShard {
    #[error("a part is written as two numbers, such as 3/16")]
    Numbers,
    #[error("parts are counted from 1")]
    Zero,
    #[error("there are parts 1 to {of}")]
    Beyond { of: usize },
}

impl Shard {
    /// Which part, from 1.
    pub fn part(self) -> usize {
        self.part
    }

    /// How many parts there are.
    pub fn of(self) -> usize {
        self.of
    }

    /// As people say it: part 3 of 16.
    pub fn words(self) -> String {
        format!("part {} of {}", self.part, self.of)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.part, self.of)
    }
}

impl FromStr for Shard {
    type Err = NoShard;

    fn from_str(text: &str) -> Result<Self, NoShard> {
        let number = |text: &str| match text.bytes().all(|byte| byte.is_ascii_digit()) {
            true => text.parse::<usize>().map_err(|_| NoShard::Numbers),
            false => Err(NoShard::Numbers),
        };
        let (part, of) = text.split_once('/').ok_or(NoShard::Numbers)?;
        match (number(part)?, number(of)?) {
            (0, _) | (_, 0) => Err(NoShard::Zero),
            (part, of) if part > of => Err(NoShard::Beyond { of }),
            (part, of) => Ok(Self { of, part }),
        }
    }
}

impl TryFrom<String> for Shard {
    type Error = NoShard;
    fn try_from(text: String) -> Result<Self, NoShard> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

impl Plan {
    /// The trials of a part, or all of them, in the plan's order.
    pub fn part(&self, shard: Option<Shard>) -> Vec<Trial<'_>> {
        let Some(Shard { of, part }) = shard else { return self.trials().collect() };
        let parts = deal(self.trials().map(|trial| (trial.cell.point, trial.cell.method)), of);
        self.trials().zip(parts).filter(|(_, dealt)| dealt + 1 == part).map(|(trial, _)| trial).collect()
    }
}

/// What a part has so far.
#[derive(Clone, Default)]
struct Hand {
    trials: usize,
    /// Of the method and point whose turn it is.
    of_cell: usize,
    of_point: usize,
    of_method: Vec<usize>,
}

/// The part of each trial, from 0; of trials their point and method are known, and those of a point follow each other.
///
/// Of the parts with the fewest trials, a trial goes to one that has the fewest of its method and point: where some are ten times as
/// slow as others, all parts are still about equally long.
fn deal(trials: impl Iterator<Item = (usize, usize)>, parts: usize) -> Vec<usize> {
    let mut hands = vec![Hand::default(); parts];
    let mut last = None;
    let dealt = trials.map(|(point, method)| {
        let new_point = last.is_none_or(|(known, _)| known != point);
        if last != Some((point, method)) {
            for hand in &mut hands {
                hand.of_cell = 0;
                hand.of_point = if new_point { 0 } else { hand.of_point };
                hand.of_method.resize(hand.of_method.len().max(method + 1), 0);
            }
        }
        last = Some((point, method));
        let weight = |hand: &Hand| (hand.trials, hand.of_cell, hand.of_point + hand.of_method[method]);
        let chosen = (0..parts).min_by_key(|&part| weight(&hands[part])).unwrap_or(0);
        let hand = &mut hands[chosen];
        hand.trials += 1;
        hand.of_cell += 1;
        hand.of_point += 1;
        hand.of_method[method] += 1;
        chosen
    });
    dealt.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_part_is_two_numbers_and_anything_else_says_why_not() {
        let read = |text: &str| text.parse::<Shard>();
        assert_eq!(read("3/16").map(|shard| (shard.part(), shard.of())), Ok((3, 16)));
        assert_eq!(read("3/16").unwrap().to_string(), "3/16");
        assert_eq!(read("1/1").unwrap().words(), "part 1 of 1");
        for text in ["", "3", "a/b", "3/", "/16", "3/16/2", "-1/4", "+1/4", "1/99999999999999999999"] {
            assert_eq!(read(text), Err(NoShard::Numbers), "{text}");
        }
        assert_eq!((read("0/16"), read("0/0")), (Err(NoShard::Zero), Err(NoShard::Zero)));
        assert_eq!(read("17/16"), Err(NoShard::Beyond { of: 16 }));
    }

    #[test]
    fn fewer_seeds_than_parts_spread_methods_and_points_over_all_parts() {
        // Two points, two methods, eight seeds, sixteen parts: each has both methods and both points.
        let cells = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let trials: Vec<(usize, usize)> = cells.iter().flat_map(|&cell| [cell; 8]).collect();
        let parts = deal(trials.iter().copied(), 16);
        for part in 0..16 {
            let own: Vec<_> = trials.iter().zip(&parts).filter(|(_, dealt)| **dealt == part).collect();
            let (points, methods): (usize, usize) = own
                .iter()
                .fold((0, 0), |(points, methods), ((point, method), _)| (points + point, methods + method));
            assert_eq!((own.len(), points, methods), (2, 1, 1), "{part}");
        }
    }

    proptest! {
        #[test]
        fn parts_differ_by_one_trial_at_most_and_so_do_their_shares_of_each_cell(
            points in 1_usize..5, methods in 1_usize..4, seeds in 1_usize..20, parts in 1_usize..18,
        ) {
            let cells = (0..points).flat_map(|point| (0..methods).map(move |method| (point, method)));
            let trials: Vec<(usize, usize)> = cells.flat_map(|cell| std::iter::repeat_n(cell, seeds)).collect();
            let dealt = deal(trials.iter().copied(), parts);
            let within_one = |of: &dyn Fn(usize) -> bool| {
                let mut counts = vec![0_usize; parts];
                (0..trials.len()).filter(|&i| of(i)).for_each(|i| counts[dealt[i]] += 1);
                counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1
            };
            prop_assert!(within_one(&|_| true));
            for cell in &trials {
                prop_assert!(within_one(&|i| trials[i] == *cell), "{cell:?}");
            }
        }
    }
}
