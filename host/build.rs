//! The version that the host shows, `HOST_VERSION`: in release builds from a repository with the commit. And how many of its tests
//! run at once.
//!
//! Builds of tests go without the commit: every commit would compile the host and its tests again.

use std::path::Path;
use std::process::Command;

/// What the host is made of, from the repository's root. What was changed in it is not the commit's any more.
const SOURCES: [&str; 6] =
    ["Cargo.lock", "Cargo.toml", "host/build.rs", "host/src", "host/templates", "plugin-api/src"];

fn main() {
    let version = env!("CARGO_PKG_VERSION");
    let commit = match std::env::var("PROFILE").as_deref() {
        Ok("release") => commit(),
        _ => None,
    };
    let version = commit.map_or(version.to_owned(), |commit| format!("{version} ({commit})"));
    println!("cargo::rustc-env=HOST_VERSION={version}");
    test_threads();
    println!("cargo::rerun-if-changed=build.rs");
}

/// Tests of the host mostly wait for processes and time limits, so twice as many run at once as there are cores. Cargo hands such a
/// variable to the tests too; `cargo test -- --test-threads 1` asks for another number.
fn test_threads() {
    if let Ok(cores) = std::thread::available_parallelism() {
        println!("cargo::rustc-env=RUST_TEST_THREADS={}", 2 * cores.get());
    }
}

/// The commit and its date; none without git, and none in a folder that is part of some other repository.
fn commit() -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?;
    if Path::new(&git(root, &["rev-parse", "--show-toplevel"])?).canonicalize().ok()?
        != root.canonicalize().ok()?
    {
        return None;
    }
    let commit = git(root, &["log", "-1", "--abbrev=12", "--format=%h %cs"])?;
    let changes = git(root, &[&["status", "--porcelain", "--"], &SOURCES[..]].concat())?;
    // The log of HEAD has a new line after each commit and each checkout.
    let log = git(root, &["rev-parse", "--git-path", "logs/HEAD"])?;
    for path in SOURCES.iter().copied().chain([log.as_str()]).map(|path| root.join(path)) {
        // Of a file that is not there, cargo would believe that it has changed each time.
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    Some(if changes.is_empty() { commit } else { format!("{commit}, changed since") })
}

fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).current_dir(folder).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
