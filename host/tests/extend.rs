//! A finished run goes on: more evaluations, seeds and methods, to what a run planned so from the start would be.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use insta::assert_snapshot;

use crate::support::{build_plugin, command, host, journals_in, output};

/// Solvers that learn from draw to draw, a shadow, and a model with a state.
const MANIFEST: &str = "\
name: extended
seeds: 2
budget: { initial: 4, evaluations: 5 }
benchmark: { use: ising, options: { rows: 2, columns: 4 } }
methods:
  psr: { surrogate: horseshoe, solver: psr, shadows: [annealing] }
  learned: { surrogate: bayes-linear, solver: learned }
";

const MORE_EVALUATIONS: &[&str] = &["--set", "budget.evaluations=11"];
const MORE_SEEDS: &[&str] = &["--set", "seeds=[1, 2, 7]"];
const MORE_METHODS: &[&str] = &["--set", "methods.tabu={surrogate: random, solver: tabu}"];

/// Runs this manifest from the start.
fn run(manifest: &str, results: &Path, more: &[&str]) -> PathBuf {
    let arguments = ["run", "-", "--quiet", "--run-id", "r", "--output", results.to_str().unwrap()];
    let run = output(&[&arguments[..], more].concat(), manifest);
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
    let last = String::from_utf8_lossy(&run.stdout).trim_end().lines().last().unwrap().to_owned();
    PathBuf::from(last)
}

fn resume(folder: &Path, more: &[&str]) {
    let arguments = ["run", "--quiet", "--resume", folder.to_str().unwrap()];
    let run = output(&[&arguments[..], more].concat(), "");
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
}

/// Everything of a run that follows from its plan: the plan, the identity, and each trial's file and journal.
fn planned(folder: &Path) -> BTreeMap<String, String> {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let mut files: BTreeMap<String, String> =
        ["plan.yaml", "identity.json", "spaces.json"].map(|name| (name.to_owned(), read(name))).into();
    for (id, journal) in journals_in(folder) {
        files.insert(format!("{id}.json"), read(&format!("trials/{id}/trial.json")));
        files.insert(id, journal);
    }
    files
}

#[test]
fn a_manifest_that_asks_for_less_than_an_extended_run_is_told_so() {
    let results = tempfile::tempdir().unwrap();
    let manifest = "name: longer\nbudget: { initial: 2, evaluations: 1 }\nbenchmark: { use: labs, options: { n: 6 } }\n\
        surrogate: random\nsolver: annealing\n";
    let folder = run(manifest, results.path(), &[]);
    resume(&folder, &["--set", "budget.evaluations=2"]);
    let again =
        ["run", "-", "--quiet", "--resume", "--run-id", "r", "--output", results.path().to_str().unwrap()];
    let words = host(&again, manifest);
    assert!(words.contains("r goes further than this manifest"), "{words}");
    assert!(words.contains("goes on with its own plan, and --set extends that"), "{words}");
}

#[test]
fn an_extended_run_is_byte_for_byte_that_of_a_run_planned_so_from_the_start() {
    let all = [MORE_EVALUATIONS, MORE_SEEDS, MORE_METHODS].concat();
    for more in [MORE_EVALUATIONS, MORE_SEEDS, MORE_METHODS, &all] {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let whole = planned(&run(MANIFEST, one.path(), more));
        let folder = run(MANIFEST, other.path(), &[]);
        assert_ne!(planned(&folder), whole);
        resume(&folder, more);
        assert!(planned(&folder) == whole, "{more:?}");
        assert!(host(&["doctor", folder.to_str().unwrap()], "").contains("all of its trials have finished"));
        // Once more, there is nothing left to do; and its plan is its own now.
        resume(&folder, more);
        resume(&folder, &[]);
        assert!(planned(&folder) == whole, "{more:?}");
    }
}

#[test]
fn a_method_joins_the_only_one_of_a_run_whose_keys_stand_at_the_top() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (first, _) = MANIFEST.split_once("methods").unwrap();
    let top = format!("{first}surrogate: random\nsolver: {{ use: annealing, options: {{ sweeps: 50 }} }}\n");
    let both = format!(
        "{first}methods:\n  annealing: {{ surrogate: random, solver: {{ use: annealing, options: {{ sweeps: 50 }} }} }}\n  \
         tabu: {{ surrogate: random, solver: tabu }}\n"
    );
    let whole = planned(&run(&both, one.path(), &[]));
    let folder = run(&top, other.path(), &[]);
    resume(&folder, MORE_METHODS);
    assert!(planned(&folder) == whole);
}

#[test]
fn a_run_that_was_not_finished_is_extended_too_step_by_step_and_by_a_manifest() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let whole = planned(&run(MANIFEST, one.path(), &[MORE_EVALUATIONS, MORE_SEEDS].concat()));
    let folder = run(MANIFEST, other.path(), &[]);
    let journal = folder.join("trials/psr-seed1/journal.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    std::fs::write(&journal, &text[..text.len() * 2 / 3]).unwrap();
    std::fs::remove_file(folder.join("trials/learned-seed2/state")).unwrap();
    resume(&folder, &["--set", "budget.evaluations=8"]);
    let manifest = other.path().join("larger.yaml");
    let larger =
        MANIFEST.replace("evaluations: 5", "evaluations: 11").replace("seeds: 2", "seeds: [1, 2, 7]");
    std::fs::write(&manifest, larger).unwrap();
    resume(&folder, &[manifest.to_str().unwrap()]);
    assert!(planned(&folder) == whole);
}

#[test]
fn nothing_that_is_recorded_is_evaluated_again() {
    let plugins = build_plugin("benchmark-fault", include_str!("data/fault.rs"));
    let results = tempfile::tempdir().unwrap();
    let plugins = ["--plugin-dir", plugins.to_str().unwrap()];
    let manifest = MANIFEST.replace("{ use: ising, options: { rows: 2, columns: 4 } }", "fault");
    let folder = run(&manifest, results.path(), &plugins);
    // The objective says so, each time that it is asked.
    let asked = |more: &[&str]| {
        let arguments = ["run", "-v", "--quiet", "--resume", folder.to_str().unwrap()];
        let run = output(&[&arguments[..], &plugins, more].concat(), "");
        assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
        String::from_utf8_lossy(&run.stderr).matches("a sample arrives").count()
    };
    assert_eq!(asked(MORE_EVALUATIONS), 4 * 6, "six more in each of four trials");
    assert_eq!(asked(MORE_SEEDS), 2 * 15, "one more seed for each method");
    assert_eq!(asked(MORE_METHODS), 3 * 15, "one more method for each seed");
    assert_eq!(asked(&[]), 0);
}

#[test]
fn a_sweep_grows_at_the_end_of_its_first_key() {
    let manifest =
        format!("{MANIFEST}sweep: {{ penalty.l1: [0, 0.1], methods.psr.solver.options.steps: [3, 5] }}\n");
    let longer = ["--set", "sweep={penalty.l1: [0, 0.1, 0.2], methods.psr.solver.options.steps: [3, 5]}"];
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let whole = planned(&run(&manifest, one.path(), &longer));
    let folder = run(&manifest, other.path(), &[]);
    resume(&folder, &longer);
    assert!(planned(&folder) == whole);
}

#[test]
fn what_cannot_be_extended_is_refused_with_the_reason_and_left_as_it_was() {
    let _snapshots = snapshots::in_folder("cli");
    let results = tempfile::tempdir().unwrap();
    let folder = run(MANIFEST, results.path(), &[]);
    let before = planned(&folder);
    let mut seen = String::new();
    for more in [
        &["--set", "benchmark.use=labs", "--set", "benchmark.options=null"][..],
        &["--set", "benchmark.options.rows=3"],
        &["--set", "budget={initial: 6, evaluations: 3}"],
        &["--set", "seeds=[2, 3]"],
        &["--set", "name=another"],
        &["--set", "penalty.l1=0.5", "--set", "evaluation.retries=3", "--set", "relabel=true"],
        &["--set", "methods.psr.solver.options.steps=3"],
        &["--set", "methods.psr.shadows=null"],
        &["--solver", "psr"],
        &["--set", "sweep={penalty.l1: [0, 1]}"],
    ] {
        let arguments = ["run", "--quiet", "--resume", folder.to_str().unwrap()];
        let words = host(&[&arguments[..], more].concat(), "");
        assert!(words.ends_with("[exit code Some(2)]\n"), "{words}");
        seen += &format!("$ host run --resume [folder] {}\n{words}\n", more.join(" "));
    }
    let seen = seen.replace(folder.to_str().unwrap(), "[folder]");
    assert_snapshot!("what cannot be extended", seen);
    assert!(planned(&folder) == before);
    // A journal that is not what was written stops an extension before it changes anything.
    let journal = folder.join("trials/psr-seed2/journal.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    std::fs::write(&journal, text.replacen("\"evaluation\":3", "\"evaluation\":9", 1)).unwrap();
    let before = planned(&folder);
    let words = host(&["run", "--quiet", "--resume", folder.to_str().unwrap(), "--set", "seeds=3"], "");
    assert!(words.contains("psr-seed2/journal.jsonl:") && words.contains("was changed"), "{words}");
    assert!(planned(&folder) == before);
}

#[test]
fn an_extension_that_was_interrupted_anywhere_is_brought_to_its_end() {
    let all = [MORE_EVALUATIONS, MORE_SEEDS, MORE_METHODS].concat();
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let extended = run(MANIFEST, one.path(), &all);
    let (whole, old) = (planned(&extended), run(MANIFEST, other.path(), &[]));
    let before = planned(&old);
    let hash = |files: &BTreeMap<String, String>| {
        let identity: serde_json::Value = serde_json::from_str(&files["identity.json"]).unwrap();
        identity["plan"].as_str().unwrap().to_owned()
    };
    let becoming = {
        let mut identity: serde_json::Value = serde_json::from_str(&whole["identity.json"]).unwrap();
        identity["plan"] = hash(&before).into();
        identity["becoming"] = hash(&whole).into();
        serde_json::to_string_pretty(&identity).unwrap()
    };
    // A journal on its way: the new plan's lines without the end that is none any more.
    let shorter = |id: &str| {
        let lines = before[id].lines().count() - 1;
        whole[id].split_inclusive('\n').take(lines).collect::<String>()
    };
    // How far it came: the identity, then the plan, then the trials' files, then some journals, then all.
    for step in 0..5 {
        let results = tempfile::tempdir().unwrap();
        let folder = run(MANIFEST, results.path(), &[]);
        std::fs::write(folder.join("identity.json"), &becoming).unwrap();
        if step > 0 {
            std::fs::write(folder.join("plan.yaml"), &whole["plan.yaml"]).unwrap();
        }
        for id in before.keys().filter(|name| whole.contains_key(&format!("{name}.json"))) {
            let trial = folder.join("trials").join(id);
            if step > 1 {
                std::fs::write(trial.join("trial.json"), &whole[&format!("{id}.json")]).unwrap();
            }
            if step == 4 || step == 3 && id.starts_with("psr") {
                std::fs::write(trial.join("journal.jsonl"), shorter(id)).unwrap();
            }
        }
        let doctor = host(&["doctor", folder.to_str().unwrap()], "");
        assert!(
            doctor.contains("the run was being extended") && doctor.contains("is whole"),
            "{step}: {doctor}"
        );
        match step {
            // Nothing has changed yet: without the wish, it is the run that it was.
            0 => {
                resume(&folder, &[]);
                assert!(planned(&folder) == before);
                resume(&folder, &all);
            }
            // The wish is in the folder already.
            1 | 3 => resume(&folder, &[]),
            _ => resume(&folder, &all),
        }
        assert!(planned(&folder) == whole, "step {step}");
    }
}

#[test]
fn killed_at_any_moment_an_extension_goes_on_to_the_same_journals() {
    let all = [MORE_EVALUATIONS, MORE_SEEDS, MORE_METHODS].concat();
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let whole = planned(&run(MANIFEST, one.path(), &all));
    let folder = run(MANIFEST, other.path(), &[]);
    let arguments = [&["run", "--quiet", "--resume", folder.to_str().unwrap()], &all[..]].concat();
    for wait in [15, 30, 45, 60, 80, 100, 150, 200, 300] {
        let mut child = command(&arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        let _ = child.kill();
        child.wait().unwrap();
    }
    resume(&folder, &all);
    assert!(planned(&folder) == whole);
}
