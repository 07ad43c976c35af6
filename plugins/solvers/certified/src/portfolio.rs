//! One method after the other, until the best point is proven or all have been used.

use std::time::{Duration, Instant};

use plugin_api::{Bits, Quadratic, Result, Rng, Stop};
use shared_branching::{Tree, is_closed};
use shared_cuts::{Evident, Grid, MANY, Reduced, Relaxation, evident, magnitude, roof_dual_while};
use shared_one_flip::{Search, Settings};
use shared_semidefinite::{Spins, lower_bound_while, relax};

use crate::options::Options;

/// Beyond this many bits, the flow of the roof dual takes more than half a gigabyte.
pub(crate) const MOST_BITS_OF_ROOF: usize = 4000;
/// The relaxation is solved once a sweep gains no more than this part of its value.
pub(crate) const TOLERANCE: f64 = 1e-6;
/// The share of the time after which the relaxation is swept no more.
pub(crate) const SWEEPS: f64 = 0.6;

/// How far a search may go.
pub(crate) struct Limits {
    pub(crate) moves: u64,
    pub(crate) deadline: Option<(Instant, Duration)>,
}

impl Limits {
    pub(crate) fn time_is_left(&self) -> bool {
        self.share_is_left(1.0)
    }

    /// Whether less than this share of the time is gone.
    pub(crate) fn share_is_left(&self, share: f64) -> bool {
        self.deadline.is_none_or(|(start, limit)| start.elapsed() < limit.mul_f64(share))
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
    pub(crate) nodes: u64,
    pub(crate) stop: Stop,
}

/// Minimizes `f`, whose coefficients add up to a finite number.
///
/// Of many bits, the evident ones are fixed first. The roof dual fixes bits and bounds. What is left of the function is searched from `start` and from the point of
/// psr's first cut, by one tabu walk; then bounded by the semidefinite relaxation; then searched by as many
/// walks as it takes; then branched on. All of it ends where bound and value meet.
pub(crate) fn minimize(
    f: &Quadratic,
    start: Option<&[bool]>,
    options: &Options,
    limits: &Limits,
    rng: &mut Rng,
) -> Result<Certificate> {
    let n = f.dimension();
    let size = magnitude(f) - f.constant().abs();
    let grid = Grid::of(f);
    let raised = |bound: f64| grid.as_ref().map_or(bound, |grid| grid.raise(bound));
    let closed = |value: f64, bound: f64| is_closed(f, size, value, bound);

    let (mut bound, in_time) = (f64::NEG_INFINITY, || limits.time_is_left());
    let Evident { mut fixed, mut slack } = match n > MANY {
        true => evident(f, &in_time),
        false => Evident { fixed: vec![None; n], slack: 0.0 },
    };
    let part = Reduced::new(f, fixed.clone());
    let dual = (part.function.dimension() <= MOST_BITS_OF_ROOF && in_time())
        .then(|| roof_dual_while(&part.function, &in_time));
    if let Some(roof) = dual.flatten() {
        let proven = if slack > 0.0 { (roof.bound - slack).next_down() } else { roof.bound };
        bound = raised(proven);
        slack += roof.slack;
        part.fix(&mut fixed, &roof.fixed);
    }
    let reduced = Reduced::new(f, fixed);
    drop(part);
    let g = &reduced.function;
    let free = g.dimension();

    let usual = Settings::of_dimension(free);
    let mut search =
        Search::new(g, Settings { idle_walks: usual.idle_walks.saturating_mul(options.effort), ..usual });
    if free <= MOST_BITS_OF_ROOF && in_time() {
        let mut relaxation = Relaxation::new(g, vec![0.5; g.pairs().len()]);
        relaxation.cut_while(&in_time).into_iter().for_each(|cut| search.start_from(cut.bits));
    }
    if let Some(start) = start {
        search.start_from(reduced.restrict(start));
    }
    let mut best = Best { f, bits: Bits::zeros(n), value: f64::INFINITY };
    best.offer(Bits::zeros(n));
    start.into_iter().for_each(|bits| best.offer(bits.into()));

    let nodes = options.nodes(free);
    let mut tree = (nodes > 1 && free <= MOST_BITS_OF_ROOF).then(|| Tree::new(g, Bits::zeros(free)));
    let (mut bounded, mut all_bounded) = (0, nodes == 0);
    let stop = loop {
        if let Some((_, bits)) = search.best() {
            best.offer(reduced.lift(bits));
            tree.iter_mut().for_each(|tree| tree.offer(bits));
        }
        // Bounds first, as far as they are cheap: they may end the search. The rest of the tree comes last.
        let most = if search.is_done() { nodes } else { search.walks().min(1) };
        if closed(best.value, bound) || search.is_done() && all_bounded {
            break Stop::Done;
        }
        if !limits.time_is_left() {
            break Stop::Time;
        }
        if !all_bounded && bounded < most {
            let proven = match &mut tree {
                Some(tree) => {
                    tree.step_while(most - bounded, rng, &|| limits.time_is_left())?;
                    bounded = tree.nodes();
                    all_bounded = tree.is_done() || bounded >= nodes;
                    best.offer(reduced.lift(tree.best().1));
                    Some(tree.bound())
                }
                None => {
                    (bounded, all_bounded) = (1, true);
                    // Later than this, there would be time for its matrix alone.
                    if limits.share_is_left(SWEEPS) { semidefinite_bound(g, limits, rng)? } else { None }
                }
            };
            // The minimum of the whole may be lower by what the fixed bits cost.
            bound = proven.map_or(bound, |proven| bound.max(raised((proven - slack).next_down())));
            continue;
        }
        let left = limits.moves - search.moves();
        if left == 0 && search.walks() > 0 {
            break Stop::Work;
        }
        search.walk_while(left, rng, &|| limits.time_is_left());
    };
    Ok(Certificate {
        fixed: (n - free) as u64,
        moves: search.moves(),
        walks: search.walks(),
        nodes: bounded,
        stop,
        bound,
        bits: best.bits,
        value: best.value,
    })
}

/// The bound of the whole space, as far as time allows.
fn semidefinite_bound(g: &Quadratic, limits: &Limits, rng: &mut Rng) -> Result<Option<f64>> {
    let spins = Spins::new(g)?;
    let most = most_sweeps(g.dimension());
    // The factorizations take their part of the time: without them the relaxation proves nothing.
    let relaxation = relax(&spins, TOLERANCE, rng, |done| done < most && limits.share_is_left(SWEEPS));
    let duals = relaxation.duals_while(&spins, || limits.share_is_left(0.7));
    Ok(lower_bound_while(&spins, &duals, || limits.share_is_left(0.95)))
}

/// A sweep costs n² times the rank of the relaxation: beyond 1,000 bits, fewer have to do.
pub(crate) fn most_sweeps(n: usize) -> u64 {
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
