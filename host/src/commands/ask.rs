//! `host ask`: the next points for somebody else to evaluate.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use plugin_api::Space;
use serde_json::{Map, Value as Json, json};

use super::{make_plan, print, refuse};
use crate::cli::{AskArguments, PointsFormat};
use crate::diagnostic::Diagnostic;
use crate::plan::TrialId;
use crate::plan::points::column_name;
use crate::plugins::PluginArguments;
use crate::record::{Lock, PLAN, Place, Prepared, Programs, RunFolder, prepare};
use crate::text::{columns, csv_cell, say};
use crate::trial::{Asked, OpenTrial, TrialError};

/// How long one command waits for another that is at the same folder.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

pub(super) fn ask(arguments: &AskArguments) -> ExitCode {
    match try_ask(arguments) {
        Ok((folder, space, asked, wanted)) => {
            let place = folder.display();
            let points = shown(&asked, &space, arguments.format);
            // Programs need the folder too.
            let printed = match arguments.format {
                PointsFormat::Json => {
                    let folder = Json::from(place.to_string());
                    print(&format!("{{\"folder\":{folder},\"asked\":{points}}}"))
                }
                _ => print(&points),
            };
            match asked.first() {
                Some(first) => say(format!("to tell a result: host tell {place} {}=VALUE", first.evaluation)),
                None => say(format!("every point was asked for or told; `host status {place}` shows them")),
            }
            if asked.len() == wanted { printed } else { ExitCode::FAILURE }
        }
        Err(diagnostics) => refuse(&diagnostics),
    }
}

type AskedPoints = (PathBuf, Space, Vec<Asked>, usize);

fn try_ask(arguments: &AskArguments) -> Result<AskedPoints, Vec<Diagnostic>> {
    let plugins = &arguments.changes.plugins;
    let (folder, lock) = match arguments.path.is_dir() {
        true => (arguments.path.clone(), None),
        false => {
            let Prepared { folder, lock, .. } = begin(arguments)?;
            (folder, Some(lock))
        }
    };
    let (id, _lock) = hold(&folder, lock).map_err(|diagnostic| vec![diagnostic])?;
    let mut trial = open(&folder, &id, plugins).map_err(|diagnostic| vec![diagnostic])?;
    let wanted = arguments.count.get();
    let asked = trial.talk(|dialogue| {
        let mut asked = Vec::new();
        while asked.len() < wanted
            && let Some(next) = dialogue.ask()?
        {
            asked.push(next);
        }
        Ok((dialogue.space().clone(), asked))
    });
    let (space, asked) = asked.map_err(|error| vec![refused(&folder, error)])?;
    Ok((folder, space, asked, wanted))
}

/// The folder of a manifest's run: made, or found again.
fn begin(arguments: &AskArguments) -> Result<Prepared, Vec<Diagnostic>> {
    let plan = make_plan(&arguments.path, &arguments.changes)?;
    let trials = plan.trials().count();
    if trials != 1 {
        return Err(vec![
            Diagnostic::new(format!("this manifest has {trials} trials, and one can be asked"))
                .hint("one method, one seed and no sweep: `--set seeds=1`, `--surrogate NAME`"),
        ]);
    }
    let programs = Programs { plugins: &arguments.changes.plugins, allow_changed: false, patience: PATIENCE };
    let folder = arguments.output.join(&plan.name).join(&arguments.run_id);
    let (output, id) = (arguments.output.clone(), Some(arguments.run_id.clone()));
    if !folder.is_dir() {
        match prepare(&plan, &Place::New(output.clone(), id.clone()), None, &programs) {
            // Another may have made it in the meantime.
            Err(_) if folder.is_dir() => {}
            made => return made.map_err(|diagnostic| vec![diagnostic]),
        }
    }
    prepare(&plan, &Place::Begun(output, id), None, &programs).map_err(|diagnostic| vec![diagnostic])
}

/// Takes a run's folder, unless it is taken already, and finds its only trial.
pub(super) fn hold(folder: &Path, lock: Option<Lock>) -> Result<(TrialId, Lock), Diagnostic> {
    if !folder.join(PLAN).is_file() {
        return Err(Diagnostic::new(format!("{} is no run's folder", folder.display()))
            .because(format!("there is no {PLAN} in it"))
            .hint("`host ask MANIFEST` makes one, and names it"));
    }
    let lock = match lock {
        Some(lock) => lock,
        None => Lock::take_within(folder, PATIENCE)?,
    };
    let run = RunFolder::open(folder)?;
    match &run.trials[..] {
        [id] => Ok((id.clone(), lock)),
        trials => Err(Diagnostic::new(format!("{} has {} trials", folder.display(), trials.len()))
            .because("one trial is asked and told, not several")),
    }
}

pub(super) fn open(folder: &Path, id: &TrialId, plugins: &PluginArguments) -> Result<OpenTrial, Diagnostic> {
    let folder = std::path::absolute(folder)
        .map_err(|error| Diagnostic::new("the current folder is gone").because(error))?;
    OpenTrial::open(&folder, id, plugins, false).map_err(|error| match error {
        TrialError::Folder(diagnostic) => diagnostic,
        error => refused(&folder, error),
    })
}

pub(super) fn refused(folder: &Path, error: TrialError) -> Diagnostic {
    match error {
        TrialError::Told { .. } => Diagnostic::new(error.to_string())
            .hint("what is told stays told; a noisy objective takes the same point again with --point"),
        TrialError::NotAsked { .. } => Diagnostic::new(error.to_string()).hint(format!(
            "`host status {}` lists the points under way; --point tells of one that nobody asked for",
            folder.display()
        )),
        error => Diagnostic::new(format!("{} cannot be asked or told", folder.display())).because(error),
    }
}

/// Points in the objective's own words.
pub(super) fn shown(asked: &[Asked], space: &Space, format: PointsFormat) -> String {
    let names: Vec<&str> = space.variables().iter().map(|variable| variable.name()).collect();
    let levels = |asked: &Asked| -> Vec<String> {
        let level =
            |(variable, &level): (&plugin_api::Variable, &u32)| variable.levels()[level as usize].clone();
        space.variables().iter().zip(asked.point.iter()).map(level).collect()
    };
    match format {
        PointsFormat::Table => {
            const WIDEST: usize = 12;
            let number = |asked: &Asked| asked.evaluation.to_string();
            if names.len() > WIDEST {
                let header = ["evaluation", "point"].map(str::to_owned);
                let row = |asked: &Asked| vec![number(asked), space.describe(&asked.point)];
                return columns(&header, &asked.iter().map(row).collect::<Vec<_>>());
            }
            let header: Vec<String> =
                ["evaluation"].iter().chain(&names).map(|&name| name.to_owned()).collect();
            let row = |asked: &Asked| [vec![number(asked)], levels(asked)].concat();
            columns(&header, &asked.iter().map(row).collect::<Vec<_>>())
        }
        PointsFormat::Json => {
            let point = |asked: &Asked| -> Map<String, Json> {
                names
                    .iter()
                    .zip(levels(asked))
                    .map(|(name, level)| ((*name).to_owned(), level.into()))
                    .collect()
            };
            let row = |asked: &Asked| json!({ "evaluation": asked.evaluation, "point": point(asked) });
            Json::from(asked.iter().map(row).collect::<Vec<_>>()).to_string()
        }
        PointsFormat::Csv => {
            let named = names.iter().map(|name| csv_cell(&column_name(name)));
            let header: Vec<String> =
                std::iter::once("evaluation".to_owned()).chain(named).chain(["value".to_owned()]).collect();
            let row = |asked: &Asked| {
                let levels: Vec<String> = levels(asked).iter().map(|level| csv_cell(level)).collect();
                format!("{},{},", asked.evaluation, levels.join(","))
            };
            let rows = asked.iter().map(row);
            std::iter::once(header.join(",")).chain(rows).collect::<Vec<_>>().join("\n")
        }
    }
}
