//! Many tiny trials: the host's memory does not grow with their number, and no trial's with the size of its plan.
//!
//! `HOST_SOAK_TRIALS=10000 cargo test --release -p host --test all soak:: -- --nocapture` runs ten thousand, and reports as many.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::{self, SMALLEST, command, journals_in, recorded};

/// The most memory that a process has held so far, in bytes; 0 where it has ended.
fn peak(process: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    1024 * peak.and_then(|words| words.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0)
}

/// A manifest whose sweep has this many points.
fn swept(folder: &Path, points: usize) -> PathBuf {
    let manifest = folder.join("m.yaml");
    let values: Vec<String> = (0..points).map(|point| format!("{point}e-6")).collect();
    let text = format!("{SMALLEST}sweep: {{ penalty.l1: [{}] }}\n", values.join(", "));
    std::fs::write(&manifest, text).unwrap();
    manifest
}

#[test]
fn a_plan_of_100_000_trials_is_made_in_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = swept(folder.path(), 100_000);
    let manifest = manifest.to_str().unwrap();
    let mut host = command(&["plan", manifest]);
    let mut host = host.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let (mut most, begun) = (0, Instant::now());
    // The plan is made in a process below that one.
    while host.try_wait().unwrap().is_none() {
        let all = support::processes_with(&format!("--attached\0{manifest}"));
        most = most.max(peak(host.id()) + all.into_iter().map(peak).sum::<u64>());
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(most > 20_000_000, "{most} bytes: the process that makes the plan was not seen");
    assert!(host.wait().unwrap().success());
    println!("{most} bytes at most, {:?}", begun.elapsed());
    assert!(most < 500_000_000, "{most} bytes");
}

#[test]
fn a_trial_takes_as_much_memory_in_a_large_plan_as_in_a_small_one() {
    for points in [2, 3000] {
        let folder = tempfile::tempdir().unwrap();
        let (manifest, results) = (swept(folder.path(), points), folder.path().to_str().unwrap());
        let arguments = ["run", manifest.to_str().unwrap(), "--quiet", "--jobs", "1", "--output", results];
        let mut host = command(&arguments);
        let mut host = host.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let (mut most, mut seen, begun) = (0, BTreeSet::new(), Instant::now());
        while seen.len() < 40 && host.try_wait().unwrap().is_none() {
            for trial in support::processes_with(&format!("trial\0{results}")) {
                seen.insert(trial);
                most = most.max(peak(trial));
            }
            assert!(begun.elapsed() < Duration::from_secs(120), "no trials");
        }
        let _ = host.kill();
        host.wait().unwrap();
        println!("{points} points: {most} bytes at most in {} processes", seen.len());
        assert!((1_000_000..30_000_000).contains(&most), "{points} points: {most} bytes");
    }
}

/// The most memory that the host held while it ran this many trials, in bytes.
fn most_memory(trials: usize) -> u64 {
    let results = tempfile::tempdir().unwrap();
    let manifest = results.path().join("m.yaml");
    std::fs::write(&manifest, format!("{SMALLEST}seeds: {trials}\n")).unwrap();
    let folder = results.path().to_str().unwrap();
    let arguments = ["run", manifest.to_str().unwrap(), "--quiet", "--run-id", "r", "--output", folder];
    let mut host = command(&arguments).stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let mut most = 0;
    let ended = loop {
        most = most.max(peak(host.id()));
        if let Some(ended) = host.try_wait().unwrap() {
            break ended;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    assert!(ended.success());
    let journals = journals_in(&results.path().join("smallest/r"));
    assert_eq!(journals.len(), trials);
    assert!(journals.values().all(|journal| journal.contains("\"finished\"")));
    most
}

#[test]
fn memory_stays_flat_over_many_trials() {
    let many = std::env::var("HOST_SOAK_TRIALS").map_or(200, |count| count.parse().unwrap());
    let (few, many) = (most_memory(many / 10), most_memory(many));
    println!("{few} bytes at most with a tenth of the trials, {many} with all");
    assert!(many < 200_000_000, "{many} bytes");
    assert!(many < few + 50_000_000, "{few} bytes with a tenth of the trials, {many} with all");
}

/// The time is said and not judged: it depends on the machine. host/REPORT.md has what was measured.
#[test]
fn a_report_of_many_trials_takes_little_memory_and_has_a_page_that_opens() {
    let many: u64 = std::env::var("HOST_SOAK_TRIALS").map_or(200, |count| count.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    // Two methods at two dimensions, with shadows, predictions, effects and failures.
    let run = recorded::write_many(folder.path(), &recorded::PLAIN, (many / 4, 27));
    let begun = Instant::now();
    let mut host = command(&["report", run.to_str().unwrap()]);
    let mut host = host.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let mut most = 0;
    while host.try_wait().unwrap().is_none() {
        most = most.max(peak(host.id()));
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(host.wait().unwrap().success());
    let page = run.join("report.html").metadata().unwrap().len();
    println!(
        "{many} trials of 27 evaluations: {:?}, {most} bytes at most, a page of {page}",
        begun.elapsed()
    );
    assert!(most < 500_000_000, "{most} bytes");
    assert!(page < 3_000_000, "{page} bytes");
}
