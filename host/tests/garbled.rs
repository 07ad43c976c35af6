//! Files of a run that somebody or something has garbled: told, never taken for what was written, and nothing else is lost.
//!
//! `HOST_GARBLED=500 cargo test -p host --test all garbled:: -- --nocapture` garbles five hundred; without the variable there are a few.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use plugin_api::rand::RngExt;
use plugin_api::{Rng, rng};

use crate::support::mutate::mutated;
use crate::support::{SMALLEST, command, host, journals_in, output};

fn manifest() -> String {
    SMALLEST.replace("surrogate: random", "surrogate: bayes-linear") + "seeds: 2\n"
}

/// A finished run; and one whose second trial has not come to its end.
fn runs(top: &Path) {
    for (id, whole) in [("finished", true), ("begun", false)] {
        let arguments = ["run", "-", "--quiet", "--run-id", id, "--output", top.to_str().unwrap()];
        let run = output(&arguments, &manifest());
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        if !whole {
            let path = top.join("smallest").join(id).join("trials/annealing-seed2/journal.jsonl");
            let text = std::fs::read_to_string(&path).unwrap();
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            std::fs::write(&path, lines[..lines.len() / 2].concat() + "{\"event\":\"eva").unwrap();
        }
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn garbled(bytes: &[u8], random: &mut Rng) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let place = random.random_range(0..=bytes.len());
    let end = (place + random.random_range(1..1500)).min(bytes.len());
    match random.random_range(0..8) {
        // What a bad sector leaves.
        0 => bytes[place..end].fill(0),
        1 => bytes.truncate(place),
        2 => bytes.clear(),
        3 => (0..1 + bytes.len() / 50).for_each(|_| {
            if !bytes.is_empty() {
                let at = random.random_range(0..bytes.len());
                bytes[at] = random.random();
            }
        }),
        // A digit of a number that somebody likes better.
        4 => {
            let digits: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at].is_ascii_digit()).collect();
            if !digits.is_empty() {
                let at = digits[random.random_range(0..digits.len())];
                bytes[at] = b'0' + (bytes[at] - b'0' + random.random_range(1..9)) % 10;
            }
        }
        // A line that is lost, or stands there twice.
        5 | 6 => {
            let mut lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
            if !lines.is_empty() {
                let at = random.random_range(0..lines.len());
                match random.random() {
                    true => drop(lines.remove(at)),
                    false => lines.insert(at, lines[at]),
                }
            }
            bytes = lines.concat();
        }
        _ => bytes = mutated(&[bytes], random),
    }
    bytes
}

/// Runs the host, which has a minute.
fn run(arguments: &[&str]) -> (i32, String) {
    let mut child = command(arguments);
    child.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null());
    let mut child = child.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{arguments:?} hangs");
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    let code = output.status.code().unwrap_or_else(|| panic!("{arguments:?}: {} {words}", output.status));
    assert!(code <= 2 && !words.contains("panicked"), "{arguments:?}: {code} {words}");
    (code, words)
}

#[test]
fn a_garbled_file_is_told_or_harmless_and_costs_nothing_else() {
    let count: usize = std::env::var("HOST_GARBLED").map_or(24, |count| count.parse().expect("a number"));
    let top = tempfile::tempdir().unwrap();
    runs(top.path());
    let whole = journals_in(&top.path().join("smallest/finished"));
    let files = [
        "trials/annealing-seed1/journal.jsonl",
        "trials/annealing-seed2/journal.jsonl",
        "identity.json",
        "plan.yaml",
        "spaces.json",
        "trials/annealing-seed2/state",
        "trials/annealing-seed2/trial.json",
        "trials/annealing-seed1/timing.jsonl",
        "trials/annealing-seed2/incidents.jsonl",
        "lock",
        "report-files.json",
        "summary.json",
        "trace.csv",
    ];
    let mut random = rng(20_261_118);
    let mut counts: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for round in 0..count {
        let which = if random.random() { "finished" } else { "begun" };
        let run_folder = top.path().join("garbled");
        let _ = std::fs::remove_dir_all(&run_folder);
        copy(&top.path().join("smallest").join(which), &run_folder);
        // Journals twice as often as anything else.
        let file = files[random.random_range(0..files.len() + 2) % files.len()];
        let path = run_folder.join(file);
        let before = std::fs::read(&path).unwrap_or_default();
        let after = garbled(&before, &mut random);
        std::fs::write(&path, &after).unwrap();
        let folder = run_folder.to_str().unwrap();
        let what = format!("round {round}, {file} of the {which} run");

        let (healthy, _) = run(&["doctor", folder]);
        let (reported, words) = run(&["report", folder]);
        let (resumed, resume_words) = run(&["run", "--resume", folder, "--quiet"]);
        let counted = counts.entry(file.rsplit('/').next().unwrap()).or_default();
        counted[0] += 1;
        if resumed == 0 {
            // Taken as it is: then it is what it would have been.
            assert_eq!(journals_in(&run_folder), whole, "{what}");
            counted[1] += 1;
        } else {
            counted[2] += 1;
            assert!(resume_words.contains("error"), "{what}: {resume_words}");
            let nothing_lost = before == after || !file.ends_with("journal.jsonl") || healthy == 1;
            assert!(nothing_lost, "{what}: the doctor has seen nothing; {resume_words}");
            // With the file put back, all is as if nothing had happened.
            std::fs::write(&path, &before).unwrap();
            let (code, words) = run(&["run", "--resume", folder, "--quiet"]);
            assert_eq!(code, 0, "{what}: {words}");
            assert_eq!(journals_in(&run_folder), whole, "{what}");
        }
        if round % 50 == 49 {
            println!("{} files garbled so far: {counts:?}", round + 1);
        }
        // A journal with a changed line is never reported in silence.
        if file.ends_with("journal.jsonl") && healthy != 0 {
            assert_ne!(reported, 0, "{what}: {words}");
        }
    }
    for (file, [all, harmless, told]) in counts {
        println!("{file}: {all} garbled, {told} refused in words, {harmless} without any effect on results");
    }
}

#[test]
fn a_garbled_identity_is_refused_with_a_way_out_that_loses_nothing() {
    let _snapshots = snapshots::in_folder("cli");
    let top = tempfile::tempdir().unwrap();
    runs(top.path());
    let run = top.path().join("smallest/begun");
    let folder = run.to_str().unwrap();
    let hidden = |text: String| text.replace(top.path().to_str().unwrap(), "[results]");
    assert_snapshot!("the doctor finds a run whole", hidden(host(&["doctor", folder], "")));
    std::fs::write(run.join("identity.json"), "{").unwrap();
    let journal = run.join("trials/annealing-seed1/journal.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    std::fs::write(&journal, text.replacen("\"status\":\"ok\"", "\"status\":\"OK\"", 1)).unwrap();
    assert_snapshot!("the doctor finds what is not whole", hidden(host(&["doctor", folder], "")));
    let refused = host(&["run", "--resume", folder, "--quiet"], "");
    assert_snapshot!("a garbled identity is refused", hidden(refused));
    // Another plan is not let in, with or without the flag.
    std::fs::write(&journal, &text).unwrap();
    let other = manifest().replace("evaluations: 2", "evaluations: 3");
    let insist = ["run", "-", "--quiet", "--run-id", "begun", "--output", top.path().to_str().unwrap()];
    let insist = [&insist[..], &["--resume", "--allow-changed-plugins"]].concat();
    let refused = output(&insist, &other);
    assert_eq!(refused.status.code(), Some(2), "{}", String::from_utf8_lossy(&refused.stderr));
    assert_eq!(std::fs::read(run.join("identity.json")).unwrap(), b"{");
    // Its own is, and what was garbled is kept.
    let mended = output(&insist, &manifest());
    assert_eq!(mended.status.code(), Some(0), "{}", String::from_utf8_lossy(&mended.stderr));
    assert_eq!(std::fs::read(run.join("identity.json.garbled")).unwrap(), b"{");
    assert_eq!(journals_in(&run), journals_in(&top.path().join("smallest/finished")));
}
