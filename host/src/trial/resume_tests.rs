//! A trial that is cut short anywhere goes on to the same events, with the states that were saved and without.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use plugin_api::{
    Acquisition, Answer, Benchmark, Bits, DrawRequest, Encoder, Evaluation, Layout, Penalty, Point, Problem,
    Quadratic, Result, Solver, Space, Surrogate,
};

use super::TrialError;
use super::optimize::{Known, Parts, Recorder, optimize};
use super::turns::{Turn, Turns};
use crate::manifest::Settings;
use crate::plan::Seeds;
use crate::record::Step;
use crate::record::asked::{Effects, Prediction};
use crate::record::event::{Event, Outcome};

const N: usize = 7;

struct Ones;
impl Benchmark for Ones {
    fn space(&self) -> Result<Space> {
        Ok(Space::binary(N))
    }
    fn evaluate(&mut self, point: &Point, _seed: u64) -> Result<Evaluation> {
        match point.iter().sum::<u32>() {
            // Failures are kept from the surrogates, and no state is saved after one.
            4 => Err("it burns".into()),
            ones => Ok(f64::from(ones).into()),
        }
    }
}

struct Same;
impl Encoder for Same {
    fn layout(&self) -> Layout {
        Layout::free(N)
    }
    fn encode(&self, point: &Point) -> Result<Bits> {
        Ok(point.iter().map(|&level| level == 1).collect())
    }
    fn decode(&self, bits: &Bits) -> Result<Point> {
        Ok(bits.iter().map(|&bit| u32::from(bit)).collect())
    }
}

/// A hash of all that it was told: every draw and every answer depends on all before it.
#[derive(Clone, Copy)]
struct Memory {
    hash: u64,
    saves: bool,
}

impl Memory {
    fn hear(&mut self, word: u64) -> u64 {
        self.hash = (self.hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
        self.hash
    }
    fn save(&self) -> Option<Vec<u8>> {
        self.saves.then(|| self.hash.to_le_bytes().to_vec())
    }
    fn restore(&mut self, state: &[u8]) -> Result<()> {
        self.hash = u64::from_le_bytes(state.try_into().map_err(|_| "no state")?);
        Ok(())
    }
}

impl Surrogate for Memory {
    fn observe(&mut self, bits: &Bits, evaluation: &Evaluation) -> Result<()> {
        for &bit in bits.iter() {
            self.hear(u64::from(bit));
        }
        self.hear(evaluation.value().map_or(0, f64::to_bits));
        Ok(())
    }
    fn draw(&mut self, request: &DrawRequest) -> Result<Acquisition> {
        let hash = self.hear(request.seed());
        let linear = (0..N).map(|i| f64::from((hash >> (8 * i)) as u8) - 128.0).collect();
        Ok(Quadratic::new(0.0, linear, vec![0.0; N * (N - 1) / 2])?.into())
    }
    fn save(&self) -> Result<Option<Vec<u8>>> {
        Ok(Memory::save(self))
    }
    fn restore(&mut self, state: &[u8]) -> Result<()> {
        Memory::restore(self, state)
    }
}

impl Solver for Memory {
    fn minimize(&mut self, problem: &Problem, seed: u64) -> Result<Answer> {
        let hash = problem.quadratic()?.linear().iter().fold(seed, |_, b| self.hear(b.to_bits()));
        let bits: Bits = (0..N).map(|i| hash >> i & 1 == 1).collect();
        let value = problem.objective().value(&bits);
        Ok(Answer::new(bits, value).with_count("hash", hash))
    }
    fn save(&self) -> Result<Option<Vec<u8>>> {
        Ok(Memory::save(self))
    }
    fn restore(&mut self, state: &[u8]) -> Result<()> {
        Memory::restore(self, state)
    }
}

/// Answers the same to the same problem.
struct Forgetful;
impl Solver for Forgetful {
    fn minimize(&mut self, problem: &Problem, seed: u64) -> Result<Answer> {
        Memory { hash: 1, saves: false }.minimize(problem, seed)
    }
}

/// Has what an earlier run recorded, and takes a state whenever one may be taken.
#[derive(Default)]
struct Replay {
    recorded: VecDeque<Event>,
    events: Vec<Event>,
    states: Vec<(usize, Vec<u8>)>,
    round: BTreeMap<usize, (Point, Outcome)>,
}

impl Recorder for Replay {
    fn predicted(&mut self, _: &Prediction) {}
    fn explained(&mut self, _: &Effects) {}
    fn record(&mut self, event: Event) -> std::result::Result<(), TrialError> {
        if let Some(recorded) = self.recorded.pop_front() {
            assert_eq!(event, recorded, "event {} is another", self.events.len());
        }
        self.events.push(event);
        Ok(())
    }
    fn recorded(&self) -> Option<&Event> {
        self.recorded.front()
    }
    fn keep(&mut self, evaluations: usize, save: &mut dyn FnMut() -> Result<Option<Vec<u8>>>) {
        if let Some(state) = save().unwrap().filter(|_| self.recorded.is_empty()) {
            self.states.push((evaluations, state));
        }
    }
    fn kept(&mut self, evaluation: usize, point: &Point) -> Option<Outcome> {
        self.round.get(&evaluation).filter(|(kept, _)| kept == point).map(|(_, outcome)| outcome.clone())
    }
    fn keep_outcome(
        &mut self,
        evaluation: usize,
        point: &Point,
        outcome: &Outcome,
    ) -> std::result::Result<(), TrialError> {
        self.round.insert(evaluation, (point.clone(), outcome.clone()));
        Ok(())
    }
    fn begins(&mut self, _: &Step) {}
    fn took(&mut self, _: &Step, _: Duration) {}
    fn stop(&self) -> bool {
        false
    }
}

/// Two surrogates that take turns, with a solver that learns and one that does not, and shadows of both sorts.
fn turns(surrogates_save: bool) -> Turns {
    let surrogate = |hash| Box::new(Memory { hash, saves: surrogates_save });
    let learns = |hash| Box::new(Memory { hash, saves: true });
    Turns::new(
        vec![
            Turn { name: "a".to_owned(), surrogate: surrogate(1), solver: ("learns".to_owned(), learns(2)) },
            Turn {
                name: "b".to_owned(),
                surrogate: surrogate(3),
                solver: ("not".to_owned(), Box::new(Forgetful)),
            },
            Turn { name: "c".to_owned(), surrogate: surrogate(4), solver: ("learns".to_owned(), learns(5)) },
        ],
        vec![("shadow".to_owned(), learns(6)), ("other".to_owned(), Box::new(Forgetful))],
    )
}

/// Goes on after these events, from a state where there is one; in rounds of this many.
fn go_on(
    batch: usize,
    recorded: &[Event],
    state: Option<&(usize, Vec<u8>)>,
    surrogates_save: bool,
) -> Replay {
    let mut turns = turns(surrogates_save);
    let mut known = Known::default();
    if let Some((evaluations, bytes)) = state {
        turns.restore(bytes).unwrap();
        (known.observed, known.recalled) = (*evaluations, *evaluations);
    }
    let (benchmark, encoder, penalty) = (Box::new(Ones), Box::new(Same), Penalty::l1(0.25));
    let parts =
        Parts { benchmark, space: Space::binary(N), encoder, penalty, turns, workers: None, singles: None };
    let keys = format!(r#"{{ "budget": {{ "initial": 3, "evaluations": 20, "batch": {batch} }} }}"#);
    let keys: Settings = serde_json::from_str(&keys).unwrap();
    let mut replay = Replay { recorded: recorded.iter().cloned().collect(), ..Replay::default() };
    optimize(parts, &keys, &[], known, &Seeds::new("resumed", 1), &mut replay).unwrap();
    replay
}

fn evaluations(events: &[Event]) -> usize {
    events.iter().filter(|event| matches!(event, Event::Evaluated(_))).count()
}

#[test]
fn wherever_a_trial_is_cut_it_goes_on_to_the_same_events_with_each_state_and_without() {
    for (batch, fewest) in [(1, 10), (3, 4)] {
        let whole = go_on(batch, &[], None, true);
        assert!(whole.states.len() > fewest && evaluations(&whole.events) == 23);
        for cut in 0..=whole.events.len() {
            let recorded = &whole.events[..cut];
            assert_eq!(
                go_on(batch, recorded, None, true).events,
                whole.events,
                "without a state, cut at {cut}"
            );
            for state in whole.states.iter().filter(|(seen, _)| *seen <= evaluations(recorded)) {
                let resumed = go_on(batch, recorded, Some(state), true);
                assert_eq!(resumed.events, whole.events, "with the state after {}, cut at {cut}", state.0);
                // What is saved from there on is what would have been saved.
                let expected: Vec<_> =
                    whole.states.iter().filter(|saved| resumed.states.contains(saved)).collect();
                assert_eq!(expected.len(), resumed.states.len());
            }
        }
    }
}

#[test]
fn the_events_of_a_round_stand_together_and_its_results_in_its_order() {
    let words = |event: &Event| match event {
        Event::Proposed(proposed) => format!("p{}", proposed.iteration),
        Event::Evaluating(begun) => format!("b{}", begun.evaluation),
        Event::Evaluated(ended) => format!("e{}", ended.evaluation),
        _ => "f".to_owned(),
    };
    let events = go_on(3, &[], None, true).events;
    let words: Vec<String> = events.iter().map(words).collect();
    assert_eq!(words[..15].join(" "), "b1 b2 b3 e1 e2 e3 p1 b4 p2 b5 p3 b6 e4 e5 e6");
    assert_eq!(words[words.len() - 7..].join(" "), "p19 b22 p20 b23 e22 e23 f");
}

#[test]
fn where_a_surrogate_has_no_state_nothing_is_saved_and_the_solvers_solve_again() {
    let whole = go_on(1, &[], None, false);
    assert!(whole.states.is_empty());
    for cut in 0..=whole.events.len() {
        assert_eq!(go_on(1, &whole.events[..cut], None, false).events, whole.events, "cut at {cut}");
    }
}

#[test]
fn a_solver_that_learns_is_not_taken_from_a_state_without_it_nor_another_from_one_with_it() {
    let learning = |saves| {
        let surrogate = Box::new(Memory { hash: 1, saves: true });
        let solver = ("s".to_owned(), Box::new(Memory { hash: 2, saves }) as Box<dyn Solver>);
        Turns::new(vec![Turn { name: "a".to_owned(), surrogate, solver }], Vec::new())
    };
    let saved = |saves| learning(saves).save().unwrap().unwrap();
    assert!(learning(true).restore(&saved(true)).is_ok() && learning(false).restore(&saved(false)).is_ok());
    let error = learning(true).restore(&saved(false)).unwrap_err();
    assert_eq!(error.to_string(), "no state of the solver `s` was saved");
    let mut forgetful = learning(true);
    forgetful.solvers(1).for_each(|solver| solver.1 = Box::new(Forgetful));
    let error = forgetful.restore(&saved(true)).unwrap_err();
    assert_eq!(error.to_string(), "this solver has no saved state");
    let error = turns(true).restore(&saved(true)).unwrap_err();
    assert_eq!(error.to_string(), "these are not the states of its surrogates and solvers");
}
