//! `host ask`: the next points for somebody else to evaluate.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use plugin_api::Space;
use serde_json::{Map, Value as Json, json};

use super::{plan_file, print, refuse};
use crate::cli::{AskArguments, Changes, PointsFormat};
use crate::diagnostic::Diagnostic;
use crate::plan::points::column_name;
use crate::plugins::PluginArguments;
use crate::record::{Identity, Lock, PLAN, Place, Prepared, Programs, RunFolder, prepare};
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
    let (changes, allow_changed) = (&arguments.changes, arguments.allow_changed_plugins);
    let (folder, _lock) = match arguments.path.is_dir() {
        true => (arguments.path.clone(), hold(&arguments.path, changes, allow_changed)?),
        false => {
            let Prepared { folder, lock, .. } = begin(arguments)?;
            (folder, lock)
        }
    };
    let mut trial = open(&folder, &changes.plugins, allow_changed).map_err(|diagnostic| vec![diagnostic])?;
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
    let plan = plan_file(&arguments.path, &arguments.changes)?;
    check_trials(plan.trials().count())?;
    let allow_changed = arguments.allow_changed_plugins;
    let programs = Programs { plugins: &arguments.changes.plugins, allow_changed, patience: PATIENCE };
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

fn check_trials(trials: usize) -> Result<(), Vec<Diagnostic>> {
    match trials {
        1 => Ok(()),
        _ => Err(vec![
            Diagnostic::new(format!("this manifest has {trials} trials, and one can be asked"))
                .hint("one method, one seed and no sweep: `--set seeds=1`, `--surrogate NAME`"),
        ]),
    }
}

/// Takes a run's folder that is there. Where it was being made or extended when that was interrupted, that comes to its end
/// first.
pub(super) fn hold(folder: &Path, changes: &Changes, allow_changed: bool) -> Result<Lock, Vec<Diagnostic>> {
    let plan = folder.join(PLAN);
    if !plan.is_file() {
        return Err(vec![
            Diagnostic::new(format!("{} is no run's folder", folder.display()))
                .because(format!("there is no {PLAN} in it"))
                .hint("`host ask MANIFEST` makes one, and names it"),
        ]);
    }
    let whole = Identity::read(folder).is_ok_and(|own| own.is_some_and(|own| own.becoming.is_none()));
    if whole && !allow_changed && !changes.any() {
        return Lock::take_within(folder, PATIENCE).map_err(|diagnostic| vec![diagnostic]);
    }
    let plan = plan_file(&plan, changes)?;
    check_trials(plan.trials().count())?;
    let programs = Programs { plugins: &changes.plugins, allow_changed, patience: PATIENCE };
    let prepared = prepare(&plan, &Place::Folder(folder.to_owned()), None, &programs);
    prepared.map(|prepared| prepared.lock).map_err(|diagnostic| vec![diagnostic])
}

/// Opens the only trial of a run.
pub(super) fn open(
    folder: &Path,
    plugins: &PluginArguments,
    allow_changed: bool,
) -> Result<OpenTrial, Diagnostic> {
    let run = RunFolder::open(folder)?;
    let [id] = &run.trials[..] else {
        return Err(Diagnostic::new(format!("{} has {} trials", folder.display(), run.trials.len()))
            .because("one trial is asked and told, not several"));
    };
    let folder = std::path::absolute(folder)
        .map_err(|error| Diagnostic::new("the current folder is gone").because(error))?;
    OpenTrial::open(&folder, id, plugins, allow_changed).map_err(|error| match error {
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
