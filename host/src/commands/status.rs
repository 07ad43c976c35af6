//! `host status`: how far the trials of a run are, and which points are under way.

use std::process::ExitCode;

use serde_json::{Map, Value as Json, json};

use super::ask::shown;
use super::{print, refuse, tell_broken};
use crate::cli::{PointsFormat, StatusArguments};
use crate::diagnostic::Diagnostic;
use crate::record::{RunFolder, TrialFiles};
use crate::text::{columns, number};
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
    let broken = run.each(|trial| trial, |trial| {
        let state = match (&trial.finished, trial.started.asked) {
            (Some(_), _) => "finished",
            (None, true) => "asked and told",
            (None, false) => "not finished",
        };
        let best = trial.evaluations.last().and_then(|last| last.ended.best);
        let id = trial.started.trial.to_string();
        let (told, under_way) = (trial.evaluations.len(), trial.pending.len());
        rows.push(vec![id.clone(), told.to_string(), under_way.to_string(), number(best), state.to_owned()]);
        let asked = asked(&trial);
        objects.push(json!({
            "trial": id, "state": state, "evaluations": told, "best": best, "pending": objects_of(run, &trial, &asked),
        }));
        // Of a run, they are being evaluated right now, or will be again.
        if trial.started.asked && !asked.is_empty() {
            pending.push((trial, asked));
        }
        Ok(())
    });
    let broken = broken
        .map_err(|error| Diagnostic::new(format!("{} cannot be read", run.path.display())).because(error))?;
    let whole = !tell_broken(&broken);
    if arguments.json {
        return Ok((Json::from(objects).to_string(), whole));
    }
    let header = ["trial", "evaluations", "under way", "best", "state"].map(str::to_owned);
    let mut paragraphs: Vec<String> = run.part().into_iter().collect();
    paragraphs.push(columns(&header, &rows));
    for (trial, asked) in &pending {
        paragraphs.push(match run.spaces.of_trial(&trial.started.trial) {
            Some(space) => format!("under way:\n{}", shown(asked, space, PointsFormat::Table)),
            None => format!("under way: {asked:?}"),
        });
    }
    Ok((paragraphs.join("\n\n"), whole))
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
