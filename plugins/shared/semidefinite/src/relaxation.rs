//! The semidefinite relaxation of a form of spins, by the mixing method with over-relaxation.

use plugin_api::{Rng, random::normal};

use crate::lanes::{LANES, Lanes, weighted_sum};
use crate::spins::Spins;

/// Unit vectors vᵢ, one for each spin, that make ⟨C, VᵀV⟩ small.
pub struct Relaxation {
    /// Eight coordinates of every vector, then the next eight, …: the layout of the inner loop.
    vectors: Vec<Vec<Lanes>>,
    /// Passes over all vectors.
    pub sweeps: u64,
    /// Whether the last pass gained no more than the tolerance.
    pub converged: bool,
}

/// Sweeps before the first over-relaxed one: from a random start, the exact minimizer is the better step.
const PLAIN_SWEEPS: usize = 5;
/// The first factor of over-relaxation, and the last.
const FIRST_OVERSHOOT: f64 = 0.6;
const LAST_OVERSHOOT: f64 = 0.9;
/// Spins between two looks at whether to go on.
const OFTEN: usize = 16;
/// Sweeps between two looks at the rate of convergence.
const WATCH: usize = 8;

/// Minimizes ⟨C, VᵀV⟩ over unit vectors, for as long as `more` (asked with the sweeps done) agrees. It is asked in the
/// middle of sweeps too, which take seconds with thousands of spins.
///
/// The mixing method (Wang, Chang & Kolter 2017) minimizes over one vector after the other: with
/// gᵢ = Σⱼ Cᵢⱼ vⱼ the best vᵢ is −gᵢ/‖gᵢ‖. With more than √(2n) coordinates it ends at the relaxation's optimum
/// from almost every start (Boumal, Voroninski & Bandeira 2016). It stops once a sweep gains no more than
/// `tolerance` times |⟨C, VᵀV⟩|.
///
/// Near the optimum this is Gauss–Seidel, and can be slow; so a step goes on beyond the minimizer by the
/// factor ω, as successive over-relaxation does, which takes a third to a tenth of the sweeps on the
/// stored problems that need more than fifty. For ω < 1 the new vector stands nearer to the minimizer than
/// the old one, so each step still descends. The error shrinks no faster than by ω a sweep; where it shrinks
/// much slower, ω is too small and grows.
pub fn relax(spins: &Spins, tolerance: f64, rng: &mut Rng, more: impl FnMut(u64) -> bool) -> Relaxation {
    relax_from(random_vectors(spins.size(), rng), spins, tolerance, more)
}

/// [`relax`] from given vectors.
fn relax_from(
    mut vectors: Vec<Vec<Lanes>>,
    spins: &Spins,
    tolerance: f64,
    mut more: impl FnMut(u64) -> bool,
) -> Relaxation {
    let mut gains = Vec::new();
    let mut overshoot = 0.0;
    let mut converged = false;
    while !converged && more(gains.len() as u64) {
        let done = gains.len() as u64;
        let Some(Sweep { gain, total }) = sweep(spins, &mut vectors, overshoot, || more(done)) else { break };
        gains.push(gain);
        converged = gain <= tolerance * total;
        let done = gains.len();
        if done == PLAIN_SWEEPS {
            overshoot = FIRST_OVERSHOOT;
        } else if done > PLAIN_SWEEPS && (done - PLAIN_SWEEPS).is_multiple_of(WATCH) {
            // Gains shrink by the square of what the error shrinks by.
            let slow = (1.0 + overshoot) / 2.0;
            let expected = (0..2 * WATCH).fold(gains[done - 1 - WATCH], |gain, _| gain * slow);
            if gain > expected {
                overshoot = f64::min(slow, LAST_OVERSHOOT);
            }
        }
    }
    Relaxation { vectors, sweeps: gains.len() as u64, converged }
}

/// What one pass over all vectors did.
struct Sweep {
    /// By how much ⟨C, VᵀV⟩ fell.
    gain: f64,
    /// Σᵢ ‖gᵢ‖, which is −⟨C, VᵀV⟩ at the optimum.
    total: f64,
}

/// `None` where `more` ended it half way.
fn sweep(
    spins: &Spins,
    vectors: &mut [Vec<Lanes>],
    overshoot: f64,
    mut more: impl FnMut() -> bool,
) -> Option<Sweep> {
    let mut slope = vec![[0.0; LANES]; vectors.len()];
    let mut done = Sweep { gain: 0.0, total: 0.0 };
    for i in 0..spins.size() {
        if i % OFTEN == OFTEN - 1 && !more() {
            return None;
        }
        let row = spins.row(i);
        let (mut squares, mut products) = ([0.0; LANES], [0.0; LANES]);
        for (g, block) in slope.iter_mut().zip(&*vectors) {
            *g = weighted_sum(row, block);
            for l in 0..LANES {
                squares[l] += g[l] * g[l];
                products[l] += g[l] * block[i][l];
            }
        }
        let norm = squares.iter().sum::<f64>().sqrt();
        let product: f64 = products.iter().sum();
        // A spin that nothing pulls (or less than 1e-100 of the largest coefficient does) may stay as it is.
        if norm < 1e-100 {
            continue;
        }
        // w = (1+ω)·(−g/‖g‖) − ω·v, whose length follows from the cosine of the two unit vectors.
        let (toward, back) = (1.0 + overshoot, overshoot);
        let cosine = -product / norm;
        let length = (toward * toward + back * back - 2.0 * toward * back * cosine).sqrt();
        let (of_slope, of_old) = (-toward / (norm * length), -back / length);
        for (g, block) in slope.iter().zip(&mut *vectors) {
            for l in 0..LANES {
                block[i][l] = of_slope * g[l] + of_old * block[i][l];
            }
        }
        done.gain += 2.0 * (product + (toward * norm + back * product) / length);
        done.total += norm;
    }
    Some(done)
}

/// Unit vectors with uniform directions.
fn random_vectors(size: usize, rng: &mut Rng) -> Vec<Vec<Lanes>> {
    let rank = (2.0 * size as f64).sqrt().ceil() as usize + 1;
    let mut vectors = vec![vec![[0.0; LANES]; size]; rank.div_ceil(LANES)];
    for i in 0..size {
        let mut squares = 0.0;
        for block in &mut vectors {
            for x in &mut block[i] {
                *x = normal(rng);
                squares += *x * *x;
            }
        }
        let length = f64::sqrt(squares);
        vectors.iter_mut().for_each(|block| block[i].iter_mut().for_each(|x| *x /= length));
    }
    vectors
}

impl Relaxation {
    /// Goes on from these vectors, for another form of as many spins.
    pub fn relax_again(self, spins: &Spins, tolerance: f64, more: impl FnMut(u64) -> bool) -> Self {
        relax_from(self.vectors, spins, tolerance, more)
    }

    /// How many coordinates each vector has.
    pub fn rank(&self) -> usize {
        self.vectors.len() * LANES
    }

    /// The vectors, one after the other.
    pub fn rows(&self) -> Vec<f64> {
        let size = self.vectors[0].len();
        (0..size).flat_map(|i| self.vectors.iter().flat_map(move |block| block[i])).collect()
    }

    /// The relaxed value of each bit, (1 + vᵢ·v)/2 with the last vector v: from 0 to 1, and ½ where it is open.
    pub fn relaxed_bits(&self) -> Vec<f64> {
        let rows = self.rows();
        let mut rows = rows.chunks_exact(self.rank());
        let Some(last) = rows.next_back() else { return Vec::new() };
        let product = |v: &[f64]| v.iter().zip(last).map(|(v, last)| v * last).sum::<f64>();
        rows.map(|v| 0.5 + 0.5 * product(v)).collect()
    }

    /// yᵢ = vᵢ·gᵢ. At the optimum, these are the optimal dual variables; their sum is ⟨C, VᵀV⟩ everywhere.
    pub fn duals(&self, spins: &Spins) -> Vec<f64> {
        self.duals_while(spins, || true)
    }

    /// [`duals`](Self::duals) for as long as `more` agrees; the rest are 0, which proves less.
    pub fn duals_while(&self, spins: &Spins, mut more: impl FnMut() -> bool) -> Vec<f64> {
        let dual = |i: usize| {
            let part = |block: &Vec<Lanes>| {
                let g = weighted_sum(spins.row(i), block);
                g.iter().zip(&block[i]).map(|(g, v)| g * v).sum::<f64>()
            };
            self.vectors.iter().map(part).sum()
        };
        let mut all = vec![0.0; spins.size()];
        for (i, y) in all.iter_mut().enumerate() {
            if i % OFTEN == OFTEN - 1 && !more() {
                break;
            }
            *y = dual(i);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use golden_afo::cases_up_to;
    use plugin_api::{rng, testing::random_quadratic};

    fn form(spins: &Spins, relaxation: &Relaxation) -> f64 {
        relaxation.duals(spins).iter().sum()
    }

    #[test]
    fn every_stored_optimum_is_reached() {
        for p in cases_up_to(usize::MAX) {
            let spins = Spins::new(&p.function).unwrap();
            let relaxation = relax(&spins, 1e-10, &mut rng(1), |sweeps| sweeps < 400);
            let value = spins.value(form(&spins, &relaxation));
            let apart = (value - p.sdp_optimum) / p.sdp_optimum.abs();
            assert!(relaxation.converged, "{}: {} sweeps", p.name, relaxation.sweeps);
            // The stored optimum is itself above its own dual bound by as much as 2.2e-7; ours stands between.
            assert!(apart.abs() < 2.2e-7 && apart < 1e-8, "{}: {apart:e}", p.name);
            assert!(value > p.sdp_lower_bound - 1e-9 * p.sdp_lower_bound.abs(), "{}: {value}", p.name);
        }
    }

    #[test]
    fn every_start_ends_at_the_same_optimum() {
        let spins = Spins::new(&random_quadratic(&mut rng(5), 40)).unwrap();
        let optimum = |seed| form(&spins, &relax(&spins, 1e-12, &mut rng(seed), |sweeps| sweeps < 2000));
        let first = optimum(0);
        assert!((1..20).all(|seed| (optimum(seed) - first).abs() < 1e-9 * first.abs()));
    }

    #[test]
    fn relaxed_bits_are_those_of_the_minimum_where_nothing_pulls_two_ways() {
        let linear = vec![1.0, -1.0, -2.0, 0.5];
        let f = plugin_api::Quadratic::new(0.0, linear, vec![0.0; 6]).unwrap();
        let relaxation = relax(&Spins::new(&f).unwrap(), 1e-14, &mut rng(1), |sweeps| sweeps < 100);
        let expected = [0.0, 1.0, 1.0, 0.0];
        assert!(
            relaxation
                .relaxed_bits()
                .iter()
                .zip(expected)
                .all(|(bit, expected)| (bit - expected).abs() < 1e-6)
        );
    }

    #[test]
    fn a_sweep_gains_what_it_says_and_keeps_lengths() {
        let spins = Spins::new(&random_quadratic(&mut rng(6), 30)).unwrap();
        for overshoot in [0.0, 0.6, 0.9] {
            let mut vectors = random_vectors(spins.size(), &mut rng(7));
            for _ in 0..50 {
                let before = Relaxation { vectors: vectors.clone(), sweeps: 0, converged: false };
                let gain = sweep(&spins, &mut vectors, overshoot, || true).unwrap().gain;
                let after = Relaxation { vectors: vectors.clone(), sweeps: 0, converged: false };
                let fell = form(&spins, &before) - form(&spins, &after);
                assert!(gain >= -1e-13 && (gain - fell).abs() < 1e-12, "{gain} and {fell}");
                for v in after.rows().chunks_exact(after.rank()) {
                    assert!((v.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-14);
                }
            }
        }
    }

    #[test]
    fn over_relaxation_takes_a_third_of_the_sweeps_where_they_are_many() {
        let p = cases_up_to(100).into_iter().find(|p| p.name == "dense_n100_1").unwrap();
        let spins = Spins::new(&p.function).unwrap();
        let mut vectors = random_vectors(spins.size(), &mut rng(1));
        let plain = (1..).find(|_| {
            let Sweep { gain, total } = sweep(&spins, &mut vectors, 0.0, || true).unwrap();
            gain <= 1e-9 * total
        });
        let sweeps = relax(&spins, 1e-9, &mut rng(1), |_| true).sweeps;
        assert!(3 * sweeps < plain.unwrap(), "{sweeps} and {plain:?}");
    }

    #[test]
    fn spins_that_nothing_pulls_are_left_alone() {
        let spins = Spins::new(&plugin_api::Quadratic::zero(5)).unwrap();
        let relaxation = relax(&spins, 0.0, &mut rng(1), |sweeps| sweeps < 10);
        assert_eq!((relaxation.sweeps, form(&spins, &relaxation)), (1, 0.0));
    }
}
