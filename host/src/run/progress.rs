//! Events → terminal: a bar over all trials and one for each that runs, or a plain line now and then.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Job;

/// How often a plain line appears where there is no terminal.
const SELDOM: Duration = Duration::from_secs(10);

/// What a trial is busy with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activity {
    /// Drawing from the surrogate.
    Fit,
    /// Minimizing what was drawn.
    Solve,
    /// Evaluating the objective.
    Evaluate,
}

/// Shows how far a run is, on the standard error.
pub struct Progress {
    style: Style,
    trials: usize,
    done: usize,
    /// Evaluations made and to be made, over all trials.
    evaluations: (usize, usize),
    running: BTreeMap<String, usize>,
    begun: Instant,
    last_line: Instant,
}

enum Style {
    Bars { bars: MultiProgress, all: ProgressBar, trials: BTreeMap<String, ProgressBar> },
    Lines,
    Quiet,
}

impl Progress {
    /// Bars on a terminal, lines elsewhere, nothing where `quiet`.
    pub fn new(quiet: bool) -> Self {
        let style = if quiet {
            Style::Quiet
        } else if std::io::stderr().is_terminal() {
            let bars = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(10));
            Style::Bars { bars, all: ProgressBar::hidden(), trials: BTreeMap::new() }
        } else {
            Style::Lines
        };
        let now = Instant::now();
        let running = BTreeMap::new();
        Self { style, trials: 0, done: 0, evaluations: (0, 0), running, begun: now, last_line: now }
    }

    /// The trials with their evaluations, and how many of them are still to be run.
    pub fn begin(&mut self, trials: &[Job], open: usize) {
        self.trials = trials.len();
        self.done = trials.len() - open;
        let mean = trials.iter().map(|job| job.evaluations).sum::<usize>() / trials.len().max(1);
        self.evaluations = (0, open * mean);
        if let Style::Bars { bars, all, .. } = &mut self.style {
            *all = bars.add(ProgressBar::new(self.evaluations.1 as u64));
            all.set_style(style("{msg:<28} {bar:30} {pos}/{len} evaluations, {eta} left"));
            all.enable_steady_tick(Duration::from_millis(200));
        }
        self.update();
    }

    /// A trial begins.
    pub fn trial_begins(&mut self, id: &str, evaluations: usize) {
        self.running.insert(id.to_owned(), 0);
        if let Style::Bars { bars, trials, .. } = &mut self.style {
            let bar = bars.add(ProgressBar::new(evaluations as u64));
            bar.set_style(style("  {prefix:<26} {bar:30} {pos}/{len} {msg}"));
            bar.set_prefix(id.to_owned());
            trials.insert(id.to_owned(), bar);
        }
    }

    /// A trial turns to something else.
    pub fn doing(&mut self, id: &str, what: Activity) {
        if let Style::Bars { trials, .. } = &self.style
            && let Some(bar) = trials.get(id)
        {
            bar.set_message(match what {
                Activity::Fit => "fit",
                Activity::Solve => "solve",
                Activity::Evaluate => "evaluate",
            });
        }
    }

    /// A trial has made an evaluation.
    pub fn evaluated(&mut self, id: &str, evaluation: usize, best: Option<f64>) {
        if let Some(before) = self.running.insert(id.to_owned(), evaluation) {
            self.evaluations.0 += evaluation.saturating_sub(before);
        }
        if let Style::Bars { all, trials, .. } = &self.style {
            all.set_position(self.evaluations.0 as u64);
            if let Some(bar) = trials.get(id) {
                bar.set_position(evaluation as u64);
                bar.set_message(best.map(|best| format!("best {best:.5}")).unwrap_or_default());
            }
        }
        self.tick();
    }

    /// A trial has ended, well or not.
    pub fn trial_ends(&mut self, id: &str) {
        self.running.remove(id);
        self.done += 1;
        if let Style::Bars { trials, .. } = &mut self.style
            && let Some(bar) = trials.remove(id)
        {
            bar.finish_and_clear();
        }
        self.update();
    }

    /// Something to read, above the bars.
    pub fn print(&self, line: &str) {
        match &self.style {
            Style::Bars { bars, .. } => bars.suspend(|| eprintln!("{line}")),
            Style::Lines | Style::Quiet => eprintln!("{line}"),
        }
    }

    /// Time passes.
    pub fn tick(&mut self) {
        if matches!(self.style, Style::Lines) && self.last_line.elapsed() >= SELDOM {
            self.last_line = Instant::now();
            let (made, all) = self.evaluations;
            let seconds = self.begun.elapsed().as_secs();
            eprintln!("{}/{} trials, {made}/{all} evaluations, {seconds} s", self.done, self.trials);
        }
    }

    /// All trials have ended.
    pub fn end(&mut self) {
        if let Style::Bars { bars, all, .. } = &self.style {
            all.finish_and_clear();
            let _ = bars.clear();
        }
    }

    fn update(&mut self) {
        let words = format!("{}/{} trials", self.done, self.trials);
        if let Style::Bars { all, .. } = &self.style {
            all.set_message(words);
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("a template of ours is valid").progress_chars("━━ ")
}
