//! A regression tree: best splits by squared error, down to observations that are the same.

use std::collections::BTreeMap;

use plugin_api::Rng;
use plugin_api::rand::RngExt;

use crate::challengers::shuffle;
use crate::split::{Splits, best_split};

/// Observations: a row of levels, a target and a value each.
pub(crate) struct Data {
    /// How many levels each variable has.
    pub(crate) levels: Vec<usize>,
    pub(crate) rows: Vec<Vec<u32>>,
    /// What is learned.
    pub(crate) targets: Vec<f64>,
    /// Whether these are logarithms.
    pub(crate) logs: bool,
    /// What was observed.
    pub(crate) values: Vec<f64>,
}

/// A tree over the levels of variables.
pub(crate) struct Tree {
    nodes: Vec<Node>,
}

pub(crate) enum Node {
    Leaf(Leaf),
    /// A point goes to the next node where its level is at most this, else to node `right`.
    Threshold {
        variable: u32,
        most: u32,
        right: u32,
    },
    /// A point goes to the next node where its level is one of these.
    Subset {
        variable: u32,
        left: Vec<bool>,
        right: u32,
    },
}

/// What a tree says of the points that end in a leaf.
#[derive(Clone, Copy)]
pub(crate) struct Leaf {
    /// The mean of the targets, or where they are logarithms, the logarithm of the mean of what they are logarithms of.
    pub(crate) target: f64,
    /// The mean of the values.
    pub(crate) value: f64,
}

impl Tree {
    /// Grows a tree on a bootstrap sample.
    pub(crate) fn grow(data: &Data, splits: Splits, rng: &mut Rng) -> Self {
        let count = data.rows.len();
        let mut sample: Vec<usize> = (0..count).map(|_| rng.random_range(0..count)).collect();
        let mut tree = Self { nodes: Vec::new() };
        let mut order: Vec<usize> = (0..data.levels.len()).collect();
        // Parts of the sample that are still to become nodes; with each, the split whose right side it is.
        let mut open = vec![(0..count, None)];
        while let Some((part, parent)) = open.pop() {
            let here = tree.nodes.len() as u32;
            if let Some(parent) = parent {
                match &mut tree.nodes[parent] {
                    Node::Threshold { right, .. } | Node::Subset { right, .. } => *right = here,
                    Node::Leaf(_) => unreachable!("a leaf has no right side"),
                }
            }
            shuffle(&mut order, rng);
            let Some(split) = best_split(data, &sample[part.clone()], &order, splits, rng) else {
                tree.nodes.push(Node::Leaf(leaf(data, &sample[part])));
                continue;
            };
            let middle =
                part.start + partition(&mut sample[part.clone()], |i| split.goes_left(&data.rows[i]));
            tree.nodes.push(split.node());
            open.push((middle..part.end, Some(here as usize)));
            // Popped next: the left side stands right after its parent.
            open.push((part.start..middle, None));
        }
        tree
    }

    /// The leaf that these levels end in.
    pub(crate) fn leaf(&self, levels: &[u32]) -> &Leaf {
        let mut at = 0;
        loop {
            let (left, right) = match &self.nodes[at] {
                Node::Leaf(leaf) => return leaf,
                Node::Threshold { variable, most, right } => (levels[*variable as usize] <= *most, *right),
                Node::Subset { variable, left, right } => (left[levels[*variable as usize] as usize], *right),
            };
            at = if left { at + 1 } else { right as usize };
        }
    }

    /// Tells of every leaf, with the levels that end in it: a list for each variable that decides, each with all that may be.
    pub(crate) fn for_each_leaf(&self, levels: &[usize], visit: &mut impl FnMut(&Leaf, &Region)) {
        let mut open = vec![(0, Region::new())];
        while let Some((at, region)) = open.pop() {
            let (variable, right) = match &self.nodes[at] {
                Node::Leaf(leaf) => {
                    visit(leaf, &region);
                    continue;
                }
                Node::Threshold { variable, right, .. } | Node::Subset { variable, right, .. } => {
                    (*variable as usize, *right as usize)
                }
            };
            let goes_left = |level: usize| match &self.nodes[at] {
                Node::Threshold { most, .. } => level <= *most as usize,
                Node::Subset { left, .. } => left[level],
                Node::Leaf(_) => unreachable!("a leaf is visited above"),
            };
            for (child, left) in [(at + 1, true), (right, false)] {
                let mut region = region.clone();
                let allowed = region.entry(variable).or_insert_with(|| vec![true; levels[variable]]);
                allowed
                    .iter_mut()
                    .enumerate()
                    .for_each(|(level, allowed)| *allowed &= goes_left(level) == left);
                open.push((child, region));
            }
        }
    }
}

/// Which levels of some variables are in; all levels of all others are.
pub(crate) type Region = BTreeMap<usize, Vec<bool>>;

fn leaf(data: &Data, sample: &[usize]) -> Leaf {
    let count = sample.len() as f64;
    let mean = |of: &dyn Fn(usize) -> f64| sample.iter().map(|&i| of(i)).sum::<f64>() / count;
    let target = if data.logs {
        let largest = sample.iter().map(|&i| data.targets[i]).fold(f64::NEG_INFINITY, f64::max);
        largest + libm::log(mean(&|i| libm::exp(data.targets[i] - largest)))
    } else {
        mean(&|i| data.targets[i])
    };
    Leaf { target, value: mean(&|i| data.values[i]) }
}

/// Brings those that go left to the front; answers how many they are.
fn partition(sample: &mut [usize], goes_left: impl Fn(usize) -> bool) -> usize {
    let mut middle = 0;
    for i in 0..sample.len() {
        if goes_left(sample[i]) {
            sample.swap(i, middle);
            middle += 1;
        }
    }
    middle
}

#[cfg(test)]
pub(crate) mod tests {
    use plugin_api::random::normal;
    use plugin_api::rng;

    use super::*;

    pub(crate) fn random_data(seed: u64, levels: &[usize], count: usize) -> Data {
        let rng = &mut rng(seed);
        let mut row = || levels.iter().map(|&levels| rng.random_range(0..levels as u32)).collect();
        let rows: Vec<Vec<u32>> = (0..count).map(|_| row()).collect();
        let targets = (0..count).map(|_| normal(rng)).collect();
        data(levels, rows, targets)
    }

    pub(crate) fn data(levels: &[usize], rows: Vec<Vec<u32>>, targets: Vec<f64>) -> Data {
        Data { levels: levels.to_vec(), rows, values: targets.clone(), targets, logs: true }
    }

    #[test]
    fn a_tree_tells_apart_whatever_it_has_seen() {
        for splits in [Splits::Numbers, Splits::Subsets] {
            let mut data = random_data(3, &[2, 4, 2, 3, 2], 60);
            // The same targets for the same rows, so that leaves are pure: the number of the row.
            let number =
                |row: &Vec<u32>| row.iter().fold(0.0, |number, &level| 5.0 * number + f64::from(level));
            data.targets = data.rows.iter().map(number).collect();
            let tree = Tree::grow(&data, splits, &mut rng(5));
            let exact = data
                .rows
                .iter()
                .zip(&data.targets)
                .filter(|(row, t)| (tree.leaf(row).target - **t).abs() < 1e-9);
            // A bootstrap sample has 63% of the observations.
            let share = exact.count() as f64 / 60.0;
            assert!((0.5..0.9).contains(&share), "{share}");
        }
    }

    #[test]
    fn equal_rows_share_a_leaf_with_the_logarithm_of_the_mean_or_the_mean() {
        let mut data = data(&[2], vec![vec![1]; 2], vec![0.0, -1.0]);
        data.values = vec![5.0, 8.0];
        let expected = libm::log(0.5 * (1.0 + libm::exp(-1.0)));
        assert!((leaf(&data, &[0, 1]).target - expected).abs() < 1e-15);
        assert_eq!((leaf(&data, &[1, 1]).target, leaf(&data, &[0, 1, 1]).value), (-1.0, 7.0));
        data.logs = false;
        assert_eq!(leaf(&data, &[0, 1]).target, -0.5);
        assert!(best_split(&data, &[0, 1], &[0], Splits::Numbers, &mut rng(1)).is_none());
    }

    #[test]
    fn every_point_is_in_the_region_of_its_leaf_alone() {
        let levels = [2, 3, 4];
        for splits in [Splits::Numbers, Splits::Subsets] {
            let tree = Tree::grow(&random_data(6, &levels, 15), splits, &mut rng(2));
            for point in (0..24).map(|k| [k / 12, k / 4 % 3, k % 4]) {
                let mut found = Vec::new();
                tree.for_each_leaf(&levels, &mut |leaf, region| {
                    if region.iter().all(|(&variable, allowed)| allowed[point[variable] as usize]) {
                        found.push(leaf.target);
                    }
                });
                assert_eq!(found, [tree.leaf(&point).target]);
            }
        }
    }
}
