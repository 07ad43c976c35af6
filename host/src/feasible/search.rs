//! A complete search for points that keep all rules: backtracking, with what the rules say after each choice.

use plugin_api::Rng;
use plugin_api::rand::RngExt;

use super::choices::Choices;
use super::domains::Domains;

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// With a point: a level for each variable.
    Point(Vec<u32>),
    /// With a proof that there is none.
    Nothing,
    /// With neither, after as much work as it was allowed.
    GaveUp,
}

/// The first point that keeps all rules and that `wanted` takes. The work counts terms and levels that were looked at.
pub fn search(choices: &Choices, work: u64, wanted: &mut dyn FnMut(&[u32]) -> bool) -> Found {
    run(choices, work, wanted, None)
}

/// Any point that keeps all rules: which of them depends on the seed, and not all are alike likely.
pub(super) fn random(choices: &Choices, work: u64, rng: &mut Rng) -> Found {
    run(choices, work, &mut |_| true, Some(rng))
}

/// A variable with the levels still to be tried, the next one last, and where to go back to before each.
struct Branch {
    variable: usize,
    levels: Vec<u32>,
    mark: usize,
}

fn run(
    choices: &Choices,
    work: u64,
    wanted: &mut dyn FnMut(&[u32]) -> bool,
    mut rng: Option<&mut Rng>,
) -> Found {
    let Ok(mut domains) = Domains::new(choices) else { return Found::Nothing };
    let mut branches: Vec<Branch> = Vec::new();
    loop {
        match next_variable(choices, &mut domains, rng.as_deref_mut()) {
            Some(variable) => {
                let mut levels: Vec<u32> = domains.levels(variable).collect();
                levels.reverse();
                if let Some(rng) = rng.as_deref_mut() {
                    shuffle(&mut levels, rng);
                }
                branches.push(Branch { variable, levels, mark: domains.mark() });
            }
            None => {
                let point = domains.first();
                // Sums that were updated level by level are as good as those in order, but for rounding.
                if choices.admits(&point) && wanted(&point) {
                    return Found::Point(point);
                }
            }
        }
        // The next level that does not lead to a dead end at once, of the last variable that has one.
        loop {
            let Some(branch) = branches.last_mut() else { return Found::Nothing };
            domains.restore(branch.mark);
            if domains.work > work {
                return Found::GaveUp;
            }
            match branch.levels.pop() {
                Some(level) if domains.assign(branch.variable, level).is_ok() => break,
                Some(_) => {}
                None => {
                    branches.pop();
                }
            }
        }
    }
}

/// The variable with the fewest levels left, of those with a choice: where there are few ways, dead ends show early.
fn next_variable(choices: &Choices, domains: &mut Domains<'_>, rng: Option<&mut Rng>) -> Option<usize> {
    domains.work += choices.variables() as u64;
    let open = (0..choices.variables()).filter(|&variable| domains.left(variable) > 1);
    let fewest = open.clone().map(|variable| domains.left(variable)).min()?;
    let mut among = open.filter(|&variable| domains.left(variable) == fewest);
    match rng {
        None => among.next(),
        Some(rng) => {
            let among: Vec<usize> = among.collect();
            Some(among[rng.random_range(0..among.len())])
        }
    }
}

/// Fisher and Yates.
pub fn shuffle<T>(items: &mut [T], rng: &mut Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, rng.random_range(0..=last));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use plugin_api::{Constraint, Literal, Space, rng};

    use super::super::choices::tests::{all_points, random_space};
    use super::*;

    #[test]
    fn every_point_that_keeps_the_rules_is_found_once_and_no_other() {
        let mut without = 0;
        for seed in 0..2000 {
            let choices = Choices::of_space(&random_space(seed));
            let expected: BTreeSet<Vec<u32>> =
                all_points(&choices.sizes).into_iter().filter(|point| choices.admits(point)).collect();
            let mut found = Vec::new();
            let end = search(&choices, u64::MAX, &mut |point| {
                found.push(point.to_vec());
                false
            });
            assert_eq!(end, Found::Nothing);
            assert_eq!(found.len(), expected.len(), "{choices:?}");
            assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected);
            without += usize::from(expected.is_empty());
            match random(&choices, u64::MAX, &mut rng(seed)) {
                Found::Point(point) => assert!(expected.contains(&point)),
                other => assert!(expected.is_empty() && other == Found::Nothing),
            }
        }
        assert!((100..1900).contains(&without), "{without} of 2000 without a point");
    }

    #[test]
    fn large_problems_are_solved_by_what_the_rules_say() {
        // 300 variables, each ten of them in a row with exactly three chosen: a random point keeps none of it.
        let of = |from: usize| (from..from + 10).map(|i| Literal::new(i, 1)).collect();
        let rules = (0..291).map(|from| Constraint::Exactly { count: 3, of: of(from) }).collect();
        let space = Space::binary(300).with_constraints(rules).unwrap();
        assert!(matches!(search(&Choices::of_space(&space), 10_000_000, &mut |_| true), Found::Point(_)));
    }

    #[test]
    fn a_search_gives_up_when_it_may_do_no_more() {
        // Twelve pigeons in eleven holes: no rule alone sees it.
        let pigeon =
            |i: usize| plugin_api::Variable::categorical(format!("p{i}"), (0..11).map(|h| h.to_string()));
        let holes = (0..11).map(|hole| Constraint::AtMost {
            count: 1,
            of: (0..12).map(|i| Literal::new(i, hole)).collect(),
        });
        let space = Space::new((0..12).map(pigeon).collect()).unwrap();
        let space = space.with_constraints(holes.collect()).unwrap();
        assert_eq!(search(&Choices::of_space(&space), 10_000, &mut |_| true), Found::GaveUp);
    }
}
