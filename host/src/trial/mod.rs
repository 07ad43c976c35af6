//! One trial: open or resume its folder, run the loop, close.

pub mod event;
mod groups;
pub mod incident;
mod initial_design;
pub mod journal;
pub mod optimize;
mod penalty;
pub mod seeds;
pub mod state;
mod unseen;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use plugin_api::{Benchmark, Encoder, Kind, Layout, Sense, Solver, Surrogate};
use serde_json::{Map, Value as Json};

use self::event::{Event, Finished, Started};
use self::journal::{Journal, Opening, Signal};
use self::optimize::{Known, Limits, Parts, Record, TrialError, optimize};
use self::seeds::Seeds;
use crate::plan::{MethodPlan, SoleTrial, Spec};
use crate::plugins::Plugins;

/// Runs a trial in its folder, or goes on with it; `listener` hears of every step and event.
///
/// Where `trust`, what was recorded by other versions of the plugins counts as it stands.
pub fn run(
    trial: &mut SoleTrial,
    plan_hash: &str,
    folder: &Path,
    trust: bool,
    stop: Arc<AtomicBool>,
    listener: &mut dyn FnMut(Signal<'_>),
) -> Result<Finished, TrialError> {
    let method = trial.setting.methods[0].clone();
    let seeds = Seeds::new(&trial.experiment, trial.seed);
    let mut parts = make_parts(trial, &method, &seeds)?;
    let started = started(trial, &method, plan_hash, &parts);
    let setting = &trial.setting;
    let limits = Limits {
        initial: setting.initial,
        evaluations: setting.evaluations,
        l1: setting.l1,
        on_failure: setting.evaluation.on_failure,
    };
    let opening = Opening { retries: setting.evaluation.retries, trust, stop };
    let mut journal = Journal::open(folder, opening, listener)?;
    journal.event(Event::Started(started))?;
    let mut known = Known::default();
    if let Some(state) = journal.saved_state() {
        match parts.surrogate.restore(&state.bytes) {
            Ok(()) => {
                tracing::info!(
                    "going on after evaluation {} with the surrogate's saved state",
                    state.evaluations
                );
                known = Known { observed: state.evaluations, recalled: state.evaluations };
            }
            Err(error) => {
                tracing::warn!("the surrogate's saved state is not used: {error}");
                // What is left of it after that, nobody knows.
                parts.surrogate = make_surrogate(trial, &method, &parts.encoder.layout())?;
            }
        }
    }
    if trust {
        known.recalled = journal.recorded_evaluations();
    }
    optimize(parts, limits, known, &seeds, &mut journal)
}

fn make_parts(trial: &mut SoleTrial, method: &MethodPlan, seeds: &Seeds) -> Result<Parts, TrialError> {
    let (setting, plugins) = (&trial.setting, &mut trial.plugins);
    let benchmark = open(plugins, Kind::Benchmark, &setting.benchmark)?;
    let benchmark = benchmark.benchmark(&setting.benchmark.options, seeds.instance());
    let benchmark = benchmark.map_err(failed(Kind::Benchmark, &setting.benchmark))?;
    let encoder = open(plugins, Kind::Encoder, &setting.encoder)?;
    let encoder = encoder.encoder(&setting.encoder.options, &benchmark.space());
    let encoder = encoder.map_err(failed(Kind::Encoder, &setting.encoder))?;
    let mut solvers: Vec<(String, Box<dyn Solver>)> = Vec::new();
    for spec in std::iter::once(&method.solver).chain(&method.shadows) {
        let solver = open(plugins, Kind::Solver, spec)?.solver(&spec.options);
        solvers.push((spec.label.clone(), Box::new(solver.map_err(failed(Kind::Solver, spec))?)));
    }
    let surrogate = make_surrogate(trial, method, &encoder.layout())?;
    Ok(Parts { benchmark: Box::new(benchmark), encoder: Box::new(encoder), surrogate, solvers })
}

fn make_surrogate(
    trial: &mut SoleTrial,
    method: &MethodPlan,
    layout: &Layout,
) -> Result<Box<dyn Surrogate>, TrialError> {
    let plugin = open(&mut trial.plugins, Kind::Surrogate, &method.surrogate)?;
    let surrogate = plugin.surrogate(&method.surrogate.options, layout);
    Ok(Box::new(surrogate.map_err(failed(Kind::Surrogate, &method.surrogate))?))
}

fn failed(kind: Kind, spec: &Spec) -> impl FnOnce(plugin_api::Error) -> TrialError {
    let what = format!("making the {kind} `{}`", spec.name);
    |source| TrialError::Plugin { what, source }
}

fn open(
    plugins: &mut Plugins,
    kind: Kind,
    spec: &Spec,
) -> Result<std::rc::Rc<plugin_api::load::Plugin>, TrialError> {
    plugins.get(kind, &spec.reference).map_err(|error| {
        let cause = error.cause().unwrap_or_else(|| error.to_string());
        TrialError::Plugin { what: format!("opening the {kind} `{}`", spec.name), source: cause.into() }
    })
}

fn started(trial: &SoleTrial, method: &MethodPlan, plan_hash: &str, parts: &Parts) -> Started {
    let version = |spec: &Spec| Json::from(format!("{} {}", spec.name, spec.version));
    let mut plugins = Map::new();
    plugins.insert("benchmark".to_owned(), version(&trial.setting.benchmark));
    plugins.insert("encoder".to_owned(), version(&trial.setting.encoder));
    plugins.insert("surrogate".to_owned(), version(&method.surrogate));
    plugins.insert("solver".to_owned(), version(&method.solver));
    plugins.insert("shadows".to_owned(), method.shadows.iter().map(version).collect());
    Started {
        experiment: trial.experiment.clone(),
        trial: trial.id.clone(),
        method: method.name.clone(),
        sweep: trial.setting.sweep.iter().cloned().collect(),
        seed: trial.seed,
        plan: plan_hash.to_owned(),
        plugins,
        maximize: parts.benchmark.sense() == Sense::Maximize,
        bits: parts.encoder.layout().dimension(),
    }
}
