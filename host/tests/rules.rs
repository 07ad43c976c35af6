//! Rules of an objective: constraints are kept by all points of a trial, a solver that cannot keep them is named before
//! anything runs, and an infeasible point is neither a failure nor tried again.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use insta::assert_snapshot;

use crate::support::{self, build_plugin, events, host, journals_in};

fn plugins() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build_plugin("benchmark-limited", include_str!("data/limited.rs")))
}

fn manifest(options: &str, solver: &str) -> String {
    format!(
        "name: limited\nbudget: {{ initial: 4, evaluations: 20 }}\n\
         benchmark: {{ use: limited, options: {{ {options} }} }}\nsurrogate: bayes-linear\nsolver: {solver}\n"
    )
}

fn planned(manifest: &str) -> String {
    host(&["plan", "-", "--plugin-dir", plugins().to_str().unwrap()], manifest)
}

#[test]
fn a_solver_that_cannot_keep_a_constraint_is_named_before_anything_runs() {
    let _snapshots = snapshots::in_folder("cli");
    let authors = "{ use: sdp, options: { rounding: authors } }";
    assert_snapshot!("a constraint that a solver cannot keep", planned(&manifest("", authors)));
    assert!(planned(&manifest("declared: false", authors)).contains("# 1 trial"));
    assert!(planned(&manifest("", "certified")).contains("# 1 trial"));
}

#[test]
fn a_space_that_is_refused_has_a_place_in_the_manifest() {
    let _snapshots = snapshots::in_folder("cli");
    assert_snapshot!("a space is refused", planned(&manifest("items: 21", "exhaustive")));
}

#[test]
fn every_point_keeps_the_constraint_and_an_infeasible_one_is_recorded_as_that() {
    let results = tempfile::tempdir().unwrap();
    let folders = ["--plugin-dir", plugins().to_str().unwrap(), "--output", results.path().to_str().unwrap()];
    let arguments = [&["run", "-", "--quiet", "--run-id", "r"], &folders[..]].concat();
    let run = support::output(&arguments, &manifest("", "exhaustive"));
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
    let journal = &journals_in(&results.path().join("limited/r"))["exhaustive-seed1"];
    let events = events(journal);
    let points: Vec<u64> = events
        .iter()
        .filter(|event| event["event"] == "evaluating")
        .map(|event| event["point"].as_array().unwrap().iter().map(|level| level.as_u64().unwrap()).sum())
        .collect();
    // All ten pairs, each once; then the trial ends.
    assert_eq!(points, [2; 10]);
    let infeasible: Vec<_> = events.iter().filter(|event| event["status"] == "infeasible").collect();
    assert_eq!(infeasible.len(), 1);
    assert_eq!(infeasible[0]["reason"], "the first two do not go together");
    assert!(!events.iter().any(|event| event["status"] == "failed"));
    assert_eq!(events.last().unwrap()["best"], 4.0);
    let trace = std::fs::read_to_string(results.path().join("limited/r/trace.csv")).unwrap();
    assert_eq!(trace.matches(",infeasible,").count(), 1);
    let table = String::from_utf8_lossy(&run.stdout);
    assert!(table.contains("infeasible") && !table.contains("failed evaluations"), "{table}");
}
