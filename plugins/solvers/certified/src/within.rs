//! The same under rules: a search among the points that keep them, and bounds for these.

use plugin_api::{Bits, Quadratic, Result, Rng, Stop};
use shared_branching::{Tree, is_closed};
use shared_cuts::{Grid, Reduced, magnitude};
use shared_one_flip::{Search, Settings};
use shared_rules::Rules;
use shared_semidefinite::relax_within;

use crate::options::Options;
use crate::portfolio::{Certificate, Limits, MOST_BITS_OF_ROOF, SWEEPS, TOLERANCE, most_sweeps};

/// Minimizes `f`, whose coefficients add up to a finite number, among the points that keep the rules.
///
/// One tabu walk among these points from near `start`; then a bound by the semidefinite relaxation with the rules folded in;
/// then as many walks as it takes; then branch and bound, where few bits are left. What the roof dual fixes is the best without
/// the rules, and is not used. All of it ends where bound and value meet.
pub(crate) fn minimize(
    f: &Quadratic,
    rules: &Rules,
    start: Option<&[bool]>,
    options: &Options,
    limits: &Limits,
    rng: &mut Rng,
) -> Result<Certificate> {
    let n = f.dimension();
    let size = magnitude(f) - f.constant().abs();
    let grid = Grid::of(f);
    let raised = |bound: f64| grid.as_ref().map_or(bound, |grid| grid.raise(bound));
    let in_time = || limits.time_is_left();

    let usual = Settings::under_rules(n);
    let settings = Settings { idle_walks: usual.idle_walks.saturating_mul(options.effort), ..usual };
    let mut search = Search::within(f, rules, start, settings, rng)?;
    let best = |search: &Search<'_>| {
        let (value, bits) = search.best().expect("the first point was seen");
        (value, bits.clone())
    };
    let (mut value, mut bits): (f64, Bits) = best(&search);

    let free = rules.fixed().iter().filter(|bit| bit.is_none()).count();
    let nodes = options.nodes(free);
    let mut tree = (nodes > 1 && free <= MOST_BITS_OF_ROOF).then(|| Tree::within(f, rules, bits.clone()));
    let (mut bound, mut bounded, mut all_bounded) = (f64::NEG_INFINITY, 0, nodes == 0);
    let stop = loop {
        if search.best().is_some_and(|(found, _)| found < value) {
            (value, bits) = best(&search);
            tree.iter_mut().for_each(|tree| tree.offer(&bits));
        }
        // Bounds first, as far as they are cheap: they may end the search. The rest of the tree comes last.
        let most = if search.is_done() { nodes } else { search.walks().min(1) };
        if is_closed(f, size, value, bound) || search.is_done() && all_bounded {
            break Stop::Done;
        }
        if !in_time() {
            break Stop::Time;
        }
        if !all_bounded && bounded < most {
            let proven = match &mut tree {
                Some(tree) => {
                    tree.step_while(most - bounded, rng, &in_time)?;
                    bounded = tree.nodes();
                    all_bounded = tree.is_done() || bounded >= nodes;
                    if tree.best().0 < value {
                        (value, bits) = (tree.best().0, tree.best().1.clone());
                    }
                    tree.bound()
                }
                None => {
                    (bounded, all_bounded) = (1, true);
                    match free <= MOST_BITS_OF_ROOF && limits.share_is_left(SWEEPS) {
                        true => semidefinite_bound(f, rules, limits, rng)?.map_or(f64::NEG_INFINITY, raised),
                        false => f64::NEG_INFINITY,
                    }
                }
            };
            bound = bound.max(proven);
            continue;
        }
        let left = limits.moves - search.moves();
        if left == 0 && search.walks() > 0 {
            break Stop::Work;
        }
        search.walk_while(left, rng, &in_time);
    };
    let (moves, walks) = (search.moves(), search.walks());
    Ok(Certificate { fixed: (n - free) as u64, moves, walks, nodes: bounded, stop, bound, bits, value })
}

/// The bound of all points that keep the rules, as far as time allows.
fn semidefinite_bound(f: &Quadratic, rules: &Rules, limits: &Limits, rng: &mut Rng) -> Result<Option<f64>> {
    let part = Reduced::new(f, rules.fixed().to_vec());
    let most = most_sweeps(part.function.dimension());
    let more = |done: u64| done < most && limits.share_is_left(SWEEPS);
    let found = relax_within(&part.function, &rules.rest(rules.fixed()), TOLERANCE, rng, more)?;
    let rounding = (8 * f.dimension() + 16) as f64 * f64::EPSILON * magnitude(f);
    Ok(found.lower_bound_while(|| limits.share_is_left(0.95)).map(|bound| (bound - rounding).next_down()))
}
