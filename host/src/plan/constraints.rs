//! What the rules of a manifest mean in a space: constraints that every encoder and solver knows.

use std::collections::{BTreeMap, BTreeSet};

use plugin_api::{Constraint, Literal, Space, Variable};

use super::PlanError;
use crate::feasible::contradiction;
use crate::manifest::Mistake;
use crate::manifest::keys::constraints::{Choice, Constraints, Counted, Of, Relation, Weight, Written};
use crate::manifest::yaml::KeyPath;

/// The most constraints that one rule may stand for.
const MOST: usize = 10_000;

/// A space with the manifest's constraints beside its own, or all mistakes in them.
pub fn constrained(space: &Space, written: &Constraints) -> Result<Space, Vec<Mistake>> {
    Rules::new(space, written).map(|rules| rules.space)
}

/// A space with all constraints, and who said which.
pub(super) struct Rules {
    pub(super) space: Space,
    /// The constraints of each rule, those of the objective first.
    sets: Vec<Vec<Constraint>>,
}

impl Rules {
    pub(super) fn new(space: &Space, written: &Constraints) -> Result<Self, Vec<Mistake>> {
        let mut mistakes = Vec::new();
        let mut sets: Vec<Vec<Constraint>> =
            space.constraints().iter().map(|constraint| vec![constraint.clone()]).collect();
        for (i, rule) in written.0.iter().enumerate() {
            let path = Constraints::path(i);
            let mut names = Names { space, mistakes: &mut mistakes };
            let set = names.compile(rule, &path);
            // What no point can keep to is refused by the space, whatever else there is.
            match set.map(|set| space.clone().with_constraints(set.clone()).map(|_| set)) {
                Some(Ok(set)) => sets.push(set),
                Some(Err(error)) => {
                    let what = PlanError::Impossible { rule: rule.to_string(), source: error };
                    mistakes.push(Mistake::at(&path, what));
                }
                None => {}
            }
        }
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        let all = sets.iter().flatten().cloned().collect();
        let space = space.clone().with_constraints(all).expect("each constraint was tried alone");
        Ok(Self { space, sets })
    }

    /// Rules that no point keeps together, as few as need be; `None` where a point keeps all, or none is known.
    pub(super) fn contradiction(&self, written: &Constraints) -> Option<Mistake> {
        let named = contradiction(&self.space, &self.sets);
        let own = self.sets.len() - written.0.len();
        let words = |&set: &usize| match set.checked_sub(own) {
            Some(rule) => format!("`{}`", written.0[rule]),
            None => {
                format!("{}, as the objective has it", self.space.describe_constraint(&self.sets[set][0]))
            }
        };
        let path = match named.last()?.checked_sub(own) {
            Some(rule) => Constraints::path(rule),
            None => KeyPath::root().join("benchmark"),
        };
        let rules = named.iter().map(words).collect();
        Some(Mistake::at(&path, PlanError::Contradiction { rules }))
    }
}

/// Reads rules by the names of a space.
struct Names<'a> {
    space: &'a Space,
    mistakes: &'a mut Vec<Mistake>,
}

/// Levels of variables with their weights.
type Weights = BTreeMap<usize, BTreeMap<u32, f64>>;

impl Names<'_> {
    fn wrong<T>(&mut self, path: &KeyPath, what: PlanError) -> Option<T> {
        self.mistakes.push(Mistake::at(path, what));
        None
    }

    fn compile(&mut self, rule: &Written, path: &KeyPath) -> Option<Vec<Constraint>> {
        match rule {
            Written::Count { relation, count, of } => {
                let of = self.counted(of, &path.join("of"))?;
                let (relation, count) = (*relation, *count);
                let most = match relation {
                    Relation::AtLeast => {
                        of.iter().map(|literal| literal.index).collect::<BTreeSet<_>>().len()
                    }
                    _ => of.len(),
                };
                if count > most && relation != Relation::AtMost {
                    let what = PlanError::TooFew { relation: relation.name(), count, most };
                    return self.wrong(&path.join(relation.name()), what);
                }
                Some(vec![match relation {
                    Relation::Exactly => Constraint::Exactly { count, of },
                    Relation::AtMost => Constraint::AtMost { count, of },
                    // Of as many variables, at most the others have another level.
                    Relation::AtLeast => Constraint::AtMost { count: most - count, of: self.others(&of) },
                }])
            }
            Written::Weights { relation, limit, weights } => {
                let weights = self.weights(weights, &path.join("weights"))?;
                let sign = if *relation == Relation::AtLeast { -1.0 } else { 1.0 };
                self.capacity(&weights, *limit, sign, &path.join(relation.name()), relation.name())
            }
            Written::Fixed(choice) => {
                let choice = self.choice(choice, &path.join("fixed"))?;
                Some(choice.into_iter().flat_map(|(index, levels)| self.fixed(index, &levels)).collect())
            }
            Written::Forbid(choice) => {
                let path = path.join("forbid");
                let choice = self.choice(choice, &path)?;
                let cases = self.cases(&choice, 1, &path)?;
                Some(cases.into_iter().map(Constraint::Forbidden).collect())
            }
            Written::Implies(condition, consequence) => {
                let path = path.join("implies");
                let condition = self.choice(condition, &path.join(0));
                let consequence = self.choice(consequence, &path.join(1))?;
                let condition = condition?;
                // Each other level of what follows is forbidden beside the condition.
                let others: Vec<Literal> = consequence
                    .iter()
                    .flat_map(|(index, levels)| {
                        self.others(
                            &levels.iter().map(|&level| Literal::new(*index, level)).collect::<Vec<_>>(),
                        )
                    })
                    .collect();
                let cases = self.cases(&condition, others.len(), &path)?;
                let mut forbidden = Vec::new();
                for case in &cases {
                    for &other in &others {
                        let same = case.iter().find(|literal| literal.index == other.index);
                        match same {
                            // A variable has one level: two at once need no rule.
                            Some(same) if *same != other => {}
                            Some(_) => forbidden.push(Constraint::Forbidden(case.clone())),
                            None => forbidden.push(Constraint::Forbidden([&case[..], &[other]].concat())),
                        }
                    }
                }
                Some(forbidden)
            }
        }
    }

    /// The levels of these variables that are not listed.
    fn others(&self, of: &[Literal]) -> Vec<Literal> {
        let indices: BTreeSet<usize> = of.iter().map(|literal| literal.index).collect();
        let all = indices.into_iter().flat_map(|index| {
            let levels = self.space.variables()[index].levels().len() as u32;
            (0..levels).map(move |level| Literal::new(index, level))
        });
        all.filter(|literal| !of.contains(literal)).collect()
    }

    fn fixed(&self, index: usize, levels: &[u32]) -> Vec<Constraint> {
        if let [level] = levels {
            return vec![Constraint::Fixed(Literal::new(index, *level))];
        }
        let of: Vec<Literal> = levels.iter().map(|&level| Literal::new(index, level)).collect();
        self.others(&of).into_iter().map(|other| Constraint::Forbidden(vec![other])).collect()
    }

    /// Every combination of the levels listed; refused where they are too many, each times `factor`.
    fn cases(
        &mut self,
        choice: &[(usize, Vec<u32>)],
        factor: usize,
        path: &KeyPath,
    ) -> Option<Vec<Vec<Literal>>> {
        let count = choice.iter().fold(factor, |count, (_, levels)| count.saturating_mul(levels.len()));
        if count > MOST {
            return self.wrong(path, PlanError::TooManyCases { count, most: MOST });
        }
        Some(choice.iter().fold(vec![vec![]], |cases, (index, levels)| {
            let longer = |case: Vec<Literal>| {
                levels.iter().map(move |&level| [&case[..], &[Literal::new(*index, level)]].concat())
            };
            cases.into_iter().flat_map(longer).collect()
        }))
    }

    /// Σ sign × weight ≤ sign × limit, said with weights and a limit that are not negative: what every level of a
    /// variable weighs at least is taken from all of them, and from the limit.
    fn capacity(
        &mut self,
        weights: &Weights,
        limit: f64,
        sign: f64,
        path: &KeyPath,
        relation: &'static str,
    ) -> Option<Vec<Constraint>> {
        let (mut limit, mut of, mut shifted) = (sign * limit, Vec::new(), Vec::new());
        for (&index, by_level) in weights {
            let levels = 0..self.space.variables()[index].levels().len() as u32;
            let weight = |level: u32| sign * by_level.get(&level).copied().unwrap_or(0.0);
            let least = levels.clone().map(weight).fold(f64::INFINITY, f64::min);
            limit -= least;
            for level in levels.filter(|&level| weight(level) > least) {
                of.push(Literal::new(index, level));
                shifted.push(weight(level) - least);
            }
        }
        let rounding = 1e-9 * shifted.iter().sum::<f64>();
        if limit < -rounding {
            return self.wrong(path, PlanError::OutOfReach { relation, by: -limit });
        }
        Some(vec![Constraint::Capacity { limit: limit.max(0.0), of, weights: shifted }])
    }

    fn counted(&mut self, of: &Of, path: &KeyPath) -> Option<Vec<Literal>> {
        let (mut literals, mut whole) = (Vec::new(), true);
        match of {
            Of::All => {
                for index in 0..self.space.dimension() {
                    let level = self.second(index, path, |variable, level| {
                        format!("list what counts in the place of `all`, such as `of: [{{ {variable}: {level} }}]`")
                    });
                    whole &= level.is_some();
                    literals.extend(level.map(|level| (Literal::new(index, level), path.clone())));
                    // One variable says it all.
                    if !whole {
                        break;
                    }
                }
            }
            Of::Listed(list) => {
                for (i, entry) in list.iter().enumerate() {
                    let path = path.join(i);
                    let read = match entry {
                        Counted::Variable(name) => self.variable(name, &path).and_then(|index| {
                            let hint = |variable: &str, level: &str| {
                                format!("say at which level: `{{ {variable}: {level} }}`")
                            };
                            self.second(index, &path, hint).map(|level| vec![Literal::new(index, level)])
                        }),
                        Counted::Levels(choice) => self.choice(choice, &path).map(|choice| {
                            let each = |(index, levels): (usize, Vec<u32>)| {
                                levels.into_iter().map(move |level| Literal::new(index, level))
                            };
                            choice.into_iter().flat_map(each).collect()
                        }),
                    };
                    whole &= read.is_some();
                    literals.extend(read.into_iter().flatten().map(|literal| (literal, path.clone())));
                }
            }
        }
        let mut seen = BTreeSet::new();
        for (literal, path) in &literals {
            if !seen.insert(*literal) {
                let words = self.words(*literal);
                whole = false;
                self.wrong::<()>(path, PlanError::Twice { words });
            }
        }
        whole.then(|| literals.into_iter().map(|(literal, _)| literal).collect())
    }

    fn words(&self, literal: Literal) -> String {
        let variable = &self.space.variables()[literal.index];
        format!("{}={}", variable.name(), variable.levels()[literal.level as usize])
    }

    /// The second level of a variable with two: what it means to count the variable itself.
    fn second(&mut self, index: usize, path: &KeyPath, hint: impl Fn(&str, &str) -> String) -> Option<u32> {
        let variable = &self.space.variables()[index];
        let levels = variable.levels();
        match levels.len() {
            2 => Some(1),
            count => {
                let hint = hint(variable.name(), &levels[count - 1]);
                let variable = variable.name().to_owned();
                self.wrong(path, PlanError::NotBinary { variable, levels: count, hint })
            }
        }
    }

    fn variable(&mut self, name: &str, path: &KeyPath) -> Option<usize> {
        let index = self.space.variables().iter().position(|variable| variable.name() == name);
        if index.is_none() {
            let names = self.space.variables().iter().map(Variable::name);
            let what = PlanError::UnknownVariable {
                name: name.to_owned(),
                known: names.map(str::to_owned).collect(),
            };
            return self.wrong(path, what);
        }
        index
    }

    fn level(&mut self, index: usize, name: &str, path: &KeyPath) -> Option<u32> {
        let variable = &self.space.variables()[index];
        let level = variable.levels().iter().position(|level| level == name);
        if level.is_none() {
            let what = PlanError::UnknownLevel {
                variable: variable.name().to_owned(),
                name: name.to_owned(),
                known: variable.levels().to_vec(),
            };
            return self.wrong(path, what);
        }
        level.map(|level| level as u32)
    }

    /// Variables with some of their levels, each once.
    fn choice(&mut self, choice: &Choice, path: &KeyPath) -> Option<Vec<(usize, Vec<u32>)>> {
        let (mut read, mut whole) = (Vec::new(), true);
        for (name, levels) in choice {
            let path = path.join(name);
            let Some(index) = self.variable(name, &path) else {
                whole = false;
                continue;
            };
            let mut known: Vec<u32> = Vec::new();
            for (i, name) in levels.iter().enumerate() {
                let path = if levels.len() == 1 { path.clone() } else { path.join(i) };
                match self.level(index, name, &path) {
                    Some(level) if known.contains(&level) => {
                        let words = self.words(Literal::new(index, level));
                        whole = false;
                        self.wrong::<()>(&path, PlanError::Twice { words });
                    }
                    level => {
                        whole &= level.is_some();
                        known.extend(level);
                    }
                }
            }
            read.push((index, known));
        }
        whole.then_some(read)
    }

    fn weights(&mut self, weights: &[(String, Weight)], path: &KeyPath) -> Option<Weights> {
        let (mut read, mut whole) = (Weights::new(), true);
        for (name, weight) in weights {
            let path = path.join(name);
            let Some(index) = self.variable(name, &path) else {
                whole = false;
                continue;
            };
            let by_level: Option<BTreeMap<u32, f64>> = match weight {
                Weight::Second(weight) => {
                    let hint = |variable: &str, level: &str| {
                        format!("say at which levels: `{variable}: {{ {level}: {weight} }}`")
                    };
                    self.second(index, &path, hint).map(|level| BTreeMap::from([(level, *weight)]))
                }
                Weight::Levels(levels) => {
                    let level = |(name, weight): &(String, f64)| {
                        Some((self.level(index, name, &path.join(name))?, *weight))
                    };
                    let levels: Vec<Option<(u32, f64)>> = levels.iter().map(level).collect();
                    levels.into_iter().collect()
                }
            };
            whole &= by_level.is_some();
            read.extend(by_level.map(|by_level| (index, by_level)));
        }
        whole.then_some(read)
    }
}

#[cfg(test)]
#[path = "constraints_tests.rs"]
mod tests;
