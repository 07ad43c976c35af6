//! `host plugins new`: what it makes builds, keeps its contract, and runs as it stands, in each language.

use std::path::{Path, PathBuf};
use std::process::Command;

use insta::assert_snapshot;
use plugin_api::Kind;

use crate::support;

/// Makes a plugin `my-own` in a folder outside of the workspace; answers its folder and what was printed.
fn new(kind: Kind, language: &str, place: &Path) -> (PathBuf, String) {
    let path = place.to_str().unwrap();
    let seen =
        support::host(&["plugins", "new", kind.name(), "my-own", "--lang", language, "--path", path], "");
    (place.join(format!("{kind}-my-own")), seen)
}

/// Runs a command in a folder.
fn ran(folder: &Path, program: &str, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).current_dir(folder).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{program} {arguments:?}:\n{}{said}",
        String::from_utf8_lossy(&output.stdout)
    );
}

/// Checks the built plugin, and runs the manifest that came with it as it stands.
fn keeps_and_runs(folder: &Path, built: Option<&Path>) {
    if let Some(built) = built {
        let output = support::output(&["plugins", "check", built.to_str().unwrap()], "");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let (manifest, results) = (folder.join("my-own.yaml"), folder.join("results"));
    let arguments = [
        "run",
        manifest.to_str().unwrap(),
        "--quiet",
        "--output",
        results.to_str().unwrap(),
        "--run-id",
        "r",
    ];
    let run = support::output(&arguments, "");
    let said = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(0), "{said}");
    assert!(results.join("my-own/r/report.html").is_file());
    let text = std::fs::read_to_string(&manifest).unwrap();
    let schema = text.lines().next().unwrap().strip_prefix("# yaml-language-server: $schema=").unwrap();
    let schema = std::fs::read_to_string(folder.join(schema)).unwrap();
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    let names = schema["properties"].as_object().unwrap();
    let manifest: serde_yaml::Mapping = serde_yaml::from_str(&text).unwrap();
    assert!(manifest.keys().all(|key| names.contains_key(key.as_str().unwrap())));
}

#[test]
fn a_new_plugin_in_rust_builds_keeps_its_contract_and_runs() {
    // The dependencies are those that other tests have compiled here already.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("boundary/target");
    let target_text = target.to_str().unwrap();
    for kind in Kind::ALL {
        let place = tempfile::tempdir().unwrap();
        let (folder, seen) = new(kind, "rust", place.path());
        assert!(seen.contains("cargo build --release"), "{seen}");
        for command in ["build", "test"] {
            ran(&folder, env!("CARGO"), &[command, "--offline", "--quiet", "--target-dir", target_text]);
        }
        let file = kind.file_name("my-own");
        let built = folder.join("target/release").join(&file);
        std::fs::create_dir_all(built.parent().unwrap()).unwrap();
        std::fs::copy(target.join("debug").join(&file), &built).unwrap();
        keeps_and_runs(&folder, Some(&built));
    }
}

#[test]
fn a_new_plugin_in_c_builds_with_the_command_that_is_printed_and_runs() {
    if Command::new("cc").arg("--version").output().is_err() {
        eprintln!("skipped: there is no C compiler `cc` here");
        return;
    }
    for kind in [Kind::Benchmark, Kind::Solver] {
        let place = tempfile::tempdir().unwrap();
        let (folder, seen) = new(kind, "c", place.path());
        let compile = seen.lines().map(str::trim).find(|line| line.starts_with("cc ")).unwrap().to_owned();
        ran(&folder, "sh", &["-c", &compile]);
        keeps_and_runs(&folder, Some(&folder.join(kind.file_name("my-own"))));
    }
}

#[test]
fn a_new_objective_in_python_runs_by_hand_and_by_its_manifest() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: there is no `python3` here");
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let (folder, seen) = new(Kind::Benchmark, "python", place.path());
    let by_hand = seen.lines().map(str::trim).find(|line| line.starts_with("python3 ")).unwrap().to_owned();
    ran(&folder, "sh", &["-c", &by_hand]);
    keeps_and_runs(&folder, None);
}

#[test]
fn what_is_made_is_told_and_nothing_is_overwritten() {
    let _snapshots = snapshots::in_folder("cli");
    let place = tempfile::tempdir().unwrap();
    let text = place.path().to_str().unwrap();
    let mut seen = String::new();
    for arguments in [
        &["benchmark", "knapsack"][..],
        &["benchmark", "knapsack"],
        &["benchmark", "snack", "--lang", "python"],
        &["solver", "descent", "--lang", "c"],
        &["solver", "Descent"],
        &["encoder", "bits", "--lang", "c"],
        &["surrogate", "model", "--lang", "python"],
    ] {
        let words = [&["plugins", "new"], arguments, &["--path", text]].concat();
        seen += &format!("$ host {}\n{}\n", words[..words.len() - 2].join(" "), support::host(&words, ""));
    }
    assert_snapshot!("new plugins", seen.replace(text, "[folder]"));
}
