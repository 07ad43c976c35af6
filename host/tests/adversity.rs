//! What else may happen to a run: limits of the system, processes that are stopped for a while, disks that are full or
//! become read-only, files that are no files, names that are no text. Told or harmless, and a resume ends in the same bytes.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use plugin_api::rand::RngExt;
use plugin_api::rng;

use crate::support::started::signal;
use crate::support::{self, command, journals_in, processes_with};

/// Two trials with a model that has a state to save, and long enough to be met in the middle.
const MANIFEST: &str = "\
name: adverse
seeds: 2
budget: { initial: 4, evaluations: 20 }
benchmark: { use: ising, options: { rows: 3, columns: 3 } }
surrogate: bayes-linear
solver: annealing
";

struct Run {
    top: tempfile::TempDir,
}

impl Run {
    fn new() -> Self {
        let top = tempfile::tempdir().unwrap();
        std::fs::write(top.path().join("m.yaml"), MANIFEST).unwrap();
        Self { top }
    }

    fn manifest(&self) -> PathBuf {
        self.top.path().join("m.yaml")
    }

    fn folder(&self) -> PathBuf {
        self.top.path().join("results/adverse/r")
    }

    fn arguments(&self, more: &[&str]) -> Vec<String> {
        let (manifest, results) = (self.manifest(), self.top.path().join("results"));
        let arguments = ["run", manifest.to_str().unwrap(), "--run-id", "r", "--quiet", "--output"];
        let arguments = arguments.into_iter().chain([results.to_str().unwrap()]);
        arguments.chain(more.iter().copied()).map(str::to_owned).collect()
    }

    fn command(&self, more: &[&str]) -> Command {
        let arguments = self.arguments(more);
        command(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// The same below a shell, which does something before.
    fn shell(&self, before: &str, more: &[&str]) -> Command {
        let inner = self.command(more);
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{before}; exec \"$@\""), "sh"]).arg(inner.get_program());
        shell.args(inner.get_args()).current_dir(support::workspace()).env("XDG_DATA_HOME", "/nowhere");
        shell
    }

    /// Goes on, or begins where nothing was begun, without any adversity: to what it would have been.
    fn is_completed(&self, what: &str) {
        let more: &[&str] = if self.folder().is_dir() { &["--resume"] } else { &[] };
        let (code, words) = ended(self.command(more), what);
        assert_eq!(code, Some(0), "{what}: {words}");
        assert_eq!(&journals_in(&self.folder()), whole(), "{what}");
    }
}

/// The journals as they are when nothing happens.
fn whole() -> &'static BTreeMap<String, String> {
    static WHOLE: OnceLock<BTreeMap<String, String>> = OnceLock::new();
    WHOLE.get_or_init(|| {
        let run = Run::new();
        assert!(run.command(&[]).output().unwrap().status.success());
        journals_in(&run.folder())
    })
}

/// Runs a command to its end, which may not be a hang, a signal or a panic.
fn ended(mut command: Command, what: &str) -> (Option<i32>, String) {
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait(child, what)
}

fn wait(mut child: Child, what: &str) -> (Option<i32>, String) {
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(120), "{what}: it hangs");
        std::thread::sleep(Duration::from_millis(3));
    }
    let output = child.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code().is_some_and(|code| code <= 2), "{what}: {} {words}", output.status);
    assert!(!words.contains("panicked"), "{what}: {words}");
    (output.status.code(), words)
}

/// What is true of every journal at any time: it has whole lines of what it would have been.
fn nothing_is_false(run: &Run, what: &str) {
    if run.folder().join("trials").is_dir() {
        for (id, journal) in journals_in(&run.folder()) {
            let whole = &whole()[&id];
            assert!(
                whole.starts_with(&journal[..journal.rfind('\n').map_or(0, |end| end + 1)]),
                "{what}: {id}"
            );
        }
    }
}

#[test]
fn a_limit_of_file_sizes_is_an_error_and_no_signal() {
    for blocks in [0, 1, 2, 4, 8, 16] {
        let (run, what) = (Run::new(), format!("ulimit -f {blocks}"));
        let (code, words) = ended(run.shell(&what, &[]), &what);
        assert!(code != Some(0) && words.contains("File too large"), "{what}: {code:?} {words}");
        nothing_is_false(&run, &what);
        run.is_completed(&what);
    }
}

#[test]
fn a_limit_of_open_files_is_an_error_or_enough() {
    for files in [4, 6, 8, 10, 12, 16, 24, 40] {
        let (run, what) = (Run::new(), format!("ulimit -n {files}"));
        let (code, words) = ended(run.shell(&what, &[]), &what);
        assert!(code == Some(0) || words.contains("error"), "{what}: {code:?} {words}");
        nothing_is_false(&run, &what);
        run.is_completed(&what);
    }
}

/// Runs it where a script may mount what only it and what it starts see; `None` where nobody may.
fn mounted(run: &Run, script: &str, more: &[&str]) -> Option<(i32, String)> {
    const CANNOT: i32 = 77;
    let inner = run.command(more);
    let mut shell = Command::new("unshare");
    shell.args(["-m", "sh", "-c", script, "sh"]).arg(inner.get_program()).args(inner.get_args());
    shell.current_dir(support::workspace()).env("XDG_DATA_HOME", "/nowhere");
    shell.env("RESULTS", run.top.path().join("results"));
    let output = shell.stdin(Stdio::null()).output().ok()?;
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    let code = output.status.code().unwrap_or_else(|| panic!("{}: {words}", output.status));
    assert!(!words.contains("panicked"), "{words}");
    if code == CANNOT || words.starts_with("unshare: ") {
        eprintln!("skipped: nothing can be mounted here");
        return None;
    }
    Some((code, words))
}

#[test]
fn a_full_disk_is_told_and_with_room_the_run_goes_on() {
    let run = Run::new();
    let results = run.top.path().join("results");
    std::fs::create_dir(&results).unwrap();
    // The file system is gone with the shell: what is on it is copied out.
    let script = "mount -t tmpfs -o size=96k none \"$RESULTS\" || exit 77
        \"$@\"; code=$?; cp -r \"$RESULTS\" \"$RESULTS.kept\"; exit $code";
    let Some((code, words)) = mounted(&run, script, &[]) else { return };
    assert_eq!(code, 1, "{words}");
    assert!(words.contains("No space left on device"), "{words}");
    std::fs::remove_dir(&results).unwrap();
    std::fs::rename(run.top.path().join("results.kept"), &results).unwrap();
    nothing_is_false(&run, "a full disk");
    run.is_completed("a full disk");
}

#[test]
fn a_file_system_that_becomes_read_only_is_told_and_loses_nothing() {
    let run = Run::new();
    std::fs::create_dir(run.top.path().join("results")).unwrap();
    // From the first trial's first lines on: the second cannot begin, and no report can be written.
    let script = "mount --bind \"$RESULTS\" \"$RESULTS\" || exit 77
        \"$@\" & host=$!
        until [ -s \"$RESULTS/adverse/r/trials/annealing-seed1/journal.jsonl\" ]; do sleep 0.01; done
        mount -o remount,bind,ro \"$RESULTS\" || exit 77
        wait $host";
    let Some((code, words)) = mounted(&run, script, &["--jobs", "1"]) else { return };
    assert_eq!(code, 1, "{words}");
    assert!(words.contains("Read-only file system"), "{words}");
    nothing_is_false(&run, "read-only");
    run.is_completed("read-only");
}

/// The processes of a run: the host, then guards and trials.
fn processes(run: &Run, host: &Child) -> Vec<u32> {
    let trials = processes_with(&format!("trial\0{}\0", run.folder().display()));
    std::iter::once(host.id()).chain(trials).collect()
}

/// `HOST_STOPS=200 cargo test -p host --test all adversity:: -- --nocapture` stops that many.
#[test]
fn processes_that_are_stopped_for_a_while_go_on_as_if_nothing_had_happened() {
    let wanted: usize = std::env::var("HOST_STOPS").map_or(20, |count| count.parse().expect("a number"));
    let random = &mut rng(20_261_120);
    let mut stops = 0;
    while stops < wanted {
        let run = Run::new();
        let mut host = run.command(&[]);
        let mut host =
            host.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        while host.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(random.random_range(0..80)));
            let all = processes(&run, &host);
            let victim = all[random.random_range(0..all.len())];
            signal("-STOP", victim);
            std::thread::sleep(Duration::from_millis(random.random_range(0..120)));
            signal("-CONT", victim);
            stops += 1;
        }
        let (code, words) = wait(host, "stopped and continued");
        assert_eq!(code, Some(0), "{words}");
        assert_eq!(&journals_in(&run.folder()), whole());
        assert!(!run.folder().join("trials/annealing-seed1/incidents.jsonl").exists(), "no process died");
    }
    println!("{stops} processes stopped and continued: the same bytes");
}

#[test]
fn who_stays_stopped_beyond_patience_is_replaced() {
    let run = Run::new();
    let host = run.command(&["--jobs", "1", "--patience", "1"]);
    let mut host =
        { host }.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    for victim in 1..4 {
        // A guard, the other, the trial.
        let begun = Instant::now();
        let all = loop {
            let all = support::line_of(host.id(), &processes(&run, &host));
            if all.len() == 4 || host.try_wait().unwrap().is_some() {
                break all;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "no trial runs");
        };
        let Some(&victim) = all.get(victim) else { break };
        signal("-STOP", victim);
        let begun = Instant::now();
        while Path::new(&format!("/proc/{victim}")).exists() {
            assert!(begun.elapsed() < Duration::from_secs(60), "it is still there");
            // A guard that is stopped keeps nobody from work: its trial goes on without it, and it is ended at last.
            if host.try_wait().unwrap().is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    let (code, words) = wait(host, "stopped for good");
    assert_eq!(code, Some(0), "{words}");
    assert_eq!(&journals_in(&run.folder()), whole());
}

#[test]
fn of_several_resumes_at_once_one_goes_on_and_the_others_are_told() {
    let run = Run::new();
    assert_eq!(ended(run.command(&[]), "the first").0, Some(0));
    for round in 0..3 {
        for journal in ["annealing-seed1", "annealing-seed2"] {
            let path = run.folder().join("trials").join(journal).join("journal.jsonl");
            std::fs::write(path, &whole()[journal][..whole()[journal].len() / 3]).unwrap();
        }
        let start = |_| {
            let mut host = run.command(&["--resume"]);
            host.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let hosts: Vec<Child> = (0..5).map(start).collect();
        let ends: Vec<_> = hosts.into_iter().map(|host| wait(host, "one of five")).collect();
        assert!(ends.iter().any(|(code, _)| *code == Some(0)), "round {round}: {ends:?}");
        let told = |(code, words): &(Option<i32>, String)| {
            *code == Some(0) || *code == Some(2) && words.contains("is being run already")
        };
        assert!(ends.iter().all(told), "round {round}: {ends:?}");
        assert_eq!(&journals_in(&run.folder()), whole(), "round {round}");
    }
}

#[test]
fn a_current_folder_that_is_gone_is_told_or_harmless() {
    let run = Run::new();
    let gone = run.top.path().join("gone");
    let before = format!("mkdir {0} && cd {0} && rmdir {0}", gone.display());
    let (code, words) = ended(run.shell(&before, &[]), "no current folder");
    assert_eq!(code, Some(0), "{words}");
    assert_eq!(&journals_in(&run.folder()), whole());
    let mut relative = run.shell(&before, &[]);
    relative.arg("--resume").args(["--plugin-dir", "."]);
    assert!(ended(relative, "relative to no folder").0.is_some_and(|code| code != 1));
    // It goes away while the run is under way.
    let run = Run::new();
    let mut host = run.command(&[]);
    let here = tempfile::tempdir().unwrap();
    let host =
        host.current_dir(here.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let host = host.spawn().unwrap();
    drop(here);
    assert_eq!(wait(host, "the folder goes").0, Some(0));
    assert_eq!(&journals_in(&run.folder()), whole());
}

#[test]
fn what_is_no_plain_file_in_a_run_is_told_or_harmless_and_nobody_waits_for_it() {
    let run = Run::new();
    assert_eq!(ended(run.command(&[]), "the first").0, Some(0));
    let trial = "trials/annealing-seed2";
    let cut = whole()["annealing-seed2"].len() / 2;
    std::fs::write(run.folder().join(trial).join("journal.jsonl"), &whole()["annealing-seed2"][..cut])
        .unwrap();
    let names = [
        "trials/annealing-seed1/journal.jsonl",
        "trials/annealing-seed2/journal.jsonl",
        "trials/annealing-seed2/timing.jsonl",
        "trials/annealing-seed2/state",
        "trials/annealing-seed2/trial.json",
        "trials/annealing-seed2/incidents.jsonl",
        "trials/annealing-seed2/predictions.jsonl",
        "identity.json",
        "plan.yaml",
        "spaces.json",
        "lock",
        "report-files.json",
        "report.html",
    ];
    let folder = run.folder();
    let folder = folder.to_str().unwrap();
    let odds = ["folder", "pipe", "socket", "device"];
    for (i, name) in names.into_iter().enumerate() {
        // Journals may be any of these, and of the others each is another.
        let odds = if name.ends_with("journal.jsonl") { &odds[..] } else { &odds[i % 4..=i % 4] };
        for &odd in odds {
            let what = format!("{name} is a {odd}");
            let (path, kept) = (run.folder().join(name), run.top.path().join("kept"));
            let there = path.exists();
            if there {
                std::fs::rename(&path, &kept).unwrap();
            }
            let made = match odd {
                "folder" => std::fs::create_dir(&path).is_ok(),
                "socket" => std::os::unix::net::UnixListener::bind(&path).is_ok(),
                "pipe" => Command::new("mkfifo").arg(&path).status().is_ok_and(|status| status.success()),
                // Endless zeros; only the administrator can make one.
                _ => {
                    let made =
                        Command::new("mknod").arg(&path).args(["c", "1", "5"]).stderr(Stdio::null()).status();
                    made.is_ok_and(|status| status.success())
                }
            };
            if made {
                for arguments in
                    [&["doctor", folder][..], &["report", folder], &["export", folder, "--format", "csv"]]
                {
                    ended(command(arguments), &format!("{what}: {arguments:?}"));
                }
                let (code, words) = ended(run.command(&["--resume"]), &what);
                assert!(code == Some(0) || words.contains("error"), "{what}: {words}");
            }
            let _ = std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir_all(&path));
            if there {
                std::fs::rename(&kept, &path).unwrap();
            }
            nothing_is_false(&run, &what);
        }
    }
    run.is_completed("with all of them put back");
}

#[test]
fn long_lines_and_bytes_that_are_no_text_beside_the_journal_cost_nothing() {
    let run = Run::new();
    assert_eq!(ended(run.command(&[]), "the first").0, Some(0));
    let trial = run.folder().join("trials/annealing-seed2");
    let long = vec![b'x'; 30_000_000];
    let deep = "[".repeat(1_000_000).into_bytes();
    let numbers =
        format!("{{\"step\":\"fit\",\"iteration\":1,\"seconds\":{}}}\n", "9".repeat(400)).into_bytes();
    let negative = b"{\"step\":\"fit\",\"iteration\":1,\"seconds\":-1e308}\n".repeat(3);
    let no_text = vec![0xff, 0xfe, b'\n', 0, b'\n', 0xc3, b'"', b'\n'];
    for (what, bytes) in
        [("long", long), ("deep", deep), ("numbers", numbers), ("negative", negative), ("no text", no_text)]
    {
        for name in ["timing.jsonl", "incidents.jsonl", "predictions.jsonl", "effects.json", "state"] {
            let path = trial.join(name);
            let kept = std::fs::read(&path).ok();
            std::fs::write(&path, [kept.clone().unwrap_or_default(), bytes.clone()].concat()).unwrap();
            let cut = whole()["annealing-seed2"].len() / 2;
            std::fs::write(trial.join("journal.jsonl"), &whole()["annealing-seed2"][..cut]).unwrap();
            let (code, words) = ended(run.command(&["--resume"]), &format!("{what} in {name}"));
            assert_eq!(code, Some(0), "{what} in {name}: {words}");
            assert_eq!(&journals_in(&run.folder()), whole(), "{what} in {name}");
            match kept {
                Some(kept) => std::fs::write(&path, kept).unwrap(),
                None => std::fs::remove_file(&path).unwrap(),
            }
        }
    }
}

#[test]
fn names_that_are_no_text_are_used_or_refused() {
    let run = Run::new();
    let odd = run.top.path().join(OsStr::from_bytes(b"r\xff\xfesults"));
    let manifest = run.top.path().join(OsStr::from_bytes(b"m\xff.yaml"));
    std::fs::copy(run.manifest(), &manifest).unwrap();
    let mut host = command(&["run", "--run-id", "r", "--quiet"]);
    host.arg(&manifest).arg("--output").arg(&odd);
    let (code, words) = ended(host, "a folder that is no text");
    assert_eq!(code, Some(0), "{words}");
    assert_eq!(&journals_in(&odd.join("adverse/r")), whole());
    let mut resumed = command(&["run", "--quiet", "--resume"]);
    resumed.arg(odd.join("adverse/r"));
    assert_eq!(ended(resumed, "resumed there").0, Some(0));
    // Among the trials, a stranger's folder.
    std::fs::create_dir(odd.join("adverse/r/trials").join(OsStr::from_bytes(b"\xff-seed1"))).unwrap();
    let mut report = command(&["report"]);
    report.arg(odd.join("adverse/r"));
    assert_eq!(ended(report, "reported").0, Some(0));
    let mut named = command(&["run", "-", "--run-id"]);
    named.arg(OsStr::from_bytes(b"\xff"));
    assert_eq!(ended(named, "a run's name").0, Some(2));
    // A value of the manifest that is none.
    let mut text = MANIFEST.as_bytes().to_vec();
    text.extend(b"sweep: { penalty.l1: [\"\xff\"] }\n");
    std::fs::write(&manifest, text).unwrap();
    let mut plan = command(&["plan"]);
    plan.arg(&manifest);
    assert_eq!(ended(plan, "a value").0, Some(2));
}

#[test]
fn files_from_another_time_change_nothing() {
    let run = Run::new();
    assert_eq!(ended(run.command(&[]), "the first").0, Some(0));
    for date in ["1970-01-01", "2037-12-31"] {
        let trial = run.folder().join("trials/annealing-seed1");
        std::fs::write(trial.join("journal.jsonl"), &whole()["annealing-seed1"][..1000]).unwrap();
        let touched =
            Command::new("find").arg(run.folder()).args(["-exec", "touch", "-d", date, "{}", "+"]).status();
        assert!(touched.unwrap().success());
        run.is_completed(date);
    }
}
