//! `host doctor` without a folder: versions, plugins found and refused, cores, disk, and whether results can be written.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use plugin_api::Kind;
use plugin_api::load::{API_VERSION, Description};

use super::print;
use crate::cli::DoctorArguments;
use crate::diagnostic::Diagnostic;
use crate::plugins::describe;
use crate::plugins::locate::{FileError, Folders, searched};
use crate::record::{FORMAT, try_folder};
use crate::text::columns;

pub(super) fn look(arguments: &DoctorArguments) -> ExitCode {
    let (found, refused) = describe::find(&Folders::of(&arguments.plugins, &[]));
    let results = Results::of(&arguments.output);
    let paragraphs = [
        versions(),
        folders(arguments, &found),
        plugins(&found),
        refused_words(&refused),
        results.words(),
        match (found.is_empty(), refused.is_empty(), results.tried.is_ok()) {
            (false, true, true) => "all is well".to_owned(),
            (true, true, _) => "there are no plugins: `host plugins install DIR` copies built ones to where this program finds them; \
                           --plugin-dir names another folder"
                .to_owned(),
            (_, false, _) => "not all is well: plugins are refused".to_owned(),
            (.., false) => "not all is well: results cannot be written there, --output names another place".to_owned(),
        },
    ];
    let paragraphs: Vec<&str> =
        paragraphs.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
    let printed = print(&paragraphs.join("\n\n"));
    let well = !found.is_empty() && refused.is_empty() && results.tried.is_ok();
    if well { printed } else { ExitCode::FAILURE }
}

fn versions() -> String {
    let version = env!("HOST_VERSION");
    let cores = match std::thread::available_parallelism() {
        Ok(cores) if cores.get() == 1 => "1 core".to_owned(),
        Ok(cores) => format!("{cores} cores"),
        Err(error) => format!("cores cannot be counted: {error}"),
    };
    let (system, machine) = (std::env::consts::OS, std::env::consts::ARCH);
    format!(
        "host {version}, plugin-api {API_VERSION}, folders of runs in format {FORMAT}\n{system} on {machine}, {cores}"
    )
}

/// Where plugins are looked for, and how many of those that are used were found there.
fn folders(arguments: &DoctorArguments, found: &[Description]) -> String {
    let header = ["plugins are looked for in", "because of", "found"].map(str::to_owned);
    let count = |folder: &Path| {
        let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let there = |plugin: &&Description| plugin.path.parent().is_some_and(|at| at == folder || at == real);
        found.iter().filter(there).count()
    };
    let row = |(who, folder): (&str, PathBuf)| {
        let found = match folder.is_dir() {
            true => count(&folder).to_string(),
            false => "no such folder".to_owned(),
        };
        vec![folder.display().to_string(), who.to_owned(), found]
    };
    let rows: Vec<Vec<String>> = searched(&arguments.plugins, &[]).into_iter().map(row).collect();
    columns(&header, &rows)
}

/// The plugins that are used, each with its version.
fn plugins(found: &[Description]) -> String {
    let line = |kind: Kind| {
        let word = |plugin: &Description| format!("{} {}", plugin.name, plugin.version);
        let words: Vec<String> = found.iter().filter(|plugin| plugin.kind == kind).map(word).collect();
        (!words.is_empty()).then(|| format!("{kind}s: {}", words.join(", ")))
    };
    Kind::ALL.into_iter().filter_map(line).collect::<Vec<_>>().join("\n")
}

fn refused_words(refused: &[FileError]) -> String {
    let hint = |error: &FileError| match error {
        FileError::Insecure(_) => {
            "\n  hint: `chmod go-w` on it, or --allow-insecure-plugins where you trust who may write there"
        }
        FileError::Load(_) => "",
    };
    refused.iter().map(|error| format!("refused: {error}{}", hint(error))).collect::<Vec<_>>().join("\n")
}

/// The folder of results, or where it would be made.
struct Results {
    folder: PathBuf,
    /// The folder itself, or the nearest above it that is there.
    there: PathBuf,
    /// Whether files in it can be locked; or why nothing can be written.
    tried: Result<bool, Diagnostic>,
}

impl Results {
    fn of(folder: &Path) -> Self {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let there = folder.ancestors().find(|folder| folder.exists()).unwrap_or(&folder).to_owned();
        Self { tried: try_folder(&there), there, folder }
    }

    fn words(&self) -> String {
        let made = if self.there == self.folder { "" } else { " (not there yet, a run makes it)" };
        let tried = match &self.tried {
            Ok(true) => "can be written and locked".to_owned(),
            Ok(false) => {
                "can be written, but this file system has no locks: run one host at a time there".to_owned()
            }
            Err(error) => error.to_string(),
        };
        let free = free(&self.there).map(|gigabytes| format!(", {gigabytes:.1} GB free")).unwrap_or_default();
        format!("results go to {}{made}{free}\n  {}", self.folder.display(), tried.replace('\n', "\n  "))
    }
}

/// How many gigabytes of a folder's disk are free for this user.
#[cfg(unix)]
fn free(folder: &Path) -> Option<f64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail as f64 * disk.f_frsize as f64 / 1e9)
}

#[cfg(not(unix))]
fn free(_: &Path) -> Option<f64> {
    None
}
