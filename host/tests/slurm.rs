//! Trials on a real Slurm: what is cancelled, fails, is killed or stopped, with a scheduler that goes away in the middle; and in
//! the end the same files as of a local run. `.ci/slurm cargo test -p host --test all slurm::` starts one.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::support::{command, journals_in, processes_with};

/// The folder of a running Slurm, where the environment names one.
fn slurm() -> Option<PathBuf> {
    let folder = std::env::var_os("HOST_SLURM").map(PathBuf::from);
    if folder.is_none() {
        eprintln!(
            "skipped: there is no Slurm here; `.ci/slurm cargo test -p host --test all slurm::` starts one"
        );
    }
    folder
}

/// Counts the ones of its point, slowly.
const OBJECTIVE: &str = r#"#!/bin/sh
read hello; echo '{"hello": 1}'
while read line; do
    sleep 0.3
    echo "{\"value\": $(echo "$line" | grep -o '":"on"' | wc -l)}"
done
"#;

const MANIFEST: &str = "\
name: count
seeds: 8
budget: { initial: 3, evaluations: 5 }
surrogate: random
solver: annealing
benchmark:
  use: command
  options:
    run: [./objective.sh]
    variables: { a: [off, on], b: [off, on], c: [off, on], d: [off, on], e: [off, on] }
    sense: maximize
";

/// Two trials a task, four tasks.
const SETTINGS: &str = "partition: all\nscratch: $HOST_SLURM/scratch\ntime: 10m\ntrial-time: 1s\ntask-time: 2s\n\
    prologue: |\n  export SPACE='a b'\nsbatch: ['--comment=it''s \"fine\" # really']\n";

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("objective.sh"), OBJECTIVE).unwrap();
        std::fs::set_permissions(at("objective.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::write(at("count.yaml"), MANIFEST).unwrap();
        std::fs::write(at("slurm.yaml"), SETTINGS).unwrap();
        std::fs::write(at("held.yaml"), SETTINGS.replace("sbatch: [", "sbatch: [--hold, ")).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    /// Where results go: a path that a shell would take apart.
    fn run(&self, id: &str) -> PathBuf {
        self.folder.path().join("it's 100% \"mine\"/count").join(id)
    }

    fn host(&self, arguments: &[&str]) -> Command {
        let mut command = command(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn begin(&self, id: &str, more: &[&str]) -> Command {
        let (manifest, output) = (self.path("count.yaml"), self.path("it's 100% \"mine\""));
        let begin = ["run", &manifest, "--run-id", id, "--output", &output];
        self.host(&[&begin[..], more].concat())
    }

    fn resume(&self, run: &Path, more: &[&str]) -> Command {
        self.host(&[&["run", "--resume", run.to_str().unwrap()], more].concat())
    }

    fn status(&self, run: &Path) -> String {
        text(&self.host(&["status", run.to_str().unwrap()]).output().unwrap())
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn succeeded(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", text(output));
    text(output)
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn run(program: &str, arguments: &[&str]) -> String {
    text(&Command::new(program).args(arguments).output().unwrap())
}

/// The numbers of the jobs that a run was submitted as.
fn jobs(run: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(run.join("cluster/submissions.jsonl")).unwrap_or_default();
    let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    lines
        .filter(|line| line["event"] == "submitted")
        .map(|line| line["job"].as_str().unwrap().to_owned())
        .collect()
}

fn begun(run: &Path, trial: &str) -> bool {
    std::fs::read_to_string(run.join("trials").join(trial).join("journal.jsonl"))
        .is_ok_and(|journal| journal.contains("\"evaluated\""))
}

/// What a report says, without how long anything took.
fn without_times(run: &Path) -> serde_json::Value {
    fn clear(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Object(fields) => {
                // How many predictions a model is asked for depends on the time they take.
                let by_time = ["seconds", "time", "predictions"];
                fields.retain(|key, _| !by_time.iter().any(|word| key.contains(word)));
                fields.values_mut().for_each(clear);
            }
            serde_json::Value::Array(items) => items.iter_mut().for_each(clear),
            _ => {}
        }
    }
    let mut summary = serde_json::from_slice(&std::fs::read(run.join("summary.json")).unwrap()).unwrap();
    clear(&mut summary);
    summary
}

/// Waits for a host to end, but not for ever.
fn finish(mut child: Child) -> Output {
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() && begun.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(50));
    }
    let ended = child.try_wait().unwrap().is_some();
    let _ = child.kill();
    let output = child.wait_with_output().unwrap();
    assert!(ended, "a host did not end:\n{}", text(&output));
    output
}

#[test]
fn after_all_that_can_happen_in_a_queue_the_files_are_those_of_a_local_run() {
    let Some(slurm) = slurm() else { return };
    let place = Place::new();
    let (there, here) = (place.run("cluster"), place.run("local"));

    // Submitted and held: everything waits, and the reason is the scheduler's.
    let (held, settings) = (place.path("held.yaml"), place.path("slurm.yaml"));
    let told = succeeded(
        &place.begin("cluster", &["--executor", "slurm", "--cluster", &held, "--detach"]).output().unwrap(),
    );
    assert!(told.contains("8 trials are in the queue, in 4 tasks") && told.contains("host cancel"), "{told}");
    let status = place.status(&there);
    assert!(status.contains("8 queued, 0 running") && status.contains("queued: JobHeldUser"), "{status}");
    // Nobody runs here what is queued there.
    let refused = place.resume(&there, &[]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
    assert!(text(&refused).contains("in the queue of a cluster"), "{}", text(&refused));

    // A trial that fails: something is in the place of its journal.
    let obstacle = there.join("trials/annealing-seed7/journal.jsonl");
    std::fs::create_dir_all(&obstacle).unwrap();

    // Another host goes on with it, and submits nothing twice.
    let slow = ["--executor", "slurm", "--cluster", &settings];
    let waiting = place.resume(&there, &slow).spawn().unwrap();
    let job = jobs(&there).pop().unwrap();
    run("scontrol", &["release", &job]);
    wait_until("the first trials have begun", || {
        ["annealing-seed1", "annealing-seed3", "annealing-seed5"].iter().all(|trial| begun(&there, trial))
    });
    assert_eq!(jobs(&there).len(), 1, "nothing is submitted twice");
    let status = place.status(&there);
    assert!(status.contains("running on n"), "{status}");

    // One killed on its node, one cancelled, one told to stop in good order; and the scheduler goes away.
    for process in processes_with("--task\x000\0") {
        run("kill", &["-9", &process.to_string()]);
    }
    run("scancel", &[&format!("{job}_1")]);
    run("scancel", &["--batch", "--signal=USR1", &format!("{job}_2")]);
    let controller = std::fs::read_to_string(slurm.join("slurmctld.pid")).unwrap();
    run("kill", &[controller.trim()]);

    let ended = finish(waiting);
    let told = text(&ended);
    assert_eq!(ended.status.code(), Some(1), "{told}");
    assert!(told.contains("was cancelled (CANCELLED"), "{told}");
    assert!(told.contains("trial `annealing-seed7` failed") && told.contains("in the way"), "{told}");
    for trial in ["annealing-seed1", "annealing-seed5"] {
        assert!(
            told.contains(&format!("{trial}: task {job}_")) && told.contains("it goes on from evaluation"),
            "{told}"
        );
    }
    let status = place.status(&there);
    assert!(status.contains("annealing-seed7") && status.contains("failed: "), "{status}");
    assert!(status.contains("was cancelled (CANCELLED"), "{status}");
    assert!(status.contains("0 queued, 0 running, 5 finished, 3 failed"), "{status}");

    // What is missing, and nothing else.
    std::fs::remove_dir(&obstacle).unwrap();
    succeeded(&place.resume(&there, &["--executor", "slurm"]).output().unwrap());
    let last =
        (1..20).map(|number| there.join(format!("cluster/{number}.tasks"))).rfind(|path| path.exists());
    let tasks = std::fs::read_to_string(last.unwrap()).unwrap();
    let mut missing: Vec<&str> = tasks.split_whitespace().collect();
    missing.sort_unstable();
    assert_eq!(missing, ["annealing-seed3", "annealing-seed4", "annealing-seed7"]);

    succeeded(&place.begin("local", &["--jobs", "8"]).output().unwrap());
    assert_eq!(journals_in(&there), journals_in(&here));
    for file in ["plan.yaml", "best.json", "trace.csv"] {
        let read = |run: &Path| std::fs::read_to_string(run.join(file)).unwrap();
        assert_eq!(read(&there), read(&here), "{file}");
    }
    assert_eq!(without_times(&there), without_times(&here));
    let scratch = std::fs::read_dir(slurm.join("scratch")).unwrap().count();
    assert_eq!(scratch, 0, "what has finished leaves nothing on scratch");
}

#[test]
fn ctrl_c_leaves_the_queue_alone_and_cancel_clears_it() {
    if slurm().is_none() {
        return;
    }
    let place = Place::new();
    let (run_folder, held) = (place.run("left"), place.path("held.yaml"));
    let waiting = place.begin("left", &["--executor", "slurm", "--cluster", &held]).spawn().unwrap();
    wait_until("it is submitted", || jobs(&run_folder).len() == 1);
    run("kill", &["-INT", &waiting.id().to_string()]);
    let left = finish(waiting);
    assert_eq!(left.status.code(), Some(1), "{}", text(&left));
    let told = text(&left);
    assert!(told.contains("what is in the queue goes on") && told.contains("host cancel"), "{told}");
    assert!(place.status(&run_folder).contains("8 queued"), "{}", place.status(&run_folder));

    // A host that was killed before it knew the number finds its array by the name.
    let lines = run_folder.join("cluster/submissions.jsonl");
    let text_of = std::fs::read_to_string(&lines).unwrap();
    std::fs::write(&lines, text_of.lines().next().unwrap().to_owned() + "\n{\"event\":\"subm").unwrap();
    let again = place.resume(&run_folder, &["--executor", "slurm", "--detach"]).output().unwrap();
    assert!(succeeded(&again).contains("8 trials are in the queue, in 4 tasks"), "{}", text(&again));
    assert_eq!(jobs_of(&lines).len(), 1);

    let cancelled = place.host(&["cancel", run_folder.to_str().unwrap()]).output().unwrap();
    assert!(succeeded(&cancelled).contains("4 tasks are cancelled"), "{}", text(&cancelled));
    let status = place.status(&run_folder);
    assert!(status.contains("0 queued, 0 running, 0 finished, 8 failed"), "{status}");
    let nothing = place.host(&["cancel", run_folder.to_str().unwrap()]).output().unwrap();
    assert!(succeeded(&nothing).contains("nothing of this run is in the queue"), "{}", text(&nothing));
}

/// As [`jobs`], of a file with a torn line in it.
fn jobs_of(lines: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(lines).unwrap();
    text.lines().filter(|line| line.contains("\"submitted\"")).map(str::to_owned).collect()
}

#[test]
fn what_slurm_refuses_is_told_in_its_words() {
    if slurm().is_none() {
        return;
    }
    let place = Place::new();
    std::fs::write(place.path("wrong.yaml"), "partition: shrot\n").unwrap();
    let wrong = place.path("wrong.yaml");
    let refused = place.begin("refused", &["--executor", "slurm", "--cluster", &wrong]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
    assert!(
        text(&refused).contains("sbatch refused") && text(&refused).contains("shrot"),
        "{}",
        text(&refused)
    );
    assert!(!place.run("refused").join("cluster/1.sh").exists());
}
