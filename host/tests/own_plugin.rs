//! A plugin written from the documentation of `plugin-api` alone, outside the workspace, builds and runs.

use insta::assert_snapshot;

use crate::support::{self, build};

/// The blocks of code in the crate's documentation that begin with this fence.
fn documented(fence: &str) -> String {
    let text = std::fs::read_to_string(support::workspace().join("plugin-api/src/lib.rs")).unwrap();
    let lines: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("//!")).collect();
    let lines: Vec<&str> = lines.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    let start = lines.iter().position(|line| *line == fence).unwrap_or_else(|| panic!("no block {fence}"));
    let block = lines[start + 1..].iter().take_while(|line| **line != "```");
    let shown = block.filter(|line| !line.starts_with("# fn main"));
    shown.map(|line| format!("{line}\n")).collect()
}

#[test]
fn the_documented_plugin_builds_and_runs_by_plugin_dir() {
    let _snapshots = snapshots::in_folder("runs");
    let source = format!(
        "#![forbid(unsafe_code)]\n{}",
        documented("```rust").replace("//! A knapsack", "// A knapsack")
    );
    let plugins = build("knapsack", &documented("```toml"), &source);
    let results = tempfile::tempdir().unwrap();
    let manifest = documented("```yaml");
    let arguments = ["--plugin-dir", plugins.to_str().unwrap(), "--output", results.path().to_str().unwrap()];
    let run =
        support::output(&[&["run", "-", "--quiet", "--run-id", "r"], &arguments[..]].concat(), &manifest);
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
    let journal = results.path().join("knapsack/r/trials/psr-seed1/journal.jsonl");
    let journal = std::fs::read_to_string(journal).unwrap();
    assert_snapshot!("the documented plugin's end", journal.lines().last().unwrap());
    let refused = support::host(
        &["plan", "-", "--plugin-dir", plugins.to_str().unwrap()],
        &manifest.replace("limit: 15", "values: [1, 2]"),
    );
    assert_snapshot!("the documented plugin's refusal", refused);
}

/// A benchmark that fails in every way an evaluation can fail and the process live on.
const FAULTY: &str = r#"
use plugin_api::{Benchmark, Error, Evaluation, Point, Result, Space, export_benchmark, options};
options! {
    /// None.
    pub struct Options {}
}
export_benchmark!("faulty", |_options: Options, _seed: u64| Faulty);
struct Faulty;
impl Benchmark for Faulty {
    fn space(&self) -> Result<Space> {
        Ok(Space::binary(6))
    }
    fn evaluate(&mut self, point: &Point, _seed: u64) -> Result<Evaluation> {
        println!("a plugin may print what it likes");
        match point.iter().sum::<u32>() {
            1 => Err(Error::new("the reagent ran out")),
            2 => panic!("the robot fell over"),
            3 => Ok(f64::NAN.into()),
            4 => Ok(f64::INFINITY.into()),
            ones => Ok(f64::from(ones).into()),
        }
    }
}
"#;

#[test]
fn failed_evaluations_are_recorded_kept_from_the_model_and_never_proposed_again() {
    let _snapshots = snapshots::in_folder("runs");
    let plugins = build("faulty", &documented("```toml").replace("knapsack", "faulty"), FAULTY);
    let results = tempfile::tempdir().unwrap();
    let manifest = "name: faulty\nbudget: { initial: 10, evaluations: 30 }\nevaluation: { give-up-after: 40 }\nbenchmark: faulty\nsurrogate: horseshoe\nsolver: psr\n";
    let arguments = ["--plugin-dir", plugins.to_str().unwrap(), "--output", results.path().to_str().unwrap()];
    let run =
        support::output(&[&["run", "-", "--quiet", "--run-id", "r"], &arguments[..]].concat(), manifest);
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
    let journal =
        std::fs::read_to_string(results.path().join("faulty/r/trials/psr-seed1/journal.jsonl")).unwrap();
    let events: Vec<serde_json::Value> =
        journal.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let points: Vec<&serde_json::Value> =
        events.iter().filter(|event| event["event"] == "evaluating").map(|event| &event["point"]).collect();
    assert_eq!(points.len(), 40);
    assert!(points.iter().enumerate().all(|(i, point)| !points[..i].contains(point)), "a point came twice");
    let mut reasons: Vec<String> = events
        .iter()
        .filter(|event| event["status"] == "failed")
        .map(|event| event["reason"].as_str().unwrap().to_owned())
        .collect();
    reasons.sort();
    reasons.dedup();
    assert_snapshot!("reasons of failed evaluations", reasons.join("\n"));
}

/// A benchmark that waits, at its first evaluation, until another trial waits too.
const MEETING: &str = r#"
use std::time::{Duration, Instant};
use plugin_api::{Benchmark, Error, Evaluation, Point, Result, Space, export_benchmark, options};
options! {
    /// Where to meet.
    pub struct Options {
        /// A folder that all trials see.
        pub folder: String = String::new(),
    }
}
export_benchmark!("meeting", |options: Options, seed: u64| Meeting(options.folder, seed));
struct Meeting(String, u64);
impl Benchmark for Meeting {
    fn space(&self) -> Result<Space> {
        Ok(Space::binary(4))
    }
    fn evaluate(&mut self, _point: &Point, _seed: u64) -> Result<Evaluation> {
        std::fs::write(format!("{}/{}", self.0, self.1), "").map_err(Error::wrap)?;
        let begun = Instant::now();
        while std::fs::read_dir(&self.0).map_err(Error::wrap)?.count() < 2 {
            if begun.elapsed() > Duration::from_secs(60) {
                return Err(Error::new("nobody came"));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(0.0.into())
    }
}
"#;

#[test]
fn two_jobs_run_two_trials_at_once() {
    let plugins = build("meeting", &documented("```toml").replace("knapsack", "meeting"), MEETING);
    let (results, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let manifest = format!(
        "name: meeting\nseeds: 2\nbudget: {{ initial: 1, evaluations: 1 }}\n\
         benchmark: {{ use: meeting, options: {{ folder: '{}' }} }}\nsurrogate: random\nsolver: psr\n",
        place.path().display()
    );
    let arguments = ["--plugin-dir", plugins.to_str().unwrap(), "--output", results.path().to_str().unwrap()];
    let words = [&["run", "-", "--quiet", "--run-id", "r", "--jobs", "2"], &arguments[..]].concat();
    let run = support::output(&words, &manifest);
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
    for seed in 1..=2 {
        let journal = results.path().join(format!("meeting/r/trials/psr-seed{seed}/journal.jsonl"));
        assert!(!std::fs::read_to_string(journal).unwrap().contains("nobody came"));
    }
}
