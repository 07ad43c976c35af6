//! `host doctor`: what of a run's folder is whole and what is not, and the way on that loses nothing. Without a folder,
//! what the installation has.

use std::path::Path;
use std::process::ExitCode;

use super::{installation, print, refuse};
use crate::cli::DoctorArguments;
use crate::record::health::{Health, TrialHealth};
use crate::text::columns;

pub(super) fn doctor(arguments: &DoctorArguments) -> ExitCode {
    let Some(folder) = &arguments.folder else { return installation::look(arguments) };
    let health = match Health::of(folder) {
        Ok(health) => health,
        Err(diagnostic) => return refuse(&[diagnostic]),
    };
    let printed = print(&words(folder, &health));
    if health.is_whole() { printed } else { ExitCode::FAILURE }
}

fn words(folder: &Path, health: &Health) -> String {
    let header = ["trial", "evaluations", "state", "deaths"].map(str::to_owned);
    let rows: Vec<Vec<String>> = health
        .trials
        .iter()
        .map(|(id, trial)| {
            let evaluations = trial.evaluations.to_string();
            vec![id.to_string(), evaluations, state(trial), trial.deaths.to_string()]
        })
        .collect();
    let mut paragraphs = Vec::new();
    if !rows.is_empty() {
        paragraphs.push(columns(&header, &rows));
    }
    let asked = health.trials.iter().any(|(_, trial)| trial.asked);
    let identity = match &health.identity {
        Ok(Some(identity)) => {
            let others: Vec<&str> = health.plans().into_iter().filter(|plan| !identity.names(plan)).collect();
            match others[..] {
                [] if identity.becoming.is_some() => {
                    let command = if asked { "`host ask`" } else { "--resume" };
                    format!("identity.json: the run was being extended; {command} brings that to its end")
                }
                [] => format!("identity.json: whole, begun by host {}", identity.host),
                _ => "identity.json: of another plan than some journals".to_owned(),
            }
        }
        Ok(None) => "identity.json: missing".to_owned(),
        Err(diagnostic) => diagnostic.to_string(),
    };
    let plan = match &health.plan {
        Ok(()) => "plan.yaml: whole".to_owned(),
        Err(error) => format!("plan.yaml: cannot be read: {error}"),
    };
    let mut lines = vec![plan, identity];
    match &health.shard {
        Ok(None) => {}
        Ok(Some(shard)) => {
            lines.push(format!(
                "shard.json: {}; the other trials of its plan are in other folders",
                shard.words()
            ));
        }
        Err(diagnostic) => lines.push(diagnostic.to_string()),
    }
    paragraphs.push(lines.join("\n"));
    for (id, trial) in &health.trials {
        if let Some(broken) = &trial.broken {
            paragraphs.push(format!(
                "{broken}\n  lines 1 to {} of `{id}` are as they were written, with {} evaluations; put the journal back \
                 from a copy, or keep one and cut it there: the trial goes on from what is left",
                broken.line - 1,
                trial.evaluations
            ));
        }
    }
    let unfinished = health.trials.iter().filter(|(_, trial)| !trial.finished).count();
    let place = folder.display();
    paragraphs.push(match (health.is_whole(), unfinished) {
        (true, _) if asked => {
            format!("{place} is whole; `host ask {place}` and `host tell {place}` go on with it")
        }
        (true, 0) => format!("{place} is whole, and all of its trials have finished"),
        (true, count) => {
            format!("{place} is whole; `host run --resume {place}` goes on with {count} of its trials")
        }
        (false, _) => format!("{place} is not whole; nothing in it was changed"),
    });
    paragraphs.join("\n\n")
}

fn state(trial: &TrialHealth) -> String {
    let mut words = Vec::new();
    words.push(match (&trial.broken, trial.finished, &trial.plan) {
        (Some(broken), ..) => format!("changed at line {}", broken.line),
        (None, true, _) => "finished".to_owned(),
        (None, false, Some(_)) => "not finished".to_owned(),
        (None, false, None) => "not begun".to_owned(),
    });
    // What a resume mends by itself.
    words.extend((trial.torn > 0).then(|| "torn end".to_owned()));
    words.extend(trial.file.as_ref().map(|_| "trial.json lost".to_owned()));
    words.extend(trial.broken_state.then(|| "saved state not whole".to_owned()));
    words.join(", ")
}
