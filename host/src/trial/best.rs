//! The best points of a trial so far.

use plugin_api::{BitMatrix, Bits, Point};

/// How many are kept: starts for solvers, and what a surrogate is told.
const MOST: usize = 10;

/// A point with its total, in the minimised sense.
pub(super) struct Best {
    pub(super) total: f64,
    pub(super) bits: Bits,
    pub(super) point: Point,
}

/// The best points, the best first; of equal ones, the first found.
#[derive(Default)]
pub(super) struct BestPoints(Vec<Best>);

impl BestPoints {
    pub(super) fn add(&mut self, new: Best) {
        // A noisy objective may be evaluated twice at one point: its better total counts.
        if let Some(known) = self.0.iter().position(|best| best.bits == new.bits) {
            if self.0[known].total <= new.total {
                return;
            }
            self.0.remove(known);
        }
        let place = self.0.partition_point(|best| best.total <= new.total);
        self.0.insert(place, new);
        self.0.truncate(MOST);
    }

    pub(super) fn first(&self) -> Option<&Best> {
        self.0.first()
    }

    /// Their bits, a row each.
    pub(super) fn matrix(&self, dimension: usize) -> BitMatrix {
        let mut matrix = BitMatrix::new(dimension);
        self.0.iter().for_each(|best| matrix.push(&best.bits));
        matrix
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(points: &[(&str, f64)]) -> Vec<String> {
        let mut best = BestPoints::default();
        for (bits, total) in points {
            let bits: Bits = bits.parse().unwrap();
            let point = bits.iter().map(|&bit| u32::from(bit)).collect();
            best.add(Best { total: *total, bits, point });
        }
        best.0.iter().map(|best| format!("{} {}", best.bits, best.total)).collect()
    }

    #[test]
    fn the_best_come_first_and_each_once() {
        let points = [("00", 3.0), ("01", 1.0), ("10", 1.0), ("00", 0.5), ("01", 2.0)];
        assert_eq!(best(&points), ["00 0.5", "01 1", "10 1"]);
    }

    #[test]
    fn only_so_many_are_kept_as_anybody_needs() {
        let points: Vec<(String, f64)> = (0..16).map(|i| (format!("{i:04b}"), f64::from(16 - i))).collect();
        let points: Vec<(&str, f64)> = points.iter().map(|(bits, total)| (bits.as_str(), *total)).collect();
        assert_eq!(best(&points).len(), MOST);
        assert_eq!(best(&points)[0], "1111 1");
    }
}
