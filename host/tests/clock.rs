//! A system's clock that jumps, by years and both ways, while a run is under way: limits and results do not depend on it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{command, journals_in};

/// Takes the place of the system's function in every process below: the time of day is ten years off, in another direction
/// at each call. Clocks that only go forward are left as they are.
const JUMPING: &str = r#"
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
    static int calls;
    int answer = (int)syscall(SYS_clock_gettime, clock, time);
    if (answer == 0 && clock == CLOCK_REALTIME)
        time->tv_sec += __sync_fetch_and_add(&calls, 1) % 2 ? 315360000L : -315360000L;
    return answer;
}
"#;

/// Points that take a moment each, below a limit that they keep; rounds, so that workers have theirs too.
const MANIFEST: &str = "\
name: jumps
budget: { initial: 4, evaluations: 6, batch: 2 }
evaluation: { timeout: 60s }
benchmark: { use: labs, options: { n: 8 } }
surrogate: bayes-linear
solver: annealing
";

/// `None`, and a word about it, where there is no compiler.
fn jumping_clock(folder: &Path) -> Option<PathBuf> {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let (source, library) = (folder.join("clock.c"), folder.join("clock.so"));
    std::fs::write(&source, JUMPING).unwrap();
    let flags = ["-shared", "-fPIC", "-O1", "-o"];
    match Command::new(&compiler).args(flags).arg(&library).arg(&source).output() {
        Ok(built) => {
            assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
            Some(library)
        }
        Err(error) => {
            eprintln!("skipped: there is no C compiler `{compiler}` here: {error}");
            None
        }
    }
}

#[test]
fn a_clock_that_jumps_changes_no_result_and_ends_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let Some(clock) = jumping_clock(folder.path()) else { return };
    let manifest = folder.path().join("m.yaml");
    std::fs::write(&manifest, MANIFEST).unwrap();
    let run = |id: &str, jumps: bool, more: &[&str]| {
        let results = folder.path().join("results");
        let mut host = command(&["run", manifest.to_str().unwrap(), "--run-id", id, "--output"]);
        host.arg(&results).args(more).stdin(Stdio::null());
        if jumps {
            host.env("LD_PRELOAD", &clock);
        }
        let ended = host.output().unwrap();
        let words = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(0), "{words}");
        (results.join("jumps").join(id), words)
    };
    let (steady, _) = run("steady", false, &[]);
    let limits = ["--patience", "60", "--step-timeout", "60"];
    let (jumped, words) = run("jumped", true, &limits);
    // It did jump: the names of folders and the beginnings of sessions are the only things that tell.
    let began = |run: &Path| std::fs::read_to_string(run.join("sessions.json")).unwrap();
    let year = |run: &Path| began(run).split("\"began\"").nth(1).unwrap()[..12].to_owned();
    assert_ne!(year(&steady), year(&jumped), "{}", began(&jumped));
    assert_eq!(journals_in(&jumped), journals_in(&steady));
    assert!(!jumped.join("trials/annealing-seed1/incidents.jsonl").exists(), "{words}");
    // A resume, a report, and two commands that wait for each other, the same.
    let journal = jumped.join("trials/annealing-seed1/journal.jsonl");
    let whole = std::fs::read_to_string(&journal).unwrap();
    std::fs::write(&journal, &whole[..whole.len() / 2]).unwrap();
    run("jumped", true, &[&["--resume"][..], &limits].concat());
    assert_eq!(std::fs::read_to_string(&journal).unwrap(), whole);
    let reports: Vec<_> = (0..3)
        .map(|_| command(&["report"]).arg(&jumped).env("LD_PRELOAD", &clock).stdout(Stdio::null()).spawn())
        .collect();
    assert!(reports.into_iter().all(|report| report.unwrap().wait().unwrap().success()));
}
