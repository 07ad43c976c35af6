//! A sweep over an option of one method runs the others once.

use std::path::Path;

use insta::assert_snapshot;
use serde_json::Value as Json;

use crate::support::{events, host, journals_in, output};

/// Two axes: one that all methods depend on, and one of a single method.
const SWEPT: &str = "\
name: shared
seeds: 2
budget: { initial: 4, evaluations: 3 }
benchmark: { use: bqp, options: { n: 8 } }
methods:
  psr: { surrogate: bayes-linear, solver: psr }
  annealing: { surrogate: bayes-linear, solver: annealing }
sweep: { penalty.l1: [0, 0.5], methods.psr.solver.options.steps: [2, 5, 9] }
";

fn run(manifest: &str, results: &Path) -> Json {
    let arguments = ["run", "-", "--quiet", "--run-id", "r", "--output", results.to_str().unwrap()];
    let output = output(&arguments, manifest);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&std::fs::read(results.join("shared/r/summary.json")).unwrap()).unwrap()
}

#[test]
fn what_is_the_same_is_planned_once() {
    let _snapshots = snapshots::in_folder("plans");
    let plan = host(&["plan", "-"], SWEPT);
    let trials = plan.find("\ntrial").unwrap();
    assert_snapshot!("trials that are shared", &plan[trials + 1..]);
    assert!(plan.starts_with("# 16 trials;"), "{plan}");
    // The plan is a manifest of the same plan.
    assert_eq!(host(&["plan", "-"], &plan[..trials]), plan);
}

#[test]
fn it_is_run_once_shown_once_and_compared_at_every_value() {
    let results = tempfile::tempdir().unwrap();
    let summary = run(SWEPT, results.path());
    let folder = results.path().join("shared/r");
    let journals = journals_in(&folder);
    assert_eq!(journals.keys().filter(|id| id.starts_with("annealing")).count(), 4);
    assert_eq!(journals.keys().filter(|id| id.starts_with("psr")).count(), 12);
    // Its trials are what they are without the other axis.
    let alone = SWEPT.replace(", methods.psr.solver.options.steps: [2, 5, 9]", "");
    let others = tempfile::tempdir().unwrap();
    run(&alone, others.path());
    let without = journals_in(&others.path().join("shared/r"));
    for (one, other) in [
        ("annealing-sweep1-seed1", "annealing-sweep1-seed1"),
        ("annealing-sweep4-seed2", "annealing-sweep2-seed2"),
    ] {
        let (one, other) = (events(&journals[one]), events(&without[other]));
        assert_eq!(one[1..], other[1..]);
        assert_eq!(one[0]["sweep"], other[0]["sweep"]);
    }

    let methods = summary["methods"].as_array().unwrap();
    let rows = |name: &str| methods.iter().filter(|row| row["method"] == name).count();
    assert_eq!((rows("psr"), rows("annealing")), (6, 2));
    // At each of the six points, the one is compared with the other.
    let comparisons = summary["comparisons"].as_array().unwrap();
    assert_eq!(comparisons.len(), 6);
    for comparison in comparisons {
        assert_eq!((&comparison["first"], &comparison["second"]), (&"psr".into(), &"annealing".into()));
        assert_eq!((comparison["sweep"].as_object().unwrap().len(), &comparison["seeds"]), (2, &2.into()));
    }
    // A row for each evaluation that was made.
    let trace = std::fs::read_to_string(folder.join("trace.csv")).unwrap();
    assert_eq!(trace.lines().count(), 1 + 16 * 7);
    assert!(trace.contains("\nannealing-sweep1-seed1,annealing,0,,1,1,initial,"), "{trace}");
    let page = std::fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.contains("16 of 16 trials finished"));
}

#[test]
fn nothing_is_shared_where_everything_differs() {
    let plan = host(&["plan", "-", "--set", "sweep={penalty.l1: [0, 1, 2]}"], SWEPT);
    assert!(plan.starts_with("# 12 trials;"), "{plan}");
    // Another name is another method, whatever it is made of.
    let plan = host(&["plan", "-", "--set", "methods.annealing.solver=psr", "--set", "sweep=null"], SWEPT);
    assert!(plan.starts_with("# 4 trials;"), "{plan}");
}

#[test]
fn a_value_twice_in_a_sweep_is_refused() {
    let _snapshots = snapshots::in_folder("cli");
    assert_snapshot!(host(&["plan", "-", "--set", "sweep={penalty.l1: [0, 1, 0]}"], SWEPT));
}
