//! A trial's folder → its rows. Journals may be long and many: one is read at a time, and only what a report needs.
//!
//! Reading is lenient. A line that is torn or of a kind that is not known here is passed over, so that a report can
//! be made while the trial runs.

use std::collections::BTreeMap;
use std::hash::Hasher;
use std::path::Path;

use serde::Deserialize;

use crate::trial::event::Started;
use crate::trial::incident::{self, Incident};
use crate::trial::journal::{JOURNAL, TIMING};

/// Everything that a report takes from a trial's folder.
pub struct TrialFiles {
    /// Which trial it is.
    pub started: Started,
    /// Its evaluations.
    pub evaluations: Vec<Evaluation>,
    /// Its AFO problems.
    pub problems: Vec<Problem>,
    /// How it ended; `None` where it has not.
    pub finished: Option<Finished>,
    /// The levels of the best point so far.
    pub best_point: Option<Vec<u32>>,
    /// Seconds of each draw from the surrogate.
    pub fit_seconds: Vec<f64>,
    /// Seconds of each evaluation.
    pub evaluate_seconds: Vec<f64>,
    /// Seconds of each answer: solver, whether it was followed, time.
    pub solve_seconds: Vec<(String, bool, f64)>,
    /// The same for trials with the same initial design, points and values.
    pub design: u64,
    /// What went wrong with its process.
    pub incidents: Vec<Incident>,
}

/// One evaluation.
pub struct Evaluation {
    /// Counted from 1.
    pub number: usize,
    /// Whether it belongs to the initial design.
    pub initial: bool,
    /// `ok`, `failed` or `timed-out`.
    pub status: String,
    /// The objective's own value.
    pub value: Option<f64>,
    /// λ‖bits‖₁.
    pub penalty: f64,
    /// Both.
    pub total: Option<f64>,
    /// The best total so far.
    pub best: Option<f64>,
    /// Why there is no value.
    pub reason: Option<String>,
}

/// One AFO problem.
pub struct Problem {
    /// Counted from 1.
    pub iteration: usize,
    /// The followed solver's answer, then the shadows'.
    pub answers: Vec<Answer>,
}

/// One solver's answer to it.
#[derive(Deserialize)]
pub struct Answer {
    /// The solver.
    pub solver: String,
    /// The acquisition function's value.
    pub value: f64,
    /// A proven lower bound.
    pub bound: Option<f64>,
    /// How long it took, where that is known.
    #[serde(skip)]
    pub seconds: Option<f64>,
}

/// How a trial ended.
pub struct Finished {
    /// The best total.
    pub best: Option<f64>,
    /// Its point in the objective's own words.
    pub description: Option<String>,
    /// The best total there is.
    pub optimum: Option<f64>,
}

/// Any line of a journal, as far as a report needs it. Bits, counts and choices are not read.
#[derive(Deserialize)]
struct Line<'a> {
    event: &'a str,
    evaluation: Option<usize>,
    phase: Option<&'a str>,
    point: Option<Vec<u32>>,
    status: Option<&'a str>,
    value: Option<f64>,
    reason: Option<String>,
    penalty: Option<f64>,
    total: Option<f64>,
    best: Option<f64>,
    iteration: Option<usize>,
    answers: Option<Vec<Answer>>,
    description: Option<String>,
    optimum: Option<f64>,
}

/// Any line of the times.
#[derive(Deserialize)]
struct TimingLine<'a> {
    step: &'a str,
    iteration: Option<usize>,
    solver: Option<String>,
    followed: Option<bool>,
    seconds: f64,
}

/// Reads a trial's folder; `None` where the trial has not begun.
pub fn read(folder: &Path) -> Option<TrialFiles> {
    let journal = text(std::fs::read(folder.join(JOURNAL)).ok()?);
    let mut lines = journal.lines();
    let started: Started = serde_json::from_str(lines.next()?).ok()?;
    let mut trial = TrialFiles {
        started,
        evaluations: Vec::new(),
        problems: Vec::new(),
        finished: None,
        best_point: None,
        fit_seconds: Vec::new(),
        evaluate_seconds: Vec::new(),
        solve_seconds: Vec::new(),
        design: 0,
        incidents: incident::read(folder),
    };
    let mut design = Fingerprint::new();
    let (mut initial, mut point) = (true, None);
    for line in lines.filter_map(|line| serde_json::from_str::<Line<'_>>(line).ok()) {
        match line.event {
            "evaluating" => {
                initial = line.phase == Some("initial");
                point = line.point;
            }
            "evaluated" => {
                if initial {
                    design.add(point.as_deref(), line.value);
                }
                trial.evaluated(line, initial, point.take());
            }
            "proposed" => {
                let answers = line.answers.unwrap_or_default();
                trial.problems.push(Problem { iteration: line.iteration.unwrap_or_default(), answers });
            }
            "finished" => {
                let Line { best, description, optimum, .. } = line;
                trial.finished = Some(Finished { best, description, optimum });
            }
            _ => {}
        }
    }
    trial.design = design.0;
    trial.time(&folder.join(TIMING));
    Some(trial)
}

impl TrialFiles {
    fn evaluated(&mut self, line: Line<'_>, initial: bool, point: Option<Vec<u32>>) {
        let before = self.evaluations.last().and_then(|evaluation| evaluation.best);
        if line.total.is_some() && line.best != before {
            self.best_point = point;
        }
        self.evaluations.push(Evaluation {
            number: line.evaluation.unwrap_or(self.evaluations.len() + 1),
            initial,
            status: line.status.unwrap_or_default().to_owned(),
            value: line.value,
            penalty: line.penalty.unwrap_or_default(),
            total: line.total,
            best: line.best,
            reason: line.reason,
        });
    }

    /// Reads the times, and gives each answer its own.
    fn time(&mut self, path: &Path) {
        let mut solved: BTreeMap<usize, Vec<(String, bool, f64)>> = BTreeMap::new();
        let text = text(std::fs::read(path).unwrap_or_default());
        for line in text.lines().filter_map(|line| serde_json::from_str::<TimingLine<'_>>(line).ok()) {
            match (line.step, line.iteration, line.solver, line.followed) {
                ("fit", ..) => self.fit_seconds.push(line.seconds),
                ("evaluate", ..) => self.evaluate_seconds.push(line.seconds),
                ("solve", Some(iteration), Some(solver), Some(followed)) => {
                    self.solve_seconds.push((solver.clone(), followed, line.seconds));
                    solved.entry(iteration).or_default().push((solver, followed, line.seconds));
                }
                _ => {}
            }
        }
        for problem in &mut self.problems {
            let times = solved.get(&problem.iteration).map(Vec::as_slice).unwrap_or_default();
            for (i, answer) in problem.answers.iter_mut().enumerate() {
                let found = times
                    .iter()
                    .find(|(solver, followed, _)| *followed == (i == 0) && *solver == answer.solver);
                answer.seconds = found.map(|(_, _, seconds)| *seconds);
            }
        }
    }
}

/// The bytes as text; a torn end may cut a character in two.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// FNV-1a over an initial design: small, and the same on every machine.
struct Fingerprint(u64);

impl Fingerprint {
    fn new() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }

    fn add(&mut self, point: Option<&[u32]>, value: Option<f64>) {
        for &level in point.unwrap_or_default() {
            self.write(&level.to_le_bytes());
        }
        self.write(&value.map_or(u64::MAX, f64::to_bits).to_le_bytes());
    }
}

impl Hasher for Fingerprint {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
