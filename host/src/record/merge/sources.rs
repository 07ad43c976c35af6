//! The folders that are to become one: do they belong together?

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_yaml::Value;

use super::super::folder::cannot;
use super::super::lock::Reading;
use super::super::session::Session;
use super::super::spaces::SPACES;
use super::super::{Identity, RunFolder};
use super::MergeError;
use crate::diagnostic::Diagnostic;
use crate::files;

/// Folders of one plan; nobody runs them as long as the value lives.
pub(super) struct Sources {
    pub(super) runs: Vec<RunFolder>,
    identity: Identity,
    _reading: Vec<Reading>,
}

impl Sources {
    /// Opens folders, or says of all of them why they cannot be united.
    pub(super) fn open(folders: &[PathBuf], allow_changed_plugins: bool) -> Result<Self, MergeError> {
        let (mut runs, mut reading, mut mistakes) = (Vec::new(), Vec::new(), Vec::new());
        for folder in folders {
            match Reading::begin(folder).and_then(|held| Ok((held, open(folder)?))) {
                Ok((held, run)) => {
                    reading.push(held);
                    runs.push(run);
                }
                Err(mistake) => mistakes.push(mistake),
            }
        }
        if !mistakes.is_empty() {
            return Err(MergeError::Refused(mistakes));
        }
        if let Some(other) = (1..runs.len()).find(|&i| hash(&runs[i]) != hash(&runs[0])) {
            let other = runs.swap_remove(other);
            return Err(MergeError::OtherPlan(Box::new((runs.swap_remove(0), other))));
        }
        let identity = united(&runs, allow_changed_plugins).map_err(MergeError::Refused)?;
        Ok(Self { runs, identity, _reading: reading })
    }

    pub(super) fn plan_hash(&self) -> &str {
        &self.identity.plan
    }

    /// The plan as a manifest. Others may name other folders on other machines; the first one's is taken.
    pub(super) fn plan(&self) -> &str {
        &self.runs[0].plan
    }

    pub(super) fn identity(&self) -> &Identity {
        &self.identity
    }

    /// How many trials the plan has.
    pub(super) fn planned(&self) -> Option<usize> {
        // A part knows how many the whole plan has from its identity alone.
        self.identity.trials.or_else(|| self.runs.iter().find(|run| run.shard.is_none())?.planned)
    }

    /// The parts that none of them has, where they are parts of the same number.
    pub(super) fn absent_parts(&self) -> Option<String> {
        let shards: Option<Vec<_>> = self.runs.iter().map(|run| run.shard).collect();
        let shards = shards?;
        let of = shards.first()?.of();
        if shards.iter().any(|shard| shard.of() != of) {
            return None;
        }
        let there: BTreeSet<usize> = shards.iter().map(|shard| shard.part()).collect();
        let absent: Vec<String> =
            (1..=of).filter(|part| !there.contains(part)).map(|part| part.to_string()).collect();
        (!absent.is_empty()).then(|| format!("{} of {of}", absent.join(", ")))
    }

    /// All their sessions, by when they began.
    pub(super) fn sessions(&self) -> Vec<Session> {
        let mut sessions: Vec<Session> = self.runs.iter().flat_map(|run| run.sessions.clone()).collect();
        sessions.sort_by(|one, other| one.began.cmp(&other.began));
        // A folder that is there twice, or was merged before.
        sessions.dedup();
        sessions
    }

    /// The names of variables and the table of points, which are the same in all of them.
    pub(super) fn shared_files(&self) -> Result<Vec<(String, Vec<u8>)>, Diagnostic> {
        let names = std::iter::once(SPACES.to_owned()).chain(points_table(self.plan()));
        let mut found = BTreeMap::new();
        for name in names {
            for run in &self.runs {
                let path = run.path.join(&name);
                let bytes = match files::read(&path) {
                    Ok(bytes) => bytes,
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                    Err(error) => return Err(cannot("read", &path, error)),
                };
                let (first, known) =
                    found.entry(name.clone()).or_insert_with(|| (path.clone(), bytes.clone()));
                if *known != bytes {
                    return Err(Diagnostic::new(format!(
                        "{} is another than {}",
                        path.display(),
                        first.display()
                    ))
                    .because("it follows from the plan and its plugins, and both are the same")
                    .hint("put it back from a copy"));
                }
            }
        }
        Ok(found.into_iter().map(|(name, (_, bytes))| (name, bytes)).collect())
    }
}

/// The name of the table of points that a plan begins with; it is in the run's folder.
fn points_table(plan: &str) -> Option<String> {
    let tree: Value = serde_yaml::from_str(plan).ok()?;
    let name = tree.get("initial")?.get("points")?.as_str()?;
    (Path::new(name).file_name()?.to_str() == Some(name)).then(|| name.to_owned())
}

fn hash(run: &RunFolder) -> Option<&str> {
    run.identity.as_ref().map(|identity| identity.plan.as_str())
}

/// A run that has begun, and is not about to become another.
fn open(folder: &Path) -> Result<RunFolder, Diagnostic> {
    let run = RunFolder::open(folder)?;
    let place = folder.display();
    match &run.identity {
        None => Err(Diagnostic::new(format!("{place} has no identity.json"))
            .because("without it nobody knows which plan and which plugins were run")
            .hint(format!(
                "`host doctor {place}` says what is there; a run that never began has nothing to unite"
            ))),
        Some(identity) if identity.becoming.is_some() => {
            Err(Diagnostic::new(format!("{place} was being extended when it was interrupted"))
                .hint(format!("`host run --resume {place}` brings that to its end")))
        }
        Some(_) => Ok(run),
    }
}

/// What was run in all of them: one plan, by the same programs unless others are allowed.
fn united(runs: &[RunFolder], allow_changed_plugins: bool) -> Result<Identity, Vec<Diagnostic>> {
    let mut identities = runs.iter().filter_map(|run| Some((run, run.identity.as_ref()?)));
    let Some((first, identity)) = identities.next() else { return Err(Vec::new()) };
    let mut united = identity.clone();
    let mut mistakes = Vec::new();
    let mut differs = |what: String, there: &RunFolder, cause: String| {
        let hint = "the same programs give the same journals; --allow-changed-plugins takes what each of them has recorded";
        let (one, other) = (first.path.display(), there.path.display());
        mistakes
            .push(Diagnostic::new(format!("{what} of {one} and {other} differ")).because(cause).hint(hint));
    };
    for (run, other) in identities {
        if other.host != identity.host {
            let cause = format!("they were begun by host {} and host {}", identity.host, other.host);
            differs("the versions of this program".to_owned(), run, cause);
        }
        united.trials = united.trials.or(other.trials);
        for file in &other.plugins {
            let own =
                |known: &&super::super::PluginFile| (&known.kind, &known.name) == (&file.kind, &file.name);
            if united.plugins.iter().filter(own).any(|known| known.sha256 == file.sha256) {
                continue;
            }
            if let Some(known) = identity.plugins.iter().find(own) {
                let cause = match known.version == file.version {
                    true => format!("both are of version {}, built apart", file.version),
                    false => format!("they are of versions {} and {}", known.version, file.version),
                };
                differs(format!("the files of the {} `{}`", file.kind, file.name), run, cause);
            }
            // All of them are what was run; a resume takes any.
            united.plugins.push(file.clone());
        }
        for file in &other.programs {
            if united.programs.contains(file) {
                continue;
            }
            if identity.programs.iter().any(|known| known.name == file.name) {
                let cause = "it is the program of the objective, and its content is another".to_owned();
                differs(format!("the files `{}`", file.name), run, cause);
            }
            united.programs.push(file.clone());
        }
    }
    if mistakes.is_empty() || allow_changed_plugins { Ok(united) } else { Err(mistakes) }
}
