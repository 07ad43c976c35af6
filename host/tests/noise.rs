//! A noisy objective: points evaluated several times, the point that is recommended, and the luckiest value beside it.

use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use serde_json::Value as Json;

use crate::support::{events, journals_in, output};

const MANIFEST: &str = "\
name: noisy
seeds: 2
budget: { initial: 5, evaluations: 6 }
evaluation: { repeat: 3 }
recommend: { repeat: 4 }
benchmark: { use: contamination, options: { stages: 8, simulations: 10, samples: fresh } }
surrogate: bayes-linear
solver: annealing
";

fn run(manifest: &str, results: &Path) -> (PathBuf, String) {
    let arguments = ["run", "-", "--quiet", "--run-id", "r", "--output", results.to_str().unwrap()];
    let run = output(&arguments, manifest);
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
    (results.join("noisy/r"), String::from_utf8_lossy(&run.stdout).into_owned())
}

fn resume(folder: &Path, more: &[&str]) {
    let arguments = ["run", "--quiet", "--resume", folder.to_str().unwrap()];
    let run = output(&[&arguments[..], more].concat(), "");
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
}

fn numbers(list: &Json) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
}

fn read(path: &Path) -> Json {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn every_single_value_stands_in_the_journal_and_the_answer_says_which_point_is_which() {
    let _snapshots = snapshots::in_folder("runs");
    let results = tempfile::tempdir().unwrap();
    let (folder, printed) = run(MANIFEST, results.path());
    for journal in journals_in(&folder).values() {
        let events = events(journal);
        let evaluated: Vec<_> = events.iter().filter(|event| event["event"] == "evaluated").collect();
        assert_eq!(evaluated.len(), 11);
        for event in &evaluated {
            let values = numbers(&event["repeats"]);
            assert_eq!(values.len(), 3);
            assert_eq!(event["value"], (values[0] + values[1] + values[2]) / 3.0);
        }
        let different = |event: &&&Json| numbers(&event["repeats"]).windows(2).any(|pair| pair[0] != pair[1]);
        assert!(evaluated.iter().filter(different).count() > 5, "each has a seed of its own");
        let recommended = &events[events.len() - 2];
        assert_eq!((&recommended["event"], &recommended["by"]), (&"recommended".into(), &"model".into()));
        assert_eq!(numbers(&recommended["values"]).len(), 4);
        let points: Vec<_> = events.iter().filter(|event| event["event"] == "evaluating").collect();
        assert!(points.iter().any(|event| event["point"] == recommended["point"]), "one that was evaluated");
    }
    let answer = &printed[printed.find("method ").unwrap()..printed.find("report:").unwrap_or(printed.len())];
    let answer: Vec<&str> = answer.lines().skip_while(|line| !line.starts_with("best point")).collect();
    assert_snapshot!(
        "the answer of a noisy objective",
        answer[..answer.len() - 1].join("\n").replace(results.path().to_str().unwrap(), "[results]")
    );
    assert!(
        printed.contains("luckiest value (mean ± s.e.)") && printed.contains("recommended (mean ± s.e.)"),
        "{printed}"
    );
    let best = &read(&folder.join("best.json"))["best"][0];
    let recommended = &best["recommended"];
    assert_eq!(recommended["evaluations"], 4);
    assert!(recommended["value"].is_number() && recommended["standard_error"].is_number());
    assert!(recommended["point"]["stage-1"].is_string() && best["point"]["stage-1"].is_string());
    let summary = read(&folder.join("summary.json"));
    assert_eq!(summary["methods"][0]["recommended"]["count"], 2, "{summary}");
    let page = std::fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.contains("Recommended: ") && page.contains("Luckiest value: "));
}

#[test]
fn cut_anywhere_it_goes_on_to_the_same_bytes_and_no_value_that_is_kept_is_asked_for_again() {
    let results = tempfile::tempdir().unwrap();
    let (folder, _) = run(MANIFEST, results.path());
    let whole = journals_in(&folder);
    let trial = folder.join("trials/annealing-seed1");
    let (journal, repeats) =
        (&whole["annealing-seed1"], std::fs::read_to_string(trial.join("repeats.jsonl")).unwrap());
    let kept = repeats.lines().count();
    assert_eq!(kept, 11 * 3 + 4);
    let lines: Vec<&str> = journal.split_inclusive('\n').collect();
    // As many single values as a kill would leave: those of the journal's lines, and up to two more.
    for (cut, more) in
        [(lines.len() - 1, 0), (lines.len() - 2, 3), (lines.len() - 2, 1), (6, 2), (7, 0), (2, 1)]
    {
        let evaluated = lines[..cut].iter().filter(|line| line.contains("\"evaluated\"")).count();
        let singles = kept.min(if cut == lines.len() - 1 { kept } else { evaluated * 3 + more });
        let torn = "{\"seed\":12,\"val";
        let some: String = repeats.split_inclusive('\n').take(singles).collect();
        std::fs::write(trial.join("repeats.jsonl"), some + torn).unwrap();
        std::fs::write(trial.join("journal.jsonl"), lines[..cut].concat()).unwrap();
        resume(&folder, &[]);
        assert_eq!(journals_in(&folder), whole, "cut after {cut} lines");
        let now = std::fs::read_to_string(trial.join("repeats.jsonl")).unwrap();
        let now = now.lines().filter(|line| line.ends_with('}')).count();
        assert_eq!(now, kept, "after {cut} lines and {singles} values");
        // The saved state would make the rest of it short.
        let _ = std::fs::remove_file(trial.join("state"));
    }
    // Without the file, and with one that somebody has changed, values are made again, and are the same.
    for changed in [String::new(), repeats.replace("\"value\":", "\"value\":1")] {
        std::fs::write(trial.join("repeats.jsonl"), changed).unwrap();
        std::fs::write(trial.join("journal.jsonl"), lines[..7].concat()).unwrap();
        resume(&folder, &[]);
        assert_eq!(journals_in(&folder), whole);
    }
}

#[test]
fn an_extended_run_recommends_what_one_planned_so_from_the_start_does() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let more = MANIFEST.replace("evaluations: 6", "evaluations: 9");
    let whole = journals_in(&run(&more, one.path()).0);
    let (folder, _) = run(MANIFEST, other.path());
    resume(&folder, &["--set", "budget.evaluations=9"]);
    assert_eq!(journals_in(&folder), whole);
}

#[test]
fn workers_of_a_round_average_too() {
    let results = tempfile::tempdir().unwrap();
    let manifest =
        MANIFEST.replace("evaluations: 6", "evaluations: 6, batch: 3").replace("seeds: 2", "seeds: 1");
    let (folder, _) = run(&manifest, results.path());
    let whole = journals_in(&folder);
    let journal = &whole["annealing-seed1"];
    let evaluated = events(journal).into_iter().filter(|event| event["event"] == "evaluated");
    let means = evaluated.map(|event| (numbers(&event["repeats"]), event["value"].as_f64().unwrap()));
    let means: Vec<_> = means.collect();
    assert_eq!(means.len(), 11);
    assert!(
        means.iter().all(|(values, mean)| values.len() == 3 && values.iter().sum::<f64>() / 3.0 == *mean)
    );
    let path = folder.join("trials/annealing-seed1/journal.jsonl");
    for part in [3, 5, 7, 9] {
        std::fs::write(&path, &journal[..journal.len() * part / 10]).unwrap();
        resume(&folder, &[]);
        assert_eq!(journals_in(&folder), whole, "cut at {part} of 10");
    }
}

#[test]
fn what_has_no_noise_recommends_nothing_and_a_model_that_does_not_predict_leaves_it_to_the_values() {
    let results = tempfile::tempdir().unwrap();
    let fixed =
        MANIFEST.replace("samples: fresh", "samples: fixed").replace("evaluation: { repeat: 3 }\n", "");
    let (folder, printed) = run(&fixed, results.path());
    assert!(journals_in(&folder).values().all(|journal| !journal.contains("recommended")));
    assert!(!printed.contains("recommended") && !printed.contains("luckiest"), "{printed}");
    assert!(!folder.join("trials/annealing-seed1/repeats.jsonl").exists());
    let results = tempfile::tempdir().unwrap();
    let random = MANIFEST.replace("bayes-linear", "random").replace("recommend: { repeat: 4 }\n", "");
    let (folder, _) = run(&random, results.path());
    for journal in journals_in(&folder).values() {
        let events = events(journal);
        let (recommended, finished) = (&events[events.len() - 2], &events[events.len() - 1]);
        assert_eq!((&recommended["by"], &recommended["values"]), (&"values".into(), &Json::Array(vec![])));
        assert_eq!(recommended["mean"], finished["best"], "every point was evaluated once");
    }
}

#[test]
fn mistakes_in_the_keys_are_told_with_their_places() {
    let wrong =
        MANIFEST.replace("repeat: 3", "repeat: 0").replace("{ repeat: 4 }", "{ repeat: many, often: 2 }");
    let planned = output(&["plan", "-"], &wrong);
    let words = String::from_utf8_lossy(&planned.stderr).into_owned();
    assert_eq!(planned.status.code(), Some(2), "{words}");
    assert_eq!(words.matches("error: ").count(), 3, "{words}");
    assert!(words.contains(":4:"), "{words}");
    assert!(words.contains(":5:"), "{words}");
}
