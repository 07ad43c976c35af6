//! The best bits of a binary quadratic program, by branch and bound.

use crate::matrix::Matrix;

/// Steps of the search, a second of work: beyond that the maximum stays unknown.
const STEPS: usize = 1 << 29;

/// Bits that maximise xᵀQx − l1·‖x‖₁, or `None` where it takes too long to prove them.
pub(crate) fn maximum(matrix: &Matrix, l1: f64) -> Option<Vec<bool>> {
    let n = matrix.n;
    let linear: Vec<f64> = (0..n).map(|i| matrix.row(i)[i] - l1).collect();
    let pair = |i: usize, j: usize| if i == j { 0.0 } else { matrix.row(i)[j] + matrix.row(j)[i] };
    let pairs: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| pair(i, j)).collect()).collect();
    let room = (0..n).map(|i| room(&pairs, i)).collect();
    let mut search = Search { pairs, room, x: vec![false; n], best: vec![false; n], value: 0.0, steps: 0 };
    let mut scratch: Vec<Vec<f64>> = (0..n).rev().map(|rest| vec![0.0; rest]).collect();
    search.descend(0, 0.0, &linear, &mut scratch).then_some(search.best)
}

/// Half of what each of the bits from `first` on may gain from the others of them.
///
/// Where S > 0, S x_j x_k ≤ S (x_j + x_k)/2: with half of S on each bit, the bits can be bounded one by one.
fn room(pairs: &[Vec<f64>], first: usize) -> Vec<f64> {
    pairs[first..].iter().map(|row| 0.5 * row[first..].iter().map(|&s| s.max(0.0)).sum::<f64>()).collect()
}

struct Search {
    /// S_ij = Q_ij + Q_ji, with zeros on the diagonal.
    pairs: Vec<Vec<f64>>,
    room: Vec<Vec<f64>>,
    x: Vec<bool>,
    best: Vec<bool>,
    value: f64,
    steps: usize,
}

impl Search {
    /// Tries both values of bit `i` and all after it; `linear` is what each of these adds to `value` by itself,
    /// given the bits before. Answers `false` where the steps ran out.
    fn descend(&mut self, i: usize, value: f64, linear: &[f64], scratch: &mut [Vec<f64>]) -> bool {
        self.steps += 1 + linear.len();
        if self.steps > STEPS {
            return false;
        }
        let Some((here, scratch)) = scratch.split_first_mut() else {
            if value > self.value {
                self.value = value;
                self.best.copy_from_slice(&self.x);
            }
            return true;
        };
        let gain = linear.iter().zip(&self.room[i]).map(|(l, room)| (l + room).max(0.0)).sum::<f64>();
        if value + gain <= self.value {
            return true;
        }
        // The likelier value first: a good point found early cuts more of the rest.
        let likelier = linear[0] > 0.0;
        for set in [likelier, !likelier] {
            self.x[i] = set;
            let within = if set {
                let pairs = &self.pairs[i][i + 1..];
                here.iter_mut().zip(linear[1..].iter().zip(pairs)).for_each(|(h, (l, s))| *h = l + s);
                self.descend(i + 1, value + linear[0], here, scratch)
            } else {
                self.descend(i + 1, value, &linear[1..], scratch)
            };
            if !within {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Kernel, Options};

    #[test]
    fn no_bits_are_better_than_the_maximum() {
        for n in 1..=12 {
            for (seed, alpha) in [(1, 1.0), (2, 3.0), (3, 100.0)] {
                let options = Options { n, alpha, kernel: Kernel::Code, ..Options::default() };
                let matrix = Matrix::new(&options, seed).unwrap();
                for l1 in [0.0, 0.3, 5.0, -1.0] {
                    let penalised =
                        |x: &[bool]| matrix.value(x) - l1 * x.iter().filter(|&&set| set).count() as f64;
                    let every = (0..1u32 << n).map(|mask| (0..n).map(|i| mask >> i & 1 == 1).collect());
                    let exhaustive =
                        every.map(|x: Vec<bool>| penalised(&x)).fold(f64::NEG_INFINITY, f64::max);
                    let found = penalised(&maximum(&matrix, l1).unwrap());
                    assert!((found - exhaustive).abs() <= 1e-12 * (1.0 + exhaustive.abs()), "{n} {l1}");
                }
            }
        }
    }

    #[test]
    fn a_search_that_would_take_too_long_gives_up() {
        let options = Options { n: 200, alpha: 1e6, ..Options::default() };
        assert_eq!(maximum(&Matrix::new(&options, 1).unwrap(), 0.0), None);
    }
}
