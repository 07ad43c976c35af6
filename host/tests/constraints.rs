//! Constraints of a manifest: kept by every point of a trial, whatever the encoder; mistakes and contradictions are told
//! before anything runs; the plan is a manifest that is the same experiment.

use insta::assert_snapshot;

use crate::support::{self, events, host, journals_in};

/// Five elements of a placement under rules of every sort.
const MANIFEST: &str = "\
name: ruled
budget: { initial: 6, evaluations: 8 }
initial: { design: DESIGN }
benchmark: { use: placement, options: { rows: 2, columns: 4, elements: 5 } }
encoder: ENCODER
constraints:
  - { fixed: { e1: [r1c1, r1c2] } }
  - { forbid: { e2: r2c1, e3: [r2c2, r2c3] } }
  - { implies: [{ e4: r1c4 }, { e5: r2c4 }] }
  - { at-most: 1, of: [{ e2: [r1c1, r1c2] }, { e3: [r1c1, r1c2] }, { e4: [r1c1, r1c2] }] }
  - { at-most: 10, weights: { e2: { r2c4: 8 }, e3: { r2c4: 8, r1c4: 5.5 }, e4: { r1c3: 5 } } }
surrogate: bayes-linear
solver: tabu
";

fn manifest(encoder: &str, design: &str) -> String {
    MANIFEST.replace("ENCODER", encoder).replace("DESIGN", design)
}

#[test]
fn every_point_of_a_trial_keeps_all_rules_whatever_the_encoder() {
    let results = tempfile::tempdir().unwrap();
    for (i, (encoder, design)) in [
        ("one-hot", "uniform"),
        ("{ use: one-hot, options: { reference: true } }", "balanced"),
        ("ordinal", "uniform"),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("r{i}");
        let output = results.path().to_str().unwrap();
        let arguments = ["run", "-", "--quiet", "--run-id", &id, "--output", output];
        let run = support::output(&arguments, &manifest(encoder, design));
        assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
        let folder = results.path().join("ruled").join(&id);
        // The plan is a manifest that is the same experiment.
        let plan = std::fs::read_to_string(folder.join("plan.yaml")).unwrap();
        let planned = |manifest: &str| host(&["plan", "-", "--json"], manifest);
        assert_eq!(planned(&plan), planned(&manifest(encoder, design)));
        let journals = journals_in(&folder);
        let points: Vec<Vec<u64>> = events(&journals["tabu-seed1"])
            .iter()
            .filter(|event| event["event"] == "evaluating")
            .map(|event| {
                event["point"].as_array().unwrap().iter().map(|level| level.as_u64().unwrap()).collect()
            })
            .collect();
        assert_eq!(points.len(), 14);
        for point in &points {
            let [e1, e2, e3, e4, e5] = point[..] else { panic!("{point:?}") };
            // r1c1 is 0, r1c4 is 3, r2c1 is 4.
            assert!((0..8).all(|place| point.iter().filter(|&&at| at == place).count() <= 1), "{point:?}");
            assert!(e1 <= 1 && !(e2 == 4 && [5, 6].contains(&e3)) && (e4 != 3 || e5 == 7), "{point:?}");
            assert!([e2, e3, e4].iter().filter(|&&at| at <= 1).count() <= 1, "{point:?}");
            let weight = 8.0 * f64::from(u8::from(e2 == 7))
                + if e3 == 7 { 8.0 } else { 5.5 * f64::from(u8::from(e3 == 3)) }
                + 5.0 * f64::from(u8::from(e4 == 2));
            assert!(weight <= 10.0, "{point:?}");
        }
    }
}

#[test]
fn what_is_wrong_with_constraints_is_told_before_anything_runs() {
    let _snapshots = snapshots::in_folder("cli");
    let wrong = manifest("one-hot", "uniform")
        .replace("e1: [r1c1, r1c2]", "e9: [r1c1, r1c2]")
        .replace("{ e4: r1c4 }", "{ e4: r4c4 }")
        .replace("{ at-most: 10,", "{ at-mots: 10,");
    assert_snapshot!("constraints with mistakes", host(&["plan", "-"], &wrong));
    let contradiction = manifest("one-hot", "uniform")
        .replace("{ forbid: { e2: r2c1, e3: [r2c2, r2c3] } }", "{ fixed: { e2: r1c1, e3: r1c2 } }");
    assert_snapshot!("constraints that contradict each other", host(&["plan", "-"], &contradiction));
}
