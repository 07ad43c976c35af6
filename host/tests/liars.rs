//! Solvers that lie, and shadows that fail: each lie is told in words, none is recorded, and nobody else pays for it.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::OnceLock;

use insta::assert_snapshot;
use serde_json::Value as Json;

use crate::support::{self, build_plugin, events, journals_in};

fn plugins() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build_plugin("solver-liar", include_str!("data/liar.rs")))
}

fn run(manifest: &str, results: &Path) -> Output {
    let arguments =
        ["run", "-", "--quiet", "--run-id", "r", "--output", results.to_str().unwrap(), "--plugin-dir"];
    support::output(&[&arguments[..], &[plugins().to_str().unwrap()]].concat(), manifest)
}

/// A categorical objective, and one method for each lie, followed or as a shadow.
fn manifest(lies: &[&str], method: impl Fn(&str) -> String) -> String {
    let mut manifest = "name: lies\nbudget: { initial: 4, evaluations: 3 }\n\
        benchmark: { use: pest-control, options: { stages: 2, simulations: 10 } }\nmethods:\n"
        .to_owned();
    for lie in lies {
        manifest += &format!("  {lie}: {}\n", method(lie));
    }
    manifest
}

fn liar(lie: &str) -> String {
    format!("{{ use: liar, options: {{ lie: {lie} }} }}")
}

fn proposals(journal: &str) -> Vec<Json> {
    events(journal).into_iter().filter(|event| event["event"] == "proposed").collect()
}

/// Without what differs between trials and runs: widths, times, hashes.
fn table(output: &Output, results: &Path) -> String {
    let mut text = String::from_utf8_lossy(&output.stdout).replace(results.to_str().unwrap(), "[results]");
    for (pattern, replacement) in [("─+", "─"), (r"\d+\.\d+ (µs|ms|s)\b", "[time]"), (" +", " ")] {
        text = regex::Regex::new(pattern).unwrap().replace_all(&text, replacement).into_owned();
    }
    text
}

#[test]
fn every_lie_of_a_followed_solver_is_told_counted_and_not_recorded() {
    let _snapshots = snapshots::in_folder("runs");
    let lies = ["none", "value", "nan", "bound", "nan-bound", "groups"];
    let results = tempfile::tempdir().unwrap();
    let manifest = manifest(&lies, |lie| format!("{{ surrogate: bayes-linear, solver: {} }}", liar(lie)));
    let output = run(&manifest, results.path());
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert_snapshot!("lies in the table", table(&output, results.path()));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let errors = stderr
        .split("error: ")
        .skip(1)
        .map(|error| format!("error: {}", error.split("WARN").next().unwrap()));
    let numbers = regex::Regex::new(r"-?\d+\.\d+").unwrap();
    assert_snapshot!(
        "lies at the end of a run",
        numbers.replace_all(&errors.collect::<String>(), "[number]")
    );
    let journals = journals_in(&results.path().join("lies/r"));
    let mut told = String::new();
    for lie in lies {
        let journal = &journals[&format!("{lie}-seed1")];
        assert_eq!(events(journal).last().unwrap()["event"], "finished", "{lie}");
        for proposed in proposals(journal) {
            let answer = &proposed["answers"][0];
            assert!(answer["value"].is_number(), "{lie}: {answer}");
            assert_eq!(answer["bound"].is_null(), lie != "none", "{lie}: {answer}");
        }
        let first = &proposals(journal)[0]["answers"][0]["flaws"][0];
        let words = first.as_str().unwrap_or("no flaw");
        told += &format!("{lie}: {}\n", numbers.replace_all(words, "[number]"));
    }
    assert_snapshot!("lies in words", told);
    let page = std::fs::read_to_string(results.path().join("lies/r/report.html")).unwrap();
    assert!(page.contains("False answers of solvers"));
    let summary: Json =
        serde_json::from_slice(&std::fs::read(results.path().join("lies/r/summary.json")).unwrap()).unwrap();
    let counts: Vec<_> = summary["methods"]
        .as_array()
        .unwrap()
        .iter()
        .map(|method| method["flawed_answers"].as_u64().unwrap())
        .collect();
    assert_eq!(counts, [0, 3, 3, 3, 3, 3]);
}

#[test]
fn an_answer_of_no_use_fails_the_trial_and_no_other() {
    let _snapshots = snapshots::in_folder("runs");
    let results = tempfile::tempdir().unwrap();
    let manifest =
        manifest(&["length", "none"], |lie| format!("{{ surrogate: bayes-linear, solver: {} }}", liar(lie)));
    let output = run(&manifest, results.path());
    assert_eq!(output.status.code(), Some(1));
    assert_snapshot!("an answer of no use", String::from_utf8_lossy(&output.stderr));
    let journals = journals_in(&results.path().join("lies/r"));
    assert!(journals["none-seed1"].contains("finished"));
}

#[test]
fn a_shadow_that_fails_in_any_way_is_recorded_so_and_costs_nothing() {
    let _snapshots = snapshots::in_folder("runs");
    let lies = ["none", "length", "error", "panic", "segfault", "exit"];
    let results = tempfile::tempdir().unwrap();
    let manifest = manifest(&lies, |lie| {
        format!("{{ surrogate: bayes-linear, solver: annealing, shadows: [{}, exhaustive] }}", liar(lie))
    });
    let output = run(&manifest, results.path());
    let stderr = String::from_utf8_lossy(&output.stderr);
    // A shadow is an extra: where it fails, the experiment is as whole as without it.
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let journals = journals_in(&results.path().join("lies/r"));
    let mut told = String::new();
    // What the followed solver did, without its shadow.
    let followed = |lie: &str| -> Vec<Json> {
        let mut events = events(&journals[&format!("{lie}-seed1")]);
        for event in &mut events {
            if event["event"] == "proposed" {
                event["answers"].as_array_mut().unwrap().remove(1);
            }
        }
        events.split_off(1)
    };
    for lie in lies {
        assert_eq!(followed(lie), followed("none"), "{lie}");
        for proposed in proposals(&journals[&format!("{lie}-seed1")]) {
            assert_eq!(proposed["answers"].as_array().unwrap().len(), 3);
            assert_eq!(proposed["answers"][1]["failure"].is_null(), lie == "none", "{proposed}");
            assert!(proposed["answers"][2]["value"].is_number());
        }
        let first = &proposals(&journals[&format!("{lie}-seed1")])[0]["answers"][1]["failure"];
        told += &format!("{lie}: {}\n", first.as_str().unwrap_or("no failure"));
    }
    let place = regex::Regex::new(r"at [^ ]+liar/src/lib\.rs:\d+").unwrap();
    assert_snapshot!("how a shadow fails", place.replace_all(&told, "at [place]"));
    assert_snapshot!("failed shadows in the table", table(&output, results.path()));
}
