//! Minimises a function of bits: descents by the best single flip, from points known to be good and from random ones.
//!
//! Put your own in its place. `takes` says which functions it can minimise, `keeps` which rules its answers keep to.

use plugin_api::{
    Acquisition, AcquisitionKind, Answer, Bits, Layout, Problem, Result, Solver, Stop, export_solver, options, rng,
};

options! {
    /// What a manifest may set under `solver.options`.
    pub struct Options {
        /// How many random points to descend from.
        #[schemars(range(min = 1, max = 1_000_000))]
        pub restarts: usize = 20,
    }
}

export_solver!("{{name}}", |options: Options| Descents(options));

struct Descents(Options);

impl Solver for Descents {
    fn minimize(&mut self, problem: &Problem, seed: u64) -> Result<Answer> {
        let (f, layout) = (problem.objective(), Layout::free(problem.dimension()));
        let mut rng = rng(seed);
        let starts: Vec<Bits> = problem.starts().rows().map(Bits::from).collect();
        let random = std::iter::repeat_with(|| layout.random(&mut rng)).take(self.0.restarts);
        let (mut best, mut count, mut stop): (Option<(f64, Bits)>, _, _) = (None, 0, Stop::Done);
        for start in starts.into_iter().chain(random) {
            let (value, bits) = descend(f, start);
            if best.as_ref().is_none_or(|(least, _)| value < *least) {
                best = Some((value, bits));
            }
            count += 1;
            // A limit on the work: one descent is a step here.
            if problem.work_limit() == Some(count) {
                stop = Stop::Work;
                break;
            }
        }
        let (value, bits) = best.expect("there is at least one descent");
        Ok(Answer::new(bits, value).with_count("descents", count).with_stop(stop))
    }

    fn takes(&self, _kind: AcquisitionKind) -> bool {
        true // any function has flips
    }
}

/// Flips the best bit for as long as that makes the value lower.
fn descend(f: &Acquisition, mut bits: Bits) -> (f64, Bits) {
    let mut value = f.value(&bits);
    loop {
        let gains = (0..bits.len()).map(|i| (f.flip_gain(&bits, i), i));
        let Some((_, i)) = gains.min_by(|(a, _), (b, _)| a.total_cmp(b)) else { return (value, bits) };
        bits.flip(i);
        let next = f.value(&bits);
        if next >= value {
            bits.flip(i);
            return (value, bits);
        }
        value = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contract_is_kept() {
        plugin_api::testing::check_solver(|| Descents(Options::default()));
    }
}
