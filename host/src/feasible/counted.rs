//! How many points keep the rules, and points drawn exactly uniformly from them: dynamic programming over the variables.
//!
//! Variables are taken one after the other. What matters of those before is the sum so far of each rule that is not yet
//! decided, so points with the same sums are counted together: "exactly 3 of 20" has at most four sums at a time. Rules that
//! share no variable are counted apart.

use std::collections::{BTreeMap, BTreeSet};

use plugin_api::Rng;
use plugin_api::rand::RngExt;

use super::choices::{Choices, Term};

/// The most different sums that are told apart, in all steps together.
const MOST_STATES: usize = 100_000;

/// The sums so far of the rules that are not yet decided, as the bits of their numbers.
type Sums = Vec<u64>;

/// A rule that is kept whatever follows.
const KEPT: u64 = u64::MAX;

/// How many points keep the rules, and a way to draw one.
pub(super) struct Counted<'a> {
    parts: Vec<Part<'a>>,
    /// Variables that no rule speaks of, with the number of their levels.
    free: Vec<(usize, u32)>,
    variables: usize,
}

/// Variables that rules tie together.
struct Part<'a> {
    steps: Vec<Step<'a>>,
    /// For each step, the sums before it with the number of ways to go on to the end, in units of the step's own; one step
    /// more for the end.
    ways: Vec<BTreeMap<Sums, f64>>,
    /// The logarithm of the number of points.
    log_count: f64,
}

/// The choice of a variable's level.
struct Step<'a> {
    variable: usize,
    levels: u32,
    updates: Vec<Update<'a>>,
}

/// What a choice does to the sum of a rule.
struct Update<'a> {
    /// Its place among the sums before; absent where the rule begins here.
    from: Option<usize>,
    /// What the levels of this variable weigh, where the rule speaks of it.
    term: Option<&'a Term>,
    /// Whether it is among the sums after.
    goes_on: bool,
    /// The least and the most that the sum may be here: with these, the rest can still bring it within its bounds.
    possible: (f64, f64),
    /// With a sum within these, the rest cannot bring it out of its bounds.
    kept: (f64, f64),
}

impl<'a> Counted<'a> {
    /// `None` where there are too many sums to tell apart.
    pub(super) fn new(choices: &'a Choices) -> Option<Self> {
        let (mut parts, mut states) = (Vec::new(), 0);
        let mut free = Vec::new();
        for variables in tied(choices) {
            match variables[..] {
                [alone] if choices.within[alone].is_empty() => {
                    free.push((alone, choices.sizes[alone] as u32))
                }
                _ => parts.push(Part::new(choices, &variables, &mut states)?),
            }
        }
        Some(Self { parts, free, variables: choices.variables() })
    }

    /// The natural logarithm of the number of points; −∞ where there is none.
    pub(super) fn log_count(&self) -> f64 {
        let free: f64 = self.free.iter().map(|&(_, levels)| libm::log(f64::from(levels))).sum();
        free + self.parts.iter().map(|part| part.log_count).sum::<f64>()
    }

    /// A point, each of all as likely as any other; `None` where there is none.
    pub(super) fn draw(&self, rng: &mut Rng) -> Option<Vec<u32>> {
        let mut point = vec![0; self.variables];
        for &(variable, levels) in &self.free {
            point[variable] = rng.random_range(0..levels);
        }
        self.parts.iter().try_for_each(|part| part.draw(&mut point, rng))?;
        Some(point)
    }
}

impl<'a> Part<'a> {
    fn new(choices: &'a Choices, variables: &[usize], states: &mut usize) -> Option<Self> {
        let steps = steps(choices, &in_order(choices, variables));
        // Forward: which sums can be reached. Backward: in how many ways each goes on.
        let mut ways: Vec<BTreeMap<Sums, f64>> = vec![BTreeMap::from([(Sums::new(), 0.0)])];
        for step in &steps {
            let mut next = BTreeMap::new();
            for sums in ways.last().into_iter().flat_map(BTreeMap::keys) {
                for after in (0..step.levels).filter_map(|level| step.after(sums, level)) {
                    next.insert(after, 0.0);
                }
                if *states + next.len() > MOST_STATES {
                    return None;
                }
            }
            *states += next.len();
            ways.push(next);
        }
        ways.last_mut()?.values_mut().for_each(|ways| *ways = 1.0);
        let mut log_count = 0.0;
        for (i, step) in steps.iter().enumerate().rev() {
            let (before, after) = ways.split_at_mut(i + 1);
            let after = &after[0];
            let mut most: f64 = 0.0;
            for (sums, ways) in &mut before[i] {
                let next = (0..step.levels).filter_map(|level| step.after(sums, level));
                *ways = next.map(|sums| after[&sums]).sum();
                most = most.max(*ways);
            }
            // Only the shares within a step matter.
            if most > 1e200 {
                before[i].values_mut().for_each(|ways| *ways /= most);
                log_count += libm::log(most);
            }
        }
        log_count += libm::log(ways[0][&Sums::new()]);
        Some(Self { steps, ways, log_count })
    }

    fn draw(&self, point: &mut [u32], rng: &mut Rng) -> Option<()> {
        let mut sums = Sums::new();
        for (step, after) in self.steps.iter().zip(&self.ways[1..]) {
            let next: Vec<(u32, Sums)> =
                (0..step.levels).filter_map(|level| Some((level, step.after(&sums, level)?))).collect();
            let total: f64 = next.iter().map(|(_, sums)| after[sums]).sum();
            let mut left = rng.random::<f64>() * total;
            let possible = next.into_iter().filter(|(_, sums)| after[sums] > 0.0);
            let mut chosen = None;
            for (level, sums) in possible {
                left -= after[&sums];
                chosen = Some((level, sums));
                if left < 0.0 {
                    break;
                }
            }
            let (level, next) = chosen?;
            point[step.variable] = level;
            sums = next;
        }
        Some(())
    }
}

impl Step<'_> {
    /// The sums after a level is chosen; `None` where a rule cannot be kept any more.
    fn after(&self, sums: &Sums, level: u32) -> Option<Sums> {
        let mut after = Sums::with_capacity(self.updates.len());
        for update in &self.updates {
            let before = update.from.map_or(0, |place| sums[place]);
            let now = if before == KEPT {
                KEPT
            } else {
                let sum = f64::from_bits(before) + update.term.map_or(0.0, |term| term.weight(level));
                let within = |(least, most): (f64, f64)| (least..=most).contains(&sum);
                if !within(update.possible) {
                    return None;
                }
                // −0 and 0 are the same sum.
                if within(update.kept) { KEPT } else { (sum + 0.0).to_bits() }
            };
            if update.goes_on {
                after.push(now);
            }
        }
        Some(after)
    }
}

/// Variables that rules tie together, directly or through others; each list ascending.
fn tied(choices: &Choices) -> Vec<Vec<usize>> {
    let mut parts = Vec::new();
    let mut seen = vec![false; choices.variables()];
    for first in 0..choices.variables() {
        let (mut open, mut part) = (vec![first], Vec::new());
        while let Some(variable) = open.pop() {
            if std::mem::replace(&mut seen[variable], true) {
                continue;
            }
            part.push(variable);
            let rules = choices.within[variable].iter();
            open.extend(rules.flat_map(|&rule| choices.rules[rule].terms.iter().map(|term| term.variable)));
        }
        if !part.is_empty() {
            part.sort_unstable();
            parts.push(part);
        }
    }
    parts
}

/// The order in which few rules are begun and not yet ended at any time: each next variable begins the fewest and ends the
/// most.
fn in_order(choices: &Choices, variables: &[usize]) -> Vec<usize> {
    let mut open_terms: Vec<usize> = choices.rules.iter().map(|rule| rule.terms.len()).collect();
    let mut begun = vec![false; choices.rules.len()];
    let mut left: BTreeSet<usize> = variables.iter().copied().collect();
    let mut order = Vec::with_capacity(variables.len());
    while !left.is_empty() {
        let cost = |&variable: &usize| -> isize {
            let rules = choices.within[variable].iter();
            rules.map(|&rule| isize::from(!begun[rule]) - isize::from(open_terms[rule] == 1)).sum()
        };
        let next = *left.iter().min_by_key(|variable| cost(variable)).expect("some are left");
        left.remove(&next);
        for &rule in &choices.within[next] {
            begun[rule] = true;
            open_terms[rule] -= 1;
        }
        order.push(next);
    }
    order
}

fn steps<'a>(choices: &'a Choices, order: &[usize]) -> Vec<Step<'a>> {
    // Of each rule, the least and the most that the variables still to come can add.
    let range = |term: &Term| {
        let listed = term.weights.len() >= choices.sizes[term.variable];
        let start = if listed { (f64::INFINITY, f64::NEG_INFINITY) } else { (0.0, 0.0) };
        term.weights.iter().fold(start, |(least, most), &(_, weight)| (least.min(weight), most.max(weight)))
    };
    let mut rest: BTreeMap<usize, (f64, f64, usize)> = BTreeMap::new();
    for &variable in order {
        for &rule in &choices.within[variable] {
            let ranges = choices.rules[rule].terms.iter().map(range);
            let sum = ranges.fold((0.0, 0.0), |(a, b), (c, d)| (a + c, b + d));
            rest.insert(rule, (sum.0, sum.1, choices.rules[rule].terms.len()));
        }
    }
    let mut active: Vec<usize> = Vec::new();
    let mut steps = Vec::with_capacity(order.len());
    for &variable in order {
        let begins = choices.within[variable].iter().filter(|rule| !active.contains(rule)).copied();
        let rules: Vec<usize> = active.iter().copied().chain(begins).collect();
        let mut next = Vec::new();
        let mut updates = Vec::with_capacity(rules.len());
        for (place, &rule) in rules.iter().enumerate() {
            let sum = &choices.rules[rule];
            let term = sum.terms.iter().find(|term| term.variable == variable);
            let (low, high, left) = rest.get_mut(&rule).expect("every rule of the part is there");
            if let Some(term) = term {
                let (least, most) = range(term);
                *left -= 1;
                (*low, *high) = if *left == 0 { (0.0, 0.0) } else { (*low - least, *high - most) };
            }
            let goes_on = *left > 0;
            updates.push(Update {
                from: (place < active.len()).then_some(place),
                term,
                goes_on,
                possible: (sum.least - *high, sum.most - *low),
                kept: (sum.least - *low, sum.most - *high),
            });
            if goes_on {
                next.push(rule);
            }
        }
        steps.push(Step { variable, levels: choices.sizes[variable] as u32, updates });
        active = next;
    }
    steps
}

#[cfg(test)]
mod tests {
    use plugin_api::{Constraint, Literal, Space, rng};

    use super::super::choices::tests::{all_points, random_space};
    use super::*;

    #[test]
    fn points_are_counted_as_trying_each_counts_them() {
        for seed in 0..1500 {
            let choices = Choices::of_space(&random_space(seed));
            let points = all_points(&choices.sizes);
            let expected = points.iter().filter(|point| choices.admits(point)).count();
            let counted = Counted::new(&choices).unwrap();
            let count = libm::exp(counted.log_count());
            assert!(
                (count - expected as f64).abs() < 1e-6 * count.max(1.0),
                "{count} and {expected}: {choices:?}"
            );
            match counted.draw(&mut rng(seed)) {
                Some(point) => assert!(choices.admits(&point), "{point:?}"),
                None => assert_eq!(expected, 0),
            }
        }
    }

    #[test]
    fn every_point_is_as_likely_as_any_other() {
        // Rules that share variables, so that levels chosen one by one would not be uniform.
        for seed in [3, 8, 21, 34, 55, 89] {
            let choices = Choices::of_space(&random_space(seed));
            let points: Vec<_> =
                all_points(&choices.sizes).into_iter().filter(|point| choices.admits(point)).collect();
            if points.len() < 2 {
                continue;
            }
            let counted = Counted::new(&choices).unwrap();
            let mut counts: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
            let draws = 50 * points.len();
            let rng = &mut rng(seed);
            for _ in 0..draws {
                *counts.entry(counted.draw(rng).unwrap()).or_default() += 1.0;
            }
            let square = |count: f64| (count - 50.0) * (count - 50.0) / 50.0;
            let statistic: f64 =
                points.iter().map(|point| square(counts.get(point).copied().unwrap_or(0.0))).sum();
            let freedom = points.len() as f64 - 1.0;
            // Five standard deviations of the statistic, which is about normal.
            assert!(
                (statistic - freedom).abs() < 5.0 * (2.0 * freedom).sqrt() + 5.0,
                "{statistic} of {freedom}"
            );
        }
    }

    #[test]
    fn numbers_beyond_a_float_are_counted_by_their_logarithms() {
        let of = (0..2000).map(|i| Literal::new(i, 1)).collect();
        let space =
            Space::binary(2000).with_constraints(vec![Constraint::AtMost { count: 1000, of }]).unwrap();
        let choices = Choices::of_space(&space);
        // 2000 steps with up to 1000 sums each are too many; with two each they are not.
        assert!(Counted::new(&choices).is_none());
        let of = (0..2000).map(|i| Literal::new(i, 1)).collect();
        let space = Space::binary(3000).with_constraints(vec![Constraint::Exactly { count: 1, of }]).unwrap();
        let choices = Choices::of_space(&space);
        let counted = Counted::new(&choices).unwrap();
        let expected = 1000.0 * libm::log(2.0) + libm::log(2000.0);
        assert!((counted.log_count() - expected).abs() < 1e-9 * expected);
        assert!(choices.admits(&counted.draw(&mut rng(1)).unwrap()));
    }
}
