//! What a model sees: 0/1 variables, groups of which exactly one is set, and rules between them.

use std::fmt;
use std::ops::{Deref, DerefMut, Range};
use std::str::FromStr;

use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::{Constraint, Error, Result, Rng};

/// A string of bits. Written as `0110`.
///
/// ```
/// use plugin_api::Bits;
///
/// let mut bits: Bits = "0110".parse()?;
/// bits.flip(0);
/// assert_eq!((bits.count_ones(), bits.to_string().as_str()), (3, "1110"));
/// # Ok::<(), plugin_api::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Bits(Vec<bool>);

impl Bits {
    /// `n` bits, none of them set.
    pub fn zeros(n: usize) -> Self {
        Self(vec![false; n])
    }

    /// How many bits are set.
    pub fn count_ones(&self) -> usize {
        self.iter().filter(|&&bit| bit).count()
    }

    /// The bits as they are.
    pub(crate) fn into_vec(self) -> Vec<bool> {
        self.0
    }

    /// Turns bit `i` over.
    pub fn flip(&mut self, i: usize) {
        self[i] = !self[i];
    }
}

impl From<Vec<bool>> for Bits {
    fn from(bits: Vec<bool>) -> Self {
        Self(bits)
    }
}

impl From<&[bool]> for Bits {
    fn from(bits: &[bool]) -> Self {
        Self(bits.to_vec())
    }
}

impl FromIterator<bool> for Bits {
    fn from_iter<I: IntoIterator<Item = bool>>(bits: I) -> Self {
        Self(bits.into_iter().collect())
    }
}

impl Deref for Bits {
    type Target = [bool];
    fn deref(&self) -> &[bool] {
        &self.0
    }
}

impl DerefMut for Bits {
    fn deref_mut(&mut self) -> &mut [bool] {
        &mut self.0
    }
}

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().try_for_each(|&bit| f.write_str(if bit { "1" } else { "0" }))
    }
}

impl FromStr for Bits {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let bit = |(i, c)| match c {
            '0' => Ok(false),
            '1' => Ok(true),
            other => Err(Error::new(format!("bit {} is {other:?}, not 0 or 1", i + 1))),
        };
        text.chars().enumerate().map(bit).collect::<Result<Vec<_>>>().map(Self)
    }
}

impl TryFrom<String> for Bits {
    type Error = Error;
    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Bits> for String {
    fn from(bits: Bits) -> Self {
        bits.to_string()
    }
}

/// How many bits there are, which stretches of them are one-hot groups (exactly one bit set), and what else they have
/// to keep to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "UncheckedLayout")]
pub struct Layout {
    dimension: usize,
    groups: Vec<Range<usize>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ordered_groups: Vec<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    constraints: Vec<Constraint>,
}

/// A layout as it is written.
#[derive(Deserialize)]
struct UncheckedLayout {
    dimension: usize,
    groups: Vec<Range<usize>>,
    #[serde(default)]
    ordered_groups: Vec<usize>,
    #[serde(default)]
    constraints: Vec<Constraint>,
}

impl TryFrom<UncheckedLayout> for Layout {
    type Error = Error;
    fn try_from(layout: UncheckedLayout) -> Result<Self> {
        Self::with_groups(layout.dimension, layout.groups)?
            .with_ordered_groups(layout.ordered_groups)?
            .with_constraints(layout.constraints)
    }
}

impl Layout {
    /// `n` bits, each free.
    pub fn free(n: usize) -> Self {
        Self { dimension: n, groups: Vec::new(), ordered_groups: Vec::new(), constraints: Vec::new() }
    }

    /// `n` bits with groups, which may not be empty, overlap or stand out of order.
    pub fn with_groups(n: usize, groups: Vec<Range<usize>>) -> Result<Self> {
        let mut end = 0;
        for group in &groups {
            if group.start < end || group.is_empty() || group.end > n {
                return Err(Error::new(format!("group {group:?} is empty, out of order or beyond {n} bits")));
            }
            end = group.end;
        }
        Ok(Self { dimension: n, groups, ordered_groups: Vec::new(), constraints: Vec::new() })
    }

    /// The same groups, of which these (by their places in [`groups`](Self::groups), ascending) stand for levels in an
    /// order: a bit and the next one are for neighbours. Refuses a place without a group.
    pub fn with_ordered_groups(mut self, ordered: Vec<usize>) -> Result<Self> {
        if let Some(place) = ordered.iter().find(|&&place| place >= self.groups.len()) {
            return Err(Error::new(format!("ordered group {place} of {} groups", self.groups.len())));
        }
        if !ordered.is_sorted_by(|a, b| a < b) {
            return Err(Error::new("ordered groups are named more than once, or not from the first on"));
        }
        self.ordered_groups = ordered;
        Ok(self)
    }

    /// The same bits and groups with these constraints, whose literals are bits that are 0 or 1. Refuses a bit or
    /// level out of range, and a constraint that no bits can keep to.
    pub fn with_constraints(mut self, constraints: Vec<Constraint>) -> Result<Self> {
        constraints.iter().try_for_each(|constraint| constraint.check(self.dimension, |_| 2))?;
        self.constraints = constraints;
        Ok(self)
    }

    /// How many bits there are.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The one-hot groups, in order.
    pub fn groups(&self) -> &[Range<usize>] {
        &self.groups
    }

    /// The places in [`groups`](Self::groups) of those whose bits stand for levels in an order.
    pub fn ordered_groups(&self) -> &[usize] {
        &self.ordered_groups
    }

    /// What else the bits have to keep to.
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    /// Whether `bits` has the right length and exactly one bit set in each group, whatever the constraints say.
    pub fn keeps_groups(&self, bits: &[bool]) -> bool {
        let one = |group: &Range<usize>| bits[group.clone()].iter().filter(|&&bit| bit).count() == 1;
        bits.len() == self.dimension && self.groups.iter().all(one)
    }

    /// Whether `bits` has the right length, exactly one bit set in each group, and keeps to the constraints.
    pub fn admits(&self, bits: &[bool]) -> bool {
        let level_of = |index: usize| u32::from(bits[index]);
        self.keeps_groups(bits) && self.constraints.iter().all(|constraint| constraint.holds(level_of))
    }

    /// Bits chosen uniformly among those that keep the groups. It does not look at the constraints: ask
    /// [`admits`](Self::admits), and draw again or mend.
    pub fn random(&self, rng: &mut Rng) -> Bits {
        let mut bits: Bits = (0..self.dimension).map(|_| rng.random::<bool>()).collect();
        for group in &self.groups {
            bits[group.clone()].fill(false);
            bits[rng.random_range(group.clone())] = true;
        }
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_survive_text() {
        let bits: Bits = "0110".parse().unwrap();
        assert_eq!((bits.to_string().as_str(), bits.count_ones()), ("0110", 2));
        assert_eq!("01x".parse::<Bits>().unwrap_err().to_string(), "bit 3 is 'x', not 0 or 1");
    }

    #[test]
    fn random_bits_are_admitted() {
        let layout = Layout::with_groups(7, vec![0..3, 4..7]).unwrap();
        let mut rng = crate::rng(3);
        assert!((0..50).all(|_| layout.admits(&layout.random(&mut rng))));
        assert!(!layout.admits(&"1100100".parse::<Bits>().unwrap()));
        assert!(!layout.admits(&[true]));
    }

    #[test]
    fn a_layout_with_constraints_admits_what_keeps_them_and_survives_json() {
        let bit = |index| crate::Literal::new(index, 1);
        let at_most = Constraint::AtMost { count: 1, of: vec![bit(0), bit(3)] };
        let plain = Layout::with_groups(4, vec![0..2, 2..4]).unwrap();
        let layout = plain.clone().with_constraints(vec![at_most.clone()]).unwrap();
        let admitted = |text: &str| layout.admits(&text.parse::<Bits>().unwrap());
        assert!(admitted("1010") && admitted("0101") && !admitted("1001"));
        assert!(!admitted("1110") && !admitted("100"));
        assert!(layout.keeps_groups(&"1001".parse::<Bits>().unwrap()));
        for layout in [&plain, &layout] {
            let text = serde_json::to_string(layout).unwrap();
            assert_eq!(serde_json::from_str::<Layout>(&text).unwrap(), *layout);
        }
        assert!(!serde_json::to_string(&plain).unwrap().contains("constraints"));
        assert!(Layout::free(3).with_constraints(vec![at_most]).is_err());
        assert!(
            serde_json::from_str::<Layout>(r#"{ "dimension": 1, "groups": [{ "start": 0, "end": 2 }] }"#)
                .is_err()
        );
    }

    #[test]
    fn a_layout_knows_which_groups_are_ordered_and_older_json_has_none() {
        let plain = Layout::with_groups(8, vec![0..3, 4..7]).unwrap();
        let layout = plain.clone().with_ordered_groups(vec![1]).unwrap();
        assert_eq!((layout.ordered_groups(), plain.ordered_groups()), (&[1][..], &[][..]));
        let text = serde_json::to_string(&layout).unwrap();
        assert_eq!(serde_json::from_str::<Layout>(&text).unwrap(), layout);
        let text = serde_json::to_string(&plain).unwrap();
        assert!(!text.contains("ordered"), "{text}");
        assert_eq!(serde_json::from_str::<Layout>(&text).unwrap(), plain);
        let error = |ordered| plain.clone().with_ordered_groups(ordered).unwrap_err().to_string();
        assert_eq!(error(vec![2]), "ordered group 2 of 2 groups");
        assert_eq!(error(vec![1, 1]), "ordered groups are named more than once, or not from the first on");
    }

    #[test]
    fn overlapping_groups_are_refused() {
        assert!(Layout::with_groups(4, vec![0..3, 2..4]).is_err());
        assert!(Layout::with_groups(4, vec![0..2, 2..5]).is_err());
    }
}
