//! One method after the other, until the best point is proven or all have been used.

use std::time::{Duration, Instant};

use plugin_api::{Bits, Quadratic, Result, Rng, Stop};
use shared_cuts::{Reduced, Relaxation, magnitude, roof_dual};
use shared_one_flip::{Search, Settings};
use shared_semidefinite::{Spins, lower_bound, relax};

use crate::grid::Grid;
use crate::options::Options;

/// Beyond this many bits, the flow of the roof dual takes more than half a gigabyte.
const MOST_BITS_OF_ROOF: usize = 4000;
/// Up to here, to try all points is quicker than the relaxation, and proves more.
const MOST_BITS_OF_TRIAL: usize = 12;
/// The relaxation is solved once a sweep gains no more than this part of its value.
const TOLERANCE: f64 = 1e-6;
/// What is left between value and bound of a proven point, of the size of the function.
const CLOSED: f64 = 1e-9;

/// How far a search may go.
pub(crate) struct Limits {
    pub(crate) moves: u64,
    pub(crate) deadline: Option<(Instant, Duration)>,
}

impl Limits {
    fn time_is_left(&self) -> bool {
        self.deadline.is_none_or(|(start, limit)| start.elapsed() < limit)
    }
}

/// The best point, what is proven of it, and what was done.
pub(crate) struct Certificate {
    pub(crate) bits: Bits,
    pub(crate) value: f64,
    pub(crate) bound: f64,
    pub(crate) fixed: u64,
    pub(crate) moves: u64,
    pub(crate) walks: u64,
    pub(crate) sweeps: u64,
    pub(crate) stop: Stop,
}

/// Minimizes `f`, whose coefficients add up to a finite number.
///
/// The roof dual fixes bits and bounds. What is left of the function is searched from the incumbent and from the
/// point of psr's first cut, by one tabu walk; then bounded by the semidefinite relaxation (or all its points are
/// tried, where they are few); then searched by as many
/// walks as it takes. All of it ends where bound and value meet.
pub(crate) fn minimize(
    f: &Quadratic,
    incumbent: Option<&Bits>,
    options: &Options,
    limits: &Limits,
    rng: &mut Rng,
) -> Result<Certificate> {
    let n = f.dimension();
    let size = magnitude(f) - f.constant().abs();
    let grid = Grid::of(f);
    let raised = |bound: f64| grid.as_ref().map_or(bound, |grid| grid.raise(bound));
    let closed =
        |value: f64, bound: f64| value - bound <= CLOSED * (value - f.constant()).abs().max(size / 100.0);

    let (mut bound, mut slack, mut fixed) = (f64::NEG_INFINITY, 0.0, vec![None; n]);
    if n <= MOST_BITS_OF_ROOF && limits.time_is_left() {
        let roof = roof_dual(f);
        (bound, slack, fixed) = (raised(roof.bound), roof.slack, roof.fixed);
    }
    let reduced = Reduced::new(f, fixed);
    let g = &reduced.function;
    let free = g.dimension();

    let usual = Settings::of_dimension(free);
    let mut search =
        Search::new(g, Settings { idle_walks: usual.idle_walks.saturating_mul(options.effort), ..usual });
    search.start_from(Relaxation::new(g, vec![0.5; g.pairs().len()]).cut().bits);
    if let Some(incumbent) = incumbent {
        search.start_from(reduced.restrict(incumbent));
    }
    let mut best = Best { f, bits: Bits::zeros(n), value: f64::INFINITY };
    best.offer(Bits::zeros(n));
    incumbent.into_iter().for_each(|bits| best.offer(bits.clone()));

    let mut sweeps = 0;
    let mut bounded = !options.semidefinite || free == 0;
    let stop = loop {
        if let Some((_, bits)) = search.best() {
            best.offer(reduced.lift(bits));
        }
        if closed(best.value, bound) || search.is_done() && bounded {
            break Stop::Done;
        }
        if !limits.time_is_left() {
            break Stop::Time;
        }
        if search.walks() > 0 && !bounded {
            bounded = true;
            if free <= MOST_BITS_OF_TRIAL {
                let (value, bits) = try_all(g);
                best.offer(reduced.lift(&bits));
                bound = bound.max(raised((value - slack).next_down()));
                continue;
            }
            let spins = Spins::new(g)?;
            let most = most_sweeps(free);
            let relaxation = relax(&spins, TOLERANCE, rng, |done| done < most && limits.time_is_left());
            sweeps = relaxation.sweeps;
            if let Some(proven) = lower_bound(&spins, &relaxation.duals(&spins)) {
                // The minimum of the whole may be lower by what the fixed bits cost.
                bound = bound.max(raised((proven - slack).next_down()));
            }
            continue;
        }
        let left = limits.moves - search.moves();
        if left == 0 && (bounded || search.walks() > 0) {
            break Stop::Work;
        }
        search.walk(left, rng);
    };
    Ok(Certificate {
        fixed: (n - free) as u64,
        moves: search.moves(),
        walks: search.walks(),
        sweeps,
        stop,
        bound,
        bits: best.bits,
        value: best.value,
    })
}

/// The least value and its bits.
fn try_all(g: &Quadratic) -> (f64, Bits) {
    let n = g.dimension();
    let points = (0..1u32 << n).map(|mask| (0..n).map(|i| mask >> i & 1 == 1).collect::<Bits>());
    let values = points.map(|bits| (g.value(&bits), bits));
    values.reduce(|best, next| if next.0 < best.0 { next } else { best }).expect("at least one point")
}

/// A sweep costs n² times the rank of the relaxation: beyond 1,000 bits, fewer have to do.
fn most_sweeps(n: usize) -> u64 {
    let cost = n as f64 * n as f64 * (2.0 * n as f64).sqrt();
    (1e10 / cost).clamp(20.0, 1000.0) as u64
}

/// The best point so far, by its value under the whole function.
struct Best<'f> {
    f: &'f Quadratic,
    bits: Bits,
    value: f64,
}

impl Best<'_> {
    fn offer(&mut self, bits: Bits) {
        if bits == self.bits && self.value.is_finite() {
            return;
        }
        let value = self.f.value(&bits);
        if value < self.value {
            (self.bits, self.value) = (bits, value);
        }
    }
}
