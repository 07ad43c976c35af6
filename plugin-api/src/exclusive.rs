//! Which bits are never set together.

use crate::{Constraint, Layout, Literal};

impl Layout {
    /// For each pair of bits, in the order of [`Quadratic::pairs`](crate::Quadratic::pairs), whether the rules keep the two
    /// from being set at once: their product is 0 at every point, and a model needs no coefficient for it.
    ///
    /// So it is in a group, and where a constraint says so, or several about two bits at a time together. What only larger
    /// rules imply together is not found.
    ///
    /// ```
    /// use plugin_api::{Constraint, Layout, Literal};
    ///
    /// // A group of two bits, and two others of which one excludes the group's first.
    /// let never = Constraint::Forbidden(vec![Literal::new(0, 1), Literal::new(3, 1)]);
    /// let layout = Layout::with_groups(4, vec![0..2])?.with_constraints(vec![never])?;
    /// // Of 01, 02, 03, 12, 13 and 23 the first and the third.
    /// assert_eq!(layout.exclusive_pairs(), [true, false, true, false, false, false]);
    /// # Ok::<(), plugin_api::Error>(())
    /// ```
    pub fn exclusive_pairs(&self) -> Vec<bool> {
        let n = self.dimension();
        let mut exclusive = vec![false; n * n.saturating_sub(1) / 2];
        let pair = |i: usize, j: usize| i * (2 * n - i - 1) / 2 + (j - i - 1);
        if self.constraints().is_empty() {
            for group in self.groups() {
                for i in group.clone() {
                    (i + 1..group.end).for_each(|j| exclusive[pair(i, j)] = true);
                }
            }
            return exclusive;
        }
        let implications = Implications::of(self);
        for i in 0..n {
            let (reached, never) = implications.of_set_bit(i);
            for j in (0..n).filter(|&j| j != i && (never || reached[2 * j])) {
                exclusive[pair(i.min(j), i.max(j))] = true;
            }
        }
        exclusive
    }
}

/// What the value of one bit says about others. That bit i is 0 is the number 2i, that it is 1 is 2i + 1.
struct Implications {
    bits: usize,
    /// Sets of which at most one holds.
    exclusive: Vec<Vec<usize>>,
    /// In which of these each stands.
    within: Vec<Vec<usize>>,
    /// What holds always.
    always: Vec<usize>,
}

impl Implications {
    fn of(layout: &Layout) -> Self {
        let number = |literal: &Literal| 2 * literal.index + literal.level as usize;
        let bits = layout.dimension();
        let mut all =
            Self { bits, exclusive: Vec::new(), within: vec![Vec::new(); 2 * bits], always: Vec::new() };
        for group in layout.groups() {
            all.at_most_one(group.clone().map(|bit| 2 * bit + 1).collect());
            if group.len() == 1 {
                all.always.push(2 * group.start + 1);
            } else if group.len() == 2 {
                all.at_most_one(group.clone().map(|bit| 2 * bit).collect());
            }
        }
        for constraint in layout.constraints() {
            let of: Vec<usize> = constraint.literals().iter().map(number).collect();
            let not = || of.iter().map(|literal| literal ^ 1).collect::<Vec<_>>();
            match constraint {
                Constraint::Fixed(_) => all.always.extend(&of),
                Constraint::Forbidden(_) if of.len() == 1 => all.always.extend(not()),
                Constraint::Forbidden(_) if of.len() == 2 => all.at_most_one(of),
                Constraint::AtMost { count, .. } => all.counted(0, *count, &of),
                Constraint::Exactly { count, .. } => all.counted(*count, *count, &of),
                Constraint::Capacity { limit, weights, .. } => {
                    let most = limit + constraint.rounding();
                    for (i, weight) in weights.iter().enumerate() {
                        if *weight > most {
                            all.always.push(of[i] ^ 1);
                        }
                        for j in (i + 1..of.len()).filter(|&j| weight + weights[j] > most) {
                            all.at_most_one(vec![of[i], of[j]]);
                        }
                    }
                }
                _ => {}
            }
        }
        all
    }

    /// From `least` to `most` of these hold.
    fn counted(&mut self, least: usize, most: usize, of: &[usize]) {
        let not = || of.iter().map(|literal| literal ^ 1).collect::<Vec<_>>();
        match most {
            0 => self.always.extend(not()),
            1 => self.at_most_one(of.to_vec()),
            _ => {}
        }
        match of.len().saturating_sub(least) {
            0 => self.always.extend(of),
            1 => self.at_most_one(not()),
            _ => {}
        }
    }

    fn at_most_one(&mut self, of: Vec<usize>) {
        of.iter().for_each(|&literal| self.within[literal].push(self.exclusive.len()));
        self.exclusive.push(of);
    }

    /// All that follows from bit `i` being 1, and whether it never is.
    fn of_set_bit(&self, i: usize) -> (Vec<bool>, bool) {
        let mut holds = vec![false; 2 * self.bits];
        let mut known = vec![false; self.exclusive.len()];
        let mut follow = |from: &[usize]| {
            let mut open = from.to_vec();
            while let Some(literal) = open.pop() {
                if std::mem::replace(&mut holds[literal], true) {
                    continue;
                }
                for &set in &self.within[literal] {
                    if !std::mem::replace(&mut known[set], true) {
                        open.extend(
                            self.exclusive[set].iter().filter(|&&other| other != literal).map(|o| o ^ 1),
                        );
                    }
                }
            }
            holds.clone()
        };
        let always = follow(&self.always);
        let reached = follow(&[2 * i + 1]);
        (reached, always[2 * i])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bits;

    /// Whether two bits are never both set at all admitted points, by looking at each.
    fn by_trying(layout: &Layout) -> Vec<bool> {
        let n = layout.dimension();
        let all = (0..1u32 << n).map(|mask| (0..n).map(|i| mask >> i & 1 == 1).collect::<Bits>());
        let points: Vec<Bits> = all.filter(|bits| layout.admits(bits)).collect();
        let mut exclusive = Vec::new();
        for i in 0..n {
            for j in i + 1..n {
                exclusive.push(points.iter().all(|bits| !(bits[i] && bits[j])));
            }
        }
        exclusive
    }

    fn of(pairs: &[(usize, u32)]) -> Vec<Literal> {
        pairs.iter().map(|&(index, level)| Literal::new(index, level)).collect()
    }

    #[test]
    fn what_is_found_is_what_trying_every_point_finds() {
        let free = || Layout::free(7);
        let grouped = || Layout::with_groups(7, vec![0..3, 4..6]).unwrap();
        let rules = [
            vec![],
            vec![Constraint::AtMost { count: 1, of: of(&[(0, 1), (2, 1), (5, 0), (6, 1)]) }],
            vec![Constraint::AtMost { count: 0, of: of(&[(0, 1), (6, 0)]) }],
            vec![Constraint::Exactly { count: 2, of: of(&[(0, 1), (3, 1), (6, 1)]) }],
            vec![Constraint::Fixed(Literal::new(3, 1)), Constraint::Forbidden(of(&[(3, 1), (6, 0)]))],
            // A thermometer of four bits, whose first excludes another.
            vec![
                Constraint::Forbidden(of(&[(3, 0), (4, 1)])),
                Constraint::Forbidden(of(&[(4, 0), (5, 1)])),
                Constraint::Forbidden(of(&[(5, 0), (6, 1)])),
                Constraint::Forbidden(of(&[(3, 1), (0, 1)])),
            ],
            vec![Constraint::Capacity {
                limit: 4.0,
                of: of(&[(0, 1), (3, 1), (5, 1), (6, 0)]),
                weights: vec![5.0, 3.0, 2.0, 1.0],
            }],
            vec![Constraint::Forbidden(of(&[(0, 1), (3, 1), (6, 1)]))],
        ];
        for constraints in rules {
            let [free, grouped] =
                [free(), grouped()].map(|layout| layout.with_constraints(constraints.clone()).unwrap());
            assert_eq!(free.exclusive_pairs(), by_trying(&free), "{free:?}");
            // With groups some things follow from three bits at once; nothing is found that is not so.
            let mut both = grouped.exclusive_pairs().into_iter().zip(by_trying(&grouped));
            assert!(both.all(|(found, is_so)| is_so || !found), "{grouped:?}");
        }
        assert_eq!(grouped().exclusive_pairs(), by_trying(&grouped()));
    }

    #[test]
    fn free_bits_have_no_exclusive_pair_and_no_bits_have_no_pair() {
        assert_eq!(Layout::free(4).exclusive_pairs(), [false; 6]);
        assert!(Layout::free(0).exclusive_pairs().is_empty());
    }
}
