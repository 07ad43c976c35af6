//! What a person is told while a run goes on, when it is asked to stop, and when a plugin takes its process with it.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use regex::Regex;

use crate::support::chromium::Chromium;
use crate::support::{
    self, SMALLEST, build_plugin, command, journals_in, output, own_seconds, processes_with,
};

/// Plugins that misbehave; all are built into one folder.
fn plugins() -> &'static str {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let folder = BUILT.get_or_init(|| {
        build_plugin("solver-liar", include_str!("data/liar.rs"));
        build_plugin("surrogate-stubborn", include_str!("data/stubborn.rs"));
        build_plugin("encoder-fragile", include_str!("data/fragile.rs"));
        build_plugin("benchmark-fault", include_str!("data/fault.rs"))
    });
    folder.to_str().unwrap()
}

/// An objective that waits for something to end, for this many seconds, at a quarter of its points.
fn waiting(seconds: &str) -> String {
    format!(
        "name: waits\nbudget: {{ initial: 8, evaluations: 4 }}\nsurrogate: random\nsolver: annealing\n\
         benchmark: {{ use: fault, options: {{ fault: wait, sleep: '{seconds}' }} }}\n"
    )
}

/// A host at work, and what it says meanwhile.
struct Running {
    host: Child,
    lines: Receiver<String>,
    said: String,
    results: tempfile::TempDir,
}

impl Running {
    fn start(manifest: &str, more: &[&str]) -> Self {
        let results = tempfile::tempdir().unwrap();
        let file = results.path().join("m.yaml");
        std::fs::write(&file, manifest).unwrap();
        let (file, folder) = (file.to_str().unwrap(), results.path().to_str().unwrap());
        let arguments = ["run", file, "--output", folder, "--run-id", "r", "--plugin-dir", plugins()];
        let mut host = command(&[&arguments[..], more].concat());
        let mut host =
            host.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let errors = BufReader::new(host.stderr.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            errors.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Self { host, lines, said: String::new(), results }
    }

    fn signal(&self, name: &str) {
        assert!(Command::new("kill").args([name, &self.host.id().to_string()]).status().unwrap().success());
    }

    /// Waits until it says a line with this in it.
    fn hear(&mut self, words: &str) {
        while !self.said.contains(words) {
            let line = self.lines.recv_timeout(Duration::from_secs(60));
            self.said += &(line.unwrap_or_else(|_| panic!("no `{words}` in:\n{}", self.said)) + "\n");
        }
    }

    /// Waits until it has ended; answers its exit code.
    fn end(&mut self) -> Option<i32> {
        within_a_minute("the host ends", || self.host.try_wait().unwrap().is_some());
        self.said.extend(self.lines.iter().map(|line| line + "\n"));
        self.host.wait().unwrap().code()
    }

    fn folder(&self, experiment: &str) -> PathBuf {
        self.results.path().join(experiment).join("r")
    }

    /// What it said, without what differs from one time to the next.
    fn words(&self) -> String {
        let folder = self.results.path().to_str().unwrap();
        let said = self.said.replace(folder, "[results]").replace(plugins(), "[plugins]");
        let time = Regex::new(r"\d+ s so far").unwrap().replace_all(&said, "[time] so far").into_owned();
        Regex::new(r"evaluation \d+").unwrap().replace_all(&time, "evaluation [n]").into_owned()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Where a test fails, its host would wait for ever.
        let _ = self.host.kill();
        let _ = self.host.wait();
    }
}

fn within_a_minute(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}: not within a minute");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn ctrl_c_tells_at_once_what_is_waited_for_and_a_second_one_how_to_go_on() {
    let _snapshots = snapshots::in_folder("runs");
    for (number, more) in [(1, &[][..]), (2, &["--in-process"])] {
        let sleep = own_seconds();
        let mut run = Running::start(&waiting(&sleep), more);
        let strays = || processes_with(&format!("sleep\0{sleep}\0"));
        within_a_minute("the objective waits", || strays().len() == 2);
        run.signal("-INT");
        run.hear("so far");
        assert!(run.host.try_wait().unwrap().is_none(), "it waits: {}", run.said);
        run.signal("-INT");
        assert_eq!(run.end(), Some(1), "{}", run.said);
        within_a_minute("nothing of the objective is left", || strays().is_empty());
        if number == 1 {
            assert_snapshot!("what Ctrl-C tells", run.words());
        }
        let said = run.words();
        let resume = said.find("To go on:\n  host run --resume [results]/waits/r").expect(&said);
        assert!(said.find("stopping now").expect(&said) < resume, "{said}");
        let last = said.split("waiting for").count();
        assert_eq!(last, 1, "{said}");
    }
}

#[test]
fn sigterm_tells_the_same_and_waits_a_few_seconds_at_most() {
    let sleep = own_seconds();
    let mut run = Running::start(&waiting(&sleep), &[]);
    let strays = || processes_with(&format!("sleep\0{sleep}\0"));
    within_a_minute("the objective waits", || strays().len() == 2);
    run.signal("-TERM");
    run.hear("so far");
    // The objective would sleep for hours.
    assert_eq!(run.end(), Some(1), "{}", run.said);
    let said = run.words();
    assert!(said.contains("for 5") && said.contains("To go on:\n  host run --resume"), "{said}");
    within_a_minute("nothing of the objective is left", || strays().is_empty());
}

#[test]
fn ctrl_c_is_told_in_json_where_that_is_asked_for() {
    let sleep = own_seconds();
    let mut run = Running::start(&waiting(&sleep), &["--log-format", "json"]);
    within_a_minute("the objective waits", || processes_with(&format!("sleep\0{sleep}\0")).len() == 2);
    run.signal("-INT");
    run.hear("\"stopping\"");
    run.signal("-INT");
    assert_eq!(run.end(), Some(1));
    let lines: Vec<serde_json::Value> =
        run.said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told = |what: &str| lines.iter().find(|line| line["progress"] == what).expect(what);
    let waited = &told("stopping")["waiting_for"][0];
    assert_eq!(waited["trial"], "annealing-seed1");
    assert!(waited["what"].as_str().unwrap().starts_with("evaluation "), "{waited}");
    assert!(told("stopped")["to_go_on"].as_str().unwrap().starts_with("host run --resume "));
}

/// Lets an objective go on that waits for what sleeps this long, wherever it waits, until the host has ended.
fn release(run: &mut Running, sleep: &str) -> Option<i32> {
    within_a_minute("the host ends", || {
        for process in processes_with(&format!("sleep\0{sleep}\0")) {
            let _ = Command::new("kill").arg(process.to_string()).stderr(Stdio::null()).status();
        }
        run.host.try_wait().unwrap().is_some()
    });
    run.end()
}

#[test]
fn the_page_is_there_while_a_run_goes_on_and_says_so_and_costs_no_byte_of_the_journals() {
    let sleep = own_seconds();
    let mut run = Running::start(&waiting(&sleep), &["--quiet"]);
    let page = run.folder("waits").join("report.html");
    within_a_minute("there is a page", || page.exists());
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(run.host.try_wait().unwrap().is_none(), "the run goes on");
    let line = r"The run goes on: \d+ of 12 evaluations made[^<]*\. This page was made at \d{4}-[^<]* UTC and reloads itself\.";
    assert!(Regex::new(line).unwrap().is_match(&text), "{}", &text[text.find("<header").unwrap()..][..900]);
    assert!(text.contains("http-equiv=\"refresh\"") && !text.contains("href=\"trace.csv\""));
    let best: serde_json::Value =
        serde_json::from_slice(&std::fs::read(page.with_file_name("best.json")).unwrap()).unwrap();
    assert!(best["best"][0]["point"].is_object(), "{best}");
    assert_eq!(release(&mut run, &sleep), Some(0), "{}", run.said);
    assert!(!run.said.contains("no report"), "{}", run.said);
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(!text.contains("The run goes on") && !text.contains("http-equiv=\"refresh\""));
    assert!(text.contains("href=\"trace.csv\"") && text.contains("<dt>took</dt>"), "the whole report");
    let whole = journals_in(&run.folder("waits"));

    // Where no page can be written, that is said, and the journals are the same.
    let mut run = Running::start(&waiting(&sleep), &[]);
    let folder = run.folder("waits");
    within_a_minute("the folder is there", || folder.join("trials").exists());
    // A page may be there already.
    let _ = std::fs::remove_file(folder.join("report.html"));
    std::fs::create_dir_all(folder.join("report.html/in-the-way")).unwrap();
    run.hear("no report while the run goes on");
    assert_eq!(release(&mut run, &sleep), Some(1), "{}", run.said);
    assert_eq!(run.said.matches("no report while the run goes on").count(), 1, "{}", run.said);
    assert_eq!(journals_in(&folder), whole);
}

#[test]
fn a_browser_loads_the_page_again_until_the_run_has_ended() {
    let Some(mut browser) = Chromium::start("a_browser_loads_the_page_again_until_the_run_has_ended") else {
        return;
    };
    let sleep = own_seconds();
    let methods =
        "methods:\n  a: { surrogate: random, solver: annealing }\n  b: { surrogate: random, solver: tabu }\n";
    let manifest = waiting(&sleep).replace("surrogate: random\nsolver: annealing\n", methods);
    let mut run = Running::start(&manifest, &["--quiet", "--jobs", "2"]);
    let page = run.folder("waits").join("report.html");
    let mut ready = || std::fs::read_to_string(&page).is_ok_and(|page| page.contains("values-s1"));
    within_a_minute("there is a page of both methods", &mut ready);
    browser.open(&page, 700, false);
    assert_eq!(browser.evaluate("document.querySelector('#live') !== null"), true);
    browser.click("#values-s1");
    browser.evaluate("scrollTo(0, 500)");
    assert_eq!(release(&mut run, &sleep), Some(0), "{}", run.said);
    within_a_minute("the whole report is loaded", || {
        std::thread::sleep(Duration::from_millis(100));
        let ready = "document.readyState === 'complete' && document.querySelector('#live') === null && \
                     document.querySelector('main') !== null";
        browser.evaluate(ready) == true
    });
    assert_eq!(browser.evaluate("document.querySelector('#values-s1').checked"), false);
    let place = browser.evaluate("scrollY").as_f64().unwrap();
    assert!((place - 500.0).abs() < 250.0, "{place}");
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_plugin_that_takes_its_process_with_it_is_named_with_step_and_signal() {
    let _snapshots = snapshots::in_folder("runs");
    let results = tempfile::tempdir().unwrap();
    let manifest = "\
name: deaths
budget: { initial: 6, evaluations: 2 }
benchmark: fault
methods:
  solver: { surrogate: random, solver: { use: liar, options: { lie: segfault } } }
  surrogate: { surrogate: { use: stubborn, options: { fault: abort } }, solver: annealing }
";
    let run = |id: &str, manifest: &str| {
        let folder = results.path().to_str().unwrap();
        let arguments =
            ["run", "-", "--quiet", "--run-id", id, "--output", folder, "--plugin-dir", plugins()];
        let output = output(&arguments, manifest);
        assert_eq!(output.status.code(), Some(1));
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        let errors = words.lines().filter(|line| line.starts_with("error") || line.starts_with("  cause"));
        errors.collect::<Vec<_>>().join("\n")
    };
    let encoder =
        "encoder: { use: fragile, options: { at: decode } }\nsurrogate: random\nsolver: annealing\n";
    let encoder = manifest.split("methods").next().unwrap().to_owned() + encoder;
    assert_snapshot!(
        "which plugin died, where and how",
        [run("one", manifest), run("two", &encoder)].join("\n")
    );
}

#[test]
fn a_plugin_that_takes_the_plan_with_it_is_named_with_step_and_signal() {
    let _snapshots = snapshots::in_folder("runs");
    let results = tempfile::tempdir().unwrap();
    let plan = |changes: &[&str]| {
        let manifest = "name: deaths\nbudget: { initial: 3, evaluations: 2 }\nbenchmark: fault\nencoder: fragile\n\
                        surrogate: stubborn\nsolver: liar\n";
        let sets: Vec<&str> = changes.iter().flat_map(|change| ["--set", *change]).collect();
        let more = [&sets[..], &["--plugin-dir", plugins()]].concat();
        let planned = output(&[&["plan", "-"][..], &more].concat(), manifest);
        let folder = ["--quiet", "--output", results.path().to_str().unwrap()];
        let run = output(&[&["run", "-"][..], &folder, &more].concat(), manifest);
        let words = |output: &std::process::Output| String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((planned.status.code(), run.status.code()), (Some(1), Some(1)), "{}", words(&run));
        assert!(planned.stdout.is_empty() && run.stdout.is_empty());
        assert_eq!(words(&planned), words(&run));
        words(&run)
    };
    let deaths = [
        plan(&["benchmark.options.fault=made"]),
        plan(&["benchmark.options.fault=space"]),
        plan(&["encoder.options.at=layout"]),
        plan(&["surrogate={use: stubborn, options: {fault: made}}"]),
        plan(&["solver={use: liar, options: {lie: asked}}", "constraints=[{at-most: 2, of: all}]"]),
    ];
    assert_snapshot!("which plugin took the plan with it", deaths.join("\n"));
    // Nothing is left behind.
    assert_eq!(std::fs::read_dir(results.path()).unwrap().count(), 0);
}

#[test]
fn a_solver_that_dies_in_host_solve_is_named_and_the_others_go_on() {
    let _snapshots = snapshots::in_folder("solve");
    let problem = "host/tests/data/glover_n020_1.sparse";
    let solvers = ["--solver", "annealing", "--solver", "liar[lie=segfault]", "--solver", "liar[lie=exit]"];
    let solvers = [&solvers[..], &["--solver", "exhaustive", "--plugin-dir", plugins()]].concat();
    let seen = support::host(&[&["solve", problem][..], &solvers].concat(), "");
    let mut shown = seen;
    for (pattern, replacement) in [(r"[\d.]+ (µs|ms|s)\b", "[time]"), ("─+", "─"), ("(\\S) +", "$1 ")] {
        shown = Regex::new(pattern).unwrap().replace_all(&shown, replacement).into_owned();
    }
    assert_snapshot!("a solver that dies", shown);
    let json = output(&[&["solve", problem, problem, "--json"][..], &solvers].concat(), "");
    assert_eq!(json.status.code(), Some(1));
    let rows: Vec<serde_json::Value> = String::from_utf8_lossy(&json.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let found: Vec<bool> = rows.iter().map(|row| row["value"].is_number()).collect();
    assert_eq!(found, [true, false, false, true, true, false, false, true]);
    assert_eq!(rows[5]["error"], "the solver's process was killed by SIGSEGV while it minimized");
    assert_eq!((&rows[5]["n"], &rows[5]["solver"]), (&20.into(), &"liar[lie=segfault]".into()));
    // A problem from a pipe is there for those that come after it, too.
    let piped =
        output(&[&["solve", "-", "--json"][..], &solvers].concat(), r#"{"linear": [1, -2], "pairs": [3]}"#);
    let values: Vec<serde_json::Value> = String::from_utf8_lossy(&piped.stdout)
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["value"].clone())
        .collect();
    assert_eq!(values, [(-2.0).into(), serde_json::Value::Null, serde_json::Value::Null, (-2.0).into()]);
}

fn trial(run: &Path, id: &str, more: &[&str]) -> (Option<i32>, String) {
    let output = output(&[&["trial", run.to_str().unwrap(), id][..], more].concat(), "");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn one_trial_alone_goes_on_with_changed_plugins_where_that_is_insisted_on() {
    // In rounds, other processes open the objective.
    for batch in ["", ", batch: 2"] {
        let (results, own) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let name = plugin_api::Kind::Benchmark.file_name("labs");
        let file = own.path().join(&name);
        std::fs::copy(support::program_folder().join(&name), &file).unwrap();
        let more = ["--plugin-dir", own.path().to_str().unwrap()];
        let arguments =
            ["run", "-", "--quiet", "--run-id", "r", "--output", results.path().to_str().unwrap()];
        let manifest = SMALLEST.replace("evaluations: 2", &format!("evaluations: 2{batch}"));
        assert!(output(&[&arguments[..], &more].concat(), &manifest).status.success());
        let run = results.path().join("smallest/r");
        let journal = run.join("trials/annealing-seed1/journal.jsonl");
        let whole = std::fs::read_to_string(&journal).unwrap();
        std::fs::write(&journal, &whole[..whole.len() / 2]).unwrap();
        let mut bytes = std::fs::read(&file).unwrap();
        bytes.extend([0; 16]);
        std::fs::write(&file, bytes).unwrap();
        let (code, words) = trial(&run, "annealing-seed1", &more);
        assert_eq!(code, Some(1), "{words}");
        assert!(words.contains("the benchmark `labs` has changed since the run was begun"), "{words}");
        let insisted = [&more[..], &["--allow-changed-plugins"]].concat();
        let (code, words) = trial(&run, "annealing-seed1", &insisted);
        assert_eq!(code, Some(0), "{words}");
        assert_eq!(std::fs::read_to_string(&journal).unwrap(), whole);
    }
}

#[test]
fn one_trial_alone_has_the_limits_that_it_is_given() {
    let results = tempfile::tempdir().unwrap();
    // 2^40 points.
    let manifest = "name: endless\nbudget: { initial: 2, evaluations: 2 }\nbenchmark: { use: labs, options: { n: 40 } }\n\
        surrogate: bayes-linear\nsolver: { use: exhaustive, options: { max-points: 9000000000000000 } }\n";
    let mut host = command(&["run", "-", "--quiet", "--run-id", "r", "--step-timeout", "0.2", "--output"]);
    let mut host = host
        .arg(results.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut host.stdin.take().unwrap(), manifest.as_bytes()).unwrap();
    let mut words = String::new();
    host.stderr.take().unwrap().read_to_string(&mut words).unwrap();
    assert_eq!(host.wait().unwrap().code(), Some(1), "{words}");
    let run = results.path().join("endless/r");
    let (code, words) = trial(&run, "exhaustive-seed1", &["--step-timeout", "0.3"]);
    assert_eq!(code, Some(1), "{words}");
    assert!(words.contains("no answer from the solver within 300ms, 3 times at the same place"), "{words}");
    // No process says anything sooner than this.
    let (code, words) = trial(&run, "exhaustive-seed1", &["--patience", "0"]);
    assert_eq!(code, Some(1), "{words}");
    assert!(words.contains("the trial's process stopped answering for 0ns"), "{words}");
}
