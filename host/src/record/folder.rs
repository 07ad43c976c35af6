//! The folder of a run: made, or found again and held against the plan.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::extend::{extend, settle};
use super::identity::Identity;
use super::journal::JOURNAL;
use super::lock::Lock;
use super::shard_file::{check_size, read_shard, shard_of, write_shard};
use super::spaces::Spaces;
use super::{PLAN, TRIALS, write_trials};
use crate::diagnostic::Diagnostic;
use crate::manifest::is_name;
use crate::plan::{Plan, Shard};
use crate::plugins::PluginArguments;
use crate::{clock, files};

/// Where a run's folder is.
pub enum Place {
    /// A new one, below this folder and the experiment's name; named for the time where it has no name.
    New(PathBuf, Option<String>),
    /// One that is there, below this folder and the experiment's name: this one, or the latest.
    Begun(PathBuf, Option<String>),
    /// This one, which is there.
    Folder(PathBuf),
}

/// Which programs run its trials.
pub struct Programs<'a> {
    /// Where plugins come from.
    pub plugins: &'a PluginArguments,
    /// Whether a run goes on although its plugins have changed since.
    pub allow_changed: bool,
    /// How long to wait for another that holds the run's folder.
    pub patience: Duration,
}

/// A run's folder that no other host has.
pub struct Prepared {
    pub folder: PathBuf,
    pub lock: Lock,
    /// The part of the plan that is run there; `None` where that is all of it.
    pub shard: Option<Shard>,
}

/// Makes the run's folder with the plan and its trials in it, or finds the one to go on with; no other host has it.
///
/// With a `shard`, a new run has that part of the plan; one that is there goes on with its own.
pub fn prepare(
    plan: &Plan,
    place: &Place,
    shard: Option<Shard>,
    programs: &Programs<'_>,
) -> Result<Prepared, Diagnostic> {
    let allow_changed_plugins = programs.allow_changed;
    check_size(plan, shard)?;
    let (folder, resume) = find(plan, place, shard)?;
    if resume {
        let lock = Lock::take_within(&folder, programs.patience)?;
        let shard = shard_of(&folder, shard)?;
        if allow_changed_plugins {
            Identity::mend(&folder, plan)?;
        }
        if let Some(mut identity) = Identity::read(&folder)? {
            identity.changed |= allow_changed_plugins && identity.check_recorded_programs(plan).is_err();
            let mut identity = settle(&folder, identity, plan, shard, programs.plugins)?;
            if identity.plan != plan.hash {
                identity = extend(&folder, identity, plan, shard, programs)?;
            }
            if allow_changed_plugins {
                Identity { changed: identity.changed, ..Identity::of(plan)? }.write(&folder)?;
            } else {
                identity.check_programs(plan)?;
            }
            write_points(&folder, plan)?;
            write_trials(&folder, &plan.part(shard)).map_err(|error| Diagnostic::new(error.to_string()))?;
            Spaces::write(plan, &folder)?;
            return Ok(Prepared { folder, lock, shard });
        }
        // Stopped before its identity was written, a run has begun nothing. Where trials have, it was lost since.
        if let Some(journal) = any_journal(&folder) {
            return Err(Diagnostic::new(format!("{} has no identity.json", folder.display()))
                .because(format!("it belongs to what is recorded there, such as {}", journal.display()))
                .hint(super::identity::WAY_OUT));
        }
        begin(plan, shard, &folder)?;
        return Ok(Prepared { folder, lock, shard });
    }
    if folder.exists() {
        return Err(Diagnostic::new(format!("{} is there already", folder.display()))
            .hint("--resume goes on with it, another --run-id begins a new run"));
    }
    std::fs::create_dir_all(&folder).map_err(|error| cannot("make", &folder, error))?;
    let lock = Lock::take(&folder)?;
    begin(plan, shard, &folder)?;
    Ok(Prepared { folder, lock, shard })
}

/// Writes what a run needs before its first trial. The identity comes last: where it is, all is.
fn begin(plan: &Plan, shard: Option<Shard>, folder: &Path) -> Result<(), Diagnostic> {
    write_shard(folder, shard)?;
    let trials = folder.join(TRIALS);
    std::fs::create_dir_all(&trials).map_err(|error| cannot("make", &trials, error))?;
    write_points(folder, plan)?;
    let path = folder.join(PLAN);
    files::replace(&path, plan.yaml.as_bytes()).map_err(|error| cannot("write", &path, error))?;
    write_trials(folder, &plan.part(shard)).map_err(|error| Diagnostic::new(error.to_string()))?;
    Spaces::write(plan, folder)?;
    Identity::of(plan)?.write(folder)
}

/// Keeps the table of points that the plan names, unless it is there already: a resume needs nothing but the folder.
pub(super) fn write_points(folder: &Path, plan: &Plan) -> Result<(), Diagnostic> {
    let Some(points) = &plan.points else { return Ok(()) };
    let path = folder.join(&points.name);
    if files::read(&path).is_ok_and(|there| there == points.text.as_bytes()) {
        return Ok(());
    }
    files::replace(&path, points.text.as_bytes()).map_err(|error| cannot("write", &path, error))
}

fn any_journal(folder: &Path) -> Option<PathBuf> {
    let trials = std::fs::read_dir(folder.join(TRIALS)).ok()?.flatten();
    trials.map(|trial| trial.path().join(JOURNAL)).find(|journal| journal.exists())
}

/// The folder's path, and whether it is one to go on with.
fn find(plan: &Plan, place: &Place, shard: Option<Shard>) -> Result<(PathBuf, bool), Diagnostic> {
    let (Place::New(output, id) | Place::Begun(output, id)) = place else {
        let Place::Folder(folder) = place else { unreachable!("the others have a name") };
        return Ok((folder.clone(), true));
    };
    let experiment = output.join(&plan.name);
    let resume = matches!(place, Place::Begun(..));
    let id = match id {
        Some(id) if !is_name(id) => {
            return Err(Diagnostic::new(format!("`{id}` cannot be a run id")).hint(
                "a run id names a folder: up to 64 letters, digits, `-`, `_` and `.`, the first one a letter or digit",
            ));
        }
        Some(id) => id.clone(),
        None if resume => latest(&experiment, shard).ok_or_else(|| {
            let what = shard.map_or_else(|| "run".to_owned(), |shard| format!("run with {}", shard.words()));
            Diagnostic::new(format!("there is no {what} to resume in {}", experiment.display()))
                .hint("--output and --run-id name another place")
        })?,
        None => {
            let part = shard.map(|shard| format!("-shard{}of{}", shard.part(), shard.of()));
            let stamp = clock::stamp() + &part.unwrap_or_default();
            // Two runs may begin within a second.
            let mut names = std::iter::once(stamp.clone()).chain((2..).map(|i| format!("{stamp}-{i}")));
            names.find(|name| !experiment.join(name).exists()).expect("there is always another number")
        }
    };
    let folder = experiment.join(id);
    if resume && !folder.is_dir() {
        return Err(Diagnostic::new(format!("there is no run to resume in {}", folder.display()))
            .hint("--output and --run-id name another place"));
    }
    Ok((folder, resume))
}

/// The run begun last, by when its plan was written: not every run is named for its time. With a `shard`, of those that have
/// this part.
fn latest(experiment: &Path, shard: Option<Shard>) -> Option<String> {
    let begun = |entry: std::fs::DirEntry| {
        if shard.is_some() && read_shard(&entry.path()).ok()? != shard {
            return None;
        }
        let written = entry.path().join(PLAN).metadata().and_then(|plan| plan.modified()).ok()?;
        Some((written, entry.file_name().into_string().ok()?))
    };
    std::fs::read_dir(experiment).ok()?.flatten().filter_map(begun).max().map(|(_, name)| name)
}

pub(super) fn cannot(what: &str, path: &Path, error: std::io::Error) -> Diagnostic {
    Diagnostic::new(format!("cannot {what} {}", path.display())).because(error)
}
