//! Several descents at once.

use std::collections::BTreeMap;
use std::ops::Range;

use plugin_api::ndarray::Array2;
use plugin_api::{Acquisition, BitMatrix, Bits, Constraint, Layout};

use crate::Best;

/// How many points of `n` bits a function is asked about at a time: few enough for the memory that gains take, and for a
/// limit on time to be kept where a value is a sum over all pairs of thousands of bits.
pub fn batch(n: usize) -> usize {
    const MOST: usize = 256;
    (MOST * 500 * 500 / (n * n).max(1)).clamp(1, MOST)
}

/// Descents of one function under the rules of one layout.
pub struct Descents<'a> {
    objective: &'a Acquisition,
    layout: &'a Layout,
    /// Which rules count or weigh bits; none where exchanges are not wanted.
    counting: Vec<&'a Constraint>,
    paths: Vec<Path>,
    /// The paths that still descend.
    active: Vec<usize>,
    /// No point is visited twice: a descent that comes to where another has been would go the same way.
    visited: BTreeMap<Bits, usize>,
    asked: u64,
}

struct Path {
    value: f64,
    bits: Bits,
    /// The path that was here already.
    joined: Option<usize>,
}

impl<'a> Descents<'a> {
    /// Without points yet.
    pub fn new(objective: &'a Acquisition, layout: &'a Layout) -> Self {
        let (paths, active, visited) = (Vec::new(), Vec::new(), BTreeMap::new());
        Self { objective, layout, counting: Vec::new(), paths, active, visited, asked: 0 }
    }

    /// Where no single move gains, a move that breaks a rule of the sort "at most", "exactly" or "capacity" is tried
    /// together with every second move that mends it.
    pub fn with_exchanges(mut self) -> Self {
        let counts = |rule: &&Constraint| {
            matches!(
                rule,
                Constraint::AtMost { .. } | Constraint::Exactly { .. } | Constraint::Capacity { .. }
            )
        };
        self.counting = self.layout.constraints().iter().filter(counts).collect();
        self
    }

    /// A point to descend from, which the layout admits, with its value; `false` where a descent has been there already.
    pub fn add(&mut self, value: f64, bits: Bits) -> bool {
        if self.visited.contains_key(&bits) {
            return false;
        }
        self.visited.insert(bits.clone(), self.paths.len());
        self.active.push(self.paths.len());
        self.paths.push(Path { value, bits, joined: None });
        true
    }

    /// How many points were added.
    pub fn count(&self) -> usize {
        self.paths.len()
    }

    /// Whether all descents have ended.
    pub fn done(&self) -> bool {
        self.active.is_empty()
    }

    /// How many points the function was asked for all moves of.
    pub fn asked(&self) -> u64 {
        self.asked
    }

    /// The value and the point that each descent came to, in the order in which they were added.
    pub fn ends(&self) -> impl Iterator<Item = (f64, &Bits)> {
        (0..self.paths.len()).map(|mut path| {
            // Values fall along a path and on through the one it joins, so this ends; with a function whose gains are not
            // the differences of its values it still does.
            for _ in 0..self.paths.len() {
                path = self.paths[path].joined.unwrap_or(path);
            }
            (self.paths[path].value, &self.paths[path].bits)
        })
    }

    /// Each point takes its best move; those without one that gains are done. `best` sees where they go, and those
    /// neighbours on the way that are better than all it has seen.
    pub fn step(&mut self, best: &mut Best<'_>) {
        self.step_while(best, &|| true);
    }

    /// [`step`](Self::step), unless `more` disagrees before all moves are known, which is asked now and then: then all points
    /// stay where they are, and `best` has seen some of the neighbours. Answers whether the step was taken.
    pub fn step_while(&mut self, best: &mut Best<'_>, more: &dyn Fn() -> bool) -> bool {
        let n = self.layout.dimension();
        let mut next = Vec::with_capacity(self.active.len());
        for paths in self.active.clone().chunks(batch(n)) {
            if !next.is_empty() && !more() {
                return false;
            }
            let mut points = BitMatrix::new(n);
            paths.iter().for_each(|&path| points.push(&self.paths[path].bits));
            let gains = self.gains(&points);
            for (row, &path) in paths.iter().enumerate() {
                let gains = gains.row(row);
                next.push(self.best_move(&self.paths[path], gains.as_slice().unwrap_or_default(), best));
            }
        }
        if !self.counting.is_empty() && !self.exchange(&mut next, best, more) {
            return false;
        }
        let active = std::mem::take(&mut self.active);
        for (path, next) in active.into_iter().zip(next) {
            let Some((value, bits)) = next else { continue };
            match self.visited.get(&bits) {
                Some(&joined) => self.paths[path].joined = Some(joined),
                None => {
                    self.visited.insert(bits.clone(), path);
                    self.paths[path] = Path { value, bits, joined: None };
                    self.active.push(path);
                }
            }
        }
        true
    }

    fn gains(&mut self, points: &BitMatrix) -> Array2<f64> {
        self.asked += points.len() as u64;
        let mut gains = Array2::zeros((points.len(), self.layout.dimension()));
        self.objective.move_gains(points.view(), self.layout.groups(), gains.view_mut());
        gains
    }

    fn best_move(&self, path: &Path, gains: &[f64], best: &mut Best<'_>) -> Option<(f64, Bits)> {
        // A bit that is set in its group is no move: its gain is 0, and choosing it changes nothing.
        let mut order: Vec<usize> = (0..gains.len()).filter(|&i| gains[i].is_finite()).collect();
        order.sort_by(|&i, &j| gains[i].total_cmp(&gains[j]));
        let least = least_gain(path.value);
        let mut next = None;
        for &i in &order {
            let there = path.value + gains[i];
            let descends = next.is_none() && gains[i] < -least;
            if !descends && !best.would_take(there) {
                break;
            }
            let moved = moved(&path.bits, self.layout.groups(), i);
            if self.layout.constraints().is_empty() || self.layout.admits(&moved) {
                best.see(there, &moved);
                if descends {
                    next = Some((there, moved));
                }
            }
        }
        next
    }

    /// For points without a move that gains: the best two moves of which the first alone breaks a rule that counts. `false`
    /// where `more` ends it early.
    fn exchange(
        &mut self,
        next: &mut [Option<(f64, Bits)>],
        best: &mut Best<'_>,
        more: &dyn Fn() -> bool,
    ) -> bool {
        let groups = self.layout.groups();
        // Which point, and where its first move leads.
        let mut halfway: Vec<(usize, Bits)> = Vec::new();
        for (row, _) in next.iter().enumerate().filter(|(_, next)| next.is_none()) {
            let bits = &self.paths[self.active[row]].bits;
            let breaks = |moved: &Bits| self.counting.iter().any(|rule| !rule.holds(|i| u32::from(moved[i])));
            let moves = (0..bits.len()).map(|i| moved(bits, groups, i)).filter(breaks);
            halfway.extend(moves.map(|moved| (row, moved)));
        }
        let mut exchanged: Vec<Option<(f64, Bits)>> = vec![None; next.len()];
        for batch in halfway.chunks(batch(self.layout.dimension())) {
            if !more() {
                return false;
            }
            let mut points = BitMatrix::new(self.layout.dimension());
            batch.iter().for_each(|(_, bits)| points.push(bits));
            let mut values = vec![0.0; points.len()];
            self.objective.values(points.view(), &mut values);
            let gains = self.gains(&points);
            for (at, (row, bits)) in batch.iter().enumerate() {
                let path = &self.paths[self.active[*row]];
                for (i, gain) in gains.row(at).iter().enumerate() {
                    let there = values[at] + gain;
                    let limit =
                        exchanged[*row].as_ref().map_or(path.value - least_gain(path.value), |(v, _)| *v);
                    if there < limit {
                        let moved = moved(bits, groups, i);
                        if self.layout.admits(&moved) {
                            exchanged[*row] = Some((there, moved));
                        }
                    }
                }
            }
        }
        for (next, exchanged) in next.iter_mut().zip(exchanged) {
            if let Some((value, bits)) = exchanged {
                best.see(value, &bits);
                *next = Some((value, bits));
            }
        }
        true
    }
}

/// Less than this is rounding.
fn least_gain(value: f64) -> f64 {
    1e-12 * (1.0 + value.abs())
}

fn moved(bits: &Bits, groups: &[Range<usize>], i: usize) -> Bits {
    let mut moved = bits.clone();
    make_move(&mut moved, groups, i);
    moved
}

/// Turns bit `i` over, or chooses it in its group.
pub fn make_move(bits: &mut [bool], groups: &[Range<usize>], i: usize) {
    match groups.iter().find(|group| group.contains(&i)) {
        None => bits[i] = !bits[i],
        Some(group) => {
            bits[group.clone()].fill(false);
            bits[i] = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use plugin_api::testing::random_quadratic;
    use plugin_api::{Function, Literal, Quadratic, rng};

    use super::*;

    /// Descends from each of `starts`, and gives the ends.
    fn descend(f: &Acquisition, layout: &Layout, starts: &[Bits], exchanges: bool) -> Vec<(f64, Bits)> {
        let mut descents = Descents::new(f, layout);
        if exchanges {
            descents = descents.with_exchanges();
        }
        for start in starts {
            assert!(descents.add(f.value(start), start.clone()));
        }
        let none = BitMatrix::new(layout.dimension());
        let mut best = Best::new(&none);
        while !descents.done() {
            descents.step(&mut best);
        }
        descents.ends().map(|(value, bits)| (value, bits.clone())).collect()
    }

    /// The same by hand: from one point, over all moves, and over all pairs of moves where none gains.
    fn by_hand(f: &Acquisition, layout: &Layout, start: &Bits, exchanges: bool) -> Bits {
        let n = layout.dimension();
        let mut x = start.clone();
        loop {
            let one = |x: &Bits, i: usize| moved(x, layout.groups(), i);
            let mut neighbours: Vec<Bits> = (0..n).map(|i| one(&x, i)).collect();
            let lowest = |points: Vec<Bits>| {
                let admitted =
                    points.into_iter().filter(|y| layout.admits(y) && f.value(y) < f.value(&x) - 1e-9);
                admitted.min_by(|y, z| f.value(y).total_cmp(&f.value(z)))
            };
            let mut next = lowest(neighbours.clone());
            if next.is_none() && exchanges {
                neighbours.retain(|y| !layout.admits(y));
                next = lowest(
                    neighbours.iter().flat_map(|y| (0..n).map(|i| one(y, i)).collect::<Vec<_>>()).collect(),
                );
            }
            match next {
                Some(y) => x = y,
                None => return x,
            }
        }
    }

    fn of(indices: &[usize]) -> Vec<Literal> {
        indices.iter().map(|&i| Literal::new(i, 1)).collect()
    }

    #[test]
    fn each_descent_ends_where_it_would_alone() {
        let free = Layout::free(10);
        let grouped = Layout::with_groups(10, vec![0..3, 5..9]).unwrap();
        let exactly = Constraint::Exactly { count: 4, of: of(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) };
        let at_most = Constraint::AtMost { count: 1, of: of(&[1, 4, 6, 9]) };
        let counted = free.clone().with_constraints(vec![exactly]).unwrap();
        let both = grouped.clone().with_constraints(vec![at_most]).unwrap();
        for (layout, exchanges) in [
            (free, false),
            (grouped, false),
            (both.clone(), false),
            (counted.clone(), false),
            (counted, true),
            (both, true),
        ] {
            for seed in 0..10 {
                let f = Acquisition::from(random_quadratic(&mut rng(seed), 10));
                let mut random = rng(100 + seed);
                let mut starts: Vec<Bits> = Vec::new();
                while starts.len() < 12 {
                    let x = layout.random(&mut random);
                    if layout.admits(&x) && !starts.contains(&x) {
                        starts.push(x);
                    }
                }
                let ends = descend(&f, &layout, &starts, exchanges);
                for (start, (value, end)) in starts.iter().zip(ends) {
                    assert_eq!(end, by_hand(&f, &layout, start, exchanges), "from {start}, seed {seed}");
                    assert!((value - f.value(&end)).abs() < 1e-9);
                }
            }
        }
    }

    #[test]
    fn where_a_rule_fixes_how_many_bits_are_set_only_exchanges_move() {
        let exactly = Constraint::Exactly { count: 2, of: of(&[0, 1, 2, 3, 4, 5]) };
        let layout = Layout::free(6).with_constraints(vec![exactly]).unwrap();
        let f = Acquisition::from(
            Quadratic::new(0.0, vec![6.0, 5.0, 4.0, 3.0, 2.0, 1.0], vec![0.0; 15]).unwrap(),
        );
        let start: Bits = "110000".parse().unwrap();
        assert_eq!(descend(&f, &layout, std::slice::from_ref(&start), false), [(11.0, start.clone())]);
        assert_eq!(descend(&f, &layout, &[start], true), [(3.0, "000011".parse().unwrap())]);
    }

    /// Counts the calls.
    struct Counted(Quadratic, std::sync::atomic::AtomicU64);
    impl Function for Counted {
        fn dimension(&self) -> usize {
            self.0.dimension()
        }
        fn value(&self, bits: &[bool]) -> f64 {
            self.0.value(bits)
        }
        fn move_gains(
            &self,
            points: plugin_api::ndarray::ArrayView2<'_, bool>,
            groups: &[Range<usize>],
            gains: plugin_api::ndarray::ArrayViewMut2<'_, f64>,
        ) {
            self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            self.0.move_gains(points, groups, gains);
        }
    }

    #[test]
    fn a_step_that_is_cut_short_moves_no_point_and_can_be_taken_later() {
        // So many bits that the function is asked about one point at a time.
        let (n, layout) = (8001, Layout::free(8001));
        assert_eq!(batch(n), 1);
        let f = Acquisition::General(Arc::new(Ones(n)));
        let starts: Vec<Bits> = (1..4).map(|k| (0..n).map(|i| i < k).collect()).collect();
        let none = BitMatrix::new(n);
        let (mut best, mut descents) = (Best::new(&none), Descents::new(&f, &layout));
        starts.iter().for_each(|start| assert!(descents.add(f.value(start), start.clone())));
        for looks in 0..2_u32 {
            let left = std::cell::Cell::new(looks);
            let more = || left.replace(left.get().saturating_sub(1)) > 0;
            assert!(!descents.step_while(&mut best, &more));
            assert!(descents.ends().map(|(_, end)| end).eq(&starts));
        }
        assert!(descents.step_while(&mut best, &|| true));
        assert_eq!(best.bits().expect("neighbours were seen"), Bits::zeros(n));
    }

    /// The number of bits set.
    struct Ones(usize);

    impl Function for Ones {
        fn dimension(&self) -> usize {
            self.0
        }
        fn value(&self, bits: &[bool]) -> f64 {
            bits.iter().filter(|&&bit| bit).count() as f64
        }
        fn move_gains(
            &self,
            points: plugin_api::ndarray::ArrayView2<'_, bool>,
            _groups: &[Range<usize>],
            mut gains: plugin_api::ndarray::ArrayViewMut2<'_, f64>,
        ) {
            gains.zip_mut_with(&points, |gain, &bit| *gain = if bit { -1.0 } else { 1.0 });
        }
    }

    #[test]
    fn a_step_is_one_call_for_all_points_and_no_point_is_asked_twice() {
        let counted = Arc::new(Counted(random_quadratic(&mut rng(3), 30), Default::default()));
        let f = Acquisition::General(counted.clone());
        let layout = Layout::free(30);
        let mut descents = Descents::new(&f, &layout);
        let mut random = rng(5);
        for _ in 0..40 {
            let x = layout.random(&mut random);
            assert!(descents.add(f.value(&x), x.clone()));
            assert!(!descents.add(f.value(&x), x));
        }
        let none = BitMatrix::new(30);
        let (mut best, mut steps) = (Best::new(&none), 0);
        while !descents.done() {
            descents.step(&mut best);
            steps += 1;
        }
        assert_eq!(counted.1.load(std::sync::atomic::Ordering::Relaxed), steps);
        assert_eq!((descents.count(), descents.asked()), (40, descents.visited.len() as u64));
        let lowest = descents.ends().map(|(value, _)| value).fold(f64::INFINITY, f64::min);
        assert!((f.value(&best.bits().unwrap()) - lowest).abs() < 1e-9);
    }
}
