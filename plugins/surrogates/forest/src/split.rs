//! The best split of a sample by squared error.

use plugin_api::Rng;
use plugin_api::rand::RngExt;

use crate::tree::{Data, Node};

/// How nodes are split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Splits {
    /// Levels are numbers, split by a threshold; if that takes enough from the squared error.
    Numbers,
    /// Levels are split into any two sets, as long as targets differ. In the order of their mean response, the best sets stand
    /// side by side (Fisher 1958).
    Subsets,
}

/// What a split by a threshold must take from the mean squared error of the whole sample: scikit-learn's
/// `min_impurity_decrease`, as SMAC sets it.
const LEAST_DECREASE: f64 = 1e-8;
/// Targets that differ by less are the same to splits into sets: the `epsilon_purity` of SMAC's older forest.
const PURE: f64 = 1e-8;

pub(crate) struct Split {
    variable: usize,
    /// Which levels go left.
    left: Vec<bool>,
    /// What it takes from the sum of squares, but for a constant.
    score: f64,
}

impl Split {
    pub(crate) fn goes_left(&self, row: &[u32]) -> bool {
        self.left[row[self.variable] as usize]
    }

    pub(crate) fn node(self) -> Node {
        let (variable, right) = (self.variable as u32, u32::MAX);
        let count = self.left.iter().take_while(|&&left| left).count();
        match self.left[count..].iter().any(|&left| left) || count == 0 {
            true => Node::Subset { variable, left: self.left, right },
            false => Node::Threshold { variable, most: count as u32 - 1, right },
        }
    }
}

/// The split of this sample that leaves the least sum of squares; the first in `order` of equal ones. `None` where all targets
/// are the same, or all rows; or, with thresholds, where it leaves as much as before.
pub(crate) fn best_split(
    data: &Data,
    sample: &[usize],
    order: &[usize],
    splits: Splits,
    rng: &mut Rng,
) -> Option<Split> {
    let first = data.targets[*sample.first()?];
    let tolerance = if splits == Splits::Subsets { PURE } else { 0.0 };
    if sample.iter().all(|&i| (data.targets[i] - first).abs() <= tolerance) {
        return None;
    }
    let sum: f64 = sample.iter().map(|&i| data.targets[i] - first).sum();
    let all = (sample.len() as f64, sum);
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
        if splits == Splits::Subsets {
            let mean = |level: usize| levels[level].1 / levels[level].0;
            present.sort_by(|&one, &two| mean(one).total_cmp(&mean(two)));
        }
        let (mut count, mut sum) = (0.0, 0.0);
        for cut in 1..present.len() {
            count += levels[present[cut - 1]].0;
            sum += levels[present[cut - 1]].1;
            let rest = all.1 - sum;
            let score = sum * sum / count + rest * rest / (all.0 - count);
            if best.as_ref().is_none_or(|best| score > best.score) {
                let left = sides(&present, cut, levels.len(), splits, rng);
                best = Some(Split { variable, left, score });
            }
        }
    }
    best.filter(|best| {
        let decrease = (best.score - all.1 * all.1 / all.0) / data.rows.len() as f64;
        splits == Splits::Subsets || decrease + f64::EPSILON >= LEAST_DECREASE
    })
}

/// Which levels go left where the first `cut` of those present do.
fn sides(present: &[usize], cut: usize, levels: usize, splits: Splits, rng: &mut Rng) -> Vec<bool> {
    match splits {
        // Those between the two that are split go to the nearer one, the middle to the left.
        Splits::Numbers => {
            let most = (present[cut - 1] + present[cut]) / 2;
            (0..levels).map(|level| level <= most).collect()
        }
        // Those not seen here go either way.
        Splits::Subsets => {
            let side = |level: usize| match present.iter().position(|&seen| seen == level) {
                Some(place) => place < cut,
                None => rng.random(),
            };
            (0..levels).map(side).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use plugin_api::rng;

    use super::*;
    use crate::tree::tests::{data, random_data};

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
            for splits in [Splits::Numbers, Splits::Subsets] {
                let split = best_split(&data, &sample, &[2, 0, 3, 1], splits, &mut rng(1)).unwrap();
                let found = squares(&data, &sample, |row| split.goes_left(row));
                let mut least = f64::INFINITY;
                for (variable, &count) in levels.iter().enumerate() {
                    for set in 1..(1u32 << count) - 1 {
                        // Thresholds are the sets of the lowest levels.
                        if splits == Splits::Subsets || (set + 1).is_power_of_two() {
                            least = least.min(squares(&data, &sample, |row| set >> row[variable] & 1 == 1));
                        }
                    }
                }
                assert!((found - least).abs() < 1e-12, "{splits:?}, seed {seed}: {found} for {least}");
            }
        }
    }

    #[test]
    fn a_level_between_two_goes_to_the_nearer_one() {
        let data = data(&[5], vec![vec![0], vec![4]], vec![0.0, 1.0]);
        let split = best_split(&data, &[0, 1], &[0], Splits::Numbers, &mut rng(1)).unwrap();
        assert_eq!(split.left, [true, true, true, false, false]);
    }

    #[test]
    fn a_split_that_gains_nothing_by_itself_is_made_into_sets_alone() {
        // Exclusive or: only two splits together tell the targets apart.
        let rows = vec![vec![0, 0], vec![0, 1], vec![1, 0], vec![1, 1]];
        let data = data(&[2, 2], rows, vec![0.0, 1.0, 1.0, 0.0]);
        let split = |splits| best_split(&data, &[0, 1, 2, 3], &[0, 1], splits, &mut rng(1));
        assert!(split(Splits::Subsets).is_some());
        assert!(split(Splits::Numbers).is_none());
    }

    #[test]
    fn a_split_must_take_as_much_from_the_squared_error_as_smac_says() {
        // Two targets d apart have the mean squared error d²/4, and a split takes all of it.
        for (distance, is_split) in [(1.99e-4, false), (2.01e-4, true)] {
            let data = data(&[2], vec![vec![0], vec![1]], vec![0.0, distance]);
            let split = best_split(&data, &[0, 1], &[0], Splits::Numbers, &mut rng(1));
            assert_eq!(split.is_some(), is_split, "{distance}");
        }
        for (distance, is_split) in [(0.9e-8, false), (1.1e-8, true)] {
            let data = data(&[2], vec![vec![0], vec![1]], vec![0.0, distance]);
            let split = best_split(&data, &[0, 1], &[0], Splits::Subsets, &mut rng(1));
            assert_eq!(split.is_some(), is_split, "{distance}");
        }
    }
}
