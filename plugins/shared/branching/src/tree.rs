//! The tree of parts of the space: each fixes some bits, has a proven bound, and is split while that is too low.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use plugin_api::{Bits, Quadratic, Result, Rng};
use shared_cuts::{Grid, Reduced, magnitude, roof_dual_while};
use shared_rules::{Partial, Rules, Sum};
use shared_semidefinite::{Spins, lower_bound_while, relax, relax_within};

use crate::enumerate::least;

/// What may be left between the value and the bound of a proven point, of the size of the function.
const CLOSED: f64 = 1e-9;
/// From this many free bits on, the semidefinite bound is worth its time.
const LEAST_BITS_OF_RELAXATION: usize = 12;
/// The relaxation is solved once a sweep gains no more than this part of its value.
const TOLERANCE: f64 = 1e-5;
const MOST_SWEEPS: u64 = 50;
/// Up to this many free bits, a part in which rules are left is tried point by point.
const MOST_BITS_TO_TRY: usize = 11;

/// Whether a point of this value is proven by this bound: what is left between them is 1e-9 of what the point gains
/// over no bits set, or of a hundredth of all coefficients' sizes (`size`), where that is more.
pub fn is_closed(f: &Quadratic, size: f64, value: f64, bound: f64) -> bool {
    value - bound <= CLOSED * (value - f.constant()).abs().max(size / 100.0)
}

/// A part of the space: the points that have certain bits.
struct Node {
    fixed: Vec<Option<bool>>,
    /// No point of the part has a value below this.
    bound: f64,
    /// How much lower than the best of those that have the bits of `fixed` another point of the part may be, for
    /// rounding.
    slack: f64,
    /// The bit to split by.
    split: usize,
    /// How many nodes there were before.
    number: u64,
}

/// A search that always goes on where the bound is lowest, so that the bound of the whole rises all the time.
pub struct Tree<'f> {
    f: &'f Quadratic,
    /// None where every point is allowed.
    rules: Option<&'f Rules>,
    grid: Option<Grid>,
    size: f64,
    open: BinaryHeap<Node>,
    best: (f64, Bits),
    /// The lowest bound among the parts that are done with.
    closed: f64,
    nodes: u64,
}

impl<'f> Tree<'f> {
    /// The tree of all points, of which `bits` is known.
    pub fn new(f: &'f Quadratic, bits: Bits) -> Self {
        Self {
            f,
            rules: None,
            grid: Grid::of(f),
            size: magnitude(f) - f.constant().abs(),
            open: BinaryHeap::new(),
            best: (f.value(&bits), bits),
            closed: f64::INFINITY,
            nodes: 0,
        }
    }

    /// The tree of the points that keep the rules, of which `bits` is known.
    pub fn within(f: &'f Quadratic, rules: &'f Rules, bits: Bits) -> Self {
        Self { rules: Some(rules).filter(|rules| !rules.is_empty()), ..Self::new(f, bits) }
    }

    /// The best point so far, with its value.
    pub fn best(&self) -> (f64, &Bits) {
        (self.best.0, &self.best.1)
    }

    /// Makes `bits` known, which may be better than the best so far, and keep the rules.
    pub fn offer(&mut self, bits: &Bits) {
        let value = self.f.value(bits);
        if value < self.best.0 {
            self.best = (value, bits.clone());
        }
    }

    /// A number that no value is below; minus infinity before the first node.
    pub fn bound(&self) -> f64 {
        let open = self.open.peek().map_or(f64::INFINITY, |node| node.bound);
        let all = open.min(self.closed);
        if self.nodes == 0 { f64::NEG_INFINITY } else { all.min(self.best.0) }
    }

    /// How many parts have been looked at.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Whether the best point is proven.
    pub fn is_done(&self) -> bool {
        self.nodes > 0 && self.open.peek().is_none_or(|node| self.suffices(node.bound))
    }

    /// Looks at the whole space, or splits the part with the lowest bound in two. `nodes` at most are looked at.
    pub fn step(&mut self, nodes: u64, rng: &mut Rng) -> Result<()> {
        self.step_while(nodes, rng, &|| true)
    }

    /// [`step`](Self::step) for as long as `more` agrees: bounds that are cut short are lower, and hold.
    pub fn step_while(&mut self, nodes: u64, rng: &mut Rng, more: &dyn Fn() -> bool) -> Result<()> {
        if self.nodes == 0 {
            return self.look(vec![None; self.f.dimension()], f64::NEG_INFINITY, 0.0, rng, more);
        }
        let Some(node) = self.open.pop() else { return Ok(()) };
        for (count, value) in (0..).zip([!self.best.1[node.split], self.best.1[node.split]]) {
            let mut fixed = node.fixed.clone();
            fixed[node.split] = Some(value);
            if count < nodes {
                self.look(fixed, node.bound, node.slack, rng, more)?;
            } else {
                self.closed = self.closed.min(node.bound);
            }
        }
        Ok(())
    }

    /// Whether there is nothing to find above `bound`.
    fn suffices(&self, bound: f64) -> bool {
        is_closed(self.f, self.size, self.best.0, bound)
    }

    fn look(
        &mut self,
        mut fixed: Vec<Option<bool>>,
        bound: f64,
        slack: f64,
        rng: &mut Rng,
        more: &dyn Fn() -> bool,
    ) -> Result<()> {
        if let Some(rules) = self.rules {
            let mut decided = Partial::from_rules(rules);
            if !fixed.iter().enumerate().all(|(bit, value)| value.is_none_or(|value| decided.set(bit, value)))
            {
                // No point of the part keeps the rules.
                self.nodes += 1;
                return Ok(());
            }
            fixed = decided.values().to_vec();
            let sums = rules.rest(&fixed);
            // Without rules that are still open, it is a part like any other.
            if !sums.is_empty() {
                return self.look_within(rules, decided, &sums, bound, slack, rng, more);
            }
        }
        let number = self.nodes;
        self.nodes += 1;
        let raised = |grid: &Option<Grid>, bound: f64| grid.as_ref().map_or(bound, |grid| grid.raise(bound));
        let part = Reduced::new(self.f, fixed.clone());
        let Some(roof) = roof_dual_while(&part.function, more) else {
            // Nothing more is known than of the part that it is half of.
            let split = part.place(0);
            self.open.push(Node { fixed, bound, slack, split, number });
            return Ok(());
        };
        let mut bound = bound.max(raised(&self.grid, (roof.bound - slack).next_down()));
        let slack = slack + roof.slack;
        part.fix(&mut fixed, &roof.fixed);
        let rest = Reduced::new(self.f, fixed.clone());
        let g = &rest.function;
        if g.dimension() == 0 {
            let bits = rest.lift(&Bits::zeros(0));
            bound = bound.max(raised(&self.grid, (self.f.value(&bits) - slack).next_down()));
            self.offer(&bits);
        }
        let mut open_bits = None;
        if !self.suffices(bound) && g.dimension() >= LEAST_BITS_OF_RELAXATION {
            let spins = Spins::new(g)?;
            let relaxation = relax(&spins, TOLERANCE, rng, |sweeps| sweeps < MOST_SWEEPS && more());
            let duals = relaxation.duals_while(&spins, more);
            if let Some(proven) = lower_bound_while(&spins, &duals, more) {
                bound = bound.max(raised(&self.grid, (proven - slack).next_down()));
            }
            open_bits = Some(relaxation.relaxed_bits());
        }
        if g.dimension() == 0 || self.suffices(bound) {
            self.closed = self.closed.min(bound);
            return Ok(());
        }
        let split = rest.place(most_undecided(g, open_bits.as_deref()));
        self.open.push(Node { fixed, bound, slack, split, number });
        Ok(())
    }

    /// Looks at a part in which rules are left. What the roof dual fixes is the best without them, and proves nothing here.
    #[expect(clippy::too_many_arguments, reason = "what is known of the part, and what to look with")]
    fn look_within(
        &mut self,
        rules: &Rules,
        mut decided: Partial<'_>,
        sums: &[Sum],
        bound: f64,
        slack: f64,
        rng: &mut Rng,
        more: &dyn Fn() -> bool,
    ) -> Result<()> {
        let number = self.nodes;
        self.nodes += 1;
        let fixed = decided.values().to_vec();
        let rest = Reduced::new(self.f, fixed.clone());
        let g = &rest.function;
        let free: Vec<usize> = (0..g.dimension()).map(|k| rest.place(k)).collect();
        // The values of `g`, and of what is folded into it, are those of `f` but for rounding.
        let slack = slack.max(rounding(self.f, self.size));
        let raised = |grid: &Option<Grid>, bound: f64| grid.as_ref().map_or(bound, |grid| grid.raise(bound));
        if g.dimension() <= MOST_BITS_TO_TRY {
            if let Some((value, bits)) = least(g, rules, &mut decided, &free) {
                self.offer(&bits);
                self.closed = self.closed.min(bound.max(raised(&self.grid, (value - slack).next_down())));
            }
            return Ok(());
        }
        let (mut bound, mut open_bits) = (bound, None);
        if more() {
            let found = relax_within(g, sums, TOLERANCE, rng, |sweeps| sweeps < 2 * MOST_SWEEPS && more())?;
            if let Some(proven) = found.lower_bound_while(more) {
                bound = bound.max(raised(&self.grid, (proven - slack).next_down()));
            }
            open_bits = Some(found.relaxation.relaxed_bits());
        }
        if self.suffices(bound) {
            self.closed = self.closed.min(bound);
            return Ok(());
        }
        let split = free[most_undecided(g, open_bits.as_deref())];
        self.open.push(Node { fixed, bound, slack, split, number });
        Ok(())
    }
}

/// The most undecided bit of the relaxation, or the one that most depends on.
fn most_undecided(g: &Quadratic, open_bits: Option<&[f64]>) -> usize {
    let weight = |k: usize| (0..g.dimension()).filter(|&l| l != k).map(|l| g.pair(k, l).abs()).sum::<f64>();
    let rank = |k: usize| open_bits.map_or_else(|| weight(k), |bits| -(bits[k] - 0.5).abs());
    let first = (0..g.dimension()).map(|k| (rank(k), k)).reduce(|a, b| if b.0 > a.0 { b } else { a });
    first.expect("a free bit").1
}

/// What rounding may do to sums of all coefficients of `f` with some bits fixed, one after the other or in any order.
fn rounding(f: &Quadratic, size: f64) -> f64 {
    (8 * f.dimension() + 16) as f64 * f64::EPSILON * (size + f.constant().abs())
}

impl Ord for Node {
    /// The greatest is looked at first: the lowest bound, and among equals the newest.
    fn cmp(&self, other: &Self) -> Ordering {
        other.bound.total_cmp(&self.bound).then(self.number.cmp(&other.number))
    }
}

impl PartialOrd for Node {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Node {}

#[cfg(test)]
mod tests {
    use super::*;
    use golden_afo::cases_up_to;
    use plugin_api::rand::RngExt;
    use plugin_api::testing::{minimum, random_quadratic};
    use plugin_api::{Problem, rng};

    /// All of the tree, from the worst start; checks the bound on the way.
    fn searched(f: &Quadratic, exact: f64) -> Tree<'_> {
        let mut tree = Tree::new(f, Bits::zeros(f.dimension()));
        let mut last = tree.bound();
        let rng = &mut rng(1);
        while !tree.is_done() {
            tree.step(u64::MAX, rng).unwrap();
            assert!(tree.bound() <= exact, "{} above {exact}", tree.bound());
            assert!(tree.bound() >= last, "a bound of {last} fell to {}", tree.bound());
            last = tree.bound();
        }
        tree
    }

    #[test]
    fn under_rules_the_bound_rises_to_the_least_value_that_keeps_them_and_never_above() {
        for number in 0..400 {
            let problem = golden_constrained::problem(number);
            let f = problem.quadratic().unwrap();
            let rules = Rules::of(problem.layout()).unwrap();
            let exact = minimum(&problem);
            let rng = &mut rng(number);
            let start = rules.random(rng).unwrap();
            let mut tree = Tree::within(f, &rules, start);
            while !tree.is_done() {
                tree.step(u64::MAX, rng).unwrap();
                assert!(tree.bound() <= exact, "{number}: {} above {exact}", tree.bound());
            }
            assert!(rules.admit(tree.best().1));
            let room = 1e-9 * f.magnitude() + 1e-300;
            assert!((tree.best().0 - exact).abs() <= room, "{number}");
            assert!(exact - tree.bound() <= room, "{number}");
        }
    }

    #[test]
    fn more_bits_than_can_be_tried_are_branched_on_under_rules() {
        use plugin_api::{Constraint, Layout, Literal};
        for seed in 0..20 {
            let groups = (0..5).map(|g| 3 * g..3 * g + 3).collect();
            let of = (0..18).step_by(2).map(|i| Literal::new(i, 1)).collect();
            let layout = Layout::with_groups(18, groups)
                .unwrap()
                .with_constraints(vec![Constraint::AtMost { count: 3, of }])
                .unwrap();
            let f = random_quadratic(&mut rng(seed), 18);
            let rules = Rules::of(&layout).unwrap();
            let exact = minimum(&Problem::new(f.clone()).with_layout(&layout));
            let rng = &mut rng(seed);
            let mut tree = Tree::within(&f, &rules, rules.random(rng).unwrap());
            let mut last = tree.bound();
            while !tree.is_done() {
                tree.step(u64::MAX, rng).unwrap();
                assert!((last..=exact).contains(&tree.bound()), "{last}, {}, {exact}", tree.bound());
                last = tree.bound();
            }
            assert!((tree.best().0 - exact).abs() < 1e-9 && rules.admit(tree.best().1));
        }
    }

    #[test]
    fn the_bound_rises_to_the_minimum_and_never_above() {
        let rng = &mut rng(2);
        for case in 0..600 {
            let mut f = random_quadratic(rng, case % 16);
            if case % 3 == 0 {
                let whole = |values: &[f64]| values.iter().map(|value| (2.0 * value).round()).collect();
                f = Quadratic::new(rng.random_range(-3..=3).into(), whole(f.linear()), whole(f.pairs()))
                    .unwrap();
            }
            let exact = minimum(&Problem::new(f.clone()));
            let tree = searched(&f, exact);
            let (value, bits) = tree.best();
            assert!((value - exact).abs() < 1e-12 && value == f.value(bits));
            assert!(value - tree.bound() < 1e-7);
        }
    }

    #[test]
    fn minima_of_acquisition_functions_are_found_without_a_start() {
        for case in cases_up_to(40) {
            let tree = searched(&case.function, case.best_known);
            let gap = tree.best().0 - case.best_known;
            assert!(gap <= 1e-9 * case.best_known.abs(), "{}: {gap} above", case.name);
        }
    }

    #[test]
    fn a_node_that_may_not_be_looked_at_keeps_its_bound() {
        let f = cases_up_to(40).into_iter().find(|case| case.name == "labs_n040_2").expect("a case").function;
        let mut tree = Tree::new(&f, Bits::zeros(40));
        tree.step(1, &mut rng(1)).unwrap();
        let root = tree.bound();
        tree.step(1, &mut rng(1)).unwrap();
        assert_eq!((tree.nodes(), tree.bound()), (2, root));
    }
}
