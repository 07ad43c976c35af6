//! The levels that are still possible for each variable, and what rules say about them.

use super::choices::{Choices, Sum, Term};

/// No level is left for a variable, or a sum cannot be within its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DeadEnd;

/// Which levels are possible. What is taken away can be given back.
pub(super) struct Domains<'a> {
    choices: &'a Choices,
    possible: Vec<Vec<bool>>,
    left: Vec<usize>,
    /// What was taken away, in order.
    taken: Vec<(usize, u32)>,
    /// Rules to look at again.
    open: Vec<usize>,
    is_open: Vec<bool>,
    /// How many terms and levels were looked at.
    pub(super) work: u64,
}

impl<'a> Domains<'a> {
    /// All levels, then what all rules leave of them.
    pub(super) fn new(choices: &'a Choices) -> Result<Self, DeadEnd> {
        let mut domains = Self {
            possible: choices.sizes.iter().map(|&size| vec![true; size]).collect(),
            left: choices.sizes.clone(),
            taken: Vec::new(),
            open: (0..choices.rules.len()).rev().collect(),
            is_open: vec![true; choices.rules.len()],
            work: 0,
            choices,
        };
        domains.propagate().map(|()| domains)
    }

    /// How many levels are left for a variable.
    pub(super) fn left(&self, variable: usize) -> usize {
        self.left[variable]
    }

    /// The levels left for a variable, ascending.
    pub(super) fn levels(&self, variable: usize) -> impl Iterator<Item = u32> {
        let possible = self.possible[variable].iter().enumerate();
        possible.filter(|(_, possible)| **possible).map(|(level, _)| level as u32)
    }

    /// One level for each variable: the first that is left.
    pub(super) fn first(&self) -> Vec<u32> {
        let first = |variable| self.levels(variable).next().expect("no variable is without a level");
        (0..self.left.len()).map(first).collect()
    }

    /// A mark to come back to.
    pub(super) fn mark(&self) -> usize {
        self.taken.len()
    }

    /// Gives back what was taken since the mark.
    pub(super) fn restore(&mut self, mark: usize) {
        for (variable, level) in self.taken.drain(mark..) {
            self.possible[variable][level as usize] = true;
            self.left[variable] += 1;
        }
        self.open.drain(..).for_each(|rule| self.is_open[rule] = false);
    }

    /// Leaves a variable this level alone, and all others what the rules leave them then.
    pub(super) fn assign(&mut self, variable: usize, level: u32) -> Result<(), DeadEnd> {
        for other in 0..self.possible[variable].len() as u32 {
            if other != level {
                self.take(variable, other)?;
            }
        }
        self.propagate()
    }

    fn take(&mut self, variable: usize, level: u32) -> Result<(), DeadEnd> {
        let possible = &mut self.possible[variable][level as usize];
        if !std::mem::replace(possible, false) {
            return Ok(());
        }
        self.taken.push((variable, level));
        self.left[variable] -= 1;
        for &rule in &self.choices.within[variable] {
            if !std::mem::replace(&mut self.is_open[rule], true) {
                self.open.push(rule);
            }
        }
        if self.left[variable] == 0 { Err(DeadEnd) } else { Ok(()) }
    }

    fn propagate(&mut self) -> Result<(), DeadEnd> {
        while let Some(rule) = self.open.pop() {
            self.is_open[rule] = false;
            let choices = self.choices;
            self.apply(&choices.rules[rule])?;
        }
        Ok(())
    }

    /// Takes away the levels with which the sum could not be within its bounds, whatever the others are.
    fn apply(&mut self, rule: &Sum) -> Result<(), DeadEnd> {
        self.work += rule.terms.len() as u64;
        let (mut low, mut high) = (0.0, 0.0);
        for term in &rule.terms {
            let (least, most) = self.range(term);
            low += least;
            high += most;
        }
        if low > rule.most || high < rule.least {
            return Err(DeadEnd);
        }
        for term in &rule.terms {
            if self.left[term.variable] == 1 {
                continue;
            }
            let (least, most) = self.range(term);
            let fits = |weight: f64| low - least + weight <= rule.most && high - most + weight >= rule.least;
            if fits(least) && fits(most) {
                continue;
            }
            // What was taken away for another variable makes the bounds of the others tighter, never wider.
            for level in 0..self.possible[term.variable].len() as u32 {
                self.work += 1;
                if self.possible[term.variable][level as usize] && !fits(term.weight(level)) {
                    self.take(term.variable, level)?;
                }
            }
        }
        Ok(())
    }

    /// The least and the most that a variable can add.
    fn range(&self, term: &Term) -> (f64, f64) {
        let possible = &self.possible[term.variable];
        let (mut listed, mut least, mut most) = (0, f64::INFINITY, f64::NEG_INFINITY);
        for &(level, weight) in &term.weights {
            if possible[level as usize] {
                listed += 1;
                least = least.min(weight);
                most = most.max(weight);
            }
        }
        if listed < self.left[term.variable] {
            (least, most) = (least.min(0.0), most.max(0.0));
        }
        (least, most)
    }
}
