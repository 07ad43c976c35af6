//! A trial on disk while it runs: its journal, its times and the state of its plugins. A listener hears of each step.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use plugin_api::Point;

use super::TrialError;
use super::optimize::Recorder;
use crate::record::asked::{AskedFiles, Effects, Prediction};
use crate::record::event::{Event, Outcome};
use crate::record::state::{Pace, State};
use crate::record::{Journal, RoundFile, Step, TimingFile};

/// Who wants to know how far a trial is.
pub trait Listener {
    /// A step begins that may take its time.
    fn begins(&mut self, step: &Step);

    /// Something has happened, and is recorded.
    fn happened(&mut self, event: &Event);

    /// The trial turns to something that is no step: where it is, in words, for the case that it dies there.
    fn at(&mut self, place: &str);
}

pub(super) struct Recording<'a> {
    folder: PathBuf,
    /// Where states are saved, where that is not `folder`.
    scratch: Option<PathBuf>,
    journal: Journal,
    round: RoundFile,
    timing: TimingFile,
    asked: AskedFiles,
    pace: Pace,
    stop: Arc<AtomicBool>,
    listener: &'a mut dyn Listener,
    /// Where the trial is when it is in no step, in words.
    between: String,
}

impl<'a> Recording<'a> {
    /// `encoder` is the name of what translates points between two steps.
    pub(super) fn new(
        folder: &Path,
        journal: Journal,
        stop: Arc<AtomicBool>,
        listener: &'a mut dyn Listener,
        encoder: &str,
    ) -> Self {
        let (timing, asked) = (TimingFile::open(folder), AskedFiles::new(folder));
        let between = format!("between two steps, in the encoder `{encoder}`");
        let (folder, round, pace) = (folder.to_owned(), RoundFile::open(folder), Pace::new());
        Self { folder, scratch: None, journal, round, timing, asked, pace, stop, listener, between }
    }

    /// The same with states saved elsewhere.
    pub(super) fn with_scratch(self, scratch: Option<PathBuf>) -> Self {
        Self { scratch, ..self }
    }

    /// The saved state, where it belongs to this journal: the one on scratch, or what others left beside the journal.
    pub(super) fn saved_state(&self) -> Option<State> {
        let belongs =
            |state: &State| self.journal.hash_after(state.evaluations) == Some(state.journal.as_str());
        let places = self.scratch.iter().chain([&self.folder]);
        places.filter_map(|folder| State::read(folder)).find(belongs)
    }

    /// The saved state, where it belongs to any place in this journal; and how many events stand before that place.
    pub(super) fn saved_state_anywhere(&self) -> Option<(State, usize)> {
        let state = State::read(&self.folder)?;
        let events = self.journal.events_until(&state.journal)?;
        Some((state, events))
    }

    /// Saves a state that belongs to all that is recorded. Without it the next time takes longer, and that is all.
    pub(super) fn save(&self, evaluations: usize, saved: plugin_api::Result<Option<Vec<u8>>>) {
        match saved {
            Ok(Some(bytes)) => {
                let state = State { evaluations, journal: self.journal.hash().to_owned(), bytes };
                let folder = self.scratch.as_ref().unwrap_or(&self.folder);
                if let Err(error) = state.write(folder) {
                    tracing::warn!("cannot save the state in {}: {error}", folder.display());
                }
            }
            Ok(None) => {}
            Err(error) => tracing::warn!("a surrogate or solver cannot save its state: {error}"),
        }
    }

    /// How many evaluations are recorded that the loop has not come to yet.
    pub(super) fn recorded_evaluations(&self) -> usize {
        self.journal.recorded_evaluations()
    }
}

impl Recording<'_> {
    /// The trial is in no step.
    pub(super) fn between_steps(&mut self) {
        self.listener.at(&self.between);
    }
}

impl Recorder for Recording<'_> {
    fn record(&mut self, event: Event) -> Result<(), TrialError> {
        if matches!(event, Event::Finished(_)) {
            // Before that line: nobody looks at a trial again that has it.
            self.round.remove();
        }
        self.journal.record(&event)?;
        match &event {
            Event::Evaluated(evaluated) => self.round.settle(evaluated.evaluation),
            Event::Finished(_) => {
                if let Some(scratch) = &self.scratch {
                    let _ = std::fs::remove_dir_all(scratch);
                }
            }
            _ => {}
        }
        self.listener.happened(&event);
        Ok(())
    }

    fn recorded(&self) -> Option<&Event> {
        self.journal.next()
    }

    fn kept(&mut self, evaluation: usize, point: &Point) -> Option<Outcome> {
        self.round.kept(evaluation, point)
    }

    fn keep_outcome(
        &mut self,
        evaluation: usize,
        point: &Point,
        outcome: &Outcome,
    ) -> Result<(), TrialError> {
        Ok(self.round.add(evaluation, point, outcome)?)
    }

    fn keep(&mut self, evaluations: usize, save: &mut dyn FnMut() -> plugin_api::Result<Option<Vec<u8>>>) {
        if self.recorded().is_some() || !self.pace.due() {
            return;
        }
        let begun = Instant::now();
        self.listener.at("where surrogates and solvers save their state");
        self.save(evaluations, save());
        self.pace.saved(begun);
        self.between_steps();
    }

    fn begins(&mut self, step: &Step) {
        self.listener.begins(step);
    }

    fn took(&mut self, step: &Step, time: Duration) {
        // What is replayed was timed when it happened.
        if self.recorded().is_none() {
            self.timing.add(step, time);
        }
        // An evaluation may end while others of its round go on.
        if step.evaluation().is_none() {
            self.between_steps();
        }
    }

    fn at(&mut self, place: &str) {
        self.listener.at(place);
    }

    fn predicted(&mut self, prediction: &Prediction) {
        self.asked.add(prediction);
    }

    fn explained(&mut self, effects: &Effects) {
        self.asked.replace(effects);
    }

    fn stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
