//! Random binary quadratic problems of the kinds that the literature measures solvers by.
//!
//! Coefficients are whole numbers, so values are exact and a proof is one to the last digit. Each off-diagonal
//! weight counts twice, as in the Biq Mac library: minimize Σ wᵢᵢ xᵢ + 2 Σ_{i<j} wᵢⱼ xᵢ xⱼ.

use plugin_api::rand::Rng as _;
use plugin_api::random::{exponential, normal};
use plugin_api::{Quadratic, Rng, rng};

/// How the weights are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Weights from −100 to 100; this percentage of the pairs has one. Beasley (1998) has 10 %.
    Uniform { percent: u64 },
    /// Single bits from −100 to 100, pairs from −50 to 50, as Billionnet and Elloumi (2007).
    Halved { percent: u64 },
    /// Single bits from −63 to 0, all pairs from 0 to 100, so that few bits are set: Glover, Kochenberger and
    /// Alidaee (1998), series b.
    Glover,
    /// Each bit draws this many others to share a weight from −100 to 100 with.
    Sparse { neighbours: usize },
    /// Weights from −100 to 100 for bits at most this far apart; dynamic programming proves their minima.
    Banded { width: usize },
    /// Ten times Student's t with two degrees of freedom, rounded: a few weights are as large as all others together.
    HeavyTailed,
}

impl Family {
    /// The function of `n` bits that this seed gives.
    pub fn function(self, n: usize, seed: u64) -> Quadratic {
        let rng = &mut rng(seed);
        let mut f = Quadratic::zero(n);
        for i in 0..n {
            let single = match self {
                Self::Glover => whole(rng, -63, 0),
                Self::HeavyTailed => heavy(rng),
                _ => whole(rng, -100, 100),
            };
            f.add_linear(i, single);
            if let Self::Sparse { neighbours } = self {
                for _ in 0..neighbours {
                    let other = (i + whole(rng, 1, n as i64 - 1) as usize) % n;
                    f.add_pair(i.min(other), i.max(other), 2.0 * whole(rng, -100, 100));
                }
                continue;
            }
            for j in i + 1..n {
                let weight = match self {
                    Self::Uniform { percent } => thinned(rng, percent, 100),
                    Self::Halved { percent } => thinned(rng, percent, 50),
                    Self::Glover => whole(rng, 0, 100),
                    Self::Banded { width } if j - i <= width => whole(rng, -100, 100),
                    Self::HeavyTailed => heavy(rng),
                    Self::Sparse { .. } | Self::Banded { .. } => 0.0,
                };
                f.add_pair(i, j, 2.0 * weight);
            }
        }
        f
    }

    /// The word that names begin with.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Uniform { .. } => "uniform",
            Self::Halved { .. } => "halved",
            Self::Glover => "glover",
            Self::Sparse { .. } => "sparse",
            Self::Banded { .. } => "banded",
            Self::HeavyTailed => "heavy",
        }
    }
}

/// A whole number from `least` to `most`, from the upper half of one draw: other releases of `rand` may draw ranges
/// in other ways, and the recorded minima would be those of other functions.
fn whole(rng: &mut Rng, least: i64, most: i64) -> f64 {
    let choices = (most - least + 1) as u64;
    (least + (((rng.next_u64() >> 32) * choices) >> 32) as i64) as f64
}

fn thinned(rng: &mut Rng, percent: u64, size: i64) -> f64 {
    let present = whole(rng, 1, 100) <= percent as f64;
    if present { whole(rng, -size, size) } else { 0.0 }
}

/// Student's t with two degrees of freedom is a normal draw over the root of an exponential one.
fn heavy(rng: &mut Rng) -> f64 {
    (10.0 * normal(rng) / exponential(rng).sqrt()).round()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn densities_and_ranges_are_what_was_asked_for() {
        let all = |f: &Quadratic| {
            let pairs: Vec<f64> = f.pairs().iter().map(|pair| pair / 2.0).collect();
            let share = pairs.iter().filter(|pair| **pair != 0.0).count() as f64 / pairs.len() as f64;
            let range = |values: &[f64]| {
                values.iter().fold((0.0, 0.0), |(low, high), &v| (f64::min(low, v), f64::max(high, v)))
            };
            (share, range(f.linear()), range(&pairs))
        };
        let (share, single, pair) = all(&Family::Uniform { percent: 10 }.function(200, 1));
        assert!((share - 0.1).abs() < 0.01, "{share}");
        assert!(single.0 < -95.0 && single.1 > 95.0 && pair == (-100.0, 100.0), "{single:?} {pair:?}");
        let (share, single, pair) = all(&Family::Halved { percent: 30 }.function(200, 1));
        assert!((share - 0.3).abs() < 0.01, "{share}");
        assert!(single.0 < -95.0 && single.1 > 95.0 && pair == (-50.0, 50.0), "{single:?} {pair:?}");
        let (share, single, pair) = all(&Family::Glover.function(200, 1));
        assert!(share > 0.98 && single == (-63.0, 0.0) && pair == (0.0, 100.0), "{single:?} {pair:?}");
        let (share, ..) = all(&Family::Sparse { neighbours: 3 }.function(200, 1));
        assert!((0.025..0.035).contains(&share), "{share}");
        let banded = Family::Banded { width: 4 }.function(50, 1);
        assert!((0..50).all(|i| banded.row(i).iter().skip(4).all(|&pair| pair == 0.0)));
        let (_, _, (low, high)) = all(&Family::HeavyTailed.function(100, 1));
        assert!(low < -200.0 && high > 200.0, "{low} to {high}");
    }

    #[test]
    fn a_seed_gives_the_same_function_on_every_machine() {
        let uniform = Family::Uniform { percent: 50 }.function(4, 1);
        assert_eq!(uniform.linear(), [63.0, 98.0, 84.0, -21.0]);
        assert_eq!(uniform.pairs(), [0.0, 98.0, 36.0, 0.0, -148.0, -172.0]);
        let heavy = Family::HeavyTailed.function(3, 1);
        assert_eq!((heavy.linear(), heavy.pairs()), (&[8.0, 22.0, 27.0][..], &[-52.0, -14.0, -22.0][..]));
    }
}
