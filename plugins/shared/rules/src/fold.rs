//! Rules as terms of a function, so that what bounds the function bounds its least value among the points that keep them.
//!
//! For a sum s with limits l ≤ s ≤ u, any ρ ≥ 0 and μ ≥ 0, the terms ρ (s − l)(s − u), μ (s − u) and μ (l − s) are not positive
//! where the rule is kept. So a function with such terms is nowhere above the original there, and no multiplier can make
//! its bound wrong. Where l = u, the first is a square, and 0.

use plugin_api::Quadratic;

use crate::sums::{Rules, Sum};

/// One pair of multipliers for each sum.
#[derive(Clone, Debug, PartialEq)]
pub struct Multipliers {
    /// ρ, at least 0.
    pub squared: Vec<f64>,
    /// μ of s − u where it is positive, and of s − l where it is negative.
    pub linear: Vec<f64>,
}

/// A function with rules folded in.
pub struct Folded {
    pub function: Quadratic,
    /// No value of the function is above that of the original, at a point that keeps the rules, by more than this: rounding.
    pub slack: f64,
}

impl Rules {
    /// What the rules ask of the bits that are not decided: sums over these by their numbers among each other, without
    /// those that hold whatever comes. Limits are no further apart than the sums can be.
    pub fn rest(&self, values: &[Option<bool>]) -> Vec<Sum> {
        let mut number = Vec::with_capacity(values.len());
        let mut free = 0;
        for value in values {
            number.push(free);
            free += usize::from(value.is_none());
        }
        let rest = |sum: &Sum| {
            let (mut held, mut least, mut most) = (0.0, 0.0, 0.0);
            let mut terms = Vec::new();
            for &(bit, level, weight) in sum.terms() {
                match values[bit] {
                    Some(value) => held += if value == level { weight } else { 0.0 },
                    None => {
                        terms.push((number[bit], level, weight));
                        least += weight.min(0.0);
                        most += weight.max(0.0);
                    }
                }
            }
            // What rounding may have done to the sum counts for the rule, as elsewhere.
            let (floor, ceiling) = (sum.least() - held - sum.rounding(), sum.most() - held + sum.rounding());
            (least < floor || most > ceiling).then(|| Sum::new(terms, least.max(floor), most.min(ceiling)))
        };
        self.sums().iter().filter_map(rest).collect()
    }
}

/// `f` with the terms of all sums.
pub fn folded(f: &Quadratic, sums: &[Sum], multipliers: &Multipliers) -> Folded {
    let n = f.dimension();
    let (mut constant, mut linear, mut pairs) = f.clone().into_parts();
    let mut size = f.magnitude();
    let row = |i: usize| i * (2 * n - i - 1) / 2;
    let mut weights: Vec<(usize, f64)> = Vec::new();
    for (sum, (&squared, &shift)) in sums.iter().zip(multipliers.squared.iter().zip(&multipliers.linear)) {
        if squared == 0.0 && shift == 0.0 {
            continue;
        }
        // s = o + Σ w x, with the terms of level 0 turned over.
        let mut offset = 0.0;
        weights.clear();
        for &(bit, level, weight) in sum.terms() {
            weights.push((bit, if level { weight } else { -weight }));
            offset += if level { 0.0 } else { weight };
        }
        weights.sort_by_key(|&(bit, _)| bit);
        let (below, above) = (offset - sum.least(), offset - sum.most());
        let end = if shift > 0.0 { above } else { below };
        constant += squared * below * above + shift * end;
        let of_linear = squared * (below + above) + shift;
        let sizes: f64 = weights.iter().map(|(_, weight)| weight.abs()).sum();
        let reach = sizes + sum.least().abs() + sum.most().abs() + offset.abs();
        size += squared * reach * reach + shift.abs() * reach;
        for (k, &(i, weight)) in weights.iter().enumerate() {
            linear[i] += weight * (squared * weight + of_linear);
            for &(j, other) in &weights[k + 1..] {
                pairs[row(i) + j - i - 1] += 2.0 * squared * weight * other;
            }
        }
    }
    // A coefficient is a sum of at most two parts for each sum, each of a few products; a value adds up all coefficients.
    let additions = (2 * sums.len() + 2 * n + 32) as f64;
    let function = Quadratic::new(constant, linear, pairs).unwrap_or_else(|_| f.clone());
    Folded { function, slack: additions * f64::EPSILON * size }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::rand::RngExt;
    use plugin_api::{Bits, Constraint, Layout, Literal, rng, testing::random_quadratic};

    fn layout() -> Layout {
        let literals = |of: &[(usize, u32)]| of.iter().map(|&(i, level)| Literal::new(i, level)).collect();
        Layout::with_groups(9, vec![0..3, 4..6])
            .unwrap()
            .with_constraints(vec![
                Constraint::AtMost { count: 2, of: literals(&[(0, 1), (3, 0), (5, 1), (8, 0)]) },
                Constraint::Exactly { count: 2, of: literals(&[(1, 1), (6, 1), (7, 0), (8, 1)]) },
                Constraint::Forbidden(literals(&[(4, 1), (3, 1)])),
                Constraint::Capacity {
                    limit: 3.5,
                    of: literals(&[(3, 1), (6, 0), (7, 1)]),
                    weights: vec![1.5, 2.25, 1.0],
                },
            ])
            .unwrap()
    }

    #[test]
    fn a_folded_function_is_nowhere_above_the_original_where_rules_are_kept_and_equal_where_they_are_equations()
     {
        let rules = Rules::of(&layout()).unwrap();
        let rng = &mut rng(1);
        for case in 0..200 {
            let values: Vec<Option<bool>> = match case % 2 {
                0 => vec![None; 9],
                _ => rules
                    .random(rng)
                    .unwrap()
                    .iter()
                    .map(|&bit| rng.random::<bool>().then_some(bit))
                    .collect(),
            };
            let sums = rules.rest(&values);
            let free: Vec<usize> = (0..9).filter(|&i| values[i].is_none()).collect();
            let f = random_quadratic(rng, free.len());
            let multipliers = Multipliers {
                squared: sums.iter().map(|_| 10.0 * rng.random::<f64>()).collect(),
                linear: sums.iter().map(|_| 20.0 * rng.random::<f64>() - 10.0).collect(),
            };
            let only_equal = Multipliers {
                squared: sums
                    .iter()
                    .zip(&multipliers.squared)
                    .map(|(sum, squared)| if sum.least() == sum.most() { *squared } else { 0.0 })
                    .collect(),
                linear: vec![0.0; sums.len()],
            };
            let (all, equal) = (folded(&f, &sums, &multipliers), folded(&f, &sums, &only_equal));
            let mut kept = 0;
            for mask in 0..512u32 {
                let bits: Bits = (0..9).map(|i| values[i].unwrap_or(mask >> i & 1 == 1)).collect();
                let rest: Bits = free.iter().map(|&i| bits[i]).collect();
                let keeps = rules.admit(&bits);
                assert_eq!(sums.iter().all(|sum| sum.allows(sum.at(|i| rest[i]))), keeps, "{bits}");
                if keeps {
                    kept += 1;
                    assert!(all.function.value(&rest) <= f.value(&rest) + all.slack);
                    assert!((equal.function.value(&rest) - f.value(&rest)).abs() <= equal.slack);
                }
            }
            assert!(kept > 0 && all.slack < 1e-9);
        }
    }
}
