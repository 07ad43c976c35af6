//! The Slurm executor where the scheduler is full, silent, wrong or not there: stand-ins for its programs play that. What a real
//! one does is in `slurm.rs`.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Output, Stdio};

use insta::assert_snapshot;

use crate::support::{SMALLEST, command, host};

/// A folder with a manifest, settings, and programs that are found before all others.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    /// `programs` are the bodies of shell scripts; `$calls` names a file that counts.
    fn new(programs: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let programs_folder = folder.path().join("bin");
        std::fs::create_dir(&programs_folder).unwrap();
        for (name, body) in programs {
            let path = programs_folder.join(name);
            let calls = folder.path().join(format!("{name}.calls"));
            let text = format!("#!/bin/sh\ncalls='{}'\necho \"$@\" >> \"$calls\"\n{body}\n", calls.display());
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        std::fs::write(folder.path().join("m.yaml"), format!("{SMALLEST}seeds: 8\n")).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn calls(&self, program: &str) -> usize {
        std::fs::read_to_string(self.path(&format!("{program}.calls"))).unwrap_or_default().lines().count()
    }

    fn submit(&self, more: &[&str]) -> Output {
        let (manifest, results) = (self.path("m.yaml"), self.path("results"));
        let begin =
            ["run", manifest.to_str().unwrap(), "--output", results.to_str().unwrap(), "--run-id", "r"];
        let mut command = command(&[&begin[..], &["--executor", "slurm"], more].concat());
        let path = format!("{}:/usr/bin:/bin", self.path("bin").display());
        command.env("PATH", path).stdin(Stdio::null()).output().unwrap()
    }

    fn run(&self) -> PathBuf {
        self.path("results/smallest/r")
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Takes no more than this many tasks an array, and three tasks in all.
const FULL: &str = r#"
tasks=$(sed -n 's/^#SBATCH --array=0-\([0-9]*\).*/\1/p' "$2")
if [ "$tasks" -gt 2 ] || [ -e "$calls.taken" ]; then
    echo 'sbatch: error: AssocMaxSubmitJobLimit' >&2
    echo 'sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit)' >&2
    exit 1
fi
touch "$calls.taken"; echo 17
"#;

const CONFIG: &str = "echo 'MaxArraySize            = 1001'";

#[test]
fn a_full_queue_takes_what_it_takes_and_the_rest_is_for_later() {
    let listed = "printf '17|%s|PENDING||Resources|x\\n' 0 1 2";
    let place = Place::new(&[("sbatch", FULL), ("scontrol", CONFIG), ("squeue", listed)]);
    let output = place.submit(&["--detach"]);
    let told = text(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("the queue is full, the rest is submitted later"), "{told}");
    // 8 and 4 are refused; 2 go in, then not even one more.
    assert!(
        told.contains("2 trials are in the queue, in 2 tasks of job 17; 6 more are to be submitted"),
        "{told}"
    );
    let tasks = |array: usize| std::fs::read_to_string(place.run().join(format!("cluster/{array}.tasks")));
    assert_eq!(tasks(3).unwrap(), "annealing-seed1\nannealing-seed2\n");
    assert!(tasks(1).is_err(), "what was refused leaves no list behind");
}

#[test]
fn an_array_is_no_larger_than_the_cluster_takes() {
    let sbatch = "wc -l < \"$calls\" | tr -d ' '";
    let place =
        Place::new(&[("sbatch", sbatch), ("scontrol", "echo 'MaxArraySize = 3'"), ("squeue", "true")]);
    let told = text(&place.submit(&["--detach"]));
    assert!(told.contains("8 trials are in the queue, in 8 tasks of job 1, 2, 3"), "{told}");
    let script = std::fs::read_to_string(place.run().join("cluster/2.sh")).unwrap();
    assert!(script.contains("#SBATCH --array=0-2\n"), "{script}");
}

#[test]
fn a_scheduler_that_does_not_answer_is_waited_for() {
    let scontrol = format!(
        "if [ $(wc -l < \"$calls\") -lt 2 ]; then echo 'Unable to contact slurm controller (connect failure)' >&2; exit 1; fi\n{CONFIG}"
    );
    let silent = "if [ $(wc -l < \"$calls\") -lt 2 ]; then echo 'slurm_load_jobs error: Socket timed out on send/recv operation' >&2; exit 1; fi";
    let place = Place::new(&[("sbatch", "echo 17"), ("scontrol", &scontrol), ("squeue", silent)]);
    let output = place.submit(&["--detach"]);
    let told = text(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert_eq!(told.matches("the scheduler does not answer, and is waited for").count(), 1, "{told}");
    assert!(
        told.contains("the scheduler answers again") && told.contains("8 trials are in the queue"),
        "{told}"
    );
    assert_eq!((place.calls("squeue"), place.calls("sbatch")), (2, 1));
}

#[test]
fn a_submission_without_an_answer_is_looked_for_by_its_name_and_not_made_twice() {
    // It is heard, and its answer is lost.
    let sbatch = "sed -n 's/^#SBATCH --job-name=//p' \"$2\" > \"$calls.name\"\n\
        echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' >&2; exit 1";
    let squeue = "name=$(cat \"${calls%squeue.calls}sbatch.calls.name\")\n\
        for i in 0 1 2 3 4 5 6 7; do echo \"23|$i|PENDING||Priority|$name\"; done";
    let place = Place::new(&[("sbatch", sbatch), ("scontrol", CONFIG), ("squeue", squeue)]);
    let told = text(&place.submit(&["--detach"]));
    assert!(told.contains("8 trials are in the queue, in 8 tasks of job 23"), "{told}");
    assert_eq!(place.calls("sbatch"), 1);
}

#[test]
fn without_slurm_that_is_said() {
    let _snapshots = snapshots::in_folder("cluster");
    let place = Place::new(&[]);
    let manifest = place.path("m.yaml");
    let mut run =
        command(&["run", manifest.to_str().unwrap(), "--executor", "slurm", "--run-id", "r", "--output"]);
    let output = run.arg(place.path("results")).env("PATH", place.path("bin")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_snapshot!(text(&output));
}

#[test]
fn wrong_settings_have_their_place_in_the_manifest_and_in_a_file() {
    let _snapshots = snapshots::in_folder("cluster");
    let manifest =
        format!("{SMALLEST}cluster: {{ partion: short, time: 90, sbatch: [--array=1-5], memory: 4 }}\n");
    let mut told = host(&["plan", "-"], &manifest);
    told += &host(&["plan", "-"], &format!("{SMALLEST}sweep: {{ cluster.time: [1h, 2h] }}\n"));
    let place = Place::new(&[]);
    std::fs::write(place.path("slurm.yaml"), "partition: short\ntime: soon\nmodules: gcc\n").unwrap();
    let settings = place.path("slurm.yaml");
    let refused = text(&place.submit(&["--cluster", settings.to_str().unwrap()]));
    told += &refused.replace(place.path("").to_str().unwrap(), "");
    assert_snapshot!(told);
}

#[test]
fn settings_change_neither_the_plan_nor_its_hash() {
    let plan = |more: &str| host(&["plan", "-", "--json"], &format!("{SMALLEST}{more}"));
    assert_eq!(plan(""), plan("cluster: { partition: short, time: 4h, prologue: 'ulimit -c 0' }\n"));
}
