//! A regression tree: best splits by squared error, down to single observations.

use plugin_api::Rng;
use plugin_api::rand::RngExt;

/// How the levels of a variable with more than two are split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Categories {
    /// As numbers, by a threshold.
    Numbers,
    /// Into any two sets. In the order of their mean response, the best sets stand side by side (Fisher 1958).
    Subsets,
}

/// Observations: a row of levels and a target each.
pub(crate) struct Data {
    /// How many levels each variable has.
    pub(crate) levels: Vec<usize>,
    pub(crate) rows: Vec<Vec<u32>>,
    pub(crate) targets: Vec<f64>,
}

/// A tree over the levels of variables.
pub(crate) struct Tree {
    nodes: Vec<Node>,
}

enum Node {
    Leaf(f64),
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

impl Tree {
    /// Grows a tree on a bootstrap sample. A leaf has the logarithm of the mean of its exponentiated targets.
    pub(crate) fn grow(data: &Data, categories: Categories, rng: &mut Rng) -> Self {
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
            let Some(split) = best_split(data, &sample[part.clone()], &order, categories, rng) else {
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

    /// The value of the leaf that these levels end in.
    pub(crate) fn value(&self, levels: &[u32]) -> f64 {
        let mut at = 0;
        loop {
            let (left, right) = match &self.nodes[at] {
                Node::Leaf(value) => return *value,
                Node::Threshold { variable, most, right } => (levels[*variable as usize] <= *most, *right),
                Node::Subset { variable, left, right } => (left[levels[*variable as usize] as usize], *right),
            };
            at = if left { at + 1 } else { right as usize };
        }
    }
}

struct Split {
    variable: usize,
    /// Which levels go left.
    left: Vec<bool>,
    /// What it takes from the sum of squares, but for a constant.
    score: f64,
}

impl Split {
    fn goes_left(&self, row: &[u32]) -> bool {
        self.left[row[self.variable] as usize]
    }

    fn node(self) -> Node {
        let (variable, right) = (self.variable as u32, u32::MAX);
        let count = self.left.iter().take_while(|&&left| left).count();
        match self.left[count..].iter().any(|&left| left) || count == 0 {
            true => Node::Subset { variable, left: self.left, right },
            false => Node::Threshold { variable, most: count as u32 - 1, right },
        }
    }
}

/// The split of this sample that leaves the least sum of squares, even if it is no less than before; the first in
/// `order` of equal ones. `None` where all targets are the same, or all rows.
fn best_split(
    data: &Data,
    sample: &[usize],
    order: &[usize],
    categories: Categories,
    rng: &mut Rng,
) -> Option<Split> {
    let first = data.targets[*sample.first()?];
    if sample.iter().all(|&i| data.targets[i] == first) {
        return None;
    }
    let mut best: Option<Split> = None;
    for &variable in order {
        // Number and sum of the targets at each level; from the first one, so that sums stay small.
        let mut levels = vec![(0.0, 0.0); data.levels[variable]];
        for &i in sample {
            let (count, sum) = &mut levels[data.rows[i][variable] as usize];
            *count += 1.0;
            *sum += data.targets[i] - first;
        }
        let mut present: Vec<usize> = (0..levels.len()).filter(|&level| levels[level].0 > 0.0).collect();
        if categories == Categories::Subsets {
            let mean = |level: usize| levels[level].1 / levels[level].0;
            present.sort_by(|&one, &two| mean(one).total_cmp(&mean(two)));
        }
        let all: (f64, f64) = (sample.len() as f64, levels.iter().map(|(_, sum)| sum).sum());
        let (mut count, mut sum) = (0.0, 0.0);
        for cut in 1..present.len() {
            count += levels[present[cut - 1]].0;
            sum += levels[present[cut - 1]].1;
            let rest = all.1 - sum;
            let score = sum * sum / count + rest * rest / (all.0 - count);
            if best.as_ref().is_none_or(|best| score > best.score) {
                let left = sides(&present, cut, levels.len(), categories, rng);
                best = Some(Split { variable, left, score });
            }
        }
    }
    best
}

/// Which levels go left where the first `cut` of those present do.
fn sides(present: &[usize], cut: usize, levels: usize, categories: Categories, rng: &mut Rng) -> Vec<bool> {
    match categories {
        // Those between the two that are split go to the nearer one, the middle to the left.
        Categories::Numbers => {
            let most = (present[cut - 1] + present[cut]) / 2;
            (0..levels).map(|level| level <= most).collect()
        }
        // Those not seen here go either way.
        Categories::Subsets => {
            let side = |level: usize| match present.iter().position(|&seen| seen == level) {
                Some(place) => place < cut,
                None => rng.random(),
            };
            (0..levels).map(side).collect()
        }
    }
}

fn leaf(data: &Data, sample: &[usize]) -> f64 {
    let largest = sample.iter().map(|&i| data.targets[i]).fold(f64::NEG_INFINITY, f64::max);
    let mean =
        sample.iter().map(|&i| libm::exp(data.targets[i] - largest)).sum::<f64>() / sample.len() as f64;
    largest + libm::log(mean)
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

fn shuffle(order: &mut [usize], rng: &mut Rng) {
    for i in (1..order.len()).rev() {
        order.swap(i, rng.random_range(0..=i));
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::random::normal;
    use plugin_api::rng;

    use super::*;

    fn random_data(seed: u64, levels: &[usize], count: usize) -> Data {
        let rng = &mut rng(seed);
        let mut row = || levels.iter().map(|&levels| rng.random_range(0..levels as u32)).collect();
        let rows: Vec<Vec<u32>> = (0..count).map(|_| row()).collect();
        let targets = (0..count).map(|_| normal(rng)).collect();
        Data { levels: levels.to_vec(), rows, targets }
    }

    /// The sum of squares around the means of the two sides; infinite where one is empty.
    fn squares(data: &Data, sample: &[usize], goes_left: impl Fn(&[u32]) -> bool) -> f64 {
        let side = |left: bool| {
            let targets = sample.iter().filter(|&&i| goes_left(&data.rows[i]) == left);
            let targets: Vec<f64> = targets.map(|&i| data.targets[i]).collect();
            let mean = targets.iter().sum::<f64>() / targets.len() as f64;
            match targets.len() {
                0 => f64::INFINITY,
                _ => targets.iter().map(|t| (t - mean) * (t - mean)).sum(),
            }
        };
        side(true) + side(false)
    }

    #[test]
    fn no_split_of_all_is_better_than_the_best() {
        let levels = [2, 3, 5, 2];
        for seed in 0..50 {
            let data = random_data(seed, &levels, 12);
            let sample: Vec<usize> = (0..12).chain([3, 3, 7]).collect();
            for categories in [Categories::Numbers, Categories::Subsets] {
                let split = best_split(&data, &sample, &[2, 0, 3, 1], categories, &mut rng(1)).unwrap();
                let found = squares(&data, &sample, |row| split.goes_left(row));
                let mut least = f64::INFINITY;
                for (variable, &count) in levels.iter().enumerate() {
                    for set in 1..(1u32 << count) - 1 {
                        // Thresholds are the sets of the lowest levels.
                        if categories == Categories::Subsets || (set + 1).is_power_of_two() {
                            least = least.min(squares(&data, &sample, |row| set >> row[variable] & 1 == 1));
                        }
                    }
                }
                assert!((found - least).abs() < 1e-12, "{categories:?}, seed {seed}: {found} for {least}");
            }
        }
    }

    #[test]
    fn a_tree_tells_apart_whatever_it_has_seen() {
        for categories in [Categories::Numbers, Categories::Subsets] {
            let mut data = random_data(3, &[2, 4, 2, 3, 2], 60);
            // The same targets for the same rows, so that leaves are pure: the number of the row.
            let number =
                |row: &Vec<u32>| row.iter().fold(0.0, |number, &level| 5.0 * number + f64::from(level));
            data.targets = data.rows.iter().map(number).collect();
            let tree = Tree::grow(&data, categories, &mut rng(5));
            let exact =
                data.rows.iter().zip(&data.targets).filter(|(row, t)| (tree.value(row) - **t).abs() < 1e-9);
            // A bootstrap sample has 63% of the observations.
            let share = exact.count() as f64 / 60.0;
            assert!((0.5..0.9).contains(&share), "{share}");
        }
    }

    #[test]
    fn equal_rows_share_a_leaf_with_the_logarithm_of_the_mean() {
        let data = Data { levels: vec![2], rows: vec![vec![1]; 2], targets: vec![0.0, -1.0] };
        let expected = libm::log(0.5 * (1.0 + libm::exp(-1.0)));
        assert!((leaf(&data, &[0, 1]) - expected).abs() < 1e-15);
        assert_eq!(leaf(&data, &[1, 1]), -1.0);
        assert!(best_split(&data, &[0, 1], &[0], Categories::Numbers, &mut rng(1)).is_none());
    }

    #[test]
    fn a_level_between_two_goes_to_the_nearer_one() {
        let data = Data { levels: vec![5], rows: vec![vec![0], vec![4]], targets: vec![0.0, 1.0] };
        let split = best_split(&data, &[0, 1], &[0], Categories::Numbers, &mut rng(1)).unwrap();
        assert_eq!(split.left, [true, true, true, false, false]);
    }

    #[test]
    fn a_split_that_gains_nothing_by_itself_is_made() {
        // Exclusive or: only two splits together tell the targets apart.
        let rows = vec![vec![0, 0], vec![0, 1], vec![1, 0], vec![1, 1]];
        let data = Data { levels: vec![2, 2], rows, targets: vec![0.0, 1.0, 1.0, 0.0] };
        assert!(best_split(&data, &[0, 1, 2, 3], &[0, 1], Categories::Numbers, &mut rng(1)).is_some());
    }
}
