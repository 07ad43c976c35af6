//! An experiment that begins with the data that somebody has.

use std::path::{Path, PathBuf};

use insta::assert_snapshot;

use crate::support::{events, host, journals_in, output};

/// Values are what the objective has at these points, but for the first.
const POINTS: &str = "\
x1,x2,x3,x4,x5,x6,value,status,reason
1,1,1,0,1,0,9.5,,
0,1,0,0,1,1,,,
0,0,0,0,0,0,,infeasible,too plain
1,1,1,1,1,1,,failed,spilt
";

const MANIFEST: &str = "\
name: given
seeds: 2
budget: { initial: 6, evaluations: 4 }
initial: { points: data/points.csv }
benchmark: { use: bqp, options: { n: 6 } }
surrogate: bayes-linear
solver: exhaustive
";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(manifest: &str, points: &str) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(folder.path("data")).unwrap();
        std::fs::write(folder.path("data/points.csv"), points).unwrap();
        std::fs::write(folder.path("m.yaml"), manifest).unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, more: &[&str]) -> (bool, String) {
        let (manifest, results) = (self.path("m.yaml"), self.path("results"));
        let arguments = ["run", manifest.to_str().unwrap(), "--output", results.to_str().unwrap(), "--quiet"];
        let ran = output(&[&arguments[..], more].concat(), "");
        (ran.status.success(), String::from_utf8_lossy(&ran.stderr).into_owned())
    }
}

/// The phases, points and values of a journal.
fn evaluations(journal: &str) -> Vec<(String, String, serde_json::Value)> {
    let events = events(journal);
    let begun = events.iter().filter(|event| event["event"] == "evaluating");
    let ended = events.iter().filter(|event| event["event"] == "evaluated");
    let word = |event: &serde_json::Value| event["phase"].as_str().unwrap().to_owned();
    begun
        .zip(ended)
        .map(|(begun, ended)| (word(begun), begun["point"].to_string(), ended["value"].clone()))
        .collect()
}

#[test]
fn known_values_are_not_evaluated_and_a_resume_needs_nothing_but_the_folder() {
    let folder = Folder::new(MANIFEST, POINTS);
    let (done, words) = folder.run(&["--run-id", "r"]);
    assert!(done, "{words}");
    let run = folder.path("results/given/r");
    let journals = journals_in(&run);
    for journal in journals.values() {
        let evaluations = evaluations(journal);
        let phases: Vec<&str> = evaluations.iter().map(|(phase, ..)| phase.as_str()).collect();
        let expected = [&["given"; 3][..], &["initial"; 3], &["search"; 4]].concat();
        assert_eq!(phases, expected);
        // The value is the table's, and not what the objective would have said.
        assert_eq!(evaluations[0].1, "[1,1,1,0,1,0]");
        assert_eq!(evaluations[0].2, 9.5);
        assert_eq!(evaluations[3].1, "[0,1,0,0,1,1]");
        let points: std::collections::BTreeSet<&String> =
            evaluations.iter().map(|(_, point, _)| point).collect();
        assert_eq!(points.len(), 10, "no point is evaluated twice");
    }
    // Killed half-way, with the table gone.
    std::fs::remove_dir_all(folder.path("data")).unwrap();
    let journal = run.join("trials/exhaustive-seed2/journal.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    for part in [3, 2] {
        std::fs::write(&journal, &text[..text.len() / part]).unwrap();
        let _ = std::fs::remove_file(run.join("trials/exhaustive-seed2/state"));
        let resumed = output(&["run", "--resume", run.to_str().unwrap(), "--quiet"], "");
        assert!(resumed.status.success(), "{}", String::from_utf8_lossy(&resumed.stderr));
        assert_eq!(journals_in(&run), journals);
    }
    // More of it has the bytes of a run that was planned so.
    let more = ["run", "--resume", run.to_str().unwrap(), "--quiet", "--set", "budget.evaluations=6"];
    let extended = output(&more, "");
    assert!(extended.status.success(), "{}", String::from_utf8_lossy(&extended.stderr));
    let whole = Folder::new(&MANIFEST.replace("evaluations: 4", "evaluations: 6"), POINTS);
    assert!(whole.run(&["--run-id", "r"]).0);
    assert_eq!(journals_in(&run), journals_in(&whole.path("results/given/r")));
}

#[test]
fn the_tables_of_a_run_are_the_data_of_the_next() {
    let methods = "methods: { a: { surrogate: bayes-linear, solver: exhaustive }, b: { surrogate: random, solver: exhaustive } }\n";
    let manifest =
        MANIFEST.replace("initial: { points: data/points.csv }\n", "").replace("seeds: 2", "seeds: 1");
    let manifest = manifest.replace("surrogate: bayes-linear\nsolver: exhaustive\n", methods);
    let folder = Folder::new(&manifest, POINTS);
    assert!(folder.run(&["--run-id", "first"]).0);
    let first = folder.path("results/given/first");
    let exported = folder.path("exported");
    let words = host(
        &["export", first.to_str().unwrap(), "--format", "csv", "--output", exported.to_str().unwrap()],
        "",
    );
    assert!(exported.join("trace.csv").is_file(), "{words}");
    let known: std::collections::BTreeSet<String> = journals_in(&first)
        .values()
        .flat_map(|journal| evaluations(journal))
        .map(|(_, point, _)| point)
        .collect();
    for table in [first.join("trace.csv"), exported.join("trace.csv")] {
        let set = format!("initial.points={}", table.display());
        let id = format!("after-{}", name(&table));
        let (done, words) = folder.run(&["--set", &set, "--solver", "exhaustive", "--run-id", &id]);
        assert!(done, "{words}");
        let journals = journals_in(&folder.path("results/given").join(id));
        let evaluations = evaluations(&journals["exhaustive-seed1"]);
        let (given, own): (Vec<_>, Vec<_>) = evaluations.iter().partition(|(phase, ..)| phase == "given");
        assert_eq!((given.len(), own.len()), (known.len(), 4), "two trials have some points in common");
        assert!(own.iter().all(|(_, point, _)| !known.contains(point)));
    }
}

fn name(table: &Path) -> &str {
    table.parent().unwrap().file_name().unwrap().to_str().unwrap()
}

#[test]
fn every_mistake_in_a_table_is_told_before_anything_runs() {
    let _snapshots = snapshots::in_folder("cli");
    let wrong = "x1,x2,x3,x4,x5,x6,value\n1,1,1,0,1,2,9.5\n0,1,0,0,1,1,\n0,1,0,0,1,1,\n1,1,1,1,1,1,high\n";
    let folder = Folder::new(MANIFEST, wrong);
    let show = |folder: &Folder| {
        let said = host(&["plan", folder.path("m.yaml").to_str().unwrap()], "");
        said.replace(folder.0.path().to_str().unwrap(), "FOLDER")
    };
    assert_snapshot!("points that are wrong have line and column", show(&folder));
    let twice = Folder::new(MANIFEST, "x1,x2,x3,x4,x5,x6,value\n0,1,0,0,1,1,\n0,1,0,0,1,1,\n");
    assert_snapshot!("a point that stands twice", show(&twice));
    let columns = Folder::new(MANIFEST, "x1,x2,x3,x4,x5,y6,vlaue\n0,1,0,0,1,1,\n");
    assert_snapshot!("columns that are wrong", show(&columns));
    let missing = Folder::new(&MANIFEST.replace("points.csv", "nowhere.csv"), POINTS);
    assert_snapshot!("a table that is missing", show(&missing));
    let swept = Folder::new(&format!("{MANIFEST}sweep: {{ initial.points: [a.csv, b.csv] }}\n"), POINTS);
    assert!(show(&swept).contains("`initial.points` cannot be swept"), "{}", show(&swept));
}
