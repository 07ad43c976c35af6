//! `host status`: how far the trials of a run are, which points are under way, and what a cluster has in its queue.

use std::collections::BTreeMap;
use std::process::ExitCode;

use serde_json::{Map, Value as Json, json};

use super::ask::shown;
use super::{print, refuse, tell_broken};
use crate::cli::{PointsFormat, StatusArguments};
use crate::diagnostic::Diagnostic;
use crate::plan::TrialId;
use crate::record::{RunFolder, TrialFiles};
use crate::run::slurm::{Scheduler, Silence, TrialState, overview};
use crate::text::{columns, number, say};
use crate::trial::Asked;

pub(super) fn status(arguments: &StatusArguments) -> ExitCode {
    match RunFolder::open(&arguments.folder).and_then(|run| show(&run, arguments)) {
        Ok((text, whole)) => {
            let printed = print(&text);
            if whole { printed } else { ExitCode::FAILURE }
        }
        Err(diagnostic) => refuse(&[diagnostic]),
    }
}

fn show(run: &RunFolder, arguments: &StatusArguments) -> Result<(String, bool), Diagnostic> {
    let (mut rows, mut objects, mut pending) = (Vec::new(), Vec::new(), Vec::new());
    let (mut queue, silence) = on_cluster(run)?;
    let counted = queue.as_ref().map(counts);
    let broken = run.each(|trial| trial, |trial| {
        let state = match (&trial.finished, trial.started.asked) {
            (Some(_), _) => "finished",
            (None, true) => "asked and told",
            (None, false) => "not finished",
        };
        let on_cluster = queue.as_mut().and_then(|queue| queue.remove(&trial.started.trial));
        let on_cluster = on_cluster.filter(|_| trial.finished.is_none());
        let best = trial.evaluations.last().and_then(|last| last.ended.best);
        let id = trial.started.trial.to_string();
        let (told, under_way) = (trial.evaluations.len(), trial.pending.len());
        let words = on_cluster.as_ref().map_or_else(|| state.to_owned(), in_words);
        rows.push(vec![id.clone(), told.to_string(), under_way.to_string(), number(best), words]);
        let asked = asked(&trial);
        let mut object = json!({
            "trial": id, "state": state, "evaluations": told, "best": best, "pending": objects_of(run, &trial, &asked),
        });
        add_queue(&mut object, on_cluster.as_ref());
        objects.push(object);
        // Of a run, they are being evaluated right now, or will be again.
        if trial.started.asked && !asked.is_empty() {
            pending.push((trial, asked));
        }
        Ok(())
    });
    let broken = broken
        .map_err(|error| Diagnostic::new(format!("{} cannot be read", run.path.display())).because(error))?;
    let whole = !tell_broken(&broken);
    // What has not begun yet has no journal.
    for (id, state) in queue.into_iter().flatten() {
        let mut object =
            json!({ "trial": id, "state": state.word(), "evaluations": 0, "best": null, "pending": [] });
        add_queue(&mut object, Some(&state));
        objects.push(object);
        rows.push(vec![id.to_string(), "0".to_owned(), "0".to_owned(), number(None), in_words(&state)]);
    }
    if let Some(silence) = silence {
        say(format!("warning: {silence}"));
    }
    if arguments.json {
        return Ok((Json::from(objects).to_string(), whole));
    }
    let header = ["trial", "evaluations", "under way", "best", "state"].map(str::to_owned);
    let mut paragraphs = vec![columns(&header, &rows)];
    paragraphs.extend(counted);
    for (trial, asked) in &pending {
        paragraphs.push(match run.spaces.of_trial(&trial.started.trial) {
            Some(space) => format!("under way:\n{}", shown(asked, space, PointsFormat::Table)),
            None => format!("under way: {asked:?}"),
        });
    }
    Ok((paragraphs.join("\n\n"), whole))
}

/// Where the trials of a run are that was handed to a cluster; and why nobody knows.
fn on_cluster(run: &RunFolder) -> Result<(Option<Queue>, Option<String>), Diagnostic> {
    match overview(&run.path, &Scheduler { unwanted: &|| false }) {
        Ok(overview) if overview.trials.is_empty() => Ok((None, None)),
        Ok(overview) => Ok((Some(overview.trials), None)),
        Err(Silence::NoAnswer(why)) => Ok((None, Some(format!("the scheduler does not answer: {why}")))),
        Err(Silence::Never(why)) => {
            Ok((None, Some(format!("what is in the queue is not known: {}", why.message))))
        }
    }
}

type Queue = BTreeMap<TrialId, TrialState>;

fn counts(queue: &Queue) -> String {
    let count = |word: &str| queue.values().filter(|state| state.word() == word).count();
    let counts = ["queued", "running", "finished", "failed"].map(|word| format!("{} {word}", count(word)));
    format!("on the cluster: {}", counts.join(", "))
}

/// One line for a table.
fn in_words(state: &TrialState) -> String {
    let (word, detail) = (state.word(), state.detail().lines().next().unwrap_or_default());
    match state {
        _ if detail.is_empty() => word.to_owned(),
        TrialState::Running { .. } => format!("{word} on {detail}"),
        _ => format!("{word}: {detail}"),
    }
}

fn add_queue(object: &mut Json, state: Option<&TrialState>) {
    if let Some(state) = state {
        object["state"] = state.word().into();
        object["job"] = state.job().into();
        object["reason"] = state.detail().into();
    }
}

fn asked(trial: &TrialFiles) -> Vec<Asked> {
    let pending = trial.pending.iter();
    pending.map(|begun| Asked { evaluation: begun.evaluation, point: begun.point.clone() }).collect()
}

fn objects_of(run: &RunFolder, trial: &TrialFiles, asked: &[Asked]) -> Json {
    let Some(space) = run.spaces.of_trial(&trial.started.trial) else { return Json::Null };
    let named = |asked: &Asked| -> Map<String, Json> {
        let variables = space.variables().iter().zip(asked.point.iter());
        let level = |(variable, &level): (&plugin_api::Variable, &u32)| {
            (variable.name().to_owned(), Json::from(variable.levels().get(level as usize).cloned()))
        };
        variables.map(level).collect()
    };
    asked.iter().map(|asked| json!({ "evaluation": asked.evaluation, "point": named(asked) })).collect()
}
