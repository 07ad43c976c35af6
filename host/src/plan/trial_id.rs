//! The name of a trial, which is also its folder's: `psr-seed3`, or `psr-sweep2-seed3` where there is a sweep.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::manifest::is_name;

/// A method, a point of the sweep and a seed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TrialId {
    /// Counted from 1; `None` in an experiment without a sweep.
    pub point: Option<usize>,
    pub method: String,
    pub seed: u64,
}

/// A text that names no trial.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the name of a trial")]
pub struct NoTrialId(String);

impl TrialId {
    /// The same for trials that differ by nothing but their seed.
    pub fn without_seed(&self) -> String {
        match self.point {
            None => self.method.clone(),
            Some(point) => format!("{}-sweep{point}", self.method),
        }
    }
}

impl fmt::Display for TrialId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-seed{}", self.without_seed(), self.seed)
    }
}

impl FromStr for TrialId {
    type Err = NoTrialId;

    fn from_str(text: &str) -> Result<Self, NoTrialId> {
        // No method's name ends like that itself: a manifest refuses it.
        let number = |text: &str, word: &str| {
            let (rest, digits) = text.rsplit_once(word)?;
            let number: u64 = digits.parse().ok()?;
            (number.to_string() == digits).then(|| (rest.to_owned(), number))
        };
        let parsed = number(text, "-seed").map(|(rest, seed)| match number(&rest, "-sweep") {
            None => Self { method: rest, point: None, seed },
            Some((method, point)) => Self { method, point: usize::try_from(point).ok(), seed },
        });
        let parsed = parsed.filter(|id| is_name(&id.method) && id.point != Some(0));
        parsed.ok_or_else(|| NoTrialId(text.to_owned()))
    }
}

impl TryFrom<String> for TrialId {
    type Error = NoTrialId;
    fn try_from(text: String) -> Result<Self, NoTrialId> {
        text.parse()
    }
}

impl From<TrialId> for String {
    fn from(id: TrialId) -> Self {
        id.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_name_says_which_trial_it_is() {
        let id = |text: &str| text.parse::<TrialId>();
        let psr = TrialId { method: "psr-10".to_owned(), point: Some(2), seed: u64::MAX };
        assert_eq!(psr.to_string(), "psr-10-sweep2-seed18446744073709551615");
        assert_eq!(id(&psr.to_string()), Ok(psr));
        assert_eq!(id("psr-seed0").unwrap().point, None);
        for wrong in ["psr", "psr-seed", "-seed1", "psr-seed01", "psr-sweep0-seed1", "../x-seed1", "a-seed-1"]
        {
            assert!(id(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn trials_stand_in_the_order_of_points_then_methods_then_seeds() {
        let mut ids = ["b-sweep2-seed1", "a-sweep10-seed2", "a-sweep2-seed10", "a-sweep2-seed9"]
            .map(|text| text.parse::<TrialId>().unwrap());
        ids.sort();
        let names = ids.map(|id| id.to_string());
        assert_eq!(names, ["a-sweep2-seed9", "a-sweep2-seed10", "b-sweep2-seed1", "a-sweep10-seed2"]);
    }

    proptest! {
        #[test]
        fn every_name_is_read_back_or_refused(text in "[a-z]{0,3}(-sweep[0-9]{0,2})?(-seed[0-9]{0,3})?") {
            if let Ok(id) = text.parse::<TrialId>() {
                prop_assert_eq!(id.to_string(), text);
            }
        }
    }
}
