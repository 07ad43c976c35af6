//! Descents from where a learned heuristic leads: L2S-DISCO.
//!
//! Learning to search for the acquisition functions of complex models (Deshwal, Belakaria, Doppa & Fern 2020, "Optimizing
//! Discrete Spaces via Expensive Evaluations: A Learning to Search Framework"). From random points that keep the rules, a
//! descent of the heuristic H comes to the start of a descent of the acquisition function. How well each of these ended
//! is what H learns from: it ranks their starts among each other, and their ends, by a logistic loss, and is kept from
//! problem to problem, because the functions that a model draws in one search resemble each other. At first H knows
//! nothing, and the random points are the starts; later they are where H has led another descent already.
//!
//! It takes any function and keeps all rules. Moves turn a bit over or choose another level in a group; where a rule that
//! counts bits forbids every single move that gains, two moves are made together. The function is asked in bulk: once for
//! all starts, and once a step for all moves of all points that still descend. The problem's work limit counts steps of the
//! descents. What it knows is of problems with one number of bits: one with another makes it begin again.

use std::collections::VecDeque;
use std::time::Instant;

use plugin_api::serde::{Deserialize, Serialize};
use plugin_api::{AcquisitionKind, Answer, Bits, Problem, Result, Rule, Solver, export_solver, rng};
use shared_saved::States;

mod heuristic; // what is learned, and how
mod options;
mod search; // the algorithm

use heuristic::{End, Example, Heuristic, Training};
use options::Options;
use search::{Descent, Place};

export_solver!("learned", |options: Options| Learned::new(options));

struct Learned {
    options: Options,
    known: Option<Known>,
}

/// What was learned from the problems so far.
#[derive(Clone, Debug, PartialEq)]
struct Known {
    heuristic: Heuristic,
    /// The number of problems.
    problems: u64,
    /// The latest descents, the oldest first, each with the number of its problem.
    descents: VecDeque<(u64, Descent)>,
}

impl Learned {
    fn new(options: Options) -> Self {
        Self { options, known: None }
    }

    /// Learns from the descents of a problem, for as long as `more` agrees.
    fn learn(&mut self, descents: Vec<Descent>, seed: u64, more: &dyn Fn() -> bool) {
        let Some(known) = &mut self.known else { return };
        let Options { trajectories, rate, decay, passes, .. } = self.options;
        known.problems = known.problems.saturating_add(1);
        // A value that is not finite is the function's mistake, and no state can hold it.
        let descents = descents.into_iter().filter(|descent| descent.value.is_finite());
        known.descents.extend(descents.map(|descent| (known.problems, descent)));
        let old = known.descents.len().saturating_sub(trajectories);
        known.descents.drain(..old);
        let mut examples = Vec::new();
        for (problem, Descent { start, end, value }) in &known.descents {
            for (place, end) in [(start, End::First), (end, End::Last)] {
                // Of thousands of bits, those of all descents take seconds. What is kept of them can be learned next time.
                let Some(features) = known.heuristic.features_while(&place.bits, place.distance, more) else {
                    return;
                };
                examples.push(Example { features, among: (*problem, end), value: *value });
            }
        }
        // Not the numbers that the points were drawn with.
        let mut random = rng(seed ^ 0x6c65_6172_6e65_6421);
        known.heuristic.learn_while(&examples, &Training { rate, decay, passes }, &mut random, more);
    }
}

impl Solver for Learned {
    fn minimize(&mut self, problem: &Problem, seed: u64) -> Result<Answer> {
        let (n, begun, restarts) = (problem.dimension(), Instant::now(), self.options.restarts);
        let in_time = || problem.time_limit().is_none_or(|limit| begun.elapsed() < limit);
        if !self.options.learn {
            let (answer, _) = search::minimize(problem, restarts, None, &in_time, &mut rng(seed))?;
            return Ok(answer);
        }
        if self.known.as_ref().is_none_or(|known| known.heuristic.dimension() != n) {
            let heuristic = Heuristic::new(n, self.options.buckets);
            self.known = Some(Known { heuristic, problems: 0, descents: VecDeque::new() });
        }
        let heuristic = self.known.as_ref().map(|known| &known.heuristic).filter(|known| known.knows());
        let (answer, descents) = search::minimize(problem, restarts, heuristic, &in_time, &mut rng(seed))?;
        self.learn(descents, seed, &in_time);
        Ok(answer)
    }

    fn takes(&self, kind: AcquisitionKind) -> bool {
        matches!(kind, AcquisitionKind::Quadratic | AcquisitionKind::General)
    }

    fn keeps(&self, rule: Rule) -> bool {
        shared_rules::known(rule)
    }

    fn save(&self) -> Result<Option<Vec<u8>>> {
        if !self.options.learn {
            return Ok(None);
        }
        let descent = |(problem, Descent { start, end, value }): &(u64, Descent)| {
            let place = |Place { bits, distance }: &Place| (bits.clone(), *distance);
            (*problem, place(start), place(end), *value)
        };
        let known = self.known.as_ref().map(|known| SavedKnown {
            dimension: known.heuristic.dimension(),
            weights: known.heuristic.weights().to_vec(),
            problems: known.problems,
            descents: known.descents.iter().map(descent).collect(),
        });
        STATES.write(&Saved { known })
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        if !self.options.learn {
            return Err(STATES.refused("it does not learn"));
        }
        let Saved { known } = STATES.read(state)?;
        self.known = known.map(|known| known.checked(&self.options)).transpose()?;
        Ok(())
    }
}

const STATES: States = States::of_solver("learned", 1);

/// Absent before the first problem.
#[derive(Serialize, Deserialize)]
#[serde(crate = "plugin_api::serde", deny_unknown_fields)]
struct Saved {
    known: Option<SavedKnown>,
}

type SavedPlace = (Bits, usize);

#[derive(Serialize, Deserialize)]
#[serde(crate = "plugin_api::serde", deny_unknown_fields)]
struct SavedKnown {
    dimension: usize,
    weights: Vec<f64>,
    problems: u64,
    /// The problem, start and end, each with its distance from the incumbent, and the value.
    descents: Vec<(u64, SavedPlace, SavedPlace, f64)>,
}

impl SavedKnown {
    /// What it says, where it is about these options.
    fn checked(self, options: &Options) -> Result<Known> {
        let Self { dimension, weights, problems, descents } = self;
        let heuristic = Heuristic::from_weights(dimension, options.buckets, weights);
        let heuristic = heuristic.ok_or_else(|| STATES.refused("its weights are of another heuristic"))?;
        let here = |(bits, distance): &SavedPlace| bits.len() == dimension && *distance <= dimension;
        let fits = descents.len() <= options.trajectories
            && descents.iter().all(|(problem, start, end, value)| {
                (1..=problems).contains(problem) && here(start) && here(end) && value.is_finite()
            });
        if !fits {
            return Err(STATES.refused("its descents are of another problem"));
        }
        let place = |(bits, distance)| Place { bits, distance };
        let descent =
            |(problem, start, end, value)| (problem, Descent { start: place(start), end: place(end), value });
        Ok(Known { heuristic, problems, descents: descents.into_iter().map(descent).collect() })
    }
}

#[cfg(test)]
mod tests;
