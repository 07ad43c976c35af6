//! Programs as objectives, through the real host: shells and Python, in every way that an evaluation can end.

use std::path::Path;
use std::process::Output;

use insta::assert_snapshot;

use crate::support::{self, events, journals_in};

/// A folder with a manifest and a program in it.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new(files: &[(&str, &str)]) -> Self {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Runs the host from another folder than the manifest's.
    fn host(&self, arguments: &[&str]) -> Output {
        support::output(arguments, "")
    }

    fn run(&self, manifest: &str, more: &[&str]) -> Output {
        let (manifest, results) = (self.path().join(manifest), self.path().join("results"));
        let arguments = [
            "run",
            manifest.to_str().unwrap(),
            "--quiet",
            "--run-id",
            "r",
            "--output",
            results.to_str().unwrap(),
        ];
        self.host(&[&arguments[..], more].concat())
    }

    fn journal(&self, name: &str) -> String {
        journals_in(&self.path().join("results").join(name).join("r")).remove("annealing-seed1").unwrap()
    }
}

fn succeeded(output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Counts the ones of its point; it needs the file beside it.
const COUNTING: &str = r#"#!/bin/sh
read hello; echo '{"hello": 1}'
while read line; do
    cat weight.txt >&2
    ones=$(echo "$line" | grep -o '":"on"' | wc -l)
    echo "{\"value\": $ones}"
done
"#;

const COUNT: &str = "\
name: count
budget: { initial: 3, evaluations: 4 }
surrogate: random
solver: annealing
benchmark:
  use: command
  options:
    run: [./count.sh]
    variables: { a: [off, on], b: [off, on], c: [off, on], d: [off, on] }
    sense: maximize
";

#[test]
fn a_program_beside_its_manifest_runs_from_any_folder_and_again_from_its_plan() {
    let place = Place::new(&[("count.sh", COUNTING), ("weight.txt", "one\n"), ("count.yaml", COUNT)]);
    succeeded(&place.run("count.yaml", &[]));
    let journal = place.journal("count");
    let first = events(&journal).into_iter().find(|event| event["event"] == "evaluated").unwrap();
    assert!(first["value"].is_number(), "{first}");
    let trace = std::fs::read_to_string(place.path().join("results/count/r/trace.csv")).unwrap();
    assert!(trace.lines().next().unwrap().ends_with("x.a,x.b,x.c,x.d"), "{trace}");
    assert!(trace.contains(",on") && trace.contains(",off"), "{trace}");
    // The plan is the same experiment, and so is the run that goes on.
    let run = place.path().join("results/count/r");
    let more = ["run", "--resume", run.to_str().unwrap(), "--quiet", "--set", "budget.evaluations=6"];
    succeeded(&place.host(&more));
    let evaluated = |journal: &str| -> Vec<_> {
        events(journal).into_iter().filter(|event| event["event"] == "evaluated").collect()
    };
    assert!(evaluated(&place.journal("count")).starts_with(&evaluated(&journal)));
    let again = tempfile::tempdir().unwrap();
    let (plan, output) = (run.join("plan.yaml"), again.path().to_str().unwrap());
    succeeded(&place.host(&["run", plan.to_str().unwrap(), "--quiet", "--run-id", "r", "--output", output]));
    assert_eq!(journals_in(&again.path().join("count/r"))["annealing-seed1"], place.journal("count"));
}

#[test]
fn a_program_that_has_changed_is_refused_by_a_resume_unless_that_is_allowed() {
    let _snapshots = snapshots::in_folder("cli");
    let manifest = COUNT.replace("[./count.sh]", "[sh, count.sh, weight.txt]");
    let place = Place::new(&[("count.sh", COUNTING), ("weight.txt", "one\n"), ("count.yaml", &manifest)]);
    succeeded(&place.run("count.yaml", &[]));
    let run = place.path().join("results/count/r");
    let identity = || std::fs::read_to_string(run.join("identity.json")).unwrap();
    let recorded: serde_json::Value = serde_json::from_str(&identity()).unwrap();
    let names = recorded["programs"].as_array().unwrap().iter().map(|file| file["name"].as_str().unwrap());
    assert_eq!(names.collect::<Vec<_>>(), ["count.sh"], "and not the shell");
    let more = ["run", "--resume", run.to_str().unwrap(), "--quiet", "--set", "budget.evaluations=5"];
    let same = ["run", "--resume", run.to_str().unwrap(), "--quiet"];
    let trial = ["trial", run.to_str().unwrap(), "annealing-seed1"];
    let write = |name: &str, text: &str| std::fs::write(place.path().join(name), text).unwrap();
    let refused = |arguments: &[&str]| {
        let output = place.host(arguments);
        assert_ne!(output.status.code(), Some(0));
        String::from_utf8_lossy(&output.stderr).replace(place.path().to_str().unwrap(), "[folder]")
    };
    let (before, journal) = (identity(), place.journal("count"));
    // What comes after the script may be a file that trials write to.
    write("weight.txt", "two\n");
    succeeded(&place.host(&trial));
    succeeded(&place.host(&same));
    write("count.sh", &format!("{COUNTING}# Changed.\n"));
    assert_snapshot!("a changed program is refused", refused(&same));
    assert!(refused(&more).contains("`count.sh` has changed since the run was begun"));
    assert!(refused(&trial).contains("`count.sh` has changed since the run was begun"));
    assert_eq!((identity(), place.journal("count")), (before.clone(), journal));
    // A run from before this was recorded goes on as it did.
    let mut old = recorded.clone();
    old.as_object_mut().unwrap().remove("programs");
    std::fs::write(run.join("identity.json"), old.to_string()).unwrap();
    succeeded(&place.host(&same));
    std::fs::write(run.join("identity.json"), &before).unwrap();
    succeeded(&place.host(&[&more[..], &["--allow-changed-plugins"]].concat()));
    assert!(identity().contains("\"changed\": true"), "{}", identity());
    succeeded(&place.host(&same));
}

#[test]
fn parts_that_ran_two_versions_of_a_program_are_told_apart_and_united_only_where_that_is_allowed() {
    let _snapshots = snapshots::in_folder("cli");
    let place = Place::new(&[("count.sh", COUNTING), ("weight.txt", "one\n"), ("count.yaml", COUNT)]);
    let results = place.path().join("results");
    let part = |id: &str, shard: &str| {
        let manifest = place.path().join("count.yaml");
        let output = ["--quiet", "--output", results.to_str().unwrap(), "--run-id", id, "--shard", shard];
        let arguments = ["run", manifest.to_str().unwrap(), "--set", "seeds=2"];
        succeeded(&place.host(&[&arguments[..], &output].concat()));
        results.join("count").join(id).to_str().unwrap().to_owned()
    };
    let one = part("one", "1/2");
    std::fs::write(place.path().join("count.sh"), format!("{COUNTING}# Changed.\n")).unwrap();
    let two = part("two", "2/2");
    let merged = results.join("merged");
    let merge = ["merge", "-o", merged.to_str().unwrap(), &one, &two];
    let refused = place.host(&merge);
    assert_ne!(refused.status.code(), Some(0));
    assert!(!merged.exists());
    let page = place.path().join("page");
    let report = place.host(&["report", &one, &two, "--output", page.to_str().unwrap()]);
    succeeded(&report);
    let report = String::from_utf8_lossy(&report.stdout).into_owned();
    let difference = report.lines().filter(|line| line.contains("what differs") || line.contains("count.sh"));
    let difference = difference.collect::<Vec<_>>().join("\n");
    let seen = format!("{}\n{difference}", String::from_utf8_lossy(&refused.stderr));
    assert_snapshot!("parts of two programs", seen.replace(place.path().to_str().unwrap(), "[folder]"));
    succeeded(&place.host(&[&merge[..], &["--allow-changed-plugins"]].concat()));
    let identity = std::fs::read(merged.join("identity.json")).unwrap();
    let identity: serde_json::Value = serde_json::from_slice(&identity).unwrap();
    assert_eq!(identity["programs"].as_array().unwrap().len(), 2, "{identity}");
}

#[test]
fn every_mistake_about_a_program_is_told_with_its_place_before_anything_runs() {
    let _snapshots = snapshots::in_folder("cli");
    let place = Place::new(&[
        ("says-no.sh", "#!/bin/sh\necho 'no module named torch' >&2\nexit 1\n"),
        ("never-serves.sh", "#!/bin/sh\n"),
        ("prints.sh", "#!/bin/sh\necho loading data\nread line\n"),
        ("bare.sh", "#!/bin/sh\nread line; echo '{\"hello\": 1}'; cat > /dev/null\n"),
    ]);
    let mut told = String::new();
    for options in [
        "{ run: [no-such-program], variables: { a: [1, 2] } }",
        "{ run: [./missing.sh], variables: { a: [1, 2] } }",
        "{ run: [./says-no.sh], variables: { a: [1, 2] } }",
        "{ run: [./never-serves.sh], variables: { a: [1, 2] } }",
        "{ run: [./prints.sh], variables: { a: [1, 2] } }",
        "{ run: [./bare.sh] }",
        "{ run: [echo], mode: once, variables: { a: [1, 2], b: [1, 1] } }",
        "{ run: [echo], mode: once }",
        "{ run: [echo], mode: once, variables: { a: [1, 2] }, ordered: [b] }",
        "{ run: python3 train.py }",
        "{ variables: { a: [1, 2] } }",
    ] {
        let manifest = format!(
            "name: x\nbudget: {{ initial: 1, evaluations: 1 }}\nbenchmark:\n  use: command\n  options: {options}\n"
        );
        std::fs::write(place.path().join("x.yaml"), manifest).unwrap();
        let output = place.host(&["plan", place.path().join("x.yaml").to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(2), "{options}");
        told += &format!("{}\n", String::from_utf8_lossy(&output.stderr));
    }
    let folder = place.path().canonicalize().unwrap();
    assert_snapshot!(
        told.replace(folder.to_str().unwrap(), "[folder]")
            .replace(place.path().to_str().unwrap(), "[folder]")
    );
}

/// Every text that somebody meets whose first script has a mistake in it.
#[test]
fn a_script_in_python_with_a_mistake_is_told_in_words_about_the_script() {
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: there is no `python3` here");
        return;
    }
    let _snapshots = snapshots::in_folder("cli");
    let workbench = include_str!("../../plugin-api/python/workbench.py");
    let place = Place::new(&[("workbench.py", workbench)]);
    let with = |decorator: &str, rest: &str| {
        format!("from workbench import objective\n\n@objective({decorator})\n{rest}")
    };
    let serve = "\nif __name__ == '__main__':\n    f.serve()\n";
    let mut told = String::new();
    for (what, script) in [
        ("no workbench", "import workbenck\n".to_owned()),
        ("wrong sense", with("variables={'a': [0, 1]}, sense='max'", "def f(a):\n    return a\n")),
        ("wrong signature", with("variables={'a': [0, 1]}", "def f(b):\n    return b\n")),
        ("never served", with("variables={'a': [0, 1]}", "def f(a):\n    return a\n")),
        ("no variables", with("", &format!("def f(a):\n    return a\n{serve}"))),
    ] {
        std::fs::write(place.path().join("f.py"), script).unwrap();
        let manifest = "name: x\nbudget: { initial: 1, evaluations: 1 }\nbenchmark: { use: command, options: { run: [python3, -B, f.py] } }\n";
        std::fs::write(place.path().join("x.yaml"), manifest).unwrap();
        let output = place.host(&["plan", place.path().join("x.yaml").to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(2), "{what}");
        told += &format!("# {what}\n{}\n", String::from_utf8_lossy(&output.stderr));
    }
    let folder = place.path().canonicalize().unwrap();
    let told = told.replace(folder.to_str().unwrap(), "[folder]");
    assert_snapshot!(told.replace(place.path().to_str().unwrap(), "[folder]"));
}

#[test]
fn after_failures_it_is_said_that_they_are_spent_and_after_refusals_where_rules_go() {
    let manifest = "name: ways\nbudget: { initial: 3, evaluations: 1 }\nevaluation: { retries: 0, give-up-after: 2 }\n\
        surrogate: random\nsolver: annealing\nbenchmark:\n  use: command\n  options:\n    run: [sh, ways.sh]\n    \
        mode: once\n    variables: { a: [1, 2], b: [1, 2] }\n";
    let told = |script: &str, manifest: &str| {
        let place = Place::new(&[("ways.sh", script), ("ways.yaml", manifest)]);
        let output = place.run("ways.yaml", &[]);
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let spent = "--resume does not repeat them: after a repair, begin a new run";
    let failed = told("exit 3", manifest);
    assert!(failed.contains("2 evaluations failed in a row") && failed.contains(spent), "{failed}");
    let stop = told("exit 3", &manifest.replace("give-up-after: 2", "on-failure: stop"));
    assert!(stop.contains("evaluation 1 failed: ") && stop.contains(spent), "{stop}");
    let infeasible = told("echo infeasible", manifest);
    assert!(
        infeasible.contains("hint: rules that are known beforehand go under `constraints:`"),
        "{infeasible}"
    );
}

#[test]
fn evaluations_end_as_what_they_are() {
    let _snapshots = snapshots::in_folder("runs");
    let sleep = support::own_seconds();
    let script = "#!/bin/sh\ncase $way in\n  value) echo working; echo 1.5 ;;\n  infeasible) echo infeasible: it burns ;;\n  \
        code) echo 'the reagent ran out' >&2; exit 3 ;;\n  words) echo soon ;;\n  slow) echo waiting >&2; sleep SECONDS ;;\nesac\n"
        .replace("SECONDS", &sleep);
    let manifest = "name: ways\nbudget: { initial: 5, evaluations: 1 }\nevaluation: { retries: 0, timeout: 2s }\n\
        surrogate: random\nsolver: annealing\nbenchmark:\n  use: command\n  options:\n    run: [sh, ways.sh]\n    \
        mode: once\n    pass: environment\n    variables: { way: [value, infeasible, code, words, slow] }\n";
    let place = Place::new(&[("ways.sh", script.as_str()), ("ways.yaml", manifest)]);
    succeeded(&place.run("ways.yaml", &[]));
    let mut told: Vec<String> = Vec::new();
    let mut point = String::new();
    for event in events(&place.journal("ways")) {
        match event["event"].as_str().unwrap() {
            "evaluating" => point = event["point"].to_string(),
            "evaluated" => told.push(format!("{point}: {}", event)),
            _ => {}
        }
    }
    told.sort();
    assert_snapshot!(told.join("\n"));
    #[cfg(target_os = "linux")]
    assert!(
        support::processes_with(&format!("sleep\0{sleep}\0")).is_empty(),
        "the whole tree ends with the time"
    );
}

#[test]
fn what_a_program_says_is_in_the_log() {
    let place =
        Place::new(&[("count.sh", COUNTING), ("weight.txt", "the scales say one\n"), ("count.yaml", COUNT)]);
    let output = place.run("count.yaml", &["-v"]);
    succeeded(&output);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("count.sh: the scales say one"), "{said}");
}
