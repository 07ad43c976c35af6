//! What `host/TRUST.md` promises beside kills, faults and strangers: programs and plugins that change under a run, outputs
//! that are full, folders that move, texts that play tricks.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use insta::assert_snapshot;

use crate::support::{self, SMALLEST, build_plugin, command, events, host, journals_in, output};

fn plugins() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build_plugin("benchmark-fault", include_str!("data/fault.rs")))
}

/// An experiment whose objective has this fault.
fn faulty(fault: &str) -> String {
    format!(
        "name: smallest\nbudget: {{ initial: 8, evaluations: 4 }}\nsurrogate: random\nsolver: annealing\n\
         evaluation: {{ retries: 0 }}\nbenchmark: {{ use: fault, options: {{ fault: {fault} }} }}\n"
    )
}

struct Run(tempfile::TempDir);

impl Run {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn folder(&self) -> PathBuf {
        self.0.path().join("smallest/r")
    }

    fn arguments<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let arguments = ["run", "-", "--quiet", "--run-id", "r", "--output", self.0.path().to_str().unwrap()];
        [&arguments[..], &["--plugin-dir", plugins().to_str().unwrap()], more].concat()
    }

    fn run(&self, manifest: &str, more: &[&str]) -> (Option<i32>, String) {
        let output = output(&self.arguments(more), manifest);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// Cuts the end off a journal, so that there is something to go on with.
    fn cut(&self, trial: &str) {
        let path = self.folder().join("trials").join(trial).join("journal.jsonl");
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        std::fs::write(&path, lines[..lines.len() / 2].concat()).unwrap();
    }
}

#[test]
fn a_penalty_that_overflows_is_refused_when_it_is_planned() {
    let _snapshots = snapshots::in_folder("cli");
    let manifest = format!("{SMALLEST}penalty: {{ l1: 1.0e308 }}\n");
    assert_snapshot!("a penalty that overflows is refused", host(&["plan", "-"], &manifest));
}

#[test]
fn a_value_that_overflows_with_its_penalty_is_a_failed_evaluation_and_resumes() {
    let run = Run::new();
    let manifest = faulty("huge") + "penalty: { l1: 1.0e98 }\n";
    let (code, words) = run.run(&manifest, &[]);
    assert_eq!(code, Some(0), "{words}");
    let whole = journals_in(&run.folder());
    run.cut("annealing-seed1");
    assert_eq!(run.run(&manifest, &["--resume"]).0, Some(0));
    assert_eq!(journals_in(&run.folder()), whole);
}

#[test]
fn values_as_far_apart_as_numbers_can_be_are_reported() {
    let run = Run::new();
    let methods = "methods:\n  a: { surrogate: random, solver: annealing, shadows: [exhaustive] }\n  \
                   b: { surrogate: random, solver: exhaustive, shadows: [annealing] }\n";
    let manifest = faulty("huge").replace("surrogate: random\nsolver: annealing\n", methods) + "seeds: 4\n";
    let begun = Instant::now();
    let (code, words) = run.run(&manifest, &[]);
    assert_eq!(code, Some(0), "{words}");
    assert!(begun.elapsed() < Duration::from_secs(120));
    assert!(run.folder().join("report.html").exists());
}

#[test]
fn another_version_of_the_program_is_refused_like_changed_plugins() {
    let _snapshots = snapshots::in_folder("cli");
    let run = Run::new();
    assert_eq!(run.run(SMALLEST, &[]).0, Some(0));
    let whole = journals_in(&run.folder());
    run.cut("annealing-seed1");
    let path = run.folder().join("identity.json");
    let mut identity: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    identity["host"] = "0.0.1".into();
    std::fs::write(&path, identity.to_string()).unwrap();
    let (code, words) = run.run(SMALLEST, &["--resume"]);
    assert_eq!(code, Some(2), "{words}");
    assert_snapshot!("another version of the program is refused", words);
    assert_eq!(run.run(SMALLEST, &["--resume", "--allow-changed-plugins"]).0, Some(0));
    assert_eq!(journals_in(&run.folder()), whole);
    assert_eq!(run.run(SMALLEST, &["--resume"]).0, Some(0), "it is this version's now");
}

#[test]
fn every_trial_runs_the_program_that_was_started_though_another_has_taken_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("host");
    support::copy_host(&own);
    let run = Run::new();
    let manifest = folder.path().join("m.yaml");
    std::fs::write(&manifest, SMALLEST.to_owned() + "seeds: 12\n").unwrap();
    let plugins = support::program_folder().to_str().unwrap();
    let mut host = Command::new(&own);
    host.args(["run", manifest.to_str().unwrap(), "--run-id", "r", "--jobs", "1", "--plugin-dir", plugins]);
    host.arg("--output").arg(run.0.path()).env("XDG_DATA_HOME", "/nowhere");
    let mut host = host.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while !run.folder().join("trials/annealing-seed1/journal.jsonl").exists() {
        assert!(begun.elapsed() < Duration::from_secs(60) && host.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(1));
    }
    // As an installer does it: another file under the old name.
    let other = folder.path().join("other");
    std::fs::write(&other, "#!/bin/sh\necho replaced >&2\nexit 7\n").unwrap();
    std::fs::set_permissions(&other, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::rename(&other, &own).unwrap();
    let output = host.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && !words.contains("replaced"), "{words}");
    assert!(journals_in(&run.folder()).values().all(|journal| journal.contains("\"finished\"")));
}

#[test]
fn the_command_that_is_printed_goes_on_with_changed_plugins_too() {
    let run = Run::new();
    let own = tempfile::tempdir().unwrap();
    let name = plugin_api::Kind::Solver.file_name("annealing");
    let file = own.path().join(&name);
    std::fs::copy(support::program_folder().join(&name), &file).unwrap();
    let more = ["--plugin-dir", own.path().to_str().unwrap(), "--jobs", "1"];
    // Trials that fail, so that the run is stopped by the first: no clock decides where.
    let manifest = faulty("error") + "seeds: 3\n";
    let manifest = manifest.replace("retries: 0", "retries: 0, on-failure: stop");
    assert_eq!(run.run(&manifest, &more).0, Some(1));
    let mut bytes = std::fs::read(&file).unwrap();
    bytes.extend([0; 16]);
    std::fs::write(&file, bytes).unwrap();
    let again = [&more[..], &["--resume", "--allow-changed-plugins", "--fail-fast"]].concat();
    let (code, words) = run.run(&manifest, &again);
    assert_eq!(code, Some(1));
    let line = words.lines().find(|line| line.contains("host run --resume")).expect(&words);
    assert!(line.contains("--allow-changed-plugins"), "{line}");
    let printed: Vec<&str> = line.split_whitespace().skip(1).collect();
    let followed = output(&printed, "");
    let words = String::from_utf8_lossy(&followed.stderr).into_owned();
    assert_eq!(followed.status.code(), Some(1), "{words}");
    assert!(words.contains("the reagent ran out"), "{words}");
    assert!(!words.contains("remove") && !words.contains("another plan"), "{words}");
}

#[test]
fn no_text_of_a_plugin_a_sweep_or_a_journal_reaches_the_terminal_raw() {
    let run = Run::new();
    let loud = |bytes: &[u8]| bytes.iter().any(|&byte| byte < 32 && byte != b'\n') || bytes.contains(&0x9b);
    let arguments = ["run", "-", "--run-id", "r", "--output", run.0.path().to_str().unwrap(), "--plugin-dir"];
    let arguments = [&arguments[..], &[plugins().to_str().unwrap()]].concat();
    for format in ["text", "json"] {
        let _ = std::fs::remove_dir_all(run.folder());
        let printed = output(&[&arguments[..], &["--log-format", format]].concat(), &faulty("colours"));
        assert!(printed.status.success());
        let words = String::from_utf8_lossy(&printed.stderr).into_owned();
        assert!(words.contains("[2Jgone"), "{words}");
        assert!(!loud(&printed.stderr) && !loud(&printed.stdout), "{words}");
    }
    let swept = faulty("none").replace("{ fault: none }", "{}");
    let swept = swept + "sweep: { benchmark.options.folder: [\"\\e[2Jx\", \"\\x9b31m\", \"\\u202eab\"] }\n";
    for arguments in [vec!["plan", "-", "--plugin-dir", plugins().to_str().unwrap()], run.arguments(&[])] {
        let _ = std::fs::remove_dir_all(run.folder());
        let printed = output(&arguments, &swept);
        assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
        assert!(!loud(&printed.stderr) && !loud(&printed.stdout));
        assert!(!String::from_utf8_lossy(&printed.stdout).contains('\u{202e}'));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_or_closed_output_costs_the_words_and_nothing_else() {
    for redirect in ["2>/dev/full", "2>&-", "2>/dev/full >/dev/null", "<&- 2>&-"] {
        let run = Run::new();
        let manifest = run.0.path().join("m.yaml");
        std::fs::write(&manifest, faulty("error")).unwrap();
        let path = manifest.to_str().unwrap();
        for format in ["text", "json"] {
            let _ = std::fs::remove_dir_all(run.folder());
            let mut arguments = run.arguments(&["--log-format", format, "-v"]);
            arguments.retain(|word| *word != "--quiet");
            arguments[1] = path;
            let inner = command(&arguments);
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("exec \"$@\" {redirect}"), "sh"]).arg(inner.get_program());
            shell.args(inner.get_args()).current_dir(support::workspace()).env("XDG_DATA_HOME", "/nowhere");
            let status = shell.stdin(Stdio::null()).stdout(Stdio::null()).status().unwrap();
            assert_eq!(status.code(), Some(0), "{redirect} {format}");
            assert!(run.folder().join("report.html").exists(), "{redirect} {format}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn where_no_thread_or_process_is_left_it_is_said() {
    // Limits of processes do not bind the administrator.
    let inner = command(&[]);
    let program = inner.get_program().to_str().unwrap().to_owned();
    let user = match rustix::process::geteuid().as_raw() {
        0 => "setpriv --reuid=54321 --regid=54321 --clear-groups",
        _ => "",
    };
    // Not the shell's own `ulimit`, which has no limit of processes in every shell.
    let limited = |limit: usize, words: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{user} prlimit --nproc={limit} {program} {words}")]);
        shell.env("XDG_DATA_HOME", "/nowhere").stdin(Stdio::null()).output().unwrap()
    };
    if !limited(1000, "--version").status.success() {
        return eprintln!("skipped: this program cannot be run by another user, or there is no prlimit");
    }
    for limit in 1..8 {
        let top = tempfile::tempdir().unwrap();
        std::fs::set_permissions(top.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
        let manifest = top.path().join("m.yaml");
        std::fs::write(&manifest, SMALLEST).unwrap();
        let results = top.path().join("results");
        let run = format!("run {} --run-id r --output {}", manifest.display(), results.display());
        let ended = limited(limit, &run);
        let words = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(ended.status.code().is_some_and(|code| code <= 2), "{limit}: {:?} {words}", ended.status);
        // With one process there is none to make the plan in.
        assert!(limit > 1 || words.contains("error: "), "{limit}: {words}");
        assert!(!words.contains("panicked"), "{limit}: {words}");
    }
}

#[test]
fn a_plugin_that_is_written_over_while_it_runs_is_still_what_was_checked() {
    let run = Run::new();
    let own = tempfile::tempdir().unwrap();
    let names = [
        plugin_api::Kind::Surrogate.file_name("horseshoe"),
        plugin_api::Kind::Benchmark.file_name("ising"),
        plugin_api::Kind::Solver.file_name("annealing"),
    ];
    for name in &names {
        std::fs::copy(support::program_folder().join(name), own.path().join(name)).unwrap();
    }
    let manifest = run.0.path().join("m.yaml");
    let text = "name: smallest\nbudget: { initial: 5, evaluations: 40 }\nbenchmark: ising\n\
                surrogate: horseshoe\nsolver: annealing\n";
    std::fs::write(&manifest, text).unwrap();
    let mut arguments = run.arguments(&["--plugin-dir", own.path().to_str().unwrap()]);
    arguments[1] = manifest.to_str().unwrap();
    let mut host = command(&arguments);
    let mut host = host.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while !run.folder().join("trials/annealing-seed1/state").exists() {
        assert!(begun.elapsed() < Duration::from_secs(60) && host.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(1));
    }
    // As `cp` does it: the same file, cut to nothing and written again.
    for name in &names {
        std::fs::write(own.path().join(name), vec![0; 100]).unwrap();
    }
    let output = host.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{words}");
    let journal = &journals_in(&run.folder())["annealing-seed1"];
    assert_eq!(events(journal).last().unwrap()["evaluations"], 45);
}

#[test]
fn an_objective_that_changes_the_current_folder_changes_no_path() {
    for more in [&["--in-process"][..], &["--jobs", "1"]] {
        let here = tempfile::tempdir().unwrap();
        let manifest = here.path().join("m.yaml");
        std::fs::write(&manifest, faulty("elsewhere") + "seeds: 2\n").unwrap();
        let link = here.path().join("plugins");
        std::os::unix::fs::symlink(plugins(), &link).unwrap();
        let arguments = ["run", "m.yaml", "--run-id", "r", "--output", "out", "--plugin-dir", "plugins"];
        let mut host = command(&[&arguments[..], more].concat());
        let ended = host.current_dir(here.path()).output().unwrap();
        let words = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(ended.status.success(), "{more:?}: {words}");
        let folder = here.path().join("out/smallest/r");
        assert!(folder.join("report.html").exists());
        assert!(journals_in(&folder).values().all(|journal| journal.contains("\"finished\"")));
    }
}

#[test]
fn a_manifest_with_a_byte_order_mark_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.yaml");
    std::fs::write(&path, format!("\u{feff}{SMALLEST}")).unwrap();
    let planned = output(&["plan", path.to_str().unwrap()], "");
    assert!(planned.status.success(), "{}", String::from_utf8_lossy(&planned.stderr));
    let marked = output(&["plan", "-"], &format!("\u{feff}{SMALLEST}"));
    assert_eq!(planned.stdout, marked.stdout);
}
