//! One trial: open its folder, make its plugins, run the loop, close.

mod ask;
mod attempt;
mod best;
mod groups;
mod initial_design;
mod optimize;
mod problem;
mod recommend;
mod recording;
mod relabel;
mod repeat;
#[cfg(test)]
mod resume_tests;
mod turns;
mod unseen;

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use plugin_api::load::Plugin;
use plugin_api::{Benchmark, Encoder, Kind, Layout, Penalty, Sense};
use serde_json::{Map, Value as Json};

pub use self::recording::Listener;

use self::optimize::{Known, Parts, Recorder, optimize};
use self::recording::Recording;
use self::relabel::Relabelled;
use self::repeat::{Averaged, Singles};
use self::turns::{NamedSolver, Turn, Turns};
use crate::diagnostic::Diagnostic;
use crate::plan::{ResolvedTrial, Seeds, Spec, TrialId, TurnPlan};
use crate::plugins::locate::Folders;
use crate::plugins::{PluginArguments, Plugins};
use crate::record::event::{Event, Finished, Started};
use crate::record::{FORMAT, Identity, Journal, RecordError, Repeats, TRIALS, incident, read_trial};

/// Why a trial ended before its budget was spent.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// A plugin failed at what no trial can do without.
    #[error("{what}: {source}")]
    Plugin { what: String, source: plugin_api::Error },
    /// An evaluation failed, and the experiment wants no trial to go on after that.
    #[error("evaluation {evaluation} failed: {reason}")]
    Evaluation { evaluation: usize, reason: String },
    /// Too many evaluations failed, one after the other.
    #[error(
        "{count} evaluations failed in a row, and `evaluation.give-up-after` is {count}; the last: {reason}"
    )]
    GaveUp { count: usize, reason: String },
    #[error("{0}")]
    Record(#[from] RecordError),
    /// What the run's folder says of this trial cannot be used.
    #[error("{0}")]
    Folder(Diagnostic),
    /// What is recorded is no trial of this program.
    #[error("{0}")]
    Recorded(String),
    #[error("{0}")]
    InitialDesign(String),
    #[error("stopped on request")]
    Stopped,
}

/// A trial of a run's folder, ready to be run.
pub struct OpenTrial {
    trial: ResolvedTrial,
    plugins: Plugins,
    folder: PathBuf,
}

impl OpenTrial {
    /// Reads the trial's own file, and opens its plugins; they have to be those that the run was begun with.
    pub fn open(run: &Path, id: &TrialId, arguments: &PluginArguments) -> Result<Self, TrialError> {
        let trial = read_trial(run, id)?;
        let folders = Folders::of(arguments, &trial.plugin_directories);
        let mut plugins = Plugins::new(folders, trial.folder.as_deref().unwrap_or(Path::new("")));
        let method = &trial.method;
        open(&mut plugins, Kind::Benchmark, &trial.benchmark)?;
        open(&mut plugins, Kind::Encoder, &trial.encoder)?;
        for turn in &method.turns {
            open(&mut plugins, Kind::Surrogate, &turn.surrogate)?;
            open(&mut plugins, Kind::Solver, &turn.solver)?;
        }
        for shadow in &method.shadows {
            open(&mut plugins, Kind::Solver, shadow)?;
        }
        let identity = Identity::read(run).map_err(TrialError::Folder)?;
        let identity = identity.filter(|identity| identity.plan == trial.plan);
        let identity = identity.ok_or_else(|| {
            TrialError::Recorded(format!("{} is a trial of another plan than its run", trial.id))
        })?;
        // Somebody may have built the plugins again since the run began.
        identity.check_programs(&plugins).map_err(TrialError::Folder)?;
        let folder = run.join(TRIALS).join(id.to_string());
        Ok(Self { trial, plugins, folder })
    }

    /// How many bytes its process may hold.
    pub fn memory(&self) -> Option<u64> {
        self.trial.keys.evaluation.memory
    }

    /// Runs the trial, or goes on with it; `listener` hears of every step and event.
    ///
    /// Where `trust`, what was recorded by other versions of the plugins counts as it stands.
    pub fn run(
        &mut self,
        trust: bool,
        stop: Arc<AtomicBool>,
        listener: &mut dyn Listener,
    ) -> Result<Finished, TrialError> {
        let seeds = Seeds::new(&self.trial.experiment, self.trial.id.seed);
        let mut parts = self.make_parts(&seeds)?;
        let started = Event::Started(self.started(&parts));
        let mut recording = Recording::new(&self.folder, Journal::open(&self.folder, trust)?, stop, listener);
        recording.record(started)?;
        let mut known = Known { incidents: incident::read(&self.folder), ..Known::default() };
        if let Some(state) = recording.saved_state() {
            match parts.turns.restore(&state.bytes) {
                Ok(()) => {
                    let evaluations = state.evaluations;
                    tracing::info!("going on after evaluation {evaluations} with the saved state");
                    (known.observed, known.recalled) = (evaluations, evaluations);
                }
                Err(error) => {
                    tracing::warn!("the saved state is not used: {error}");
                    // What is left of it after that, nobody knows.
                    parts.turns = self.make_turns(&parts.encoder.layout())?;
                }
            }
        }
        let recorded = recording.recorded_evaluations();
        if recorded > known.observed {
            tracing::info!("going through {} recorded evaluations again", recorded - known.observed);
        }
        if trust {
            known.recalled = recorded;
        }
        optimize(parts, &self.trial.keys, known, &seeds, &mut recording)
    }

    fn make_parts(&mut self, seeds: &Seeds) -> Result<Parts, TrialError> {
        let (trial, plugins) = (&self.trial, &mut self.plugins);
        let benchmark = open(plugins, Kind::Benchmark, &trial.benchmark)?;
        let options = plugins.options(&benchmark, &trial.benchmark.options);
        let benchmark = benchmark.benchmark(&options, seeds.instance());
        let benchmark = benchmark.map_err(failed(Kind::Benchmark, &trial.benchmark))?;
        let space = benchmark.space().map_err(failed(Kind::Benchmark, &trial.benchmark))?;
        let encoder = open(plugins, Kind::Encoder, &trial.encoder)?;
        let options = plugins.options(&encoder, &trial.encoder.options);
        let encoder = encoder.encoder(&options, &space);
        let encoder = encoder.map_err(failed(Kind::Encoder, &trial.encoder))?;
        let mut penalty = Penalty::l1(trial.keys.penalty.l1);
        let mut encoder: Box<dyn Encoder> = Box::new(encoder);
        if trial.keys.relabel.0 {
            let relabelled = Relabelled::new(encoder, seeds.relabel());
            let relabelled = relabelled.map_err(failed(Kind::Encoder, &trial.encoder))?;
            penalty = relabelled.penalty(penalty);
            encoder = Box::new(relabelled);
        }
        let turns = self.make_turns(&encoder.layout())?;
        let mut benchmark: Box<dyn Benchmark> = Box::new(benchmark);
        let singles = self.make_singles(benchmark.as_ref())?;
        if let Some(singles) = singles.clone() {
            benchmark = Box::new(Averaged { objective: benchmark, singles });
        }
        Ok(Parts { benchmark, space, encoder, penalty, turns, singles })
    }

    /// Where single values are kept, if any are to be.
    fn make_singles(&self, benchmark: &dyn Benchmark) -> Result<Option<Singles>, TrialError> {
        let keys = &self.trial.keys;
        let again = keys.recommend.repeat > 0 && !benchmark.deterministic();
        if keys.evaluation.repeat == 1 && !again {
            return Ok(None);
        }
        let opened = crate::files::Folder::make(&self.folder).and_then(|_| Repeats::open(&self.folder));
        let opened = opened.map_err(RecordError::cannot("open the single values in", &self.folder))?;
        Ok(Some(Singles::new(opened, keys.evaluation.repeat)))
    }

    fn make_turns(&mut self, layout: &Layout) -> Result<Turns, TrialError> {
        let mut turns = Vec::new();
        for TurnPlan { surrogate: spec, solver } in &self.trial.method.turns {
            let surrogate = open(&mut self.plugins, Kind::Surrogate, spec)?;
            let options = self.plugins.options(&surrogate, &spec.options);
            let surrogate = surrogate.surrogate(&options, layout);
            let surrogate = Box::new(surrogate.map_err(failed(Kind::Surrogate, spec))?);
            let solver = make_solver(&mut self.plugins, solver)?;
            turns.push(Turn { name: spec.label.clone(), surrogate, solver });
        }
        let shadows = self.trial.method.shadows.iter().map(|spec| make_solver(&mut self.plugins, spec));
        Ok(Turns::new(turns, shadows.collect::<Result<_, _>>()?))
    }

    fn started(&self, parts: &Parts) -> Started {
        let ResolvedTrial { experiment, id, plan, sweep, benchmark, encoder, method, .. } = &self.trial;
        let version = |spec: &Spec| Json::from(format!("{} {}", spec.name, spec.version));
        let mut plugins = Map::new();
        plugins.insert("benchmark".to_owned(), version(benchmark));
        plugins.insert("encoder".to_owned(), version(encoder));
        let all = |of: fn(&TurnPlan) -> &Spec| match &method.turns[..] {
            [turn] => version(of(turn)),
            turns => turns.iter().map(|turn| version(of(turn))).collect(),
        };
        plugins.insert("surrogate".to_owned(), all(|turn| &turn.surrogate));
        plugins.insert("solver".to_owned(), all(|turn| &turn.solver));
        plugins.insert("shadows".to_owned(), method.shadows.iter().map(version).collect());
        Started {
            format: FORMAT,
            experiment: experiment.clone(),
            trial: id.clone(),
            method: method.name.clone(),
            sweep: sweep.clone(),
            seed: id.seed,
            plan: plan.clone(),
            plugins,
            maximize: parts.benchmark.sense() == Sense::Maximize,
            bits: parts.encoder.layout().dimension(),
        }
    }
}

fn make_solver(plugins: &mut Plugins, spec: &Spec) -> Result<NamedSolver, TrialError> {
    let solver = open(plugins, Kind::Solver, spec)?;
    let solver = solver.solver(&plugins.options(&solver, &spec.options));
    Ok((spec.label.clone(), Box::new(solver.map_err(failed(Kind::Solver, spec))?)))
}

fn failed(kind: Kind, spec: &Spec) -> impl FnOnce(plugin_api::Error) -> TrialError {
    let what = format!("making the {kind} `{}`", spec.name);
    |source| TrialError::Plugin { what, source }
}

fn open(plugins: &mut Plugins, kind: Kind, spec: &Spec) -> Result<Rc<Plugin>, TrialError> {
    plugins.get(kind, &spec.reference).map_err(|error| {
        let diagnostic = Diagnostic::from(error);
        let cause = diagnostic.cause.unwrap_or(diagnostic.message);
        TrialError::Plugin { what: format!("opening the {kind} `{}`", spec.name), source: cause.into() }
    })
}
