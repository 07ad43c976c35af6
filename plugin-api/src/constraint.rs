//! Rules between the variables of a space, or between bits.
//!
//! Five sorts are all that a solver has to know. What else people ask for is said with these: "at least k of n" is at most
//! n − k of the other levels, "a implies b or c" forbids a together with each of the other levels.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// A variable has a level: in a [`Space`](crate::Space) variable `index` has level `level`, in a
/// [`Layout`](crate::Layout) bit `index` is 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Literal {
    /// Which variable or bit, counted from 0.
    pub index: usize,
    /// Which level, counted from 0.
    pub level: u32,
}

/// What a point has to keep to.
///
/// ```
/// use plugin_api::{Constraint, Literal, Point, Space};
///
/// let chosen = |index| Literal::new(index, 1);
/// let space = Space::binary(3)
///     .with_constraints(vec![Constraint::AtMost { count: 1, of: vec![chosen(0), chosen(2)] }])?;
/// assert!(space.admits(&Point::from(vec![0, 1, 1])));
/// assert!(!space.admits(&Point::from(vec![1, 0, 1])));
/// assert_eq!(space.describe_constraint(&space.constraints()[0]), "at most 1 of x1=1, x3=1");
/// # Ok::<(), plugin_api::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Constraint {
    /// At most `count` of the literals hold.
    AtMost {
        /// The most that may hold.
        count: usize,
        /// Which are counted.
        of: Vec<Literal>,
    },
    /// Exactly `count` of the literals hold.
    Exactly {
        /// How many hold.
        count: usize,
        /// Which are counted.
        of: Vec<Literal>,
    },
    /// The literal holds.
    Fixed(Literal),
    /// The literals do not hold all at once.
    Forbidden(Vec<Literal>),
    /// The weights of the literals that hold sum to at most `limit`, give or take
    /// [rounding](Constraint::rounding).
    Capacity {
        /// The most that they may weigh together; finite, and at least 0.
        limit: f64,
        /// Which are weighed.
        of: Vec<Literal>,
        /// What each weighs, in the same order; finite, and at least 0.
        weights: Vec<f64>,
    },
}

/// The sorts of rules that a problem may have, and a solver may [keep](crate::Solver::keeps).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Rule {
    /// Exactly one bit of each group is set.
    Groups,
    /// [`Constraint::AtMost`].
    AtMost,
    /// [`Constraint::Exactly`].
    Exactly,
    /// [`Constraint::Fixed`].
    Fixed,
    /// [`Constraint::Forbidden`].
    Forbidden,
    /// [`Constraint::Capacity`]; since 1.2.
    Capacity,
}

impl Literal {
    /// Variable `index` has level `level`, both counted from 0.
    pub fn new(index: usize, level: u32) -> Self {
        Self { index, level }
    }
}

impl Constraint {
    /// Whether a point keeps to it, given the level of each variable.
    pub fn holds(&self, level_of: impl Fn(usize) -> u32) -> bool {
        let holds = |literal: &&Literal| level_of(literal.index) == literal.level;
        let holding = || self.literals().iter().filter(holds).count();
        match self {
            Self::AtMost { count, .. } => holding() <= *count,
            Self::Exactly { count, .. } => holding() == *count,
            Self::Fixed(literal) => holds(&literal),
            Self::Forbidden(all) => holding() < all.len(),
            Self::Capacity { limit, of, weights } => {
                // In the order in which they stand, so that the sum is the same on every machine.
                let held = of.iter().zip(weights).filter(|(literal, _)| holds(literal));
                held.map(|(_, weight)| weight).sum::<f64>() <= limit + self.rounding()
            }
        }
    }

    /// How far above its limit a sum of weights still counts as within it, so that 0.1 + 0.2 keeps to 0.3: 10⁻⁹ of all
    /// weights together; 0 for the other sorts of rules, which count.
    ///
    /// A solver that updates a sum from move to move stays below the limit plus half of this, and is within it for
    /// everyone.
    pub fn rounding(&self) -> f64 {
        match self {
            Self::Capacity { weights, .. } => 1e-9 * weights.iter().sum::<f64>(),
            _ => 0.0,
        }
    }

    /// All that it speaks of.
    pub fn literals(&self) -> &[Literal] {
        match self {
            Self::AtMost { of, .. }
            | Self::Exactly { of, .. }
            | Self::Forbidden(of)
            | Self::Capacity { of, .. } => of,
            Self::Fixed(literal) => std::slice::from_ref(literal),
        }
    }

    /// The same rule about other literals: how an encoder says a rule about variables in terms of bits.
    pub fn map(&self, mut translate: impl FnMut(Literal) -> Literal) -> Self {
        let mut all = |of: &[Literal]| of.iter().map(|&literal| translate(literal)).collect();
        match self {
            Self::AtMost { count, of } => Self::AtMost { count: *count, of: all(of) },
            Self::Exactly { count, of } => Self::Exactly { count: *count, of: all(of) },
            Self::Fixed(literal) => Self::Fixed(translate(*literal)),
            Self::Forbidden(of) => Self::Forbidden(all(of)),
            Self::Capacity { limit, of, weights } => {
                Self::Capacity { limit: *limit, of: all(of), weights: weights.clone() }
            }
        }
    }

    /// What sort of rule it is.
    pub fn rule(&self) -> Rule {
        match self {
            Self::AtMost { .. } => Rule::AtMost,
            Self::Exactly { .. } => Rule::Exactly,
            Self::Fixed(_) => Rule::Fixed,
            Self::Forbidden(_) => Rule::Forbidden,
            Self::Capacity { .. } => Rule::Capacity,
        }
    }

    /// The constraint in words, with words for each literal: `at most 1 of heated=1, solvent=hexane`.
    pub fn describe(&self, words: impl Fn(Literal) -> String) -> String {
        let all = self.literals().iter().map(|&literal| words(literal)).collect::<Vec<_>>().join(", ");
        match self {
            Self::AtMost { count, .. } => format!("at most {count} of {all}"),
            Self::Exactly { count, .. } => format!("exactly {count} of {all}"),
            Self::Fixed(_) => format!("always {all}"),
            Self::Forbidden(_) => format!("never all of {all}"),
            Self::Capacity { limit, of, weights } => {
                let weighed =
                    of.iter().zip(weights).map(|(&literal, weight)| format!("{} ({weight})", words(literal)));
                format!("weights of at most {limit} among {}", weighed.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// Refuses a literal that is there twice, a variable or level out of range, and what no point can keep to.
    ///
    /// `levels` has the number of levels of each of the `n` variables.
    pub(crate) fn check(&self, n: usize, levels: impl Fn(usize) -> usize) -> Result<()> {
        let refuse = |why: String| Err(Error::new(format!("constraint `{self}`: {why}")));
        let mut seen = BTreeSet::new();
        for literal in self.literals() {
            let Literal { index, level } = *literal;
            if index >= n {
                return refuse(format!("{index} is beyond the {n} that there are, counted from 0"));
            }
            if level as usize >= levels(index) {
                return refuse(format!("{index} has the levels 0 to {}, not {level}", levels(index) - 1));
            }
            if !seen.insert(literal) {
                return refuse(format!("{literal} stands in it twice"));
            }
        }
        match self {
            Self::Exactly { count, of } if *count > of.len() => {
                refuse(format!("{count} cannot hold where there are {}", of.len()))
            }
            Self::Forbidden(of) if of.is_empty() => refuse("it forbids every point".to_owned()),
            Self::Capacity { of, weights, .. } if of.len() != weights.len() => {
                refuse(format!("{} weights for {}", weights.len(), of.len()))
            }
            Self::Capacity { limit, weights, .. } => {
                match std::iter::once(limit).chain(weights).find(|x| !x.is_finite() || **x < 0.0) {
                    Some(x) => refuse(format!("limit and weights are finite and at least 0, and {x} is not")),
                    None if !weights.iter().sum::<f64>().is_finite() => {
                        refuse("its weights are too large to sum".to_owned())
                    }
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }
}

impl Rule {
    /// Every rule.
    pub const ALL: [Self; 6] =
        [Self::Groups, Self::AtMost, Self::Exactly, Self::Fixed, Self::Forbidden, Self::Capacity];

    /// The rule in a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Groups => "groups",
            Self::AtMost => "at-most",
            Self::Exactly => "exactly",
            Self::Fixed => "fixed",
            Self::Forbidden => "forbidden",
            Self::Capacity => "capacity",
        }
    }
}

/// `x[0]=1`: the variable or bit in brackets, counted from 0.
impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "x[{}]={}", self.index, self.level)
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe(|literal| literal.to_string()))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Rule {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let known = Self::ALL.into_iter().find(|rule| rule.name() == text);
        known.ok_or_else(|| Error::new(format!("`{text}` is no rule")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(usize, u32)]) -> Vec<Literal> {
        pairs.iter().map(|&(index, level)| Literal::new(index, level)).collect()
    }

    fn all() -> [Constraint; 5] {
        [
            Constraint::AtMost { count: 1, of: of(&[(0, 1), (1, 2), (2, 0)]) },
            Constraint::Exactly { count: 2, of: of(&[(0, 1), (1, 2), (2, 0)]) },
            Constraint::Fixed(Literal::new(1, 2)),
            Constraint::Forbidden(of(&[(0, 1), (2, 0)])),
            Constraint::Capacity {
                limit: 0.3,
                of: of(&[(0, 1), (1, 2), (2, 0)]),
                weights: vec![0.1, 0.2, 0.25],
            },
        ]
    }

    #[test]
    fn each_rule_holds_where_it_should() {
        let holding = |levels: [u32; 3]| all().map(|constraint| constraint.holds(|index| levels[index]));
        assert_eq!(holding([0, 0, 1]), [true, false, false, true, true]);
        assert_eq!(holding([0, 2, 1]), [true, false, true, true, true]);
        assert_eq!(holding([1, 0, 0]), [false, true, false, false, false]);
        assert_eq!(holding([1, 2, 0]), [false, false, true, false, false]);
    }

    #[test]
    fn rounding_does_not_decide_what_a_capacity_holds() {
        let capacity = |limit: f64, weights: Vec<f64>| {
            let of = (0..weights.len()).map(|i| Literal::new(i, 1)).collect();
            Constraint::Capacity { limit, of, weights }
        };
        assert_ne!(0.1 + 0.2, 0.3, "what this is about");
        assert!(capacity(0.3, vec![0.1, 0.2]).holds(|_| 1));
        assert!(!capacity(0.3, vec![0.1, 0.2 + 1e-6]).holds(|_| 1));
        assert!(capacity(3e12, vec![1e12, 2e12]).holds(|_| 1));
        assert!(!capacity(3e12, vec![1e12, 2.001e12]).holds(|_| 1));
        assert!(capacity(0.0, vec![0.0, 5.0]).holds(|index| u32::from(index == 0)));
        assert!(capacity(0.0, vec![]).holds(|_| 1), "nothing weighs nothing");
    }

    #[test]
    fn constraints_are_told_in_words() {
        assert_eq!(
            all().map(|constraint| constraint.to_string()),
            [
                "at most 1 of x[0]=1, x[1]=2, x[2]=0",
                "exactly 2 of x[0]=1, x[1]=2, x[2]=0",
                "always x[1]=2",
                "never all of x[0]=1, x[2]=0",
                "weights of at most 0.3 among x[0]=1 (0.1), x[1]=2 (0.2), x[2]=0 (0.25)",
            ]
        );
    }

    #[test]
    fn constraints_survive_json_under_the_names_of_their_rules() {
        for constraint in all() {
            let json = serde_json::to_value(&constraint).unwrap();
            assert_eq!(json.as_object().unwrap().keys().collect::<Vec<_>>(), [constraint.rule().name()]);
            assert_eq!(serde_json::from_value::<Constraint>(json).unwrap(), constraint);
        }
    }

    #[test]
    fn a_rule_of_a_newer_version_is_refused_rather_than_misread() {
        // What an older plugin does with a space that has a capacity.
        let newer = r#"{ "sos2": { "of": [] } }"#;
        let error = serde_json::from_str::<Constraint>(newer).unwrap_err().to_string();
        assert!(error.starts_with("unknown variant `sos2`"), "{error}");
    }

    #[test]
    fn a_rule_has_one_name_in_text_and_json() {
        for rule in Rule::ALL {
            assert_eq!(rule.name().parse(), Ok(rule));
            assert_eq!(serde_json::to_value(rule).unwrap(), rule.to_string());
        }
        assert_eq!("sos2".parse::<Rule>().unwrap_err().to_string(), "`sos2` is no rule");
    }

    #[test]
    fn a_translation_keeps_the_rule_and_its_count() {
        for constraint in all() {
            let shifted =
                constraint.map(|Literal { index, level }| Literal { index: index + 3, level: level + 1 });
            assert_eq!(shifted.rule(), constraint.rule());
            for (here, there) in constraint.literals().iter().zip(shifted.literals()) {
                assert_eq!((here.index + 3, here.level + 1), (there.index, there.level));
            }
            assert_eq!(
                shifted.map(|l| Literal { index: l.index - 3, level: l.level - 1 }),
                constraint,
                "its count changed"
            );
        }
    }

    #[test]
    fn what_no_point_can_keep_to_is_refused() {
        let refusal = |constraint: Constraint| constraint.check(3, |_| 3).unwrap_err().to_string();
        assert!(all().iter().all(|constraint| constraint.check(3, |_| 3).is_ok()));
        assert_eq!(
            refusal(Constraint::Fixed(Literal::new(3, 0))),
            "constraint `always x[3]=0`: 3 is beyond the 3 that there are, counted from 0"
        );
        assert_eq!(
            refusal(Constraint::Fixed(Literal::new(2, 3))),
            "constraint `always x[2]=3`: 2 has the levels 0 to 2, not 3"
        );
        assert_eq!(
            refusal(Constraint::AtMost { count: 1, of: of(&[(1, 1), (1, 1)]) }),
            "constraint `at most 1 of x[1]=1, x[1]=1`: x[1]=1 stands in it twice"
        );
        assert_eq!(
            refusal(Constraint::Exactly { count: 2, of: of(&[(1, 1)]) }),
            "constraint `exactly 2 of x[1]=1`: 2 cannot hold where there are 1"
        );
        assert_eq!(
            refusal(Constraint::Forbidden(vec![])),
            "constraint `never all of `: it forbids every point"
        );
        let capacity =
            |limit, weights| refusal(Constraint::Capacity { limit, of: of(&[(0, 1), (1, 1)]), weights });
        assert!(capacity(1.0, vec![1.0]).ends_with(": 1 weights for 2"));
        let finite = ": limit and weights are finite and at least 0, and ";
        assert!(capacity(-1.0, vec![1.0; 2]).ends_with(&format!("{finite}-1 is not")));
        assert!(capacity(1.0, vec![1.0, f64::NAN]).ends_with(&format!("{finite}NaN is not")));
        assert!(capacity(1.0, vec![1.0, f64::INFINITY]).ends_with(&format!("{finite}inf is not")));
        assert!(capacity(1.0, vec![f64::MAX; 2]).ends_with("too large to sum"));
    }
}
