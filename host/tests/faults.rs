//! Objectives that fail in every way: each failure is recorded, and the experiment goes on.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::OnceLock;

use insta::assert_snapshot;
use serde_json::Value as Json;

use crate::support::{self, build_plugin, events, journals_in};

fn plugins() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build_plugin("benchmark-fault", include_str!("data/fault.rs")))
}

/// An experiment whose initial design goes through the whole space.
fn manifest(more: &str) -> String {
    format!(
        "name: faults\nbudget: {{ initial: 40, evaluations: 4 }}\nsurrogate: random\nsolver: annealing\n{more}\n"
    )
}

fn run(manifest: &str, results: &Path, more: &[&str]) -> Output {
    let arguments = ["run", "-", "--run-id", "r", "--output", results.to_str().unwrap(), "--plugin-dir"];
    support::output(&[&arguments[..], &[plugins().to_str().unwrap()], more].concat(), manifest)
}

/// How the evaluations with the first two bits set ended.
fn outcomes(events: &[Json]) -> Vec<String> {
    let mut outcomes: Vec<String> = events
        .windows(2)
        .filter(|pair| {
            pair[0]["event"] == "evaluating" && pair[0]["point"][0] == 1 && pair[0]["point"][1] == 1
        })
        .map(|pair| match pair[1]["reason"].as_str() {
            Some(reason) => format!("{}: {reason}", pair[1]["status"].as_str().unwrap()),
            None => pair[1]["status"].as_str().unwrap().to_owned(),
        })
        .collect();
    outcomes.sort();
    outcomes.dedup();
    outcomes
}

#[test]
fn every_fault_is_recorded_and_the_experiment_finished() {
    let _snapshots = snapshots::in_folder("runs");
    let faults =
        ["none", "error", "panic", "segfault", "abort", "exit", "loop", "memory", "stdout", "orphans"];
    let results = tempfile::tempdir().unwrap();
    let sleep = support::own_seconds();
    let manifest = manifest(&format!(
        "evaluation: {{ timeout: 2s, retries: 0, memory: 700MiB }}\nbenchmark: {{ use: fault, options: {{ sleep: '{sleep}' }} }}\n\
         sweep: {{ benchmark.options.fault: [{}] }}",
        faults.join(", ")
    ));
    // Few evaluations, so that an endless loop costs a few seconds.
    let manifest = manifest.replace("initial: 40", "initial: 8");
    let output = run(&manifest, results.path(), &[]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let journals = journals_in(&results.path().join("faults/r"));
    let mut seen = String::new();
    for (i, fault) in faults.iter().enumerate() {
        let events = events(&journals[&format!("annealing-sweep{}-seed1", i + 1)]);
        assert_eq!(events.last().unwrap()["event"], "finished", "{fault}: {stderr}");
        let points: Vec<&Json> = events
            .iter()
            .filter(|event| event["event"] == "evaluating")
            .map(|event| &event["point"])
            .collect();
        assert_eq!(points.len(), 12, "the budget counts failures: {fault}");
        assert!((0..points.len()).all(|i| !points[..i].contains(&points[i])), "a point came twice: {fault}");
        seen += &format!("{fault}: {}\n", outcomes(&events).join(" | "));
    }
    assert_snapshot!("how each fault is recorded", seen);
    assert!(no_process_mentions(&format!("sleep\0{sleep}\0")), "what a plugin started is still there");
}

#[test]
fn what_works_the_second_time_is_no_failure() {
    let (results, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let benchmark = |fault: &str| {
        let folder = folder.path().display();
        manifest(&format!("benchmark: {{ use: fault, options: {{ fault: {fault}, folder: '{folder}' }} }}"))
    };
    let output = run(&benchmark("flaky"), results.path(), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let journal = &journals_in(&results.path().join("faults/r"))["annealing-seed1"];
    assert_eq!(outcomes(&events(journal)), ["ok"]);
    let incidents = results.path().join("faults/r/trials/annealing-seed1/incidents.jsonl");
    let incidents = support::events(&std::fs::read_to_string(incidents).unwrap());
    assert!(!incidents.is_empty());
    for incident in &incidents {
        assert_eq!(incident["incident"], "died");
        assert_eq!(incident["during"]["step"], "evaluate");
        assert_eq!(incident["reason"], "the trial's process was killed by SIGABRT");
    }
    // But for the faults, it is the journal of an objective that never failed.
    let sound = tempfile::tempdir().unwrap();
    assert!(run(&benchmark("none"), sound.path(), &[]).status.success());
    let sound = &journals_in(&sound.path().join("faults/r"))["annealing-seed1"];
    assert_eq!(events(journal)[1..], events(sound)[1..]);
}

#[test]
fn a_process_that_somebody_kills_has_not_failed_at_its_evaluation() {
    let benchmark = |folder: &Path, kills: usize| {
        let folder = folder.display();
        let options = format!("{{ fault: killed, folder: '{folder}', sleep: '{kills}' }}");
        let manifest = manifest(&format!(
            "evaluation: {{ retries: 0 }}\nbenchmark: {{ use: fault, options: {options} }}"
        ));
        manifest.replace("initial: 40", "initial: 8")
    };
    let (results, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let output = run(&benchmark(folder.path(), 3), results.path(), &[]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("the trial's process was killed from outside by SIGKILL"), "{stderr}");
    let journal = &journals_in(&results.path().join("faults/r"))["annealing-seed1"];
    assert_eq!(outcomes(&events(journal)), ["ok"]);
    let trial = results.path().join("faults/r/trials/annealing-seed1");
    let incidents = support::events(&std::fs::read_to_string(trial.join("incidents.jsonl")).unwrap());
    assert!(incidents.len() >= 3);
    for incident in &incidents {
        assert_eq!((&incident["incident"], &incident["from-outside"]), (&"died".into(), &true.into()));
    }
    // The same objective when nobody kills it has the same journal, but for the option that says so.
    let (sound, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    assert!(run(&benchmark(folder.path(), 0), sound.path(), &[]).status.success());
    let sound = &journals_in(&sound.path().join("faults/r"))["annealing-seed1"];
    assert_eq!(events(journal)[1..], events(sound)[1..]);

    // A machine that kills it every time ends the trial, not the evaluation.
    let (results, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let output = run(&benchmark(folder.path(), 1000), results.path(), &["--quiet"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("killed from outside by SIGKILL, 21 times at the same place"), "{stderr}");
    let journal = &journals_in(&results.path().join("faults/r"))["annealing-seed1"];
    assert_eq!(events(journal).last().unwrap()["event"], "evaluating");
}

#[test]
fn a_value_is_on_disk_before_the_surrogate_is_told_of_it() {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let surrogates =
        BUILT.get_or_init(|| build_plugin("surrogate-stubborn", include_str!("data/stubborn.rs")));
    let manifest = |fault: &str| {
        let surrogate = format!("surrogate: {{ use: stubborn, options: {{ fault: {fault} }} }}");
        manifest("benchmark: fault").replace("surrogate: random", &surrogate)
    };
    let more = ["--quiet", "--plugin-dir", surrogates.to_str().unwrap(), "--step-timeout", "1"];
    for (fault, reason) in [
        ("refuse", "observing a value: not this one"),
        ("abort", "the trial's process was killed by SIGABRT, 3 times at the same place"),
        ("slow", "the surrogate took in no value within 1s, 3 times at the same place"),
    ] {
        let results = tempfile::tempdir().unwrap();
        let mut whole = None;
        for again in [&more[..], &[&more[..], &["--resume"]].concat()] {
            let output = run(&manifest(fault), results.path(), again);
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(1), "{fault}: {stderr}");
            assert!(stderr.contains(reason), "{fault}: {stderr}");
            let journal = journals_in(&results.path().join("faults/r"))["annealing-seed1"].clone();
            let events = events(&journal);
            let values: Vec<_> = events.iter().filter(|event| event["event"] == "evaluated").collect();
            assert_eq!(values.len(), 6, "{fault}");
            assert!(values.iter().all(|event| event["status"] == "ok"), "{fault}: {journal}");
            assert_eq!(*whole.get_or_insert(journal.clone()), journal, "nothing is evaluated again");
        }
        // With a surrogate that takes it, all that was evaluated counts.
        let trial = results.path().join("faults/r/trials/annealing-seed1");
        let incidents = std::fs::read_to_string(trial.join("incidents.jsonl")).unwrap();
        assert_eq!(incidents.contains("\"step\":\"observe\""), fault != "refuse", "{incidents}");
        assert!(!incidents.contains("\"step\":\"evaluate\""), "{incidents}");
    }
}

#[test]
fn times_that_cannot_be_written_cost_nothing_else() {
    let results = tempfile::tempdir().unwrap();
    assert!(run(&manifest("benchmark: fault"), results.path(), &["--quiet"]).status.success());
    let trial = results.path().join("faults/r/trials/annealing-seed1");
    let whole = std::fs::read_to_string(trial.join("journal.jsonl")).unwrap();
    std::fs::write(trial.join("journal.jsonl"), &whole[..whole.len() / 2]).unwrap();
    std::fs::remove_file(trial.join("timing.jsonl")).unwrap();
    std::fs::create_dir(trial.join("timing.jsonl")).unwrap();
    let resumed = run(&manifest("benchmark: fault"), results.path(), &["--quiet", "--resume"]);
    let stderr = String::from_utf8_lossy(&resumed.stderr).into_owned();
    assert!(resumed.status.success(), "{stderr}");
    assert!(stderr.contains("no times are kept: cannot open") && stderr.contains("timing.jsonl"), "{stderr}");
    assert_eq!(std::fs::read_to_string(trial.join("journal.jsonl")).unwrap(), whole);
}

#[test]
fn a_failure_ends_the_trial_where_the_manifest_says_so_and_the_run_where_the_person_does() {
    let _snapshots = snapshots::in_folder("runs");
    let results = tempfile::tempdir().unwrap();
    let manifest = manifest(
        "seeds: 3\nevaluation: { retries: 0, on-failure: stop }\n\
         benchmark: { use: fault, options: { fault: error } }",
    );
    let output = run(&manifest, results.path(), &["--quiet", "--jobs", "1"]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let errors: Vec<&str> =
        stderr.lines().filter(|line| line.starts_with("error") || line.starts_with("  cause")).collect();
    assert_snapshot!("every trial that failed is listed", errors.join("\n"));

    let results = tempfile::tempdir().unwrap();
    let output = run(&manifest, results.path(), &["--quiet", "--jobs", "1", "--fail-fast"]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(stderr.matches("error: trial").count(), 1, "{stderr}");
    assert!(stderr.contains("host run --resume"), "{stderr}");
}

#[test]
fn a_process_that_stops_answering_is_ended_and_told_by_its_reason() {
    let results = tempfile::tempdir().unwrap();
    let manifest =
        manifest("evaluation: { retries: 0 }\nbenchmark: { use: fault, options: { fault: stopped } }")
            .replace("initial: 40", "initial: 8");
    let output = run(&manifest, results.path(), &["--patience", "4"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let journal = &journals_in(&results.path().join("faults/r"))["annealing-seed1"];
    assert_eq!(
        outcomes(&events(journal)),
        ["failed: the trial's process stopped answering for 4s"],
        "{stderr}"
    );
}

#[test]
fn a_solver_that_never_returns_ends_its_own_trial() {
    let _snapshots = snapshots::in_folder("runs");
    let results = tempfile::tempdir().unwrap();
    // 2^40 points.
    let manifest = "name: endless\nbudget: { initial: 2, evaluations: 2 }\n\
        benchmark: { use: labs, options: { n: 40 } }\nmethods:\n  \
        endless: { surrogate: bayes-linear, solver: { use: exhaustive, options: { max-points: 9000000000000000 } } }\n  \
        sound: { surrogate: bayes-linear, solver: annealing }\n";
    let output = run(manifest, results.path(), &["--quiet", "--step-timeout", "1.5"]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let error = stderr.split_once("error: ").expect("an error").1.split("\n\n").next().unwrap();
    assert_snapshot!("a solver that never returns", error);
    let journals = journals_in(&results.path().join("endless/r"));
    assert_eq!(events(&journals["sound-seed1"]).last().unwrap()["event"], "finished");
    assert_eq!(events(&journals["endless-seed1"]).last().unwrap()["event"], "evaluated");
}

#[test]
fn a_folder_that_vanishes_ends_the_trial_with_a_clear_error() {
    let results = tempfile::tempdir().unwrap();
    let trials = results.path().join("faults/r/trials");
    let manifest = manifest(&format!(
        "benchmark: {{ use: fault, options: {{ fault: vanish, folder: '{}' }} }}",
        trials.display()
    ));
    let output = run(&manifest, results.path(), &["--quiet"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("cannot find"), "{stderr}");
    assert!(stderr.contains("journal.jsonl: No such file or directory"), "{stderr}");
}

/// Whether no process has this in its command line.
fn no_process_mentions(words: &str) -> bool {
    support::processes_with(words).is_empty()
}

#[test]
fn a_trial_gives_up_after_ten_failures_and_one_without_a_value_makes_the_exit_code_1() {
    let always =
        manifest("evaluation: { retries: 0 }\nbenchmark: { use: fault, options: { fault: always } }");
    let results = tempfile::tempdir().unwrap();
    let output = run(&always, results.path(), &["--quiet"]);
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert!(
        words.contains("10 evaluations failed in a row, and `evaluation.give-up-after` is 10"),
        "{words}"
    );
    let ended = |results: &Path| {
        let journals = journals_in(&results.join("faults/r"));
        let events = events(&journals["annealing-seed1"]);
        events.iter().filter(|event| event["event"] == "evaluated").count()
    };
    assert_eq!(ended(results.path()), 10);

    let few = always.replace("initial: 40", "initial: 3");
    let results = tempfile::tempdir().unwrap();
    let output = run(&few, results.path(), &["--quiet"]);
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), ended(results.path())), (Some(1), 7), "{words}");
    assert!(words.contains("no evaluation of trial `annealing-seed1` has a value"), "{words}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("annealing: no evaluation has a value"));
    let best = std::fs::read(results.path().join("faults/r/best.json")).unwrap();
    let best: Json = serde_json::from_slice(&best).unwrap();
    assert_eq!((&best["best"][0]["value"], &best["best"][0]["point"]), (&Json::Null, &Json::Null));
}
