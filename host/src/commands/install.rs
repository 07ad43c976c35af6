//! `host plugins install`: built plugins into the user's own folder, where the host finds them wherever it is started.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use plugin_api::Kind;

use super::Printed;
use crate::cli::InstallArguments;
use crate::diagnostic::{Diagnostic, Place};
use crate::files::{self, Folder};
use crate::plugins::PluginArguments;
use crate::plugins::locate::{FileError, Folders, searched, user_folder};

/// A plugin that was loaded, and so is one.
struct Candidate {
    name: String,
    file_name: String,
    /// The bytes that were loaded.
    file: &'static File,
}

/// What became of a plugin's file.
#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    New,
    Replaced,
    Unchanged,
}

/// Everything is loaded first, so that a mistake leaves all as it was.
pub(super) fn install(arguments: &InstallArguments) -> Printed {
    let mut candidates: BTreeMap<Kind, Vec<Candidate>> = BTreeMap::new();
    let mut mistakes = Vec::new();
    for path in &arguments.paths {
        let found = files_of(path).unwrap_or_else(|mistake| {
            mistakes.push(mistake);
            Vec::new()
        });
        for (kind, path) in found {
            match candidate(kind, &path, arguments.allow_insecure) {
                Ok(candidate) => candidates.entry(kind).or_default().push(candidate),
                Err(mistake) => mistakes.push(mistake),
            }
        }
    }
    let Some(folder) = user_folder() else {
        mistakes.push(
            Diagnostic::new("there is no folder for a user's own plugins")
                .because("neither XDG_DATA_HOME nor HOME names an absolute folder"),
        );
        return Err(mistakes);
    };
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let outcomes = copy_all(candidates.values().flatten(), &folder).map_err(|error| {
        let message = format!("cannot write plugins to {}", folder.display());
        vec![
            Diagnostic::new(message)
                .because(error)
                .hint("what was copied before is whole; give the command again"),
        ]
    })?;
    Ok(words(&folder, &candidates, &outcomes))
}

/// The file itself, or the files in a folder that are called as plugins are.
fn files_of(path: &Path) -> Result<Vec<(Kind, PathBuf)>, Diagnostic> {
    let place = Some(Place::Argument(path.display().to_string()));
    let wrong = |message: &str| Diagnostic { place: place.clone(), ..Diagnostic::new(message) };
    let is_folder = path.metadata().map_err(|error| wrong("cannot be read").because(error))?.is_dir();
    if is_folder {
        let found = Folders::only(path).all();
        return match found.is_empty() {
            false => Ok(found),
            true => Err(wrong("there is no plugin in this folder")
                .hint("`cargo build --release` in a checkout builds all of them, in target/release")),
        };
    }
    let name = path.file_name().and_then(|name| name.to_str()).and_then(Kind::of_file_name);
    let (kind, _) = name.ok_or_else(|| {
        let example = Kind::Benchmark.file_name("NAME");
        wrong("this file does not have the name of a plugin")
            .hint(format!("an objective's file is {example}"))
    })?;
    Ok(vec![(kind, path.to_owned())])
}

fn candidate(kind: Kind, path: &Path, allow_insecure: bool) -> Result<Candidate, Diagnostic> {
    let folders = Folders::of(&PluginArguments { allow_insecure, ..PluginArguments::default() }, &[]);
    let refused = || Diagnostic {
        place: Some(Place::Argument(path.display().to_string())),
        ..Diagnostic::new("this plugin cannot be installed")
    };
    let (plugin, file) = folders.open(kind, path).map_err(|error| match &error {
        FileError::Insecure(_) => refused()
            .because(&error)
            .hint("`chmod go-w` on it, or --allow-insecure-plugins where you trust who may write there"),
        FileError::Load(_) => refused().because(&error),
    })?;
    let name = plugin.description().name.clone();
    let file_name = kind.file_name(&name);
    if path.file_name().is_none_or(|found| found != file_name.as_str()) {
        return Err(refused().because(format!("the {kind} in it is `{name}`, which belongs in {file_name}")));
    }
    Ok(Candidate { name, file_name, file })
}

fn copy_all<'a>(candidates: impl Iterator<Item = &'a Candidate>, path: &Path) -> io::Result<Vec<Outcome>> {
    make(path)?;
    let folder = Folder::open(path)?;
    folder.clear();
    candidates.map(|candidate| copy(candidate, &folder)).collect()
}

/// Makes the folder, for this user to write to and nobody else: from another one the host would load nothing.
fn make(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o755);
    builder.create(path)
}

fn copy(candidate: &Candidate, folder: &Folder) -> io::Result<Outcome> {
    let (file_name, mut file) = (&candidate.file_name, candidate.file);
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    let old = match folder.check(file_name)? {
        true => Some(files::read(&folder.path().join(file_name))?),
        false => None,
    };
    if old.as_ref() == Some(&bytes) {
        return Ok(Outcome::Unchanged);
    }
    folder.replace_with(file_name, |file| {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            file.set_permissions(std::fs::Permissions::from_mode(0o644))?;
        }
        file.write_all(&bytes)
    })?;
    Ok(if old.is_some() { Outcome::Replaced } else { Outcome::New })
}

fn words(folder: &Path, candidates: &BTreeMap<Kind, Vec<Candidate>>, outcomes: &[Outcome]) -> String {
    let count = |outcome| outcomes.iter().filter(|found| **found == outcome).count();
    let (new, replaced) = (count(Outcome::New), count(Outcome::Replaced));
    let unchanged = count(Outcome::Unchanged);
    let mut lines = vec![format!(
        "plugins in {}: {new} new, {replaced} replaced, {unchanged} unchanged",
        folder.display()
    )];
    for (kind, of_kind) in candidates {
        let names: Vec<&str> = of_kind.iter().map(|candidate| candidate.name.as_str()).collect();
        lines.push(format!("  {kind}s: {}", names.join(", ")));
    }
    // Folders that are searched before the user's own.
    let before = searched(&PluginArguments::default(), &[]);
    let before = before.iter().map(|(_, path)| path).take_while(|path| *path != folder);
    for path in before {
        let there = |candidate: &&Candidate| path.join(&candidate.file_name).is_file();
        let names: Vec<String> =
            candidates.values().flatten().filter(there).map(|found| format!("`{}`", found.name)).collect();
        if !names.is_empty() {
            lines.push(format!("note: used instead, from {}: {}", path.display(), names.join(", ")));
        }
    }
    lines.join("\n")
}
