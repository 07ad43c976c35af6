//! From the vectors of a relaxation to spins: random hyperplanes, then descent.

use plugin_api::random::normal;
use plugin_api::{Bits, Rng};
use shared_semidefinite::{LANES, Lanes, Spins, weighted_sum};

/// How vectors become spins.
pub(crate) struct Hyperplanes {
    /// How many are tried.
    pub(crate) count: usize,
    /// Whether a spin is taken relative to the last one, which stands for the constant 1.
    pub(crate) relative: bool,
    /// Whether one-flip descent follows.
    pub(crate) descent: bool,
}

/// The best bits found, and the flips of all descents.
pub(crate) struct Rounded {
    pub(crate) bits: Bits,
    pub(crate) flips: u64,
    /// How many hyperplanes there was time for: one at least.
    pub(crate) roundings: u64,
}

/// The best of several roundings, each by the sides of one random hyperplane that the vectors are on.
///
/// `vectors` has a row for each spin. The first m directions are the same however many follow.
pub(crate) fn round(
    spins: &Spins,
    vectors: &[f64],
    planes: &Hyperplanes,
    rng: &mut Rng,
    more: impl Fn() -> bool,
) -> Rounded {
    let rank = vectors.len() / spins.size();
    let mut directions = vec![[0.0; LANES]; rank];
    let (mut best, mut lowest, mut flips, mut roundings) = (Vec::new(), f64::INFINITY, 0, 0);
    let mut left = planes.count;
    while left > 0 && (roundings == 0 || more()) {
        let count = left.min(LANES);
        for lane in 0..count {
            directions.iter_mut().for_each(|row| row[lane] = normal(rng));
        }
        let side = |row: &[f64]| weighted_sum(row, &directions).map(sign);
        let mut z: Vec<Lanes> = vectors.chunks_exact(rank).map(side).collect();
        set_last_spin(&mut z, planes.relative);
        let slopes: Vec<Lanes> = (0..spins.size()).map(|i| weighted_sum(spins.row(i), &z)).collect();
        for lane in 0..count {
            if roundings > 0 && !more() {
                break;
            }
            roundings += 1;
            let mut point = Point::new(&z, &slopes, lane);
            if planes.descent {
                flips += point.descend(spins);
            }
            if point.form < lowest {
                (best, lowest) = (point.z, point.form);
            }
        }
        left -= count;
    }
    let bits = best[..spins.size() - 1].iter().map(|&z| z > 0.0).collect();
    Rounded { bits, flips, roundings }
}

fn sign(x: f64) -> f64 {
    if x < 0.0 { -1.0 } else { 1.0 }
}

/// Makes the last spin 1: by turning all spins over where it is −1, or (not `relative`) by itself.
fn set_last_spin(z: &mut [Lanes], relative: bool) {
    let Some(&last) = z.last() else { return };
    if relative {
        for row in &mut *z {
            for l in 0..LANES {
                row[l] *= last[l];
            }
        }
    }
    z[z.len() - 1] = [1.0; LANES];
}

/// Spins with the slope Cz at each and the form zᵀCz.
struct Point {
    z: Vec<f64>,
    slope: Vec<f64>,
    form: f64,
}

impl Point {
    fn new(z: &[Lanes], slopes: &[Lanes], lane: usize) -> Self {
        let z: Vec<f64> = z.iter().map(|row| row[lane]).collect();
        let slope: Vec<f64> = slopes.iter().map(|row| row[lane]).collect();
        let form = z.iter().zip(&slope).map(|(z, g)| z * g).sum();
        Self { z, slope, form }
    }

    /// Turns over the spin that lowers the form most, as long as there is one; answers how many.
    fn descend(&mut self, spins: &Spins) -> u64 {
        let free = self.z.len() - 1;
        for flips in 0.. {
            // Turning zᵢ over adds −4·zᵢ·(Cz)ᵢ. What is lost in rounding must not count as a gain.
            let mut most = 1e-12;
            let mut steepest = None;
            for i in 0..free {
                if self.z[i] * self.slope[i] > most {
                    most = self.z[i] * self.slope[i];
                    steepest = Some(i);
                }
            }
            let Some(i) = steepest else { return flips };
            self.form -= 4.0 * most;
            let twice = 2.0 * self.z[i];
            self.slope.iter_mut().zip(spins.row(i)).for_each(|(g, c)| *g -= twice * c);
            self.z[i] = -self.z[i];
        }
        unreachable!("the loop has no other end")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plugin_api::{Quadratic, rng, testing::random_quadratic};

    const PLAIN: Hyperplanes = Hyperplanes { count: 100, relative: true, descent: false };

    /// Vectors that all point along the first axis, up or down as `bits` say; the last one as `last` says.
    fn aligned(bits: &[bool], last: f64) -> Vec<f64> {
        let up = bits.iter().map(|&bit| if bit { last } else { -last }).chain([last]);
        up.flat_map(|x| [x, 0.0, 0.0]).collect()
    }

    #[test]
    fn vectors_on_one_line_are_rounded_to_their_sides() {
        let spins = Spins::new(&Quadratic::zero(4)).unwrap();
        let bits = [true, false, false, true];
        for last in [1.0, -1.0] {
            assert_eq!(&*round(&spins, &aligned(&bits, last), &PLAIN, &mut rng(1), || true).bits, bits);
        }
    }

    #[test]
    fn spins_that_are_not_relative_come_out_either_way() {
        let spins = Spins::new(&Quadratic::zero(2)).unwrap();
        let planes = Hyperplanes { count: 1, relative: false, descent: false };
        let up =
            |seed| round(&spins, &aligned(&[true, false], 1.0), &planes, &mut rng(seed), || true).bits[0];
        let ups = (0..1000).filter(|&seed| up(seed)).count();
        assert!((450..550).contains(&ups), "{ups}");
    }

    #[test]
    fn the_side_of_a_vector_is_as_likely_as_its_angle_says() {
        // 60° apart: on different sides with probability 1/3 (Goemans & Williamson 1995).
        let spins = Spins::new(&Quadratic::zero(1)).unwrap();
        let vectors = [0.5, 0.75f64.sqrt(), 1.0, 0.0];
        let planes = Hyperplanes { count: 1, ..PLAIN };
        let apart = (0..6000)
            .filter(|&seed| !round(&spins, &vectors, &planes, &mut rng(seed), || true).bits[0])
            .count();
        assert!((apart as f64 / 6000.0 - 1.0 / 3.0).abs() < 0.02, "{apart}");
    }

    #[test]
    fn the_lowest_of_all_roundings_is_kept() {
        for seed in 0..50 {
            // Orthogonal vectors: each of 16 points is as likely, and 200 directions miss none of them.
            let f = random_quadratic(&mut rng(seed), 4);
            let identity: Vec<f64> = (0..25).map(|ij| if ij % 6 == 0 { 1.0 } else { 0.0 }).collect();
            let planes = Hyperplanes { count: 203, ..PLAIN };
            let found = round(&Spins::new(&f).unwrap(), &identity, &planes, &mut rng(seed), || true).bits;
            assert_eq!(f.value(&found), plugin_api::testing::minimum(&plugin_api::Problem::new(f)));
        }
    }

    #[test]
    fn descent_ends_where_no_flip_gains() {
        for seed in 0..20 {
            let f = random_quadratic(&mut rng(seed), 30);
            let spins = Spins::new(&f).unwrap();
            let start = aligned(&[seed % 2 == 0; 30], 1.0);
            let planes = Hyperplanes { count: 1, relative: true, descent: true };
            let Rounded { bits, flips, .. } = round(&spins, &start, &planes, &mut rng(seed), || true);
            assert!(flips > 0);
            assert!((0..30).all(|i| f.flip_gain(&bits, i) > -1e-9));
        }
    }
}
