//! What is under way in each trial, for somebody who asks to stop and wants to know what is being waited for.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::MultiProgress;
use serde_json::{Value as Json, json};

use crate::diagnostic::LogFormat;
use crate::plan::TrialId;
use crate::record::Step;
use crate::text::{duration, say};

/// Longer lists are cut, and say so.
const MOST: usize = 8;

/// What is under way. The thread that hears Ctrl-C can say it at once.
#[derive(Clone)]
pub(super) struct Waiting {
    trials: Arc<Mutex<BTreeMap<TrialId, UnderWay>>>,
    format: LogFormat,
    /// What is said goes above them.
    bars: Option<MultiProgress>,
}

struct UnderWay {
    /// `None` between two steps.
    step: Option<Step>,
    since: Instant,
}

impl Waiting {
    pub(super) fn new(format: LogFormat, bars: Option<MultiProgress>) -> Self {
        Self { trials: Arc::default(), format, bars }
    }

    /// A trial turns to this.
    pub(super) fn turns_to(&self, id: &TrialId, step: Option<Step>) {
        let under_way = UnderWay { step, since: Instant::now() };
        self.trials.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), under_way);
    }

    pub(super) fn ends(&self, id: &TrialId) {
        self.trials.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }

    /// Says what is waited for after the first request to stop, and for how long at most where there is a limit.
    pub(super) fn say_waiting(&self, limit: Option<Duration>) {
        let trials = self.trials.lock().unwrap_or_else(PoisonError::into_inner);
        match self.format {
            LogFormat::Json => {
                let trial = |(id, under_way): (&TrialId, &UnderWay)| {
                    let what = under_way.step.as_ref().map(words);
                    json!({ "trial": id, "what": what, "seconds": under_way.since.elapsed().as_secs_f64() })
                };
                let trials: Vec<Json> = trials.iter().map(trial).collect();
                let limit = limit.map(|limit| limit.as_secs_f64());
                self.say(
                    &json!({ "progress": "stopping", "waiting_for": trials, "at_most_seconds": limit })
                        .to_string(),
                );
            }
            LogFormat::Text => {
                let limit = limit.map(|limit| format!(", for {limit:?} at most")).unwrap_or_default();
                let mut lines = vec![format!(
                    "stopping after what is under way{limit}; Ctrl-C again stops now. Waiting for:"
                )];
                lines.extend(trials.iter().take(MOST).map(|(id, under_way)| line(id, under_way)));
                let more = trials.len().saturating_sub(MOST);
                lines.extend((more > 0).then(|| format!("  and {more} more trials")));
                self.say(&lines.join("\n"));
            }
        }
    }

    /// Says that nothing is waited for any longer.
    pub(super) fn say_now(&self) {
        match self.format {
            LogFormat::Json => self.say(&json!({ "progress": "stopping-now" }).to_string()),
            LogFormat::Text => self.say("stopping now; what is under way is begun again after a resume"),
        }
    }

    /// Says how to go on.
    pub(super) fn say_stopped(&self, to_go_on: &str, leaves_trials: bool) {
        let words = match self.format {
            LogFormat::Json => json!({ "progress": "stopped", "to_go_on": to_go_on }).to_string(),
            LogFormat::Text if leaves_trials => {
                format!("stopped waiting; what is in the queue goes on.\n  {to_go_on}")
            }
            LogFormat::Text => format!("stopped; every finished evaluation is kept. To go on:\n  {to_go_on}"),
        };
        self.say(&words);
    }

    fn say(&self, words: &str) {
        match &self.bars {
            Some(bars) => bars.suspend(|| say(words)),
            None => say(words),
        }
    }
}

fn line(id: &TrialId, under_way: &UnderWay) -> String {
    let UnderWay { step, since } = under_way;
    match step {
        Some(step) => format!("  {id}: {}, {} so far", words(step), duration(since.elapsed().as_secs_f64())),
        None => format!("  {id}: the next step"),
    }
}

fn words(step: &Step) -> String {
    match step {
        Step::Evaluate { evaluation } => format!("evaluation {evaluation}"),
        Step::Await { evaluation } => format!("the round of evaluation {evaluation}"),
        Step::Solve { iteration, solver, .. } => format!("solver `{solver}` in iteration {iteration}"),
        Step::Fit { iteration } => format!("the surrogate's draw for iteration {iteration}"),
        Step::Observe { evaluation } | Step::Ask { evaluation } => {
            format!("the surrogate after evaluation {evaluation}")
        }
    }
}
