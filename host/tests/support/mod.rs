//! Runs the `host` binary beside freshly built plugins, and shows what a person would see.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Once;

/// The folder of the `host` binary, with every plugin of the workspace in it.
pub(crate) fn program_folder() -> &'static Path {
    static BUILT: Once = Once::new();
    let folder = Path::new(env!("CARGO_BIN_EXE_host")).parent().expect("a binary has a folder");
    // `cargo test` builds no plugin's cdylib; this does, with the same profile, and once it is done costs little.
    BUILT.call_once(|| {
        let profile = match folder.file_name().and_then(|name| name.to_str()) {
            Some("debug") => "dev",
            Some(other) => other,
            None => panic!("no profile in {}", folder.display()),
        };
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--workspace", "--lib", "--profile", profile]).current_dir(workspace());
        let built = build.stdin(Stdio::null()).output().expect("cargo runs");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    });
    folder
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
