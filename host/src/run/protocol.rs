//! What a trial tells the program that watches it: the same messages within a process and between two.

use plugin_api::Point;
use serde::{Deserialize, Serialize};

use super::death::Exit;
use crate::record::Step;
use crate::record::event::{Event, Outcome};
use crate::trial::Listener;

/// One message; between processes, one line of JSON on the child's standard output.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Message {
    /// The process is there.
    Alive,
    /// A step begins that may take its time; an evaluation for the first time or again.
    Begins(Step),
    /// It turns to something that is no step: where it is, in words.
    At(String),
    /// An evaluation has ended, and is recorded.
    Advanced { evaluation: usize, best: Option<f64> },
    /// An evaluation that a worker was asked for has ended.
    Evaluated { evaluation: usize, outcome: Outcome },
    /// Why the trial failed.
    Failed { reason: String },
    /// The trial's process has ended, and all that it had started: the guard's last word.
    Ended(Exit),
}

/// What a trial asks of a worker; one line of JSON on its standard input.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Request {
    pub(super) evaluation: usize,
    pub(super) point: Point,
    pub(super) seed: u64,
}

/// The word that asks a child to stop after the evaluation under way; on its standard input.
pub(super) const STOP: &str = "stop\n";

/// A child's exit code when it stopped on request.
pub(super) const STOPPED: u8 = 3;

/// Turns what happens in a trial into messages.
pub(super) struct Speaker<F>(pub(super) F);

impl<F: FnMut(Message)> Listener for Speaker<F> {
    fn begins(&mut self, step: &Step) {
        (self.0)(Message::Begins(step.clone()));
    }

    fn happened(&mut self, event: &Event) {
        if let Event::Evaluated(evaluated) = event {
            (self.0)(Message::Advanced { evaluation: evaluated.evaluation, best: evaluated.best });
        }
    }

    fn at(&mut self, place: &str) {
        (self.0)(Message::At(place.to_owned()));
    }
}
