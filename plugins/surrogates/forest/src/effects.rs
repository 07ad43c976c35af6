//! What bits do on average over all points: exact for trees.
//!
//! All variables are independent and uniform. The effect of a free bit is E(f | 1) − E(f | 0), that of a level of a group
//! E(f | level) − E(f), and that of a pair is one of these, of the other: E(f | 11) − E(f | 10) − E(f | 01) + E(f | 00) for
//! two free bits. A leaf with the value y and the share w of all points adds y·w·d to the effect of a bit, where d is
//! (±1)/½ for a free bit that its path decides, and [level is in]/p − 1 for a group of whose levels the share p is in; for a pair it
//! is the product of both. Where the path does not decide a variable, d is 0.

use std::collections::BTreeMap;

use plugin_api::Effect;
use shared_variables::{Variable, Variables};

use crate::model::{Forest, moments};
use crate::tree::{Leaf, Region, Tree};

/// The effect of every bit, then of as many pairs as there are bits, those of the largest effects; each with its deviation over
/// the trees.
pub(crate) fn effects(forest: &Forest, variables: &Variables) -> Vec<Effect> {
    let count = forest.trees().len();
    let mut sizes: BTreeMap<Vec<usize>, Vec<f64>> =
        (0..variables.dimension()).map(|i| (vec![i], vec![0.0; count])).collect();
    for (t, tree) in forest.trees().iter().enumerate() {
        for (bits, size) in of_tree(tree, variables) {
            sizes.entry(bits).or_insert_with(|| vec![0.0; count])[t] = size;
        }
    }
    let effect = |(bits, sizes): (Vec<usize>, Vec<f64>)| {
        let (size, variance) = moments(sizes.into_iter());
        Effect::new(bits, size, variance.sqrt())
    };
    let (mut pairs, mut effects): (Vec<Effect>, Vec<Effect>) =
        sizes.into_iter().map(effect).partition(|effect| effect.bits().len() == 2);
    // Stable: of equal ones, those of the first bits.
    pairs.sort_by(|one, two| two.size().abs().total_cmp(&one.size().abs()));
    pairs.truncate(variables.dimension());
    effects.extend(pairs);
    effects
}

fn of_tree(tree: &Tree, variables: &Variables) -> BTreeMap<Vec<usize>, f64> {
    let kinds: Vec<&Variable> = variables.iter().collect();
    let mut effects = BTreeMap::new();
    tree.for_each_leaf(&variables.levels(), &mut |leaf: &Leaf, region: &Region| {
        let share = |allowed: &[bool]| {
            allowed.iter().filter(|&&allowed| allowed).count() as f64 / allowed.len() as f64
        };
        let weight: f64 = region.values().map(|allowed| share(allowed)).product();
        let mut contrasts = Vec::new();
        for (&variable, allowed) in region {
            let contrast = |level: usize| f64::from(u8::from(allowed[level])) / share(allowed);
            match kinds[variable] {
                Variable::Free(i) => contrasts.push((variable, *i, contrast(1) - contrast(0))),
                Variable::Group(group) => contrasts
                    .extend(group.clone().enumerate().map(|(level, i)| (variable, i, contrast(level) - 1.0))),
            }
        }
        for (k, &(variable, i, contrast)) in contrasts.iter().enumerate() {
            *effects.entry(vec![i]).or_insert(0.0) += leaf.value * weight * contrast;
            for &(other, j, factor) in &contrasts[k + 1..] {
                if other != variable {
                    *effects.entry(vec![i, j]).or_insert(0.0) += leaf.value * weight * contrast * factor;
                }
            }
        }
    });
    effects
}

#[cfg(test)]
mod tests {
    use plugin_api::{Bits, Layout, rng};
    use shared_values::Values;

    use super::*;
    use crate::model::Recipe;
    use crate::split::Splits;

    fn value(bits: &Bits) -> f64 {
        let product = if bits[0] && bits[4] { 9.0 } else { 0.0 };
        product + bits.iter().enumerate().map(|(i, &bit)| if bit { i as f64 } else { 0.0 }).sum::<f64>()
    }

    /// The effect of one tree by its definition: a sum over all points.
    fn exhaustive(tree: &Tree, layout: &Layout, variables: &Variables, effect: &[usize]) -> f64 {
        let all = (0..1u32 << layout.dimension())
            .map(|mask| (0..layout.dimension()).map(move |i| mask >> i & 1 == 1));
        let all: Vec<Bits> = all.map(Iterator::collect).filter(|bits: &Bits| layout.admits(bits)).collect();
        let mean = |fixed: &[(usize, bool)]| {
            let inside = all.iter().filter(|bits| fixed.iter().all(|&(i, bit)| bits[i] == bit));
            let values: Vec<f64> = inside.map(|bits| tree.leaf(&variables.of_bits(bits)).value).collect();
            values.iter().sum::<f64>() / values.len() as f64
        };
        // With a bit, minus without it, or of a group minus whatever it is at.
        let sides = |i: usize| {
            let grouped = layout.groups().iter().any(|group| group.contains(&i));
            [(1.0, vec![(i, true)]), (-1.0, if grouped { vec![] } else { vec![(i, false)] })]
        };
        let mut terms = vec![(1.0, Vec::new())];
        for &i in effect {
            let extend = |(sign, fixed): (f64, Vec<(usize, bool)>)| {
                sides(i).map(|(factor, more)| (sign * factor, [fixed.clone(), more].concat()))
            };
            terms = terms.into_iter().flat_map(extend).collect();
        }
        terms.iter().map(|(sign, fixed)| sign * mean(fixed)).sum()
    }

    #[test]
    fn effects_are_averages_over_all_points() {
        let layout = Layout::with_groups(7, vec![1..4, 5..7]).unwrap();
        let (variables, rng) = (Variables::of(&layout), &mut rng(3));
        let points: Vec<Bits> = (0..60).map(|_| layout.random(rng)).collect();
        let rows = points.iter().map(|bits| variables.of_bits(bits)).collect();
        let values: Vec<f64> = points.iter().map(value).collect();
        let recipe =
            Recipe { levels: variables.levels(), splits: Splits::Subsets, values: Values::Log, trees: 10 };
        let forest = recipe.grow(rows, &values, &vec![true; values.len()], 1);
        let effects = effects(&forest, &variables);
        assert_eq!(effects.len(), 14, "all bits and as many pairs");
        for effect in &effects {
            let of_tree = |tree: &Tree| exhaustive(tree, &layout, &variables, effect.bits());
            let sizes: Vec<f64> = forest.trees().iter().map(of_tree).collect();
            let mean = sizes.iter().sum::<f64>() / 10.0;
            let deviation = (sizes.iter().map(|s| (s - mean) * (s - mean)).sum::<f64>() / 10.0).sqrt();
            let (bits, size) = (effect.bits(), effect.size());
            assert!((size - mean).abs() < 1e-9, "{bits:?}: {size} for {mean}");
            assert!((effect.deviation() - deviation).abs() < 1e-9, "{bits:?}");
        }
        // Bits 0 and 4 add 9 together: the strongest pair, and half of it to each on average.
        assert_eq!(effects[7].bits(), [0, 4]);
        assert!((effects[7].size() - 9.0).abs() < 3.0 && (effects[4].size() - 8.5).abs() < 2.0);
    }
}
