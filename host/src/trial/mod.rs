//! One trial: open its folder, make its plugins, run the loop, close.

mod ask;
mod attempt;
mod best;
mod dialogue;
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

pub use self::attempt::{Awaits, Task, Workers, evaluate};
pub use self::dialogue::{Asked, Dialogue, Told};
pub use self::recording::Listener;

use self::optimize::{Known, Optimization, Parts, Recorder, optimize};
use self::recording::Recording;
use self::relabel::Relabelled;
use self::repeat::{Averaged, Singles};
use self::turns::{NamedSolver, Turn, Turns};
use crate::diagnostic::Diagnostic;
use crate::manifest::Settings;
use crate::plan::{ResolvedTrial, Seeds, Spec, TrialId, TurnPlan, constrained};
use crate::plugins::locate::Folders;
use crate::plugins::{PluginArguments, Plugins};
use crate::record::event::{Event, Finished, Started};
use crate::record::state::on_scratch;
use crate::record::{FORMAT, Identity, Journal, RecordError, Repeats, Step, TRIALS, incident, read_trial};

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
    /// Somebody tells what contradicts what was told before.
    #[error("evaluation {evaluation} was told already: {known}")]
    Told { evaluation: usize, known: String },
    /// Somebody tells of an evaluation that nobody asked for.
    #[error("evaluation {evaluation} was not asked for")]
    NotAsked { evaluation: usize },
    /// The processes that evaluate points cannot go on.
    #[error("{0}")]
    Workers(String),
    #[error("stopped on request")]
    Stopped,
}

/// The objective of a trial, for a process that evaluates points of it.
pub struct OpenBenchmark {
    pub benchmark: Box<dyn Benchmark>,
    /// How many bytes its process may hold.
    pub memory: Option<u64>,
}

impl OpenBenchmark {
    /// Reads the trial's own file, and makes its objective; where `trust`, it may have changed since the run was begun.
    pub fn open(
        run: &Path,
        id: &TrialId,
        arguments: &PluginArguments,
        trust: bool,
    ) -> Result<Self, TrialError> {
        let trial = read_trial(run, id)?;
        let folders = Folders::of(arguments, &trial.plugin_directories);
        let mut plugins = Plugins::new(folders, trial.folder.as_deref().unwrap_or(Path::new("")));
        let plugin = open(&mut plugins, Kind::Benchmark, &trial.benchmark)?;
        check_identity(run, &trial, &plugins, trust)?;
        let seed = Seeds::new(&trial.experiment, trial.id.seed).instance();
        let benchmark = plugin.benchmark(&plugins.options(&plugin, &trial.benchmark.options), seed);
        let benchmark = benchmark.map_err(failed(Kind::Benchmark, &trial.benchmark))?;
        let folder = run.join(TRIALS).join(id.to_string());
        let (benchmark, _) = averaged(Box::new(benchmark), &trial.keys, &folder)?;
        Ok(Self { benchmark, memory: trial.keys.evaluation.memory })
    }
}

/// The objective, with means of several values where the experiment wants that; and where single values are kept, if any are
/// to be.
fn averaged(
    objective: Box<dyn Benchmark>,
    keys: &Settings,
    folder: &Path,
) -> Result<(Box<dyn Benchmark>, Option<Singles>), TrialError> {
    let again = keys.recommend.repeat > 0 && !objective.deterministic();
    if keys.evaluation.repeat == 1 && !again {
        return Ok((objective, None));
    }
    let opened = crate::files::Folder::make(folder).and_then(|_| Repeats::open(folder));
    let opened = opened.map_err(RecordError::cannot("open the single values in", folder))?;
    let singles = Singles::new(opened, keys.evaluation.repeat);
    Ok((Box::new(Averaged { objective, singles: singles.clone() }), Some(singles)))
}

/// A trial of a run's folder, ready to be run.
pub struct OpenTrial {
    trial: ResolvedTrial,
    plugins: Plugins,
    folder: PathBuf,
    trust: bool,
    /// A folder of this node for what only helps to go on.
    scratch: Option<PathBuf>,
}

impl OpenTrial {
    /// Reads the trial's own file, and opens its plugins; they have to be those that the run was begun with.
    ///
    /// Where `trust`, they may have changed since, and what was recorded by other versions counts as it stands.
    pub fn open(
        run: &Path,
        id: &TrialId,
        arguments: &PluginArguments,
        trust: bool,
    ) -> Result<Self, TrialError> {
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
        let trust = check_identity(run, &trial, &plugins, trust)?;
        let folder = run.join(TRIALS).join(id.to_string());
        Ok(Self { trial, plugins, folder, trust, scratch: None })
    }

    /// The same with saved states in a folder of this node; beside the journal where that cannot be.
    pub fn with_scratch(self, scratch: Option<&Path>) -> Self {
        let made = scratch.and_then(|scratch| {
            let made = on_scratch(scratch, &self.folder);
            made.map_err(|error| tracing::warn!("no scratch in {}: {error}", scratch.display())).ok()
        });
        Self { scratch: made, ..self }
    }

    /// Where it is recorded.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How its evaluations are made.
    pub fn keys(&self) -> &Settings {
        &self.trial.keys
    }

    /// Runs the trial, or goes on with it; `listener` hears of every step and event.
    ///
    /// `workers` evaluate the points of a round at the same time; without, they are evaluated here, one after the other.
    pub fn run(
        &mut self,
        stop: Arc<AtomicBool>,
        listener: &mut dyn Listener,
        workers: Option<Box<dyn Workers>>,
    ) -> Result<Finished, TrialError> {
        let seeds = Seeds::new(&self.trial.experiment, self.trial.id.seed);
        let mut parts = self.make_parts(&seeds, listener)?;
        parts.workers = workers;
        let started = Event::Started(self.started(&parts, false));
        let journal = self.open_journal(false)?;
        let encoder = &self.trial.encoder.name;
        let recording = Recording::new(&self.folder, journal, stop, listener, encoder);
        let mut recording = recording.with_scratch(self.scratch.clone());
        recording.record(started)?;
        let mut known = Known { incidents: incident::read(&self.folder), ..Known::default() };
        if let Some(state) = recording.saved_state() {
            recording.at("where surrogates and solvers take up their saved state");
            match parts.turns.restore(&state.bytes) {
                Ok(()) => {
                    let evaluations = state.evaluations;
                    tracing::info!("going on after evaluation {evaluations} with the saved state");
                    (known.observed, known.recalled) = (evaluations, evaluations);
                }
                Err(error) => {
                    tracing::warn!("the saved state is not used: {error}");
                    // What is left of it after that, nobody knows.
                    parts.turns =
                        self.make_turns(&parts.encoder.layout(), &mut |place| recording.at(place))?;
                }
            }
        }
        let recorded = recording.recorded_evaluations();
        if recorded > known.observed {
            tracing::info!("going through {} recorded evaluations again", recorded - known.observed);
        }
        known.trusted = self.trust;
        recording.between_steps();
        optimize(parts, &self.trial.keys, &self.trial.given, known, &seeds, &mut recording)
    }

    /// Opens the trial for questions and answers, goes through what is recorded, and does what somebody wants with it. What it
    /// has learned is saved for the next time.
    pub fn talk<T>(
        &mut self,
        talk: impl FnOnce(&mut Dialogue<'_>) -> Result<T, TrialError>,
    ) -> Result<T, TrialError> {
        let seeds = Seeds::new(&self.trial.experiment, self.trial.id.seed);
        let (stop, listener) = (Arc::new(AtomicBool::new(false)), &mut Nobody);
        let mut parts = self.make_parts(&seeds, listener)?;
        let started = Event::Started(self.started(&parts, true));
        let journal = self.open_journal(true)?;
        let encoder = &self.trial.encoder.name;
        let mut recording = Recording::new(&self.folder, journal, stop, listener, encoder);
        recording.record(started)?;
        let mut restored = 0;
        if let Some((state, events)) = recording.saved_state_anywhere() {
            match parts.turns.restore(&state.bytes) {
                Ok(()) => restored = events,
                Err(error) => {
                    tracing::warn!("the saved state is not used: {error}");
                    parts.turns = self.make_turns(&parts.encoder.layout(), &mut |_| ())?;
                }
            }
        }
        let (incidents, trusted) = (incident::read(&self.folder), self.trust);
        let known = Known { incidents, trusted, ..Known::default() };
        let ResolvedTrial { keys, given, .. } = &self.trial;
        let trial = Optimization::new(parts, keys, known, &seeds, &mut recording);
        let mut dialogue = Dialogue::new(trial, keys, given, &seeds, restored)?;
        let answer = talk(&mut dialogue);
        let (saved, evaluations) = (dialogue.save(), dialogue.told());
        drop(dialogue);
        // Also where something was refused, what was recorded before it counts; what a plugin is after it failed, nobody knows.
        if !matches!(answer, Err(TrialError::Plugin { .. })) {
            recording.save(evaluations, saved);
        }
        answer
    }

    /// The journal, where it is of this sort: that of a run, or of questions and answers.
    fn open_journal(&self, asked: bool) -> Result<Journal, TrialError> {
        let journal = Journal::open(&self.folder, self.trust)?;
        match journal.next() {
            Some(Event::Started(started)) if started.asked != asked => {
                Err(TrialError::Recorded(match asked {
                    true => format!("`{}` was begun by `host run`, which goes on with it", self.trial.id),
                    false => format!("`{}` is asked and told: `host ask` goes on with it", self.trial.id),
                }))
            }
            _ => Ok(journal),
        }
    }

    fn make_parts(&mut self, seeds: &Seeds, listener: &mut dyn Listener) -> Result<Parts, TrialError> {
        let (trial, plugins) = (&self.trial, &mut self.plugins);
        listener.at(&making(Kind::Benchmark, &trial.benchmark));
        let benchmark = open(plugins, Kind::Benchmark, &trial.benchmark)?;
        let options = plugins.options(&benchmark, &trial.benchmark.options);
        let benchmark = benchmark.benchmark(&options, seeds.instance());
        let benchmark = benchmark.map_err(failed(Kind::Benchmark, &trial.benchmark))?;
        let space = benchmark.space().map_err(failed(Kind::Benchmark, &trial.benchmark))?;
        // The plan was made with these; a benchmark that is another now may have other names.
        let space = constrained(&space, &trial.keys.constraints).map_err(|mistakes| {
            let words: Vec<String> = mistakes.into_iter().map(|mistake| mistake.what.message).collect();
            TrialError::Recorded(format!("the constraints do not fit the space: {}", words.join("; ")))
        })?;
        listener.at(&making(Kind::Encoder, &trial.encoder));
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
        let turns = self.make_turns(&encoder.layout(), &mut |place| listener.at(place))?;
        let (benchmark, singles) = averaged(Box::new(benchmark), &self.trial.keys, &self.folder)?;
        Ok(Parts { benchmark, space, encoder, penalty, turns, workers: None, singles })
    }

    fn make_turns(&mut self, layout: &Layout, at: &mut dyn FnMut(&str)) -> Result<Turns, TrialError> {
        let mut turns = Vec::new();
        for TurnPlan { surrogate: spec, solver } in &self.trial.method.turns {
            at(&making(Kind::Surrogate, spec));
            let surrogate = open(&mut self.plugins, Kind::Surrogate, spec)?;
            let options = self.plugins.options(&surrogate, &spec.options);
            let surrogate = surrogate.surrogate(&options, layout);
            let surrogate = Box::new(surrogate.map_err(failed(Kind::Surrogate, spec))?);
            let solver = make_solver(&mut self.plugins, solver, at)?;
            turns.push(Turn { name: spec.label.clone(), surrogate, solver });
        }
        let shadows = self.trial.method.shadows.iter().map(|spec| make_solver(&mut self.plugins, spec, at));
        Ok(Turns::new(turns, shadows.collect::<Result<_, _>>()?))
    }

    fn started(&self, parts: &Parts, asked: bool) -> Started {
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
            asked,
        }
    }
}

/// Hears nothing.
struct Nobody;

impl Listener for Nobody {
    fn begins(&mut self, _: &Step) {}
    fn at(&mut self, _: &str) {}
    fn happened(&mut self, _: &Event) {}
}

/// Somebody may have built the plugins again since the run began: refused, unless they are trusted. Answers whether what is
/// recorded counts as it stands, because they are, or have changed before.
fn check_identity(
    run: &Path,
    trial: &ResolvedTrial,
    plugins: &Plugins,
    trust: bool,
) -> Result<bool, TrialError> {
    let identity = Identity::read(run).map_err(TrialError::Folder)?;
    let identity = identity.filter(|identity| identity.plan == trial.plan);
    let identity = identity.ok_or_else(|| {
        TrialError::Recorded(format!("{} is a trial of another plan than its run", trial.id))
    })?;
    if !trust {
        identity.check_trial(plugins, &trial.benchmark).map_err(TrialError::Folder)?;
    }
    Ok(trust || identity.changed)
}

fn make_solver(
    plugins: &mut Plugins,
    spec: &Spec,
    at: &mut dyn FnMut(&str),
) -> Result<NamedSolver, TrialError> {
    at(&making(Kind::Solver, spec));
    let solver = open(plugins, Kind::Solver, spec)?;
    let solver = solver.solver(&plugins.options(&solver, &spec.options));
    Ok((spec.label.clone(), Box::new(solver.map_err(failed(Kind::Solver, spec))?)))
}

fn making(kind: Kind, spec: &Spec) -> String {
    format!("where the {kind} `{}` is made", spec.name)
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
