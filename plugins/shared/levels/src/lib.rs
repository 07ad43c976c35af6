//! Levels of variables as bits, and the rules of a space in terms of them.
//!
//! That a variable has a level is said by bits in two ways. A rule that forbids needs them as literals that hold all at
//! once; a rule that counts or weighs needs them as a sum that is 1 where the variable has the level, and 0 elsewhere. An
//! encoder that has both for every level can say every rule, and each stays of its sort.

use std::collections::BTreeMap;

use plugin_api::{Constraint, Error, Literal, Result};

/// How bits say that a variable has a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Indicator {
    /// All of these hold where the variable has the level, and nowhere else.
    literals: Vec<Literal>,
    /// constant + Σ coefficient × bit is 1 there, and 0 elsewhere.
    constant: i8,
    terms: Vec<(usize, i8)>,
}

impl Indicator {
    /// The only level that there is.
    pub fn always() -> Self {
        Self { literals: Vec::new(), constant: 1, terms: Vec::new() }
    }

    /// A bit that is set, or one that is not.
    pub fn bit(bit: usize, set: bool) -> Self {
        let literals = vec![Literal::new(bit, u32::from(set))];
        match set {
            true => Self { literals, constant: 0, terms: vec![(bit, 1)] },
            false => Self { literals, constant: 1, terms: vec![(bit, -1)] },
        }
    }

    /// None of these bits is set, of which at most one can be.
    pub fn none_of(bits: impl IntoIterator<Item = usize>) -> Self {
        let terms: Vec<(usize, i8)> = bits.into_iter().map(|bit| (bit, -1)).collect();
        let literals = terms.iter().map(|&(bit, _)| Literal::new(bit, 0)).collect();
        Self { literals, constant: 1, terms }
    }

    /// The first bit is set and the second is not, which is never set without the first.
    pub fn between(set: usize, not_set: usize) -> Self {
        let literals = vec![Literal::new(set, 1), Literal::new(not_set, 0)];
        Self { literals, constant: 0, terms: vec![(set, 1), (not_set, -1)] }
    }
}

/// A rule between levels as rules between bits, of the same sort; none, where every point keeps it. Refuses what no point
/// can keep to.
pub fn in_bits(constraint: &Constraint, level: impl Fn(Literal) -> Indicator) -> Result<Vec<Constraint>> {
    let all: Vec<Indicator> = constraint.literals().iter().map(|&literal| level(literal)).collect();
    // Where each level is one literal, the rule is the same rule.
    if all.iter().all(|indicator| indicator.literals.len() == 1) {
        let literal = |literal: Literal| level(literal).literals[0];
        return Ok(vec![constraint.map(literal)]);
    }
    let impossible = || Error::new(format!("no point keeps to the constraint: {constraint}"));
    match constraint {
        Constraint::Fixed(_) => {
            let literals = all.into_iter().flat_map(|indicator| indicator.literals);
            Ok(literals.map(Constraint::Fixed).collect())
        }
        Constraint::Forbidden(_) => {
            let mut literals: Vec<Literal> =
                all.into_iter().flat_map(|indicator| indicator.literals).collect();
            literals.sort_unstable();
            literals.dedup();
            // A bit is not set and unset at once: two levels of one variable need no rule.
            let contradicts = |pair: &[Literal]| pair[0].index == pair[1].index;
            match literals.is_empty() {
                true => Err(impossible()),
                false if literals.windows(2).any(contradicts) => Ok(Vec::new()),
                false => Ok(vec![Constraint::Forbidden(literals)]),
            }
        }
        Constraint::AtMost { count, of } | Constraint::Exactly { count, of } => {
            let sum = Sum::new(&all, &vec![1.0; of.len()]);
            let bound = *count as f64 - sum.constant;
            if bound < 0.0 || sum.weights.iter().any(|&weight| weight != 1.0) {
                return Err(impossible());
            }
            let (count, of) = (bound as usize, sum.literals);
            Ok(vec![match constraint {
                Constraint::AtMost { .. } => Constraint::AtMost { count, of },
                _ => Constraint::Exactly { count, of },
            }])
        }
        Constraint::Capacity { limit, weights, .. } => {
            let sum = Sum::new(&all, weights);
            let limit = limit - sum.constant;
            if limit < -constraint.rounding() {
                return Err(impossible());
            }
            Ok(vec![Constraint::Capacity { limit: limit.max(0.0), of: sum.literals, weights: sum.weights }])
        }
        unknown => Err(Error::new(format!("a rule that this encoder does not know: {unknown}"))),
    }
}

/// constant + Σ weight × literal, with weights above 0.
struct Sum {
    constant: f64,
    literals: Vec<Literal>,
    weights: Vec<f64>,
}

impl Sum {
    fn new(all: &[Indicator], weights: &[f64]) -> Self {
        let mut constant = 0.0;
        let mut coefficients: BTreeMap<usize, f64> = BTreeMap::new();
        for (indicator, weight) in all.iter().zip(weights) {
            constant += weight * f64::from(indicator.constant);
            for &(bit, coefficient) in &indicator.terms {
                *coefficients.entry(bit).or_default() += weight * f64::from(coefficient);
            }
        }
        let mut sum = Self { constant, literals: Vec::new(), weights: Vec::new() };
        for (bit, coefficient) in coefficients.into_iter().filter(|(_, coefficient)| *coefficient != 0.0) {
            // −a x = a (1 − x) − a
            if coefficient < 0.0 {
                sum.constant += coefficient;
            }
            sum.literals.push(Literal::new(bit, u32::from(coefficient > 0.0)));
            sum.weights.push(coefficient.abs());
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A variable of four levels as a thermometer of the bits 0 to 2.
    fn thermometer(literal: Literal) -> Indicator {
        match literal.level {
            0 => Indicator::bit(0, false),
            3 => Indicator::bit(2, true),
            level => Indicator::between(level as usize - 1, level as usize),
        }
    }

    fn of(levels: &[u32]) -> Vec<Literal> {
        levels.iter().map(|&level| Literal::new(0, level)).collect()
    }

    fn translated(constraint: Constraint) -> Vec<String> {
        in_bits(&constraint, thermometer).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn rules_about_levels_become_rules_about_bits_of_the_same_sort() {
        assert_eq!(translated(Constraint::Fixed(Literal::new(0, 1))), ["always x[0]=1", "always x[1]=0"]);
        assert_eq!(translated(Constraint::Forbidden(of(&[2]))), ["never all of x[1]=1, x[2]=0"]);
        // Two neighbours at most once: between the bits around them nothing is left to say but that.
        assert_eq!(
            translated(Constraint::AtMost { count: 0, of: of(&[1, 2]) }),
            ["at most 1 of x[0]=1, x[2]=0"]
        );
        let capacity =
            Constraint::Capacity { limit: 2.5, of: of(&[0, 1, 2, 3]), weights: vec![4.0, 1.0, 2.0, 3.0] };
        assert_eq!(translated(capacity), ["weights of at most 1.5 among x[0]=0 (3), x[1]=1 (1), x[2]=1 (1)"]);
    }

    #[test]
    fn what_every_point_keeps_needs_no_rule_and_what_none_keeps_is_refused() {
        assert!(translated(Constraint::Forbidden(of(&[1, 2]))).is_empty());
        let always = |_| Indicator::always();
        assert!(in_bits(&Constraint::Fixed(Literal::new(0, 0)), always).unwrap().is_empty());
        for constraint in [
            Constraint::Forbidden(of(&[0])),
            Constraint::AtMost { count: 0, of: of(&[0]) },
            Constraint::Capacity { limit: 1.0, of: of(&[0]), weights: vec![2.0] },
        ] {
            let error = in_bits(&constraint, always).unwrap_err().to_string();
            assert!(error.starts_with("no point keeps to the constraint: "), "{error}");
        }
    }
}
