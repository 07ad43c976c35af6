//! Many tiny trials: the host's memory does not grow with their number.
//!
//! `HOST_SOAK_TRIALS=10000 cargo test --release -p host --test soak` runs ten thousand.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "`unwrap` is for tests, their helpers among them")]

mod support;

use std::process::Stdio;
use std::time::Duration;

use support::{SMALLEST, command, journals_in};

/// The most memory that the host held while it ran this many trials, in bytes.
fn most_memory(trials: usize) -> u64 {
    let results = tempfile::tempdir().unwrap();
    let manifest = results.path().join("m.yaml");
    std::fs::write(&manifest, format!("{SMALLEST}seeds: {trials}\n")).unwrap();
    let folder = results.path().to_str().unwrap();
    let arguments = ["run", manifest.to_str().unwrap(), "--quiet", "--run-id", "r", "--output", folder];
    let mut host = command(&arguments).stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", host.id());
    let mut most = 0;
    let ended = loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = peak.and_then(|words| words.split_whitespace().next()?.parse::<u64>().ok());
        most = most.max(1024 * kilobytes.unwrap_or(0));
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
