//! Several evaluations at a time within a trial: the journal is that of plan and seed, whatever ends first and whichever process is
//! killed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use plugin_api::rand::RngExt;
use plugin_api::rng;
use serde_json::Value as Json;

use crate::support::started::{Run, signal};
use crate::support::{self, build_plugin, events, journals_in};

/// How many kills: `HOST_ROUND_KILLS=100 cargo test -p host --test all rounds::` makes a hundred.
fn kills_wanted() -> usize {
    std::env::var("HOST_ROUND_KILLS").map_or(12, |count| count.parse().expect("a number of kills"))
}

fn plugins() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build_plugin("benchmark-fault", include_str!("data/fault.rs")))
}

/// Slow enough to be killed in the middle of rounds, which do not end in the order in which they began.
const MANIFEST: &str = "\
name: rounds
seeds: 2
budget: { initial: 6, evaluations: 13, batch: 4 }
evaluation: { retries: 0 }
benchmark: { use: fault, options: { slow: 15 } }
surrogate: bayes-linear
solver: { use: annealing, options: { sweeps: 20 } }
";

fn run(manifest: &str) -> Run {
    Run::new(manifest, &["--plugin-dir", plugins().to_str().unwrap()])
}

fn whole(manifest: &str) -> BTreeMap<String, String> {
    run(manifest).finish(&[])
}

/// The numbers of a journal's events of a kind, in their order.
fn numbers(journal: &str, event: &str) -> Vec<u64> {
    let of = |e: &Json| (e["event"] == event).then(|| e["evaluation"].as_u64().unwrap());
    events(journal).iter().filter_map(of).collect()
}

#[test]
fn a_round_is_recorded_in_its_order_and_the_same_in_one_process() {
    let journals = whole(MANIFEST);
    for journal in journals.values() {
        assert_eq!(numbers(journal, "evaluated"), (1..=19).collect::<Vec<_>>());
        let points: Vec<String> = events(journal)
            .iter()
            .filter(|event| event["event"] == "evaluating")
            .map(|event| event["point"].to_string())
            .collect();
        assert_eq!(points.iter().collect::<BTreeSet<_>>().len(), 19, "points of a round differ");
        let words: Vec<String> =
            events(journal).iter().map(|event| event["event"].as_str().unwrap().to_owned()).collect();
        assert_eq!(
            words[1..9].join(" "),
            "evaluating evaluating evaluating evaluating evaluated evaluated evaluated evaluated"
        );
    }
    assert_eq!(run(MANIFEST).finish(&["--in-process"]), journals);
    assert_eq!(run(MANIFEST).finish(&["--jobs", "1"]), journals);
}

#[test]
fn no_kill_during_rounds_loses_anything() {
    let whole = whole(MANIFEST);
    let seed = 20_261_118;
    println!("seed {seed}");
    let mut random = rng(seed);
    let (mut finished, mut hosts, mut others) = (0, 0, 0);
    while hosts + others < kills_wanted() {
        let run = run(MANIFEST);
        let mut done: BTreeMap<String, String> = BTreeMap::new();
        loop {
            let mut host = run.start(&["--jobs", if random.random() { "1" } else { "2" }]);
            let moment = Duration::from_millis(random.random_range(50..900));
            let begun = Instant::now();
            let mut ended = None;
            while ended.is_none() && begun.elapsed() < moment {
                std::thread::sleep(Duration::from_millis(3));
                ended = host.try_wait().unwrap();
            }
            if let Some(status) = ended {
                let mut words = String::new();
                std::io::Read::read_to_string(&mut host.stderr.take().unwrap(), &mut words).unwrap();
                assert!(status.success(), "after {hosts} + {others} kills: {words}");
                break;
            }
            // A guard, a trial, a worker, or one of their guards: the trial goes on, and the host is killed a while later.
            let running = run.processes();
            if random.random() && !running.is_empty() {
                signal("-KILL", running[random.random_range(0..running.len())]);
                others += 1;
                std::thread::sleep(Duration::from_millis(random.random_range(0..400)));
            }
            signal("-KILL", host.id());
            hosts += 1;
            host.wait().unwrap();
            let begun = Instant::now();
            while !run.processes().is_empty() {
                assert!(begun.elapsed() < Duration::from_secs(20), "a process has outlived its host");
                std::thread::sleep(Duration::from_millis(3));
            }
            // What was on disk is there still: in the journal, or waiting for its turn.
            for (id, before) in &done {
                let round = run.folder().join("trials").join(id).join("round.jsonl");
                let now = journals_in(&run.folder())[id].clone()
                    + &std::fs::read_to_string(round).unwrap_or_default();
                for number in before.split(' ').filter(|number| !number.is_empty()) {
                    assert!(known(&now).contains(&number.to_owned()), "{id} lost evaluation {number}");
                }
            }
            // Killed before the run had a folder: nothing was known.
            if !run.folder().join("trials").is_dir() {
                continue;
            }
            done = journals_in(&run.folder())
                .into_iter()
                .map(|(id, journal)| {
                    let round = run.folder().join("trials").join(&id).join("round.jsonl");
                    let all = journal + &std::fs::read_to_string(round).unwrap_or_default();
                    (id, known(&all).join(" "))
                })
                .collect();
        }
        finished += 1;
        for (id, journal) in &journals_in(&run.folder()) {
            assert_eq!(journal, &whole[id], "{id} after {hosts} + {others} kills, seed {seed}");
            assert!(!run.folder().join("trials").join(id).join("round.jsonl").exists());
        }
    }
    println!(
        "{hosts} kills of hosts, {others} of trials, workers and guards, {finished} experiments finished"
    );
}

/// The evaluations whose results stand there, whole.
fn known(text: &str) -> Vec<String> {
    let of = |line: &str| -> Option<String> {
        let line: Json = serde_json::from_str(line).ok()?;
        let ended = line["event"] == "evaluated" || line.get("outcome").is_some();
        ended.then(|| line["evaluation"].to_string())
    };
    text.lines().filter_map(of).collect()
}

#[test]
fn one_that_crashes_or_takes_too_long_fails_alone_with_its_retries() {
    let _snapshots = snapshots::in_folder("runs");
    let manifest = "name: rounds\nbudget: { initial: 12, evaluations: 4, batch: 4 }\n\
        evaluation: { timeout: 2s, retries: 1, memory: 700MiB }\nbenchmark: fault\n\
        surrogate: random\nsolver: { use: annealing, options: { sweeps: 20 } }\n\
        sweep: { benchmark.options.fault: [none, error, panic, segfault, exit, loop, memory, daemon] }\n";
    let journals = whole(manifest);
    let mut told = Vec::new();
    for (id, journal) in &journals {
        let events = events(journal);
        let point = |evaluation: &Json| {
            let begun = events.iter().find(|e| e["event"] == "evaluating" && e["evaluation"] == *evaluation);
            begun.unwrap()["point"].clone()
        };
        for ended in events.iter().filter(|event| event["event"] == "evaluated") {
            let point = point(&ended["evaluation"]);
            let faulty = point[0] == 1 && point[1] == 1;
            match ended["reason"].as_str() {
                Some(reason) => {
                    assert!(faulty, "{id}: {reason} at {point}");
                    told.push(format!("{id}: {}: {reason}", ended["status"].as_str().unwrap()));
                }
                None => assert!(
                    !faulty || ["sweep1", "sweep8"].iter().any(|fine| id.contains(fine)),
                    "{id} {point}"
                ),
            }
        }
        assert_eq!(numbers(journal, "evaluated").len(), 16);
    }
    told.dedup();
    assert_snapshot!("how faults in rounds are recorded", told.join("\n"));
}

#[test]
fn a_run_in_rounds_is_extended_to_the_bytes_of_one_planned_so() {
    for (less, more) in [("13", "18"), ("12", "13"), ("1", "3")] {
        let planned = |evaluations: &str| {
            MANIFEST
                .replace("evaluations: 13", &format!("evaluations: {evaluations}"))
                .replace("slow: 15", "slow: 0")
        };
        let run = run(&planned(less));
        run.finish(&[]);
        let set = format!("budget.evaluations={more}");
        let folder = run.folder();
        let arguments =
            ["run", "--resume", folder.to_str().unwrap(), "--quiet", "--set", &set, "--plugin-dir"];
        let extended = support::output(&[&arguments[..], &[plugins().to_str().unwrap()]].concat(), "");
        assert!(extended.status.success(), "{}", String::from_utf8_lossy(&extended.stderr));
        assert_eq!(journals_in(&folder), whole(&planned(more)), "from {less} to {more}");
    }
    let run = run(&MANIFEST.replace("slow: 15", "slow: 0"));
    run.finish(&[]);
    let folder = run.folder();
    let arguments = ["run", "--resume", folder.to_str().unwrap(), "--set", "budget.batch=2", "--plugin-dir"];
    let refused = support::host(&[&arguments[..], &[plugins().to_str().unwrap()]].concat(), "");
    assert!(refused.contains("`budget.batch` is 4 there, and 2 here"), "{refused}");
}
