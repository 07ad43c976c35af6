//! How far a run is, on a terminal: a bar over all trials and one for each that runs; or a plain line now and then, or
//! JSON.

mod estimate;

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value as Json, json};

use self::estimate::Estimate;
use super::executor::Job;
use super::protocol::Message;
use super::waiting::Waiting;
use crate::diagnostic::LogFormat;
use crate::plan::TrialId;
use crate::record::Step;
use crate::record::session::OpenSession;
use crate::text::{duration, say};

/// How often a line appears where there is no terminal.
const SELDOM: Duration = Duration::from_secs(10);
/// How often the time left is computed again.
const OFTEN: Duration = Duration::from_millis(500);

/// A cluster runs more trials at a time than a terminal has lines.
const MOST_BARS: usize = 16;

/// How often the run's session is written down.
const MINUTE: Duration = Duration::from_secs(60);

/// Who looks on while a run goes on, and may take time after it.
pub trait Onlooker {
    /// A run begins in this folder.
    fn begins(&mut self, folder: &Path);
    /// Whether it wants to know how far the run is: evaluations have been made.
    fn is_due(&mut self) -> bool;
    /// How far it is: evaluations made and planned, and how long it will still take.
    fn look(&mut self, evaluations: (usize, usize), seconds_left: Option<f64>);
    /// What went wrong with looking on, once.
    fn complaint(&mut self) -> Option<String>;
    /// How long it will be busy after the last of this many evaluations.
    fn seconds_after(&self, planned: usize) -> f64;
    /// The run has ended.
    fn ends(&mut self);
}

/// Shows how far a run is, on the standard error.
pub struct Progress {
    style: Style,
    onlooker: Option<Box<dyn Onlooker>>,
    /// The run's session, and when it was written.
    session: Option<(OpenSession, Instant)>,
    trials: usize,
    done: usize,
    /// Evaluations made and to be made, over all open trials.
    evaluations: (usize, usize),
    /// Evaluations of all trials, those that have ended before among them.
    planned: usize,
    running: BTreeMap<TrialId, Running>,
    waiting: Waiting,
    estimate: Estimate,
    /// Seconds left, and when that was computed: with ten thousand trials it is not for every evaluation.
    left: (Option<f64>, Option<Instant>),
    begun: Instant,
    last_line: Instant,
    /// What else there is to know of what is waited for.
    note: Option<String>,
}

#[derive(Default)]
struct Running {
    evaluation: usize,
    best: Option<f64>,
    /// What it is busy with.
    doing: Option<&'static str>,
}

enum Style {
    Bars { bars: MultiProgress, all: ProgressBar, trials: BTreeMap<TrialId, ProgressBar> },
    Lines,
    Json,
    Quiet,
}

impl Progress {
    /// Bars on a terminal, lines where there is none, nothing where `quiet`; JSON lines where that is the format of logs.
    pub fn new(quiet: bool, format: LogFormat) -> Self {
        let style = if quiet {
            Style::Quiet
        } else if format == LogFormat::Json {
            Style::Json
        } else if std::io::stderr().is_terminal() {
            let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(10));
            Style::Bars { bars, all: ProgressBar::hidden(), trials: BTreeMap::new() }
        } else {
            Style::Lines
        };
        let now = Instant::now();
        let bars = if let Style::Bars { bars, .. } = &style { Some(bars.clone()) } else { None };
        Self {
            style,
            onlooker: None,
            session: None,
            waiting: Waiting::new(format, bars),
            trials: 0,
            done: 0,
            evaluations: (0, 0),
            planned: 0,
            running: BTreeMap::new(),
            estimate: Estimate::default(),
            left: (None, None),
            begun: now,
            last_line: now,
            note: None,
        }
    }

    /// The same with somebody who looks on.
    pub fn watched_by(self, onlooker: Box<dyn Onlooker>) -> Self {
        Self { onlooker: Some(onlooker), ..self }
    }

    /// A run begins in this folder.
    pub(super) fn begin_in(&mut self, folder: &Path) {
        self.session = Some((OpenSession::begin(folder), Instant::now()));
        if let Some(onlooker) = &mut self.onlooker {
            onlooker.begins(folder);
        }
    }

    /// What is under way, for somebody who asks to stop.
    pub(super) fn waiting(&self) -> Waiting {
        self.waiting.clone()
    }

    /// The trials there are, and those still to be run, in this order.
    pub(super) fn begin(&mut self, all: &[Job], open: &[Job]) {
        self.begun = Instant::now();
        self.trials = all.len();
        self.done = all.len() - open.len();
        self.planned = all.iter().map(|job| job.evaluations).sum();
        self.evaluations = (0, open.iter().map(|job| job.evaluations).sum());
        self.estimate = Estimate::new(open);
        if let Style::Bars { bars, all, .. } = &mut self.style {
            *all = bars.add(ProgressBar::new(self.evaluations.1 as u64));
            all.set_style(style("{prefix:<28} {bar:30} {pos}/{len} evaluations, {elapsed}{msg}"));
        }
        self.show_all();
        self.say("begins", json!({}));
    }

    pub(super) fn trial_begins(&mut self, job: &Job) {
        self.running.insert(job.id.clone(), Running::default());
        self.waiting.turns_to(&job.id, None);
        self.estimate.begins(&job.id, job.evaluations, self.begun.elapsed().as_secs_f64());
        if let Style::Bars { bars, trials, .. } = &mut self.style
            && trials.len() < MOST_BARS
        {
            let bar = bars.add(ProgressBar::new(job.evaluations as u64));
            bar.set_style(style("  {prefix:<26} {bar:30} {pos}/{len} {msg}"));
            bar.set_prefix(job.id.to_string());
            trials.insert(job.id.clone(), bar);
        }
        self.say("trial-begins", json!({ "trial": job.id }));
    }

    /// Takes what a trial says.
    pub(super) fn hear(&mut self, id: &TrialId, message: &Message) {
        match message {
            Message::Begins(step) => self.doing(id, step),
            Message::Advanced { evaluation, best } => self.evaluated(id, *evaluation, *best),
            Message::Alive
            | Message::At(_)
            | Message::Evaluated { .. }
            | Message::Failed { .. }
            | Message::Ended(_) => {}
        }
    }

    /// A trial turns to something else.
    fn doing(&mut self, id: &TrialId, step: &Step) {
        if let Some(running) = self.running.get_mut(id) {
            running.doing = Some(step.word());
        }
        self.waiting.turns_to(id, Some(step.clone()));
        self.show_trial(id);
    }

    /// A trial has made an evaluation.
    fn evaluated(&mut self, id: &TrialId, evaluation: usize, best: Option<f64>) {
        let Some(running) = self.running.get_mut(id) else { return };
        self.evaluations.0 += evaluation.saturating_sub(running.evaluation);
        running.evaluation = evaluation;
        running.best = best;
        self.waiting.turns_to(id, None);
        self.estimate.evaluated(id, evaluation, self.begun.elapsed().as_secs_f64());
        self.show_trial(id);
        self.tick();
    }

    /// A trial has ended, well or not.
    pub(super) fn trial_ends(&mut self, id: &TrialId) {
        let ended = self.running.remove(id);
        self.waiting.ends(id);
        self.done += 1;
        self.estimate.ends(id);
        if let Style::Bars { trials, .. } = &mut self.style
            && let Some(bar) = trials.remove(id)
        {
            bar.finish_and_clear();
        }
        self.show_all();
        self.say("trial-ends", json!({ "trial": id, "best": ended.and_then(|ended| ended.best) }));
    }

    /// Something to read, above the bars.
    pub(super) fn print(&self, line: &str) {
        match &self.style {
            Style::Bars { bars, .. } => bars.suspend(|| say(line)),
            Style::Json => say(json!({ "progress": "said", "line": line })),
            Style::Lines | Style::Quiet => say(line),
        }
    }

    /// Logs something above the bars.
    pub(super) fn log(&self, log: impl FnOnce()) {
        match &self.style {
            Style::Bars { bars, .. } => bars.suspend(log),
            Style::Json | Style::Lines | Style::Quiet => log(),
        }
    }

    /// What else there is to know of what is waited for.
    pub(super) fn note(&mut self, note: String) {
        self.note = Some(note);
    }

    /// Time passes.
    pub(super) fn tick(&mut self) {
        self.show_all();
        self.let_look();
        if self.last_line.elapsed() < SELDOM {
            return;
        }
        self.last_line = Instant::now();
        self.say("running", json!({}));
        if matches!(self.style, Style::Lines) {
            let (made, all) = self.evaluations;
            let seconds = self.begun.elapsed().as_secs_f64();
            let left = self.left().map(|left| format!(", about {} left", duration(left))).unwrap_or_default();
            let (done, trials) = (self.done, self.trials);
            let note = self.note.as_ref().map(|note| format!(", {note}")).unwrap_or_default();
            say(format!(
                "{done}/{trials} trials{note}, {made}/{all} evaluations, {}{left}",
                duration(seconds)
            ));
        }
    }

    /// All trials have ended.
    pub(super) fn end(&mut self) {
        if let Style::Bars { bars, all, .. } = &self.style {
            all.finish_and_clear();
            let _ = bars.clear();
        }
        self.say("ends", json!({}));
        if let Some((mut session, _)) = self.session.take() {
            session.keep(true);
        }
        if let Some(onlooker) = &mut self.onlooker {
            onlooker.ends();
        }
    }

    /// Lets the onlooker look where it is time to, and keeps the session.
    fn let_look(&mut self) {
        if let Some((session, written)) = &mut self.session
            && written.elapsed() > MINUTE
        {
            session.keep(false);
            *written = Instant::now();
        }
        let (made, _) = self.evaluations;
        if made == 0 || self.onlooker.as_mut().is_none_or(|onlooker| !onlooker.is_due()) {
            return;
        }
        let left = self.left();
        let Some(onlooker) = &mut self.onlooker else { return };
        onlooker.look(self.evaluations, left);
        if let Some(complaint) = onlooker.complaint() {
            self.log(|| tracing::warn!("no report while the run goes on: {complaint}"));
        }
    }

    fn left(&mut self) -> Option<f64> {
        if self.left.1.is_none_or(|computed| computed.elapsed() >= OFTEN) {
            let left = self.estimate.seconds_left(self.begun.elapsed().as_secs_f64());
            let after = self.onlooker.as_ref().map_or(0.0, |onlooker| onlooker.seconds_after(self.planned));
            self.left = (left.map(|left| left + after), Some(Instant::now()));
        }
        self.left.0
    }

    fn show_all(&mut self) {
        if !matches!(self.style, Style::Bars { .. }) {
            return;
        }
        let left = self.left();
        if let Style::Bars { all, .. } = &self.style {
            all.set_prefix(format!("{}/{} trials", self.done, self.trials));
            all.set_position(self.evaluations.0 as u64);
            // A thread of its own for this is one that may not be had.
            all.tick();
            let note = self.note.as_ref().map(|note| format!(", {note}")).unwrap_or_default();
            let left = left.map(|left| format!(", about {} left", duration(left))).unwrap_or_default();
            all.set_message(note + &left);
        }
    }

    fn show_trial(&self, id: &TrialId) {
        if let Style::Bars { trials, .. } = &self.style
            && let (Some(bar), Some(running)) = (trials.get(id), self.running.get(id))
        {
            let best = running.best.map(|best| format!("best {best:.5} "));
            bar.set_position(running.evaluation as u64);
            bar.set_message(best.unwrap_or_default() + running.doing.unwrap_or_default());
        }
    }

    /// One JSON line: what happened, how far the run is, and what else there is to know.
    fn say(&mut self, what: &str, more: Json) {
        if !matches!(self.style, Style::Json) {
            return;
        }
        let left = self.left();
        let rounded = |seconds: f64| (seconds * 10.0).round() / 10.0;
        let running: Vec<Json> = self
            .running
            .iter()
            .map(|(id, running)| {
                json!({
                    "trial": id, "evaluation": running.evaluation, "best": running.best, "doing": running.doing
                })
            })
            .collect();
        let mut line = json!({
            "progress": what, "trials": self.trials, "done": self.done, "evaluations": self.evaluations.0,
            "planned_evaluations": self.evaluations.1, "seconds": rounded(self.begun.elapsed().as_secs_f64()),
            "seconds_left": left.map(rounded), "running": running
        });
        if let Some(note) = &self.note {
            line["note"] = note.as_str().into();
        }
        if let (Some(line), Json::Object(mut more)) = (line.as_object_mut(), more) {
            line.append(&mut more);
        }
        say(line);
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("a template of ours is valid").progress_chars("━━ ")
}
