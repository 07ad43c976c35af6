//! What a manifest, a plugin's place or a name may not do.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "`unwrap` is for tests, their helpers among them")]

mod support;

use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;
use support::{SMALLEST, command, host, output};

#[test]
fn a_plugin_that_others_may_write_to_is_refused_unless_somebody_insists() {
    let _snapshots = snapshots::in_folder("cli");
    let folder = tempfile::tempdir().unwrap();
    let name = plugin_api::Kind::Solver.file_name("annealing");
    let file = folder.path().join(&name);
    std::fs::copy(support::program_folder().join(&name), &file).unwrap();
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o777)).unwrap();
    let plugin_dir = ["--plugin-dir", folder.path().to_str().unwrap()];
    let hidden =
        |text: String| text.replace(folder.path().canonicalize().unwrap().to_str().unwrap(), "[plugins]");
    let refused = host(&[&["plan", "-"], &plugin_dir[..]].concat(), SMALLEST);
    assert_snapshot!("an insecure plugin is refused", hidden(refused));
    let listed = output(&[&["plugins", "list"], &plugin_dir[..]].concat(), "");
    let warning = String::from_utf8_lossy(&listed.stderr).into_owned();
    assert!(hidden(warning).starts_with("warning: every user of this machine may write to [plugins]"));
    let insisted = [&["plan", "-", "--allow-insecure-plugins"], &plugin_dir[..]].concat();
    assert!(output(&insisted, SMALLEST).status.success());
}

#[test]
fn a_bare_name_never_means_a_file_in_the_current_folder() {
    let here = tempfile::tempdir().unwrap();
    let file = support::program_folder().join(plugin_api::Kind::Solver.file_name("annealing"));
    std::fs::copy(file, here.path().join(plugin_api::Kind::Solver.file_name("mine"))).unwrap();
    let manifest = here.path().join("m.yaml");
    std::fs::write(&manifest, SMALLEST.replace("solver: annealing", "solver: mine")).unwrap();
    for search in ["", ":", "."] {
        let mut plan = command(&["plan", "m.yaml"]);
        let planned = plan.current_dir(here.path()).env("HOST_PLUGIN_PATH", search).output().unwrap();
        let words = String::from_utf8_lossy(&planned.stderr).into_owned();
        assert_eq!(planned.status.code(), Some(2), "{words}");
        assert!(words.contains("no solver named `mine`"), "{words}");
    }
}

#[test]
fn no_name_leaves_the_results_folder() {
    let top = tempfile::tempdir().unwrap();
    let results = top.path().join("results");
    let long = "x".repeat(300);
    let absolute = top.path().join("elsewhere");
    let names =
        ["../x", "..", ".", "", "a/b", "a\\\\b", "a\\0b", " x", "-x", &long, absolute.to_str().unwrap()];
    for name in names {
        let written = |text: &str| text.replace("NAME", name);
        let as_experiment = SMALLEST.replace("name: smallest", &written("name: \"NAME\""));
        let methods = written("methods: { \"NAME\": { surrogate: random, solver: annealing } }\n");
        let as_method = SMALLEST.replace("surrogate: random\nsolver: annealing\n", &methods);
        for manifest in [&as_experiment, &as_method] {
            let run = output(&["run", "-", "--quiet", "--output", results.to_str().unwrap()], manifest);
            assert_eq!(run.status.code(), Some(2), "{name}: {}", String::from_utf8_lossy(&run.stderr));
        }
        let id = name.replace("\\0", "\u{1}");
        let as_run = format!("--run-id={id}");
        let run = output(&["run", "-", "--quiet", &as_run, "--output", results.to_str().unwrap()], SMALLEST);
        assert_eq!(run.status.code(), Some(2), "{name}: {}", String::from_utf8_lossy(&run.stderr));
    }
    let entries: Vec<_> = std::fs::read_dir(top.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(entries.is_empty(), "{entries:?}");
}

#[test]
fn a_place_that_cannot_be_written_to_is_told_before_anything_runs() {
    // Nobody can make a folder there, not even the administrator.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let run = output(&["run", "-", "--output", file.join("results").to_str().unwrap()], SMALLEST);
    let words = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(2), "{words}");
    assert!(words.contains("cannot make") && words.contains("Not a directory"), "{words}");
}
