//! No process of a trial outlives it, whichever is killed and whatever an objective starts; none keeps the host waiting.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use plugin_api::rand::RngExt;
use plugin_api::rng;

use crate::support::started::signal;
use crate::support::{build_plugin, command, events, journals_in, line_of, own_seconds, processes_with};

fn plugins() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build_plugin("benchmark-fault", include_str!("data/fault.rs")))
}

/// A run whose objective has this fault, and sleeps for a time that nobody else does.
struct Run {
    results: tempfile::TempDir,
    manifest: PathBuf,
    sleep: String,
}

impl Run {
    fn new(fault: &str) -> Self {
        let results = tempfile::tempdir().unwrap();
        let manifest = results.path().join("m.yaml");
        let sleep = own_seconds();
        let options = format!("{{ fault: {fault}, sleep: '{sleep}' }}");
        let text = format!(
            "name: faults\nbudget: {{ initial: 8, evaluations: 2 }}\nsurrogate: random\nsolver: annealing\n\
             evaluation: {{ retries: 0 }}\nbenchmark: {{ use: fault, options: {options} }}\n"
        );
        std::fs::write(&manifest, text).unwrap();
        Self { results, manifest, sleep }
    }

    fn folder(&self) -> PathBuf {
        self.results.path().join("faults/r")
    }

    fn command(&self, more: &[&str]) -> Command {
        let (manifest, output) = (self.manifest.to_str().unwrap(), self.results.path().to_str().unwrap());
        let arguments = ["run", manifest, "--output", output, "--run-id", "r", "--plugin-dir"];
        let mut command = command(&[&arguments[..], &[plugins().to_str().unwrap()], more].concat());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Starts it, and waits until the objective has started what it starts.
    fn start(&self, started: usize) -> Child {
        let host = self.command(&["--quiet"]).spawn().unwrap();
        within_a_minute("the objective starts something", || self.strays().len() >= started);
        host
    }

    /// What the objective has started.
    fn strays(&self) -> Vec<u32> {
        processes_with(&format!("sleep\0{}\0", self.sleep))
    }

    fn trials(&self) -> Vec<u32> {
        processes_with(&format!("trial\0{}\0", self.folder().display()))
    }

    /// The host, the guards and the trial's process: each starts the next.
    fn four(&self, host: &Child) -> Vec<u32> {
        let mut four = line_of(host.id(), &self.trials());
        // What is just being started still has the trial's words.
        four.truncate(4);
        four
    }

    /// Whether there is a first guard that is none of these.
    fn is_tried_again(&self, four: &[u32]) -> bool {
        // Told by its words, read once: what a trial is just starting has the trial's for a moment.
        let is_first = |process: &u32| {
            let line = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).into_owned();
            line.contains("\0--attached\0") && !line.contains("\0--guarded\0")
        };
        self.trials().iter().any(|process| !four.contains(process) && is_first(process))
    }

    fn all_is_gone(&self) {
        within_a_minute("all processes end", || self.strays().is_empty() && self.trials().is_empty());
    }
}

fn within_a_minute(what: &str, done: impl Fn() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}: not within a minute");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// To all of them by one program, one right after the other.
fn signal_all(name: &str, processes: &[u32]) {
    let numbers = processes.iter().map(u32::to_string);
    let _ = Command::new("kill").arg(name).args(numbers).stderr(Stdio::null()).status();
}

fn ended(mut child: Child, patience: Duration) -> Output {
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < patience, "the host does not end");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

#[test]
fn nothing_is_left_when_the_host_is_killed_or_told_to_end() {
    let wait = Duration::from_secs(30);
    for round in 0..3 {
        for (first, second) in [("-KILL", None), ("-TERM", None), ("-INT", Some("-INT"))] {
            let run = Run::new("wait");
            let host = run.start(2);
            signal(first, host.id());
            if let Some(second) = second {
                std::thread::sleep(Duration::from_millis(100));
                signal(second, host.id());
            }
            let output = ended(host, wait);
            run.all_is_gone();
            let words = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(words.contains("host run --resume"), first != "-KILL", "{first} {round}: {words}");
        }
    }
}

/// `HOST_KILLS=200 cargo test -p host --test all orphans:: -- --nocapture` makes at least that many.
#[test]
fn nothing_is_left_whichever_of_the_four_is_killed_at_a_random_moment() {
    let wanted = std::env::var("HOST_KILLS").map_or(10, |count| count.parse().expect("a number of kills"));
    let random = &mut rng(20_261_118);
    let (mut kills, mut rounds) = ([0_usize; 4], 0);
    while kills.iter().sum::<usize>() < wanted {
        rounds += 1;
        let run = Run::new("wait");
        let host = run.start(random.random_range(1..=2));
        std::thread::sleep(Duration::from_millis(random.random_range(0..60)));
        let four = run.four(&host);
        let victim = random.random_range(0..four.len());
        let before = run.strays();
        signal("-KILL", four[victim]);
        kills[victim] += 1;
        if victim != 0 {
            // The host has to live until it has cleared up.
            within_a_minute("another try", || run.is_tried_again(&four));
            assert!(run.strays().iter().all(|stray| !before.contains(stray)));
            signal("-KILL", host.id());
            kills[0] += 1;
        }
        ended(host, Duration::from_secs(30));
        run.all_is_gone();
    }
    let [hosts, first, second, trials] = kills;
    let guards = first + second;
    println!(
        "{hosts} kills of hosts, {guards} of guards, {trials} of trials, in {rounds} rounds: nothing is left"
    );
}

/// Which of host, first guard, second guard and trial are killed in one instant: any two, and any three but those above
/// the trial.
const TOGETHER: [&[usize]; 9] =
    [&[0, 1], &[0, 2], &[0, 3], &[1, 2], &[1, 3], &[2, 3], &[0, 1, 3], &[0, 2, 3], &[1, 2, 3]];

/// `HOST_TOGETHER=200 cargo test -p host --test all orphans:: -- --nocapture` does it that often.
#[test]
fn nothing_is_left_when_several_are_killed_in_one_instant_while_the_objective_starts_daemons() {
    let wanted =
        std::env::var("HOST_TOGETHER").map_or(TOGETHER.len(), |count| count.parse().expect("a number"));
    let random = &mut rng(20_261_119);
    for victims in TOGETHER.iter().cycle().take(wanted) {
        let run = Run::new("daemons");
        let host = run.start(random.random_range(1..30));
        let four = run.four(&host);
        assert_eq!(four.len(), 4, "a host, a trial and its guards");
        let before = run.strays();
        signal_all("-KILL", &victims.iter().map(|&victim| four[victim]).collect::<Vec<_>>());
        if victims[0] != 0 {
            // It is started again, once all that it had started before is gone.
            within_a_minute("another try", || run.is_tried_again(&four));
            let old = run.strays().into_iter().filter(|stray| before.contains(stray)).count();
            assert_eq!(old, 0, "{victims:?}");
            signal("-KILL", host.id());
        }
        ended(host, Duration::from_secs(30));
        run.all_is_gone();
        println!("{victims:?} of four killed in one instant: nothing is left");
    }
    println!("{wanted} times several of the four in one instant: nothing is left");
}

#[test]
fn a_daemon_ends_with_its_trial_and_keeps_nobody_waiting() {
    let run = Run::new("daemon");
    let output = ended(run.command(&[]).spawn().unwrap(), Duration::from_secs(60));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    run.all_is_gone();
    let journal = &journals_in(&run.folder())["annealing-seed1"];
    assert_eq!(events(journal).last().unwrap()["event"], "finished");
}

#[test]
fn what_an_objective_starts_has_no_input() {
    let run = Run::new("input");
    let output = ended(run.command(&[]).spawn().unwrap(), Duration::from_secs(60));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let journal = &journals_in(&run.folder())["annealing-seed1"];
    let reasons: Vec<_> =
        events(journal).iter().filter_map(|event| event["reason"].as_str().map(str::to_owned)).collect();
    assert!(!reasons.is_empty() && reasons.iter().all(|reason| reason == "0 bytes of input"), "{reasons:?}");
}

#[test]
fn what_a_plugin_forks_does_not_keep_the_journal() {
    for _ in 0..2 {
        let run = Run::new("fork");
        let host = run.command(&["--quiet"]).spawn().unwrap();
        // The guards, the trial and its fork.
        within_a_minute("a fork", || run.trials().len() == 4);
        signal("-KILL", host.id());
        ended(host, Duration::from_secs(30));
        // At once: the guard may still be at work.
        let resumed = run.command(&["--quiet", "--resume"]).spawn().unwrap();
        within_a_minute("a fork again", || run.trials().len() == 4);
        signal("-TERM", resumed.id());
        let words = String::from_utf8_lossy(&ended(resumed, Duration::from_secs(30)).stderr).into_owned();
        assert!(words.contains("host run --resume") && !words.contains("error"), "{words}");
        run.all_is_gone();
    }
}
