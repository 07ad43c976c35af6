//! Runs the `host` binary beside freshly built plugins, and shows what a person would see.
#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(clippy::unwrap_used, reason = "`unwrap` is for tests, their helpers among them")]

pub(crate) mod chromium;
pub(crate) mod mutate;
pub(crate) mod pieces;
pub(crate) mod recorded;
pub(crate) mod started;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError};

/// The folder of the `host` binary, with every plugin of the workspace in it.
pub(crate) fn program_folder() -> &'static Path {
    static BUILT: Once = Once::new();
    let folder = Path::new(env!("CARGO_BIN_EXE_host")).parent().expect("a binary has a folder");
    // `cargo test` builds no plugin's cdylib; this does, with the same profile, and once it is done costs little. A test is among
    // the targets so that dependencies have the features that tests give them: otherwise everything would be built twice.
    BUILT.call_once(|| {
        let profile = match folder.file_name().and_then(|name| name.to_str()) {
            Some("debug") => "dev",
            Some(other) => other,
            None => panic!("no profile in {}", folder.display()),
        };
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--workspace", "--lib", "--test", "all", "--profile", profile]);
        build.current_dir(workspace());
        let built = build.stdin(Stdio::null()).output().expect("cargo runs");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    });
    folder
}

/// Copies the host, to be started from there. `cp` does it: were the copy open for writing here while another test starts a
/// program, that program would have it open too for a moment, and the copy could not be started.
pub(crate) fn copy_host(to: &Path) {
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_host")).arg(to).status().unwrap();
    assert!(copied.success());
}

/// The root of the workspace.
pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("host is in the workspace").to_owned()
}

/// A `host` command that sees the workspace's plugins only, from the workspace's root.
pub(crate) fn command(arguments: &[&str]) -> Command {
    program_folder();
    let mut command = Command::new(env!("CARGO_BIN_EXE_host"));
    command.args(arguments).current_dir(workspace());
    command.env_remove("HOST_PLUGIN_PATH").env_remove("HOST_LOG").env("XDG_DATA_HOME", "/nowhere");
    command
}

/// Runs `host` with a manifest on its standard input.
pub(crate) fn output(arguments: &[&str], stdin: &str) -> Output {
    let mut command = command(arguments);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("host runs");
    let mut pipe = child.stdin.take().expect("a pipe");
    let text = stdin.to_owned();
    // A host that refuses its arguments does not read its input.
    let writer = std::thread::spawn(move || drop(pipe.write_all(text.as_bytes())));
    let output = child.wait_with_output().expect("host ends");
    writer.join().expect("the writer ends");
    output
}

/// What a person sees: both outputs, and the exit code where it is not 0.
pub(crate) fn host(arguments: &[&str], stdin: &str) -> String {
    let output = output(arguments, stdin);
    let mut seen =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if output.status.code() != Some(0) {
        seen += &format!("[exit code {:?}]\n", output.status.code());
    }
    seen
}

/// A manifest that plans in an instant.
pub(crate) const SMALLEST: &str = "\
name: smallest
budget: { initial: 3, evaluations: 2 }
benchmark: { use: labs, options: { n: 6 } }
surrogate: random
solver: annealing
";

/// Builds a plugin that is this one file, and answers the folder it is in.
pub(crate) fn build_plugin(package: &str, source: &str) -> PathBuf {
    let manifest = format!(
        "[package]\nname = \"{package}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [lib]\ncrate-type = [\"cdylib\"]\n\n\
         [dependencies]\nplugin-api = {{ path = \"../workbench/plugin-api\" }}\n"
    );
    build(package, &manifest, source)
}

/// Builds a crate in a folder of its own; dependencies are those that the boundary's tests compile too.
pub(crate) fn build(name: &str, manifest: &str, source: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("own-plugins").join(name);
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("boundary/target");
    // One at a time, and only what has changed is written: cargo would replace a dylib that another test is loading.
    static BUILDING: Mutex<()> = Mutex::new(());
    let _building = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    let write = |file: &str, text: &str| {
        let file = folder.join(file);
        if std::fs::read_to_string(&file).ok().as_deref() != Some(text) {
            std::fs::write(file, text).unwrap();
        }
    };
    std::fs::create_dir_all(folder.join("src")).unwrap();
    let api = workspace().join("plugin-api");
    let manifest = manifest.replace("../workbench/plugin-api", &api.display().to_string().replace('\\', "/"));
    write("Cargo.toml", &format!("{manifest}\n[workspace]\n"));
    write("src/lib.rs", source);
    std::fs::copy(workspace().join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let mut build = Command::new(env!("CARGO"));
    let built = build
        .args(["build", "--offline", "--target-dir"])
        .arg(&target)
        .current_dir(&folder)
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    target.join("debug")
}

/// The journals of a run, by trial.
pub(crate) fn journals_in(run: &Path) -> BTreeMap<String, String> {
    let trials = std::fs::read_dir(run.join("trials")).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: &Path| std::fs::read_to_string(path.join("journal.jsonl")).unwrap_or_default();
    trials.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), read(&path))).collect()
}

/// The events of a journal, without what chains them.
pub(crate) fn events(journal: &str) -> Vec<serde_json::Value> {
    let event = |line: &str| -> serde_json::Value {
        let mut event: serde_json::Value = serde_json::from_str(line).unwrap();
        event.as_object_mut().unwrap().remove("chain");
        event
    };
    journal.lines().map(event).collect()
}

/// A process and, of these others, the one that it started, the one that this started, and so on. (Their numbers do not tell: after
/// the largest, the system begins again with small ones.)
#[cfg(unix)]
pub(crate) fn line_of(first: u32, others: &[u32]) -> Vec<u32> {
    let mut line = vec![first];
    let next = |line: &[u32]| {
        others
            .iter()
            .copied()
            .find(|other| !line.contains(other) && parent_of(*other) == line.last().copied())
    };
    while let Some(process) = next(&line) {
        line.push(process);
    }
    line
}

#[cfg(target_os = "linux")]
fn parent_of(process: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

#[cfg(all(unix, not(target_os = "linux")))]
fn parent_of(process: u32) -> Option<u32> {
    let told = Command::new("ps").args(["-o", "ppid=", "-p", &process.to_string()]).output().ok()?;
    String::from_utf8_lossy(&told.stdout).trim().parse().ok()
}

/// Seconds that nothing else sleeps for: by them a test finds what its objective has started, among all processes.
pub(crate) fn own_seconds() -> String {
    static TAKEN: AtomicUsize = AtomicUsize::new(0);
    format!("{}{:05}", std::process::id(), TAKEN.fetch_add(1, Ordering::Relaxed))
}

/// The processes that have this in their command line, whose words end with NUL.
#[cfg(target_os = "linux")]
pub(crate) fn processes_with(words: &str) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mentions = |process: &u32| {
        let line = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        *process != std::process::id() && String::from_utf8_lossy(&line).contains(words)
    };
    numbers.filter(mentions).collect()
}

/// On other systems, `ps` tells.
#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) fn processes_with(words: &str) -> Vec<u32> {
    let listed = Command::new("ps").args(["-axo", "pid=,command="]).output().unwrap();
    let words = words.replace('\0', " ");
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    let mentions = text.lines().filter(|line| line.contains(&words));
    mentions.filter_map(|line| line.trim().split(' ').next()?.parse().ok()).collect()
}
