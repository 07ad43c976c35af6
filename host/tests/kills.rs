//! Killed at any moment, an experiment goes on to the same journals, and nothing of it stays behind.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use plugin_api::rand::RngExt;
use plugin_api::rng;

use crate::support::started::{Run, signal};
use crate::support::{self, command, events, host, output};

/// How many kills: `HOST_KILLS=1000 cargo test -p host --test all kills::` makes a thousand.
fn kills_wanted() -> usize {
    std::env::var("HOST_KILLS").map_or(100, |count| count.parse().expect("a number of kills"))
}

/// Slow enough to be killed in every place: draws that take a while, several solvers, some of which learn from draw to
/// draw, two trials at a time. A process that is killed in an evaluation by us has not failed at it, so there is one try.
const MANIFEST: &str = "\
name: killed
seeds: 2
budget: { initial: 5, evaluations: 12 }
evaluation: { retries: 0 }
benchmark: { use: ising, options: { rows: 3, columns: 3 } }
methods:
  psr: { surrogate: horseshoe, solver: psr, shadows: [sdp] }
  learned: { surrogate: bayes-linear, solver: learned, shadows: [annealing, { use: learned, options: { restarts: 5 } }] }
";

#[test]
fn no_kill_of_host_trial_guard_or_several_loses_anything() {
    let whole = Run::new(MANIFEST, &[]).finish(&["--jobs", "2"]);
    assert_eq!(whole.len(), 4);
    let seed = 20_261_116;
    println!("seed {seed}");
    let mut random = rng(seed);
    let (mut finished, mut hosts, mut trials, mut together) = (0, 0, 0, 0);
    while hosts + trials < kills_wanted() {
        let run = Run::new(MANIFEST, &[]);
        loop {
            let mut host = run.start(&["--jobs", if random.random() { "1" } else { "2" }]);
            let moment = Duration::from_millis(random.random_range(20..900));
            let begun = Instant::now();
            let mut ended = None;
            while ended.is_none() && begun.elapsed() < moment {
                std::thread::sleep(Duration::from_millis(3));
                ended = host.try_wait().unwrap();
            }
            if let Some(status) = ended {
                let mut words = String::new();
                std::io::Read::read_to_string(&mut host.stderr.take().unwrap(), &mut words).unwrap();
                assert!(status.success(), "after {hosts} + {trials} kills: {words}");
                break;
            }
            // Trials and their guards. The host starts them again, and is killed while it does, or at the same moment.
            let running = run.processes();
            let (a_trial, at_once) = (random.random_range(0..2) == 0, random.random_range(0..2) == 0);
            if a_trial && !running.is_empty() {
                signal("-KILL", running[random.random_range(0..running.len())]);
                trials += 1;
                together += usize::from(at_once);
                if !at_once {
                    std::thread::sleep(Duration::from_millis(random.random_range(0..300)));
                }
            }
            signal("-KILL", host.id());
            hosts += 1;
            host.wait().unwrap();
            let begun = Instant::now();
            while !run.processes().is_empty() {
                assert!(begun.elapsed() < Duration::from_secs(20), "a trial has outlived its host");
                std::thread::sleep(Duration::from_millis(3));
            }
        }
        finished += 1;
        for (id, journal) in &run.journals() {
            assert_eq!(journal, &whole[id], "{id} after {hosts} + {trials} kills, seed {seed}");
        }
    }
    println!(
        "{hosts} kills of hosts, {trials} of trials and guards, {together} of both at once, {finished} experiments finished"
    );
}

/// A run of which one trial was cut short by hand: half of a journal, and the state saved then or later.
fn cut_short(id: &str, state: impl Fn(&Path)) -> (Run, BTreeMap<String, String>, String) {
    let run = Run::new(MANIFEST, &[]);
    let whole = run.finish(&["--jobs", "2"]);
    let trial = run.folder().join("trials").join(id);
    let saved = std::fs::read(trial.join("state")).unwrap();
    let header: serde_json::Value =
        serde_json::from_slice(saved.split(|&byte| byte == b'\n').next().unwrap()).unwrap();
    // Only what comes after the state is lost.
    let evaluations = header["evaluations"].as_u64().unwrap() as usize;
    let mut kept = 0;
    let mut seen = 0;
    for line in whole[id].split_inclusive('\n') {
        kept += line.len();
        seen += usize::from(line.starts_with(r#"{"event":"evaluated""#));
        if seen == evaluations {
            break;
        }
    }
    std::fs::write(trial.join("journal.jsonl"), &whole[id][..kept]).unwrap();
    state(&trial.join("state"));
    let words = resume(&run);
    (run, whole, words)
}

/// Goes on with a run, and gives what it logs.
fn resume(run: &Run) -> String {
    let mut resumed = command(&["run", "--resume", run.folder().to_str().unwrap(), "--quiet"]);
    let resumed = resumed.env("HOST_LOG", "host=info").output().unwrap();
    let words = String::from_utf8_lossy(&resumed.stderr).into_owned();
    assert!(resumed.status.success(), "{words}");
    words
}

#[test]
fn saved_state_is_used_where_it_is_whole_and_the_journal_is_the_same_either_way() {
    for id in ["psr-seed1", "learned-seed2"] {
        let (run, whole, words) = cut_short(id, |_| {});
        assert!(words.contains("with the saved state"), "{id}: {words}");
        assert_eq!(run.journals(), whole);
        let torn = |path: &Path| {
            let bytes = std::fs::read(path).unwrap();
            std::fs::write(path, &bytes[..bytes.len() - 3]).unwrap();
        };
        let older = |path: &Path| {
            let bytes = std::fs::read(path).unwrap();
            let older = String::from_utf8_lossy(&bytes[..12]).replace("\"version\":2", "\"version\":1");
            std::fs::write(path, [older.as_bytes(), &bytes[12..]].concat()).unwrap();
        };
        for spoil in [&torn as &dyn Fn(&Path), &older] {
            let (run, whole, words) = cut_short(id, spoil);
            assert!(!words.contains("saved state"), "{id}: {words}");
            assert_eq!(run.journals(), whole);
        }
    }
}

#[test]
fn a_trial_whose_solvers_learn_goes_on_to_the_same_journal_wherever_it_is_cut() {
    let run = Run::new(MANIFEST, &[]);
    let whole = run.finish(&["--jobs", "2"]);
    let journal = &whole["learned-seed1"];
    let trial = run.folder().join("trials/learned-seed1");
    let state = std::fs::read(trial.join("state")).unwrap();
    for cut in 0..12 {
        // In the middle of a line, most of the time; the state is one of later, which does not fit the journal then.
        std::fs::write(trial.join("journal.jsonl"), &journal[..journal.len() * cut / 12]).unwrap();
        std::fs::write(trial.join("state"), &state).unwrap();
        resume(&run);
        assert_eq!(run.journals(), whole, "cut at {cut} of 12");
    }
}

#[test]
fn two_hosts_do_not_share_a_folder() {
    let run = Run::new(&MANIFEST.replace("evaluations: 12", "evaluations: 200"), &[]);
    let mut first = run.start(&["--jobs", "1"]);
    let begun = Instant::now();
    while run.processes().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no trial has begun within a minute");
        std::thread::sleep(Duration::from_millis(3));
    }
    let second = output(&["run", "--resume", run.folder().to_str().unwrap()], "");
    let words = String::from_utf8_lossy(&second.stderr).into_owned();
    signal("-KILL", first.id());
    first.wait().unwrap();
    assert_eq!(second.status.code(), Some(2), "{words}");
    assert!(words.contains("is being run already"), "{words}");
    assert!(words.contains(&format!("process {} on ", first.id())), "{words}");
}

#[test]
fn a_full_disk_ends_the_trial_with_an_intact_journal() {
    let whole = Run::new(MANIFEST, &[]).finish(&["--jobs", "2"]);
    let run = Run::new(MANIFEST, &[]);
    // No file may grow beyond this many blocks; a write that would is refused, as on a full disk.
    let script = "trap '' XFSZ; ulimit -f 12; exec \"$@\"";
    let manifest = run.manifest();
    let arguments = ["run", manifest.to_str().unwrap(), "--run-id", "r", "--quiet"];
    let limited = command(&[&arguments[..], &["--output", run.top().to_str().unwrap()]].concat());
    let mut shell = Command::new("sh");
    shell.args(["-c", script, "sh"]).arg(limited.get_program()).args(limited.get_args());
    let ended = shell.env("XDG_DATA_HOME", "/nowhere").current_dir(support::workspace()).output().unwrap();
    let words = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(1), "{words}");
    assert!(words.contains("error: trial `psr-seed1` failed"), "{words}");
    assert!(words.contains("journal.jsonl: File too large"), "{words}");
    for (id, journal) in run.journals() {
        assert!(whole[&id].starts_with(&journal) && journal.ends_with('\n'), "{id}: {journal}");
        assert!(events(&journal).len() > 3);
    }
    // With room again, it goes on.
    assert_eq!(run.finish(&["--jobs", "2"]), whole);
}

#[test]
fn changed_plugins_are_refused_unless_somebody_insists() {
    let _snapshots = snapshots::in_folder("cli");
    let plugins = tempfile::tempdir().unwrap();
    for name in ["benchmark_ising", "encoder_binary", "surrogate_horseshoe", "surrogate_bayes_linear"] {
        copy_plugin(name, plugins.path());
    }
    let plugin_dir = ["--plugin-dir", plugins.path().to_str().unwrap()];
    let run = Run::new(MANIFEST, &plugin_dir);
    let whole = run.finish(&[]);
    let folder = run.folder();
    let journal = folder.join("trials/psr-seed2/journal.jsonl");
    let half = whole["psr-seed2"].len() / 2;
    std::fs::write(&journal, &whole["psr-seed2"][..half]).unwrap();
    // The same code in another file: what comes after its end, a dynamic library does not look at.
    let file = plugins.path().join(file_name("surrogate_horseshoe"));
    let mut bytes = std::fs::read(&file).unwrap();
    bytes.extend([0; 16]);
    std::fs::write(&file, bytes).unwrap();
    let resume = [&["run", "--resume", folder.to_str().unwrap(), "--quiet"], &plugin_dir[..]].concat();
    assert_snapshot!("a changed plugin is refused", host(&resume, ""));
    assert_eq!(std::fs::read_to_string(&journal).unwrap(), whole["psr-seed2"][..half]);
    let insisted = output(&[&resume[..], &["--allow-changed-plugins"]].concat(), "");
    assert!(insisted.status.success(), "{}", String::from_utf8_lossy(&insisted.stderr));
    // What was recorded counts as it stands; from there on the chain is another, so the rest may differ.
    let resumed = &run.journals()["psr-seed2"];
    let kept = &whole["psr-seed2"][..=whole["psr-seed2"][..half].rfind('\n').unwrap()];
    let evaluated = kept.rfind(r#"{"event":"evaluated""#).unwrap();
    let end = evaluated + kept[evaluated..].find('\n').unwrap();
    assert_eq!(resumed[..end], whole["psr-seed2"][..end]);
    assert_eq!(events(resumed).last().unwrap()["evaluations"], 17);
}

fn file_name(plugin: &str) -> String {
    format!("{}{plugin}{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX)
}

fn copy_plugin(plugin: &str, folder: &Path) {
    let name = file_name(plugin);
    std::fs::copy(support::program_folder().join(&name), folder.join(&name)).unwrap();
}
