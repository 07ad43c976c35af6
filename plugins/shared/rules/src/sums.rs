//! Rules as sums over bits with limits.

use std::ops::Range;

use plugin_api::{Constraint, Error, Layout, Result, Rule};

use crate::partial::Partial;

/// All rules of a layout, each as a sum, and what follows from them alone.
pub struct Rules {
    layout: Layout,
    sums: Vec<Sum>,
    /// How many sums come from constraints. Those of the groups follow.
    constraints: usize,
    /// For each bit the sums it stands in, each with what setting it adds.
    of_bit: Vec<Vec<(usize, f64)>>,
    group_of: Vec<Option<usize>>,
    /// The bits that have one value in all points that keep the rules, as far as propagation sees.
    fixed: Vec<Option<bool>>,
}

/// Σ weight · [bit is level], which has to be from `least` to `most`.
#[derive(Clone, Debug, PartialEq)]
pub struct Sum {
    /// Bit, level and weight.
    terms: Vec<(usize, bool, f64)>,
    least: f64,
    most: f64,
    /// The largest weight.
    heaviest: f64,
    /// How far a sum that is kept up to date may be from the one that is added up in order: 0 for whole weights.
    rounding: f64,
}

impl Rules {
    /// The rules of `layout`; an error for one that is not known here, and where propagation alone shows that no point keeps
    /// all of them.
    pub fn of(layout: &Layout) -> Result<Self> {
        let n = layout.dimension();
        let mut sums = layout.constraints().iter().map(Sum::of).collect::<Result<Vec<_>>>()?;
        let constraints = sums.len();
        sums.extend(layout.groups().iter().map(Sum::of_group));
        let mut of_bit = vec![Vec::new(); n];
        for (place, sum) in sums.iter().enumerate() {
            for &(bit, level, weight) in &sum.terms {
                of_bit[bit].push((place, if level { weight } else { -weight }));
            }
        }
        let mut group_of = vec![None; n];
        for (place, group) in layout.groups().iter().enumerate() {
            group_of[group.clone()].fill(Some(place));
        }
        let fixed = vec![None; n];
        let mut rules = Self { layout: layout.clone(), sums, constraints, of_bit, group_of, fixed };
        let mut nothing_chosen = Partial::new(&rules);
        if !nothing_chosen.propagate_all() {
            return Err(no_point());
        }
        rules.fixed = nothing_chosen.values().to_vec();
        Ok(rules)
    }

    /// Whether every point keeps to them.
    pub fn is_empty(&self) -> bool {
        self.sums.is_empty()
    }

    /// How many bits there are.
    pub fn dimension(&self) -> usize {
        self.layout.dimension()
    }

    /// What they are the rules of.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The one-hot groups.
    #[inline]
    pub fn groups(&self) -> &[Range<usize>] {
        self.layout.groups()
    }

    /// The place of the bit's group.
    #[inline]
    pub fn group_of(&self, bit: usize) -> Option<usize> {
        self.group_of[bit]
    }

    /// The bits that have one value in every point that keeps the rules.
    #[inline]
    pub fn fixed(&self) -> &[Option<bool>] {
        &self.fixed
    }

    /// All sums: those of the constraints, then those of the groups.
    #[inline]
    pub fn sums(&self) -> &[Sum] {
        &self.sums
    }

    /// How many of the sums come from constraints.
    pub fn constraint_count(&self) -> usize {
        self.constraints
    }

    /// The sums that `bit` stands in, each with what setting it adds.
    #[inline]
    pub fn of_bit(&self, bit: usize) -> &[(usize, f64)] {
        &self.of_bit[bit]
    }

    /// Whether `bits` keep all rules.
    pub fn admit(&self, bits: &[bool]) -> bool {
        self.layout.admits(bits)
    }
}

/// Whether a rule is one that can be a sum: all that there are.
pub fn known(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::Groups | Rule::AtMost | Rule::Exactly | Rule::Fixed | Rule::Forbidden | Rule::Capacity
    )
}

/// Why a problem has no answer.
pub(crate) fn no_point() -> Error {
    Error::new("no point keeps all of the problem's rules")
}

impl Sum {
    fn of(constraint: &Constraint) -> Result<Self> {
        let mut terms: Vec<_> =
            constraint.literals().iter().map(|literal| (literal.index, literal.level == 1, 1.0)).collect();
        let all = terms.len() as f64;
        let (least, most) = match constraint {
            Constraint::AtMost { count, .. } => (0.0, *count as f64),
            Constraint::Exactly { count, .. } => (*count as f64, *count as f64),
            Constraint::Fixed(_) => (1.0, 1.0),
            Constraint::Forbidden(_) => (0.0, all - 1.0),
            Constraint::Capacity { limit, weights, .. } => {
                terms.iter_mut().zip(weights).for_each(|(term, weight)| term.2 = *weight);
                (0.0, limit + constraint.rounding())
            }
            other => return Err(Error::new(format!("the rule `{other}` is not known here"))),
        };
        Ok(Self::new(terms, least, most))
    }

    fn of_group(group: &Range<usize>) -> Self {
        Self::new(group.clone().map(|bit| (bit, true, 1.0)).collect(), 1.0, 1.0)
    }

    pub(crate) fn new(terms: Vec<(usize, bool, f64)>, least: f64, most: f64) -> Self {
        /// Up to here, sums of whole numbers are exact.
        const EXACT: f64 = (1u64 << 52) as f64;
        let size: f64 = terms.iter().map(|(_, _, weight)| weight.abs()).sum();
        let whole = size < EXACT && terms.iter().all(|(_, _, weight)| weight.trunc() == *weight);
        let heaviest = terms.iter().fold(0.0, |most: f64, (_, _, weight)| most.max(weight.abs()));
        let (least, most) = if whole { (least.ceil(), most.floor()) } else { (least, most) };
        Self { terms, least, most, heaviest, rounding: if whole { 0.0 } else { 1e-10 * size } }
    }

    /// Bit, level and weight of each term.
    #[inline]
    pub fn terms(&self) -> &[(usize, bool, f64)] {
        &self.terms
    }

    /// The least it may be.
    pub fn least(&self) -> f64 {
        self.least
    }

    /// The most it may be.
    pub fn most(&self) -> f64 {
        self.most
    }

    pub(crate) fn heaviest(&self) -> f64 {
        self.heaviest
    }

    /// How far a sum that is kept up to date may be from the true one.
    pub(crate) fn rounding(&self) -> f64 {
        self.rounding
    }

    /// Whether all its values are whole numbers.
    pub fn is_whole(&self) -> bool {
        self.rounding == 0.0
    }

    /// The sum at a point, added up in order.
    pub fn at(&self, bit: impl Fn(usize) -> bool) -> f64 {
        let holding = self.terms.iter().filter(|&&(index, level, _)| bit(index) == level);
        holding.map(|(_, _, weight)| weight).sum()
    }

    /// Whether a sum is within the limits.
    #[inline]
    pub fn allows(&self, sum: f64) -> bool {
        self.least <= sum && sum <= self.most
    }

    /// Whether a sum that was kept up to date is so near a limit that only adding it up in order tells.
    #[inline]
    pub(crate) fn is_close(&self, sum: f64) -> bool {
        self.rounding > 0.0
            && ((sum - self.least).abs() <= self.rounding || (sum - self.most).abs() <= self.rounding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::{Bits, Literal};

    fn literals(all: &[(usize, u32)]) -> Vec<Literal> {
        all.iter().map(|&(index, level)| Literal::new(index, level)).collect()
    }

    #[test]
    fn a_sum_is_within_its_limits_where_the_rule_holds() {
        let of = literals(&[(0, 1), (2, 0), (3, 1)]);
        let constraints = vec![
            Constraint::AtMost { count: 1, of: of.clone() },
            Constraint::Exactly { count: 2, of: of.clone() },
            Constraint::Capacity { limit: 0.3, of: of.clone(), weights: vec![0.1, 0.2, 0.25] },
            Constraint::Capacity { limit: 5.0, of: of.clone(), weights: vec![2.0, 3.0, 4.0] },
            Constraint::Forbidden(of),
            Constraint::Fixed(Literal::new(1, 1)),
        ];
        for constraint in constraints {
            let sum = Sum::of(&constraint).unwrap();
            for mask in 0..16u32 {
                let bits: Bits = (0..4).map(|i| mask >> i & 1 == 1).collect();
                let holds = constraint.holds(|i| u32::from(bits[i]));
                assert_eq!(sum.allows(sum.at(|i| bits[i])), holds, "{constraint} at {bits}");
            }
        }
    }

    #[test]
    fn what_has_one_value_everywhere_is_known_from_the_rules_alone() {
        let layout = Layout::with_groups(7, vec![0..3])
            .unwrap()
            .with_constraints(vec![
                Constraint::Fixed(Literal::new(1, 0)),
                Constraint::AtMost { count: 0, of: literals(&[(2, 1)]) },
                Constraint::Forbidden(literals(&[(0, 1), (4, 1)])),
                Constraint::Exactly { count: 2, of: literals(&[(4, 1), (5, 1), (6, 0)]) },
            ])
            .unwrap();
        let rules = Rules::of(&layout).unwrap();
        let known: Vec<_> = rules.fixed().iter().map(|bit| bit.map(u8::from)).collect();
        assert_eq!(known, [Some(1), Some(0), Some(0), None, Some(0), Some(1), Some(0)]);
        assert_eq!((rules.constraint_count(), rules.sums().len()), (4, 5));
        assert_eq!(rules.of_bit(4), [(2, 1.0), (3, 1.0)]);
        assert_eq!(rules.of_bit(6), [(3, -1.0)]);
    }

    #[test]
    fn a_contradiction_that_propagation_sees_is_an_error() {
        let constraints = vec![
            Constraint::Fixed(Literal::new(0, 1)),
            Constraint::AtMost { count: 0, of: literals(&[(0, 1), (1, 1)]) },
        ];
        let layout = Layout::free(2).with_constraints(constraints).unwrap();
        let error = Rules::of(&layout).err().expect("a contradiction");
        assert_eq!(error.to_string(), "no point keeps all of the problem's rules");
    }
}
