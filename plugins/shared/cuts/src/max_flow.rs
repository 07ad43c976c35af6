//! Maximum flow in a dense network, by push-relabel (Goldberg & Tarjan 1988) with the highest label first and
//! the gap heuristic (Cherkassky & Goldberg 1997).
//!
//! Each node has a terminal: it takes flow from the source (above 0) or gives flow to the sink (below 0). The
//! network is at the same time the function that a minimum cut minimizes,
//!
//! ```text
//! F(x) = Σ tᵢ xᵢ + Σ cᵢⱼ (1 − xᵢ) xⱼ,      xᵢ = 1 on the sink's side,
//! ```
//!
//! with terminals t and capacities c ≥ 0. A push of δ from i to j takes δ from cᵢⱼ and tᵢ and gives it to cⱼᵢ
//! and tⱼ, which leaves F as it is. Once no node above 0 reaches one below 0, min F = Σ min(tᵢ, 0). What is
//! left of t is called excess below, what is left of c residual. Adding to t and to the excess changes F by as
//! much, so the next cut can start from the flow of the last one.

use crate::node_sets::NodeSets;

/// Nodes that each have a terminal, and arcs between any two of them.
pub struct Network {
    nodes: usize,
    /// Of the arc i→j at `i * nodes + j`.
    residuals: Vec<f64>,
    /// Row i: the nodes j to which the residual is above 0.
    arcs: NodeSets,
    terminals: Vec<f64>,
    excess: Vec<f64>,
    /// Row d: the nodes with label d, a lower bound on the number of arcs to a node below 0. Nodes that are
    /// known to reach none are in no row.
    levels: NodeSets,
    /// The highest row of `levels` that may have nodes.
    top: usize,
    /// A single row: the nodes in `levels` with an excess above 0.
    active: NodeSets,
}

impl Network {
    /// A network with all terminals 0, from capacities of at least 0: that of the arc i→j at `i * nodes + j`.
    pub fn new(nodes: usize, capacities: Vec<f64>) -> Self {
        Self::new_while(nodes, capacities, &|| true).expect("nothing ends it early")
    }

    /// [`new`](Self::new), unless `more` disagrees before it is done, which is asked at every node.
    pub(crate) fn new_while(nodes: usize, capacities: Vec<f64>, more: &dyn Fn() -> bool) -> Option<Self> {
        assert_eq!(capacities.len(), nodes * nodes, "capacities for another number of nodes");
        let mut arcs = NodeSets::empty(nodes, nodes);
        for i in 0..nodes {
            if !more() {
                return None;
            }
            let row = &capacities[i * nodes..(i + 1) * nodes];
            for (word, row) in arcs.row_mut(i).iter_mut().zip(row.chunks(64)) {
                *word = row.iter().rev().fold(0, |word, &capacity| word << 1 | u64::from(capacity > 0.0));
            }
            arcs.remove(i, i);
        }
        Some(Self {
            nodes,
            residuals: capacities,
            arcs,
            terminals: vec![0.0; nodes],
            excess: vec![0.0; nodes],
            levels: NodeSets::empty(nodes.max(1), nodes),
            top: 0,
            active: NodeSets::empty(1, nodes),
        })
    }

    /// Changes the terminals; the flow between the nodes stays.
    pub fn set_terminals(&mut self, terminals: &[f64]) {
        assert_eq!(terminals.len(), self.nodes, "terminals for another number of nodes");
        for ((old, excess), &new) in self.terminals.iter_mut().zip(&mut self.excess).zip(terminals) {
            *excess += new - *old;
            *old = new;
        }
    }

    /// Pushes flow until no node above 0 reaches one below 0.
    ///
    /// A push takes all of the excess or all of the residual and leaves an exact 0, so that no tolerance
    /// decides which arcs are saturated.
    pub fn maximize_flow(&mut self) {
        self.maximize_flow_while(&|| true);
    }

    /// [`maximize_flow`](Self::maximize_flow) for as long as `more` agrees, which is asked now and then. Answers whether the
    /// flow is maximal; any flow is one to go on from.
    pub fn maximize_flow_while(&mut self, more: &dyn Fn() -> bool) -> bool {
        /// Nodes between two looks: each takes a few microseconds with thousands of nodes.
        const OFTEN: u32 = 64;
        let Some(mut label) = self.label_by_distance(more) else { return false };
        let mut discharged = 0;
        loop {
            match self.active.first_common(0, self.levels.row(label)) {
                Some(node) => {
                    discharged += 1;
                    if discharged % OFTEN == 0 && !more() {
                        return false;
                    }
                    label = self.discharge(node, label);
                }
                None if label > 0 => label -= 1,
                None => return true,
            }
        }
    }

    /// The minimum of F, once the flow is maximal.
    pub fn minimum(&self) -> f64 {
        self.excess.iter().map(|excess| excess.min(0.0)).sum()
    }

    /// The nodes on the sink's side of a minimum cut, once the flow is maximal. Of several minimum cuts, the
    /// one with the fewest such nodes: those that still reach a node below 0.
    pub fn sink_side(&mut self) -> Vec<bool> {
        self.sink_side_while(&|| true).expect("nothing ends it early")
    }

    /// [`sink_side`](Self::sink_side), unless `more` disagrees before it is known.
    pub(crate) fn sink_side_while(&mut self, more: &dyn Fn() -> bool) -> Option<Vec<bool>> {
        self.label_by_distance(more)?;
        let mut side = vec![false; self.nodes];
        for level in 0..=self.top {
            for (bits, &word) in side.chunks_mut(64).zip(self.levels.row(level)) {
                bits.iter_mut().enumerate().for_each(|(i, bit)| *bit |= word >> i & 1 == 1);
            }
        }
        Some(side)
    }

    /// What the flow leaves of the capacities, as [`new`](Self::new) takes them.
    pub fn residuals(&self) -> &[f64] {
        &self.residuals
    }

    /// Labels each node with its distance to a node below 0, and answers the highest label of an active node; `None` where
    /// `more`, which is asked at each distance, ends it early.
    fn label_by_distance(&mut self, more: &dyn Fn() -> bool) -> Option<usize> {
        self.levels.clear();
        self.active.clear();
        self.top = 0;
        let mut unlabelled = Vec::with_capacity(self.nodes);
        for (i, &excess) in self.excess.iter().enumerate() {
            if excess < 0.0 {
                self.levels.insert(0, i);
            } else {
                unlabelled.push(i);
            }
        }
        let mut highest = 0;
        for distance in 1..self.nodes {
            if !more() {
                return None;
            }
            unlabelled.retain(|&i| {
                let reaches = self.arcs.meets(i, self.levels.row(distance - 1));
                if reaches {
                    self.levels.insert(distance, i);
                    self.top = distance;
                    if self.excess[i] > 0.0 {
                        self.active.insert(0, i);
                        highest = distance;
                    }
                }
                !reaches
            });
            if self.top < distance {
                break;
            }
        }
        Some(highest)
    }

    /// Pushes the excess of an active node on, and raises the node's label as long as something is left.
    /// Answers a label above which no node is active.
    fn discharge(&mut self, node: usize, mut label: usize) -> usize {
        while label == 0 || !self.push_down(node, label - 1) {
            self.levels.remove(label, node);
            let next = (label..=self.top).find(|&level| self.arcs.meets(node, self.levels.row(level)));
            match next {
                // No arc leads down over an empty level, so what is above it reaches no node below 0.
                _ if self.levels.is_empty(label) => {
                    self.remove_levels_above(label);
                    break;
                }
                None => break,
                Some(next) => label = next + 1,
            }
            self.levels.insert(label, node);
            self.top = self.top.max(label);
        }
        self.active.remove(0, node);
        label
    }

    /// Pushes from `i` along arcs to nodes of the level `below`; answers whether all the excess could go.
    fn push_down(&mut self, i: usize, below: usize) -> bool {
        let n = self.nodes;
        let mut excess = self.excess[i];
        for w in 0..self.active.row(0).len() {
            let mut open = self.arcs.row(i)[w] & self.levels.row(below)[w];
            let (mut saturated, mut filled) = (0, 0);
            while open != 0 && excess > 0.0 {
                let bit = open & open.wrapping_neg();
                open ^= bit;
                let j = 64 * w + bit.trailing_zeros() as usize;
                let residual = self.residuals[i * n + j];
                let pushed = if residual < excess { residual } else { excess };
                excess -= pushed;
                self.residuals[i * n + j] = residual - pushed;
                self.residuals[j * n + i] += pushed;
                self.arcs.insert(j, i);
                self.excess[j] += pushed;
                saturated |= if pushed == residual { bit } else { 0 };
                filled |= if self.excess[j] > 0.0 { bit } else { 0 };
            }
            self.arcs.row_mut(i)[w] &= !saturated;
            self.active.row_mut(0)[w] |= filled;
        }
        self.excess[i] = excess;
        excess == 0.0
    }

    fn remove_levels_above(&mut self, label: usize) {
        for level in label + 1..=self.top {
            for (active, word) in self.active.row_mut(0).iter_mut().zip(self.levels.row_mut(level)) {
                *active &= !*word;
                *word = 0;
            }
        }
        self.top = label;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::rand::RngExt;
    use plugin_api::{Rng, rng};
    use std::collections::VecDeque;

    /// Capacities by rows, and terminals.
    type Instance = (Vec<f64>, Vec<f64>);

    fn instance(n: usize, rng: &mut Rng, mut draw: impl FnMut(&mut Rng) -> f64) -> Instance {
        let mut capacities: Vec<f64> = (0..n * n).map(|_| draw(rng)).collect();
        (0..n).for_each(|i| capacities[i * n + i] = 0.0);
        let terminals = (0..n).map(|_| if rng.random() { draw(rng) } else { -draw(rng) }).collect();
        (capacities, terminals)
    }

    /// Instances of `n` nodes: smooth, heavy-tailed over 20 orders of magnitude, small integers with ties, and
    /// sparse ones with nodes apart.
    fn instances(n: usize, seed: u64) -> Vec<Instance> {
        let rng = &mut rng(seed);
        let sparse = |rng: &mut Rng| if rng.random_bool(1.5 / n.max(2) as f64) { rng.random() } else { 0.0 };
        vec![
            instance(n, rng, |rng| rng.random()),
            instance(n, rng, |rng| libm::pow(10.0, rng.random_range(-10.0..10.0))),
            instance(n, rng, |rng| f64::from(rng.random_range(0..4u8))),
            instance(n, rng, sparse),
        ]
    }

    fn solved((capacities, terminals): &Instance) -> Network {
        let mut network = Network::new(terminals.len(), capacities.clone());
        network.set_terminals(terminals);
        network.maximize_flow();
        network
    }

    /// F by its definition.
    fn value((capacities, terminals): &Instance, sink_side: &[bool]) -> f64 {
        let n = terminals.len();
        let cut =
            |i: usize, j: usize| if !sink_side[i] && sink_side[j] { capacities[i * n + j] } else { 0.0 };
        let arcs: f64 = (0..n).map(|i| (0..n).map(|j| cut(i, j)).sum::<f64>()).sum();
        arcs + terminals.iter().zip(sink_side).map(|(t, &side)| if side { *t } else { 0.0 }).sum::<f64>()
    }

    fn scale((capacities, terminals): &Instance) -> f64 {
        capacities.iter().chain(terminals).map(|c| c.abs()).sum()
    }

    /// The value of a maximum flow by shortest augmenting paths (Edmonds & Karp 1972), with the source and the
    /// sink as nodes of their own.
    fn edmonds_karp((capacities, terminals): &Instance) -> f64 {
        let n = terminals.len();
        let (source, sink, m) = (n, n + 1, n + 2);
        let mut residuals = vec![0.0; m * m];
        for i in 0..n {
            residuals[i * m..i * m + n].copy_from_slice(&capacities[i * n..(i + 1) * n]);
            residuals[source * m + i] = terminals[i].max(0.0);
            residuals[i * m + sink] = (-terminals[i]).max(0.0);
        }
        let mut flow = 0.0;
        loop {
            let mut before = vec![usize::MAX; m];
            let mut queue = VecDeque::from([source]);
            while let Some(i) = queue.pop_front() {
                for j in (0..m).filter(|&j| residuals[i * m + j] > 0.0) {
                    if j != source && before[j] == usize::MAX {
                        before[j] = i;
                        queue.push_back(j);
                    }
                }
            }
            if before[sink] == usize::MAX {
                return flow;
            }
            let path: Vec<(usize, usize)> =
                std::iter::successors(Some(sink), |&j| Some(before[j]).filter(|&i| i != source))
                    .map(|j| (before[j], j))
                    .collect();
            let pushed = path.iter().map(|&(i, j)| residuals[i * m + j]).fold(f64::INFINITY, f64::min);
            for (i, j) in path {
                residuals[i * m + j] -= pushed;
                residuals[j * m + i] += pushed;
            }
            flow += pushed;
        }
    }

    #[test]
    fn the_cut_has_the_capacity_of_the_flow() {
        for n in [0, 1, 2, 3, 10, 63, 64, 65, 130] {
            for (case, instance) in instances(n, n as u64).iter().enumerate() {
                let mut network = solved(instance);
                let cut = value(instance, &network.sink_side());
                let tolerance = if case == 2 { 0.0 } else { 1e-14 * scale(instance) };
                assert!((network.minimum() - cut).abs() <= tolerance, "{n} nodes, case {case}: {cut}");
            }
        }
    }

    #[test]
    fn the_cut_is_the_least_of_all_and_the_smallest_of_the_least() {
        for (seed, n) in (0..60).zip((0..=10).cycle()) {
            for (case, instance) in instances(n, seed).iter().enumerate() {
                let sides =
                    (0..1u32 << n).map(|mask| (0..n).map(|i| mask >> i & 1 == 1).collect::<Vec<bool>>());
                let values: Vec<(f64, Vec<bool>)> =
                    sides.map(|side| (value(instance, &side), side)).collect();
                let least = values.iter().map(|(value, _)| *value).fold(f64::INFINITY, f64::min);
                let mut network = solved(instance);
                let side = network.sink_side();
                let found = value(instance, &side);
                assert!(
                    found - least <= 1e-14 * scale(instance),
                    "{n} nodes, case {case}: {found}, not {least}"
                );
                if case == 2 {
                    // Small integers: there are ties, and no rounding.
                    let size = |side: &[bool]| side.iter().filter(|&&bit| bit).count();
                    let smallest =
                        values.iter().filter(|(value, _)| *value == least).map(|(_, side)| size(side)).min();
                    assert_eq!(Some(size(&side)), smallest);
                }
            }
        }
    }

    #[test]
    fn the_flow_is_that_of_augmenting_paths() {
        for (seed, n) in (0..6).zip([12, 20, 33].into_iter().cycle()) {
            for instance in &instances(n, 500 + seed) {
                let to_sink: f64 = instance.1.iter().map(|t| (-t).max(0.0)).sum();
                let flow = to_sink + solved(instance).minimum();
                let expected = edmonds_karp(instance);
                assert!((flow - expected).abs() <= 1e-14 * scale(instance), "{flow}, not {expected}");
            }
        }
    }

    #[test]
    fn a_flow_goes_on_from_the_last_one_when_terminals_change() {
        let rng = &mut rng(9);
        for n in [2, 20, 70] {
            let (capacities, _) = instance(n, rng, |rng| rng.random());
            let mut kept = Network::new(n, capacities.clone());
            for _ in 0..20 {
                let terminals: Vec<f64> = (0..n).map(|_| n as f64 * (rng.random::<f64>() - 0.5)).collect();
                kept.set_terminals(&terminals);
                kept.maximize_flow();
                let mut fresh = solved(&(capacities.clone(), terminals));
                assert!((kept.minimum() - fresh.minimum()).abs() < 1e-12 * (n * n) as f64);
                assert_eq!(kept.sink_side(), fresh.sink_side());
            }
        }
    }

    #[test]
    fn a_saturated_arc_leaves_nothing() {
        // 0 → 1 → 2: the flow of 0.1 + 0.2 fills the first arc to the last bit.
        let mut capacities = vec![0.0; 9];
        capacities[1] = 0.1 + 0.2;
        capacities[5] = 1.0;
        let mut network = solved(&(capacities, vec![1.0, 0.0, -1.0]));
        assert_eq!(network.residuals()[1], 0.0);
        assert_eq!(network.sink_side(), [false, true, true]);
        assert_eq!(network.minimum(), -1.0 + (0.1 + 0.2));
    }

    #[test]
    fn residuals_stay_within_the_capacities() {
        for instance in &instances(40, 77) {
            let network = solved(instance);
            for i in 0..40 {
                for j in 0..40 {
                    let (there, back) = (i * 40 + j, j * 40 + i);
                    let both = instance.0[there] + instance.0[back];
                    assert!(network.residuals()[there] >= 0.0);
                    let left = network.residuals()[there] + network.residuals()[back];
                    assert!((left - both).abs() <= 1e-14 * both);
                }
            }
        }
    }
}
