//! A trial whose points somebody else evaluates: asked for and told whenever it suits them, in any order.
//!
//! What was asked and told before is gone through again, as in a resumed trial, or taken from the saved state. Same plan, same
//! seed and the same asks and tells in the same order give the same journal.

use std::collections::BTreeMap;

use plugin_api::{Point, Space};

use super::TrialError;
use super::initial_design::initial_design;
use super::optimize::{Begun, Optimization};
use crate::manifest::Settings;
use crate::plan::{GivenPoint, Seeds};
use crate::record::event::{Event, Outcome, Phase};

/// A trial that waits for questions and answers.
pub struct Dialogue<'r> {
    trial: Optimization<'r>,
    /// What comes before the first proposal.
    design: Vec<Point>,
    /// How many points come before the first proposal, given ones among them.
    initial: usize,
    /// How many points were begun that no model proposed.
    first: usize,
    /// How many proposals there were.
    proposals: usize,
    /// What was told so far, by the number of the evaluation.
    told: BTreeMap<usize, (Point, Outcome)>,
}

/// A point that somebody is to evaluate.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub evaluation: usize,
    pub point: Point,
}

/// What became of something told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// It is recorded now, under this number.
    New(usize),
    /// It was known already, in the same words, under this number.
    Known(usize),
}

impl<'r> Dialogue<'r> {
    /// Goes through what is recorded; the first `restored` events are in the states of surrogates and solvers already.
    pub(super) fn new(
        mut trial: Optimization<'r>,
        keys: &Settings,
        given: &[GivenPoint],
        seeds: &Seeds,
        restored: usize,
    ) -> Result<Self, TrialError> {
        let design = initial_design(trial.space(), keys, given, seeds)?;
        let (mut first, mut proposals, mut at) = (0, 0, 0);
        let (mut told, mut from_others) = (BTreeMap::<usize, (Point, Outcome)>::new(), Vec::new());
        while let Some(event) = trial.next_recorded() {
            trial.restores(at < restored);
            at += 1;
            match event {
                Event::Proposed(proposed) => {
                    proposals = proposed.iteration;
                    trial.go_through(&proposed)?;
                }
                Event::Evaluating(begun) => {
                    let known = told.values().any(|(point, _)| *point == begun.point);
                    first += usize::from(begun.phase != Phase::Search && !known);
                    from_others.extend((begun.phase == Phase::Given).then_some(begun.evaluation));
                    let bits = trial.encode(&begun.point)?;
                    trial.begin(begun.phase, begun.point, bits)?;
                }
                Event::Evaluated(ended) => {
                    let begun = trial.take_pending(ended.evaluation).ok_or_else(|| {
                        TrialError::Recorded(format!(
                            "evaluation {} ended and had not begun",
                            ended.evaluation
                        ))
                    })?;
                    told.insert(begun.evaluation, (begun.point.clone(), ended.outcome()));
                    trial.tell(&begun, ended.outcome())?;
                }
                Event::Started(_) | Event::Recommended(_) | Event::Finished(_) => {
                    return Err(TrialError::Recorded("the journal is that of a run".to_owned()));
                }
            }
        }
        trial.restores(false);
        let initial = keys.budget.initial;
        let mut dialogue = Self { trial, design, initial, first, proposals, told };
        // They come before anything else, so that those in the journal are the first of them.
        let known = given.iter().filter_map(|given| Some((&given.point, given.known.as_ref()?)));
        for (i, (point, known)) in known.enumerate() {
            match from_others.get(i) {
                None => drop(dialogue.take(point, known.into())?),
                // Its result was still to be recorded when the command before was killed.
                Some(&evaluation) if !dialogue.told.contains_key(&evaluation) => {
                    dialogue.tell(evaluation, known.into())?;
                }
                Some(_) => {}
            }
        }
        Ok(dialogue)
    }

    pub fn space(&self) -> &Space {
        self.trial.space()
    }

    /// The points that were asked for and not told.
    pub fn pending(&self) -> Vec<Asked> {
        let asked = |begun: &Begun| Asked { evaluation: begun.evaluation, point: begun.point.clone() };
        self.trial.pending.iter().map(asked).collect()
    }

    /// The point of an evaluation, under way or told.
    pub fn point_of(&self, evaluation: usize) -> Option<&Point> {
        let under_way = self.trial.pending.iter().find(|begun| begun.evaluation == evaluation);
        under_way.map(|begun| &begun.point).or_else(|| self.told.get(&evaluation).map(|(point, _)| point))
    }

    /// Whether every value of a point is the same.
    pub fn deterministic(&self) -> bool {
        self.trial.deterministic()
    }

    /// How many evaluations were told.
    pub fn told(&self) -> usize {
        self.told.len()
    }

    /// The best total so far, and its point.
    pub fn best(&self) -> Option<(f64, &Point)> {
        self.trial.best_so_far()
    }

    /// The next point to evaluate; `None` where every point was asked for or told.
    pub fn ask(&mut self) -> Result<Option<Asked>, TrialError> {
        let known = |point: &Point| {
            self.told.values().any(|(told, _)| told == point)
                || self.trial.pending.iter().any(|begun| begun.point == *point)
        };
        // Points of the table without values are asked for, however many there are.
        let wanted = self.first < self.initial || self.design.len() > self.initial;
        let next = self.design.iter().find(|point| !known(point)).filter(|_| wanted).cloned();
        match next {
            Some(point) => {
                let bits = self.trial.encode(&point)?;
                self.first += 1;
                self.trial.begin(Phase::Initial, point, bits)?;
            }
            None => {
                let Some((point, bits)) = self.trial.propose(self.proposals + 1)? else { return Ok(None) };
                self.proposals += 1;
                self.trial.begin(Phase::Search, point, bits)?;
            }
        }
        Ok(self.pending().pop())
    }

    /// Why it could not be told that an evaluation ended so.
    pub fn refuses(&self, evaluation: usize, outcome: &Outcome) -> Option<TrialError> {
        let evaluation = match self.repaired(evaluation, outcome) {
            Some((_, again)) => again?,
            None => evaluation,
        };
        match self.told.get(&evaluation) {
            Some((_, known)) if known == outcome => None,
            Some((_, known)) => Some(TrialError::Told { evaluation, known: in_words(known) }),
            None if self.trial.pending.iter().any(|begun| begun.evaluation == evaluation) => None,
            None => Some(TrialError::NotAsked { evaluation }),
        }
    }

    /// The same for a point, whether it was asked for or not.
    pub fn refuses_point(&self, point: &Point, outcome: &Outcome) -> Option<TrialError> {
        let evaluation = self.number_of(point, outcome)?;
        self.refuses(evaluation, outcome)
    }

    /// Where an evaluation failed and is told a result after all: its point, and the number of the later evaluation that has
    /// one, if there is one. What is recorded stays, so that the result is that of a further evaluation.
    fn repaired(&self, evaluation: usize, outcome: &Outcome) -> Option<(Point, Option<usize>)> {
        let (point, known) = self.told.get(&evaluation)?;
        if !known.status().is_failure() || outcome.status().is_failure() {
            return None;
        }
        let again =
            |(_, (told, known)): &(&usize, &(Point, Outcome))| told == point && !known.status().is_failure();
        let later = self.told.range(evaluation + 1..).find(again).map(|(number, _)| *number);
        Some((point.clone(), later))
    }

    /// The evaluation that a result of this point is of; `None` where it is a new one.
    fn number_of(&self, point: &Point, outcome: &Outcome) -> Option<usize> {
        let under_way = self.trial.pending.iter().find(|begun| begun.point == *point);
        // What is not noisy has one value, however often it is told; a failure is none.
        let counts = |known: &Outcome| outcome.status().is_failure() || !known.status().is_failure();
        let told = || {
            let mut told = self.told.iter();
            told.find(|(_, (told, known))| told == point && counts(known)).map(|(number, _)| *number)
        };
        let told = || told().filter(|_| self.trial.deterministic());
        under_way.map(|begun| begun.evaluation).or_else(told)
    }

    /// How an evaluation that was asked for ended. Told again in the same words, it is known already.
    pub fn tell(&mut self, evaluation: usize, outcome: Outcome) -> Result<Told, TrialError> {
        if let Some(error) = self.refuses(evaluation, &outcome) {
            return Err(error);
        }
        match self.repaired(evaluation, &outcome) {
            Some((_, Some(later))) => return Ok(Told::Known(later)),
            Some((point, None)) => return self.add(&point, outcome),
            None => {}
        }
        if self.told.contains_key(&evaluation) {
            return Ok(Told::Known(evaluation));
        }
        let begun = self.trial.take_pending(evaluation).ok_or(TrialError::NotAsked { evaluation })?;
        let outcome = self.trial.tell(&begun, outcome)?;
        self.told.insert(evaluation, (begun.point, outcome));
        Ok(Told::New(evaluation))
    }

    /// How the evaluation of a point ended, whether it was asked for or not.
    pub fn take(&mut self, point: &Point, outcome: Outcome) -> Result<Told, TrialError> {
        match self.number_of(point, &outcome) {
            Some(evaluation) => self.tell(evaluation, outcome),
            None => self.add(point, outcome),
        }
    }

    /// A further evaluation, of a point that nobody asked for or that failed before.
    fn add(&mut self, point: &Point, outcome: Outcome) -> Result<Told, TrialError> {
        let bits = self.trial.encode(point)?;
        self.first += usize::from(!self.told.values().any(|(told, _)| told == point));
        self.trial.begin(Phase::Given, point.clone(), bits)?;
        let evaluation = self.trial.pending.last().map(|begun| begun.evaluation);
        self.tell(evaluation.expect("it has begun"), outcome)
    }

    /// The states of surrogates and solvers, and of what.
    pub(super) fn save(&self) -> plugin_api::Result<Option<Vec<u8>>> {
        self.trial.save()
    }
}

/// What was told, in words.
fn in_words(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Value(value) => value.to_string(),
        Outcome::Infeasible(reason) if reason.is_empty() => "infeasible".to_owned(),
        Outcome::Infeasible(reason) => format!("infeasible: {reason}"),
        Outcome::Failed(reason) | Outcome::TimedOut(reason) if reason.is_empty() => "failed".to_owned(),
        Outcome::Failed(reason) | Outcome::TimedOut(reason) => format!("failed: {reason}"),
    }
}
