//! The best assignment of few variables, by trying all of them.

use crate::wcnf::Wcnf;

/// 2²⁵ assignments take a second or two.
const MOST_VARIABLES: usize = 25;
/// Changes of clauses, a few seconds of work: beyond that the minimum stays unknown.
const MOST_WORK: f64 = (1u64 << 31) as f64;
/// Steps after which sums are made afresh, so that rounding errors stay far below any difference of weights.
const FRESH: u64 = 1 << 12;

/// An assignment that minimises −Σ satisfied weights + l1·(variables set), where there are few enough to try all;
/// `None` too where none satisfies the hard clauses.
///
/// In the order of a Gray code, one variable changes at a time, and with it the clauses that it occurs in.
pub(crate) fn minimum(wcnf: &Wcnf, l1: f64) -> Option<Vec<bool>> {
    let n = wcnf.variables;
    let mut occurrences: Vec<(usize, Vec<(u32, bool)>)> =
        (0..n).map(|variable| (variable, Vec::new())).collect();
    for (c, clause) in (0..).zip(&wcnf.clauses) {
        for literal in &clause.literals {
            occurrences[literal.variable].1.push((c, literal.positive));
        }
    }
    // The code changes its first variable every other time, and its last one once.
    occurrences.sort_by_key(|(_, clauses)| clauses.len());
    let work = |(i, (_, clauses)): (usize, &(usize, Vec<_>))| {
        (clauses.len() + 1) as f64 * (1u64 << (n - 1 - i)) as f64
    };
    if n > MOST_VARIABLES || occurrences.iter().enumerate().map(work).sum::<f64>() > MOST_WORK {
        return None;
    }

    let mut here = Assignment::new(wcnf, l1);
    let mut best: Option<(f64, Vec<bool>)> = None;
    for step in 0..1u64 << n {
        if step > 0 {
            let (variable, clauses) = &occurrences[step.trailing_zeros() as usize];
            here.flip(*variable, clauses);
        }
        if step % FRESH == 0 {
            here.sum();
        }
        if here.violated == 0 && best.as_ref().is_none_or(|(value, _)| here.value < *value) {
            best = Some((here.value, here.x.clone()));
        }
    }
    best.map(|(_, x)| x)
}

struct Assignment<'w> {
    wcnf: &'w Wcnf,
    l1: f64,
    x: Vec<bool>,
    /// How many literals of each clause hold.
    hold: Vec<u32>,
    /// −Σ satisfied weights and the penalty.
    value: f64,
    /// How many hard clauses do not hold.
    violated: usize,
}

impl<'w> Assignment<'w> {
    fn new(wcnf: &'w Wcnf, l1: f64) -> Self {
        let x = vec![false; wcnf.variables];
        let hold: Vec<u32> = wcnf
            .clauses
            .iter()
            .map(|clause| clause.literals.iter().filter(|literal| !literal.positive).count() as u32)
            .collect();
        let violated =
            wcnf.clauses.iter().zip(&hold).filter(|(clause, hold)| clause.weight.is_none() && **hold == 0);
        let violated = violated.count();
        Self { wcnf, l1, x, hold, value: 0.0, violated }
    }

    fn sum(&mut self) {
        let satisfied = self.wcnf.clauses.iter().zip(&self.hold).filter(|(_, hold)| **hold > 0);
        let weights: f64 = satisfied.filter_map(|(clause, _)| clause.weight).sum();
        self.value = self.l1 * self.x.iter().filter(|&&set| set).count() as f64 - weights;
    }

    fn flip(&mut self, variable: usize, clauses: &[(u32, bool)]) {
        let set = !self.x[variable];
        self.x[variable] = set;
        self.value += if set { self.l1 } else { -self.l1 };
        for &(c, positive) in clauses {
            let hold = &mut self.hold[c as usize];
            let before = *hold > 0;
            *hold = if positive == set { *hold + 1 } else { *hold - 1 };
            match (before, *hold > 0, self.wcnf.clauses[c as usize].weight) {
                (false, true, Some(weight)) => self.value -= weight,
                (true, false, Some(weight)) => self.value += weight,
                (false, true, None) => self.violated -= 1,
                (true, false, None) => self.violated += 1,
                _ => {}
            }
        }
    }
}
